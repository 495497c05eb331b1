"""LangChain's tools, retrievers and vector stores as the Research agent's search, and its tools as the reader."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from langchain_core.runnables import Runnable, RunnableConfig

from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.json import JsonObject
from guardgraph.plain.scopes import parse_scope
from guardgraph.tools.langchain import asking
from guardgraph.tools.langchain.documents import Metadata, MetadataKeys, read_found_documents, read_page_documents
from guardgraph.world.call import is_said_of_target

if TYPE_CHECKING:
    from langchain_core.vectorstores import VectorStore


_HIT: Final = {"url": ("url", "link", "href", "source"), "title": ("title",)}
_HOSTS: Final = "hosts"
_PAGE: Final = {"title": ("title",), "published_at": ("published_at", "published_date", "date")}
"""Where the fields of a hit and of a page usually stand."""


class LangChainSearch(Runnable[JsonObject, list[JsonObject]]):
    """Searches by LangChain; `create_research_agent(search=...)` makes one of what it is given.

    Args:
        given: a tool that takes a query, a retriever, a vector store, or another Runnable or function that is given
            ``{query, max_results}`` and returns documents or dictionaries.
        metadata: where the `url` (usually `url`, `link`, `href` or `source`) or the `title` of a hit stands: a key, or
            a function of the document.
        hosts: the argument of a tool that is given the hosts which both lists allow, such as ``"include_domains"``;
            where it is left out, one that the tool calls ``hosts``.

    Raises:
        ConfigurationError: an argument is wrong; the message names it.
    """

    def __init__(
        self,
        given: VectorStore | Runnable[Any, Any] | Callable[[JsonObject], Any],
        *,
        metadata: Metadata | None = None,
        hosts: str | None = None,
    ) -> None:
        self._given = given
        self._keys = MetadataKeys("metadata", _HIT, metadata)
        taken = asking.list_tool_arguments(asking.unwrap_runnable(given)) or ()
        if hosts is not None and hosts not in taken:
            allowed = f"an argument of the search's tool is required ({', '.join(taken) or 'it has none'})"
            raise ConfigurationError(f"hosts: {allowed}; given: {hosts!r:.80}")
        self._hosts = hosts or _HOSTS
        self.takes_hosts = self._hosts in taken or is_said_of_target(given, "takes_hosts")
        """Whether it is told which hosts both lists allow."""
        self._asker: asking.Asker
        if asking.is_vector_store(given):
            self._asker = asking.AsksStore(given, "similarity_search")
        else:
            names = ("query", "max_results", *((self._hosts,) if self._hosts in taken else ()))
            self._asker = asking.make_langchain_asker("search", given, names)

    def __repr__(self) -> str:
        return f"LangChainSearch({type(self._given).__name__})"

    def invoke(self, input: JsonObject, config: RunnableConfig | None = None, **kwargs: Any) -> list[JsonObject]:
        """Search for ``{"query", "max_results"}``, on ``hosts`` where it takes them.

        Returns:
            At most `max_results` hits ``{url, title, snippet}``, in the order of what was found. A hit without a text
            as its url has None there, and is dropped by the run.

        Raises:
            Unreturnable: it is no list of documents, or none of them has a url.
        """
        asked = self._name_hosts(input)
        return self._read_search_hits(self._asker.find_documents(asked, input["max_results"], {}, config), input)

    async def ainvoke(self, input: JsonObject, config: RunnableConfig | None = None, **kwargs: Any) -> list[JsonObject]:
        """Search like `invoke`, without blocking the event loop."""
        asked = self._name_hosts(input)
        return self._read_search_hits(await self._asker.afind_documents(asked, input["max_results"], {}, config), input)

    def _name_hosts(self, request: JsonObject) -> JsonObject:
        """Return a request that has its hosts under the name of the tool's argument, as search engines have them."""
        # They look under a name that they are told; so ``domain:example.com`` and ``suffix:gov`` are told without what
        # stands before the name.
        rest = {name: item for name, item in request.items() if name != _HOSTS}
        if _HOSTS not in request:
            return rest
        scopes = map(parse_scope, request[_HOSTS])
        return {**rest, self._hosts: [scope.name for scope in scopes if scope is not None]}

    def _read_search_hits(self, returned: object, request: JsonObject) -> list[JsonObject]:
        documents = [document for document, _ in read_found_documents(returned)][: request["max_results"]]
        hits = list[JsonObject]()
        for at, document in enumerate(documents):
            said = {field: self._keys.read_metadata_text(document, at, field) for field in _HIT}
            hits.append({**said, "snippet": document.page_content})
        if hits and not any(hit["url"] for hit in hits):
            allowed = "the url of a hit; metadata={'url': ...} says where it is"
            raise self._keys.refuse_missing_field(documents[0], 0, "url", allowed)
        return hits


class LangChainReader(Runnable[JsonObject, JsonObject]):
    """Reads pages by a tool of LangChain's that takes a URL; the agents make one of a tool given as `reader`."""

    def __init__(self, tool: Runnable[Any, Any] | Callable[[JsonObject], Any]) -> None:
        self._tool = tool
        self._keys = MetadataKeys("metadata", _PAGE, None)
        self._asker = asking.make_langchain_asker("reader", tool, ("url",))

    def __repr__(self) -> str:
        return f"LangChainReader({type(self._tool).__name__})"

    def invoke(self, input: JsonObject, config: RunnableConfig | None = None, **kwargs: Any) -> JsonObject:
        """Read a page."""
        return self._join_page_documents(self._asker.find_documents(input, 1, {}, config))

    async def ainvoke(self, input: JsonObject, config: RunnableConfig | None = None, **kwargs: Any) -> JsonObject:
        """Read like `invoke`, without blocking the event loop."""
        return self._join_page_documents(await self._asker.afind_documents(input, 1, {}, config))

    def _join_page_documents(self, returned: object) -> JsonObject:
        documents = read_page_documents(returned)
        if not documents:
            return {"title": "", "published_at": "", "body": ""}
        said = {field: self._keys.read_metadata_text(documents[0], 0, field) or "" for field in _PAGE}
        return {**said, "body": "\n\n".join(document.page_content for document in documents)}

"""A vector store, a retriever or a tool of LangChain's as the RAG agent's retriever."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from uuid import UUID

from langchain_core.runnables import Runnable, RunnableConfig

from guardgraph.plain.conversion import Unreturnable
from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.json import JsonObject
from guardgraph.state.rag import Candidate
from guardgraph.tools.langchain.access import AccessFilter, StoreAccess
from guardgraph.tools.langchain.asking import Asker, asker, core, is_retriever, is_store
from guardgraph.tools.langchain.documents import Metadata, MetadataKeys, fault, found_in
from guardgraph.tools.langchain.scores import (
    RELEVANCE,
    WAY_OUT,
    asks_for_relevance,
    check_ranks,
    relevance_of,
    shown_score,
)
from guardgraph.tools.tool import known_sources

if TYPE_CHECKING:
    from langchain_core.documents import Document
    from langchain_core.vectorstores import VectorStore

__all__ = ["LangChainRetriever"]

_USUAL: Final = {
    "doc_id": ("id", "doc_id"),
    "source": ("source",),
    "title": ("title",),
    "section": ("section",),
    "updated_at": ("updated_at",),
    "score": ("relevance_score", "score"),
    "tenant": ("tenant",),
    "readers": ("readers",),
    "span": (),
}
"""Where the fields of a candidate usually stand in the metadata."""

_WIDER: Final = 4
_MOST: Final = 1024
"""How many times more documents are asked for where some are of other sources, and how many at most."""


SHOWN_SOURCES: Final = 3
"""How many names of sources that nobody named a message repeats."""


class _Looked(NamedTuple):
    """What one search brought."""

    candidates: list[Candidate]
    """The documents of the sources that were asked for."""
    sources: list[str]
    """Of all documents."""

    def is_enough(self, top_k: int, count: int) -> bool:
        """Say whether asking for more than `count` would bring nothing: there is enough, or there is no more."""
        return len(self.candidates) >= top_k or len(self.sources) < count


class LangChainRetriever(Runnable[JsonObject, list[Candidate]]):
    """Finds documents by LangChain; `create_rag_agent(retriever=...)` makes one of what it is given.

    A vector store is asked for relevance (`similarity_search_with_relevance_scores`), a retriever and a tool for
    documents, whose metadata has the score (`relevance_score` or `score`). Documents of sources that are not asked for
    are left out; a store is then asked for more, up to 1,024. A score that is no relevance, and a document without an
    id, a source or a score, is refused by name: the run ends as ``tool_invalid_output:retrieve``.

    Args:
        given: a vector store, a retriever, a tool that takes a query, or another Runnable or function that is given
            ``{query, sources, top_k}`` and returns documents.
        sources: the names of the sources that it has. With one name, documents without a source are of this one.
        metadata: where fields stand that are named otherwise: for `doc_id`, `source`, `title`, `section`, `updated_at`,
            `score`, `tenant`, `readers` or `span` a key of the metadata, or a function of the document. An id is a
            text, a whole number or a UUID; without one in the metadata, the document's own `id` counts.
        search_kwargs: a function of the sources that are asked for, which returns the keyword arguments of the search
            that hold it to them, such as ``{"filter": {"source": {"$in": sources}}}``.
        relevance: makes a relevance of the score of a vector store, which is asked by `similarity_search_with_score`
            then.
        access: a function of the caller (a `Caller`, None for nobody that is known) and of the sources, which returns
            the keyword arguments of the search that hold it to what this caller may read. It is required where
            `metadata` says what the tenant or the readers of a document are, and takes the place of `search_kwargs`.
            Every document must have readers then. What is found is held against the caller once more, so a filter that
            does nothing ends the run.

    Raises:
        ConfigurationError: an argument is wrong; the message names it.
    """

    sources: tuple[str, ...]
    """The names of its sources; there is no such attribute where they are not known."""

    def __init__(
        self,
        given: VectorStore | Runnable[Any, Any] | Callable[[JsonObject], Any],
        *,
        sources: Sequence[str] | None = None,
        metadata: Metadata | None = None,
        search_kwargs: Callable[[list[str]], Mapping[str, Any]] | None = None,
        relevance: Callable[[float], float] | None = None,
        access: AccessFilter | None = None,
    ) -> None:
        self._given = given
        self._known = known_sources(given, sources)
        if self._known is not None:  # a retriever without such an attribute does not say what it has
            self.sources = self._known
        self._keys = MetadataKeys("metadata", _USUAL, metadata)
        self._asker, self._relevance = self._asks(relevance)
        if search_kwargs is not None and not (
            callable(search_kwargs) and (is_store(given) or is_retriever(core(given)))
        ):
            allowed = "a function of the sources, for a vector store or a retriever,"
            raise ConfigurationError(f"search_kwargs: {allowed} is required; given: {search_kwargs!r:.80}")
        self._access = StoreAccess(given, self._keys, access)
        if search_kwargs is not None and self._access.filters:
            raise ConfigurationError("search_kwargs: to be left out, access= is given the sources too")
        self._search_kwargs = search_kwargs

    def __repr__(self) -> str:
        return f"LangChainRetriever({type(core(self._given)).__name__}, sources={list(self._known or ()) or None})"

    def invoke(self, input: JsonObject, config: RunnableConfig | None = None, **kwargs: Any) -> list[Candidate]:
        """Find what answers a query.

        Args:
            input: ``{"query": str, "sources": list[str], "top_k": int}``, and ``caller`` where it is known who asks;
                nothing of other sources is returned.
            config: LangChain's configuration, handed on.
            kwargs: not used.

        Returns:
            At most `top_k` candidates, in the order of what was found.

        Raises:
            Unreturnable: a document or a score is not what it has to be.
        """
        extra = self._extra(input)
        for count in self._counts(input["top_k"]):
            looked = self._looked(self._asker.ask(input, count, extra, config), input)
            if looked.is_enough(input["top_k"], count):
                break
        return self._chosen(looked, input)

    async def ainvoke(self, input: JsonObject, config: RunnableConfig | None = None, **kwargs: Any) -> list[Candidate]:
        """Find like `invoke`, without blocking the event loop."""
        extra = self._extra(input)
        for count in self._counts(input["top_k"]):
            looked = self._looked(await self._asker.aask(input, count, extra, config), input)
            if looked.is_enough(input["top_k"], count):
                break
        return self._chosen(looked, input)

    def _asks(self, relevance: Callable[[float], float] | None) -> tuple[Asker, Callable[[Any], float] | None]:
        given = self._given
        if is_store(given):
            return asks_for_relevance("retriever", given, relevance)
        if relevance is not None:
            raise ConfigurationError(
                f"relevance: it makes one of the score of a vector store; given with a {type(given).__name__}"
            )
        if _drops_scores(core(given)) and not self._keys.are_told("score"):
            way_out = "the vector store itself (the retriever's .vectorstore), which tells how relevant a document is,"
            raise ConfigurationError(f"retriever: {way_out} is required; given: a VectorStoreRetriever")
        return asker("retriever", given, ("query", "sources", "top_k")), None

    def _counts(self, top_k: int) -> Iterator[int]:
        count = top_k
        yield count
        while self._asker.is_counted and count < _MOST:
            count = min(_WIDER * count, _MOST)
            yield count

    def _extra(self, request: JsonObject) -> Mapping[str, Any]:
        if self._search_kwargs:
            return self._search_kwargs(list(request["sources"]))
        return self._access.arguments(request)

    def _looked(self, returned: object, request: JsonObject) -> _Looked:
        documents = found_in(returned)
        readers = self._access.read([document for document, _ in documents], request)  # before anything is told of one
        sources = [self._source(document, at) for at, (document, _) in enumerate(documents)]
        candidates = [
            Candidate(**{**self._candidate(document, at, source, score), **read})  # type: ignore[typeddict-item]
            for at, ((document, score), source, read) in enumerate(zip(documents, sources, readers, strict=True))
            if source in request["sources"]
        ]
        check_ranks([item["score"] for item in candidates], is_sorted=self._asker.is_counted)
        return _Looked(candidates, sources)

    def _chosen(self, looked: _Looked, request: JsonObject) -> list[Candidate]:
        if looked.sources and self._known is not None and not set(looked.sources) & set(self._known):
            names = ", ".join(sorted(set(looked.sources))[:SHOWN_SOURCES])
            allowed = f"a source that sources= names ({', '.join(self._known)}); metadata={{'source': ...}} makes one"
            raise Unreturnable(f"{names:.200}", place=("found", "source"), allowed=allowed)
        return looked.candidates[: request["top_k"]]

    def _candidate(self, document: Document, at: int, source: str, score: object) -> Candidate:
        span = self._keys.read(document, at, "span")  # the guard says what is wrong with it
        candidate = Candidate(
            doc_id=self._doc_id(document, at),
            source=source,
            title=self._text(document, at, "title"),
            section=self._text(document, at, "section"),
            updated_at=self._text(document, at, "updated_at"),
            text=document.page_content,
            score=self._score(document, at, score),
        )
        return candidate if span is None else {**candidate, "span": span}  # type: ignore[typeddict-item]

    def _doc_id(self, document: Document, at: int) -> str:
        given = self._keys.read(document, at, "doc_id")
        if given is None and not self._keys.are_told("doc_id"):
            given = document.id
        allowed = "a text that is not blank, a whole number or a UUID, in the metadata or as the document's id"
        if given is None:
            raise self._keys.missing(document, at, "doc_id", allowed)
        if isinstance(given, bool) or not isinstance(given, str | int | UUID) or not str(given).strip():
            raise self._keys.wrong(document, at, "doc_id", given, allowed)
        return str(given)

    def _source(self, document: Document, at: int) -> str:
        given = self._keys.read(document, at, "source")
        if given is None and self._known is not None and len(self._known) == 1:
            return self._known[0]
        allowed = "a text that is not blank; sources= with one name stands in for it"
        if given is None:
            raise self._keys.missing(document, at, "source", allowed)
        if not isinstance(given, str) or not given.strip():
            raise self._keys.wrong(document, at, "source", given, allowed)
        return given

    def _text(self, document: Document, at: int, field: str) -> str:
        given = self._keys.read(document, at, field)
        if isinstance(given, date) and field == "updated_at":
            return given.isoformat()
        if given is not None and not isinstance(given, str):
            allowed = "a text or a date" if field == "updated_at" else "a text"
            raise self._keys.wrong(document, at, field, given, f"{allowed}; metadata={{{field!r}: ...}} makes one")
        return given or ""

    def _score(self, document: Document, at: int, beside: object) -> float:
        if beside is not None and not self._keys.are_told("score"):
            made = beside if self._relevance is None else self._relevance(beside)
            if (relevance := relevance_of(made)) is None:
                of = "" if self._relevance is None else f", which relevance= makes of {shown_score(beside)}"
                raise fault(document, (at, "score"), f"{shown_score(made)}{of}", f"{RELEVANCE}; {WAY_OUT}")
            return relevance
        given = self._keys.read(document, at, "score")
        if given is None:
            allowed = f"{RELEVANCE}; a vector store tells it, if it is given itself, or metadata={{'score': ...}}"
            raise self._keys.missing(document, at, "score", allowed)
        if (relevance := relevance_of(given)) is None:
            allowed = f"{RELEVANCE}; metadata={{'score': ...}} makes one of distances and of cosines below 0"
            raise self._keys.wrong(document, at, "score", given, allowed)
        return relevance


def _drops_scores(given: object) -> bool:
    """Say whether a retriever is LangChain's own around a vector store; one derived from it may keep the scores."""
    from langchain_core.vectorstores import VectorStoreRetriever

    return type(given) is VectorStoreRetriever

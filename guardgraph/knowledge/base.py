"""A knowledge base, in a file or on a server: what users hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from pydantic import ValidationError

from guardgraph.knowledge.database import KnowledgeDatabase
from guardgraph.knowledge.file import File
from guardgraph.knowledge.ingest.adding import GIVEN, add_folder, add_given_documents
from guardgraph.knowledge.ingest.collection import Collection, Report
from guardgraph.knowledge.ingest.folder import find_folder_documents
from guardgraph.knowledge.ingest.rules import read_access_list
from guardgraph.plain.errors import ConfigurationError, StoreError, make_configuration_error
from guardgraph.plain.extras import explain_extra
from guardgraph.plain.json import JsonObject, find_json_problem
from guardgraph.plain.urls import is_server_url
from guardgraph.state.context import Caller, normalise_tenant
from guardgraph.state.tightening import explain_unknown_name
from guardgraph.tools.knowledge_base import Document
from guardgraph.tools.lexical import SearchRequest

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

    from guardgraph.knowledge.checking import CheckedBase
    from guardgraph.knowledge.index import Index


class AnyKnowledgeBase:
    """Documents of tenants, searched by those who may read them, while they change; in a file or on a server."""

    def __init__(
        self, place: str | Path, database: KnowledgeDatabase, embedding: Embeddings | None, min_similarity: float | None
    ) -> None:
        if min_similarity is not None:
            is_number = isinstance(min_similarity, int | float) and not isinstance(min_similarity, bool)
            if not is_number or not 0 <= min_similarity <= 1:
                required = "a number in 0..1 is required, or None"
                raise ConfigurationError(f"min_similarity: {required}; given: {min_similarity!r:.80}")
        require_numpy()
        from guardgraph.knowledge.index import Index

        self._place = place
        self._opened_with: dict[str, Any] = {"embedding": embedding, "min_similarity": min_similarity}
        self.shown = database.shown
        """How messages call it."""
        self.index: Index = Index(database, embedding=embedding, min_similarity=min_similarity)
        self.index.check_embedding()  # a file, a server or a role that is none is refused at once

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.shown!r})"

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return partial(type(self), self._place, **self._opened_with), ()

    def close(self) -> None:
        """Close what is open; it is opened again when it is needed."""
        self.index.close()

    def add(
        self,
        documents: str | Path | Iterable[Document],
        *,
        tenant: str | None = None,
        readers: Iterable[str] | None = None,
        name: str | None = None,
        prune: bool = False,
        progress: Callable[[int, int], object] | None = None,
    ) -> Report:
        """Make a collection match a folder or a list, and say what became of each document.

        Of a list without a `name`, nothing is gone: its documents are put in beside those that are there.

        A file of a folder is read again if its size or its time is another one, and put in if its text is. Who may read
        it is settled each time, of unchanged ones too: the nearest `access.yaml` above it says so, which only narrows
        what `readers` or an `access.yaml` further up allow, and front matter or a ``name.meta.yaml`` beside it narrow
        that. Where none of them names readers, nobody reads it.

        Args:
            documents: a folder of Markdown, reStructuredText, HTML, text and PDF files; or documents as
                `LexicalRetriever` takes them, each of which may name `readers` of its own, which only narrow.
            tenant: whose they are; None for callers without a tenant.
            readers: who may read them at most: ``public``, ``tenant``, ``user:ID``, ``group:ID``.
            name: of the collection; it stands before each id. A folder's is its own, or that of the link to it.
            prune: what is gone may be more than half, and is taken out of a list without a name, too.
            progress: called after each file of a folder with the bytes that are read, and the bytes of all.

        Raises:
            ConfigurationError: an argument or a rule is wrong, an id is taken, or more than half is gone: all stays.
            StoreError: the file cannot be written; every document is as it was or as it is now.
        """
        _check_collection_name("tenant", tenant)
        _check_collection_name("name", name)
        self.index.check_embedding(to_write=True)
        tenant = normalise_tenant(tenant)
        try:
            allowed = None if readers is None else read_access_list(readers if isinstance(readers, str) else [*readers])
        except (TypeError, ValueError) as error:
            raise ConfigurationError(f"readers: {error}") from None
        prefix = "" if name is None else f"{name}/"
        if isinstance(documents, str | Path):
            if not str(documents).strip():
                raise ConfigurationError(f"documents: the path of a folder is required; given: {documents!r}")
            folder = find_folder_documents(Path(documents), allowed)
            _check_collection_name("name", name or folder.name)
            into = Collection(self.index, tenant, name or folder.name)
            return add_folder(folder, into, prefix=prefix, prune=prune, progress=progress)
        into = Collection(self.index, tenant, name or GIVEN)
        is_whole = name is not None or prune
        if not isinstance(documents, Iterable):
            required = "a folder or a list of documents is required"
            raise ConfigurationError(f"documents: {required}; given: {documents!r:.80}")
        return add_given_documents(documents, into, readers=allowed or (), prefix=prefix, whole=is_whole, prune=prune)

    def remove(self, name: str, *, tenant: str | None = None) -> int:
        """Take the documents of a collection out, all of them in one transaction, and say how many there were.

        Raises:
            ConfigurationError: the tenant has no such collection.
            StoreError: the file cannot be written, or the documents are missing.
        """
        _check_collection_name("tenant", tenant)
        if not isinstance(name, str):
            raise ConfigurationError(f"name: the name of a collection is required; given: {name!r:.80}")
        tenant = normalise_tenant(tenant)
        if removed := self.index.drop_collection(tenant, name):
            return removed
        there_are = [of for whose, of in self.index.collections() if whose == tenant]
        if (unknown := explain_unknown_name(name, there_are)) is not None:
            raise ConfigurationError(f"name: {unknown}")
        raise StoreError(f"{self.shown}: the documents of {name!r:.80} are missing; `guardgraph kb check` tells more")

    def search(
        self, query: str, *, caller: Caller | Mapping[str, Any] | None = None, top_k: int = 4
    ) -> list[JsonObject]:
        """Return the chunks that answer a query, of those that a caller may read, with a score above 0, best first.

        Args:
            query: what is asked.
            caller: who asks, as ``{"tenant", "user", "groups"}``; None is somebody of whom nothing is known.
            top_k: how many at most.

        Raises:
            StoreError: the file cannot be read, or what was found is not what was put in.
        """
        if not isinstance(query, str):
            raise ConfigurationError(f"query: a text is required; given: {query!r:.80}")
        if isinstance(top_k, bool) or not isinstance(top_k, int) or top_k < 1:
            raise ConfigurationError(f"top_k: a whole number from 1 on is required; given: {top_k!r:.80}")
        return self.index.search(query, caller=_read_asking_caller(caller), top_k=top_k)

    def __call__(self, request: JsonObject) -> list[JsonObject]:
        """Find what answers a request, as `LexicalRetriever` does, for the request's ``"caller"`` where it has one."""
        query, sources, top_k = SearchRequest.of(request)
        return self.index.search(query, sources=sources, caller=_read_asking_caller(request.get("caller")), top_k=top_k)

    def check(self) -> CheckedBase:
        """Check whether the file, each row and all that is counted are what was put in; nothing is changed.

        Raises:
            ConfigurationError: the role is no member of ``guardgraph_writer``.
            StoreError: it cannot be read.
        """
        from guardgraph.knowledge.checking import check_knowledge_base

        return check_knowledge_base(open_to_check(self._place))

    def rebuild(self) -> CheckedBase:
        """Make the index anew from the stored texts whose hash is right, in one transaction.

        Words, postings and statistics are counted anew, and vectors that are right are kept. Those that are missing or
        damaged are made where the base has its embedding; else they are taken out. Documents of which something has
        another hash than it was put in with are taken out and named, until they are added again. Others may search
        meanwhile; those who add wait. What was found before is returned, with what the index does not have.

        A base whose words another version read is refused here; ``guardgraph kb rebuild`` takes it.

        Raises:
            ConfigurationError: the embedding returned no vectors, or the role is no member of ``guardgraph_writer``.
            StoreError: it cannot be read or written, or is damaged where no index is; nothing was changed.
        """
        from guardgraph.knowledge.checking import rebuild_knowledge_base

        return rebuild_knowledge_base(open_to_check(self._place), self.index.embedder)

    def tenants(self) -> list[str | None]:
        """Return the tenants that have documents, None first where documents have none."""
        return self.index.tenants()

    def list_sources(self, request: JsonObject) -> list[str]:
        """Return the names of the sources of which a request's ``caller`` may read something, sorted."""
        return self.index.readable_sources(_read_asking_caller(request.get("caller")))

    def source_names(self) -> tuple[str, ...]:
        """Return the names of the sources of all documents, whoever may read them, sorted."""
        return self.index.source_names()


class KnowledgeBase(AnyKnowledgeBase):
    """Documents of tenants in one SQLite file, searched by those who may read them, while they change.

    The order of what is found, and each score, are those of `LexicalRetriever` over what the caller may read. It is a
    retriever, too: call it with ``{"query", "sources", "top_k"}`` and, of a run that has one, the ``"caller"``.

    Args:
        path: the file; it is made when it is not there, readable by its owner only.
        embedding: LangChain's, by whose vectors what words find is ordered anew; its name and the size of its vectors
            are in the file, and another one is refused. None for words only. Needs the extra ``kb``.
        min_similarity: the cosine, 0 to 1, from which on a vector finds what no word does; its score is the cosine
            then. None for never: how near a vector is says nothing of relevance.

    Raises:
        ConfigurationError: the file is no knowledge base of this version, or cannot be made.
    """

    def __init__(
        self, path: str | Path, *, embedding: Embeddings | None = None, min_similarity: float | None = None
    ) -> None:
        if not isinstance(path, str | Path) or not str(path).strip():
            raise ConfigurationError(f"knowledge base: the path of a file is required; given: {path!r}")
        self.path = Path(path)
        super().__init__(self.path, File(self.path), embedding, min_similarity)


class PostgresKnowledgeBase(AnyKnowledgeBase):
    """Documents of tenants in a database of PostgreSQL, searched from many machines by those who may read them.

    It is what `KnowledgeBase` is, with the same scores. Row security keeps a search to what its caller may read, so the
    role is one that it holds: a member of ``guardgraph_reader``, or of ``guardgraph_writer`` to put documents in;
    ``guardgraph kb init URL`` makes both. It needs the extra ``postgres``.

    Args:
        url: ``postgresql://USER:PASSWORD@HOST/DATABASE``.
        embedding: as `KnowledgeBase` takes it. The first addition settles for all tenants by which embedding vectors
            are made, or that there are none; needs the extra ``kb``, too.
        min_similarity: as `KnowledgeBase` takes it.

    Raises:
        ConfigurationError: the URL, the server, the database, the role or the embedding is none that can be used.
    """

    def __init__(self, url: str, *, embedding: Embeddings | None = None, min_similarity: float | None = None) -> None:
        from guardgraph.knowledge.server import Server

        super().__init__(url, Server(url), embedding, min_similarity)


def require_numpy() -> None:
    """Refuse to open a knowledge base without the packages of its extra."""
    try:
        import numpy  # noqa: F401
    except ImportError:
        raise ConfigurationError(f"a knowledge base needs numpy: {explain_extra('kb')}") from None


def open_to_check(given: str | Path) -> KnowledgeDatabase:
    """Return the database of a file or of a URL, whatever became of it, whichever version read its words."""
    require_numpy()
    if is_server_url(given):
        from guardgraph.knowledge.server import Server

        return Server(str(given))
    return File(Path(given), to_check=True)


def open_knowledge_base(given: str | Path) -> AnyKnowledgeBase:
    """Open the knowledge base of a file or of a URL."""
    return PostgresKnowledgeBase(str(given)) if is_server_url(given) else KnowledgeBase(given)


def make_server_base(url: str) -> bool:
    """Make an empty knowledge base in a database, and its two roles; say whether there was none."""
    from guardgraph.knowledge.row_security import make_database
    from guardgraph.knowledge.server import Server

    server = Server(url)
    with server.making() as connection:
        return make_database(connection, server.shown)


def _read_asking_caller(given: Caller | Mapping[str, Any] | None) -> Caller | None:
    if given is None or isinstance(given, Caller):
        return given
    if not isinstance(given, Mapping):
        raise ConfigurationError(f"caller: a dictionary of tenant, user and groups is required; given: {given!r:.80}")
    try:
        return Caller.model_validate(given)
    except ValidationError as error:
        raise make_configuration_error("caller", error) from None


def _check_collection_name(field: str, given: object) -> None:
    if given is None:
        return
    if not isinstance(given, str) or not given or given != given.strip() or find_json_problem(given) is not None:
        raise ConfigurationError(f"{field}: a text without blanks around it is required, or None; given: {given!r:.80}")

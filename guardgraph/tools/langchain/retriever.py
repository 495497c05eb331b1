"""A vector store, a retriever or a tool of LangChain's as the RAG agent's retriever."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from itertools import pairwise
from numbers import Real
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from langchain_core.runnables import Runnable, RunnableConfig

from guardgraph.guards.rag.retrieval import ROUNDING, parse_relevance
from guardgraph.plain.conversion import Unreturnable
from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.hashing import digest
from guardgraph.plain.json import JsonObject
from guardgraph.state.context import Access, Caller, is_access_allowed, normalize_document_access
from guardgraph.state.rag import Candidate
from guardgraph.tools.candidates import add_missing_scores, format_number_name, make_unusable_candidate
from guardgraph.tools.langchain import asking
from guardgraph.tools.langchain.documents import (
    Metadata,
    MetadataKeys,
    is_of_langchain_class,
    read_found_documents,
    read_plain_value,
    refuse_langchain_document,
)
from guardgraph.tools.tool import choose_retriever_sources

if TYPE_CHECKING:
    from langchain_core.documents import Document
    from langchain_core.vectorstores import VectorStore


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
_MOST: Final = 1024  # how many times more documents are asked for where some are of other sources, and how many at most


SHOWN_SOURCES: Final = 3  # how many names of sources that nobody named a message repeats


class _Looked(NamedTuple):
    candidates: list[Candidate]  # the documents of the sources that were asked for
    sources: list[str]  # of all documents that say one
    unusable: list[Candidate]  # what stands in the place of the others

    def has_enough_candidates(self, top_k: int, count: int, *, is_filtered: bool) -> bool:
        """Say whether asking for more than `count` would bring nothing: there is enough, or there is no more."""
        # A store that filters what it found first returns few, or nothing, where there is more.
        return len(self.candidates) >= top_k or (len(self.sources) < count and not is_filtered)


class LangChainRetriever(Runnable[JsonObject, list[Candidate]]):
    """Finds documents by LangChain; `create_rag_agent(retriever=...)` makes one of what it is given.

    A vector store is asked for relevance (`similarity_search_with_relevance_scores`), a retriever and a tool for
    documents, whose metadata has the score (`relevance_score` or `score`); those without one are scored by their words,
    as `LexicalRetriever` scores them among all that came back. Documents of sources that are not asked for are left
    out; a store is then asked for more, up to 1,024. A document that cannot be used (no text, no source, a score that
    is no relevance, a title that is none) is left out by name; where all are so, the run ends as
    ``tool_invalid_output:retrieve``.

    Args:
        given: a vector store, a retriever, a tool that takes a query, or another Runnable or function that is given
            ``{query, sources, top_k}`` and returns documents.
        sources: the names of the sources that it has. With one name, documents without a source are of this one.
        metadata: where fields stand that are named otherwise: for `doc_id`, `source`, `title`, `section`, `updated_at`,
            `score`, `tenant`, `readers` or `span` a key of the metadata, or a function of the document. An id is a
            text, a whole number or a UUID; without one in the metadata, the document's own `id` counts, and without
            that ``text-`` and a hash of its text.
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

    sources: tuple[str, ...]  #: the names of its sources; there is no such attribute where they are not known

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
        self._known = choose_retriever_sources(given, sources)
        if self._known is not None:  # a retriever without such an attribute does not say what it has
            self.sources = self._known
        self._keys = MetadataKeys("metadata", _USUAL, metadata)
        self._asker, self._relevance = self._choose_retriever_asker(relevance)
        takes_arguments = asking.is_vector_store(given) or asking.is_langchain_retriever(asking.unwrap_runnable(given))
        if search_kwargs is not None and not (callable(search_kwargs) and takes_arguments):
            allowed = "a function of the sources, for a vector store or a retriever,"
            raise ConfigurationError(f"search_kwargs: {allowed} is required; given: {search_kwargs!r:.80}")
        self._access = StoreAccess(given, self._keys, access)
        if search_kwargs is not None and self._access.has_search_filter:
            raise ConfigurationError("search_kwargs: to be left out, access= is given the sources too")
        self._search_kwargs = search_kwargs

    def __repr__(self) -> str:
        name = type(asking.unwrap_runnable(self._given)).__name__
        return f"LangChainRetriever({name}, sources={list(self._known or ()) or None})"

    def invoke(self, input: JsonObject, config: RunnableConfig | None = None, **kwargs: Any) -> list[Candidate]:
        """Find what answers ``{"query", "sources", "top_k"}`` for the ``caller``, where it is known who asks.

        Returns:
            At most `top_k` candidates of these sources, in the order of what was found, then those that cannot be used,
            each with `unusable`, which says why.

        Raises:
            Unreturnable: what was found is no list of documents, or the caller may not read all of it.
        """
        extra = self._make_search_arguments(input)
        for count in self._widen_search_counts(input["top_k"], is_filtered=bool(extra)):
            looked = self._read_returned_candidates(self._asker.find_documents(input, count, extra, config), input)
            if looked.has_enough_candidates(input["top_k"], count, is_filtered=bool(extra)):
                break
        return self._choose_langchain_candidates(looked, input)

    async def ainvoke(self, input: JsonObject, config: RunnableConfig | None = None, **kwargs: Any) -> list[Candidate]:
        """Find like `invoke`, without blocking the event loop."""
        extra = self._make_search_arguments(input)
        for count in self._widen_search_counts(input["top_k"], is_filtered=bool(extra)):
            found = await self._asker.afind_documents(input, count, extra, config)
            looked = self._read_returned_candidates(found, input)
            if looked.has_enough_candidates(input["top_k"], count, is_filtered=bool(extra)):
                break
        return self._choose_langchain_candidates(looked, input)

    def _choose_retriever_asker(
        self, relevance: Callable[[float], float] | None
    ) -> tuple[asking.Asker, Callable[[Any], float] | None]:
        given = self._given
        if asking.is_vector_store(given):
            return make_relevance_asker("retriever", given, relevance)
        if relevance is not None:
            kind = type(given).__name__
            raise ConfigurationError(f"relevance: it makes one of the score of a vector store; given with a {kind}")
        return asking.make_langchain_asker("retriever", given, ("query", "sources", "top_k")), None

    def _widen_search_counts(self, top_k: int, *, is_filtered: bool) -> Iterator[int]:
        """Yield how many to ask for in turn; of a store that filters, all at once where it found too few."""
        count = top_k
        yield count
        while self._asker.is_counted and count < _MOST:
            count = _MOST if is_filtered else min(_WIDER * count, _MOST)
            yield count

    def _make_search_arguments(self, request: JsonObject) -> Mapping[str, Any]:
        if self._search_kwargs:
            return self._search_kwargs(list(request["sources"]))
        return self._access.make_filter_arguments(request)

    def _read_returned_candidates(self, returned: object, request: JsonObject) -> _Looked:
        documents = read_found_documents(returned)
        # Before anything is told of one.
        readers = self._access.read_document_readers([document for document, _ in documents], request)
        looked, scores = _Looked([], [], []), list[object]()
        for at, ((document, score), read) in enumerate(zip(documents, readers, strict=True)):
            try:
                source = self._read_source_name(document, at)
                looked.sources.append(source)
                if source in request["sources"]:
                    scores.append(self._read_score(document, at, score))
                    made = self._make_langchain_candidate(document, at, source, score, scores[-1])
                    looked.candidates.append(Candidate(**{**made, **read}))  # type: ignore[typeddict-item]
            except Unreturnable as error:
                looked.unusable.append(make_unusable_candidate(error, read))  # type: ignore[arg-type]
        if looked.candidates:
            check_retrieved_order(scores, is_sorted=self._asker.is_counted)
        return looked

    def _choose_langchain_candidates(self, looked: _Looked, request: JsonObject) -> list[Candidate]:
        if looked.sources and self._known is not None and not set(looked.sources) & set(self._known):
            names = ", ".join(sorted(set(looked.sources))[:SHOWN_SOURCES])
            allowed = f"a source that sources= names ({', '.join(self._known)}); metadata={{'source': ...}} makes one"
            raise Unreturnable(f"{names:.200}", place=("found", "source"), allowed=allowed)
        scored = add_missing_scores([*looked.candidates], request["query"])
        return [*scored[: request["top_k"]], *looked.unusable]

    def _make_langchain_candidate(
        self, document: Document, at: int, source: str, beside: object, score: object
    ) -> Candidate:
        span = self._keys.read_metadata_field(document, at, "span")  # the guard says what is wrong with it
        candidate = Candidate(
            doc_id=self._read_doc_id(document, at),
            source=source,
            title=self._read_text_field(document, at, "title"),
            section=self._read_text_field(document, at, "section"),
            updated_at=self._read_text_field(document, at, "updated_at"),
            text=document.page_content,
            score=self._read_relevance_score(document, at, beside, score),  # type: ignore[typeddict-item]  # or none yet
        )
        return candidate if span is None else {**candidate, "span": span}  # type: ignore[typeddict-item]

    def _read_doc_id(self, document: Document, at: int) -> str:
        given = read_plain_value(self._keys.read_metadata_field(document, at, "doc_id"))
        if given is None and not self._keys.has_own_key("doc_id"):
            given = document.id
        allowed = "a text that is not blank, a whole number or a UUID, in the metadata or as the document's id"
        if given is None and not self._keys.has_own_key("doc_id"):
            return f"text-{digest(document.page_content)[:12]}"
        if given is None:
            raise self._keys.refuse_missing_field(document, at, "doc_id", allowed)
        if isinstance(given, Real) and not isinstance(given, bool) and float(given).is_integer():
            return format_number_name(float(given)) if isinstance(given, float) else str(given)
        if not isinstance(given, str) or not given.strip():
            raise self._keys.refuse_wrong_field(document, at, "doc_id", given, allowed)
        return given

    def _read_source_name(self, document: Document, at: int) -> str:
        given = read_plain_value(self._keys.read_metadata_field(document, at, "source"))
        if given is None and self._known is not None and len(self._known) == 1:
            return self._known[0]
        allowed = "a text that is not blank; sources= with one name stands in for it"
        if given is None:
            raise self._keys.refuse_missing_field(document, at, "source", allowed)
        if not isinstance(given, str) or not given.strip():
            raise self._keys.refuse_wrong_field(document, at, "source", given, allowed)
        return given

    def _read_text_field(self, document: Document, at: int, field: str) -> str:
        found = self._keys.read_metadata_field(document, at, field)
        given = read_plain_value(found)
        if isinstance(found, date) and field == "updated_at" and given is not None:
            return found.isoformat()
        if field != "updated_at" and isinstance(given, int | float) and not isinstance(given, bool):
            return format_number_name(given)
        if given is not None and not isinstance(given, str):
            allowed = "a text or a date" if field == "updated_at" else "a text"
            allowed += f"; metadata={{{field!r}: ...}} makes one"
            raise self._keys.refuse_wrong_field(document, at, field, given, allowed)
        return given or ""

    def _read_score(self, document: Document, at: int, beside: object) -> object:
        if beside is None or self._keys.has_own_key("score"):
            return self._keys.read_metadata_field(document, at, "score")
        return beside if self._relevance is None else self._relevance(beside)

    def _read_relevance_score(self, document: Document, at: int, beside: object, given: object) -> float | None:
        is_beside = beside is not None and not self._keys.has_own_key("score")
        if (relevance := parse_relevance(given)) is not None or (given is None and not is_beside):
            return relevance
        if is_beside:
            of = "" if self._relevance is None else f", which relevance= makes of {format_relevance_score(beside)}"
            said = f"{format_relevance_score(given)}{of}"
            raise refuse_langchain_document(document, (at, "score"), said, f"{RELEVANCE}; {WAY_OUT}")
        allowed = f"{RELEVANCE}; metadata={{'score': ...}} makes one of distances and of cosines below 0"
        raise self._keys.refuse_wrong_field(document, at, "score", given, allowed)


AccessFilter: TypeAlias = Callable[[Caller | None, list[str]], Mapping[str, Any]]
"""Returns the keyword arguments of a search that hold it to what a caller may read, and to these sources."""

_FIELDS = ("tenant", "readers")


class StoreAccess:
    """Holds a search to what its caller may read."""

    # Its errors say nothing of a document: it is not known yet whether the caller may read it.

    def __init__(self, given: object, keys: MetadataKeys, access: AccessFilter | None) -> None:
        takes_arguments = asking.is_vector_store(given) or asking.is_langchain_retriever(asking.unwrap_runnable(given))
        allowed = "a function of a caller and of sources that returns the arguments of a search"
        if access is not None and not (callable(access) and takes_arguments):
            of = "for a vector store or a retriever,"
            raise ConfigurationError(f"access: {allowed}, {of} is required; given: {access!r:.80}")
        told = [field for field in _FIELDS if keys.has_own_key(field)]
        if access is None and told and (takes_arguments or asking.is_langchain_tool(asking.unwrap_runnable(given))):
            where = f"where metadata= says what the {' and the '.join(told)} of a document are"
            raise ConfigurationError(f"access: {allowed} is required {where}; given: None")
        self._keys = keys
        self._filter = access

    @property
    def has_search_filter(self) -> bool:
        """Whether a caller becomes the arguments of the search."""
        return self._filter is not None

    def make_filter_arguments(self, request: JsonObject) -> Mapping[str, Any]:
        """Return the arguments of a search that hold it to what the caller of a request may read."""
        if self._filter is None:
            return {}
        return self._filter(_parse_request_caller(request), list(request["sources"]))

    def read_document_readers(self, documents: Sequence[Document], request: JsonObject) -> list[JsonObject]:
        """Return what candidates say of who may read them; nothing for one of which nobody said it."""
        caller = _parse_request_caller(request)
        return [self._check_document_readers(document, at, caller) for at, document in enumerate(documents)]

    def _check_document_readers(self, document: Document, at: int, caller: Caller | None) -> JsonObject:
        access = self._parse_document_access(document, at)
        if access is None and self._filter is None:
            return {}
        if access is None:
            allowed = "documents that say who may read them, since there is access="
            raise _refuse_found_document("a document without readers", allowed)
        if not is_access_allowed(access, caller):
            raise _refuse_found_document("another document", "documents that the caller may read")
        return {"tenant": access.tenant, "readers": list(access.readers)}

    def _parse_document_access(self, document: Document, at: int) -> Access | None:
        allowed = "a tenant that is a text or nothing, and a list of public, tenant, user:ID and group:ID as readers"
        try:
            tenant, readers = (self._keys.read_metadata_field(document, at, field) for field in _FIELDS)
            if tenant is None and readers is None:
                return None
            if isinstance(tenant, str | None) and isinstance(readers, list | tuple | None):
                return normalize_document_access(tenant, readers or ())
        except (Unreturnable, ValueError):  # which say what stands there
            pass
        raise _refuse_found_document("a document with something else", allowed)


def _parse_request_caller(request: JsonObject) -> Caller | None:
    given = request.get("caller")
    return None if given is None else Caller.model_validate(given)


def _refuse_found_document(given: str, allowed: str) -> Unreturnable:
    return Unreturnable(given, place=("found",), allowed=allowed)


RELEVANCE = "a relevance, which is a number from 0 to 1, 1 the most"
"""What a score has to be, in the words of a refusal."""

WAY_OUT = "LangChainRetriever(store, relevance=...) makes one of a store's own score"
"""What to do about a store whose scores are something else."""

SURE_RISE = 3
"""From so many scores on, each higher than the one before, they are taken for distances: a reranker that leaves the
scores as they were gives two documents in that order every second time."""

_SCORED = "similarity_search_with_score"
_RELEVANT = "similarity_search_with_relevance_scores"
_ITS_OWN = (_RELEVANT, f"_{_RELEVANT}", "_select_relevance_score_fn")
"""What a class of stores overrides, one of them, to tell relevance."""


def make_relevance_asker(
    slot: str, store: VectorStore, relevance: Callable[[float], float] | None
) -> tuple[asking.AsksStore, Callable[[Any], float] | None]:
    """Return who asks a store for scores, and what makes a relevance of one; None where the store does it."""
    is_in_memory = is_of_langchain_class(store, "vectorstores", "InMemoryVectorStore")
    if relevance is None and is_in_memory and not _has_own_relevance(store):
        relevance = _convert_cosine_to_relevance
    if relevance is not None:
        return asking.AsksStore(store, _SCORED), relevance
    if not _has_own_relevance(store):
        allowed = "LangChainRetriever(store, relevance=...), which makes a relevance from 0 to 1 of a score,"
        given = f"{type(store).__name__}, which has no {_RELEVANT}"
        raise ConfigurationError(f"{slot}: {allowed} is required; given: {given}")
    return asking.AsksStore(store, _RELEVANT), None


def _has_own_relevance(store: VectorStore) -> bool:
    from langchain_core.vectorstores import VectorStore

    return any(getattr(type(store), name, None) is not getattr(VectorStore, name, None) for name in _ITS_OWN)


def _convert_cosine_to_relevance(similarity: float) -> float:
    """Make a relevance of a cosine: vectors that lead apart have nothing to do with each other."""
    return max(similarity, 0.0)


def format_relevance_score(given: object) -> str:
    """Return a score as a message shows it."""
    if isinstance(given, Real) and not isinstance(given, bool):
        return f"{float(given):.4g}"
    return f"{given!r:.80}"


def check_retrieved_order(returned: Sequence[object], *, is_sorted: bool) -> None:
    """Refuse scores that rise from the best document on."""
    numbers = (float(score) for score in returned if isinstance(score, Real) and not isinstance(score, bool))
    scores = [score for score in numbers if math.isfinite(score)]
    rises = [after > before + ROUNDING for before, after in pairwise(scores)]
    if any(rises) if is_sorted else len(scores) >= SURE_RISE and all(rises):
        told = ", ".join(f"{at:.3g}" for at in scores)
        given = f"scores that rise from the best document on, as distances do: {told}"
        raise Unreturnable(f"{given:.200}", place=("found", "score"), allowed=f"{RELEVANCE}, best first; {WAY_OUT}")

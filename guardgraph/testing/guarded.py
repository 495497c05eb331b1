"""What checks of a retriever ask: a base of documents with readers, who asks it, and what is found there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from guardgraph.guards.rag import access_refusal, parse_candidates
from guardgraph.guards.stop import Stop
from guardgraph.plain.json import JsonObject, JsonValue
from guardgraph.state.access import access_of, may_read
from guardgraph.state.context import Caller
from guardgraph.state.rag import Candidate

__all__ = [
    "CALLERS",
    "QUESTIONS",
    "READERS",
    "GuardedBase",
    "GuardedDocument",
    "asked",
    "equal",
    "facts",
    "found",
    "is_readable",
]


class GuardedDocument(NamedTuple):
    """A document with who may read it."""

    id: str
    """Unique within its tenant."""
    text: str
    """One sentence; the text of a candidate holds it."""
    tenant: str | None = None
    readers: tuple[str, ...] = ("public",)
    source: str = "kb"


class GuardedBase(Protocol):
    """A retriever over documents that change: what `check_retriever` needs of whatever stands behind yours."""

    def put(self, documents: Sequence[GuardedDocument]) -> None:
        """Take documents in, each in place of the one of its tenant that has its id, with other readers or text."""

    def remove(self, documents: Sequence[GuardedDocument]) -> None:
        """Take documents out, by tenant and id."""

    def search(self, request: JsonObject) -> JsonValue:
        """Return the candidates for ``{query, sources, top_k}`` and, where it is known who asks, ``caller``."""


FACTS = {
    "harbour": "The harbour master keeps the red ledger in the tower.",
    "bakery": "The bakery opens at six and sells rye bread.",
    "library": "The library lends atlases for three weeks.",
    "stables": "The stables house eleven ponies near the river.",
}
QUESTIONS = {
    "harbour": "Who keeps the red ledger?",
    "bakery": "When does the bakery open and sell rye bread?",
    "library": "For how many weeks does the library lend atlases?",
    "stables": "How many ponies do the stables house?",
}
CALLERS: tuple[JsonObject | None, ...] = (
    None,
    {"tenant": None, "user": "ada", "groups": ["support"]},
    {"tenant": "acme", "user": "ada", "groups": []},
    {"tenant": "acme", "user": "bob", "groups": ["support", "a:b"]},
    {"tenant": "other", "user": "ada", "groups": ["support"]},
    {"tenant": "", "user": None, "groups": []},
)
READERS: tuple[tuple[str, ...], ...] = (
    (),
    ("public",),
    ("tenant",),
    ("user:ada",),
    ("group:support",),
    ("group:a:b", "user:bob"),
    ("group:acme", "user:support"),
)


def facts(tenant: str | None = None, readers: tuple[str, ...] = ("public",)) -> list[GuardedDocument]:
    """Return a document for each of `FACTS`."""
    return [GuardedDocument(name, text, tenant, readers) for name, text in FACTS.items()]


def is_readable(document: GuardedDocument, caller: JsonObject | None) -> bool:
    """Say whether a caller may read a document."""
    asking = None if caller is None else Caller.model_validate(caller)
    return may_read(access_of(document.tenant, document.readers), asking)


def asked(
    base: GuardedBase,
    question: str,
    caller: JsonObject | None = None,
    *,
    top_k: int = 10,
    sources: Sequence[str] = ("kb",),
) -> list[Candidate]:
    """Return candidates, if a run could go on with them."""
    request: JsonObject = {"query": question, "sources": list(sources), "top_k": top_k}
    if caller is not None:
        request["caller"] = {"tenant": None, "user": None, "groups": [], **caller}
    returned = base.search(request)
    asking = Caller.model_validate(caller) if caller is not None else None
    if (details := access_refusal(returned, caller=asking, required=True)) is not None:
        raise AssertionError(f"search({question!r:.80}) of {caller}: {details['given']}; allowed: {details['allowed']}")
    if isinstance(returned, list) and len(returned) > top_k:
        raise AssertionError(f"search({question!r:.80}): {len(returned)} candidates; at most top_k, {top_k}")
    try:
        return parse_candidates(returned, allowed_sources=sources, top_k=top_k)
    except Stop as stop:
        raise AssertionError(f"search({question!r:.80}): {stop.evidence['details']}") from None


def found(
    base: GuardedBase,
    documents: Sequence[GuardedDocument],
    question: str,
    caller: JsonObject | None = None,
    *,
    top_k: int = 10,
    sources: Sequence[str] = ("kb",),
) -> list[str]:
    """Return the ids of what is found, by text."""
    texts = [item["text"] for item in asked(base, question, caller, top_k=top_k, sources=sources)]
    readable = [document for document in documents if is_readable(document, caller)]
    ids = [[document.id for document in readable if document.text in text] for text in texts]
    if not all(ids):
        raise AssertionError(f"search({question!r:.80}) of {caller}: a document that is not there: {texts!r:.300}")
    return [names[0] for names in ids]


def equal(what: str, given: object, wanted: object) -> None:
    """Refuse what is not what it should be."""
    if given != wanted:
        raise AssertionError(f"{what}: {wanted!r:.300} is required; given: {given!r:.300}")

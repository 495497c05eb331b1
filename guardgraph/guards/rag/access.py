"""Who may read what a retriever returned: each document's tenant and readers, held against whoever asks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from guardgraph.guards.stop import Stop
from guardgraph.plain.json import JsonObject, JsonValue
from guardgraph.state.context import Access, Caller, is_access_allowed, normalize_document_access

_KEYS: Final = frozenset({"tenant", "readers"})

FORBIDDEN: Final[JsonObject] = {"allowed": "documents that the caller may read", "given": "another document"}
MALFORMED: Final[JsonObject] = {
    "allowed": "tenant: a text or null; readers: a list of public, tenant, user:ID and group:ID",
    "given": "a document with something else",
}
UNCONTROLLED: Final[JsonObject] = {
    "allowed": "documents that say who may read them (require_access)",
    "given": "a document without readers",
}
"""What the details of a refusal say: that such a document came, and nothing of it, neither which nor how many."""


def parse_candidate_access(item: JsonObject) -> Access | None:
    """Return who may read a candidate, None where it does not say.

    A tenant without readers is nobody.

    Raises:
        ValueError: it says it in another form.
    """
    if item.get("tenant") is None and "readers" not in item:
        return None
    tenant, readers = item.get("tenant"), item.get("readers", [])
    if not isinstance(tenant, str | None) or not isinstance(readers, list):
        raise ValueError("a text or null, and a list of readers, are required")
    return normalize_document_access(tenant, readers)


def explain_access_refusal(raw: JsonValue, *, caller: Caller | None, required: bool) -> JsonObject | None:
    """Say why a run may not even keep what a retriever returned, None where it may.

    What is no list of objects is refused where anything in it has a tenant or readers: its form is judged, and shown,
    by whoever reads it.

    Args:
        raw: any JSON value.
        caller: who asks; None is somebody of whom nothing is known, who reads what is public.
        required: whether a document that does not say who may read it is refused, too.

    Returns:
        Details of the failure, in which nothing of a document is.
    """
    judged = (
        [_explain_candidate_refusal(item, caller) for item in raw]
        if isinstance(raw, list)
        else [_explain_candidate_refusal([raw], caller)]
    )
    return next((dict(details) for details in judged if details and (required or details is not UNCONTROLLED)), None)


def _explain_candidate_refusal(item: JsonValue, caller: Caller | None) -> JsonObject | None:
    if not isinstance(item, dict):
        return MALFORMED if any(_KEYS & inner.keys() for inner in _walk_candidate_objects(item)) else UNCONTROLLED
    try:
        access = parse_candidate_access(item)
    except ValueError:
        return MALFORMED
    if access is None:
        return UNCONTROLLED
    return None if is_access_allowed(access, caller) else FORBIDDEN


def _walk_candidate_objects(value: JsonValue) -> Iterator[JsonObject]:
    if isinstance(value, dict):
        yield value
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for item in inner:
        yield from _walk_candidate_objects(item)


def is_uncontrolled_access(details: JsonValue) -> bool:
    """Say whether details are those of a call that was refused since a document did not say who may read it."""
    return bool(details == UNCONTROLLED)


def check_candidate_access(found: JsonValue, *, caller: Caller | None, required: bool) -> None:
    """Hold what was found before against who asks now.

    Args:
        found: what a retriever returned, or the context that was packed from it.
        caller: who asks.
        required: whether a document that does not say who may read it is refused, too.

    Raises:
        Stop: ``access_revoked``.
    """
    if (details := explain_access_refusal(found, caller=caller, required=required)) is not None:
        raise Stop("access_revoked", details=details)

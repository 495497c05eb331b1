"""What may be retrieved for a run: the policy list, then the execution list."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from guardgraph.guards.stop import MOST_NAMED, Denial, Stop, shown_name
from guardgraph.plain.json import JsonObject, JsonValue, excerpt_value
from guardgraph.state.rag import Intent

DEFAULT_TOP_K = 4
"""Candidates asked for when an intent does not say."""


def parse_intent(
    raw: JsonValue, *, allowed_sources: Collection[str], max_top_k: int, other_sources: Collection[str] = ()
) -> Intent:
    """Parse a proposed retrieval intent against the policy list; `other_sources` are those that other lists name."""
    if not isinstance(raw, dict):
        raise Stop("invalid_intent:not_object")
    if raw.get("kind") != "retrieve":
        raise Stop("invalid_intent:kind")
    query = raw.get("query")
    if not isinstance(query, str) or not query.strip():
        raise Stop("invalid_intent:query")
    top_k = raw.get("top_k", min(DEFAULT_TOP_K, max_top_k))
    if not isinstance(top_k, int) or isinstance(top_k, bool) or not 1 <= top_k <= max_top_k:
        raise Stop("invalid_intent:top_k")
    intent = Intent(kind="retrieve", query=query.strip(), top_k=top_k)
    if raw.get("sources") is not None:
        intent["sources"] = _parse_intent_sources(raw["sources"], allowed_sources, other_sources)
    return intent


def _parse_intent_sources(raw: JsonValue, allowed: Collection[str], others: Collection[str]) -> list[str]:
    if not isinstance(raw, list) or not raw:
        raise Stop("invalid_intent:sources")
    names = set(allowed)
    return list(dict.fromkeys(_parse_intent_source(item, names, others) for item in raw))


def _parse_intent_source(item: JsonValue, allowed: Collection[str], others: Collection[str]) -> str:
    if not isinstance(item, str) or not item.strip():
        raise Stop("invalid_intent:source_item")
    name = item.strip()
    if name in allowed:
        return name
    reason = f"invalid_intent:source_not_allowed:{shown_name(name)}"
    if name in others:
        raise Denial(reason)
    raise Stop(reason, details={"there_are": ", ".join(sorted(allowed))[:MOST_NAMED]})


def parse_source_names(raw: JsonValue) -> list[str]:
    """Parse the names of sources that a knowledge base lists."""
    if not isinstance(raw, list) or not all(isinstance(name, str) and name.strip() for name in raw):
        details: JsonObject = {"allowed": "a list of names of sources", "given": excerpt_value(raw)}
        raise Stop("tool_invalid_output:retrieve", details=details)
    return sorted({*raw})


def check_intent_execution(
    intent: Intent,
    *,
    policy: Sequence[str],
    execution: Collection[str],
    denied: Collection[str] = (),
    max_query_chars: int,
) -> list[str]:
    """Hold a valid intent against what the runtime will do now."""
    if len(intent["query"]) > max_query_chars:
        raise Stop("invalid_intent:query_too_long")
    both = sorted((set(policy) & set(execution)) - set(denied))
    if "sources" not in intent:
        return both
    requested = sorted(intent["sources"])
    check_denied_sources(requested, denied=denied)
    check_allowed_sources(requested, allowed=both)
    return requested


def check_denied_sources(sources: Collection[str], *, denied: Collection[str]) -> None:
    """Refuse a source that is denied."""
    for name in sorted({*sources}.intersection(denied)):
        raise Stop(f"source_denied_listed:{shown_name(name)}")


def check_allowed_sources(sources: Collection[str], *, allowed: Collection[str]) -> None:
    """Refuse a source that is not switched on."""
    names = set(allowed)
    for name in sorted(sources):
        if name not in names:
            raise Stop(f"source_denied:{shown_name(name)}")

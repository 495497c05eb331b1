"""Whether a page that was read under other lists and limits would have been read the same under those of now."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from guardgraph.guards.urls import explain_url_denial
from guardgraph.plain.conversion import parse_expected_failure
from guardgraph.plain.json import JsonObject, JsonValue, excerpt_value

_BY_LISTS = "source_denied_"
"""How the reasons of `explain_url_denial` begin; a reader may deny a hop for reasons of its own, after the lists."""


def explain_page_difference(content: JsonValue, *, hosts: Collection[str], limits: Mapping[str, float]) -> str | None:
    """Say why a reader would have brought something else, None where it would have brought the same.

    A page or a failure says of every URL on its way whether it was denied, in `hops`, and which `limits` held. What
    says nothing of them was brought by a reader that looks at the URL alone.

    Args:
        content: of the recorded outcome.
        hosts: those on both lists now.
        limits: the caps of now.
    """
    failure = parse_expected_failure(content)
    said = failure[1] if failure is not None else content
    if not isinstance(said, dict):
        return None
    if failure is None and said.get("reason") in ("max_seconds", "tool_invalid_output"):
        return "it was cut off or refused under other hosts or limits, and does not say how far it had come"
    if failure is not None and failure[0] == "robots_denied":
        return "its site's robots.txt denied it under other hosts or limits, and does not say where that led"
    return _explain_hop_difference(said.get("hops"), hosts) or _explain_limit_difference(
        said, limits, failed=failure is not None
    )


def _explain_hop_difference(hops: JsonValue, hosts: Collection[str]) -> str | None:
    for hop in hops if isinstance(hops, list) else []:
        if not isinstance(hop, dict) or not isinstance(url := hop.get("url"), str):
            return f"a hop of it cannot be read: {excerpt_value(hop, 80)}"
        was, now = hop.get("denied"), explain_url_denial(url, policy=hosts, execution=hosts)
        by_lists = was if isinstance(was, str) and was.startswith(_BY_LISTS) else None
        if by_lists != now:
            return f"its hop {excerpt_value(url, 80)} was {by_lists or 'allowed'}, and is {now or 'allowed'}"
    return None


def _explain_limit_difference(said: JsonObject, limits: Mapping[str, float], *, failed: bool) -> str | None:
    """Hold the limits of then against those of now: a page that was read is read with more room too."""
    held = limits_held if isinstance(limits_held := said.get("limits"), dict) else {}
    for name, now in limits.items():
        then = held.get(name)
        if isinstance(then, int | float) and (then > now or (failed and then != now)):
            return f"its {name} was {then}, and is {now}"
    return None

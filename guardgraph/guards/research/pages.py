"""What a reader brought: a page, or why it could not be read; whether it would be read the same under other lists."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from operator import itemgetter
from typing import Final, Literal, TypeAlias, get_args

from guardgraph.guards.proposals import build_tool_stop
from guardgraph.guards.stop import build_output_stop
from guardgraph.guards.urls import explain_url_denial, is_url_allowed
from guardgraph.plain.conversion import parse_expected_failure
from guardgraph.plain.json import JsonObject, JsonValue, excerpt_value
from guardgraph.state.outcome import Outcome
from guardgraph.state.research import READ_FAILURES, SourcePage
from guardgraph.state.settings import UnsureText

_BY_LISTS = "source_denied_"
"""How the reasons of `explain_url_denial` begin; a reader may deny a hop for reasons of its own, after the lists."""


def explain_page_difference(
    content: JsonValue, *, hosts: Collection[str], denied: Collection[str] = (), limits: Mapping[str, float]
) -> str | None:
    """Say why a reader would have brought something else, None where it would have brought the same."""
    failure = parse_expected_failure(content)
    said = failure[1] if failure is not None else content
    if not isinstance(said, dict):
        return None
    if failure is None and said.get("reason") in ("max_seconds", "tool_invalid_output"):
        return "it was cut off or refused under other hosts or limits, and does not say how far it had come"
    if failure is not None and failure[0] == "robots_denied":
        return "its site's robots.txt denied it under other hosts or limits, and does not say where that led"
    return _explain_hop_difference(said.get("hops"), hosts, denied) or _explain_limit_difference(
        said, limits, failed=failure is not None
    )


def _explain_hop_difference(hops: JsonValue, hosts: Collection[str], denied: Collection[str]) -> str | None:
    for hop in hops if isinstance(hops, list) else []:
        if not isinstance(hop, dict) or not isinstance(url := hop.get("url"), str):
            return f"a hop of it cannot be read: {excerpt_value(hop, 80)}"
        was, now = hop.get("denied"), explain_url_denial(url, policy=hosts, execution=hosts, denied=denied)
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


_Said: TypeAlias = Literal["final_url", "fetched_at", "sha256", "text_sha256"]
SAID: Final[tuple[_Said, ...]] = get_args(_Said)
"""What a reader may say of a page beside what it says; a blank text is as good as none."""

SHOWN_CHARS = 200  # characters of each detail of a failure, and of each URL on the way to it, that a result repeats
SHOWN_DETAILS = 10  # details, and URLs, that a result repeats


def parse_source_page(raw: JsonValue) -> SourcePage | None:
    """Read what a reader returned."""
    if not isinstance(raw, dict) or not isinstance(raw.get("body"), str):
        raise build_output_stop("read_source", raw, "an object whose body is a text")
    if not raw["body"].strip():
        return None
    page = SourcePage(
        title=_read_page_text(raw.get("title")), published_at=_read_page_text(raw.get("published_at")), body=raw["body"]
    )
    for name in SAID:
        if text := _read_page_text(raw.get(name)):
            page[name] = text
    if isinstance(raw.get("declared_date"), str):
        page["declared_date"] = raw["declared_date"]
    if raw.get("extraction") == "unsure":
        page["extraction"] = "unsure"
    if pages := _read_page_starts(raw.get("pages")):
        page["pages"] = pages
    if (linked := _read_linked_hosts(raw.get("linked_hosts"))) is not None:
        page["linked_hosts"] = linked
    return page


MOST_LINKED_HOSTS = 1_000
"""Hosts that a page links to; of one that links to more, nobody knows whether it links to another."""


def _read_linked_hosts(raw: JsonValue) -> list[str] | None:
    """Return the hosts that a page links to, None where its reader does not say, or says nothing that can be read."""
    if not isinstance(raw, list) or len(raw) > MOST_LINKED_HOSTS or not all(isinstance(host, str) for host in raw):
        return None
    return sorted({host for host in raw if isinstance(host, str)})


def _read_page_starts(raw: JsonValue) -> list[list[int]]:
    starts = list[list[int]]()
    for item in raw if isinstance(raw, list) else []:
        match item:
            case [int(number), int(start)] if number > 0 and start >= 0:
                starts.append([number, start])
    return sorted(starts, key=itemgetter(1))


def show_source_page(url: str, page: SourcePage, *, max_chars: int) -> JsonObject:
    """Return what a model is shown of a page: data, cut to a number of characters."""
    dated = page.get("declared_date", page["published_at"])
    return {"url": url, "title": page["title"][:max_chars], "published_at": dated, "text": page["body"][:max_chars]}


def is_usable_page(
    raw: JsonValue,
    *,
    policy: Collection[str],
    execution: Collection[str],
    denied: Collection[str] = (),
    unsure_text: UnsureText = "allow",
) -> bool:
    """Say whether a reader returned a page that the run may use, before it is judged."""
    if not isinstance(raw, dict) or not _read_page_text(raw.get("body")).strip():
        return False
    if unsure_text == "refuse" and raw.get("extraction") == "unsure":
        return False
    final = _read_page_text(raw.get("final_url"))
    return not final or is_url_allowed(final, policy=policy, execution=execution, denied=denied)


def describe_failed_page(url: str, outcome: Outcome) -> JsonObject:
    """Return what a run says of a page that could not be read."""
    if outcome.content["reason"] in ("max_seconds", "tool_invalid_output", "tool_unavailable"):
        raise build_tool_stop(outcome, "read_source")
    if outcome.content["reason"] == "tool_circuit_open":
        return {"url": url, "reason": "circuit_open", "details": outcome.content["details"]}
    said = parse_expected_failure(outcome.content)
    if said is None or said[0] not in READ_FAILURES:
        return {"url": url, "reason": "read_failed", "details": outcome.content["details"]}
    reason, known = said
    details = {name: _shorten_failure_detail(value) for name, value in known.items() if name not in ("hops", "limits")}
    shown = {"details": dict(list(details.items())[:SHOWN_DETAILS]), "hops": _shorten_page_hops(known.get("hops"))}
    return {"url": url, "reason": reason, **{name: value for name, value in shown.items() if value}}


def _shorten_page_hops(said: JsonValue) -> list[JsonObject]:
    hops = [hop for hop in said if isinstance(hop, dict)] if isinstance(said, list) else []
    return [
        {"url": _shorten_failure_detail(hop.get("url")), "denied": _shorten_failure_detail(hop.get("denied"))}
        for hop in hops[:SHOWN_DETAILS]
    ]


def _shorten_failure_detail(value: JsonValue) -> JsonValue:
    return value if value is None or isinstance(value, bool | int | float) else excerpt_value(value, SHOWN_CHARS)


def _read_page_text(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""

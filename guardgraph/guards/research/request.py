"""What a caller may ask of the Research agent, and how far the caller's hints reach."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from functools import lru_cache

from guardgraph.guards.stop import build_request_stop, check_request_depth, read_request_text
from guardgraph.plain.json import JsonObject, JsonValue
from guardgraph.plain.urls import normalise_host
from guardgraph.state.research import ResearchTask

HINTED_LIMITS = {"max_urls": (1, 20), "max_read_pages": (1, 10), "max_notes": (1, 20), "max_answer_chars": (120, 2000)}
"""The limits that a hint may tighten, with the least and the most it may ask for."""

MOST_HINTED_HOSTS = 1_000
"""Hosts that a hint may name: each is parsed wherever the lists are looked at, some nine times in a run."""

KNOWN_HINT_CHARS = 2000
"""Characters of a domain hint up to which the latest answers are kept."""


def parse_research_request(goal: JsonValue, request: JsonValue) -> ResearchTask:
    """Read the input of a run.

    Args:
        goal: what the run is for.
        request: ``{"request": {"question", "report_date"?, "region"?}, "policy_hints"?: {…}}``.

    Raises:
        Stop: ``invalid_request:<field>`` with `details` ``{field, given, allowed}``; a field is ``goal``,
            ``request`` (either object of that name), ``request.question``, ``request.report_date``,
            ``request.region`` or ``policy_hints``.
    """
    asked = read_request_text("goal", goal)
    inner = request.get("request") if isinstance(request, dict) else request
    if not isinstance(inner, dict):
        raise build_request_stop("request", request, 'an object {"request": {"question": …}, "policy_hints": {…}}')
    question = read_request_text("request.question", inner.get("question"))
    hints = request.get("policy_hints", {})
    task = ResearchTask(goal=asked, question=question, policy_hints=hints)
    if "report_date" in inner:
        task["report_date"] = _read_optional_request_text(inner, "report_date")
    if "region" in inner:
        task["region"] = _read_optional_request_text(inner, "region")
    if not isinstance(hints, dict):
        raise build_request_stop("policy_hints", hints, "an object")
    check_request_depth("request", request)
    return task


def tighten_research_limit(name: str, hint: JsonValue, *, allowed: int) -> int:
    """Return one of the limits of a run that a request may hint at.

    A hint is clamped to `HINTED_LIMITS` and only tightens. A text that spells a number counts as one; what is no finite
    number is as good as no hint.

    Args:
        name: one of `HINTED_LIMITS`.
        hint: what the request's policy hints say of it, None for nothing.
        allowed: the limit without a hint, which none exceeds.
    """
    least, most = HINTED_LIMITS[name]
    number = _read_hinted_number(hint)
    return allowed if number is None else min(int(min(max(number, least), most)), allowed)


def narrow_research_domains(hints: JsonObject, name: str, allowed: Sequence[str]) -> list[str]:
    """Return the allowed hosts that a hint leaves.

    Args:
        hints: the request's policy hints.
        name: the hint, ``allowed_domains_policy`` or ``allowed_domains_execution``.
        allowed: the deployment's hosts.

    Returns:
        Those of the deployment's hosts that the hint names too, in the deployment's order; all of them when
        there is no such hint.

    Raises:
        Stop: ``invalid_request:policy_hints.<name>`` for a hint that is no list of strings, or a longer one than
            `MOST_HINTED_HOSTS`.
    """
    if name not in hints:
        return list(allowed)
    hint = hints[name]
    if not isinstance(hint, list) or {*map(type, hint)} - {str}:
        raise build_request_stop(f"policy_hints.{name}", hint, "a list of strings")
    if len(hint) > MOST_HINTED_HOSTS:
        raise build_request_stop(f"policy_hints.{name}", hint, f"a list of at most {MOST_HINTED_HOSTS} hosts")
    # Every node of a run asks again; a hint of any length a caller may send is not worth keeping.
    in_both = _known_in_both if len(hint) + sum(map(len, hint)) <= KNOWN_HINT_CHARS else _intersect_hinted_hosts
    return list(in_both(tuple(allowed), tuple(hint)))


def _intersect_hinted_hosts(allowed: tuple[str, ...], hint: tuple[str, ...]) -> tuple[str, ...]:
    wanted = {host for item in hint if (host := normalise_host(item)) is not None}
    return tuple(host for host in allowed if normalise_host(host) in wanted)


_known_in_both = lru_cache(maxsize=64)(_intersect_hinted_hosts)


def _read_optional_request_text(inner: JsonObject, name: str) -> str:
    value = inner[name]
    if not isinstance(value, str):
        raise build_request_stop(f"request.{name}", value, "a text, or no such key")
    return value


def _read_hinted_number(value: JsonValue) -> Decimal | int | None:
    if type(value) is int:
        return value
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        # Unlike int() and float(), Decimal takes texts of any length and numbers of any size without failing.
        number = Decimal(value)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None

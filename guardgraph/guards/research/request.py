"""What a caller may ask of the Research agent, how far its hints reach, and what the model may plan."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from functools import lru_cache

from guardgraph.guards.stop import Stop, build_request_stop, check_request_depth, read_request_text, shown_name
from guardgraph.plain.json import JsonObject, JsonValue, excerpt_value
from guardgraph.plain.scopes import meet_scopes
from guardgraph.state.research import PlanStep, ResearchTask

RESEARCH_ACTIONS = ("search_sources", "dedupe_urls", "read_extract_notes", "verify_notes", "synthesize_answer")
"""The actions of every plan, in this order."""


def read_plan_steps(proposed: JsonValue) -> JsonValue:
    """Return the proposed ``steps``; whoever proposes a ``query`` alone has the five steps stated for it."""
    if not isinstance(proposed, dict):
        return None
    if "steps" in proposed or "query" not in proposed:
        return proposed.get("steps")
    names = enumerate(RESEARCH_ACTIONS, 1)
    args = [{"query": proposed["query"]}, *({} for _ in RESEARCH_ACTIONS[1:])]
    return [{"id": f"r{at}", "action": name, "args": args[at - 1]} for at, name in names]


def parse_research_plan(raw_steps: JsonValue, *, max_steps: int) -> list[PlanStep]:
    """Read the steps of a plan."""
    if not isinstance(raw_steps, list) or not raw_steps:
        raise Stop("invalid_plan:steps")
    if len(raw_steps) > max_steps:
        raise Stop("invalid_plan:too_many_steps")
    steps = [_parse_plan_step(raw) for raw in raw_steps]
    received = [step["action"] for step in steps]
    if received != list(RESEARCH_ACTIONS):
        details = {"expected": list(RESEARCH_ACTIONS), "received": [shown_name(name) for name in received]}
        raise Stop("invalid_plan:step_sequence", details=details)
    return steps


def read_plan_query(steps: Sequence[PlanStep]) -> str:
    """Return what a plan searches for, stripped."""
    query = steps[0]["args"].get("query")
    if not isinstance(query, str) or not query.strip():
        raise Stop("invalid_search:query")
    return query.strip()


def read_found_urls(raw: JsonValue) -> list[JsonValue]:
    """Return the url of every hit, None for a hit that has none."""
    if not isinstance(raw, list) or not all(isinstance(hit, dict) for hit in raw):
        details = {"allowed": "a list of objects, each with a url", "given": excerpt_value(raw)}
        raise Stop("tool_invalid_output:search_sources", details=details)
    return [hit.get("url") for hit in raw]


def _parse_plan_step(raw: JsonValue) -> PlanStep:
    if not isinstance(raw, dict):
        raise Stop("invalid_step:not_object")
    for name in ("id", "action"):
        if not isinstance(raw.get(name), str) or not raw[name].strip():
            raise Stop(f"invalid_step:{name}")
    if not isinstance(raw.get("args"), dict):
        raise Stop("invalid_step:args")
    return PlanStep(id=raw["id"].strip(), action=raw["action"].strip(), args=raw["args"])


HINTED_LIMITS = {"max_urls": 1, "max_read_pages": 1, "max_notes": 1, "max_answer_chars": 120}
"""The limits that a hint may tighten, with the least that it may ask for."""

MOST_HINTED_HOSTS = 1_000
"""Hosts that a hint may name: each is parsed wherever the lists are looked at, some nine times in a run."""

KNOWN_HINT_CHARS = 2000  # characters of a domain hint up to which the latest answers are kept


def parse_research_request(goal: JsonValue, request: JsonValue) -> ResearchTask:
    """Read the input of a run."""
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
    """Return one of the limits of a run that a request may hint at."""
    number = _read_hinted_number(hint)
    return allowed if number is None else int(min(max(number, HINTED_LIMITS[name]), allowed))


def narrow_research_domains(hints: JsonObject, name: str, allowed: Sequence[str]) -> list[str]:
    """Return entries for the allowed hosts that a hint leaves."""
    if name not in hints:
        return list(allowed)
    hint = hints[name]
    if not isinstance(hint, list) or {*map(type, hint)} - {str}:
        raise build_request_stop(f"policy_hints.{name}", hint, "a list of strings")
    if len(hint) > MOST_HINTED_HOSTS:
        raise build_request_stop(f"policy_hints.{name}", hint, f"a list of at most {MOST_HINTED_HOSTS} hosts")
    # Every node of a run asks again; a hint of any length a caller may send is not worth keeping.
    meet = _remember_met_scopes if len(hint) + sum(map(len, hint)) <= KNOWN_HINT_CHARS else meet_scopes
    return list(meet(tuple(allowed), tuple(hint)))


_remember_met_scopes = lru_cache(maxsize=64)(meet_scopes)


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

"""What the model plans, and what its search brings."""

from __future__ import annotations

from collections.abc import Sequence

from guardgraph.guards.stop import Stop, shown_name
from guardgraph.plain.json import JsonValue, excerpt_value
from guardgraph.state.research import PlanStep

RESEARCH_ACTIONS = ("search_sources", "dedupe_urls", "read_extract_notes", "verify_notes", "synthesize_answer")
"""The actions of every plan, in this order."""


def parse_research_plan(raw_steps: JsonValue, *, max_steps: int) -> list[PlanStep]:
    """Read the steps of a plan.

    Args:
        raw_steps: the proposed ``steps``.
        max_steps: how many steps a plan may have.

    Returns:
        The steps with `id` and `action` stripped; keys beyond the three are left out.

    Raises:
        Stop: ``invalid_plan:steps|too_many_steps``, ``invalid_step:not_object|id|action|args``, or
            ``invalid_plan:step_sequence`` with `details` ``{expected, received}``.
    """
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
    """Return what a plan searches for, stripped.

    Raises:
        Stop: ``invalid_search:query``.
    """
    query = steps[0]["args"].get("query")
    if not isinstance(query, str) or not query.strip():
        raise Stop("invalid_search:query")
    return query.strip()


def read_found_urls(raw: JsonValue) -> list[JsonValue]:
    """Return the url of every hit, None for a hit that has none.

    Args:
        raw: what the search returned.

    Raises:
        Stop: ``tool_invalid_output:search_sources`` for anything but a list of objects.
    """
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

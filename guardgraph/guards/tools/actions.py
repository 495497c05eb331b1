"""What a model proposes for one step, calls of tools or an answer, and what a request is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from guardgraph.guards.stop import LONGEST_QUESTION, Stop, build_request_stop, parse_history
from guardgraph.guards.tools.schemas import check_arguments, fill_defaults
from guardgraph.plain.json import JsonObject, JsonValue, NotJson, excerpt_value, is_plain_json, parse_json
from guardgraph.state.run import Turn
from guardgraph.state.tools import ToolAnswer, ToolCall, ToolCard

MOST_TURNS: Final = 1000  # turns of a history
PLAN_CHARS: Final = 2000  # characters of a model's own plan that it is shown again


class ProposedStep(NamedTuple):
    """What a model proposes: calls, or an answer."""

    calls: list[JsonValue]
    answer: ToolAnswer | None
    plan: str


def parse_task_history(given: JsonValue) -> list[Turn]:
    """Return the turns before the task; None is none."""
    turns = parse_history(given)
    if len(turns) > MOST_TURNS:
        raise build_request_stop("history", given, f"a list of at most {MOST_TURNS} turns")
    for place, turn in enumerate(turns):
        if len(turn["content"]) > LONGEST_QUESTION:
            raise build_request_stop(
                f"history.{place}.content", turn["content"], f"at most {LONGEST_QUESTION} characters"
            )
    return turns


def parse_step(raw: JsonValue) -> ProposedStep:
    """Read what a model proposes for one step: where it has calls, its text is no answer yet."""
    given = raw if isinstance(raw, dict) else {}
    calls, answer = given.get("calls"), given.get("answer")
    if calls is None and answer is None and isinstance(given.get("name"), str):  # as models write one call in a text
        calls = [{"tool": given["name"], "args": given.get("arguments", given.get("parameters"))}]
    plan = given["plan"][:PLAN_CHARS] if isinstance(given.get("plan"), str) else ""
    if isinstance(calls, list) and calls:
        return ProposedStep(calls, None, plan)
    if calls not in (None, []) or not isinstance(answer, str):
        allowed = 'an object with "calls", a list of {"tool", "args"}, or with "answer", a text'
        raise Stop("invalid_action:not_object", details={"given": excerpt_value(raw), "allowed": allowed})
    told = given.get("workings")
    workings = [item for item in told if isinstance(item, str)] if isinstance(told, list) else []
    return ProposedStep([], ToolAnswer(answer=answer, declined=given.get("declined") is True, workings=workings), plan)


def parse_call(raw: JsonValue, cards: Mapping[str, ToolCard], forced: Mapping[str, JsonObject]) -> ToolCall:
    """Read one call; arguments may come as the JSON text of an object, as models write them, and none as nothing."""
    if not isinstance(raw, dict):
        raise Stop("invalid_action:not_object", details={"given": excerpt_value(raw), "allowed": "a call is an object"})
    tool, args = raw.get("tool"), raw.get("args")
    if not isinstance(tool, str) or not tool.strip():
        raise Stop("invalid_action:tool", details={"given": excerpt_value(tool), "allowed": "the name of a tool"})
    if args is None or (isinstance(args, str) and not args.strip()):
        args = {}
    elif isinstance(args, str):
        try:
            args = parse_json(args, exact_numbers=True)
        except NotJson:
            args = None
    if not isinstance(args, dict) or not is_plain_json(args):  # somebody's own agent hands on what a provider parsed
        allowed = "an object of plain, finite JSON"
        raise Stop(
            "invalid_action:args", details={"tool": tool, "given": excerpt_value(raw.get("args")), "allowed": allowed}
        )
    complete: JsonObject = {**args, **forced.get(tool, {})}
    if tool in cards:
        schema = cards[tool]["schema"]
        check_arguments(tool, complete, schema)
        complete = fill_defaults(complete, schema, schema)
    return ToolCall(tool=tool, args=complete)


def cut_step(effects: Sequence[tuple[str, bool]], *, max_asked: int = 1) -> tuple[int, str]:
    """Return how many calls of a step are made next, and how."""
    effect, waits = effects[0]
    if effect == "write" and not waits:
        return 1, "write"
    alike = (item[1] if waits else item == ("read", False) for item in effects)
    count = next((at for at, is_alike in enumerate(alike) if not is_alike), len(effects))
    return (min(count, max_asked), "approve") if waits else (count, "read")

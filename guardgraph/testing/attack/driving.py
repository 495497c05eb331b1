"""One run under attack, from its request to its end: called in any way, cut off, resumed, decided by a person."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, closing
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from langgraph.types import Command

from guardgraph.graphs.running.door import GuardedGraph
from guardgraph.plain.json import JsonObject
from guardgraph.testing.attack.attacker import AttackedRun, PersonDecision

WAYS: Final = ("invoke", "invoke", "ainvoke", "stream", "astream", "cut", "acut")
_MODES: Final[list[Any]] = ["updates", "values", "messages", "custom"]
_CUT_MODES: Final[list[Any]] = ["updates", "values"]
"""What is read of a stream that is cut: it is left between two steps, so that the same is left each time."""
_MOST_SESSIONS: Final = 20
_STEPS: Final = 300  # steps of LangGraph's that a session may take


@dataclass
class DrivenEnding:
    """How a run ended, as far as whoever called the agent can see it."""

    name: str
    """``ok:OUTCOME`` or ``stopped:REASON`` of a guarded agent; ``answered``, ``left waiting`` or ``raised:TYPE``."""
    result: JsonObject
    shown: str = ""  # all that was streamed
    error: str | None = None


def drive_run(graph: Any, run: AttackedRun, number: int) -> DrivenEnding:
    """Make a run of an agent, on a thread that is called by its number, and return how it ended."""
    keeps, thread = graph.checkpointer is not None, str(UUID(int=number))
    config: JsonObject = {"recursion_limit": _STEPS}
    if keeps:
        config["configurable"] = {"thread_id": thread}
    given, shown, result = run.request, list[str](), JsonObject()
    way: list[Any] = []
    try:
        for _ in range(_MOST_SESSIONS):
            way = run.take_move("call", lambda: [run.chance.choice(WAYS), run.chance.randint(1, 12)], ["invoke", 0])
            result = _call_attacked_graph(graph, given, config, way, shown)
            if not keeps:
                break
            if (waiting := find_question(graph, result, config)) is not None:
                given = _decide_as_person(run, waiting)
            elif graph.get_state(config).next or (isinstance(graph, GuardedGraph) and "status" not in result):
                given = None  # it was cut off, and somebody goes on with it
            else:
                break
    except Exception as error:  # noqa: BLE001 - a foreign agent lets through what its tools and models raise
        return DrivenEnding(f"raised:{type(error).__name__}", result, "".join(shown), str(error))
    finally:
        if keeps:
            graph.checkpointer.delete_thread(thread)
    was_cut = way[0].endswith("cut") and not result.get("status")
    return DrivenEnding("cut off" if was_cut else _name_driven_ending(result), result, "".join(shown))


def _call_attacked_graph(graph: Any, given: Any, config: Any, way: list[Any], shown: list[str]) -> JsonObject:
    """Call a graph in a way, and return its state or result as far as it was brought."""
    kind, chunks = way
    if kind == "invoke":
        return dict(graph.invoke(given, config) or {})
    if kind == "ainvoke":
        return dict(asyncio.run(graph.ainvoke(given, config)) or {})
    is_cut, left, last = kind.endswith("cut"), chunks, JsonObject()
    modes = _CUT_MODES if is_cut else _MODES

    def take_stream_chunk(chunk: Any) -> bool:
        nonlocal left
        shown.append(str(chunk))
        left -= 1
        mode, value = chunk
        if mode == "values":
            last.update(value)
        elif mode == "updates":  # the result of a guarded agent is what its last node writes
            last.update(next((each for each in value.values() if isinstance(each, dict) and "status" in each), {}))
        return not is_cut or left > 0

    async def listen_to_stream() -> None:
        async with aclosing(graph.astream(given, config, stream_mode=modes)) as stream:
            async for chunk in stream:
                if not take_stream_chunk(chunk):
                    break

    if kind.startswith("a"):
        asyncio.run(listen_to_stream())
        return last
    with closing(graph.stream(given, config, stream_mode=modes)) as stream:
        for chunk in stream:
            if not take_stream_chunk(chunk):
                break
    return last


def find_question(graph: Any, result: JsonObject, config: Any) -> Any:
    """Return what a run waits for, None where it does not wait."""
    if isinstance(graph, GuardedGraph):
        if result.get("status") == "waiting":
            return result["waiting_for"]
        if result.get("status") is not None:
            return None
    interrupts = graph.get_state(config).interrupts
    return interrupts[0].value if interrupts else None


def list_shown_calls(asked: Any) -> list[JsonObject]:
    """Return the calls that a question shows a person, one without a tool where it shows something else."""
    if not isinstance(asked, dict):
        return []
    if "action_requests" in asked:
        return [{"tool": each["name"], "args": each["args"]} for each in asked["action_requests"]]
    shown = asked.get("shown", asked)
    if "calls" in shown:
        return list(shown["calls"])
    return [shown["call"]] if "call" in shown else [{"tool": None, "args": shown}]


def _decide_as_person(run: AttackedRun, asked: Any) -> Command[Any]:
    """Let a person decide, and keep it; an answer to an earlier question is none."""
    says = run.take_move("person", lambda: run.chance.choice(("approve", "approve", "reject", "stale")), "reject")
    calls, question = list_shown_calls(asked), asked if isinstance(asked, dict) else {}
    if is_inbox := "action_requests" in question:
        says = "approve" if says == "approve" else "reject"
    if says != "stale":
        offered = (question.get("shown") or {}).get("delegation", {})
        let = list(offered.get("values", ())) if says == "approve" else []
        run.decisions.append(PersonDecision(says == "approve", calls, let))
    if is_inbox:
        return Command(resume={"decisions": [{"type": says} for _ in calls]})
    if says == "stale":
        return Command(resume={"hash": "0" * 64, "decision": "approve"})
    return Command(resume={"hash": question.get("hash"), "decision": says})


def _name_driven_ending(result: JsonObject) -> str:
    told = result if "status" in result else result.get("guardgraph")
    if not isinstance(told, dict) or "status" not in told:
        return "answered" if result else "cut off"
    if told["status"] == "waiting":
        return "left waiting"
    return f"ok:{told.get('outcome')}" if told["status"] == "ok" else f"stopped:{told.get('stop_reason')}"

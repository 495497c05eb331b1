"""A person approves what a guarded agent wrote, before it is published; the program may end in between.

    python human_approval.py                                     both steps, one after the other
    python human_approval.py write FILE                          write the text and wait for a person
    python human_approval.py decide FILE HASH approve|reject WHO

FILE keeps the run, here with SQLite; HASH names the very text that was shown. A run of the agent that was stopped has
no text, so nobody is asked to approve it.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NotRequired

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command
from typing_extensions import TypedDict

import guardgraph.grammar as gg
from guardgraph import GuardedGraph, create_self_critique_agent

THREAD = {"configurable": {"thread_id": "incident 42"}}
INCIDENT = {
    "report_date": "2026-03-06",
    "region": "US",
    "incident": {"incident_id": "inc_payments_42", "severity": "P1", "status": "degraded", "eta_minutes": 45},
    "approved_actions": ["monitor payment failures every 15 minutes"],
}
REQUEST = {"request": {"goal": "Draft a customer update. Avoid guarantees.", "incident_context": INCIDENT}}
PHASES = ("write", "approve")
REASONS = gg.Catalogue("press_desk", PHASES, [
    *gg.common_reasons(phases=PHASES, reviewing=["approve"], tools={"write": "write"}),
    gg.StopReason("not_written:<reason>", "not_written", ("write",), "The agent was stopped.", "Read written."),
    gg.StopReason("tool_invalid_output:write", "tool", ("write",), "The agent failed.", "Look at details."),
])  # fmt: skip


In = TypedDict("In", {"request": dict[str, Any]})  # noqa: UP013
State = TypedDict(  # noqa: UP013
    "State", {"task": Any, "raw_text": str, "accepted_text": dict[str, Any], "raw_review": str, "review": Any}
)


class Out(gg.Result):
    """What it returns."""

    published: NotRequired[str]
    written: NotRequired[dict[str, Any]]


@gg.declares(writes=["task"])
def check_request(state, run):
    """Hand the request on: the agent checks what is in it."""
    return gg.Pass({"task": state.get("request")})


@gg.declares(phase="write", reads=["raw_text"], writes=["accepted_text"], stops=["tool", "not_written"])
def check_text(state, run):
    """Let a text through; a run that was stopped has none."""
    written = gg.found(state["raw_text"], "write")
    if written["status"] != "ok":
        raise gg.Stop(f"not_written:{written['stop_reason']}", written=written)
    return gg.Pass({"accepted_text": written})


@gg.declares(phase="approve", reads=["accepted_text"], writes=["raw_review"])
def approve(state, run):
    """Show the text to a person, and wait."""
    text = state["accepted_text"]
    outcome = yield gg.ask_person({key: text[key] for key in ("answer", "outcome", "risks", "required_changes")})
    return {"raw_review": outcome.packed()}


@gg.declares(phase="approve", reads=["raw_review"], writes=["review"], stops=["review"])
def check_review(state, run):
    """Let an approval through; a rejection, and an answer to another text, stop the run."""
    return gg.Pass({"review": gg.reviewed(state["raw_review"])})


@gg.declares(phase="approve", reads=["accepted_text"], writes=["outcome", "published", "written"])
def published(state, run):
    """Publish."""
    return {"outcome": "published", "published": state["accepted_text"]["answer"], "written": state["accepted_text"]}


def create_press_desk(agent: GuardedGraph, checkpointer: BaseCheckpointSaver | None = None) -> GuardedGraph:
    """Return a graph that publishes what a self-critique agent wrote and a person approved, and nothing else."""

    @gg.declares(phase="write", reads=["task"], writes=["raw_text"])
    def write(state, run):
        outcome = yield gg.Call("tool", agent, state["task"])
        return {"raw_text": outcome.packed()}

    settings = {"policy": gg.Settings(), "budget": gg.Budget(max_seconds=120)}
    desk = gg.Pattern(REASONS, state=State, input=In, output=Out, **settings)
    desk.entry("request_guard", check_request, to="write")
    desk.act("write", write, to="text_guard")
    desk.guard("text_guard", check_text, to="approve")
    desk.review("approve", approve, to="review_guard")
    desk.guard("review_guard", check_review, to="published")
    desk.terminal("published", published)
    return desk.compile(name="press_desk", checkpointer=checkpointer)


def step(file: str, given: Any) -> Any:
    """Begin a run, or go on with the one that waits, and say how it stands."""
    with SqliteSaver.from_conn_string(file) as saver:
        desk = create_press_desk(create_self_critique_agent(), saver)
        if given is not REQUEST and desk.get_state(THREAD).next != ("approve",):
            sys.exit("Nothing waits for a decision.")
        result = desk.invoke(given, THREAD)
    if result["status"] == "waiting":
        asked = result["waiting_for"]
        print(f"To approve ({asked['shown']['outcome']}): {asked['shown']['answer']}\nIts hash: {asked['hash']}")
    else:
        print(f"{result['stop_reason']}: {result.get('published')}")
    return result


def main(arguments: list[str]) -> None:
    """Do one step, or both, each with a graph of its own."""
    match arguments:
        case []:
            with TemporaryDirectory() as folder:
                file = str(Path(folder) / "runs.sqlite")
                seen = step(file, REQUEST)["waiting_for"]["hash"]
                main(["decide", file, seen, "approve", "Ada"])
        case ["write", file]:
            step(file, REQUEST)
        case ["decide", file, seen, ("approve" | "reject") as decision, who]:
            step(file, Command(resume={"hash": seen, "decision": decision, "by": who}))
        case _:
            print(__doc__, file=sys.stderr)
            sys.exit(2)


if __name__ == "__main__":
    main(sys.argv[1:])

"""A person approves what a guarded graph wrote, before it is published; the program may end in between.

    python human_approval.py                                the whole story, in processes of their own
    python human_approval.py write FILE                     write the text and wait for a person
    python human_approval.py decide FILE approve|reject WHO

FILE keeps the state of the run, here with SQLite. A run that was stopped has no text, so nobody is asked to approve
it: it goes to a writer, with its stop reason.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict

from guardgraph import GuardedGraph, SelfCritiqueResult, create_self_critique_agent

THREAD = {"configurable": {"thread_id": "incident 42"}}
REQUEST = {
    "goal": "Draft a customer update. Use precise language and avoid guarantees.",
    "incident_context": {
        "report_date": "2026-03-06",
        "region": "US",
        "incident": {"incident_id": "inc_payments_42", "severity": "P1", "status": "degraded", "eta_minutes": 45},
        "approved_actions": ["monitor payment failures every 15 minutes"],
    },
}


class Decision(TypedDict):
    """What a person answers; LangGraph refuses to resume with anything else."""

    decision: Literal["approve", "reject"]
    by: str


class Desk(TypedDict, total=False):
    """The state of the press desk."""

    goal: str
    incident_context: dict[str, Any]
    result: SelfCritiqueResult
    decision: Decision | None
    published: str | None


def create_press_desk(agent: GuardedGraph, checkpointer: BaseCheckpointSaver) -> CompiledStateGraph:
    """Return a graph that publishes what a self-critique agent wrote and a person approved, and nothing else."""

    def write(desk: Desk) -> Desk:
        given = {"goal": desk["goal"], "incident_context": desk["incident_context"]}
        return {"result": agent.invoke(given), "decision": None, "published": None}

    graph = StateGraph(Desk)
    graph.add_node("write", write)
    graph.add_node("approve", approve)
    graph.add_node("publish", lambda desk: {"published": desk["result"]["answer"]})
    graph.add_edge(START, "write")
    graph.add_conditional_edges("write", after_writing, ["approve", END])
    graph.add_conditional_edges("approve", after_approval, ["publish", END])
    graph.add_edge("publish", END)
    return graph.compile(name="press_desk", checkpointer=checkpointer)


def after_writing(desk: Desk) -> str:
    """Lead to a person if there is a text."""
    return "approve" if desk["result"]["status"] == "ok" else END


def approve(desk: Desk) -> Desk:
    """Ask a person. The node runs again from its top when the answer is there, so it does nothing else."""
    result = desk["result"]
    shown = {key: result[key] for key in ("answer", "outcome", "risks", "required_changes")}
    return {"decision": interrupt(shown, response_schema=Decision)}


def after_approval(desk: Desk) -> str:
    """Lead to the publication if, and only if, the person approved."""
    return "publish" if desk["decision"]["decision"] == "approve" else END


def write(file: str) -> None:
    """Write the text and say what a person has to decide."""
    with SqliteSaver.from_conn_string(file) as saver:
        desk = create_press_desk(create_self_critique_agent(), saver).invoke(REQUEST, THREAD)
        if "__interrupt__" in desk:
            [asked] = desk["__interrupt__"]
            print(f"To approve ({asked.value['outcome']}): {asked.value['answer']}")
        else:
            print(f"For a writer: {desk['result']['stop_reason']}")


def decide(file: str, decision: str, who: str) -> None:
    """Go on with the decision of a person."""
    with SqliteSaver.from_conn_string(file) as saver:
        press_desk = create_press_desk(create_self_critique_agent(), saver)
        if press_desk.get_state(THREAD).next != ("approve",):
            sys.exit("Nothing waits for a decision.")
        desk = press_desk.invoke(Command(resume={"decision": decision, "by": who}), THREAD)
        print(f"{desk['decision']['by']} decided: {desk['decision']['decision']}")
        print(f"Published: {desk['published']}")


def main(arguments: list[str]) -> None:
    """Do one step, or tell the whole story."""
    match arguments:
        case []:
            with TemporaryDirectory() as folder:
                file = str(Path(folder) / "runs.sqlite")
                for step in (["write", file], ["decide", file, "approve", "Ada"]):
                    subprocess.run([sys.executable, __file__, *step], check=True)
        case ["write", file]:
            write(file)
        case ["decide", file, ("approve" | "reject") as decision, who]:
            decide(file, decision, who)
        case _:
            print(__doc__, file=sys.stderr)
            sys.exit(2)


if __name__ == "__main__":
    main(sys.argv[1:])

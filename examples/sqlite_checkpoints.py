"""A run that is interrupted, and goes on in another process, with SQLite.

    python sqlite_checkpoints.py                            the whole story, in processes of their own
    python sqlite_checkpoints.py start FILE                 plan the retrieval, then end
    python sqlite_checkpoints.py resume FILE [SOURCE ...]   go on; only these sources may be read, if any are named

A checkpoint holds what was done, not what is allowed: policy and budget are those of the process that goes on, and the
guards judge by them. So a source that was switched off meanwhile is not read any more.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from langgraph.checkpoint.sqlite import SqliteSaver

from guardgraph import GuardedGraph, RagResult, create_rag_agent

QUESTION = {"question": "What is the P1 first response target?"}
THREAD = {"configurable": {"thread_id": "1"}}


def plan(view: dict[str, Any]) -> dict[str, Any]:
    """Propose to look into one source."""
    return {"kind": "retrieve", "query": view["question"], "sources": ["support_policy"]}


def start(graph: GuardedGraph, request: dict[str, Any]) -> tuple[str, ...]:
    """Run a graph until it is about to read, and return the node that comes next; none if the run ended before."""
    graph.invoke(request, THREAD, interrupt_before=["retrieve"])
    return graph.get_state(THREAD).next


def resume(graph: GuardedGraph, context: dict[str, Any] | None = None) -> RagResult:
    """Go on where the run stands, under the context of this moment."""
    return graph.invoke(None, THREAD, context=context)


def only(sources: list[str]) -> dict[str, Any] | None:
    """Return a context under which only these sources are read; None, which tightens nothing, for no sources."""
    return {"policy": {"allowed_sources_execution": sources}} if sources else None


def main(arguments: list[str]) -> None:
    """Do one step, or tell the whole story twice: the second time, the source is switched off in between."""
    match arguments:
        case []:
            with TemporaryDirectory() as folder:
                for number, sources in enumerate(([], ["billing_policy"])):
                    file = str(Path(folder) / f"{number}.sqlite")
                    for step in (["start", file], ["resume", file, *sources]):
                        subprocess.run([sys.executable, __file__, *step], check=True)
        case ["start", file]:
            with SqliteSaver.from_conn_string(file) as saver:
                print("next:", *start(create_rag_agent(planner=plan, checkpointer=saver), QUESTION))
        case ["resume", file, *sources]:
            with SqliteSaver.from_conn_string(file) as saver:
                result = resume(create_rag_agent(planner=plan, checkpointer=saver), only(sources))
                print(f"{result['stop_reason']}:", result.get("answer"))
        case _:
            print(__doc__, file=sys.stderr)
            sys.exit(2)


if __name__ == "__main__":
    main(sys.argv[1:])

"""A process of a deployment with a live policy: ``switched_runs.py LIVE GO CHECKPOINTS THREAD EVERY``.

It leaves one run waiting for a person, then begins another whose planner waits until a file is there, five minutes at
most, then a third; it prints a line of JSON after each.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import refund_pattern
from langgraph.checkpoint.sqlite import SqliteSaver

from guardgraph import RagBudget, create_rag_agent, live_policy
from guardgraph.grammar import Policy

QUESTION = {"question": "What is the P1 first response target?"}
PATIENT = RagBudget(max_seconds=600.0)


class RefundPolicy(refund_pattern.Policy, Policy):
    """The policy of a pattern that asks a person and can be switched off."""


def desk(saver, live):
    """Return an agent whose runs wait for a person."""
    return refund_pattern.pattern(policy=RefundPolicy()).compile(name="refund", checkpointer=saver, live=live)


def tell(**said):
    """Print what came of a run."""
    print(json.dumps(said), flush=True)


def main(file, go, checkpoints, thread, every):
    """Make the three runs."""
    live = live_policy(file, every=float(every))
    with SqliteSaver.from_conn_string(checkpoints) as saver:
        shown = desk(saver, live).invoke(refund_pattern.ORDER, {"configurable": {"thread_id": thread}})
    tell(waiting=shown["waiting_for"]["hash"])

    def plan(view):
        tell(planning=True)
        for _ in range(6000):
            if Path(go).exists():
                break
            time.sleep(0.05)
        return {"kind": "retrieve", "query": view["question"]}

    result = create_rag_agent(planner=plan, live=live, budget=PATIENT).invoke(QUESTION)
    tell(reason=result["stop_reason"], path=result["path"], details=result.get("details"))
    result = create_rag_agent(live=live).invoke(QUESTION)
    tell(reason=result["stop_reason"], path=result["path"])


if __name__ == "__main__":
    main(*sys.argv[1:])

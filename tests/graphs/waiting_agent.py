"""Graphs for tests of the server.

`agent` has a planner that blocks its thread until a file is there, a minute at most; `ordinary` has no guards, and
keys of the same names as those of an agent.
"""

import os
import time
from pathlib import Path
from typing import Any

import refund_pattern
from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict

from guardgraph import create_rag_agent


def wait(view):
    """Plan a retrieval when the time has come."""
    for _ in range(1200):
        if Path(os.environ["GO"]).exists():
            break
        time.sleep(0.05)
    return {"kind": "retrieve", "query": view["question"]}


agent = create_rag_agent(planner=wait)


class Keys(TypedDict, total=False):
    accepted_answer: Any
    route: Any
    stop_reason: Any


ordinary = StateGraph(Keys).add_node("answer_guard", lambda state: {}).add_edge(START, "answer_guard").compile()

refund = refund_pattern.refund()
"""A pattern in which a person approves; the server gives it a checkpointer."""


def staff(answer, caller):
    """Know whoever the server has signed in, but for guests."""
    return None if caller is None or caller.user == "guest" else caller.user


reviewed = refund_pattern.refund(reviewers=staff, policy=refund_pattern.Policy(four_eyes=True))
"""The same; who approves is signed in, and is not who began the run."""

"""Graphs for a server: one whose planner waits for a file, one in which somebody else than who began it approves."""

import os
import time
from pathlib import Path

import refund_pattern

from guardgraph import create_rag_agent


def wait(view):
    for _ in range(1200):
        if Path(os.environ["GO"]).exists():
            break
        time.sleep(0.05)
    return {"kind": "retrieve", "query": view["question"]}


agent = create_rag_agent(planner=wait)


def staff(answer, caller):
    return None if caller is None or caller.user == "guest" else caller.user


reviewed = refund_pattern.refund(reviewers=staff, policy=refund_pattern.Policy(four_eyes=True))

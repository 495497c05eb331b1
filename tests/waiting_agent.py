"""An agent for tests of the server: its planner blocks its thread until a file is there, ten seconds at most."""

import os
import time
from pathlib import Path

from guardgraph import create_rag_agent


def wait(view):
    """Plan a retrieval when the time has come."""
    for _ in range(200):
        if Path(os.environ["GO"]).exists():
            break
        time.sleep(0.05)
    return {"kind": "retrieve", "query": view["question"]}


agent = create_rag_agent(planner=wait)

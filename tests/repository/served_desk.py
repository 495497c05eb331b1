"""The service of examples/service with an agent for tests: its one write takes a while, and is counted."""

import os
import time
from pathlib import Path

from fastapi_service import Caller, create_app

from guardgraph import ToolPolicy, ToolRule, create_tool_agent

ACTS = Path(os.environ["DESK_FOLDER"]) / "acts"


def send_money(to: str, amount: int) -> str:
    """Send money to somebody."""
    with ACTS.open("a") as acts:
        acts.write(f"begins {to}\n")
    time.sleep(float(os.environ["DESK_SECONDS"]))
    with ACTS.open("a") as acts:
        acts.write(f"ends {to}\n")
    return f"sent {amount} to {to}"


def give_away(to: str) -> str:
    """Give all away."""
    return send_money(to, 1000)


def plan(view):
    """Pay Ada where the task names her, else propose what a person has to approve."""
    if view["results"]:
        return {"answer": "It is sent."}
    if "Ada" in view["task"]:
        return {"calls": [{"tool": "send_money", "args": {"to": "Ada", "amount": 30}}]}
    return {"calls": [{"tool": "give_away", "args": {"to": "Mallory"}}]}


def review(answer, caller: Caller | None):
    """Return whoever is signed in, but for a guest."""
    return None if caller is None or caller.user == "guest" else caller.user


def create(store, checkpointer):
    """Return the agent."""
    return create_tool_agent(
        planner=plan,
        tools=[send_money, give_away],
        policy=ToolPolicy(rules={"give_away": ToolRule(approve="always")}),
        checkpointer=checkpointer,
        recorder=store,
        reviewers=review,
    )


app = create_app(create)

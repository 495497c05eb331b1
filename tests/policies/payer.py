"""An agent that pays what its task says, for reviews of its policy."""

from langgraph.checkpoint.memory import InMemorySaver

from guardgraph import create_tool_agent


def pay(to: str, amount: float) -> str:
    """Send money."""
    return f"sent {amount} to {to}"


def planner(view):
    if view["results"]:
        return {"answer": "The money was sent.", "declined": False}
    return {"calls": [{"tool": "pay", "args": {"to": "acme", "amount": int(view["task"].split()[1])}}]}


def make(policy=None, budget=None, **rest):
    saver = InMemorySaver()
    return create_tool_agent(planner=planner, tools=[pay], policy=policy, budget=budget, checkpointer=saver, **rest)

"""The Research agent's offline proposers: the standard plan, and a brief that repeats the notes' claims."""

from __future__ import annotations

from guardgraph.guards.research.plan import RESEARCH_ACTIONS
from guardgraph.state.instant import instant
from guardgraph.state.json import JsonObject

__all__ = ["answer", "plan"]

CLAIMS = 3
"""Claims that a brief repeats at most."""


@instant
def plan(view: JsonObject) -> JsonObject:
    """Propose the standard plan, which searches for the question.

    Args:
        view: ``{goal, request}``.
    """
    steps = [{"id": f"r{number}", "action": action, "args": {}} for number, action in enumerate(RESEARCH_ACTIONS, 1)]
    return {"steps": [{**steps[0], "args": {"query": view["request"]["question"]}}, *steps[1:]]}


@instant
def answer(view: JsonObject) -> JsonObject:
    """Propose a brief of the first notes' claims.

    Args:
        view: ``{goal, question, notes, max_answer_chars}``.
    """
    notes = view["notes"][:CLAIMS]
    claims = " ".join(note["claim"] for note in notes)
    brief = f"Research brief: {claims} Timeline values are estimates and may change."
    return {"answer": brief, "citations": [note["id"] for note in notes]}

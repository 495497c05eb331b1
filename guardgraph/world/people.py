"""A person is somebody who is called: the run waits until the decision is there."""

from __future__ import annotations

from typing import Any, TypeGuard

from langgraph.types import interrupt

from guardgraph.plain.json import JsonObject
from guardgraph.state.outcome import Outcome
from guardgraph.world.call import Asked

DECISIONS = ("approve", "reject")
"""What a person may decide."""

REJECTED = "review_rejected"
"""Reason of the outcome of a person's call who said no; its details are the whole answer."""

_ALLOWED = "a dictionary with hash, as it was shown, and decision, approve or reject"


def ask_person_for_decision(asked: Asked) -> Outcome:
    """Show a person what a call asks, and return the decision.

    The run is interrupted, and this function runs again from its top when it is resumed. An answer that is none keeps
    the run waiting, with `problem` beside what is shown.

    Args:
        asked: the call of a person.

    Returns:
        The answer as it was given; a failure ``review_rejected`` where the person rejects, and ``review_stale`` where
        the answer is to something else than would be shown now, in this run, under today's policy and budget.

    Raises:
        GraphInterrupt: there is no decision yet.
    """
    shown: JsonObject = {"node": asked.node, "shown": asked.call.request, "hash": asked.request}
    answer = interrupt(shown)
    while not _is_review_answer(answer):
        answer = interrupt({**shown, "problem": f"answer: {_ALLOWED}; given: {_describe_wrong_answer(answer)}"})
    if answer["hash"] != asked.request:
        details = {"hash": asked.request, "given": answer}
        return Outcome("failure", {"reason": "review_stale", "details": details}, {})
    if answer["decision"] == "reject":
        return Outcome("failure", {"reason": REJECTED, "details": answer}, {})
    return Outcome("value", answer, {})


def build_unavailable_review() -> Outcome:
    """Return the outcome of a call of a person whom nobody could answer for: no checkpointer keeps the run."""
    details = {"allowed": "a graph with a checkpointer, and a thread_id", "given": "none"}
    return Outcome("failure", {"reason": "review_unavailable", "details": details}, {})


def _is_review_answer(answer: Any) -> TypeGuard[JsonObject]:
    return isinstance(answer, dict) and isinstance(answer.get("hash"), str) and answer.get("decision") in DECISIONS


def _describe_wrong_answer(answer: Any) -> str:
    if not isinstance(answer, dict):
        return type(answer).__name__
    return ", ".join(f"{name} {answer.get(name)!r:.40}" for name in ("hash", "decision"))

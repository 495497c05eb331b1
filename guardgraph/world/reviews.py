"""A person is somebody who is called: the run waits until there is an answer, and what one is worth is decided here.

The world only asks. Whether an answer is one, whether it is to what is asked, and what is kept of it are pure
functions; who gave it is for the deployment's reviewers to say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final, TypeGuard

from langgraph.types import interrupt

from guardgraph.plain.hashing import digest
from guardgraph.plain.json import JsonObject
from guardgraph.state.outcome import Outcome
from guardgraph.state.review import Identity, find_shown_delegation, find_shown_licence
from guardgraph.world.call import Asked

DECISIONS: Final = ("approve", "reject")
"""What a person may decide."""

REJECTED: Final = "review_rejected"
"""Reason of the outcome of a person's call who said no; its details are the whole answer."""

_ALLOWED = "a dictionary with hash, as it was shown, and decision, approve or reject"

_QUESTION = ("node", "shown", "hash")
"""What every question has."""


def ask_person_for_answer(asked: Asked) -> Outcome:
    """Show a person what a call asks, and return the answer, whatever it is.

    The run is interrupted, and the node that asked works again from its top when it is resumed.

    Args:
        asked: the call of a person.

    Raises:
        GraphInterrupt: there is no answer yet.
    """
    return Outcome("value", interrupt(build_question(asked)), {})


def is_review_unanswered(outcome: Outcome) -> bool:
    """Say whether a world brought no answer from a person, but why there is none.

    A world of the deployment's own may say by itself that a person said no; that is an answer like any other.
    """
    return outcome.form == "failure" and outcome.content["reason"] != REJECTED


def read_asked_answer(outcome: Outcome) -> Any:
    """Return the answer in what a world brought from a person."""
    return outcome.content["details"] if outcome.form == "failure" else outcome.content


def build_question(asked: Asked) -> JsonObject:
    """Return what a person is shown: who asks what, and the hash that an answer has to name."""
    return {"node": asked.node, "shown": asked.call.request, "hash": asked.request, **asked.beside}


def read_question(given: Any, node: str) -> JsonObject | None:
    """Return the question of a node in what a run waited for; None where that is another one, or none."""
    is_question = isinstance(given, dict) and given.keys() >= {*_QUESTION} and given["node"] == node
    return given if is_question else None


def list_question_changes(before: JsonObject, asked: Asked) -> list[str]:
    """Name what makes a question of a visit another one than the visit asked before: ``shown``, ``settings``.

    Args:
        before: the earlier question.
        asked: the question of now.
    """
    if before["hash"] == asked.request:
        return []
    changes = ["shown"] if before["shown"] != asked.call.request else []
    then = replace(asked, call=replace(asked.call, request=before["shown"]))
    return [*changes, "settings"] if then.request != before["hash"] else changes


def build_beside_question(asked: Asked, before: JsonObject | None, asked_at: Mapping[str, str]) -> JsonObject:
    """Return what stands beside a question: its licence, how long it stands, and what is known from before.

    Args:
        asked: the question.
        before: the one that the visit asked when the run was left, if any.
        asked_at: when it was asked and until when it stands, where that is limited.
    """
    beside: JsonObject = dict(asked_at)
    if (licence := find_shown_licence(asked.call.request)) is not None:
        beside["licence"] = licence
    if before is None:
        return beside
    if changes := list_question_changes(before, asked):
        return {**beside, "instead_of": before["hash"], "changed": changes}
    return {**beside, **{key: before[key] for key in ("instead_of", "changed", "problem") if key in before}}


def is_review_answer(answer: Any) -> TypeGuard[JsonObject]:
    """Say whether something is an answer to a question, be it to this one or another."""
    return isinstance(answer, dict) and isinstance(answer.get("hash"), str) and answer.get("decision") in DECISIONS


def find_answer_problem(answer: Any, asked: Asked) -> JsonObject | None:
    """Say why an answer does not count for a question, as what is shown beside it next; None where it may count.

    Args:
        answer: as it was given.
        asked: the question.
    """
    if not is_review_answer(answer):
        return {"problem": f"answer: {_ALLOWED}; given: {_describe_wrong_answer(answer)}"}
    if answer["hash"] == asked.request:
        return None
    known = answer["hash"] == asked.beside.get("instead_of")
    changed = asked.beside["changed"] if known else ["place"]
    problem = f"answer: it is to another question than is asked now ({', '.join(changed)}); given: {answer['hash']:.80}"
    return {"problem": problem, "instead_of": answer["hash"], "changed": changed}


def _describe_wrong_answer(answer: Any) -> str:
    if not isinstance(answer, dict):
        return type(answer).__name__
    return ", ".join(f"{name} {answer.get(name)!r:.40}" for name in ("hash", "decision"))


def build_decision(answer: JsonObject, asked: Asked, reviewer: Identity | None) -> Outcome:
    """Return the outcome of a person's call: what was decided, and by whom.

    Args:
        answer: that counts.
        asked: the question.
        reviewer: who answered; None where nobody verified it.

    Returns:
        The answer as it was given, or a failure ``review_rejected`` whose details it is. About it: ``reviewer``, the
        ``licence`` of the call that the question shows, if it shows one, and ``approval``, which binds all of them.
    """
    about = bind_decision(asked, answer["decision"], describe_reviewer(reviewer))
    if answer["decision"] == "reject":
        return Outcome("failure", {"reason": REJECTED, "details": answer}, about)
    return Outcome("value", answer, about)


def describe_reviewer(reviewer: Identity | None) -> JsonObject:
    """Return what the record says of whoever answered."""
    if reviewer is None:
        return {"status": "unverified"}
    return {"status": "verified", "name": reviewer.name, "roles": [*reviewer.roles]}


def bind_decision(asked: Asked, decision: str, reviewer: JsonObject) -> JsonObject:
    """Return what is kept about a decision: who decided, what it licenses, and one hash of these and the question."""
    licence = find_shown_licence(asked.call.request)
    kept: JsonObject = {"reviewer": reviewer, **({} if licence is None else {"licence": licence})}
    if (delegation := find_shown_delegation(asked.call.request)) is not None:
        kept["delegation"] = delegation
    return {**kept, "approval": digest({"question": asked.request, "decision": decision, **kept})}


def bind_recorded_decision(outcome: Outcome, asked: Asked) -> Outcome:
    """Return a recorded outcome of a person's call with what is bound in it made anew; those of before 0.8 as they are.

    An outcome whose identity was exchanged comes out as another one than was recorded.
    """
    if "reviewer" not in outcome.about:
        return outcome
    answer = read_asked_answer(outcome)
    decision = answer["decision"] if is_review_answer(answer) else ""
    about = bind_decision(asked, decision, outcome.about["reviewer"])
    return outcome if about == outcome.about else Outcome(outcome.form, outcome.content, about)


def build_expired_review(asked_at: datetime, now: datetime, most: float) -> Outcome | None:
    """Return the outcome of a question that nobody answered in time; None of one that stands.

    Args:
        asked_at: when it was first asked.
        now: the time.
        most: seconds for which it stands.
    """
    waited = (now - asked_at).total_seconds()
    if waited <= most:
        return None
    details = {"asked_at": asked_at.isoformat(), "waited_seconds": waited, "max_review_seconds": most}
    return Outcome("failure", {"reason": "review_expired", "details": details}, {})


def build_unavailable_review() -> Outcome:
    """Return the outcome of a call of a person whom nobody could answer for: no checkpointer keeps the run."""
    details = {"allowed": "a graph with a checkpointer, and a thread_id", "given": "none"}
    return Outcome("failure", {"reason": "review_unavailable", "details": details}, {})


def is_answer_of_session(answer: Any, given: Sequence[Any]) -> bool:
    """Say whether an answer is one of those that were given in this session."""
    return any(type(answer) is type(item) and answer == item for item in given)

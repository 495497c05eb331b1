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
from guardgraph.plain.json import JsonObject, JsonValue, excerpt_value, is_plain_json
from guardgraph.state.outcome import Outcome
from guardgraph.state.review import Identity, describe_shown_licences, find_shown_delegation
from guardgraph.world.call import Asked

EDIT: Final = "edit"  # what a person may decide of a question that says which value they may edit
DECISIONS: Final = ("approve", EDIT, "reject")  # what a person may decide
EDITED: Final = "edited"
"""The key of an answer that holds the value that a person put in place of the one that was shown."""

REJECTED: Final = "review_rejected"
"""Reason of the outcome of a person's call who said no; its details are the whole answer."""

_ALLOWED = "a dictionary with hash, as it was shown, and decision, {decisions}"
_QUESTION = ("node", "shown", "hash")  # what every question has


def ask_person_for_answer(asked: Asked) -> Outcome:
    """Show a person what a call asks, and return the answer, whatever it is."""
    question = {"node": asked.node, "shown": asked.call.request, "hash": asked.request, **asked.beside}
    return Outcome("value", interrupt(question, response_schema=_build_answer_schema(asked)), {})


def _build_answer_schema(asked: Asked) -> JsonObject:
    """Return the JSON Schema of an answer, of which Studio and inboxes make a form."""
    fields: JsonObject = {
        "hash": {"type": "string", "const": asked.request, "default": asked.request, "title": "What is answered"},
        "decision": {"type": "string", "enum": [item for item in DECISIONS if item != EDIT or asked.call.edits]},
    }
    schema: JsonObject = {"type": "object", "title": asked.node, "properties": fields, "required": ["hash", "decision"]}
    if asked.call.edits:
        value: JsonValue = asked.call.request
        for key in asked.call.edits:
            value = value.get(key) if isinstance(value, dict) else None
        kinds = {dict: "object", list: "array", str: "string", bool: "boolean", int: "integer", float: "number"}
        kind = kinds.get(type(value))
        told = {} if kind is None else {"type": kind, "default": value}
        fields[EDITED] = {"title": f"Instead of {'.'.join(asked.call.edits)}", **told}
        schema["if"] = {"properties": {"decision": {"const": EDIT}}, "required": ["decision"]}
        schema["then"] = {"required": [EDITED]}
    return schema


def is_review_unanswered(outcome: Outcome) -> bool:
    """Say whether a world brought no answer from a person, but why there is none."""
    return outcome.form == "failure" and outcome.content["reason"] != REJECTED


def read_asked_answer(outcome: Outcome) -> Any:
    """Return the answer in what a world brought from a person."""
    return outcome.content["details"] if outcome.form == "failure" else outcome.content


def read_question(given: Any, node: str) -> JsonObject | None:
    """Return the question of a node in what a run waited for; None where that is another one, or none."""
    is_question = isinstance(given, dict) and given.keys() >= {*_QUESTION} and given["node"] == node
    return given if is_question else None


def list_question_changes(before: JsonObject, asked: Asked) -> list[str]:
    """Name what makes a question of a visit another one than the visit asked before: ``shown``, ``settings``."""
    if before["hash"] == asked.request:
        return []
    changes = ["shown"] if before["shown"] != asked.call.request else []
    then = replace(asked, call=replace(asked.call, request=before["shown"]))
    return [*changes, "settings"] if then.request != before["hash"] else changes


def build_beside_question(asked: Asked, before: JsonObject | None, asked_at: Mapping[str, str]) -> JsonObject:
    """Return what stands beside a question: its licence, how long it stands, and what is known from before."""
    beside: JsonObject = {**asked_at, **describe_shown_licences(asked.call.request)}
    if asked.call.edits:
        beside["edits"] = [*asked.call.edits]
    if before is None:
        return beside
    if changes := list_question_changes(before, asked):
        return {**beside, "instead_of": before["hash"], "changed": changes}
    return {**beside, **{key: before[key] for key in ("instead_of", "changed", "problem") if key in before}}


def is_review_answer(answer: Any) -> TypeGuard[JsonObject]:
    """Say whether something is an answer to a question, be it to this one or another."""
    return isinstance(answer, dict) and isinstance(answer.get("hash"), str) and answer.get("decision") in DECISIONS


def find_answer_problem(answer: Any, asked: Asked) -> JsonObject | None:
    """Say why an answer does not count for a question, as what is shown beside it next; None where it may count."""
    if not is_review_answer(answer) or (answer["decision"] == EDIT and not asked.call.edits):
        decisions = "approve, edit or reject" if asked.call.edits else "approve or reject"
        given = type(answer).__name__
        if isinstance(answer, dict):
            given = ", ".join(f"{name} {answer.get(name)!r:.40}" for name in ("hash", "decision"))
        return {"problem": f"answer: {_ALLOWED.format(decisions=decisions)}; given: {given}"}
    if answer["hash"] == asked.request:
        if answer["decision"] == EDIT:
            return _find_edit_problem(answer, asked)
        if EDITED not in answer or not asked.call.edits:
            return None
        problem = f"answer: no {EDITED} beside {answer['decision']}; to put it in place, the decision is {EDIT}"
        return {"problem": problem}
    known = answer["hash"] == asked.beside.get("instead_of")
    changed = asked.beside["changed"] if known else ["place"]
    problem = f"answer: it is to another question than is asked now ({', '.join(changed)}); given: {answer['hash']:.80}"
    return {"problem": problem, "instead_of": answer["hash"], "changed": changed}


def _find_edit_problem(answer: JsonObject, asked: Asked) -> JsonObject | None:
    if EDITED not in answer:
        return {"problem": f"answer: {EDITED}, what is to stand instead of {'.'.join(asked.call.edits)}; given: none"}
    if not is_plain_json(answer[EDITED]):
        return {"problem": f"answer: {EDITED}: plain JSON is required; given: NaN or an infinite number"}
    details = None if asked.call.refuse_edit is None else asked.call.refuse_edit(answer[EDITED])
    if details is None:
        return None
    why = excerpt_value(", ".join(f"{name}: {excerpt_value(value)}" for name, value in details.items()), 600)
    return {"problem": f"answer: the edit is refused: {why}"}


def build_edited_request(request: JsonObject, edits: Sequence[str], edited: JsonValue) -> JsonObject:
    """Return what a question shows with an edited value in the place that may be edited."""
    name, *inner = edits
    below = request.get(name)
    if inner and isinstance(below, dict):
        return {**request, name: build_edited_request(below, inner, edited)}
    return {**request, name: edited}


def build_decision(answer: JsonObject, asked: Asked, reviewer: Identity | None) -> Outcome:
    """Return the outcome of a person's call: what was decided, and by whom."""
    known: JsonObject = {"status": "unverified"}
    if reviewer is not None:
        known = {"status": "verified", "name": reviewer.name, "roles": [*reviewer.roles]}
    about = bind_decision(asked, answer, known)
    if answer["decision"] == "reject":
        return Outcome("failure", {"reason": REJECTED, "details": answer}, about)
    return Outcome("value", answer, about)


def bind_decision(asked: Asked, answer: JsonObject, reviewer: JsonObject) -> JsonObject:
    """Return what is kept about a decision: who decided, what it licenses, and one hash of these and the question."""
    shown = asked.call.request
    if is_edit := answer.get("decision") == EDIT and bool(asked.call.edits) and EDITED in answer:
        shown = build_edited_request(shown, asked.call.edits, answer[EDITED])
    kept: JsonObject = {"reviewer": reviewer, **describe_shown_licences(shown)}
    if not is_edit and (delegation := find_shown_delegation(shown)) is not None:
        kept["delegation"] = delegation
    bound = {EDITED: digest(answer[EDITED])} if is_edit else {}
    decided = {"question": asked.request, "decision": answer.get("decision", ""), **bound}
    return {**kept, "approval": digest({**decided, **kept})}


def bind_recorded_decision(outcome: Outcome, asked: Asked) -> Outcome:
    """Return a recorded outcome of a person's call with what is bound in it made anew."""
    if "reviewer" not in outcome.about:  # nobody answered
        return outcome
    answer = read_asked_answer(outcome)
    known = answer if is_review_answer(answer) else {}
    about = bind_decision(asked, known, outcome.about["reviewer"])
    return outcome if about == outcome.about else Outcome(outcome.form, outcome.content, about)


def build_expired_review(asked_at: datetime, now: datetime, most: float) -> Outcome | None:
    """Return the outcome of a question that nobody answered in time; None of one that stands."""
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

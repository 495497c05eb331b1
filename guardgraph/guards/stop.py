"""The one way in which a guard refuses."""

from __future__ import annotations

from typing import Any

from guardgraph.plain.json import INPUT_DEPTH, JsonObject, JsonValue, excerpt_value, find_json_problem
from guardgraph.state.run import ROLES, Turn

LONGEST_QUESTION = 20_000
"""Characters of a question or a goal: some ten pages. Every word of it is looked up, and every fact read."""

NAME_LIMIT = 80  # characters of a name written by a model that a stop reason repeats
MOST_NAMED = 1000  # characters of the names that there are, where one was invented


class Stop(Exception):
    """A guard's refusal: why, and the evidence, as data.

    Args:
        reason: an entry of the stop-reason catalogue, such as ``"invalid_intent:kind"``.
        evidence: keys of the result that show what was refused; plain JSON values.
    """

    answer: JsonObject | None = None
    """Of the refusal of an answer whose sentences were judged: its `text`, and those that are `unverified`."""

    def __init__(self, reason: str, **evidence: Any) -> None:
        super().__init__(reason)
        self.reason = reason
        self.evidence = evidence

    def __repr__(self) -> str:
        return f"Stop({self.reason!r}, {', '.join(self.evidence)})"


class Denial(Stop):
    """A refusal of a thing that there is, and that a list denies: nobody is asked again, whatever its reason."""


def build_request_stop(field: str, given: JsonValue, allowed: str) -> Stop:
    """Return the stop for a field of the input that cannot be read."""
    details = {"field": field, "given": excerpt_value(given), "allowed": allowed}
    return Stop(f"invalid_request:{field}", details=details)


def build_output_stop(tool: str, given: JsonValue, allowed: str) -> Stop:
    """Return the stop for what a tool returned that cannot be read."""
    return Stop(f"tool_invalid_output:{tool}", details={"allowed": allowed, "given": excerpt_value(given)})


def read_request_text(field: str, given: JsonValue) -> str:
    """Return a question or a goal of the input, stripped."""
    if not isinstance(given, str) or not given.strip():
        raise build_request_stop(field, given, "a text that is not blank")
    if len(given) > LONGEST_QUESTION:
        raise build_request_stop(field, given, f"a text of at most {LONGEST_QUESTION} characters")
    return given.strip()


def parse_history(given: JsonValue) -> list[Turn]:
    """Return the turns of the conversation before a question or a task; None is none, and blank turns are left out."""
    if given is None:
        return []
    if not isinstance(given, list):
        raise build_request_stop("history", given, "a list of turns {role, content}")
    turns = [parse_history_turn(f"history.{place}", item) for place, item in enumerate(given)]
    return [turn for turn in turns if turn["content"]]


def parse_history_turn(place: str, given: JsonValue) -> Turn:
    """Parse a turn of a conversation."""
    if not isinstance(given, dict):
        raise build_request_stop(place, given, "an object {role, content}")
    role: Any = given.get("role")
    content = given.get("content")
    if role not in ROLES:
        raise build_request_stop(f"{place}.role", role, " or ".join(ROLES))
    if not isinstance(content, str):
        raise build_request_stop(f"{place}.content", content, "a text")
    return Turn(role=role, content=content.strip())


def check_request_depth(field: str, given: JsonValue) -> None:
    """Refuse what is nested so deeply that no state could hold it together with what stands around it."""
    if (problem := find_json_problem(given, INPUT_DEPTH)) is not None:
        raise build_request_stop(field, problem, f"plain JSON of at most {INPUT_DEPTH} levels")


def shown_name(name: str) -> str:
    """Cut a name written by a model to what a stop reason may repeat."""
    return name[:NAME_LIMIT]


class evidence:
    """Add evidence to whatever stop is raised inside."""

    __slots__ = ("_shown",)

    def __init__(self, **shown: Any) -> None:
        self._shown = shown

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Stop):
            kind = Denial if isinstance(error, Denial) else Stop
            told = kind(error.reason, **{**self._shown, **error.evidence})
            told.answer = error.answer
            raise told from None

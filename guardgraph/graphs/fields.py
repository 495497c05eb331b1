"""The fields of an input, as the door lets them in and as a run that is decided again would have been given them."""

from __future__ import annotations

from guardgraph.graphs.frame import Frame
from guardgraph.plain.errors import InputError, NotRecorded
from guardgraph.plain.json import JsonObject, json_problem, unnamed
from guardgraph.plain.size import TooLarge, check_room
from guardgraph.state.recording import Recording

__all__ = ["REFUSED", "given_again", "refusal_of"]

REFUSED = "guardgraph:refused"
"""Key of the mark that stands in for an input value that no state can hold."""

_LIMIT = "max_input_bytes"


def refusal_of(value: object, most: int) -> JsonObject | None:
    """Return the mark of a field that no state can hold, None for one that can.

    What is a little too large, a guard refuses.

    Args:
        value: as a caller gave it.
        most: bytes that it may have as JSON text.
    """
    try:
        check_room(value, most)
    except TooLarge:
        return {REFUSED: f"more than {most} bytes ({_LIMIT})"}
    problem = json_problem(value)
    return None if problem is None else {REFUSED: problem}


def given_again(frame: Frame, recording: Recording, entry: str) -> JsonObject:
    """Return the input of a recorded run as the door of a graph would have let it in.

    Args:
        frame: of the graph.
        recording: of the run.
        entry: the node that the input is for.

    Raises:
        InputError: nothing says what the run began with.
        NotRecorded: a field was refused, so that it was not kept, and this graph allows another size.
    """
    try:
        given = unnamed(recording["input"], recording.get("nameless", []))
    except (LookupError, ValueError, TypeError):
        raise InputError("recording.nameless: places in the input with the name of a number are required") from None
    most, then = frame.budget.max_input_bytes, recording["budget"].get(_LIMIT)
    if then in (most, None):
        return given
    for name, value in given.items():
        if isinstance(value, dict) and REFUSED in value:
            why = f"its input's {name:.80} was refused and not kept, and {_LIMIT} was {then}, and is {most}"
            raise NotRecorded(entry, why, visit=1)
    return {name: refusal_of(value, most) or value for name, value in given.items()}

"""What a call raised that no server can cause, such as a failed assertion: kept as an outcome, and raised again."""

from __future__ import annotations

import builtins

from guardgraph.plain.secrets import format_error_message
from guardgraph.state.outcome import Outcome

RAISED = "raised"
"""Reason of the outcome of a call that raised; no guard ever sees it."""


def record_raised_exception(error: Exception) -> Outcome:
    """Return what is kept of an exception: its class's name and its message."""
    details = {"type": type(error).__name__, "message": format_error_message(error)}
    return Outcome("failure", {"reason": RAISED, "details": details}, {})


def restore_raised_exception(outcome: Outcome) -> Exception | None:
    """Return the exception that an outcome stands for, None for any other outcome.

    It is of the class of that name where it is one of Python's own, else of a class made for it.
    """
    if outcome.form != "failure" or outcome.content["reason"] != RAISED:
        return None
    details = outcome.content["details"]
    known = getattr(builtins, details["type"], None)
    if isinstance(known, type) and issubclass(known, Exception):
        try:
            error = known(details["message"])
        except TypeError:  # some of Python's own take more than a message
            error = None
        if error is not None and str(error) == details["message"]:
            return error
    made: Exception = type(details["type"], (Exception,), {})(details["message"])
    return made

"""A failure that was to be expected, as the outcome of a call keeps it for the guard behind."""

from __future__ import annotations

from guardgraph.state.errors import ExpectedFailure
from guardgraph.state.json import JsonObject, JsonValue
from guardgraph.state.returned import Unreturnable, plain_value
from guardgraph.state.size import TooLarge

__all__ = ["expected", "expected_in"]

EXPECTED_BYTES = 65_536
"""That an expected failure may take: failures are short, whatever a budget says of replies."""


def expected(error: BaseException) -> JsonObject:
    """Return what the details of a tool's error say of one that was to be expected, nothing of any other.

    Args:
        error: what was raised, or returned in the place of a value. One whose details are no plain JSON, or take more
            than `EXPECTED_BYTES`, is any other error.
    """
    if not isinstance(error, ExpectedFailure):
        return {}
    try:
        return {"expected": plain_value({"reason": error.reason, "details": error.details}, EXPECTED_BYTES)}
    except (Unreturnable, TooLarge):
        return {}


def expected_in(content: JsonValue) -> tuple[str, JsonObject] | None:
    """Return the reason and the details of an expected failure, None where a tool failed otherwise, or did not.

    Args:
        content: of an outcome.
    """
    match content:
        case {"reason": "tool_error", "details": {"expected": {"reason": str(reason), "details": dict(details)}}}:
            return reason, details
    return None

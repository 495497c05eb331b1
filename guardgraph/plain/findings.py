"""What is wrong in what was given, in words: where, what was given and what is allowed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from guardgraph.plain.errors import ConfigurationError

if TYPE_CHECKING:
    from pydantic import ValidationError


def make_configuration_error(what: str, error: ValidationError) -> ConfigurationError:
    """Say in one line per field what was given and what is allowed.

    Args:
        what: what was being read, such as ``"context"``.
        error: Pydantic's findings.
    """
    return ConfigurationError("\n".join(format_validation_lines(what, error.errors(include_url=False))))


def list_validation_findings(error: ValidationError) -> Iterator[tuple[tuple[int | str, ...], str]]:
    """Yield where something is wrong, and what was given and what is allowed there.

    Args:
        error: Pydantic's findings.
    """
    for item in error.errors(include_url=False):
        yield item["loc"], _format_validation_finding(item)


def format_validation_lines(what: str, found: Iterable[Any]) -> list[str]:
    """Return a line for each of Pydantic's findings, behind the name of what was being read."""
    return [
        f"{what}.{'.'.join(str(part) for part in item['loc'])}: {_format_validation_finding(item)}" for item in found
    ]


def _format_validation_finding(item: Any) -> str:
    return f"{_describe_allowed_value(item)}; given: {format_given_value(item['input'])}"


def _describe_allowed_value(item: Any) -> str:
    if item["type"] == "extra_forbidden":
        return "no such setting"
    return str(item["msg"]).removeprefix("Value error, ")


def format_given_value(value: object) -> str:
    """Return how a message shows what was given."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, int) and value.bit_length() > 64:  # Python refuses to print the longest
        return "a whole number of more than 64 bits"
    if isinstance(value, str | bool | int | float | None):
        return repr(value)[:80]
    return type(value).__name__

"""What guardgraph raises. A run that ends badly raises nothing: it returns a stop reason.

GuardgraphError
├── ConfigurationError   a factory, a setting, a context or an environment is wrong; nothing was run
│   └── GrammarError     a pattern is put together in a way that the grammar forbids
├── InputError           what was given is no input, no graph, or no run of the graph, or would change a run's state;
│                        nothing was run
├── NotRecorded          a replay asks for what the recorded run did not ask for
├── ExpectedFailure      whoever is called cannot do what was asked, for a reason that was to be expected
│   └── ReadFailure      a page cannot be read
└── StoreError           a store of runs cannot be reached, read or written
"""

from __future__ import annotations

import math
from asyncio import CancelledError
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from guardgraph.plain.json import JsonObject

if TYPE_CHECKING:
    from pydantic import ValidationError


class GuardgraphError(Exception):
    """Every exception of this library."""


class ConfigurationError(GuardgraphError, ValueError):
    """A setting is wrong: the message names the field, what was given and what is allowed."""


class GrammarError(ConfigurationError):
    """A pattern breaks the grammar while it is being built."""


class InputError(GuardgraphError, TypeError):
    """The input is no dictionary, there is no run to resume, or what is to be looked at is no graph or no run of it.

    So is an update of a run's state from outside.
    """


class NotRecorded(GuardgraphError):
    """A replay asks for what the recorded run did not ask for, so nobody knows what would have come back.

    It says which `node` asks, what the `difference` is, and, from 1 on, in which `visit` and with which `number` of its
    calls, where that is known.
    """

    def __init__(self, node: str, difference: str, *, visit: int | None = None, number: int | None = None) -> None:
        super().__init__(f"not recorded: {node}: {difference}")
        self.node, self.visit, self.number, self.difference = node, visit, number, difference


class ExpectedFailure(GuardgraphError):
    """Whoever is called cannot do what was asked, for a reason that was to be expected.

    It is raised, or returned as a value; the run gets both, and a guard decides what they are worth. The `reason` says
    which failure it is, in the words of its kind, and `details` are plain JSON.
    """

    def __init__(self, reason: str, details: JsonObject | None = None) -> None:
        super().__init__(reason, details)  # both, so that a copy in another process is the same
        self.reason = reason
        self.details: JsonObject = {} if details is None else details

    def __str__(self) -> str:
        known = ", ".join(f"{name}: {value}" for name, value in self.details.items() if name not in {"hops", "limits"})
        return f"{self.reason} ({known})" if known else self.reason


class ReadFailure(ExpectedFailure):
    """A page cannot be read. A reader raises it, or returns it as its value, and the run goes on with other pages.

    A reason that is none of `guardgraph.state.research.READ_FAILURES` counts as a reader that broke.
    """


class StoreError(GuardgraphError):
    """A store of runs cannot be reached, read or written, or took too long.

    What was to be written was not acknowledged. The message names the store, without its password.
    """


def make_configuration_error(what: str, error: ValidationError) -> ConfigurationError:
    """Say in one line per field what was given and what is allowed."""
    return ConfigurationError("\n".join(format_validation_lines(what, error.errors(include_url=False))))


def list_validation_findings(error: ValidationError) -> Iterator[tuple[tuple[int | str, ...], str]]:
    """Yield where something is wrong, and what was given and what is allowed there."""
    for item in error.errors(include_url=False):
        yield item["loc"], _format_validation_finding(item)


def format_validation_lines(what: str, found: Iterable[Any]) -> list[str]:
    """Return a line for each of Pydantic's findings, behind the name of what was being read."""
    placed = ((".".join(str(part) for part in item["loc"]), item) for item in found)
    return [f"{what}.{place}: {_format_validation_finding(item)}" for place, item in placed]


def _format_validation_finding(item: Any) -> str:
    is_unknown = item["type"] == "extra_forbidden"
    allowed = "no such setting" if is_unknown else str(item["msg"]).removeprefix("Value error, ")
    return f"{allowed}; given: {format_given_value(item['input'])}"


def format_given_value(value: object) -> str:
    """Return how a message shows what was given."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, int) and value.bit_length() > 64:  # Python refuses to print the longest
        return "a whole number of more than 64 bits"
    if isinstance(value, str | bool | int | float | None):
        return repr(value)[:80]
    return type(value).__name__


def explain_unread_file(error: OSError | ValueError) -> str:
    """Say why no text was read from a file: the system's own words, or that its bytes are no UTF-8."""
    if isinstance(error, UnicodeError):
        return f"cannot be read as UTF-8 text: {error}"
    return f"cannot be read: {getattr(error, 'strerror', None) or error}"


PASSING = (Exception, KeyboardInterrupt, CancelledError, GeneratorExit)
"""What is raised on as it is; whatever else a user's code raises would end the process."""


def convert_exit(error: BaseException) -> RuntimeError:
    """Return what would end the process as a failure of whoever raised it."""
    failure: RuntimeError = type(type(error).__name__, (RuntimeError,), {})(str(error))
    return failure

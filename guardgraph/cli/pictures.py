"""What `guardgraph draw` draws."""

from __future__ import annotations

from typing import Any, Protocol

import guardgraph
from guardgraph.cli import inputs
from guardgraph.graphs.named import graph_named
from guardgraph.graphs.patterns import COMMANDS, pattern_called
from guardgraph.plain.errors import ConfigurationError

__all__ = ["graph_of", "picture_of", "save"]


def picture_of(target: str, run: str | None, earlier: str | None) -> guardgraph.Picture:
    """Draw one of the patterns, or a graph of the user's own.

    Args:
        target: a pattern, or ``module:factory``.
        run: a file with the result of a run of it, as ``--json`` prints it.
        earlier: a file with the result of another one, likewise.

    Raises:
        ConfigurationError: there is no such graph, or the file cannot be read.
        InputError: it is no compiled LangGraph graph, or the file holds no finished run of it.
    """
    graph = graph_of(target, "draw")
    now, then = (
        None if file is None else inputs.run_result(option, file)
        for option, file in (("--run", run), ("--earlier", earlier))
    )
    return guardgraph.draw(graph, now, earlier=then)


def graph_of(target: str, asking: str) -> Any:
    """Return one of the patterns, or what a user's factory makes.

    Args:
        target: a pattern, or ``module:factory``.
        asking: the command or option that asks, for messages.

    Raises:
        ConfigurationError: there is no such graph.
    """
    pattern = pattern_called(target)
    if pattern is not None:
        return pattern.create()
    if ":" not in target:
        raise ConfigurationError(f"{asking}: {', '.join(COMMANDS)} or module:factory is required; given: {target!r}")
    return graph_named(target, asking)


class Made(Protocol):
    """What can be written to a file: a picture, a page."""

    def save(self, path: str) -> None:
        """Write it."""


def save(made: Made, out: str) -> None:
    """Write a picture or a page to the file of ``--out``.

    Raises:
        ConfigurationError: its name says no form that there is, or it cannot be written.
    """
    try:
        made.save(out)
    except ConfigurationError as error:
        argument, said, rest = str(error).partition("file: ")
        raise ConfigurationError(f"--out: {rest}" if said and not argument else str(error)) from None
    except (OSError, ValueError) as error:  # a name may hold what no file system knows
        raise ConfigurationError(f"--out {out!r}: cannot be written: {error}") from error

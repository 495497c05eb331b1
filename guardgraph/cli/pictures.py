"""What `guardgraph draw` draws."""

from __future__ import annotations

import guardgraph
from guardgraph.cli import inputs
from guardgraph.state.errors import ConfigurationError

__all__ = ["picture_of", "save"]

OURS = {
    "rag": "create_rag_agent",
    "research": "create_research_agent",
    "critique": "create_self_critique_agent",
    "self_critique": "create_self_critique_agent",
}
"""The factories of the patterns, as the commands and the catalogues name these."""


def picture_of(target: str, run: str | None) -> guardgraph.Picture:
    """Draw one of the patterns, or a graph of the user's own.

    Args:
        target: a pattern, or ``module:factory``.
        run: a file with the result of a run of it, as ``--json`` prints it.

    Raises:
        ConfigurationError: there is no such graph, or the file cannot be read.
        InputError: it is no compiled LangGraph graph, or the file holds no finished run of it.
    """
    if target not in OURS and ":" not in target:
        raise ConfigurationError(f"draw: rag, research, critique or module:factory is required; given: {target!r}")
    graph = getattr(guardgraph, OURS[target])() if target in OURS else inputs.graph_named(target, "draw")
    return guardgraph.draw(graph, None if run is None else inputs.json_object("--run", run))


def save(picture: guardgraph.Picture, out: str) -> None:
    """Write a picture to the file of ``--out``.

    Raises:
        ConfigurationError: its name says no form that there is, or it cannot be written.
    """
    try:
        picture.save(out)
    except ConfigurationError:
        raise
    except (OSError, ValueError) as error:  # a name may hold what no file system knows
        raise ConfigurationError(f"--out {out!r}: cannot be written: {error}") from error

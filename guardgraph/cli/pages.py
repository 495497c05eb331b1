"""What `guardgraph report` makes."""

from __future__ import annotations

import guardgraph
from guardgraph.cli import inputs, pictures

__all__ = ["page_of"]


def page_of(run: str, graph: str | None, asked: str | None) -> guardgraph.Page:
    """Make the page of a run.

    Args:
        run: a file with its result, as ``--json`` prints it; ``-`` for the standard input.
        graph: a pattern or ``module:factory``; None for a run of a pattern, which is known by its nodes.
        asked: what the run was asked.

    Raises:
        ConfigurationError: the file cannot be read, or there is no such graph.
        InputError: the file holds no finished run, or none of this graph.
    """
    result = inputs.run_result("RUN", run)
    return guardgraph.report(result, None if graph is None else pictures.graph_of(graph, "--graph"), asked=asked)

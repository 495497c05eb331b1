"""What `guardgraph report` makes."""

from __future__ import annotations

import guardgraph
from guardgraph.cli import audit, inputs, pictures

__all__ = ["page_of"]


def page_of(run: str, graph: str | None, asked: str | None, store: str | None = None) -> guardgraph.Page:
    """Make the page of a run.

    Args:
        run: a file with its result, as ``--json`` prints it; ``-`` for the standard input; of a store, the run's id.
        graph: a pattern or ``module:factory``; None for a run of a pattern, which is known by its nodes.
        asked: what the run was asked.
        store: the URL of a store that has the run.

    Raises:
        ConfigurationError: the file cannot be read, or there is no such graph.
        InputError: the file holds no finished run, or none of this graph; or the store has no such run.
        StoreError: the store cannot be read.
    """
    result = inputs.run_result("RUN", run) if store is None else audit.store_at(store).read(run)
    return guardgraph.report(result, None if graph is None else pictures.graph_of(graph, "--graph"), asked=asked)

"""What `guardgraph report` makes."""

from __future__ import annotations

import guardgraph
from guardgraph.cli import audit, inputs, pictures
from guardgraph.plain.errors import ConfigurationError, InputError
from guardgraph.plain.json import JsonObject

__all__ = ["page_of", "read"]


def page_of(run: str, graph: str | None, asked: str | None, store: str | None = None) -> guardgraph.Page:
    """Make the page of a run.

    Args:
        run: a file with its result, as ``--json`` prints it, or with its document, as ``audit export`` writes it;
            ``-`` for the standard input; of a store, the run's id.
        graph: a pattern or ``module:factory``; None for a run of a pattern, which is known by its nodes.
        asked: what the run was asked.
        store: the URL of a store that has the run.

    Raises:
        ConfigurationError: the file cannot be read, or there is no such graph.
        InputError: the file holds no finished run, or none of this graph; or the store has no such run.
        StoreError: the store cannot be read.
    """
    found = read("RUN", run) if store is None else audit.store_at(store).read(run)
    return guardgraph.report(found, None if graph is None else pictures.graph_of(graph, "--graph"), asked=asked)


def read(option: str, file: str) -> JsonObject | guardgraph.StoredRun:
    """Return the result in a file, or the run of the document that it is.

    Raises:
        ConfigurationError: the file cannot be read, or its document is none.
    """
    from guardgraph.evidence.checking import document_of, is_document
    from guardgraph.evidence.document import stored_run

    value = inputs.json_object(option, file, inputs.DOCUMENT_DEPTH)
    if not is_document(value):
        return value
    try:
        return stored_run(document_of(value))
    except InputError as error:
        raise ConfigurationError(f"{option} {file!r:.200}: {error}") from error

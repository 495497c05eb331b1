"""What is kept in memory of a file that is searched, each until something of what it was read from changes."""

from __future__ import annotations

from guardgraph.knowledge.index.columns import Columns
from guardgraph.knowledge.index.counts import Counts
from guardgraph.knowledge.index.spans import Spans
from guardgraph.knowledge.index.statistics import Views


class Memory:
    """What a search need not read again. Several threads may ask for it at once.

    Args:
        numpy_from: from so many chunks on that are searched numpy computes, where it is installed.
    """

    def __init__(self, numpy_from: float) -> None:
        self.views = Views()
        self.counts = Counts()
        self.spans = Spans(numpy_from)
        self.columns = Columns()

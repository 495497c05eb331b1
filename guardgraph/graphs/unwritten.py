"""Time of attempts that ended before they could write anything, such as before an interrupt or a cancelled resume.

It is kept beside the checkpoint from which the attempt went on, where LangGraph keeps what single nodes have written,
so it counts in whichever process resumes the run. With the next checkpoint it is part of the log.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any
from uuid import uuid4

from langgraph.checkpoint.base import CheckpointTuple

from guardgraph.graphs.admission import around, keeps, saver
from guardgraph.graphs.resuming import Graph, place_of

__all__ = ["akeep_unwritten", "keep_unwritten", "unwritten_in"]

_CHANNEL = "guardgraph:unwritten"
"""No channel of a graph: LangGraph passes over it."""


def unwritten_in(stored: CheckpointTuple) -> float:
    """Return the seconds that are kept beside a checkpoint."""
    kept = [value for _, channel, value in stored.pending_writes or () if channel == _CHANNEL]
    return float(sum(value for value in kept if isinstance(value, int | float)))


def keep_unwritten(graph: Graph, config: Any, seconds: float) -> None:
    """Keep the seconds of an attempt, where a checkpointer keeps the run; what fails here changes no run."""
    if seconds <= 0 or not keeps(graph, configurable := around(graph, config)):
        return
    with suppress(Exception):  # a saver that is gone; the attempt's own error is what counts
        keeper = saver(graph, configurable)
        if (stored := keeper.get_tuple(place_of(graph, configurable))) is not None:
            keeper.put_writes(stored.config, [(_CHANNEL, seconds)], str(uuid4()))


async def akeep_unwritten(graph: Graph, config: Any, seconds: float) -> None:
    """Do what `keep_unwritten` does, asynchronously."""
    if seconds <= 0 or not keeps(graph, configurable := around(graph, config)):
        return
    with suppress(Exception):  # see keep_unwritten
        keeper = saver(graph, configurable)
        if (stored := await keeper.aget_tuple(place_of(graph, configurable))) is not None:
            await keeper.aput_writes(stored.config, [(_CHANNEL, seconds)], str(uuid4()))

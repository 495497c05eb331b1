"""A run that was decided again: what came of it, and on demand how it went and the recording of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from guardgraph.state.json import JsonObject
from guardgraph.state.recording import Recording

__all__ = ["Decided", "came_of"]

_HOW_IT_WENT = {"run_id", "trace", "history", "path", "timeline"}
"""Keys of a result that say how the run went, not what came of it."""


class Decided:
    """What a terminal makes of a run that is decided again; a what-if rarely asks for more than what came of it.

    Args:
        head: the result without what `told` tells.
        told: returns the whole result, with trace, history, path and timeline.
        recorded: returns the recording of a run with that result.
    """

    def __init__(
        self, head: JsonObject, told: Callable[[], JsonObject], recorded: Callable[[JsonObject], Recording]
    ) -> None:
        self.head, self._told, self._recorded = head, told, recorded

    @cached_property
    def result(self) -> JsonObject:
        """The whole result."""
        return self._told()

    @cached_property
    def recording(self) -> Recording:
        """The recording that a live run would have handed to a recorder.

        What came from outside is in it as it was recorded: the input, outcomes, readings of the clock, contexts. All
        else was made anew.
        """
        return self._recorded(self.result)


def came_of(result: Mapping[str, Any]) -> JsonObject:
    """Return what came of a run: its result without how it went."""
    return {key: value for key, value in result.items() if key not in _HOW_IT_WENT}

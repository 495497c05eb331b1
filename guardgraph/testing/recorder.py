"""A recorder that keeps recordings in memory."""

from __future__ import annotations

from guardgraph.state.recording import Recording

__all__ = ["InMemoryRecorder"]


class InMemoryRecorder:
    """Keeps what it is given, for tests and notebooks; nothing of it outlives the process."""

    def __init__(self) -> None:
        self.runs: list[Recording] = []
        """The recordings, in the order in which their runs ended."""

    def record(self, run: Recording) -> None:
        """Keep a recording."""
        self.runs.append(run)

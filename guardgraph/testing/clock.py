"""A clock that a test moves."""

from __future__ import annotations

from threading import Lock

from guardgraph.plain.errors import ConfigurationError

__all__ = ["ScriptedClock", "forward"]


class ScriptedClock:
    """A clock that only a script moves; thread-safe.

    Args:
        start: the first reading, in seconds.
        step: seconds that pass after every reading.
    """

    def __init__(self, start: float = 0.0, step: float = 0.0) -> None:
        self._now = float(start)
        self._step = forward(step)
        self._lock = Lock()

    def __call__(self) -> float:
        """Return the time in seconds."""
        with self._lock:
            now = self._now
            self._now += self._step
            return now

    def advance(self, seconds: float) -> None:
        """Let time pass.

        Raises:
            ConfigurationError: `seconds` is negative; this clock is monotonic.
        """
        with self._lock:
            self._now += forward(seconds)


def forward(seconds: float) -> float:
    """Return seconds, if time can pass by them."""
    if not seconds >= 0:
        raise ConfigurationError(f"seconds: a number of at least 0 is required; given: {seconds}")
    return float(seconds)

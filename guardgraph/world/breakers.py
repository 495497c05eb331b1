"""Circuit breakers: who has failed too often in a row is not asked for a while, so that nobody waits for a failure.

A circuit is closed while all is well, and calls go side by side. It opens after so many failures in a row; then calls
are refused at once. When it has been open long enough one call goes through as a probe, and it closes if that succeeds.
"""

from __future__ import annotations

import time
from collections.abc import Hashable
from dataclasses import dataclass
from threading import Lock
from typing import Final

from guardgraph.plain.errors import ConfigurationError

MAX_CIRCUITS: Final = 4096
"""Circuits that are kept: hosts of pages are named by whoever is read, and there is no end of them."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a call does not go through."""

    failures: int  # in a row
    retry_in: float  # seconds until a probe may go through; 0 while one is out


class Breaker:
    """The circuit of one model, tool or host."""

    def __init__(self, failures: int, open_seconds: float) -> None:
        self._most, self._open_seconds = failures, open_seconds
        self._lock = Lock()
        self._failed = 0
        self._opened_at: float | None = None
        self._period = 0
        """Counts openings and probes: what a call of an earlier period brings says nothing about this one."""
        self._is_probing = False

    @property
    def is_well(self) -> bool:
        """Whether it is closed, and the last call went well: forgotten, it would be the same."""
        return self._opened_at is None and not self._failed

    def admit(self) -> int | Refusal:
        """Let a call through, or refuse it."""
        with self._lock:
            if self._opened_at is None:
                return self._period
            left = self._opened_at + self._open_seconds - time.monotonic()
            if left > 0 or self._is_probing:
                return Refusal(self._failed, max(left, 0.0))
            self._is_probing = True
            self._period += 1
            return self._period

    def settle(self, period: int, *, failed: bool | None) -> None:
        """Count what a call brought."""
        with self._lock:
            if period != self._period:
                return
            if failed is None:
                self._is_probing = False
                return
            self._failed = self._failed + 1 if failed else 0
            if self._is_probing or self._failed >= self._most:
                self._opened_at = time.monotonic() if failed else None
                self._is_probing = False
                self._period += 1


class Breakers:
    """The circuits of a process, one for each model, tool and host.

    Args:
        failures: in a row, after which a circuit opens.
        open_seconds: for which it stays open before one call is let through as a probe.

    Raises:
        ConfigurationError: `failures` is no whole number from 1 on, or `open_seconds` no number above 0.
    """

    def __init__(self, *, failures: int = 5, open_seconds: float = 30.0) -> None:
        if isinstance(failures, bool) or not isinstance(failures, int) or failures < 1:
            raise ConfigurationError(f"failures: a whole number from 1 on is required; given: {failures!r:.80}")
        is_number = isinstance(open_seconds, int | float) and not isinstance(open_seconds, bool)
        if not (is_number and 0 < open_seconds < float("inf")):
            raise ConfigurationError(f"open_seconds: a number above 0 is required; given: {open_seconds!r:.80}")
        self.failures, self.open_seconds = failures, open_seconds
        self._lock = Lock()
        self._circuits: dict[Hashable, Breaker] = {}

    def __repr__(self) -> str:
        return f"<Breakers after {self.failures} failures, for {self.open_seconds:g} s>"

    def get_breaker(self, of: Hashable) -> Breaker:
        """Return the circuit of a model, a tool or a host.

        Where there are too many, one that is well is forgotten, or else the one that was asked for least recently.
        """
        with self._lock:
            if (found := self._circuits.pop(of, None)) is None:
                while len(self._circuits) >= MAX_CIRCUITS:
                    well = (name for name, circuit in self._circuits.items() if circuit.is_well)
                    del self._circuits[next(well, None) or next(iter(self._circuits))]
                found = Breaker(self.failures, self.open_seconds)
            self._circuits[of] = found  # behind all others
            return found

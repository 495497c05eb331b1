"""How long a page may take and how large it may be, and what one page has taken so far."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping

from guardgraph.plain.errors import ReadFailure
from guardgraph.state.settings import MaxFloat, MaxInt, Settings

DAY = 24 * 60 * 60.0
"""Seconds that nothing waits longer than, whatever the limits: sockets and locks take no larger number than some."""


class WebLimits(Settings):
    """What one page may take: all hops, attempts and robots.txt together. A run's budget may say less, never more."""

    max_connect_seconds: MaxFloat = 5.0
    """Seconds for a connection: the name, the address and TLS."""
    max_first_byte_seconds: MaxFloat = 10.0
    """Seconds from the question to the first byte of its answer."""
    max_page_seconds: MaxFloat = 20.0
    """Seconds for the whole page, from the first look-up of its name to its text."""
    max_wire_bytes: MaxInt = 10_000_000
    """Bytes that may come over the network, heads too."""
    max_page_bytes: MaxInt = 20_000_000
    """Bytes of what was packed, once it is unpacked."""

    def within(self, asked: Mapping[str, float] | None) -> WebLimits:
        """Return these limits, tightened by those of a run.

        Args:
            asked: by name, for those that the run has; others are left alone.
        """
        known = {name: value for name, value in (asked or {}).items() if name in type(self).model_fields}
        return self.tightened_by(WebLimits.model_validate(known)) if known else self


class Meter:
    """What one page has taken of its limits. Asked for more, it raises `ReadFailure`."""

    def __init__(self, limits: WebLimits, run_seconds: float | None = None) -> None:
        now = time.monotonic()
        self.limits = limits
        self._ends = now + limits.max_page_seconds
        self._run_ends = math.inf if run_seconds is None else now + run_seconds
        self._wire = 0
        self._unpacked = 0

    @property
    def page_seconds_left(self) -> float:
        """Seconds that the page has left, below 0 when time is up."""
        return min(self._ends, self._run_ends) - time.monotonic()

    @property
    def max_queue_seconds(self) -> float:
        """Seconds that a page may wait for its turn: what the run has left; outside a run, what one page may take."""
        if math.isinf(self._run_ends):
            return self.limits.max_page_seconds
        return self._run_ends - time.monotonic()

    def check_seconds_left(self, name: str | None = None, since: float = 0.0) -> float:
        """Return the seconds that a step may take."""
        step_ends = math.inf if name is None else since + getattr(self.limits, name)
        left = min(self._ends, self._run_ends, step_ends) - time.monotonic()
        if left <= 0:
            raise self.make_timeout_failure(name if step_ends <= min(self._ends, self._run_ends) else None)
        return min(left, DAY)

    def make_timeout_failure(self, name: str | None = None) -> ReadFailure:
        """Return the failure that says which time is up: that of a step, of the run, or of the page."""
        if name is None and self._run_ends <= self._ends:
            return ReadFailure("timeout", {"limit": "max_seconds"})
        name = name or "max_page_seconds"
        return ReadFailure("timeout", {"limit": name, "seconds": getattr(self.limits, name)})

    def count_wire_bytes(self, size: int) -> None:
        """Count bytes that came over the network; raises ``too_large``."""
        self._wire += size
        self._check_byte_limit("max_wire_bytes", self._wire)

    def count_page_bytes(self, size: int) -> None:
        """Count bytes that were unpacked; raises ``too_large``, or ``timeout`` where that took too long."""
        self._unpacked += size
        self._check_byte_limit("max_page_bytes", self._unpacked)
        self.check_seconds_left()

    def exclude_site_delay(self, seconds: float) -> None:
        """Leave out of the page's time what a site wants its readers to wait."""
        self._ends += seconds

    def _check_byte_limit(self, name: str, taken: int) -> None:
        most = getattr(self.limits, name)
        if taken > most:
            raise ReadFailure("too_large", {"limit": name, "bytes": most})

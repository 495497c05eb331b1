"""A world in which time goes as a test says."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from guardgraph import LiveWorld


class Aging(LiveWorld):
    """A world whose calendar can be put forward."""

    ahead = 0

    def calendar(self):
        """Return the time that the test says."""
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=self.ahead)

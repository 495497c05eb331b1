"""What is worth another try: a connection that broke, and a server that is busy, for as long as it says."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

from guardgraph.plain.errors import ReadFailure
from guardgraph.web.limits import Meter

__all__ = ["retried", "seconds_of"]

ATTEMPTS = 3
"""How often one URL is asked at most."""

FIRST_WAIT = 0.1
"""Seconds before the second attempt; each further wait is three times as long."""

BUSY = frozenset({429, 502, 503, 504})
"""What a server answers that may answer with the page in a moment."""

_UNSHOWN = logging.NullHandler()

Answer = TypeVar("Answer")


def retried(ask: Callable[[], Answer], meter: Meter) -> Answer:
    """Ask until there is an answer, as long as that is worth it and the page has time.

    Args:
        ask: raises a `ReadFailure` where there is none.
        meter: what the page may take.

    Raises:
        ReadFailure: that of the last attempt.
    """
    import stamina

    logging.getLogger("stamina").addHandler(_UNSHOWN)  # or Python itself prints what it says
    waits = iter([FIRST_WAIT * 3**number for number in range(ATTEMPTS)])

    def wait(error: Exception) -> bool | float:
        seconds = _wanted(error, next(waits))
        return seconds if seconds is not None and seconds < meter.seconds_left else False

    for attempt in stamina.retry_context(on=wait, attempts=ATTEMPTS, timeout=None):
        with attempt:
            return ask()
    raise AssertionError("the last attempt returns or raises")


def seconds_of(header: str | None) -> float | None:
    """Read the header Retry-After, seconds or a date (RFC 9110, 10.2.3); None where it says nothing."""
    if header is None:
        return None
    if header.strip().isascii() and header.strip().isdigit():
        return float(header.strip()[:9])
    try:
        at = parsedate_to_datetime(header)
    except (ValueError, OverflowError):
        return None
    return max((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() - datetime.now(UTC).timestamp(), 0.0)


def _wanted(error: Exception, otherwise: float) -> float | None:
    if not isinstance(error, ReadFailure):
        return None
    otherwise *= random.uniform(1.0, 1.5)  # so that many who were sent away together do not come back together
    if error.reason == "connection" and "protocol" not in error.details:  # who speaks no HTTP will not learn it now
        return otherwise
    if error.reason == "http_status" and error.details["status"] in BUSY:
        after = error.details["retry_after"]
        return otherwise if after is None else after
    return None

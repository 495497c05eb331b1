"""Calls that hang until their test is over, so that it can say that nobody waited for them."""

import asyncio
import threading

from guardgraph import LiveWorld
from guardgraph.testing import ScriptedClock

HANGS = 300.0
"""Seconds after which a call that hangs ends by itself."""
PROMPTLY = 120.0
"""Seconds within which whoever leaves it is back, on a machine that is busy."""

_held = {"over": threading.Event()}
"""What is set when the test is over that calls hang for."""


def hang(request):
    """Take longer than any deadline."""
    _held["over"].wait(HANGS)


async def async_hang(request):
    """Take longer than any deadline, in an event loop, which may be that of a thread that was left behind."""
    over = _held["over"]
    async with asyncio.timeout(HANGS):
        while not over.is_set():
            await asyncio.sleep(0.05)


def standing(**given):
    """Return a world whose clock stands: a call has all of the run's time, however slowly a machine comes to it."""
    return LiveWorld(clock=ScriptedClock(), **given)


def released():
    """Let go of the threads that were left behind when a test is over, for the sake of the next one."""
    over = _held["over"] = threading.Event()
    yield
    over.set()

"""Calls that hang until their test is over, so that it can say that nobody waited for them."""

import asyncio
import threading

from guardgraph import LiveWorld
from guardgraph.testing import ScriptedClock

HANGS = 300.0
"""Seconds after which a call that hangs ends by itself."""
PROMPTLY = 120.0
"""Seconds within which whoever leaves it is back, on a machine that is busy."""

_over = threading.Event()


def hang(request):
    """Take longer than any deadline."""
    _over.wait(HANGS)


async def async_hang(request):
    """Take longer than any deadline, without a thread."""
    await asyncio.sleep(HANGS)


def standing():
    """Return a world whose clock stands: a call has all of the run's time, however slowly a machine comes to it."""
    return LiveWorld(clock=ScriptedClock())


def released():
    """Let go of the threads that were left behind when a test is over, for the sake of the next one."""
    _over.clear()
    yield
    _over.set()

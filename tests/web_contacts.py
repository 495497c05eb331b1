"""What a test contacts: an audit hook that sees every connection and every look-up of a name."""

import sys
import threading
from contextlib import contextmanager
from contextvars import ContextVar

_SEEN = ContextVar("seen", default=None)
"""What those who watch here have seen. Calls of a run and look-ups of readers carry the context they were made in."""
_LOOK_UPS = ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "socket.sendto")
_STARTS = ("_thread.start_new_thread", "_thread.start_joinable_thread")


def _hook(event, arguments):
    if event == "socket.connect":
        if isinstance(arguments[1], tuple):  # else another process of this machine, as of the pool that reads pages
            _note(arguments[1])
    elif event in _LOOK_UPS:
        _note((event, arguments[0]))
    elif event in _STARTS:  # a thread that begins without a context belongs to whoever starts it
        started = getattr(arguments[0], "__self__", None)
        if isinstance(started, threading.Thread):
            started.seen = _seen()


def _seen():
    """Return the list of whoever watches what is done here; threads that earlier tests left behind have none."""
    seen = _SEEN.get()
    return getattr(threading.current_thread(), "seen", None) if seen is None else seen


def _note(place):
    seen = _seen()
    if seen is not None:
        seen.append(place)


@contextmanager
def contacts():
    """Give the list of what is contacted meanwhile by whatever begins here, in any thread."""
    if not _hook.__dict__.get("added"):
        sys.addaudithook(_hook)  # stays for ever, and does nothing while nobody watches
        _hook.added = True
    seen = []
    token = _SEEN.set(seen)
    try:
        yield seen
    finally:
        _SEEN.reset(token)


def only_loopback():
    """Hold in a test that loopback alone was dialled, by any thread, and that the system was asked for no name."""
    with contacts() as seen:
        yield
    assert {place[0] for place in seen} <= {"127.0.0.1"}, seen

"""What a test contacts: an audit hook that sees every connection and every look-up of a name."""

import sys
import threading
from contextlib import contextmanager
from contextvars import ContextVar

_SEEN = ContextVar("seen", default=None)
"""What whoever watches here has seen: calls of a run and look-ups of readers carry the context they were made in."""
_WATCHES = []
"""The threads that were there before, and what was seen since."""
_LOOK_UPS = ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "socket.sendto")


def _hook(event, arguments):
    if not _WATCHES:
        return
    if event == "socket.connect":
        if isinstance(arguments[1], tuple):  # else another process of this machine, as of the pool that reads pages
            _note(arguments[1])
    elif event in _LOOK_UPS:
        _note((event, arguments[0]))


def _note(place):
    seen = _SEEN.get()
    if seen is None:  # a thread without a context: one that an earlier test left behind is nobody's
        before, latest = _WATCHES[-1]
        seen = None if threading.current_thread() in before else latest
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
    _WATCHES.append(({*threading.enumerate()}, seen))
    try:
        yield seen
    finally:
        _WATCHES.pop()
        _SEEN.reset(token)


def only_loopback():
    with contacts() as seen:
        yield
    assert {place[0] for place in seen} <= {"127.0.0.1"}, seen

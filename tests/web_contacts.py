"""What a process contacts: an audit hook that sees every connection and every look-up of a name."""

import sys
import threading
from contextlib import contextmanager

_watching = []
_LOOK_UPS = ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "socket.sendto")


def _hook(event, arguments):
    if not _watching:
        return
    thread, seen = _watching[-1]
    current = threading.current_thread()
    if thread is not None and current.ident != thread and current.name != "guardgraph-lookup":
        return  # another test's
    if event == "socket.connect":
        if isinstance(arguments[1], tuple):  # else another process of this machine, as of the pool that reads pages
            seen.append(arguments[1])
    elif event in _LOOK_UPS and arguments[0] != "127.0.0.1":  # an address is no name
        seen.append((event, arguments[0]))


@contextmanager
def contacts(*, everywhere=False):
    """Give the list of what this thread, and the look-ups of readers, contact meanwhile; or all threads do."""
    if not _hook.__dict__.get("added"):
        sys.addaudithook(_hook)  # stays for ever, and does nothing while nobody watches
        _hook.added = True
    seen = []
    _watching.append((None if everywhere else threading.get_ident(), seen))
    try:
        yield seen
    finally:
        _watching.pop()


def only_loopback():
    """Hold in a test that loopback alone was dialled, by any thread, and that the system was asked for no name."""
    with contacts(everywhere=True) as seen:
        yield
    assert {place[0] for place in seen} <= {"127.0.0.1"}, seen

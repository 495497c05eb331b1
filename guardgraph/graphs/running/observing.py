"""Observing a run: whoever observes its world is told of each session and of each node at work."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from guardgraph.graphs.running.frame import Frame, Part
from guardgraph.graphs.running.session import Session, Visit
from guardgraph.plain.json import JsonObject
from guardgraph.world.observing import SessionEnd, VisitBegun, VisitEnded, find_observer

_LEFT = (GeneratorExit, asyncio.CancelledError, KeyboardInterrupt)
"""What is raised in a session that somebody leaves."""


@contextmanager
def observe_session(frame: Frame, session: Session) -> Iterator[None]:
    """Have a session observed until it is left, where the graph's world has an observer."""
    if (observer := find_observer(frame.world)) is None:
        yield
        return
    observed = session.observed = observer.open_session(frame.name, frame.catalogue.pattern)
    try:
        yield
    except BaseException as error:
        observed.close("cancelled" if isinstance(error, _LEFT) else "failed", error)
        raise
    else:
        observed.close(_name_session_end(session), None)


def _name_session_end(session: Session) -> SessionEnd:
    if session.is_over:
        return "ended"
    return "paused" if session.waiting is None else "waiting"


@contextmanager
def observe_visit(part: Part, visit: Visit) -> Iterator[Callable[[JsonObject], JsonObject]]:
    """Have a node observed while it works; what it writes is to be passed through what this yields."""
    item, session = part.declaration, visit.session
    marks = [line["observed"] for line in visit.log if "observed" in line]
    begun = VisitBegun(
        session.run_id or "", session.thread, item.name, item.kind, item.phase, marks[0] if marks else None
    )
    assert session.observed is not None
    with session.observed.enter_visit(begun) as tell_end:

        def pass_on(update: JsonObject) -> JsonObject:
            tell_end(_describe_visit_end(part, update))
            return update

        yield pass_on


def _describe_visit_end(part: Part, update: JsonObject) -> VisitEnded:
    log = getattr(update.get("log"), "value", update.get("log"))  # the first node of a run overwrites what is there
    line = log[-1] if log else {}
    said = update.get("stop_reason", line.get("reason"))
    found = part.frame.catalogue.find(said) if isinstance(said, str) else None
    return VisitEnded(update, line, said if found is None else found.reason)

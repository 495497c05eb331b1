"""The recording of a run, put together by its terminal from the log and from what the nodes called."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from guardgraph.graphs.conclusion import Conclusion
from guardgraph.graphs.frame import Frame
from guardgraph.plain.hashing import digest
from guardgraph.plain.json import copied, nameless, storable
from guardgraph.plain.version import version
from guardgraph.state.recording import (
    FORMAT,
    Fingerprints,
    RecordedVisit,
    Recording,
    VisitRecord,
)
from guardgraph.state.run import LogEntry

__all__ = ["recording", "watched", "watchers"]

Watch: TypeAlias = Callable[[Frame, Recording], None]
"""What is given every recording of the process, for tests."""

_watching: list[Watch] = []


def watchers() -> list[Watch]:
    """Return who is given the recordings beside the graph's own recorder."""
    return _watching


@contextmanager
def watched(watch: Watch) -> Iterator[None]:
    """Give every recording of this process to `watch` while the block lasts; for tests."""
    _watching.append(watch)
    try:
        yield
    finally:
        _watching.remove(watch)


def recording(over: Conclusion) -> Recording:
    """Return the recording of a run that is over; whoever keeps it may do with it what they like."""
    frame, records = over.part.frame, over.records
    calls = [call for at in sorted(records) for call in records[at]["calls"]]
    policy, budget = frame.settings_fingerprints
    made = Recording(
        format=FORMAT,
        guardgraph=version(),
        pattern=frame.catalogue.pattern,
        graph=frame.name,
        run_id=over.state["run"],
        input=storable(given := over.state.get("given") or {}, around=1),
        policy=frame.settings[0],
        budget=frame.settings[1],
        fingerprints=Fingerprints(
            policy=policy,
            budget=budget,
            declarations=frame.fingerprint,
            prompts=digest(sorted({call["prompt"] for call in calls if "prompt" in call})),
        ),
        visits=[_visit(entry, records.get(at)) for at, entry in enumerate(over.log)],
        calls=calls,
        result=over.result,
    )
    if made["input"] is not given and (places := nameless(given)):
        made["nameless"] = places
    recorded: Recording = copied(made)
    return recorded


def _visit(entry: LogEntry, record: VisitRecord | None) -> RecordedVisit:
    clock = entry.get("clock") or [0.0]  # a line that version 0.1 wrote has none
    visit = RecordedVisit(node=entry["node"], kind=entry["kind"], clock=clock)
    if "opening" in entry:
        visit["opening"] = entry["opening"]
    if record is not None and "answers" in record:
        visit["answers"] = record["answers"]
    return visit

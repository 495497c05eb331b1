"""The recording of a run, put together by its terminal from the log and from what the nodes called."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from guardgraph.graphs.frame import Frame, Part
from guardgraph.state.hashing import digest
from guardgraph.state.json import JsonObject
from guardgraph.state.plain import copied, nameless, storable
from guardgraph.state.recording import (
    FORMAT,
    Fingerprints,
    RecordedVisit,
    Recording,
    VisitRecord,
)
from guardgraph.state.run import LogEntry
from guardgraph.state.version import version

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


def recording(
    part: Part, state: JsonObject, log: list[LogEntry], records: dict[int, VisitRecord], result: JsonObject
) -> Recording:
    """Return the recording of a run that ends here.

    Args:
        part: the terminal.
        state: what the terminal reads.
        log: every line, the terminal's last.
        records: what the nodes called, by their place in the log.
        result: the run's.
    """
    frame = part.frame
    calls = [call for at in sorted(records) for call in records[at]["calls"]]
    policy, budget = frame.settings_fingerprints
    made = Recording(
        format=FORMAT,
        guardgraph=version(),
        pattern=frame.catalogue.pattern,
        graph=frame.name,
        run_id=state["run"],
        input=storable(given := state.get("given") or {}),
        policy=frame.settings[0],
        budget=frame.settings[1],
        fingerprints=Fingerprints(
            policy=policy,
            budget=budget,
            declarations=frame.fingerprint,
            prompts=digest(sorted({call["prompt"] for call in calls if "prompt" in call})),
        ),
        visits=[_visit(entry, records.get(at)) for at, entry in enumerate(log)],
        calls=calls,
        result=result,
    )
    if places := nameless(given):
        made["nameless"] = places
    recorded: Recording = copied(made)  # whoever keeps it may do with it what they like
    return recorded


def _visit(entry: LogEntry, record: VisitRecord | None) -> RecordedVisit:
    clock = entry.get("clock") or [0.0]  # a line that version 0.1 wrote has none
    visit = RecordedVisit(node=entry["node"], kind=entry["kind"], clock=clock)
    if "opening" in entry:
        visit["opening"] = entry["opening"]
    if record is not None and "answers" in record:
        visit["answers"] = record["answers"]
    return visit

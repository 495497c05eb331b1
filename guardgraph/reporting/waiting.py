"""What a run waits for: what the person is shown, and how the run goes on."""

from __future__ import annotations

from collections.abc import Iterator

from guardgraph.plain.json import JsonObject
from guardgraph.reporting.elements import Child, Html, tag
from guardgraph.reporting.reading import Reading
from guardgraph.reporting.values import facts, named, value

__all__ = ["waiting"]


def waiting(reading: Reading) -> Iterator[tuple[str, Html]]:
    """Yield sections with their titles, for a run that waits."""
    asked = reading.waiting_for
    if asked is None:
        return
    yield "Shown to the person", tag("div", value(asked.get("shown")), class_="card")
    yield "How to go on", tag("div", facts(_told(asked)), class_="card")


def _told(asked: JsonObject) -> Iterator[tuple[str, Child]]:
    if "problem" in asked:
        yield "last answer", named(asked["problem"])
    yield "asked by", tag("code", named(asked.get("node")))
    yield "hash", tag("code", named(asked.get("hash")))
    answer = tag("code", '{"hash": …, "decision": "approve" | "reject"}')
    yield "answer", tag("p", "Resume the run on its thread with the hash and a decision: ", answer)

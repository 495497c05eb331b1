"""A run as a page reads it: what its result says of itself, checked once, and the graph that it is a run of."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, get_args

from langgraph.graph import END, START
from langgraph.graph.state import CompiledStateGraph

from guardgraph.drawing.diagram import Diagram, Taken, make_diagram, read_way_of_run
from guardgraph.evidence.store import Position
from guardgraph.graphs.patterns import PATTERNS, ShippedPattern
from guardgraph.graphs.proof.topology import Topology
from guardgraph.graphs.running.langgraph import INTERRUPT
from guardgraph.plain.errors import InputError
from guardgraph.plain.json import RESULT_DEPTH, JsonObject, JsonValue, is_nested_too_deep
from guardgraph.state.catalogue import Catalogue, StopReason
from guardgraph.state.run import RECORDED, Kind

HEAD = frozenset({*RECORDED, "pattern", "outcome"})
"""Keys of a result that say how the run went; the others are what came of it, or the evidence."""


@dataclass(frozen=True, slots=True)
class TimelineRow:
    """A node that ran."""

    node: str
    kind: Kind | None  # None where the result does not say
    phase: str
    elapsed_ms: float | None
    told: JsonObject  # whatever else the timeline says of it: a proposal, a verdict


@dataclass(frozen=True, slots=True)
class RunReading:
    """A run, read."""

    run: JsonObject
    taken: Taken
    entries: tuple[TimelineRow, ...]
    graph: Diagram | None  # the graph with the way of the run; None if nobody gave it and it is none of ours
    catalogue: Catalogue | None
    asked: JsonValue
    position: Position | None = None  # where the run stands in the chain of a store

    @property
    def matching_pattern(self) -> ShippedPattern | None:
        """The pattern that it is a run of, None if it is none of ours."""
        return PATTERNS.get(self.catalogue.pattern) if self.catalogue else None

    @property
    def pattern_name(self) -> str | None:
        """The name of the pattern, None where nobody says."""
        named = self.run.get("pattern")
        return self.catalogue.pattern if self.catalogue else named if isinstance(named, str) else None

    @property
    def result_content(self) -> JsonObject:
        """What came of the run, or the evidence of a stopped one."""
        return {key: item for key, item in self.run.items() if key not in HEAD}

    @property
    def pending_request(self) -> JsonObject | None:
        """What a run that waits for a person shows; None for one that is finished."""
        asked = self.run["waiting_for"] if self.taken.way_status == "waiting" else None
        return asked if isinstance(asked, dict) else None

    @property
    def stop_reason_entry(self) -> StopReason | None:
        """What the catalogue says of the stop reason; without a catalogue, if all patterns say the same."""
        catalogues = [self.catalogue] if self.catalogue else [item.catalogue for item in PATTERNS.values()]
        found = [item for catalogue in catalogues if (item := catalogue.find(self.taken.reason)) is not None]
        return found[0] if len({item.meaning for item in found}) == 1 else None

    @property
    def total_active_ms(self) -> float:
        """The time that the nodes took together."""
        return math.fsum(entry.elapsed_ms or 0.0 for entry in self.entries)

    def list_result_steps(self, record: str) -> list[JsonObject]:
        """Return the completed steps as ``trace`` or ``history`` tells them."""
        steps = self.run.get(record)
        return [step for step in steps if isinstance(step, dict)] if isinstance(steps, list) else []

    def find_result_step(self, record: str, number: object) -> JsonObject:
        """Return what a record tells of one completed step, by its number; nothing if it does not know it."""
        return next((step for step in self.list_result_steps(record) if step.get("step") == number), {})


def read_reported_run(
    run: object, graph: CompiledStateGraph[Any, Any, Any, Any] | None, asked: object, position: Position | None = None
) -> RunReading:
    """Read the result of a run."""
    taken = read_way_of_run(run)
    given = {key: item for key, item in run.items() if key != INTERRUPT} if isinstance(run, dict) else run
    plain: JsonObject = parse_reported_json("run", given)
    entries = tuple(_read_timeline_entries(plain, taken))
    drawn: Diagram | None = None
    catalogue: Catalogue | None = None
    if graph is not None:
        drawn, frame = make_diagram(graph, plain), Topology(graph).frame
        catalogue = None if frame is None else frame.catalogue
    else:
        for number, name in enumerate(taken.path, 1):
            if name in (START, END):
                raise InputError(f"run: path: entry {number} is the name of no node; given: {name!r:.80}")
        named = plain.get("pattern")
        shipped = PATTERNS.get(named) if isinstance(named, str) else None
        if shipped is not None and (drawn := _draw_reported_run(shipped, plain)) is not None:
            catalogue = shipped.catalogue
    return RunReading(plain, taken, entries, drawn, catalogue, parse_reported_json("asked", asked), position)


def parse_reported_json(name: str, item: object) -> JsonValue:
    """Return what somebody gave as plain JSON."""
    try:
        text = json.dumps(item)
        plain: JsonValue = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"{name}: plain JSON is required; given: {error}") from None
    if is_nested_too_deep(text, plain, RESULT_DEPTH):
        raise InputError(f"{name}: at most {RESULT_DEPTH} levels of nesting are allowed; given: more")
    return plain


def _draw_reported_run(pattern: ShippedPattern, run: JsonObject) -> Diagram | None:
    try:
        return make_diagram(pattern.create_agent(), run)
    except InputError:  # a user's own pattern may have the name, and another version other nodes
        return None


def _read_timeline_entries(run: JsonObject, taken: Taken) -> Iterator[TimelineRow]:
    """Yield the nodes that ran; a result without a timeline has their names alone."""
    timeline = run.get("timeline", [{"node": node} for node in taken.path])
    if not isinstance(timeline, list):
        raise InputError(f"run: timeline: a list is required; given: {type(timeline).__name__}")
    for number, told in enumerate(timeline, 1):
        node = told.get("node") if isinstance(told, Mapping) else None
        if not isinstance(node, str):
            raise InputError(f"run: timeline: entry {number} names no node; given: {json.dumps(told):.80}")
        if node not in taken.path:
            raise InputError(f"run: timeline: entry {number} is of a node that is not on the path; given: {node!r:.80}")
        kind, phase = told.get("kind"), told.get("phase")
        known = {"node", "kind", "phase", "elapsed_ms"}
        rest = {key: item for key, item in told.items() if key not in known}
        kind = kind if kind in get_args(Kind) else None
        yield TimelineRow(node, kind, phase if isinstance(phase, str) else "", _parse_elapsed_ms(told), rest)


def _parse_elapsed_ms(told: Mapping[str, JsonValue]) -> float | None:
    elapsed = told.get("elapsed_ms")
    if isinstance(elapsed, bool) or not isinstance(elapsed, int | float) or not 0 <= elapsed <= sys.float_info.max:
        return None
    return float(elapsed)

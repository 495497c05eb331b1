"""The way of a run through a graph, as its result tells it."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Literal

from langgraph.graph import END, START

from guardgraph.graphs.proof.topology import Topology
from guardgraph.plain.errors import InputError
from guardgraph.state.catalogue import SUCCESS


@dataclass(frozen=True, slots=True)
class Taken:
    """The way of a run that is finished, or waits for a person."""

    path: tuple[str, ...]
    reason: str
    outcome: str
    waiting: bool = False
    """Whether it waits for a person at the last node of its path; it has no reason yet."""

    @property
    def is_ok_way(self) -> bool:
        """Whether the run ended well."""
        return self.reason == SUCCESS

    @property
    def way_status(self) -> Literal["ok", "stopped", "waiting"]:
        """How the run stands."""
        return "waiting" if self.waiting else "ok" if self.is_ok_way else "stopped"

    @property
    def ending_label(self) -> str:
        """What came of the run in a word: the outcome, the stop reason, or the node where it waits."""
        return {"ok": self.outcome or self.reason, "stopped": self.reason, "waiting": self.path[-1]}[self.way_status]

    def is_waiting_node(self, name: str) -> bool:
        """Say whether the run waits at a node."""
        return self.waiting and name == self.path[-1]

    @property
    def edges_on_way(self) -> list[tuple[str, str]]:
        """The edges that the run took, from START on."""
        return list(itertools.pairwise((START, *self.path, *(() if self.waiting else (END,)))))


def read_way_of_run(run: object) -> Taken:
    """Return the way of a run that is finished or waits, whatever its graph."""
    given = run if isinstance(run, dict) else {}
    waiting = given.get("status") == "waiting" and isinstance(given.get("waiting_for"), dict)
    path, reason, outcome = given.get("path"), "" if waiting else given.get("stop_reason"), given.get("outcome", "")
    if not isinstance(path, list) or not path or not isinstance(reason, str):
        keys = "path, a list of node names, and stop_reason, or of one that waits, with path and waiting_for"
        raise InputError(
            f"run: the result of a finished run is required, with {keys}; given: {_describe_wrong_run(run)}"
        )
    for number, name in enumerate(path, 1):
        if not isinstance(name, str):
            asked = "run: the result of a finished run is required"
            raise InputError(f"{asked}; path: entry {number} is the name of no node; given: {name!r:.80}")
    return Taken(tuple(path), reason, outcome if isinstance(outcome, str) else "", waiting)


def fit_way_to_graph(shape: Topology, taken: Taken) -> Taken:
    """Return the way of a run, if it is one through a graph."""
    if unknown := [name for name in taken.path if name not in shape.nodes]:
        raise InputError(f"run: a run of another graph; {shape.graph.get_name()} has no node {unknown[0]!r:.80}")
    for name, following in taken.edges_on_way:
        if following not in shape.list_following_nodes(name):
            raise InputError(f"run: a run of another graph; no edge leads from {name} to {following}")
    return taken


def _describe_wrong_run(run: object) -> str:
    if not isinstance(run, dict):
        return type(run).__name__
    return f"a dictionary with {', '.join(sorted(map(str, run)))}"[:200] if run else "an empty dictionary"

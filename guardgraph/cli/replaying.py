"""`guardgraph audit verify --replay`: kept runs, decided again by the installed build."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import guardgraph
from guardgraph.cli.screen import Screen
from guardgraph.evidence.what_if import load_candidate_agent
from guardgraph.plain.errors import GuardgraphError
from guardgraph.plain.json import JsonObject

if TYPE_CHECKING:
    from guardgraph.evidence.judged import Row

_SAME = "same"
_PARTED = "changed"


@dataclass
class Replayed:
    """What became of kept runs that were decided again."""

    same: int = 0
    parted: list[JsonObject] = field(default_factory=list)
    """Runs that end otherwise, with how they ended and end now."""
    left: list[JsonObject] = field(default_factory=list)
    """Runs that could not be decided again, with why."""

    def plain(self) -> JsonObject:
        """Return it as plain JSON."""
        return {"same": self.same, "parted": self.parted, "not_replayed": self.left}

    def add_row(self, row: Row) -> None:
        """Count one run."""
        if row.kind == _SAME:
            self.same += 1
        elif row.kind == _PARTED:
            self.parted.append({"run_id": row.run_id, "was": str(row.old), "is": str(row.new)})
        else:
            self.left.append({"run_id": row.run_id, "why": row.reason})


def replay_store_runs(runs: Iterable[guardgraph.StoredRun], agents: Iterable[str]) -> Replayed:
    """Decide kept runs again: by the agents that are named, else by the shipped ones under the recorded settings."""
    named = {agent.frame.catalogue.pattern: agent for agent in map(load_candidate_agent, agents)}
    made: dict[str, Any] = {}
    found = Replayed()
    for run in runs:
        recording: Mapping[str, Any] = run.recording or {}
        try:
            agent = named.get(recording.get("pattern", "")) or _make_recorded_agent(recording, made)
        except GuardgraphError as error:
            found.left.append({"run_id": run.run_id, "why": str(error)})
            continue
        found.add_row(guardgraph.what_if(agent, [run]).rows[0])
    return found


def _make_recorded_agent(recording: Mapping[str, Any], made: dict[str, Any]) -> Any:
    """Return the shipped agent of a recording's pattern under its policy and budget."""
    from guardgraph.graphs.patterns import PATTERNS

    shipped = PATTERNS.get(recording.get("pattern", ""))
    if shipped is None:
        raise guardgraph.ConfigurationError("--agent: required for a pattern of one's own, and for an erased run")
    given = {name: recording[name] for name in ("policy", "budget")}
    key = json.dumps([shipped.name, given], sort_keys=True)
    if key not in made:
        policy, budget = shipped.settings_classes
        made[key] = shipped.create_agent(
            policy=policy.model_validate(given["policy"]), budget=budget.model_validate(given["budget"])
        )
    return made[key]


def print_replayed(screen: Screen, replayed: Replayed) -> None:
    """Print what became of the runs."""
    screen.print_text(
        f"replayed: {replayed.same} the same, {len(replayed.parted)} part, {len(replayed.left)} not replayed", indent=0
    )
    for run in replayed.parted:
        screen.print_text((f"run {run['run_id']}: {run['was']} -> {run['is']}", "red"), hang=2)
    for run in replayed.left:
        screen.print_text(f"run {run['run_id']} was not replayed: {run['why']}", hang=2)

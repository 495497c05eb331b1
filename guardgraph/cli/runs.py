"""The runs that commands make, followed node by node."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import guardgraph
from guardgraph.graphs.patterns import PATTERNS, ShippedPattern
from guardgraph.plain.json import JsonObject
from guardgraph.state.catalogue import SUCCESS


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """A run that is about to be made."""

    pattern: ShippedPattern
    agent: guardgraph.GuardedGraph
    request: JsonObject
    asked: str  # what a person reads as the request
    model: str | None  # as it was named; None for the offline rules
    remarks: Mapping[str, str]  # what to know of it, by label
    config: JsonObject = field(default_factory=dict)  # LangGraph's, with the thread where a checkpointer keeps the run
    context: JsonObject | None = None  # who asks, where somebody is named
    resume: str | None = None
    """Options of `guardgraph review` for whoever decides, where the run that waits is kept beyond the command."""


def plan_run(name: str, request: JsonObject, model: str | None, **settings: Any) -> PlannedRun:
    """Plan a run of a shipped pattern; a missing key is said before anything is shown of it."""
    pattern = PATTERNS[name]
    agent = pattern.create_agent(model, **settings)
    agent.open()
    return PlannedRun(pattern, agent, request, pattern.read_request(request), model, pattern.remarks)


def follow_run_on_screen(
    run: PlannedRun, show: Callable[[str, JsonObject, JsonObject], None] | None = None
) -> JsonObject:
    """Make a run and return its result, or what it shows if it waits for a person."""
    from guardgraph.graphs.running.session import Session  # loads LangGraph, for which help need not wait

    writes: Any = {}
    session = Session(run.agent.frame.world)
    config = session.put_in_config(run.config)
    for update in run.agent.stream(run.request, config, context=run.context, stream_mode="updates"):
        for node, writes in update.items():
            if session.waiting is not None:
                return session.waiting
            if show is not None:
                show(node, run.agent.builder.nodes[node].metadata or {}, writes)
    result: JsonObject = writes  # the last node is a terminal, and a terminal writes the result
    return result


def is_ok_result(result: JsonObject) -> bool:
    """Say whether a run ended well."""
    return result.get("stop_reason") == SUCCESS


def is_waiting_result(result: JsonObject) -> bool:
    """Say whether a run waits for a person."""
    return result.get("status") == "waiting"

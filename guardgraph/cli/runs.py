"""The runs that commands make, followed node by node."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import guardgraph
from guardgraph.cli import inputs
from guardgraph.state.catalogue import SUCCESS
from guardgraph.state.json import JsonObject

__all__ = ["PlannedRun", "critique_run", "demo_runs", "follow", "is_ok", "rag_run", "research_run"]


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """A run that is about to be made."""

    pattern: str
    """As the catalogues name it."""
    agent: guardgraph.GuardedGraph
    request: JsonObject
    asked: str
    """What a person reads as the request."""
    model: str | None
    """As it was named; None for the offline rules."""


def rag_run(question: str, *, kb: str | None = None, model: str | None = None) -> PlannedRun:
    """Plan an answer from a folder, from the demo's documents if that is None."""
    agent = guardgraph.create_rag_agent(model, knowledge_base=inputs.folder_named(kb))
    return PlannedRun("rag", agent, {"question": question}, question, model)


def research_run(question: str | None = None, *, goal: str | None = None, model: str | None = None) -> PlannedRun:
    """Plan a brief; question and goal are the demo's where they are None."""
    request = inputs.research_request(question)
    given = {"goal": inputs.RESEARCH_GOAL if goal is None else goal, "request": request}
    agent = guardgraph.create_research_agent(model)
    return PlannedRun("research", agent, given, request["request"]["question"], model)


def critique_run(context: str | None = None, *, goal: str | None = None, model: str | None = None) -> PlannedRun:
    """Plan a text about the incident in a file; file and goal are the demo's where they are None."""
    wanted = inputs.CRITIQUE_GOAL if goal is None else goal
    given = {"goal": wanted, "incident_context": inputs.incident_context(context)}
    return PlannedRun("self_critique", guardgraph.create_self_critique_agent(model), given, wanted, model)


def demo_runs(model: str | None = None) -> list[PlannedRun]:
    """Plan the three runs of the demo."""
    return [rag_run(inputs.DEMO_QUESTION, model=model), research_run(model=model), critique_run(model=model)]


def follow(run: PlannedRun, show: Callable[[str, JsonObject, JsonObject], None] | None = None) -> JsonObject:
    """Make a run and return its result.

    Args:
        run: the run.
        show: called after each node with its name, what it declares of itself, and what it wrote.
    """
    writes: Any = {}
    for update in run.agent.stream(run.request, stream_mode="updates"):
        for node, writes in update.items():
            if show is not None:
                show(node, run.agent.builder.nodes[node].metadata or {}, writes)
    result: JsonObject = writes  # the last node is a terminal, and a terminal writes the result
    return result


def is_ok(result: JsonObject) -> bool:
    """Say whether a run ended well."""
    return bool(result["stop_reason"] == SUCCESS)

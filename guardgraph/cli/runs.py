"""The runs that commands make, followed node by node."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import guardgraph
from guardgraph.cli import inputs
from guardgraph.cli.inputs import open_kb_option
from guardgraph.graphs.patterns import PATTERNS, ShippedPattern
from guardgraph.plain.json import JsonObject
from guardgraph.state.catalogue import SUCCESS
from guardgraph.tools.demo import CRITIQUE_GOAL, RESEARCH_GOAL, load_demo_incident, load_demo_request

if TYPE_CHECKING:
    from guardgraph.state.context import Caller


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


def prepare_rag_command(
    question: str,
    *,
    history: str | None = None,
    kb: str | None = None,
    model: str | None = None,
    caller: Caller | None = None,
    **settings: Any,
) -> PlannedRun:
    """Plan an answer from a folder or an index, from the demo's documents if that is None."""
    turns = {} if history is None else {"history": inputs.load_history_option(history)}
    found = {} if kb is None else open_kb_option(kb)
    planned = _prepare_command("rag", {"question": question, **turns}, model, **found, **settings)
    if "knowledge_base" in found:
        who = "anybody (no --tenant, --user or --group is given)" if caller is None else "this caller"
        planned = replace(planned, remarks={"documents": f"only those that {who} may read; see `guardgraph kb search`"})
    return planned if caller is None else replace(planned, context={"caller": caller.model_dump()})


def prepare_research_command(
    question: str | None = None, *, goal: str | None = None, model: str | None = None, **settings: Any
) -> PlannedRun:
    """Plan a brief; question and goal are the demo's where they are None."""
    request = load_demo_request()
    if question is not None:
        request = {**request, "request": {**request["request"], "question": question}}
    given = {"goal": RESEARCH_GOAL if goal is None else goal, "request": request}
    return _prepare_waiting_command("research", given, model, **settings)


def prepare_web_command(
    question: str, *, goal: str | None = None, model: str | None = None, search: Any, reader: Any, **settings: Any
) -> PlannedRun:
    """Plan a brief from pages that a search finds and a reader reads; the goal is the question where it is None."""
    given = {"goal": question if goal is None else goal, "request": {"request": {"question": question}}}
    planned = _prepare_command("research", given, model, search=search, reader=reader, **settings)
    return replace(planned, remarks={})


def prepare_critique_command(
    context: str | None = None, *, goal: str | None = None, model: str | None = None, **settings: Any
) -> PlannedRun:
    """Plan a text about the incident in a file; file and goal are the demo's where they are None."""
    incident = load_demo_incident() if context is None else inputs.read_json_option("--context", context)
    request = {"goal": CRITIQUE_GOAL if goal is None else goal, "incident_context": incident}
    return _prepare_waiting_command("self_critique", request, model, **settings)


def prepare_tools_command(task: str | None = None, *, model: str | None = None, **settings: Any) -> PlannedRun:
    """Plan a task for the demo's office; the demo's where it is None."""
    request = PATTERNS["tools"].demo() if task is None else {"task": task}
    return _prepare_waiting_command("tools", request, model, **settings)


def _prepare_waiting_command(
    name: str, request: JsonObject, model: str | None, *, again: str = "", **settings: Any
) -> PlannedRun:
    """Plan a run that may wait for a person: in this process, or kept for another command that decides."""
    from langgraph.checkpoint.memory import InMemorySaver  # loads LangGraph, for which help need not wait

    is_kept = "checkpointer" in settings
    planned = _prepare_command(name, request, model, **{"checkpointer": InMemorySaver(), **settings})
    resume = f"--by WHO --graph {planned.pattern.command} {again}".rstrip() if is_kept else None
    return replace(planned, config={"configurable": {"thread_id": str(uuid4())}}, resume=resume)


def prepare_demo_commands(model: str | None = None) -> list[PlannedRun]:
    """Plan the demo's run of each pattern."""
    return [_prepare_command(name, pattern.demo(), model) for name, pattern in PATTERNS.items()]


def _prepare_command(name: str, request: JsonObject, model: str | None, **settings: Any) -> PlannedRun:
    pattern = PATTERNS[name]
    agent = pattern.create_agent(model, **settings)
    agent.open()  # a missing key is said before anything is shown of the run
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

"""The three agents with proposers and tools that cost nothing: functions that return values prepared beforehand.

The values are what the offline rules and the recordings of the demos say, so these runs end well and carry what a run
of the demo carries.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import guardgraph
from guardgraph import GuardedGraph, RagPolicy, create_rag_agent, create_research_agent, create_self_critique_agent
from guardgraph.graphs.rag import DEMO_SOURCES
from guardgraph.nodes.offline import rag, research, self_critique
from guardgraph.tools.knowledge_base import demo_documents
from guardgraph.tools.lexical import LexicalRetriever
from guardgraph.tools.recordings import recorded_notes, recorded_reader, recorded_search

_DATA = Path(guardgraph.__file__).parent / "tools" / "data"

Outside = Callable[[dict[str, Any]], Any]


@dataclass(frozen=True)
class Scripted:
    """An agent, what it is given, and what comes of it."""

    pattern: str
    make: Callable[..., GuardedGraph]
    """The factory; takes a checkpointer."""
    given: dict[str, Any]
    result: dict[str, Any]
    """Of one run."""


def scripted_agents(*, coroutines: bool = False) -> list[Scripted]:
    """Return the scripted agents, RAG, Research and Self-critique.

    Args:
        coroutines: proposers and tools are coroutine functions, as an async application has them.
    """
    sources = {"allowed_sources_policy": DEMO_SOURCES, "allowed_sources_execution": DEMO_SOURCES}
    rag_agent = partial(create_rag_agent, policy=RagPolicy(**sources))
    rag_parts = {"planner": rag.plan, "answerer": rag.answer, "retriever": LexicalRetriever(demo_documents())}
    research_parts = {
        "planner": research.plan,
        "writer": research.answer,
        "search": recorded_search(),
        "reader": recorded_reader(),
        "extractor": recorded_notes(),
    }
    critique_parts = {
        "drafter": self_critique.draft,
        "shortener": self_critique.shorten,
        "critic": self_critique.critique,
        "reviser": self_critique.revise,
    }
    question = {"question": "What SLA applies to enterprise plan and what is P1 first response target?"}
    goal = "Summarise the payments incident with citations."
    brief = {"goal": goal, "request": _demo("research_request")}
    incident = {"goal": "Draft a customer update.", "incident_context": _demo("self_critique_incident_context")}
    return [
        _scripted("rag", rag_agent, rag_parts, question, coroutines=coroutines),
        _scripted("research", create_research_agent, research_parts, brief, coroutines=coroutines),
        _scripted("self_critique", create_self_critique_agent, critique_parts, incident, coroutines=coroutines),
    ]


def _demo(name: str) -> Any:
    return json.loads((_DATA / f"{name}.json").read_text(encoding="utf-8"))


def _scripted(
    pattern: str,
    create: Callable[..., GuardedGraph],
    parts: dict[str, Outside],
    given: dict[str, Any],
    *,
    coroutines: bool,
) -> Scripted:
    said: dict[str, dict[str | None, Any]] = {slot: {} for slot in parts}
    create(**{slot: _remembering(part, said[slot]) for slot, part in parts.items()}).invoke(given)
    prepared = _prepared_coroutine if coroutines else _prepared
    make = partial(create, **{slot: prepared(values) for slot, values in said.items()})
    result = (create(**{slot: _prepared(values) for slot, values in said.items()})).invoke(given)
    if result["stop_reason"] != "success":
        raise RuntimeError(f"the scripted {pattern} run ended with {result['stop_reason']}; success is required")
    return Scripted(pattern, make, given, result)


def _remembering(part: Outside, said: dict[str | None, Any]) -> Outside:
    def asked(request: dict[str, Any]) -> Any:
        said[request.get("url")] = value = part(request)
        return value

    return asked


def _prepared(said: dict[str | None, Any]) -> Outside:
    """Return a function that returns what was said; only a reader is asked for more than one thing."""

    def prepared(request: dict[str, Any]) -> Any:
        return said[request.get("url")]

    return prepared


def _prepared_coroutine(said: dict[str | None, Any]) -> Outside:
    async def prepared(request: dict[str, Any]) -> Any:
        return said[request.get("url")]

    return prepared

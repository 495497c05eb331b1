"""The three agents with proposers and tools that cost nothing: functions that return values prepared beforehand.

The values are what the offline rules and the recordings of the demos say, so these runs end well and carry what a run
of the demo carries; but every run is given, and is told, texts that no run before it had.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from fresh import in_turn, marked, word_of, words

import guardgraph
from guardgraph import GuardedGraph, RagPolicy, create_rag_agent, create_research_agent, create_self_critique_agent
from guardgraph.graphs.rag import DEMO_SOURCES
from guardgraph.nodes.offline import rag, research, self_critique
from guardgraph.tools.knowledge_base import demo_documents
from guardgraph.tools.lexical import LexicalRetriever
from guardgraph.tools.recordings import make_recorded_extractor, make_recorded_reader, make_recorded_search

_DATA = Path(guardgraph.__file__).parent / "tools" / "data"

Outside = Callable[[dict[str, Any]], Any]
Said = dict[str | None, Any]
"""What one of them said, by the URL that it was asked for; most are asked for none."""
Recipe = tuple[Callable[..., GuardedGraph], dict[str, Any], dict[str, Outside], dict[str, Any]]
"""A factory, its policy as an argument, who proposes and which tools there are, likewise, and what a run is given."""


@dataclass(frozen=True)
class Scripted:
    """An agent, what it is given, and what comes of it."""

    pattern: str
    make: Callable[..., GuardedGraph]
    """The factory; takes a checkpointer."""
    given: Callable[[], dict[str, Any]]
    """Returns the next run's input."""
    result: dict[str, Any]
    """Of one run."""
    arguments: dict[str, Any]
    """What the same agent written by hand takes: policy, proposers and tools."""


def scripted_agents(*, coroutines: bool = False) -> list[Scripted]:
    """Return the scripted agents of all patterns.

    Args:
        coroutines: proposers and tools are coroutine functions, as an async application has them.
    """
    return [scripted_agent(pattern, coroutines=coroutines) for pattern in _AGENTS]


def scripted_agent(pattern: str, *, coroutines: bool = False) -> Scripted:
    """Return the scripted agent of a pattern: ``rag``, ``research`` or ``self_critique``; see `scripted_agents`.

    Raises:
        RuntimeError: its run does not end with success.
    """
    create, settings, parts, given = _AGENTS[pattern]()
    said: dict[str, Said] = {slot: {} for slot in parts}
    remembering = {slot: _remembering(part, said[slot]) for slot, part in parts.items()}
    create(**settings, **remembering).invoke(given)
    kind = _as_coroutine if coroutines else _as_function
    prepared = {slot: _prepared(slot, said[slot]) for slot in parts}
    arguments = {**settings, **{slot: kind(prepared[slot]) for slot in parts}}
    return _tried(pattern, partial(create, **arguments), given, partial(create, **settings, **prepared), arguments)


def offline_agent(pattern: str) -> Scripted:
    """Return the agent of a pattern as its factory makes it, with our own offline rules, recordings and retriever.

    Raises:
        RuntimeError: its run does not end with success.
    """
    create, settings, parts, given = _AGENTS[pattern]()
    make = partial(create, **settings)
    return _tried(pattern, make, given, make, {**settings, **parts})


def _tried(
    pattern: str,
    make: Callable[..., GuardedGraph],
    given: dict[str, Any],
    trial: Callable[..., GuardedGraph],
    arguments: dict[str, Any],
) -> Scripted:
    fresh = in_turn([marked(given, word) for word in words()])
    result = trial().invoke(fresh())
    if result["stop_reason"] != "success":
        raise RuntimeError(f"the scripted {pattern} run ended with {result['stop_reason']}; success is required")
    return Scripted(pattern, make, fresh, result, arguments)


def _rag() -> Recipe:
    policy = RagPolicy(allowed_sources_policy=DEMO_SOURCES, allowed_sources_execution=DEMO_SOURCES)
    parts = {
        "planner": rag.plan_offline_retrieval,
        "answerer": rag.write_offline_answer,
        "retriever": LexicalRetriever(demo_documents()),
    }
    question = {"question": "What SLA applies to enterprise plan and what is P1 first response target?"}
    return create_rag_agent, {"policy": policy}, parts, question


def _research() -> Recipe:
    parts = {
        "planner": research.plan_offline_research,
        "writer": research.write_offline_brief,
        "search": make_recorded_search(),
        "reader": make_recorded_reader(),
        "extractor": make_recorded_extractor(),
    }
    goal = "Summarise the payments incident with citations."
    return create_research_agent, {}, parts, {"goal": goal, "request": _demo("research_request")}


def _self_critique() -> Recipe:
    parts = {
        "drafter": self_critique.write_offline_draft,
        "shortener": self_critique.shorten_offline_draft,
        "critic": self_critique.critique_offline_draft,
        "reviser": self_critique.revise_offline_draft,
    }
    incident = _demo("self_critique_incident_context")
    given = {"goal": "Draft a customer update.", "incident_context": incident}
    return create_self_critique_agent, {}, parts, given


_AGENTS: dict[str, Callable[[], Recipe]] = {"rag": _rag, "research": _research, "self_critique": _self_critique}


def _demo(name: str) -> Any:
    return json.loads((_DATA / f"{name}.json").read_text(encoding="utf-8"))


def _remembering(part: Outside, said: Said) -> Outside:
    def asked(request: dict[str, Any]) -> Any:
        said[request.get("url")] = value = part(request)
        return value

    return asked


def _prepared(slot: str, said: Said) -> Outside:
    """Return a function that says what was said, in texts of its own for every run.

    A quote must stand in the page that was read and a revision keeps its draft's words, also where runs overlap.
    """
    if slot == "retriever":  # a knowledge base says the same in every run
        return lambda request: said[None]
    if slot == "extractor":
        return partial(_quoted, {word: marked(said[None], word) for word in words()})
    if slot == "reviser":
        revised = {word: marked(said.get(None), word) for word in words()}
        return lambda request: revised[word_of(request["draft"])]
    fresh = {asked: in_turn([marked(value, word) for word in words()]) for asked, value in said.items()}
    return lambda request: fresh[request.get("url")]()


def _quoted(notes: dict[str, Any], request: dict[str, Any]) -> list[Any]:
    marks = {url: word_of(page["body"]) for url, page in request["pages"].items()}
    first = next(iter(notes.values()))
    return [notes[marks[note["url"]]][number] for number, note in enumerate(first)]


def _as_function(prepared: Outside) -> Outside:
    return prepared


def _as_coroutine(prepared: Outside) -> Outside:
    async def coroutine(request: dict[str, Any]) -> Any:
        return prepared(request)

    return coroutine

"""What is measured: the three agents with proposers and tools that cost nothing, and the floor under each.

Their proposers and tools return values prepared beforehand: what the offline rules and the recordings of the demos say,
so that these runs end well and carry what a run of the demo carries.

Every run is given, and is told, texts that no run before it had, as in life: a guard that keeps what it made of the
latest texts must read these anew. They are made beforehand, more of them than anything keeps. What recurs in life
recurs here too: the documents of the knowledge base, the words of a language, hosts, short phrases and names.

The floor is a plain LangGraph graph of the same shape, whose nodes do nothing but route. Nodes, edges, path maps,
schemas and channels are taken from the agent's builder. A node in front of a branch writes the way that the agent's run
took; the last node writes the agent's result; all others write nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle, islice, pairwise, product
from pathlib import Path
from string import ascii_lowercase
from typing import Any

from langgraph.graph import END, StateGraph
from langgraph.graph.state import CompiledStateGraph

import guardgraph
from guardgraph import GuardedGraph, RagPolicy, create_rag_agent, create_research_agent, create_self_critique_agent
from guardgraph.graphs.rag import DEMO_SOURCES
from guardgraph.nodes.offline import rag, research, self_critique
from guardgraph.tools.knowledge_base import demo_documents
from guardgraph.tools.lexical import LexicalRetriever
from guardgraph.tools.recordings import make_recorded_extractor, make_recorded_reader, make_recorded_search

POOL = 600
"""How many texts there are of each; facts of at most 512 texts are kept, and a run reads several."""

_END = re.compile(r"(?=[.?](?:\s|$))")

_DATA = Path(guardgraph.__file__).parent / "tools" / "data"

Outside = Callable[[dict[str, Any]], Any]
Graph = CompiledStateGraph[Any, Any, Any, Any]
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


def words() -> list[str]:
    """Return words that mean nothing, the same ones every time."""
    return ["zq" + "".join(letters) for letters in islice(product(ascii_lowercase, repeat=3), POOL)]


def marked(value: Any, word: str) -> Any:
    """Return JSON whose sentences each end with the word; names, URLs and short phrases stay."""
    if isinstance(value, dict):
        return {key: marked(item, word) for key, item in value.items()}
    if isinstance(value, list):
        return [marked(item, word) for item in value]
    if not isinstance(value, str) or value.count(" ") < 3:
        return value
    return _END.sub(f" {word}", value) if value.endswith((".", "?")) else f"{_END.sub(f' {word}', value)} {word}"


def word_of(text: str) -> str:
    """Return the word that a marked text ends with."""
    return text.rstrip(".?").rsplit(" ", 1)[1]


def in_turn(values: list[Any]) -> Callable[..., Any]:
    """Return a function that returns one value after the other, whatever it is asked."""
    turn = cycle(values)
    return lambda *asked: next(turn)


def floor(agent: GuardedGraph, result: dict[str, Any], *, coroutines: bool = False, checkpointer: Any = None) -> Graph:
    """Return the floor under an agent.

    Args:
        agent: the agent, of any pattern.
        result: of the run whose way the floor goes; it must leave each node in one way.
        coroutines: nodes and routers are coroutine functions, for `ainvoke`; LangGraph would run plain ones in threads.
        checkpointer: LangGraph's.

    Raises:
        ValueError: the run left a node in two ways.
    """
    made, ways = agent.builder, _ways(result["path"])
    writing, routing = (_coroutine_writing, _coroutine_routing) if coroutines else (_writing, _routing)
    graph = StateGraph(
        made.state_schema,
        context_schema=made.context_schema,
        input_schema=made.input_schema,
        output_schema=made.output_schema,
    )
    for name, node in made.nodes.items():
        update = {"route": ways[name]} if name in made.branches and name in ways else {}
        if name == result["path"][-1]:
            update = {key: result[key] for key in made.schemas[made.output_schema] if key in result}
        graph.add_node(name, writing(update), input_schema=node.input_schema)
    for start, end in made.edges:
        graph.add_edge(start, end)
    for name, branches in made.branches.items():
        for branch in branches.values():
            graph.add_conditional_edges(name, routing, branch.ends)
    return graph.compile(checkpointer=checkpointer, name=f"floor_of_{agent.name}")


def beside_floor(
    scripted: Scripted, *, coroutines: bool = False, savers: Sequence[Any] = (None, None)
) -> dict[str, Graph]:
    """Return a scripted agent and its floor, as ``agent`` and ``floor``.

    Args:
        scripted: the agent.
        coroutines: as for `floor`.
        savers: the agent's checkpointer and the floor's.
    """
    agent = scripted.make(checkpointer=savers[0])
    plain = floor(agent, scripted.result, coroutines=coroutines, checkpointer=savers[1])
    return {"agent": agent, "floor": plain}


def _ways(path: list[str]) -> dict[str, str]:
    ways = dict(pairwise(path))
    if list(pairwise(path)) != list(ways.items()):
        raise ValueError(f"a floor leaves each node in one way; the run's path: {', '.join(path)}")
    return ways


def _writing(update: Mapping[str, Any]) -> Callable[[Any], Any]:
    def node(state):
        return update

    return node


def _coroutine_writing(update: Mapping[str, Any]) -> Callable[[Any], Any]:
    async def node(state):
        return update

    return node


def _routing(state):
    return state.get("route", END)  # an ending writes no route


async def _coroutine_routing(state):
    return state.get("route", END)

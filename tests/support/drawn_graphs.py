"""What tests of pictures share: graphs to draw, and what is to be seen in a picture."""

import re
from xml.etree import ElementTree as xml

from docs_parts import ROOT, fences
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command
from refund_pattern import refund
from typing_extensions import TypedDict

import guardgraph

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "</text><script>alert('x')</script>\x1b[31m\u202e\x00\ud800&amp;"
"""Markup, a terminal's colour, a change of direction, a letter that XML cannot hold, half of another."""


class State(TypedDict):
    x: str


def node(state):
    """Do nothing."""
    return {}


def triage():
    """Return the factory of the pattern in own_pattern.md, which takes who proposes."""
    page_name = ROOT / "docs" / "own_pattern.md"
    page = fences(page_name)
    namespace = {"__name__": "triage"}
    for fence in [fence for fence in page if fence.info == "python"][:2]:
        exec(compile(fence.code, page_name, "exec", dont_inherit=True), namespace)
    return namespace["create_triage"]


def triage_agent():
    return triage()()


def foreign():
    """Return a graph that the grammar did not make: loops, labels, two ways to END, a join."""
    builder = StateGraph(State)
    for name in ("agent", "tools", "human review", "grade", "answer", "rewrite", "left", "right", "joined"):
        builder.add_node(name, node)
    builder.add_edge(START, "agent")
    builder.add_conditional_edges("agent", node, {"continue": "tools", "done": "grade", "ask": "human review"})
    builder.add_conditional_edges("grade", node, {True: "answer", False: "rewrite", "stop": END, "halt": END})
    for start, end in (("tools", "agent"), ("human review", "agent"), ("rewrite", "agent")):
        builder.add_edge(start, end)
    builder.add_edge("answer", "left")
    builder.add_edge("answer", "right")
    builder.add_edge(["left", "right"], "joined")
    builder.add_edge("joined", END)
    return builder.compile(name="foreign")


def commanding():
    """Return a graph whose node says with a Command where it goes."""
    builder = StateGraph(State)
    builder.add_node("one", lambda state: Command(goto="two"), destinations={"two": "on", "one": "again"})
    builder.add_node("two", node)
    builder.add_edge(START, "one")
    builder.add_edge("two", END)
    return builder.compile()


def fan(width):
    """Return a graph with so many nodes side by side."""
    builder = StateGraph(State)
    names = [f"worker_{number}" for number in range(width)]
    for name in names:
        builder.add_node(name, node)
        builder.add_edge(START, name)
        builder.add_edge(name, END)
    return builder.compile(name="fan")


def mixed():
    """Return the triage graph with a foreign node, an edge from START to a stop terminal and one between terminals."""
    builder = triage()().builder
    builder.add_node("foreign", node)
    builder.add_edge(START, "stop_llm")
    builder.add_edge("triaged", "foreign")
    builder.add_edge("foreign", END)
    builder.add_edge("foreign", "stop_invalid_triage")
    builder.add_edge("stop_guard_error", "foreign")
    return builder.compile(name="mixed")


GRAPHS = {
    "rag": guardgraph.create_rag_agent,
    "research": guardgraph.create_research_agent,
    "self_critique": guardgraph.create_self_critique_agent,
    "triage": triage_agent,
    "refund": refund,
    "foreign": foreign,
    "commanding": commanding,
    "fan": lambda: fan(5),
    "mixed": mixed,
}
"""Factories of graphs to draw."""


def known_edges(graph):
    """Return every edge that LangGraph was given."""
    builder = graph.builder
    branching = [(name, one.ends) for name, all_of in builder.branches.items() for one in all_of.values()]
    branches = [(name, way) for name, ends in branching for way in ends.values()]
    joins = [(start, end) for starts, end in builder.waiting_edges for start in starts]
    commands = [(name, way) for name, spec in builder.nodes.items() for way in spec.ends or ()]
    return {*builder.edges, *branches, *joins, *commands}


def elements(picture, kind):
    return [item for item in xml.fromstring(picture.svg).iter() if kind in item.get("class", "").split()]


def words(item):
    return ["".join(text.itertext()) for text in item.iter(f"{SVG}text")]


def shown_nodes(picture):
    groups = [item for item in xml.fromstring(picture.svg).iter(f"{SVG}g") if item.find(f"{SVG}title") is not None]
    named = [(words(item)[0], item.get("class", "chip").split()) for item in groups if words(item)]
    return {name: classes for name, classes in named if "chip" not in classes}


def colours(picture):
    light, _, dark = picture.svg.partition("@media (prefers-color-scheme: dark)")
    return [dict(re.findall(r"^\.gg \.(\w+) \.shape \{ fill: (\S+); stroke", part, re.M)) for part in (light, dark)]

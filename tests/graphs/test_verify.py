"""`verify` proves the grammar on a compiled graph, whoever made it and whatever became of it since."""

from __future__ import annotations

from itertools import product

import pytest
from langchain_core.runnables import RunnableLambda
from langgraph.channels import LastValue
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph._branch import BranchSpec
from langgraph.types import CachePolicy
from tampering import by_rule, plain
from ticket_pattern import State, pattern, triage

from guardgraph import InputError, create_rag_agent, create_research_agent, create_self_critique_agent, verify
from guardgraph.graphs.running.node import Router

AGENTS = [triage, create_rag_agent, create_research_agent, create_self_critique_agent]


@pytest.mark.parametrize("create", AGENTS)
def test_the_patterns_hold(create):
    """Our patterns have no findings, also recompiled, with a checkpointer, interrupts or configuration."""
    graph = create()
    assert verify(graph) == []
    saver = InMemorySaver()
    assert verify(create(checkpointer=saver)) == []
    nodes = list(graph.builder.nodes)
    assert verify(graph.builder.compile(checkpointer=saver, name="other", interrupt_before=nodes)) == []
    assert verify(graph.with_config(tags=["a"], recursion_limit=9).copy({"interrupt_after_nodes": nodes})) == []
    assert verify(graph) == []


def test_no_edge_can_be_added_or_taken_away():
    """Any single edge more or less, anywhere in a pattern, is found."""
    builder = pattern().builder()
    drawn = set(builder.edges)
    more = set(product([START, *builder.nodes], [*builder.nodes, END])) - drawn
    for edges in [*(drawn | {added} for added in more), *(drawn - {taken} for taken in drawn)]:
        builder.edges = edges
        if any(start == START for start, _ in edges):  # LangGraph itself wants a beginning
            assert verify(builder.compile()), edges ^ drawn


def test_no_verdict_can_be_led_elsewhere():
    """Any change to where one verdict of one guard leads is found."""
    builder = pattern().builder()
    for branches in builder.branches.values():
        ends = branches["route"].ends
        for way, elsewhere in product(list(ends), ["label", "lookup", "routed", "stop_tool", END]):
            drawn = ends[way]
            if elsewhere != drawn:
                ends[way] = elsewhere
                assert verify(builder.compile()), (way, elsewhere)
                ends[way] = drawn
    assert verify(builder.compile()) == []


COMPILED = {
    "another bound": ("label", lambda graph: setattr(graph.nodes["label"], "bound", RunnableLambda(plain))),
    "a writer more": ("label", lambda graph: graph.attach_edge("label", "routed")),
    "a writer less": ("label_guard", lambda graph: graph.nodes["label_guard"].writers.pop()),
    "a writer of one's own": (
        "label",
        lambda graph: graph.nodes["label"].writers.append(RunnableLambda(lambda state: state)),
    ),
    "a branch more": (
        "label",
        lambda graph: graph.attach_branch("label", "more", BranchSpec(Router(), {"routed": "routed"})),
    ),
    "a branch that reads more": (
        "label_guard",
        lambda graph: graph.nodes["label_guard"].writers[1].kwargs.update(reader=lambda config: {"route": "lookup"}),
    ),
    "a branch that leads elsewhere": (
        "label_guard",
        lambda graph: setattr(graph.nodes["label_guard"].writers[1], "func", elsewhere()._route),
    ),
    "more to read": ("lookup", lambda graph: graph.nodes["lookup"].channels.append("proposed_label")),
    "another trigger": ("routed", lambda graph: graph.nodes["routed"].triggers.append("branch:to:label")),
    "a mapper": ("lookup", lambda graph: setattr(graph.nodes["lookup"], "mapper", dict)),
    "a cache": ("label_guard", lambda graph: setattr(graph.nodes["label_guard"], "cache_policy", CachePolicy())),
    "a node more": ("extra", lambda graph: graph.nodes.update(extra=graph.nodes["label"])),
    "a node less": ("spam", lambda graph: graph.nodes.pop("spam")),
    "what a node runs": ("label", lambda graph: vars(graph.nodes["label"]).update(node=RunnableLambda(plain))),
    "other nodes in the builder": ("extra", lambda graph: graph.builder.add_node("extra", plain)),
    "an edge in the builder": ("label", lambda graph: graph.builder.add_edge("label", "routed")),
}


def elsewhere():
    """Return a branch that only leads to the good end."""
    return BranchSpec(RunnableLambda(lambda state: "routed"), {"routed": "routed"})


@pytest.mark.parametrize("name", COMPILED)
def test_what_was_changed_after_compiling_is_found(name):
    """A compiled graph that runs anything else than its builder says is found, and the node is named."""
    node, tamper = COMPILED[name]
    graph = triage()
    tamper(graph)
    assert (node,) in [finding.nodes for finding in by_rule(verify(graph), "changed")]


@pytest.mark.parametrize(
    "tamper",
    [
        lambda graph: graph.channels.update(proposed_label=LastValue(str)),
        lambda graph: graph.copy({"output_channels": ["proposed_label"]}),
        lambda graph: graph.copy({"node_error_handler_map": {"label": "spam"}}),
        lambda graph: graph.copy({"step_timeout": 1.0}),
    ],
)
def test_a_whole_graph_that_was_changed_is_found(tamper):
    """Channels, input, output and handlers of a compiled graph are those of its builder."""
    graph = triage()
    assert by_rule(verify(tamper(graph) or graph), "changed")


def test_a_graph_that_was_not_compiled_by_the_grammar_has_no_door():
    """LangGraph's own compile leaves out the door, and so do hand-made graphs."""
    assert [finding.rule for finding in verify(StateGraph.compile(triage().builder))] == ["door"]
    handmade = StateGraph(State)
    handmade.add_node("answer", plain)
    handmade.add_edge(START, "answer")
    rules = {finding.rule for finding in verify(handmade.compile())}
    assert {"door", "foreign", "entry", "sealed", "reachable"} <= rules


@pytest.mark.parametrize("given", [None, "rag", pattern(), triage().builder, triage().bind(stream_mode="values")])
def test_only_a_compiled_graph_can_be_proved(given):
    """Anything else is a clear error."""
    with pytest.raises(InputError, match=r"^verify: a compiled LangGraph graph is required; given: "):
        verify(given)

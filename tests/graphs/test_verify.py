"""`verify` proves the grammar on a compiled graph, whoever made it and whatever became of it since."""

from __future__ import annotations

from itertools import product

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from tampering import plain
from ticket_pattern import State, pattern, triage

from guardgraph import InputError, create_rag_agent, create_research_agent, create_self_critique_agent, verify

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

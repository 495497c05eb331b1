"""`verify` proves the grammar on a compiled graph, whoever made it and whatever was edited in it since."""

from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda
from langgraph.channels import EphemeralValue, LastValue
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph._branch import BranchSpec
from langgraph.types import RetryPolicy
from ticket_pattern import PHASES, REASONS, TICKET, Policy, State, pattern, triage
from typing_extensions import TypedDict

from guardgraph import RULES, GuardedGraph, InputError, verify
from guardgraph.grammar import Catalogue
from guardgraph.graphs.patterns import PATTERNS
from guardgraph.graphs.running.node import EndingRouter, GrammarNode, Router, unwrap_heard_node

UNRECORDED = "stop_audit_unavailable"
LAX = pattern(policy=Policy(labels=("anything",))).builder().nodes["label_guard"].runnable


@pytest.mark.parametrize("create", [triage, *(item.create_agent for item in PATTERNS.values())])
def test_the_patterns_hold(create):
    graph, saver = create(), InMemorySaver()
    nodes = list(graph.builder.nodes)
    other = graph.builder.compile(checkpointer=saver, name="other", interrupt_before=nodes)
    configured = graph.with_config(tags=["a"], recursion_limit=9).copy({"interrupt_after_nodes": nodes})
    for each in (graph, create(checkpointer=saver), other, configured, graph):
        assert verify(each) == []


def test_no_edge_can_be_added_or_taken_away():
    builder = pattern().builder()
    drawn = set(builder.edges)
    more = set(product([START, *builder.nodes], [*builder.nodes, END])) - drawn
    for edges in [*(drawn | {added} for added in more), *(drawn - {taken} for taken in drawn)]:
        builder.edges = edges
        if any(start == START for start, _ in edges):  # LangGraph itself wants a beginning
            assert verify(builder.compile()), edges ^ drawn


def test_no_verdict_can_be_led_elsewhere():
    builder = pattern().builder()
    for branches in builder.branches.values():
        ends = branches["route"].ends
        for (way, drawn), elsewhere in product([*ends.items()], ["label", "lookup", "routed", "stop_tool", END]):
            ends[way] = elsewhere
            assert bool(verify(builder.compile())) == (elsewhere != drawn), (way, elsewhere)
            ends[way] = drawn


def test_a_graph_that_was_not_compiled_by_the_grammar_has_no_door():
    assert [finding.rule for finding in verify(StateGraph.compile(triage().builder))] == ["door"]
    handmade = StateGraph(State).add_node("answer", plain).add_edge(START, "answer")
    rules = {finding.rule for finding in verify(handmade.compile())}
    assert {"door", "foreign", "entry", "sealed", "reachable"} <= rules


@pytest.mark.parametrize("given", [None, "rag", pattern(), triage().builder, triage().bind(stream_mode="values")])
def test_only_a_compiled_graph_can_be_proved(given):
    with pytest.raises(InputError, match=r"^verify: a compiled LangGraph graph is required; given: "):
        verify(given)


def plain(state):
    return {"accepted_label": "bug"}


def put(find, **changed):
    """Make an edit that sets attributes of what is found in a graph."""
    return lambda graph: [object.__setattr__(find(graph), key, value) for key, value in changed.items()]


def own(graph):
    return graph.nodes["label_guard"].bound


def node_edit(name, **changed):
    return put(lambda graph: graph.nodes[name], **changed)


def frame(**changed):
    return put(lambda graph: own(graph).frame, **changed)


def whole(**changed):
    return put(lambda graph: graph, **changed)


def redeclare(graph):
    own(graph).declaration = replace(own(graph).declaration, to=("lookup", "spam", "routed"))


def remake(graph):
    other = GrammarNode(own(graph).declaration, plain, own(graph).frame)
    graph.nodes["label_guard"].bound = graph.builder.nodes["label_guard"].runnable = other


def lead_elsewhere(graph):
    elsewhere = BranchSpec(RunnableLambda(lambda state: "routed"), {"routed": "routed"})
    graph.nodes["label_guard"].writers[1].func = elsewhere._route


EDITS = {
    "a channel's key": put(lambda graph: graph.channels["route"], key="verdict"),
    "a channel that starts a node": lambda graph: graph.channels.update({"branch:to:lookup": LastValue(Any)}),
    "a node's triggers": node_edit("routed", triggers=["branch:to:label"]),
    "a node's writers": lambda graph: graph.nodes["label_guard"].writers.pop(),
    "a branch that leads elsewhere": lead_elsewhere,
    "an edge in the builder": lambda graph: graph.builder.add_edge("label", "routed"),
    "a handler of errors": lambda graph: setattr(graph, "node_error_handler_map", {"label": "spam"}),
    "a node's flat writers": lambda graph: vars(graph.nodes["label_guard"]).update(flat_writers=[]),
    "a node's sequence": lambda graph: setattr(graph.nodes["label_guard"].node, "invoke", plain),
    "a node's steps": lambda graph: unwrap_heard_node(graph.nodes["label_guard"].node).steps.pop(),
    "what runs a node's steps": put(lambda graph: unwrap_heard_node(graph.nodes["label"].node), name="x"),
    "a writer's setting": put(lambda graph: graph.nodes["label_guard"].writers[0], recurse=False),
    "what a writer writes": put(lambda graph: graph.nodes["label"].writers[1], writes=()),
    "what a writer calls": lambda graph: graph.nodes["label_guard"].writers[1].kwargs.update(writer=plain),
    "a writer's function": lambda graph: setattr(graph.nodes["label_guard"].writers[0], "func", plain),
    "the beginning": node_edit("__start__", bound=RunnableLambda(plain)),
    "a body": put(own, body=plain),
    "a declaration": redeclare,
    "a node remade": remake,
    "the policy": frame(policy=Policy(labels=("anything",))),
    "the policy, inside": lambda graph: object.__setattr__(graph.nodes["label"].bound.frame.policy, "labels", ("x",)),
    "what the entry guard clears": frame(lasting=()),
    "the recorder": frame(recorder=print),
    "the catalogue": frame(catalogue=Catalogue("triage", PHASES, REASONS.reasons)),
    "a declaration among them": lambda graph: graph.nodes["label"].bound.frame.declarations.pop("spam"),
    "a router's method": lambda graph: setattr(graph.builder.branches["label_guard"]["route"].path, "invoke", plain),
    "where a verdict leads": lambda graph: graph.builder.branches["label_guard"]["route"].ends.update(lookup="routed"),
    "the input channels": whole(input_channels=["accepted_label"]),
    "the context's schema": whole(context_schema=dict),
    "an invoke of its own": whole(invoke=plain),
    "a class with a door of its own": whole(__class__=type("Lax", (GuardedGraph,), {})),
    "another door": whole(_admit_input=lambda given: given),
    "the builder's input": lambda graph: setattr(graph.builder, "input_schema", graph.builder.state_schema),
    "the builder's schemas": lambda graph: graph.builder.schemas[graph.builder.input_schema].update(run=LastValue(str)),
    "the builder's defaults": lambda graph: graph.builder.set_node_defaults(retry_policy=RetryPolicy(max_attempts=9)),
    "the builder's validate": lambda graph: setattr(graph.builder, "validate", lambda interrupt=None: graph.builder),
}  # fmt: skip


@pytest.mark.unreplayable
@pytest.mark.parametrize("name", EDITS)
def test_an_edit_of_a_compiled_graph_is_found(name):
    """Whatever is exchanged in one, fresh or run: its nodes, channels, builder or what they share, is a finding."""
    fresh, ran = triage(), triage()
    ran.invoke(TICKET)
    for graph in (fresh, ran):
        EDITS[name](graph)
        assert verify(graph)


def edge(start, end):
    return lambda builder: builder.add_edge(start, end)


def node(name, **kwargs):
    return lambda builder: builder.add_node(name, plain, **kwargs)


def branch(name, path, ends=None):
    return lambda builder: builder.add_conditional_edges(name, path, ends)


def schema(which, **channels):
    return lambda builder: builder.schemas[getattr(builder, which)].update(channels)


def channel(name, made):
    return lambda builder: builder.channels.update({name: made})


def ways(name, **changed):
    """Return a change to the path map of a guard's own conditional edge; None takes a way out."""

    def change(builder):
        ends = builder.branches[name]["route"].ends
        ends.update(changed)
        for way in [way for way, end in ends.items() if end is None]:
            del ends[way]

    return change


def runnable(name, **changed):
    return put(lambda builder: builder.nodes[name].runnable, **changed)


def readable(name, channel):
    """Return a change that gives a node one more channel to read."""

    def change(builder):
        wider = TypedDict("Wider", dict.fromkeys([*builder.schemas[builder.nodes[name].input_schema], channel], str))
        builder._add_schema(wider)
        builder.nodes[name].input_schema = wider

    return change


def declared(name, **changed):
    """Return a change that replaces a node by one of the grammar's with another declaration."""

    def change(builder):
        made = builder.nodes[name].runnable
        made.frame.declarations[name] = item = replace(made.declaration, **changed)
        builder.nodes[name].runnable = GrammarNode(item, made.body, made.frame)
        builder.nodes[name].metadata = item.build_node_metadata()

    return change


def by(*tamper, path="", nodes=None):
    """Return what is done to a graph, and the nodes and the path of what is found; the nodes are those of the path."""
    way = path.split()
    return tamper, tuple(sorted({*way} - {START, END} if nodes is None else nodes.split())), tuple(way)


BROKEN = {
    "foreign: a forged node": by(node("extra", metadata={"kind": "guard"}), edge("extra", "routed"), nodes="extra"),
    "foreign: a guard's own method": by(runnable("label_guard", invoke=plain), nodes="label_guard"),
    "foreign: a handler for all": by(lambda graph: graph.set_node_defaults(error_handler=plain), nodes="label_guard"),
    "foreign: forged metadata": by(node_edit("label", metadata={"kind": "guard"}), nodes="label"),
    "foreign: another pattern's guard": by(runnable("label_guard", frame=LAX.frame), nodes="label_guard"),
    "foreign: a subclass of ours": by(runnable("label", __class__=type("Tame", (GrammarNode,), {})), nodes="label"),
    "foreign: a crossed path map": by(ways("label_guard", stop_llm="lookup", lookup="stop_llm"), nodes="label_guard"),
    "foreign: a join": by(edge(["label_guard", "duty_guard"], "routed"), nodes="routed"),
    "foreign: a node of LangGraph's settings": by(node_edit("label", defer=True), nodes="label"),
    "guarded: two guards at once": by(edge("label", "duty_guard"), nodes="duty_guard label label_guard"),
    "entry: two nodes at once": by(edge(START, "duty_guard"), nodes="duty_guard request_guard"),
    "guarded: a plain node": by(node("x"), edge("label", "x"), edge("x", "label_guard"), path="label x"),
    "rounds: a write after other calls": by(declared("lookup", effects=("pay",), rounds=2), nodes="lookup"),
    "entry: a second begin": by(edge(START, "duty_guard"), path=f"{START} duty_guard"),
    "entry: a conditional begin": by(branch(START, Router(), {"routed": "routed"}), path=f"{START} routed"),
    "entry: begun again": by(ways("label_guard", request_guard="request_guard"), path="label_guard request_guard"),
    "bypass: an edge": by(edge("label", "lookup"), path="label lookup"),
    "bypass: to an ending": by(edge("label", "routed"), path="label routed"),
    "bypass: an open branch": by(branch("label", lambda state: "lookup"), path="label lookup"),
    "raw: an act node": by(readable("lookup", "proposed_label"), nodes="lookup"),
    "raw: the record of calls": by(readable("label_guard", "calls:label"), nodes="label_guard"),
    "raw: the output": by(schema("output_schema", proposed_label=EphemeralValue(str))),
    "sealed: the input": by(schema("input_schema", accepted_label=LastValue(str))),
    "triggers: a proposal that starts a tool": by(channel("branch:to:lookup", EphemeralValue(str)), nodes="lookup"),
    "fresh: a proposal that stays": by(channel("proposed_label", LastValue(str))),
    "exits: a second branch": by(branch("label_guard", lambda state: "spam", {"spam": "spam"}), nodes="label_guard"),
    "exits: an unrecorded stop that decides": by(branch(UNRECORDED, EndingRouter(), {END: END}), nodes=UNRECORDED),
    "reachable: a guard that no edge leads to": by(ways("label_guard", lookup=None), nodes="lookup"),
    "cycles: past every guard": by(node("a"), edge("label", "a"), edge("a", "label"), path="a label a"),
    "cycles: a guard that can only fail": by(
        ways("duty_guard", duty_guard="duty_guard", stop_desk_denied=None, stop_tool=None, stop_budget=None),
        path="duty_guard duty_guard",
    ),
    "ends: after a guard": by(ways("label_guard", **{END: END}), path=f"label_guard {END}"),
    "ends: a terminal that goes on": by(edge("routed", "label_guard"), nodes="routed"),
    "ends: a stop that is always recorded": by(ways("stop_llm", stop_audit_unavailable=None), nodes="stop_llm"),
    "ends: a guard past the recorder": by(
        ways("label_guard", **{UNRECORDED: UNRECORDED}), path=f"label_guard {UNRECORDED}", nodes="label_guard"
    ),
    "families: declared, not drawn": by(ways("label_guard", stop_llm=None), nodes="label_guard"),
    "families: drawn, not declared": by(ways("duty_guard", stop_llm="stop_llm"), nodes="duty_guard"),
    "drawn: another way": by(ways("duty_guard", lookup="lookup"), path="duty_guard lookup"),
    "again: a proposal that it does not judge": by(
        declared("duty_guard", again=("label",)), ways("duty_guard", label="label"), path="duty_guard label"
    ),
    "budget: before a tool": by(
        declared("label_guard", stops=("llm", "invalid_label", "guard_error")),
        ways("label_guard", stop_budget=None),
        nodes="label label_guard lookup",
    ),
    "behind: a way past the guard": by(
        declared("lookup", behind=("duty_guard",)),
        path=f"{START} request_guard label label_guard lookup",
        nodes="duty_guard lookup",
    ),
    "channels: found and never judged": by(declared("duty_guard", reads=()), path="lookup duty_guard"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_graph_fails_its_rule(name):
    """Each way of breaking the grammar is found, under its rule, with its nodes and its path."""
    tamper, nodes, path = BROKEN[name]
    builder = pattern().builder()
    for change in tamper:
        change(builder)
    found = [each for each in verify(builder.compile()) if each.rule == name.partition(":")[0]]
    [told, *_] = [each.message for each in found if each.nodes == nodes and (not path or path == each.path)]
    assert all(node in told for node in nodes) or " at once" in told or "a cycle" in told


def test_every_rule_is_broken_here():
    """No rule stands untested, and each says what must hold; `tools` is broken beside the tests of licences."""
    assert {name.partition(":")[0] for name in BROKEN} == RULES.keys() - {"door", "changed", "limit", "tools"}
    assert all(rule.__doc__ for rule in RULES.values())

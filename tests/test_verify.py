"""`verify` proves the grammar on a compiled graph; every rule fails on a graph that was broken to break it."""

from __future__ import annotations

from itertools import product

import pytest
from langchain_core.runnables import RunnableLambda
from langgraph.channels import EphemeralValue, LastValue
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph._branch import BranchSpec
from langgraph.types import CachePolicy, Command
from ticket_pattern import Policy, State, pattern, triage
from typing_extensions import TypedDict

from guardgraph import (
    RULES,
    InputError,
    create_rag_agent,
    create_research_agent,
    create_self_critique_agent,
    verify,
)
from guardgraph.graphs.node import GrammarNode
from guardgraph.graphs.router import Router

AGENTS = [triage, create_rag_agent, create_research_agent, create_self_critique_agent]


def broken(*tamper):
    """Tamper with the builder of a good graph, compile it again and return the findings."""
    builder = pattern().builder()
    for change in tamper:
        change(builder)
    return verify(builder.compile())


def by_rule(findings, rule):
    """Return a rule's findings; there must be one."""
    found = [finding for finding in findings if finding.rule == rule]
    assert found, [str(finding) for finding in findings]
    return found


def fails(rule, *nodes, path=None, tamper):
    """Assert that a broken graph fails a rule, with these nodes and this path."""
    found = by_rule(broken(*tamper), rule)
    assert tuple(sorted(nodes)) in [finding.nodes for finding in found], [str(finding) for finding in found]
    if path is not None:
        assert path in [finding.path for finding in found], [str(finding) for finding in found]


def plain(state):
    """Stand in for a node that the grammar did not make."""
    return {"accepted_label": "bug"}


def commanding(state) -> Command:
    """Stand in for a node that goes where it likes."""
    return Command(goto="routed")


def edge(start, end):
    """Return a change that draws an edge."""
    return lambda builder: builder.add_edge(start, end)


def no_edge(start, end):
    """Return a change that takes an edge away."""
    return lambda builder: builder.edges.remove((start, end))


def node(name, action=plain, **kwargs):
    """Return a change that adds a node."""
    return lambda builder: builder.add_node(name, action, **kwargs)


def branch(name, path, ends=None):
    """Return a change that adds a conditional edge."""
    return lambda builder: builder.add_conditional_edges(name, path, ends)


def spec(name, **changed):
    """Return a change to how a node is kept in the builder."""

    def change(builder):
        for key, value in changed.items():
            setattr(builder.nodes[name], key, value)

    return change


def ways(name, **changed):
    """Return a change to the path map of a guard's own conditional edge; None takes a way out."""

    def change(builder):
        ends = builder.branches[name]["route"].ends
        ends.update(changed)
        for way in [way for way, end in ends.items() if end is None]:
            del ends[way]

    return change


def readable(name, *channels):
    """Return a change that gives a node more channels to read."""

    def change(builder):
        schema = TypedDict("Wider", dict.fromkeys([*builder.schemas[builder.nodes[name].input_schema], *channels], str))
        builder._add_schema(schema)
        builder.nodes[name].input_schema = schema

    return change


def declared(name, **changed):
    """Return a change that replaces a node by one of the grammar's with another declaration."""

    def change(builder):
        made = builder.nodes[name].runnable
        item = type(made.declaration)(**{**as_dict(made.declaration), **changed})
        frame = made.frame
        frame.declarations[name] = item
        builder.nodes[name].runnable = GrammarNode(item, made.body, frame)
        builder.nodes[name].metadata = item.metadata()

    return change


def as_dict(item):
    """Return a declaration's fields."""
    return {field: getattr(item, field) for field in item.__dataclass_fields__}


def channel(name, made):
    """Return a change to a channel."""
    return lambda builder: builder.channels.update({name: made})


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


class Tame(GrammarNode):
    """A node that would do something else."""


class WildRouter(Router):
    """A router that goes where it likes."""

    def invoke(self, input, config=None, **kwargs):
        """Skip the tool."""
        return "spam"


def lax():
    """Return the builder of the same pattern with a wider policy."""
    return pattern(policy=Policy(labels=("anything",))).builder()


def swap(name, runnable):
    """Return a change that puts another runnable in the place of a node's."""
    return lambda builder: setattr(builder.nodes[name], "runnable", runnable(builder))


def replace_router(builder, name, router):
    """Put another router in the place of a guard's own."""
    builder.branches[name]["route"] = builder.branches[name]["route"]._replace(path=router)


BROKEN = {
    "foreign: a plain node": (["extra"], None, [node("extra"), edge("extra", "label_guard")]),
    "guarded: a plain node between": (
        ["extra", "label"],
        ("label", "extra"),
        [node("extra"), edge("label", "extra"), edge("extra", "label_guard")],
    ),
    "foreign: a forged node": (
        ["extra"],
        None,
        [node("extra", metadata={"kind": "guard", "stops": ["llm"]}), edge("extra", "routed")],
    ),
    "foreign: a Command": (["extra"], None, [node("extra", commanding), edge("extra", "label_guard")]),
    "foreign: destinations": (
        ["extra"],
        None,
        [node("extra", lambda state: Command(goto="routed"), destinations=("routed",))],
    ),
    "foreign: a subgraph": (
        ["extra"],
        None,
        [lambda builder: builder.add_node("extra", create_rag_agent()), edge("extra", "label_guard")],
    ),
    "foreign: an error handler": (
        ["extra"],
        None,
        [node("extra", error_handler=plain), edge("extra", "label_guard")],
    ),
    "foreign: a handler on a guard": (
        ["label_guard"],
        None,
        [node("handler"), spec("label_guard", error_handler_node="handler"), edge("handler", "label_guard")],
    ),
    "foreign: a handler for all": (
        ["label_guard"],
        None,
        [lambda builder: builder.set_node_defaults(error_handler=plain)],
    ),
    "foreign: a cached guard": (["label_guard"], None, [spec("label_guard", cache_policy=CachePolicy())]),
    "foreign: a cache for all": (
        ["label_guard"],
        None,
        [lambda builder: builder.set_node_defaults(cache_policy=CachePolicy())],
    ),
    "foreign: a timeout": (["label"], None, [lambda builder: builder.set_node_defaults(timeout=5)]),
    "foreign: declared destinations": (["label_guard"], None, [spec("label_guard", ends=("routed",))]),
    "foreign: forged metadata": (["label"], None, [spec("label", metadata={"kind": "guard"})]),
    "foreign: no metadata": (["label"], None, [spec("label", metadata=None)]),
    "foreign: another node's runnable": (
        ["spam"],
        None,
        [lambda builder: setattr(builder.nodes["spam"], "runnable", builder.nodes["routed"].runnable)],
    ),
    "foreign: another pattern's guard": (
        ["label_guard"],
        None,
        [lambda builder: setattr(builder.nodes["label_guard"], "runnable", lax().nodes["label_guard"].runnable)],
    ),
    "foreign: a subclass of ours": (
        ["label"],
        None,
        [lambda builder: setattr(builder.nodes["label"].runnable, "__class__", Tame)],
    ),
    "foreign: a branch without a path_map": (
        ["label_guard"],
        None,
        [branch("label_guard", lambda state: "routed")],
    ),
    "foreign: a branch of a propose node": (
        ["label"],
        None,
        [branch("label", lambda state: "routed", {"routed": "routed"})],
    ),
    "foreign: another router": (
        ["label_guard"],
        None,
        [lambda builder: replace_router(builder, "label_guard", WildRouter())],
    ),
    "foreign: a path map that says one thing and means another": (
        ["label_guard"],
        None,
        [ways("label_guard", stop_llm="lookup", lookup="stop_llm")],
    ),
    "foreign: a join": (
        ["routed"],
        None,
        [lambda builder: builder.add_edge(["label_guard", "duty_guard"], "routed")],
    ),
    "entry: a second begin": (["duty_guard"], (START, "duty_guard"), [edge(START, "duty_guard")]),
    "entry: a propose node": (["label"], (START, "label"), [edge(START, "label")]),
    "entry: two at once": (["duty_guard", "request_guard"], None, [edge(START, "duty_guard")]),
    "entry: a conditional begin": (
        ["routed"],
        (START, "routed"),
        [branch(START, Router(), {"routed": "routed", "request_guard": "request_guard"})],
    ),
    "entry: begun again": (
        ["label_guard", "request_guard"],
        ("label_guard", "request_guard"),
        [ways("label_guard", request_guard="request_guard")],
    ),
    "guarded: straight to the tool": (["label", "lookup"], ("label", "lookup"), [edge("label", "lookup")]),
    "guarded: straight to the end": (["label", "__end__"], ("label", END), [edge("label", END)]),
    "guarded: a tool that ends": (["lookup", "routed"], ("lookup", "routed"), [edge("lookup", "routed")]),
    "guarded: two guards at once": (
        ["duty_guard", "label", "label_guard"],
        None,
        [edge("label", "duty_guard")],
    ),
    "bypass: an edge": (["label", "lookup"], ("label", "lookup"), [edge("label", "lookup")]),
    "bypass: to a good end": (["label", "routed"], ("label", "routed"), [edge("label", "routed")]),
    "bypass: through a plain node": (
        ["label", "routed"],
        ("label", "extra", "routed"),
        [node("extra"), edge("label", "extra"), edge("extra", "routed")],
    ),
    "bypass: an open branch": (
        ["label", "lookup"],
        ("label", "lookup"),
        [branch("label", lambda state: "lookup")],
    ),
    "bypass: a join": (
        ["label", "routed"],
        ("label", "routed"),
        [lambda builder: builder.add_edge(["label", "label_guard"], "routed")],
    ),
    "raw: an act node": (["lookup"], None, [readable("lookup", "proposed_label")]),
    "raw: an ok terminal": (["routed"], None, [readable("routed", "found_duty")]),
    "raw: the whole state": (
        ["lookup"],
        None,
        [lambda builder: setattr(builder.nodes["lookup"], "input_schema", builder.state_schema)],
    ),
    "raw: the output": (
        [],
        None,
        [lambda builder: builder.schemas[builder.output_schema].update(proposed_label=EphemeralValue(str))],
    ),
    "sealed: the input": (
        [],
        None,
        [lambda builder: builder.schemas[builder.input_schema].update(accepted_label=LastValue(str))],
    ),
    "sealed: the whole state as input": (
        [],
        None,
        [lambda builder: setattr(builder, "input_schema", builder.state_schema)],
    ),
    "sealed: a guard that writes the output": (
        ["duty_guard"],
        None,
        [declared("duty_guard", writes=("on_duty",))],
    ),
    "fresh: a proposal that stays": ([], None, [channel("proposed_label", LastValue(str))]),
    "fresh: an answer that stays": ([], None, [channel("on_duty", LastValue(str))]),
    "fresh: a log of one's own": (
        [],
        None,
        [lambda builder: builder.channels.update(task=builder.channels["log"])],
    ),
    "exits: a plain edge": (
        ["label_guard", "routed"],
        ("label_guard", "routed"),
        [edge("label_guard", "routed")],
    ),
    "exits: a second branch": (["label_guard"], None, [branch("label_guard", lambda state: "spam", {"spam": "spam"})]),
    "exits: no branch": (["duty_guard"], None, [lambda builder: builder.branches.pop("duty_guard")]),
    "exits: a tool that decides": (["lookup"], None, [branch("lookup", Router(), {"duty_guard": "duty_guard"})]),
    "reachable: an orphan": (["extra"], None, [node("extra"), edge("extra", "label_guard")]),
    "reachable: a dead end": (["lookup"], None, [no_edge("lookup", "duty_guard")]),
    "reachable: a guard that no edge leads to": (["lookup"], None, [ways("label_guard", lookup=None)]),
    "cycles: past every guard": (
        ["extra", "label"],
        ("extra", "label", "extra"),
        [node("extra"), edge("label", "extra"), edge("extra", "label")],
    ),
    "cycles: a guard that can only fail": (
        ["duty_guard"],
        ("duty_guard", "duty_guard"),
        [ways("duty_guard", duty_guard="duty_guard", stop_desk_denied=None, stop_tool=None, stop_budget=None)],
    ),
    "ends: after a guard": (["label_guard"], ("label_guard", END), [ways("label_guard", **{END: END})]),
    "ends: after a propose node": (["label"], ("label", END), [edge("label", END)]),
    "ends: a terminal that goes on": (["routed"], None, [edge("routed", "label_guard")]),
    "ends: a terminal without an end": (["spam"], None, [no_edge("spam", END)]),
    "families: declared, not drawn": (["label_guard"], None, [ways("label_guard", stop_llm=None)]),
    "families: drawn, not declared": (["duty_guard"], None, [ways("duty_guard", stop_llm="stop_llm")]),
    "families: another end": (["label_guard"], None, [declared("stop_llm", family="tool")]),
    "drawn: another way": (
        ["duty_guard", "lookup"],
        ("duty_guard", "lookup"),
        [ways("duty_guard", lookup="lookup")],
    ),
    "drawn: a way left out": (["label_guard", "spam"], None, [ways("label_guard", spam=None)]),
    "budget: before a tool": (
        ["label", "label_guard", "lookup"],
        None,
        [declared("label_guard", stops=("llm", "invalid_label", "guard_error")), ways("label_guard", stop_budget=None)],
    ),
    "budget: behind a tool": (
        ["duty_guard", "lookup"],
        None,
        [declared("duty_guard", stops=("desk_denied", "tool", "guard_error")), ways("duty_guard", stop_budget=None)],
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_graph_fails_its_rule(name):
    """Each way of breaking the grammar is found, under its rule, with its nodes and its path."""
    nodes, path, tamper = BROKEN[name]
    fails(name.partition(":")[0], *nodes, path=path, tamper=tamper)


def test_every_rule_is_broken_here():
    """No rule stands untested, and each says in one sentence what must hold."""
    assert {name.partition(":")[0] for name in BROKEN} == RULES.keys() - {"door", "changed"}
    assert all(rule.__doc__ for rule in RULES.values())


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
        lambda graph: graph.nodes["label_guard"].writers[1].kwargs["reader"].keywords.update(select=["task"]),
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
    "what a node runs": (
        "label",
        lambda graph: vars(graph.nodes["label"]).update(node=RunnableLambda(plain)),
    ),
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


def test_a_builder_that_can_no_longer_be_compiled_is_found():
    """A builder that was broken after compiling is a finding, not an exception."""
    graph = triage()
    graph.builder.edges.add(("label", "nowhere"))
    assert "cannot be compiled again" in str(by_rule(verify(graph), "changed")[0])


def test_a_graph_that_was_not_compiled_by_the_grammar_has_no_door():
    """LangGraph's own compile leaves out the door, and so do hand-made graphs."""
    assert [finding.rule for finding in verify(StateGraph.compile(triage().builder))] == ["door"]
    handmade = StateGraph(State)
    handmade.add_node("answer", plain)
    handmade.add_edge(START, "answer")
    rules = {finding.rule for finding in verify(handmade.compile())}
    assert {"door", "foreign", "entry", "sealed", "reachable"} <= rules


def test_a_parent_graph_is_not_proved_by_its_subgraph():
    """A guarded graph inside a graph of one's own does not make that one a guarded graph."""
    parent = StateGraph(State)
    parent.add_node("triage", triage())
    parent.add_edge(START, "triage")
    assert {"door", "foreign"} <= {finding.rule for finding in verify(parent.compile())}


@pytest.mark.parametrize("given", [None, "rag", pattern(), triage().builder, triage().bind(stream_mode="values")])
def test_only_a_compiled_graph_can_be_proved(given):
    """Anything else is a clear error."""
    with pytest.raises(InputError, match=r"^verify: a compiled LangGraph graph is required; given: "):
        verify(given)


def test_a_finding_says_what_is_wrong_and_shows_the_way():
    """A finding reads as one line: rule, message, path."""
    found = by_rule(broken(edge("label", "lookup")), "bypass")
    assert [str(finding) for finding in found] == [
        "bypass: what label proposes reaches lookup past every guard [label -> lookup]"
    ]
    assert str(broken(node("extra"), edge("extra", "label_guard"))[0]) == "foreign: extra was not made by the grammar"

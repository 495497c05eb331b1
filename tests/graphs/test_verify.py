"""`verify` proves the grammar on a compiled graph, whoever made it and whatever was edited in it since."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda
from langgraph.cache.memory import InMemoryCache
from langgraph.channels import EphemeralValue, LastValue
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph._branch import BranchSpec
from langgraph.pregel._read import PregelNode
from langgraph.store.memory import InMemoryStore
from langgraph.types import CachePolicy, Command, RetryPolicy, TimeoutPolicy
from tampering import (
    Tame,
    WildRouter,
    branch,
    by_rule,
    channel,
    commanding,
    declared,
    edge,
    fails,
    lax,
    no_edge,
    node,
    overridden,
    plain,
    readable,
    replace_router,
    spec,
    ways,
)
from ticket_pattern import PHASES, REASONS, TICKET, Policy, State, pattern, triage
from typing_extensions import TypedDict

from guardgraph import (
    RULES,
    GuardedGraph,
    InputError,
    create_rag_agent,
    create_research_agent,
    create_self_critique_agent,
    verify,
)
from guardgraph.grammar import Budget, Catalogue
from guardgraph.graphs.running.node import EndingRouter, GrammarNode, Heard, Router
from guardgraph.world.live import LiveWorld

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


WIDE = Policy(labels=("anything",))


class Lax(GuardedGraph):
    """A graph with a door of its own."""

    def stream(self, input, config=None, **kwargs):
        """Let everything in."""
        yield {"routed": {"outcome": "routed"}}


class OwnNode(PregelNode):
    """A compiled node that would run something else."""


class WildSequence(Heard):
    """What would run in the place of a node and its writers."""

    def invoke(self, input, config=None, **kwargs):
        """Skip the writers."""
        return {}


def node_edit(name, **changed):
    """Return an edit of a compiled node."""
    return lambda graph: [setattr(graph.nodes[name], key, value) for key, value in changed.items()]


def cached(name, **changed):
    """Return an edit of what a compiled node has made of itself."""
    return lambda graph: vars(graph.nodes[name]).update(changed)


def made(**changed):
    """Return an edit of the grammar's own node of the first guard that judges."""
    return lambda graph: [setattr(graph.nodes["label_guard"].bound, key, value) for key, value in changed.items()]


def frame(**changed):
    """Return an edit of what the nodes of the pattern share, past its being frozen."""

    def edit(graph):
        for key, value in changed.items():
            object.__setattr__(graph.nodes["label_guard"].bound.frame, key, value)

    return edit


def channel_edit(name, **changed):
    """Return an edit of a channel, which the builder shares with what it compiled."""
    return lambda graph: [setattr(graph.channels[name], key, value) for key, value in changed.items()]


def whole(**changed):
    """Return an edit of the graph itself."""
    return lambda graph: [setattr(graph, key, value) for key, value in changed.items()]


def router(graph):
    """Return the router of the first guard that judges."""
    return graph.builder.branches["label_guard"]["route"].path


def redeclared(graph):
    """Give a guard a way more."""
    own = graph.nodes["label_guard"].bound
    own.declaration = replace(own.declaration, to=("lookup", "spam", "routed"))


def remade(graph):
    """Put another node with the same declaration into graph and builder alike."""
    own = graph.nodes["label_guard"].bound
    other = GrammarNode(own.declaration, plain, own.frame)
    graph.nodes["label_guard"].bound = graph.builder.nodes["label_guard"].runnable = other


def both_contexts(graph):
    """Let anything in as a context, by graph and builder."""
    graph.context_schema = graph.builder.context_schema = dict


EDITS = {
    "a channel's class": lambda graph: graph.channels.update(proposed_label=LastValue(str)),
    "a channel's type": channel_edit("accepted_label", typ=int),
    "a channel's reducer": channel_edit("log", operator=lambda old, new: new),
    "a channel's guard": channel_edit("route", guard=False),
    "a channel's key": channel_edit("route", key="verdict"),
    "a channel's value": channel_edit("accepted_label", value="bug"),
    "a channel that starts a node": lambda graph: graph.channels.update({"branch:to:lookup": LastValue(Any)}),
    "a channel more": lambda graph: graph.channels.update(extra=LastValue(str)),
    "a channel less": lambda graph: graph.channels.pop("refusal"),
    "a node's bound": node_edit("label", bound=RunnableLambda(plain)),
    "a node's triggers": node_edit("routed", triggers=["branch:to:label"]),
    "a node's channels": node_edit("lookup", channels=["proposed_label"]),
    "a node's mapper": node_edit("lookup", mapper=dict),
    "a node's tags": node_edit("label", tags=["x"]),
    "a node's metadata": node_edit("label", metadata={"kind": "guard"}),
    "a node's retries": node_edit("label", retry_policy=(RetryPolicy(max_attempts=9),)),
    "a node's cache": node_edit("label", cache_policy=CachePolicy()),
    "a node's timeout": node_edit("label", timeout=TimeoutPolicy(run_timeout=1)),
    "a node's handler": node_edit("label", error_handler_node="spam"),
    "a node's subgraphs": node_edit("label", subgraphs=["x"]),
    "a node's class": node_edit("label", __class__=OwnNode),
    "a node's writers": lambda graph: graph.nodes["label_guard"].writers.pop(),
    "a writer more": lambda graph: graph.attach_edge("label", "routed"),
    "a branch more": lambda graph: graph.attach_branch("label", "more", BranchSpec(Router(), {"routed": "routed"})),
    "a branch that leads elsewhere": lambda graph: setattr(
        graph.nodes["label_guard"].writers[1],
        "func",
        BranchSpec(RunnableLambda(lambda state: "routed"), {"routed": "routed"})._route,
    ),
    "a branch that reads more": lambda graph: graph.nodes["label_guard"].writers[1].kwargs.update(
        reader=lambda config: {"route": "lookup"}
    ),
    "a node less": lambda graph: graph.nodes.pop("spam"),
    "an edge in the builder": lambda graph: graph.builder.add_edge("label", "routed"),
    "a node in the builder": lambda graph: graph.builder.add_node("extra", plain),
    "a handler of errors": lambda graph: setattr(graph, "node_error_handler_map", {"label": "spam"}),
    "a node's flat writers": cached("label_guard", flat_writers=[]),
    "a node's cache of inputs": cached("lookup", input_cache_key=(None, ("proposed_label",))),
    "a node's steps": lambda graph: graph.nodes["label_guard"].node.plain.steps.pop(),
    "what a node's sequence does": lambda graph: setattr(graph.nodes["label_guard"].node, "__class__", WildSequence),
    "a node's sequence": lambda graph: setattr(graph.nodes["label_guard"].node, "invoke", plain),
    "what a node's sequence holds": lambda graph: vars(graph.nodes["label"].node).update(plain=plain),
    "a writer's writes": lambda graph: setattr(graph.nodes["label_guard"].writers[0], "writes", ()),
    "a writer's function": lambda graph: setattr(graph.nodes["label_guard"].writers[0], "func", plain),
    "nodes that changed places": lambda graph: graph.nodes.update(routed=graph.nodes["spam"]),
    "the beginning": node_edit("__start__", bound=RunnableLambda(plain)),
    "a body": made(body=plain),
    "a name": made(name="label"),
    "a declaration": redeclared,
    "a node remade": remade,
    "a method of a node": made(invoke=plain),
    "a class of a node": made(__class__=Tame),
    "another frame": lambda graph: made(frame=replace(graph.nodes["label_guard"].bound.frame, policy=WIDE))(graph),
    "the policy": frame(policy=WIDE),
    "the policy, inside": lambda graph: object.__setattr__(graph.nodes["label"].bound.frame.policy, "labels", ("x",)),
    "the budget": frame(budget=Budget(max_seconds=1e6)),
    "what the entry guard clears": frame(lasting=()),
    "what a stop may show": frame(evidence=frozenset({"proposed_label"})),
    "the context of a run": frame(context=dict),
    "the world": frame(world=LiveWorld()),
    "the recorder": frame(recorder=print),
    "the records of calls": frame(records=()),
    "the nodes": lambda graph: graph.nodes["label"].bound.frame.nodes.pop("spam"),
    "the catalogue": frame(catalogue=Catalogue("triage", PHASES, REASONS.reasons)),
    "the declarations": frame(declarations={}),
    "a declaration among them": lambda graph: graph.nodes["label"].bound.frame.declarations.pop("spam"),
    "a router's method": lambda graph: setattr(router(graph), "invoke", plain),
    "a router's class": lambda graph: setattr(router(graph), "__class__", WildRouter),
    "where a verdict leads": lambda graph: graph.builder.branches["label_guard"]["route"].ends.update(lookup="routed"),
    "the input channels": whole(input_channels=["accepted_label"]),
    "the output channels": whole(output_channels=["proposed_label"]),
    "the streamed channels": whole(stream_channels=["proposed_label"]),
    "the triggers": lambda graph: graph.trigger_to_nodes.update({"branch:to:label": ["routed"]}),
    "the context's schema": whole(context_schema=dict),
    "the context's schema twice": both_contexts,
    "the retries of all": whole(retry_policy=(RetryPolicy(),)),
    "the cache of all": whole(cache_policy=CachePolicy()),
    "the timeout of a step": whole(step_timeout=1.0),
    "the mapper of an output": whole(_output_mapper=dict),
    "a stream of its own": whole(stream=lambda *args, **kwargs: iter(())),
    "an invoke of its own": whole(invoke=plain),
    "another door": whole(_admit_input=lambda given: given),
    "another class": whole(__class__=Lax),
    "the builder's input": lambda graph: setattr(graph.builder, "input_schema", graph.builder.state_schema),
    "the builder's output": lambda graph: setattr(graph.builder, "output_schema", graph.builder.state_schema),
    "the builder's schemas": lambda graph: graph.builder.schemas[graph.builder.input_schema].update(run=LastValue(str)),
    "the builder's defaults": lambda graph: graph.builder.set_node_defaults(retry_policy=RetryPolicy(max_attempts=9)),
    "the builder's validate": lambda graph: setattr(graph.builder, "validate", lambda interrupt=None: graph.builder),
}  # fmt: skip


@pytest.mark.paired
@pytest.mark.unreplayable
@pytest.mark.parametrize("ran", [False, True], ids=["fresh", "after a run"])
@pytest.mark.parametrize("name", EDITS)
def test_an_edit_of_a_compiled_graph_is_found(name, ran):
    """Whatever is exchanged in a compiled graph, its nodes, channels, builder or what they share, is a finding."""
    graph = triage()
    if ran:
        graph.invoke(TICKET)
    EDITS[name](graph)
    assert verify(graph)


DEPLOYED = {
    "checkpointer": InMemorySaver(),
    "store": InMemoryStore(),
    "cache": InMemoryCache(),
    "interrupt_before_nodes": ["label"],
    "interrupt_after_nodes": "*",
    "stream_mode": "values",
    "name": "other",
    "debug": False,
    "config": {"tags": ["a"]},
}


@pytest.mark.parametrize("name", DEPLOYED)
def test_what_a_deployment_may_set_is_no_finding(name):
    """What LangGraph's `compile`, `copy` and `with_config` take leaves the proof as it was."""
    assert verify(triage().copy({name: DEPLOYED[name]})) == []


def test_a_subclass_has_a_door_of_its_own():
    """A graph of another class may do anything in the place of the door; the finding names the class."""
    graph = triage()
    graph.__class__ = Lax
    assert [str(finding) for finding in by_rule(verify(graph), "door")] == [
        "door: the graph is a Lax, whose door may be another"
    ]


BROKEN = {
    "foreign: a plain node": (["extra"], None, [node("extra"), edge("extra", "label_guard")]),
    "guarded: a plain node between": (
        ["extra", "label"],
        ("label", "extra"),
        [node("extra"), edge("label", "extra"), edge("extra", "label_guard")],
    ),
    "rounds: a write after other calls": (["lookup"], None, [declared("lookup", effects=("pay",), rounds=2)]),
    "foreign: a forged node": (
        ["extra"],
        None,
        [node("extra", metadata={"kind": "guard", "stops": ["llm"]}), edge("extra", "routed")],
    ),
    "foreign: a guard's own method": (["label_guard"], None, [overridden("node")]),
    "foreign: a branch's own method": (["label_guard"], None, [overridden("branch")]),
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
    "foreign: an error handler": (["extra"], None, [node("extra", error_handler=plain), edge("extra", "label_guard")]),
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
    "foreign: a branch without a path_map": (["label_guard"], None, [branch("label_guard", lambda state: "routed")]),
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
    "foreign: a guard's router at a stop": (
        ["stop_llm"],
        None,
        [lambda builder: replace_router(builder, "stop_llm", Router())],
    ),
    "foreign: a path map that says one thing and means another": (
        ["label_guard"],
        None,
        [ways("label_guard", stop_llm="lookup", lookup="stop_llm")],
    ),
    "foreign: a join": (["routed"], None, [lambda builder: builder.add_edge(["label_guard", "duty_guard"], "routed")]),
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
    "guarded: two guards at once": (["duty_guard", "label", "label_guard"], None, [edge("label", "duty_guard")]),
    "bypass: an edge": (["label", "lookup"], ("label", "lookup"), [edge("label", "lookup")]),
    "bypass: to a good end": (["label", "routed"], ("label", "routed"), [edge("label", "routed")]),
    "bypass: through a plain node": (
        ["label", "routed"],
        ("label", "extra", "routed"),
        [node("extra"), edge("label", "extra"), edge("extra", "routed")],
    ),
    "bypass: an open branch": (["label", "lookup"], ("label", "lookup"), [branch("label", lambda state: "lookup")]),
    "bypass: a join": (
        ["label", "routed"],
        ("label", "routed"),
        [lambda builder: builder.add_edge(["label", "label_guard"], "routed")],
    ),
    "raw: an act node": (["lookup"], None, [readable("lookup", "proposed_label")]),
    "raw: an ok terminal": (["routed"], None, [readable("routed", "found_duty")]),
    "raw: the record of calls": (["label_guard"], None, [readable("label_guard", "calls:label")]),
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
    "sealed: a guard that writes the output": (["duty_guard"], None, [declared("duty_guard", writes=("on_duty",))]),
    "triggers: a proposal that starts a tool": (["lookup"], None, [channel("branch:to:lookup", EphemeralValue(str))]),
    "triggers: a proposal in a schema": (
        ["lookup"],
        None,
        [lambda builder: builder._add_schema(TypedDict("Wider", {"branch:to:lookup": str}))],
    ),
    "triggers: an input that starts a tool": (
        ["lookup"],
        None,
        [lambda builder: builder.schemas[builder.input_schema].update({"branch:to:lookup": EphemeralValue(str)})],
    ),
    "triggers: a proposal that begins the run again": (["__start__"], None, [channel(START, EphemeralValue(str))]),
    "fresh: a proposal that stays": ([], None, [channel("proposed_label", LastValue(str))]),
    "fresh: an answer that stays": ([], None, [channel("on_duty", LastValue(str))]),
    "fresh: a log of one's own": ([], None, [lambda builder: builder.channels.update(task=builder.channels["log"])]),
    "exits: a plain edge": (["label_guard", "routed"], ("label_guard", "routed"), [edge("label_guard", "routed")]),
    "exits: a second branch": (["label_guard"], None, [branch("label_guard", lambda state: "spam", {"spam": "spam"})]),
    "exits: a stop that ends past its router": (["stop_llm"], ("stop_llm", END), [edge("stop_llm", END)]),
    "exits: an unrecorded stop that decides": (
        ["stop_audit_unavailable"],
        None,
        [branch("stop_audit_unavailable", EndingRouter(), {END: END})],
    ),
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
    "ends: a terminal without an end": (["stop_llm"], None, [ways("stop_llm", **{END: None})]),
    "ends: an unrecorded stop without an end": (
        ["stop_audit_unavailable"],
        None,
        [no_edge("stop_audit_unavailable", END)],
    ),
    "ends: a stop that is always recorded": (["stop_llm"], None, [ways("stop_llm", stop_audit_unavailable=None)]),
    "ends: an ok terminal that is always recorded": (["spam"], None, [ways("spam", stop_audit_unavailable=None)]),
    "ends: a guard past the recorder": (
        ["label_guard"],
        ("label_guard", "stop_audit_unavailable"),
        [ways("label_guard", stop_audit_unavailable="stop_audit_unavailable")],
    ),
    "ends: a proposal past the recorder": (
        ["label"],
        ("label", "stop_audit_unavailable"),
        [edge("label", "stop_audit_unavailable")],
    ),
    "families: declared, not drawn": (["label_guard"], None, [ways("label_guard", stop_llm=None)]),
    "families: drawn, not declared": (["duty_guard"], None, [ways("duty_guard", stop_llm="stop_llm")]),
    "families: another end": (["label_guard"], None, [declared("stop_llm", family="tool")]),
    "drawn: another way": (["duty_guard", "lookup"], ("duty_guard", "lookup"), [ways("duty_guard", lookup="lookup")]),
    "drawn: a way left out": (["label_guard", "spam"], None, [ways("label_guard", spam=None)]),
    "again: a proposal that it does not judge": (
        ["duty_guard", "label"],
        ("duty_guard", "label"),
        [declared("duty_guard", again=("label",)), ways("duty_guard", label="label")],
    ),
    "again: a tool": (
        ["label_guard", "lookup"],
        ("label_guard", "lookup"),
        [declared("label_guard", again=("lookup",))],
    ),
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
    "channels: read and never written": (["routed"], None, [declared("duty_guard", writes=())]),
    "behind: a way past the guard": (
        ["duty_guard", "lookup"],
        (START, "request_guard", "label", "label_guard", "lookup"),
        [declared("lookup", behind=("duty_guard",))],
    ),
    "behind: a cycle past the guard": (
        ["label_guard", "lookup"],
        ("lookup", "duty_guard", "lookup"),
        [declared("lookup", behind=("label_guard",)), ways("duty_guard", lookup="lookup")],
    ),
    "channels: found and never judged": (
        ["duty_guard", "lookup"],
        ("lookup", "duty_guard"),
        [declared("duty_guard", reads=())],
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_graph_fails_its_rule(name):
    """Each way of breaking the grammar is found, under its rule, with its nodes and its path."""
    nodes, path, tamper = BROKEN[name]
    fails(name.partition(":")[0], *nodes, path=path, tamper=tamper)


def test_every_rule_is_broken_here():
    """No rule stands untested, and each says what must hold; `tools` is broken beside the tests of licences."""
    assert {name.partition(":")[0] for name in BROKEN} == RULES.keys() - {"door", "changed", "limit", "tools"}
    assert all(rule.__doc__ for rule in RULES.values())

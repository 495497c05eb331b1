"""Edits of a compiled graph in place: `verify` finds those that change what runs, what is read or what is written."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda
from langgraph.cache.memory import InMemoryCache
from langgraph.channels import LastValue
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph._branch import BranchSpec
from langgraph.pregel._read import PregelNode
from langgraph.store.memory import InMemoryStore
from langgraph.types import CachePolicy, RetryPolicy, TimeoutPolicy
from tampering import Tame, WildRouter, by_rule, plain
from ticket_pattern import PHASES, REASONS, TICKET, Policy, triage

from guardgraph import GuardedGraph, verify
from guardgraph.grammar import Budget, Catalogue
from guardgraph.graphs.running.node import GrammarNode, Heard, Router
from guardgraph.world.live import LiveWorld

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


def node(name, **changed):
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


def channel(name, **changed):
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
    "a channel's type": channel("accepted_label", typ=int),
    "a channel's reducer": channel("log", operator=lambda old, new: new),
    "a channel's guard": channel("route", guard=False),
    "a channel's key": channel("route", key="verdict"),
    "a channel's value": channel("accepted_label", value="bug"),
    "a channel that starts a node": lambda graph: graph.channels.update({"branch:to:lookup": LastValue(Any)}),
    "a channel more": lambda graph: graph.channels.update(extra=LastValue(str)),
    "a channel less": lambda graph: graph.channels.pop("refusal"),
    "a node's bound": node("label", bound=RunnableLambda(plain)),
    "a node's triggers": node("routed", triggers=["branch:to:label"]),
    "a node's channels": node("lookup", channels=["proposed_label"]),
    "a node's mapper": node("lookup", mapper=dict),
    "a node's tags": node("label", tags=["x"]),
    "a node's metadata": node("label", metadata={"kind": "guard"}),
    "a node's retries": node("label", retry_policy=(RetryPolicy(max_attempts=9),)),
    "a node's cache": node("label", cache_policy=CachePolicy()),
    "a node's timeout": node("label", timeout=TimeoutPolicy(run_timeout=1)),
    "a node's handler": node("label", error_handler_node="spam"),
    "a node's subgraphs": node("label", subgraphs=["x"]),
    "a node's class": node("label", __class__=OwnNode),
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
    "the beginning": node("__start__", bound=RunnableLambda(plain)),
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

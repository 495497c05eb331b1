"""Every rule of `verify` fails on a graph that was broken to break it, and names the nodes and the path."""

from __future__ import annotations

import pytest
from langgraph.channels import EphemeralValue, LastValue
from langgraph.graph import END, START
from langgraph.types import CachePolicy, Command
from tampering import (
    Tame,
    WildRouter,
    branch,
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
from typing_extensions import TypedDict

from guardgraph import RULES, create_rag_agent
from guardgraph.graphs.running.node import EndingRouter, Router

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

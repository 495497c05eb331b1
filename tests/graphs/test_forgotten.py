"""What is forgotten in a declaration is found: by `compile` where declarations show it, else by the run that it closes.

`verify` proves declarations. A channel or a stop that a body needs and its node does not declare closes the run with
``guard_error``, and the details name it.
"""

from __future__ import annotations

import pytest
from runs import BOTH, check_result, run
from ticket_pattern import (
    PHASES,
    REASONS,
    TICKET,
    In,
    Out,
    Policy,
    State,
    check_duty,
    check_label,
    check_request,
    is_bug,
    label,
    lookup,
    on_duty,
    routed,
    spam,
)

from guardgraph import grammar as gg
from guardgraph import verify

NODES = {
    "request_guard": ("entry", check_request, {"writes": ["task"], "to": "label"}),
    "label": (
        "propose",
        label(is_bug),
        {"phase": "label", "reads": ["task"], "writes": ["proposed_label"], "to": "label_guard"},
    ),
    "label_guard": (
        "guard",
        check_label,
        {
            "phase": "label",
            "reads": ["proposed_label"],
            "writes": ["accepted_label"],
            "to": ["lookup", "spam"],
            "stops": ["llm", "invalid_label"],
        },
    ),
    "lookup": (
        "act",
        lookup(on_duty),
        {"phase": "lookup", "reads": ["accepted_label"], "writes": ["found_duty"], "to": "duty_guard"},
    ),
    "duty_guard": (
        "guard",
        check_duty,
        {
            "phase": "lookup",
            "reads": ["found_duty"],
            "writes": ["accepted_duty"],
            "to": "routed",
            "stops": ["desk_denied", "tool"],
        },
    ),
    "routed": (
        "terminal",
        routed,
        {"phase": "lookup", "reads": ["accepted_label", "accepted_duty"], "writes": ["outcome", "label", "on_duty"]},
    ),
    "spam": ("terminal", spam, {"phase": "label", "reads": ["accepted_label"], "writes": ["outcome", "label"]}),
}
"""The ticket pattern node by node: kind, body, and what it says of itself."""


def built(changes=None, *, bodies=None, catalogue=REASONS):
    """Compile the ticket pattern, with changes to what its nodes say."""
    p = gg.Pattern(catalogue, state=State, input=In, output=Out, policy=Policy(), budget=gg.Budget())
    for name, (kind, body, says) in NODES.items():
        own = {**says, **(changes or {}).get(name, {})}
        getattr(p, kind)(name, (bodies or {}).get(name, body), **own)
    return p.compile()


def reasons(**common):
    """Return the ticket pattern's catalogue with other common reasons."""
    own = [item for item in REASONS if item.family in ("invalid_label", "desk_denied", "tool")]
    return gg.Catalogue("triage", PHASES, [*gg.common_reasons(phases=PHASES, **common), *own])


def closed(node, told, graph, *, catalogue=REASONS, given=TICKET, mode="invoke"):
    """Assert that a graph is accepted, and that its run is closed at a node, with this in the message."""
    assert verify(graph) == []
    result = check_result(catalogue, run(graph, given, mode))
    assert (result["stop_reason"], result["path"][-1]) == (f"guard_error:{node}", "stop_guard_error")
    assert told in result["details"]["message"]
    return result["details"]


@pytest.mark.parametrize(
    ("stops", "proposed", "stop"),
    [(["llm"], {"label": "none"}, "invalid_label"), (["invalid_label"], float("nan"), "llm_bad_response")],
)
def test_a_forgotten_stop_family_closes_the_run(stops, proposed, stop):
    """What a guard raises, or reads a proposal with, is carried out only where the guard declares its family."""
    graph = built({"label_guard": {"stops": stops}}, bodies={"label": label(lambda view: proposed)})
    closed("label_guard", f"raised Stop('{stop}'", graph)


def closing(state, run):
    """Leave the refusal to a function."""
    return refusing(state)


def refusing(state):
    """Refuse every desk."""
    raise gg.Stop(f"desk_denied:{state['accepted_label']}")


def test_a_family_that_a_function_raises_and_no_guard_declares_closes_the_run():
    """A body may leave the refusal to a function of its own; the guard behind its node is named."""
    graph = built({"duty_guard": {"stops": ["tool"]}}, bodies={"lookup": closing})
    closed("duty_guard", "raised Stop('desk_denied:bug'", graph)


def mistyped(state, run):
    """Raise a reason that there is not."""
    raise gg.Stop("invalid_lable")


@pytest.mark.parametrize(("node", "closes"), [("label", "label_guard"), ("label_guard", "label_guard")])
def test_a_reason_that_the_catalogue_does_not_have_closes_the_run(node, closes):
    """A misspelt reason is named, whichever node raises it."""
    closed(closes, "raised Stop('invalid_lable'", built(bodies={node: mistyped}))


def test_an_ok_terminal_that_stops_closes_the_run():
    """Only guards and what stands in front of them stop a run; the stop is named."""
    details = closed("routed", "invalid_lable", built(bodies={"routed": mistyped}))
    assert details["type"] == "Stop"


@pytest.mark.paired
@pytest.mark.parametrize("mode", BOTH)
@pytest.mark.parametrize(
    ("node", "reads", "channel"),
    [
        ("label_guard", ["proposed_label"], "task"),
        ("lookup", ["task"], "accepted_label"),
        ("routed", ["accepted_label"], "accepted_duty"),
        ("label", [], "task"),
    ],
)
def test_a_channel_that_a_body_reads_undeclared_closes_the_run(node, reads, channel, mode):
    """Whatever the kind of the node, the details name the channel, and say that the node does not declare it."""
    bodies = {"label_guard": lambda state, run: on(state["task"])} if node == "label_guard" else {}
    graph = built({node: {"reads": reads}}, bodies=bodies)
    details = closed(node, "", graph, mode=mode)
    assert {*details.pop("at")} == {"file", "line", "function"}
    assert details == {"type": "KeyError", "message": f"'{channel}', a channel that {node} does not declare"}


def on(state):
    """Return what a guard writes that lets the run go on."""
    return gg.Pass({"accepted_label": "bug" if state else "spam"}, "lookup")


def careful(state, run):
    """Read what may be there, and let a failure of the model pass."""
    task = "task" in state and state["task"]
    try:
        given = gg.proposed_object(state["proposed_label"]).value
    except gg.Stop:
        given = {"label": "bug"}
    return gg.Pass({"accepted_label": given["label"] if task else "bug"}, "lookup")


def asked_before(state, run):
    """Read where there is something to read, in each of the ways to find out."""
    found = [state["perhaps"] for _ in range(bool(state.get("perhaps")))]
    found += [state["perhaps"]] if "perhaps" in state.keys() else []  # noqa: SIM118 - what is tested
    return on((state.get("perhaps") and state["perhaps"]) or found or state)


def caught(state, run):
    """Handle what is missing and what stops."""
    try:
        return on(state["task"])
    except KeyError:
        pass
    try:
        raise gg.Stop("caught")
    except gg.Stop:
        return on(state)


@pytest.mark.parametrize("body", [careful, asked_before, caught])
def test_what_a_body_handles_itself_closes_no_run(body):
    """A channel that is not declared is not there, which a body may find out; a stop that it catches is none."""
    graph = built({"label_guard": {"stops": []}}, bodies={"label_guard": body}, catalogue=reasons())
    assert graph.invoke(TICKET)["outcome"] == "routed"

"""A node is declared once: what a body says of itself stands beside it, and a pattern says who follows whom."""

from __future__ import annotations

import pytest
from ticket_pattern import REASONS, TICKET, In, Out, Policy, State, check_label, check_request, is_bug, label

from guardgraph import GrammarError, create_rag_agent, create_research_agent, create_self_critique_agent, draw
from guardgraph.grammar import Budget, Pass, Pattern, declares

GUARD = {"phase": "label", "reads": ["proposed_label"], "writes": ["accepted_label"], "stops": ["llm", "invalid_label"]}
PROPOSE = {"phase": "label", "reads": ["task"], "writes": ["proposed_label"]}
END = {"phase": "label", "reads": ["accepted_label"], "writes": ["outcome", "label"]}
KINDS = ["propose", "act", "review", "guard", "terminal"]


def body(state, run):
    """Stand in for a body that says nothing of itself."""
    return {}


def saying(**fields):
    """Return a body that says this of itself."""

    @declares(**fields)
    def declared(state, run):
        return Pass()

    return declared


def empty():
    """Return a pattern without nodes."""
    return Pattern(REASONS, state=State, input=In, output=Out, policy=Policy(), budget=Budget())


def add(kind, own=body, **given):
    """Declare one node."""
    ways = {} if kind == "terminal" else {"to": "spam"}
    getattr(empty(), kind)("n", own, **ways, **given)


def labelled(*, beside):
    """Return a small graph, declared beside its bodies or in the pattern."""

    def split(fields, own):
        return (declares(**fields)(own), {}) if beside else (own, fields)

    def check(state, run):
        return Pass(check_label(state, run).writes)

    def request(state, run):
        return check_request(state, run)

    def end(state, run):
        return {"outcome": "spam", "label": state["accepted_label"]}

    p = empty()
    own, given = split({"writes": ["task"]}, request)
    p.entry("request_guard", own, to="label", **given)
    own, given = split(PROPOSE, label(is_bug))
    p.propose("label", own, to="label_guard", **given)
    own, given = split(GUARD, check)
    p.guard("label_guard", own, to="spam", **given)
    own, given = split(END, end)
    p.terminal("spam", own, **given)
    return p.compile(name="labelled")


def declared_in(graph):
    """Return what the nodes of a graph are declared to be, in their order."""
    nodes = graph.builder.nodes
    return [(name, spec.metadata, [*spec.input_schema.__annotations__]) for name, spec in nodes.items()]


def test_what_stands_beside_the_bodies_makes_the_same_graph():
    """Where a declaration stands changes nothing: nodes, metadata, what each can read, the picture, the result."""
    one, other = labelled(beside=True), labelled(beside=False)
    assert declared_in(one) == declared_in(other)
    assert draw(one).mermaid == draw(other).mermaid
    assert one.invoke(TICKET)["outcome"] == other.invoke(TICKET)["outcome"] == "spam"


@pytest.mark.parametrize("field", GUARD)
def test_a_field_is_said_once(field):
    """What a body and the pattern both say is refused, even where they agree; the message names node and field."""
    with pytest.raises(
        GrammarError, match=rf"^node 'n', {field}: said twice, beside its body \(.+\) and in the pattern"
    ):
        add("guard", saying(**GUARD), **{field: GUARD[field]})


@pytest.mark.parametrize("kind", KINDS)
def test_what_nobody_says_is_refused(kind):
    """A node without a phase, without what it reads or, unless it is a guard, what it writes is no node."""
    missing = "phase, reads" if kind == "guard" else "phase, reads, writes"
    with pytest.raises(GrammarError, match=rf"^node 'n', {missing}: required, beside its body or in the pattern$"):
        add(kind)
    with pytest.raises(GrammarError, match=r"^node 'n', phase: required, "):
        add(kind, saying(reads=[], writes=[]))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "guard"])
def test_only_a_guard_stops(kind):
    """Stop families beside any other body would be drawn nowhere, so they are refused."""
    with pytest.raises(GrammarError, match=r"^node 'n', stops: given llm; allowed: nothing, only a guard stops$"):
        add(kind, saying(**PROPOSE, stops=["llm"]))


@pytest.mark.paired
@pytest.mark.parametrize("given", ["task", 3, True])
@pytest.mark.parametrize("field", ["reads", "writes", "stops"])
def test_names_are_a_list(field, given):
    """A text is not taken for its letters, neither beside a body nor in a pattern."""
    with pytest.raises(GrammarError, match=rf"^declares, {field}: a list of names is required; given: {given!r}$"):
        declares(**{field: given})
    with pytest.raises(GrammarError, match=rf"^node 'n', {field}: a list of names is required; given: {given!r}$"):
        add("guard", **{**GUARD, field: given})


def test_a_body_is_declared_once():
    """A second declaration would silently win over the first."""
    with pytest.raises(GrammarError, match=r"^declares: once for a body; .*declared has Declares\(phase='label', "):
        declares(phase="lookup")(saying(phase="label"))


def test_only_a_function_can_be_declared():
    """What cannot keep a declaration is refused where it is declared."""
    with pytest.raises(GrammarError, match=r"^declares: a function is required; given: object$"):
        declares(phase="label")(object())


@pytest.mark.parametrize("create", [create_rag_agent, create_research_agent, create_self_critique_agent])
def test_every_body_of_the_agents_declares_itself(create):
    """Beside each body stands what the metadata of its node has."""
    nodes = create().builder.nodes
    for name, spec in nodes.items():
        own = getattr(spec.runnable.body, "declares", None)
        if name == "request_guard":
            assert own.writes == ("task",)
        elif not name.startswith("stop_"):
            assert (own.phase, list(own.writes or ())) == (spec.metadata["phase"], spec.metadata["writes"])
            assert set(own.stops or ()) <= set(spec.metadata.get("stops", ()))

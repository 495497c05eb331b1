"""What is forgotten in a pattern is found when it is compiled, with the name of the node, and not by a run.

A forgotten stop family, a phase that asks and is not among the catalogue's, a channel that nobody reads or writes.
"""

from __future__ import annotations

import re
from contextlib import suppress
from functools import wraps

import pytest
from refund_pattern import refund
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
    triage,
)

from guardgraph import GrammarError, verify
from guardgraph import grammar as gg

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


def refuses(message, *args, **kwargs):
    """Assert that a pattern is refused with a finding that begins so."""
    with pytest.raises(GrammarError, match=re.compile(f"^{re.escape(message)}", re.MULTILINE)):
        built(*args, **kwargs)


def test_the_whole_pattern_is_accepted():
    """Nothing is forgotten in it."""
    assert built().invoke(TICKET)["outcome"] == "routed"
    assert verify(built()) == verify(triage()) == verify(refund()) == []


@pytest.mark.parametrize(
    ("node", "stops", "message"),
    [
        (
            "label_guard",
            ["llm"],
            "label_guard can stop with invalid_label, of the family invalid_label, which ",
        ),
        (
            "label_guard",
            ["invalid_label"],
            "label_guard can stop with llm_invalid_json, of the family llm, which ",
        ),
        ("duty_guard", ["desk_denied"], "duty_guard can stop with tool_invalid_output:, of the family tool, which "),
    ],
)
def test_a_forgotten_stop_family_is_found(node, stops, message):
    """What a guard raises, and what it reads a proposal or a tool's result with, says which families it needs."""
    refuses(f"bodies: {message}", {node: {"stops": stops}})


def test_a_family_that_a_function_raises_and_no_guard_declares_is_found():
    """A body may leave the refusal to a function of its own; the node that calls it is named."""
    refuses(
        "bodies: lookup can stop at duty_guard with desk_denied:, of the family desk_denied, which no guard declares",
        {"duty_guard": {"stops": ["tool"]}},
    )


def test_a_forgotten_asking_phase_is_found():
    """A guard that reads a model's proposal can stop for its failure, in its own phase."""
    refuses(
        "bodies: label_guard can stop with llm_timeout in phase label; the catalogue has it in lookup",
        catalogue=reasons(asking=["lookup"]),
    )
    refuses(
        "bodies: label_guard can stop with llm_timeout, which the catalogue does not have",
        {"label_guard": {"stops": ["invalid_label"]}},
        catalogue=reasons(),
    )


def test_a_person_who_is_asked_needs_the_reasons_of_a_review():
    """The guard behind a review node that forgets its family is named."""
    from refund_pattern import pattern

    p = pattern()
    guard = p.declarations["approval_guard"]
    families = tuple(family for family in guard.stops if family != "review")
    p.declarations["approval_guard"] = type(guard)(
        guard.name, guard.kind, guard.phase, guard.reads, guard.writes, guard.to, families
    )
    with pytest.raises(GrammarError, match="approval_guard can stop with review_unavailable, of the family review"):
        p.compile()


def mistyped(state, run):
    """Raise a reason that there is not."""
    if state["proposed_label"]:
        raise gg.Stop("invalid_lable")
    return gg.Pass({"accepted_label": "bug"}, "lookup")


def test_a_reason_that_the_catalogue_does_not_have_is_found():
    """A misspelt reason is told before it closes a run."""
    refuses(
        "bodies: label_guard can stop with invalid_lable, which the catalogue does not have",
        bodies={"label_guard": mistyped},
    )


@pytest.mark.parametrize(
    ("node", "reads", "message"),
    [
        ("label_guard", [], "label_guard reads proposed_label, which it does not declare"),
        ("lookup", ["task"], "lookup reads accepted_label, which it does not declare"),
        ("routed", ["accepted_label"], "routed reads accepted_duty, which it does not declare"),
        ("label", [], "label reads task, which it does not declare"),
    ],
)
def test_a_channel_that_a_body_reads_undeclared_is_found(node, reads, message):
    """A run would end with a bare KeyError at that node; a function that is shown the state is read too."""
    refuses(f"bodies: {message}", {node: {"reads": reads}})


def test_a_channel_that_nobody_writes_is_found():
    """Whoever reads it waits for nothing."""
    refuses(
        "channels: routed reads accepted_duty, which no node writes",
        {"duty_guard": {"writes": []}},
    )


def silent(state, run):
    """Judge without looking."""
    return gg.Pass({"accepted_duty": "ann"})


def test_a_channel_that_is_brought_and_not_judged_is_found():
    """What a node that calls out writes lives for one step: its guard reads it, or nobody does."""
    refuses(
        "channels: lookup writes found_duty, which the guard behind it, duty_guard, does not read",
        {"duty_guard": {"reads": [], "stops": ["desk_denied", "tool"]}},
        bodies={"duty_guard": silent},
    )


def careful(state, run):
    """Read what may be there, and let a failure of the model pass."""
    task = "task" in state and state["task"]
    try:
        given = gg.proposed_object(state["proposed_label"]).value
    except gg.Stop:
        given = {"label": "bug"}
    return gg.Pass({"accepted_label": given["label"] if task else "bug"}, "lookup")


def computed(state, run):
    """Raise what is put together while the run goes on."""
    kind = "_".join(["invalid", "label"])
    if state["proposed_label"] == "":
        raise gg.Stop(kind)
    return gg.Pass({"accepted_label": "bug"}, "lookup")


def on(state):
    """Return what a guard writes that lets the run go on."""
    return gg.Pass({"accepted_label": "bug" if state else "spam"}, "lookup")


def renamed(body):
    """Decorate a body that reads a view of its own."""

    @wraps(body)
    def inner(state, run):
        return body({"label": state["proposed_label"]}, run)

    return inner


def lenient(body):
    """Decorate a body whose stops let the run go on."""

    @wraps(body)
    def inner(state, run):
        try:
            return body(state, run)
        except gg.Stop:
            return on(state)

    return inner


@renamed
def decorated(state, run):
    """Read what the decorator shows."""
    return on(state["label"])


@lenient
def forgiven(state, run):
    """Raise what the decorator catches."""
    if state["proposed_label"]:
        raise gg.Stop("forgiven")
    return on(state)


def for_one_of_two(is_other):
    """Return a body that other guards have too, which read and stop otherwise."""

    def body(state, run):
        given = state["proposed_other"] if is_other else state["proposed_label"]
        if is_other and not given:
            raise gg.Stop("invalid_other")
        return on(given)

    return body


def rebound(state, run):
    """Read a dictionary of its own by the name of the state."""
    state = {**state, "mine": 1}
    return on(state["mine"])


def filled(state, run):
    """Read what it filled in before."""
    state.setdefault("mine", 1)
    state["other"] = 1
    return on(state["mine"] and state["other"])


def suppressed(state, run):
    """Leave exceptions to contexts that end them."""
    with suppress(KeyError):
        state["perhaps"]
    with suppress(gg.Stop):
        if state["proposed_label"]:
            raise gg.Stop("suppressed")
    return on(state)


def asked_before(state, run):
    """Read where there is something to read, in each of the ways to find out."""
    found = [state["perhaps"] for _ in range(bool(state.get("perhaps")))]
    found += [state["perhaps"]] if "perhaps" in state.keys() else []  # noqa: SIM118 - what is tested
    return on((state.get("perhaps") and state["perhaps"]) or found or state)


def inside(state, run):
    """Read in functions that nobody calls, and by helpers that may fail."""

    def never():
        raise gg.Stop("never", details=state["never"])

    try:
        helped(state)
    except KeyError:
        return on(never)
    return on(lambda: state["never"])


def helped(state):
    """Read what may not be there."""
    return state["perhaps"]


def returned_early(state, run):
    """Read what only another way needs."""
    if state["proposed_label"]:
        return on(state)
    return on(state["other_way"])


def matched(state, run):
    """Find the channel that is there."""
    match state:
        case {"proposed_label": _}:
            return on(state)
        case _:
            return on(state["other_way"])


def listed(state, run):
    """Know stops without raising one."""
    return on([gg.Stop("known_elsewhere")])


HONEST = [careful, computed, decorated, forgiven, for_one_of_two(False), rebound, filled, suppressed, asked_before]
HONEST += [inside, returned_early, matched, listed]


@pytest.mark.parametrize("body", HONEST)
def test_what_a_body_handles_or_computes_is_left_to_the_run(body):
    """Only what the code says in so many words is held against the declaration."""
    graph = built({"label_guard": {"stops": []}}, bodies={"label_guard": body}, catalogue=reasons())
    assert graph.invoke(TICKET)["outcome"] == "routed"


def stumbling(state, run):
    """Read, on the way that is taken, what the node does not declare."""
    return on(state["task"] if state["proposed_label"] else state)


def test_a_channel_that_only_the_run_finds_undeclared_is_named():
    """What no proof can know closes the run at the node, and the details name the channel."""
    result = built(bodies={"label_guard": stumbling}).invoke(TICKET)
    told = "'task', a channel that label_guard does not declare"
    assert result["stop_reason"] == "guard_error:label_guard"
    assert result["details"] == {"type": "KeyError", "message": told}


def late_read(state, run):
    """Refuse first, under evidence, and read then what every accepted run needs."""
    with gg.evidence(raw_label=1):
        if not state["proposed_label"]:
            raise gg.Stop("invalid_label")
    return on(state["task"])


def test_a_channel_that_is_read_behind_a_refusal_is_found():
    """No run can get on without it."""
    refuses("bodies: label_guard reads task, which it does not declare", bodies={"label_guard": late_read})


def test_a_reason_of_the_grammars_own_stands_in_its_own_family():
    """Another family for guard_error would leave a failing guard without a way out."""
    rest = [item for item in REASONS if item.family != "guard_error"]
    other = gg.StopReason("guard_error:<guard>", "broken", PHASES, "m", "a")
    named = gg.StopReason("odd", "guard_error", PHASES, "m", "a")
    with pytest.raises(GrammarError, match="family of guard_error:request_guard: given broken; allowed: guard_error"):
        built(catalogue=gg.Catalogue("triage", PHASES, [*rest, other, named]))

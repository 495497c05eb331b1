"""A small fourth pattern for tests of the mechanism: a model labels a ticket, a tool finds who is on duty.

Every body can be replaced, so that a test can make any node misbehave::

    triage(bodies={"label_guard": lambda state, run: {"accepted_label": "bug"}}).invoke(TICKET)
"""

from typing import Any, NotRequired

from typing_extensions import TypedDict

from guardgraph.grammar import (
    Allowlist,
    Budget,
    Call,
    Catalogue,
    Pass,
    Pattern,
    Proposer,
    Result,
    Settings,
    Step,
    Stop,
    StopReason,
    common_reasons,
    found,
    proposed_object,
)

TICKET = {"ticket": "The invoice is wrong"}
TIGHT = {"policy": {"labels": ["billing"]}}
"""A context under which the default label is not allowed."""
PHASES = ("label", "lookup")


class In(TypedDict):
    ticket: str


class State(TypedDict):
    task: str
    proposed_label: str
    accepted_label: str
    found_duty: str
    accepted_duty: str


class Out(Result):
    label: NotRequired[str]
    on_duty: NotRequired[str]
    raw_label: NotRequired[Any]


class Policy(Settings):
    labels: Allowlist = ("billing", "bug", "spam")
    desks: Allowlist = ("billing", "bug")


REASONS = Catalogue(
    "triage",
    PHASES,
    [
        *common_reasons(phases=PHASES, asking=["label"], tools={"lookup": "lookup"}),
        StopReason("invalid_label", "invalid_label", ("label",), "No such label.", "Look at raw_label."),
        StopReason("desk_denied:<name>", "desk_denied", ("lookup",), "The desk is closed.", "Open it."),
        StopReason("tool_invalid_output:lookup", "tool", ("lookup",), "The tool failed.", "Mend it."),
    ],
)


def check_request(state, run):
    if not isinstance(state.get("ticket"), str):
        raise Stop("invalid_request:ticket", details={"allowed": "a text"})
    return Pass({"task": state["ticket"]})


def label(proposer):
    """Ask for a label."""

    def body(state, run):
        outcome = yield Proposer(proposer, {"proposer": "test"}).call({"ticket": state["task"]})
        return {"proposed_label": outcome.packed()}

    return body


def check_label(state, run):
    """Hold the label against the list; spam ends here."""
    given = proposed_object(state["proposed_label"])
    value = given.value.get("label") if isinstance(given.value, dict) else None
    if value not in run.policy.labels:
        raise Stop("invalid_label", raw_label=given.raw)
    step = Step({"phase": "label", "labels": 1}, {"action": "label", "label": value, **given.about})
    return Pass({"accepted_label": value}, "spam" if value == "spam" else "lookup", (step,))


def lookup(tool):
    """Ask a tool who is on duty."""

    def body(state, run):
        desk = open_desk(state, run)
        outcome = yield Call("tool", tool, {"desk": desk})
        return {"found_duty": outcome.packed()}

    return body


def open_desk(state, run):
    if state["accepted_label"] not in run.policy.desks:
        raise Stop(f"desk_denied:{state['accepted_label']}")
    return state["accepted_label"]


def check_duty(state, run):
    """Check what the tool found."""
    duty = found(state["found_duty"], "lookup")
    if not isinstance(duty, str):
        raise Stop("tool_invalid_output:lookup", details={"given": duty})
    step = Step({"phase": "lookup"}, {"action": "lookup", "on_duty": duty})
    return Pass({"accepted_duty": duty}, steps=(step,))


def routed(state, run):
    return {"outcome": "routed", "label": state["accepted_label"], "on_duty": state["accepted_duty"]}


def spam(state, run):
    return {"outcome": "spam", "label": "spam"}


def is_bug(request):
    return {"label": "bug"}


def on_duty(request):
    """Find always the same."""
    return f"Ada ({request['desk']})"


def pattern(proposer=is_bug, tool=on_duty, *, bodies=None, policy=None, budget=None, catalogue=REASONS):
    """Return the pattern, with `bodies` in the place of its own."""
    own = bodies or {}
    p = Pattern(catalogue, state=State, input=In, output=Out, policy=policy or Policy(), budget=budget or Budget())
    p.entry("request_guard", own.get("request_guard", check_request), writes=["task"], to="label")
    p.propose(
        "label",
        own.get("label", label(proposer)),
        phase="label",
        reads=["task"],
        writes=["proposed_label"],
        to="label_guard",
    )
    p.guard(
        "label_guard",
        own.get("label_guard", check_label),
        phase="label",
        reads=["proposed_label"],
        writes=["accepted_label"],
        to=["lookup", "spam"],
        stops=["llm", "invalid_label"],
    )
    p.act(
        "lookup",
        own.get("lookup", lookup(tool)),
        phase="lookup",
        reads=["accepted_label"],
        writes=["found_duty"],
        to="duty_guard",
    )
    p.guard(
        "duty_guard",
        own.get("duty_guard", check_duty),
        phase="lookup",
        reads=["found_duty"],
        writes=["accepted_duty"],
        to="routed",
        stops=["desk_denied", "tool"],
    )
    writes = ["outcome", "label", "on_duty"]
    reads = ["accepted_label", "accepted_duty"]
    p.terminal("routed", own.get("routed", routed), phase="lookup", reads=reads, writes=writes)
    p.terminal("spam", own.get("spam", spam), phase="label", reads=["accepted_label"], writes=["outcome", "label"])
    return p


def triage(*args, checkpointer=None, world=None, recorder=None, shadow=None, **kwargs):
    compiled = {"checkpointer": checkpointer, "world": world, "recorder": recorder, "shadow": shadow}
    return pattern(*args, **kwargs).compile(name="triage", **compiled)

"""A small fourth pattern for tests of the mechanism: a model labels a ticket, a tool finds who is on duty.

Every body can be replaced, so that a test can make any node misbehave::

    triage(bodies={"label_guard": lambda state, run: {"accepted_label": "bug"}}).invoke(TICKET)
"""

from typing import Any, NotRequired

from typing_extensions import TypedDict

import guardgraph.grammar as gg

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


class Out(gg.Result):
    label: NotRequired[str]
    on_duty: NotRequired[str]
    raw_label: NotRequired[Any]


class Policy(gg.Settings):
    labels: gg.Allowlist = ("billing", "bug", "spam")
    desks: gg.Allowlist = ("billing", "bug")


class Audited(Policy, gg.Policy):
    """The policy of a deployment that may require an audit."""


OWN = [
    gg.StopReason("invalid_label", "invalid_label", ("label",), "No such label.", "Look at raw_label."),
    gg.StopReason("desk_denied:<name>", "desk_denied", ("lookup",), "The desk is closed.", "Open it."),
    gg.StopReason("tool_invalid_output:lookup", "tool", ("lookup",), "The tool failed.", "Mend it."),
]
COMMON = gg.common_reasons(phases=PHASES, asking=["label"], tools={"lookup": "lookup"})
REASONS = gg.Catalogue("triage", PHASES, [*COMMON, *OWN])


def check_request(state, run):
    if not isinstance(state.get("ticket"), str):
        raise gg.Stop("invalid_request:ticket", details={"allowed": "a text"})
    return gg.Pass({"task": state["ticket"]})


def label(proposer):
    """Ask for a label."""

    def body(state, run):
        outcome = yield gg.Proposer(proposer, {"proposer": "test"}).call({"ticket": state["task"]})
        return {"proposed_label": outcome.packed()}

    return body


def check_label(state, run):
    """Hold the label against the list; spam ends here."""
    given = gg.proposed_object(state["proposed_label"])
    value = given.value.get("label") if isinstance(given.value, dict) else None
    if value not in run.policy.labels:
        raise gg.Stop("invalid_label", raw_label=given.raw)
    step = gg.Step({"phase": "label", "labels": 1}, {"action": "label", "label": value, **given.about})
    return gg.Pass({"accepted_label": value}, "spam" if value == "spam" else "lookup", (step,))


def lookup(tool):
    """Ask a tool who is on duty."""

    def body(state, run):
        if state["accepted_label"] not in run.policy.desks:
            raise gg.Stop(f"desk_denied:{state['accepted_label']}")
        outcome = yield gg.Call("tool", tool, {"desk": state["accepted_label"]})
        return {"found_duty": outcome.packed()}

    return body


def check_duty(state, run):
    """Check what the tool found."""
    duty = gg.found(state["found_duty"], "lookup")
    if not isinstance(duty, str):
        raise gg.Stop("tool_invalid_output:lookup", details={"given": duty})
    step = gg.Step({"phase": "lookup"}, {"action": "lookup", "on_duty": duty})
    return gg.Pass({"accepted_duty": duty}, steps=(step,))


def routed(state, run):
    return {"outcome": "routed", "label": state["accepted_label"], "on_duty": state["accepted_duty"]}


def spam(state, run):
    return {"outcome": "spam", "label": "spam"}


def is_bug(request):
    return {"label": "bug"}


def on_duty(request):
    """Find always the same."""
    return f"Ada ({request['desk']})"


BODIES = {"request_guard": check_request, "label_guard": check_label, "duty_guard": check_duty}
BODIES |= {"routed": routed, "spam": spam}


def pattern(proposer=is_bug, tool=on_duty, *, bodies=None, policy=None, budget=None, catalogue=REASONS):
    """Return the pattern, with `bodies` in the place of its own."""
    own = {**BODIES, "label": label(proposer), "lookup": lookup(tool), **(bodies or {})}
    limits = {"policy": policy or Policy(), "budget": budget or gg.Budget()}
    p = gg.Pattern(catalogue, state=State, input=In, output=Out, **limits)
    p.entry("request_guard", own["request_guard"], writes=["task"], to="label")
    asks = {"reads": ["task"], "writes": ["proposed_label"], "to": "label_guard"}
    p.propose("label", own["label"], phase="label", **asks)
    judges = {"reads": ["proposed_label"], "writes": ["accepted_label"], "stops": ["llm", "invalid_label"]}
    p.guard("label_guard", own["label_guard"], phase="label", to=["lookup", "spam"], **judges)
    looks = {"reads": ["accepted_label"], "writes": ["found_duty"], "to": "duty_guard"}
    p.act("lookup", own["lookup"], phase="lookup", **looks)
    judges = {"reads": ["found_duty"], "writes": ["accepted_duty"], "stops": ["desk_denied", "tool"]}
    p.guard("duty_guard", own["duty_guard"], phase="lookup", to="routed", **judges)
    ends = {"reads": ["accepted_label", "accepted_duty"], "writes": ["outcome", "label", "on_duty"]}
    p.terminal("routed", own["routed"], phase="lookup", **ends)
    p.terminal("spam", own["spam"], phase="label", reads=["accepted_label"], writes=["outcome", "label"])
    return p


def triage(*args, checkpointer=None, world=None, recorder=None, shadow=None, **kwargs):
    compiled = {"checkpointer": checkpointer, "world": world, "recorder": recorder, "shadow": shadow}
    return pattern(*args, **kwargs).compile(name="triage", **compiled)

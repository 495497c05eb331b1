"""What nobody knows of another agent's run is unknown: a live run of it need not have had the recorded result.

Each test runs both agents: the candidate's live run differs from what the recording alone would say.
"""

from __future__ import annotations

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt
from recorded_runs import recorded
from tables import each_row
from ticket_pattern import TICKET, Policy, triage

from guardgraph.grammar import Call
from guardgraph.graphs.replay import replay
from guardgraph.graphs.shadows import judge_recording_again
from guardgraph.testing import InMemoryRecorder


def by_desk(tool, **call):
    """Return a maker of agents whose lookup calls a tool, with what a function of the run adds to the call."""

    def lookup(state, run):
        outcome = yield Call("tool", tool, {"desk": "bug"}, **{name: made(run) for name, made in call.items()})
        return {"found_duty": outcome.packed()}

    return lambda **settings: triage(bodies={"lookup": lookup}, **settings)


def judged(made, then, now):
    """Return what becomes of a run of one agent under another, and what a live run of that one returns."""
    again = judge_recording_again(made(**now).frame, recorded(lambda **kept: made(**then, **kept)))
    return again, made(**now).invoke(TICKET)


# Another scope, or other settings


def labels(run):
    """Return where a tool may go under a policy."""
    return {"labels": list(run.policy.labels)}


def test_a_call_that_may_go_elsewhere_is_unknown_unless_it_says_that_what_came_holds():
    """A scope is no part of the request, and a tool reads it."""
    made = by_desk(lambda request: f"Ada of {len(request['labels'])}", scope=labels)
    again, live = judged(made, {}, {"policy": Policy(labels=("bug",))})
    assert (live["on_duty"], again.kind, again.call.node) == ("Ada of 1", "unknown", "lookup")
    assert again.call.difference == "visit 1, call 1: where it may go was not the same (its scope)"
    assert judged(made, {}, {"policy": Policy(desks=("bug",))})[0].kind == "same"
    held = by_desk(lambda request: "Ada", scope=labels, holds=lambda run: lambda content: None)
    assert judged(held, {}, {"policy": Policy(labels=("bug",))})[0].kind == "same"


def refuse(run):
    """Return what refuses everything where the policy has no spam."""
    return lambda value: None if "spam" in run.policy.labels else {"why": "no spam"}


def test_a_refusal_is_unknown_under_another_policy():
    """Nothing of what was refused is on record, so nobody knows what a looser policy makes of it."""
    made = by_desk(lambda request: "Ada", refuse=refuse)
    strict = {"policy": Policy(labels=("bug",))}
    again, live = judged(made, strict, {})
    assert (live["status"], again.kind, again.call.node) == ("ok", "unknown", "lookup")
    assert judged(made, strict, strict)[0].kind == "same"
    again, live = judged(made, {}, strict)
    assert (again.kind, again.new.stop_reason) == ("changed", live["stop_reason"])


# An interrupt of a body's own


def asking(view, **settings):
    """Return a maker of agents whose lookup interrupts the run and shows what a function of the run says."""

    def lookup(state, run):
        return {"found_duty": f'["value", "{interrupt(view(run))}", {{}}]'}

    return triage(bodies={"lookup": lookup}, checkpointer=InMemorySaver(), **settings)


def answered(made, *, thread="1", contexts=(None, None)):
    """Return the recording of a run that was answered."""
    recorder = InMemoryRecorder()
    graph, thread = made(recorder=recorder), {"configurable": {"thread_id": thread}}
    graph.invoke(TICKET, thread, context=contexts[0])
    graph.invoke(Command(resume="Ada"), thread, context=contexts[1])
    return recorder.runs[0]


@each_row("content", ["labels", "fixed"])
def test_an_answer_counts_only_for_what_was_shown(content):
    """A body that shows a setting asks something else under another one; what it shows else stays answered."""
    view = labels if content == "labels" else lambda run: "who?"
    recording = answered(lambda **kept: asking(view, **kept))
    assert replay(asking(view), recording) == recording["result"]
    again = judge_recording_again(asking(view, policy=Policy(labels=("bug",))).frame, recording)
    assert (again.kind, again.call and again.call.node) == (
        ("unknown", "lookup") if content == "labels" else ("same", None)
    )

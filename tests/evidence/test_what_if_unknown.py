"""What nobody knows of another agent's run is unknown: a live run of it need not have had the recorded result.

Each test runs both agents: the candidate's live run differs from what the recording alone would say.
"""

from __future__ import annotations

import pytest
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt
from openai_server import OpenAIServer, payload
from recorded_runs import recorded
from runs import MODES, run
from ticket_pattern import TICKET, Policy, triage
from timed_world import Timed

from guardgraph import ResearchBudget, create_research_agent, reply_bytes
from guardgraph.grammar import Budget, Call
from guardgraph.graphs.patterns import PATTERNS
from guardgraph.graphs.replay.interpreter import replay
from guardgraph.graphs.replay.whatif import judge_recording_again
from guardgraph.testing import InMemoryRecorder
from guardgraph.tools.recordings import make_recorded_extractor, make_recorded_reader
from guardgraph.world.models import chat_model


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


# A smaller limit than that of a refused reply


def shrinks(request):
    """Reply with less where less is allowed."""
    return "Ada" if reply_bytes() < 20 else "x" * 100


@pytest.mark.parametrize("mode", MODES)
def test_a_refused_reply_is_unknown_under_a_smaller_limit_that_somebody_asked_for(mode):
    """Whoever asks how much is allowed may bring what fits; of one that nobody asked, it is refused again."""
    recorder = InMemoryRecorder()
    run(triage(tool=shrinks, budget=Budget(max_reply_bytes=50), recorder=recorder), TICKET, mode)
    tight = triage(tool=shrinks, budget=Budget(max_reply_bytes=18))
    assert (recorder.runs[0]["result"]["status"], run(tight, TICKET, mode)["status"]) == ("stopped", "ok")
    assert judge_recording_again(tight.frame, recorder.runs[0]).kind == "unknown"


def test_a_reply_that_a_client_refused_is_unknown_under_a_smaller_limit():
    """The client says in its own words what it refused; with fallbacks, somebody else may have been asked."""
    with OpenAIServer(payload(200, {"padding": "y" * 5000})) as server:
        model = chat_model("openai:test-model", environ=server.environ())
        made = lambda **settings: triage(RunnableLambda(str) | model, **settings)  # noqa: E731
        recording = recorded(lambda **kept: made(budget=Budget(max_reply_bytes=4000), **kept))
        tight = made(budget=Budget(max_reply_bytes=1000))
        live = tight.invoke(TICKET)
    assert (live["details"]["type"], live["details"]["limit"]) == ("ReplyRefused", 1000)
    again = judge_recording_again(tight.frame, recording)
    assert (again.kind, again.call.node) == ("unknown", "label")


@pytest.mark.parametrize("most", [200, 120, 90, 20])
def test_a_value_that_is_no_json_is_refused_for_its_form_or_for_its_size(most):
    """How far it was read is on record: where that fits, the run is as it was; else nobody knows."""
    value = {"who": "x" * 80, "when": b"now", "more": "y" * 10}
    again, live = judged(
        lambda **settings: triage(tool=lambda request: value, **settings),
        {"budget": Budget(max_reply_bytes=1000)},
        {"budget": Budget(max_reply_bytes=most)},
    )
    assert again.kind == ("same" if most > 100 else "unknown")
    assert ("limit" in live["details"]) == (most < 100)


# A larger limit than that of a reply that was not refused


@pytest.mark.parametrize(("most", "kind"), [(50, "same"), (51, "unknown"), (1000, "unknown")])
def test_a_reply_is_unknown_under_a_larger_limit_that_somebody_asked_for(most, kind):
    """Whoever keeps within a limit may bring more where there is more room."""
    again, live = judged(
        lambda **settings: triage(tool=lambda request: "x" * (reply_bytes() - 2), **settings),
        {"budget": Budget(max_reply_bytes=50)},
        {"budget": Budget(max_reply_bytes=most)},
    )
    assert (again.kind, len(live["on_duty"])) == (kind, most - 2)


# Calls that were made at once, and now are not


def reading(seconds, *, gone=()):
    """Return a maker of research agents that read pages, each in its time, of which some are gone."""
    read = make_recorded_reader()

    def reader(request):
        if any(host in request["url"] for host in gone):
            raise LookupError("gone")
        return read({"url": request["url"]})

    def takes(request):
        return next((spent for host, spent in seconds.items() if host in request.get("url", "")), 0.0)

    return lambda pages, **more: create_research_agent(
        reader=reader,
        extractor=make_recorded_extractor(),
        budget=ResearchBudget(max_read_pages=pages, max_seconds=4.0),
        world=Timed(takes),
        **more,
    )


@pytest.mark.parametrize(
    ("gone", "seconds", "pages"),
    [
        ((), {"official": 0.5, "vendor": 8.0}, (2, 1)),  # in time alone, and not beside the other one
        (("official",), {"official": 2.5, "vendor": 2.5}, (2, 1)),  # in time side by side, and not in turn
        (("official",), {"official": 2.5, "vendor": 2.5}, (1, 2)),
    ],
)
def test_calls_that_are_made_beside_others_than_they_were_are_unknown(gone, seconds, pages):
    """The clock tells how long those took that were made at once, and a run may end for it."""
    made, demo = reading(seconds, gone=gone), PATTERNS["research"].demo()
    then, now = (made(most).invoke(demo) for most in pages)
    assert {then["stop_reason"], now["stop_reason"]} == {"success", "max_seconds"}
    recorder = InMemoryRecorder()
    made(pages[0], recorder=recorder).invoke(demo)
    again = judge_recording_again(made(pages[1]).frame, recorder.runs[0])
    assert (again.kind, again.call.node, again.call.number) == ("unknown", "read", 1)


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


def test_a_refusal_is_judged_by_who_says_when_it_holds():
    """`holds` is asked for a refused call under other settings, whatever its scope."""
    for why, kind in ((None, "same"), ("it was not kept", "unknown")):
        made = by_desk(
            lambda request: "Ada",
            refuse=lambda run: lambda value: {"why": "never"},
            scope=lambda run: {"fixed": 1},
            holds=lambda run, why=why: lambda content: why,
        )
        assert judged(made, {}, {"policy": Policy(labels=("bug",))})[0].kind == kind


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


@pytest.mark.parametrize("content", ["labels", "fixed"])
def test_an_answer_counts_only_for_what_was_shown(content):
    """A body that shows a setting asks something else under another one; what it shows else stays answered."""
    view = labels if content == "labels" else lambda run: "who?"
    recording = answered(lambda **kept: asking(view, **kept))
    assert replay(asking(view), recording) == recording["result"]
    again = judge_recording_again(asking(view, policy=Policy(labels=("bug",))).frame, recording)
    assert (again.kind, again.call and again.call.node) == (
        ("unknown", "lookup") if content == "labels" else ("same", None)
    )


def test_an_answer_under_another_context_is_known_only_to_the_same_settings():
    """What was shown before the run was resumed under another context, only the agent that ran would show again."""
    view = lambda run: "who?"  # noqa: E731
    contexts = (None, {"policy": {"labels": ["bug"]}})
    recording = answered(lambda **kept: asking(view, **kept), contexts=contexts)
    assert replay(asking(view), recording) == recording["result"]
    again = judge_recording_again(asking(view, policy=Policy(desks=("bug",))).frame, recording)
    assert again.kind == "unknown"


# Who replied

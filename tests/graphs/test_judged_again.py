"""One recorded run judged again: same, changed or unknown, and in time as the candidate would have it."""

import json

import pytest
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt
from openai_server import OpenAIServer, choice, completion, payload
from recorded_runs import recorded
from runs import THREAD, run
from tables import each_row
from ticket_pattern import TICKET, Policy, triage
from timed_world import Timed

from guardgraph import NotRecorded, create_rag_agent, reply_bytes
from guardgraph.grammar import Budget, Call, declares
from guardgraph.graphs.replay import replay
from guardgraph.graphs.shadows import judge_recording_again
from guardgraph.testing import InMemoryRecorder
from guardgraph.world.named_models import chat_model


def of(made, recording, **settings):
    return judge_recording_again(made(**settings).frame, recording)


def kept(made, given=TICKET, **settings):
    recorder = InMemoryRecorder()
    made(recorder=recorder, world=Timed(), **settings).invoke(given)
    return recorder.runs[0]


def slow(*seconds):
    """Return a maker of agents that look up in calls side by side, which take these seconds."""

    @declares(rounds=2)
    def body(state, run):
        came = yield [Call("tool", lambda asked: asked["seconds"], {"seconds": item}) for item in seconds]
        last = yield Call("tool", lambda asked: "last", {"seconds": 1.0})
        return {"found_duty": last.packed() if all(item.form == "value" for item in came) else '["value", "late", {}]'}

    return lambda **settings: triage(bodies={"lookup": body}, **settings)


def test_a_changed_run_names_the_guard_and_its_evidence():
    """Old and new ending, who decided, on what, and what of the result differs."""
    again = of(triage, recorded(triage), policy=Policy(labels=("billing",)))
    assert (again.kind, again.guard, again.evidence) == ("changed", "label_guard", {"raw_label": {"label": "bug"}})
    assert (str(again.old), str(again.new), again.new.phase) == ("ok:routed", "stopped:invalid_label", "label")
    assert again.differs == ("label", "on_duty", "outcome", "phase", "raw_label", "status", "stop_reason")
    assert (again.plain()["new"]["phase"], again.plain().keys() & {"result", "why", "call"}) == ("label", set())


def test_a_run_that_cannot_be_judged_says_why():
    sound, other = recorded(triage), judge_recording_again(create_rag_agent().frame, recorded(triage))
    assert (other.kind, other.why, str(other.old)) == ("other_pattern", "triage", "ok:routed")
    visits = [{key: part for key, part in visit.items() if key != "opening"} for visit in sound["visits"]]
    for changed, why in (
        ({"redacted": [["input", "ticket"]]}, "redacted"),
        ({"visits": visits}, "damaged: recording."),
    ):
        again = of(triage, {**sound, **changed})
        assert (again.kind, again.why[: len(why)], str(again.old)) == ("unreplayable", why, "ok:routed")


def test_a_call_that_was_cut_off_is_known_only_to_who_has_no_more_time():
    """Less time: cut off sooner. More time: nobody knows what would have come."""
    made = slow(4.0)
    recording = kept(made, budget=Budget(max_seconds=2.0))
    assert of(made, recording, budget=Budget(max_seconds=2.0)).kind == "same"
    assert of(made, recording, budget=Budget(max_seconds=1.0)).kind == "same"
    again = of(made, recording, budget=Budget(max_seconds=3.0))
    assert (again.kind, again.call.node, again.call.visit, again.call.number) == ("unknown", "lookup", 1, 1)
    assert again.call.difference == "visit 1, call 1: it was cut off after 2.000 s, and has 3.000 s"


@pytest.mark.parametrize("size", [200, 5000])
@pytest.mark.parametrize(("then", "now"), [(100, 2**20), (100, 10_000), (100, 50)])
def test_an_input_that_was_not_kept_is_unknown_under_another_limit(size, then, now):
    """Of a field that was refused nobody knows the size; under the limit that it had, the run is as it was."""
    recording = kept(triage, {"ticket": "x" * size}, budget=Budget(max_input_bytes=then))
    assert recording["result"]["stop_reason"] == "invalid_request:ticket"
    again = of(triage, recording, budget=Budget(max_input_bytes=now))
    assert (again.kind, again.call.node) == ("unknown", "request_guard")
    assert "max_input_bytes" in again.call.difference
    assert of(triage, recording, budget=Budget(max_input_bytes=then)).kind == "same"


PADDED = 5000


def asking(server):
    return RunnableLambda(json.dumps) | chat_model("openai:test-model", environ=server.environ())


REPLIES = {
    "an answer": (payload(200, {**completion(choice('{"label": "bug"}')), "padding": "y" * PADDED}), "success"),
    "one cut short": (
        payload(200, {**completion(choice('{"lab', finish_reason="length")), "padding": "y" * PADDED}),
        "llm_truncated",
    ),
    "an error": (payload(500, {"error": {"message": "y" * PADDED}}), "llm_unavailable"),
}


@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
@pytest.mark.parametrize("name", REPLIES)
def test_how_large_a_models_reply_was_is_recorded(name, mode):
    """Under a limit that it keeps to, a run is what a live one is; under a smaller one nobody knows what follows."""
    behaviour, reason = REPLIES[name]
    with OpenAIServer(behaviour) as server:
        recorder = InMemoryRecorder()
        run(triage(asking(server), recorder=recorder), TICKET, mode)
        [recording] = recorder.runs
        size = recording["calls"][0]["reply_bytes"]
        assert (recording["result"]["stop_reason"], size > PADDED) == (reason, True)
        for most, live in ((size, reason), (size - 1, "llm_bad_response")):
            tight = triage(asking(server), budget=Budget(max_reply_bytes=most))
            assert run(tight, TICKET, mode)["stop_reason"] == live
            again = judge_recording_again(tight.frame, recording)
            expected = ("same", None) if most == size else ("unknown", "label")
            assert (again.kind, again.call and again.call.node) == expected
        assert again.call.difference == f"visit 1, call 1: its reply had {size} bytes as it came, and may have {most}"


def test_a_reply_that_nobody_counts_is_as_large_as_its_text():
    """Of a model that asks no limit the text alone counts; what one that asks would have made of it, nobody knows."""
    message = AIMessage('{"label": "bug"}', additional_kwargs={"padding": "y" * PADDED})
    unasked, asks = RunnableLambda(lambda view: message), RunnableLambda(lambda view: reply_bytes() and message)
    for model, reply, kinds in ((unasked, 0, ["same", "changed"]), (asks, None, ["unknown", "unknown"])):
        recording = recorded(lambda model=model, **made: triage(model, **made))
        assert recording["calls"][0].get("reply_bytes") == reply
        tight = [triage(model, budget=Budget(max_reply_bytes=most)) for most in (30, 10)]
        given = [judge_recording_again(each.frame, recording) for each in tight]
        assert [again.kind for again in given] == kinds
        if model is unasked:
            live = tight[1].invoke(TICKET)
            assert (given[1].new.stop_reason, given[1].result["details"]) == (live["stop_reason"], live["details"])


def test_an_attempt_that_a_wrapper_made_before_is_not_taken_for_none():
    """A call that took longer than its last attempt says nothing of a time between the two."""
    made = slow(4.0)
    recording = kept(made)
    recording["calls"][1]["seconds"] = 1.0
    assert of(made, recording, budget=Budget(max_seconds=2.0)).kind == "unknown"
    assert of(made, recording, budget=Budget(max_seconds=0.5)).result["on_duty"] == "late"


@declares(rounds=2)
def twice(state, run):
    """Ask the tool once more."""
    came = yield Call("tool", print, {"desk": "bug"})
    yield Call("tool", print, {"desk": "bug"})
    return {"found_duty": came.packed()}


def reworded(state, run):
    yield Call("tool", print, {"desk": "x"})


def test_an_unknown_run_names_the_first_call_that_differs():
    """Node, visit and number of the call, and how it is not the recorded one; a replay raises it."""
    for body, number, said in ((reworded, 1, "its request was "), (twice, 2, "was not made")):
        again = of(triage, recorded(triage), bodies={"lookup": body})
        assert (again.kind, again.new) == ("unknown", None)
        assert (again.call.node, again.call.visit, again.call.number) == ("lookup", 1, number)
        assert again.call.difference.startswith(f"visit 1, call {number}")
        with pytest.raises(NotRecorded, match=f"^not recorded: lookup: visit 1, call {number}:? {said}") as raised:
            replay(triage(bodies={"lookup": body}), recorded(triage))
        assert (raised.value.node, raised.value.difference) == ("lookup", again.call.difference)
    assert of(triage, recorded(lambda **made: triage(policy=Policy(labels=()), **made))).call.number is None


def test_an_assumed_proposal_is_shown_and_the_run_stays_unknown():
    """Where a proposer sees something else, what it proposed then gives an ending that is marked as a guess."""

    def told(state, run):
        outcome = yield Call("proposer", print, {"labels": list(run.policy.labels)}, {"proposer": "test"})
        return {"proposed_label": outcome.packed()}

    def live(state, run):
        outcome = yield Call("proposer", lambda view: {"label": "bug"}, {"labels": []}, {"proposer": "test"})
        return {"proposed_label": outcome.packed()}

    recording = recorded(lambda **made: triage(bodies={"label": live}, **made))
    frame = triage(bodies={"label": told}, policy=Policy(labels=("billing",))).frame
    again = judge_recording_again(frame, recording, assume=True)
    assert (again.kind, again.new, str(again.assumed)) == ("unknown", None, "stopped:invalid_label")
    assert judge_recording_again(frame, recording).assumed is None


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


def labels(run):
    return {"labels": list(run.policy.labels)}


def test_a_call_that_may_go_elsewhere_is_unknown_unless_it_says_that_what_came_holds():
    made = by_desk(lambda request: f"Ada of {len(request['labels'])}", scope=labels)
    again, live = judged(made, {}, {"policy": Policy(labels=("bug",))})
    assert (live["on_duty"], again.kind, again.call.node) == ("Ada of 1", "unknown", "lookup")
    assert again.call.difference == "visit 1, call 1: where it may go was not the same (its scope)"
    assert judged(made, {}, {"policy": Policy(desks=("bug",))})[0].kind == "same"
    held = by_desk(lambda request: "Ada", scope=labels, holds=lambda run: lambda content: None)
    assert judged(held, {}, {"policy": Policy(labels=("bug",))})[0].kind == "same"


def refuse(run):
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


def interrupting(view, **settings):
    """Return a maker of agents whose lookup interrupts the run and shows what a function of the run says."""

    def lookup(state, run):
        return {"found_duty": f'["value", "{interrupt(view(run))}", {{}}]'}

    return triage(bodies={"lookup": lookup}, checkpointer=InMemorySaver(), **settings)


@each_row("content", "labels", "fixed")
def test_an_answer_counts_only_for_what_was_shown(content):
    """A body that shows a setting asks something else under another one; what it shows else stays answered."""
    view = labels if content == "labels" else lambda run: "who?"
    recorder = InMemoryRecorder()
    graph = interrupting(view, recorder=recorder)
    graph.invoke(TICKET, THREAD)
    graph.invoke(Command(resume="Ada"), THREAD)
    [recording] = recorder.runs
    assert replay(interrupting(view), recording) == recording["result"]
    with pytest.raises(NotRecorded, match="lookup: its body shows something else than what was answered"):
        replay(interrupting(lambda run: "where?"), recording)
    triage(checkpointer=InMemorySaver(), recorder=recorder).invoke(TICKET, THREAD)
    with pytest.raises(NotRecorded, match="lookup: its body waits for an answer that was not recorded"):
        replay(interrupting(view), recorder.runs[1])
    again = judge_recording_again(interrupting(view, policy=Policy(labels=("bug",))).frame, recording)
    expected = ("unknown", "lookup") if content == "labels" else ("same", None)
    assert (again.kind, again.call and again.call.node) == expected

"""Who approved: the reviewers of the deployment say who answered, and the policy says whether that is enough."""

import asyncio
import json
from datetime import UTC, datetime, timedelta

import pytest
from hanging import standing
from hypothesis import given, settings
from hypothesis import strategies as st
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt
from refund_pattern import ORDER, PAID, REASONS, THREAD, Policy, answering, refund, waiting
from runs import SAVERS, check_result, content, memory, run, sqlite
from tables import each_row

from guardgraph import ConfigurationError, LiveWorld, create_rag_agent, replay
from guardgraph.evidence.checking import find_derivation_problems
from guardgraph.grammar import Identity, Outcome
from guardgraph.plain.hashing import canonical_json
from guardgraph.testing import InMemoryRecorder, scripted_tool

STAFF = {"ada": Identity("ada", ("finance", "lead")), "bob": Identity("bob", ("finance",)), "eve": None}
ADA = {"status": "verified", "name": "ada", "roles": ["finance", "lead"]}
SAID = {"hash": st.sampled_from(["right", "right", "wrong"]), "by": st.just("bob"), "reviewer": st.just(ADA)}
DECISIONS = {"decision": st.sampled_from(["approve", "reject", "maybe"])}
ANSWERS = st.sampled_from([None, "approve", True, []]) | st.fixed_dictionaries(DECISIONS, optional=SAID)
TURNS = st.lists(st.tuples(ANSWERS, st.sampled_from([None, "ada", "bob", "eve"]), st.booleans()), max_size=6)


def staff(answer, caller):
    return None if caller is None else STAFF.get(caller.user)


def signed_in(user):
    return {"caller": {"user": user}}


def desk(*, reviewers=staff, **kwargs):
    return refund(reviewers=reviewers, **{"checkpointer": InMemorySaver(), **kwargs})


def told(result):
    [line] = [entry for entry in result["timeline"] if entry["kind"] == "review"]
    return line


@pytest.mark.parametrize(("saver", "mode"), [(memory, "invoke"), (memory, "astream"), (sqlite, "stream")])
@pytest.mark.parametrize("decision", ["approve", "reject"])
def test_who_answered_is_on_record(decision, saver, mode, tmp_path):
    """The identity is what the reviewers say, not what the answer does: in the timeline, the recording, the replay."""
    kept = InMemoryRecorder()
    with saver(tmp_path) as checkpointer:
        graph = desk(checkpointer=checkpointer, recorder=kept)
        answer = answering(waiting(graph), decision, by="the board")
        result = check_result(REASONS, run(graph, answer, mode, config=THREAD, context=signed_in("ada")))
    assert (told(result)["reviewer"], told(result)["answer"]["by"]) == (ADA, "the board")
    recording = read(kept)
    [call] = [call for call in recording["calls"] if call["kind"] == "person"]
    assert Outcome.unpacked(call["outcome"]).about["reviewer"] == ADA
    assert replay(refund(), recording) == {key: value for key, value in result.items() if key != "audit"}
    assert find_derivation_problems(desk().frame, recording) == []


def read(kept, **names):
    """Read the first recording from its text, with names in the place of others."""
    text = canonical_json(kept.runs[0])
    for name, other in names.items():
        text = text.replace(f'"{name}"', f'"{other}"').replace(f'\\"{name}\\"', f'\\"{other}\\"')
    return json.loads(text)


def raising(answer, caller):
    raise PermissionError("not on duty")


@pytest.mark.paired
@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
@pytest.mark.parametrize(
    ("reviewers", "why"),
    [
        (lambda answer, caller: None, "they know nobody"),
        (raising, "not on duty"),
        (lambda answer, caller: Identity("ada", ("",)), "no name of somebody"),
        (lambda answer, caller: Identity(7), "no name of somebody"),
        (lambda answer, caller: interrupt("who?"), ""),
        (lambda: "ada", "argument"),
    ],
)
def test_whom_the_reviewers_refuse_keeps_the_run_waiting(reviewers, why, mode):
    """Neither a yes nor a no of somebody unknown counts; the same is asked again, and nothing is paid."""
    pay = scripted_tool()
    graph = desk(reviewers=reviewers, tool=pay)
    first = waiting(graph)
    for decision in ("approve", "reject"):
        again = run(graph, answering(first, decision), mode, config=THREAD, context=signed_in("ada"))
        refused, why_told = again["waiting_for"].pop("problem").split(": ", 2)[1:]
        assert (refused, why in why_told) == ("refused by the reviewers", True)
        assert (again["status"], again["waiting_for"]) == ("waiting", first["waiting_for"])
    assert pay.calls == []


def test_an_answer_counts_for_whoever_gave_it():
    """An answer that was refused is not that of the next one who resumes the run, be it with None or an answer."""
    pay = scripted_tool("paid", loop=True)
    graph = desk(tool=pay)
    shown = waiting(graph)
    refused = graph.invoke(answering(shown), THREAD, context=signed_in("eve"))
    assert "they know nobody" in refused["waiting_for"]["problem"]
    for given_next in (None, Command(resume="what is this?"), None):
        assert graph.invoke(given_next, THREAD, context=signed_in("ada"))["status"] == "waiting"
    rejected = graph.invoke(answering(shown, "reject"), THREAD, context=signed_in("ada"))
    assert (rejected["stop_reason"], told(rejected)["reviewer"], pay.calls) == ("review_rejected", ADA, [])


class Cut(LiveWorld):
    """A world that is killed once, while the reviewers are asked."""

    killed = False

    def perform(self, asked, seconds):
        if asked[0].node == "approve" and asked[0].call.kind == "tool" and not self.killed:
            self.killed = True
            raise KeyboardInterrupt
        return super().perform(asked, seconds)


@SAVERS
def test_an_answer_of_a_session_that_was_killed_counts_for_nobody_else(saver, tmp_path):
    """LangGraph keeps it and hands it over again; whoever resumes the run then did not give it."""
    pay = scripted_tool("paid")
    with saver(tmp_path) as checkpointer:
        graph = desk(tool=pay, checkpointer=checkpointer, world=Cut())
        shown = waiting(graph)
        with pytest.raises(KeyboardInterrupt):
            graph.invoke(answering(shown), THREAD, context=signed_in("eve"))
        again = graph.invoke(None, THREAD, context=signed_in("ada"))
        assert (again["waiting_for"], pay.calls) == (shown["waiting_for"], [])
        assert told(graph.invoke(answering(shown), THREAD, context=signed_in("bob")))["reviewer"]["name"] == "bob"


@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
def test_reviewers_may_be_awaited_and_have_the_time_of_the_run(mode):
    """A coroutine function is awaited; one that hangs is cut off with the run's time, and has said nothing."""

    async def slowly(answer, caller):
        await asyncio.sleep(answer["takes"])
        return "ada"

    def answer(takes, **given):
        graph = desk(reviewers=slowly, world=standing())
        shown = run(graph, ORDER, mode, config=THREAD, **given)
        return run(graph, answering(shown, takes=takes), mode, config=THREAD, **given)

    late = answer(30, context={"budget": {"max_seconds": 0.2}})
    assert late["waiting_for"]["problem"] == "answer: refused by the reviewers: timeout"
    assert content(answer(0)) == PAID


@each_row(
    ("began", "answers", "problem"),
    ("zoe", "ada", None),
    ("ada", "ada", "four_eyes: somebody else than who began the run"),
    ("ADA ", "ada", "four_eyes: somebody else than who began the run"),
    (None, "ada", "four_eyes: nobody knows who began the run"),
)
def test_four_eyes(began, answers, problem):
    """Whoever approves is not whoever began the run, by whatever spelling; of an unknown one nobody can tell."""
    graph = desk(policy=Policy(four_eyes=True))
    shown = waiting(graph, context=None if began is None else signed_in(began))
    result = graph.invoke(answering(shown), THREAD, context=signed_in(answers))
    if problem is not None:
        assert result["waiting_for"]["problem"] == f"answer: refused by the policy: {problem}"
        result = graph.invoke(answering(shown), THREAD, context=signed_in("bob"))
    assert result["status"] == ("waiting" if began is None else "ok")


def test_whoever_answers_has_all_roles_that_the_policy_names():
    graph = desk(policy=Policy(reviewer_roles=("finance",)))
    lead = {"policy": {"reviewer_roles": ["lead"]}}
    shown = waiting(graph, context=lead)
    refused = graph.invoke(answering(shown), THREAD, context={**signed_in("bob"), **lead})["waiting_for"]["problem"]
    assert refused.endswith("refused by the policy: reviewer_roles: lead; whoever answers has finance")
    assert content(graph.invoke(answering(shown), THREAD, context={**signed_in("ada"), **lead})) == PAID


def test_a_policy_that_asks_who_answers_needs_reviewers():
    """A deployment without reviewers is refused at once; a context that asks for them keeps the run waiting."""
    for create, wrong, message in (
        (refund, {"policy": Policy(four_eyes=True)}, r"policy\.four_eyes: reviewers are required"),
        (refund, {"policy": Policy(reviewer_roles=("finance",))}, r"policy\.reviewer_roles: reviewers are required"),
        (refund, {"reviewers": "ada"}, "reviewers: a function of an answer and a caller is required"),
        (create_rag_agent, {"reviewers": staff}, "reviewers: none is taken"),
    ):
        with pytest.raises(ConfigurationError, match=f"^{message}"):
            create(**wrong)
    graph, context = refund(checkpointer=InMemorySaver()), {"policy": {"four_eyes": True}}
    shown = waiting(graph, context=context)
    assert "reviewers are required" in graph.invoke(answering(shown), THREAD, context=context)["waiting_for"]["problem"]


class Calendar(LiveWorld):
    """A world whose days a test turns."""

    now = datetime(2026, 3, 1, tzinfo=UTC)

    def calendar(self):
        return self.now


@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
@pytest.mark.parametrize("resume", ["approve", "reject", "look"])
def test_a_question_expires(resume, mode):
    """After its time no answer counts, and whatever resumes the run ends it."""
    world, kept = Calendar(), InMemoryRecorder()
    graph = refund(checkpointer=InMemorySaver(), policy=Policy(max_review_seconds=3600.0), world=world, recorder=kept)
    shown = run(graph, ORDER, mode, config=THREAD)
    asked = shown["waiting_for"]
    assert (asked["asked_at"], asked["expires_at"]) == ("2026-03-01T00:00:00+00:00", "2026-03-01T01:00:00+00:00")
    world.now += timedelta(seconds=1800)
    again = run(graph, Command(resume="hm"), mode, config=THREAD)["waiting_for"]
    assert (again["asked_at"], "problem" in again) == (asked["asked_at"], True)
    world.now += timedelta(seconds=1801)
    given_now = None if resume == "look" else answering(shown, resume)
    result = check_result(REASONS, run(graph, given_now, mode, config=THREAD))
    assert (result["stop_reason"], result["phase"]) == ("review_expired", "approve")
    waited = {"asked_at": asked["asked_at"], "waited_seconds": 3601.0, "max_review_seconds": 3600.0}
    assert (result["details"], find_derivation_problems(graph.frame, read(kept))) == (waited, [])


@settings(max_examples=60, deadline=None)
@given(TURNS)
def test_no_answer_passes_without_an_identity(turns):
    """Whatever is answered by whomever, in whatever order and context: who ends the run is one who may."""
    pay = scripted_tool("paid", loop=True)
    graph = refund(reviewers=staff, tool=pay, checkpointer=InMemorySaver(), policy=Policy(four_eyes=True))
    shown = waiting(graph, context=signed_in("ada"))
    for said, user, is_tight in turns:
        is_right = isinstance(said, dict) and said.get("hash") == "right"
        answer = {**said, "hash": shown["waiting_for"]["hash"]} if is_right else said
        context = {**({} if user is None else signed_in(user)), **({"policy": {"max_refund": 40}} if is_tight else {})}
        came = graph.invoke(None if answer is None else Command(resume=answer), THREAD, context=context)
        if came["status"] != "waiting":
            assert (is_right, user) == (True, "bob")
            assert told(came)["reviewer"] == {"status": "verified", "name": "bob", "roles": ["finance"]}
            assert len(pay.calls) == (answer["decision"] == "approve")
            return
        assert pay.calls == []
        shown = came


def test_an_exchanged_identity_does_not_derive():
    """The hash of the approval binds who gave it: another name in the recording is a finding."""
    graph = desk(recorder=(kept := InMemoryRecorder()))
    graph.invoke(answering(waiting(graph)), THREAD, context=signed_in("ada"))
    for name in ("bob", "carl"):
        problems = find_derivation_problems(graph.frame, read(kept, ada=name))
        assert any(finding.place.startswith("calls.1.outcome") for finding in problems)

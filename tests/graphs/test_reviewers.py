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

from guardgraph import ConfigurationError, LiveWorld, create_rag_agent, replay
from guardgraph.evidence.checking import find_derivation_problems
from guardgraph.grammar import Identity, Outcome, hash_licence
from guardgraph.plain.hashing import canonical_json
from guardgraph.testing import InMemoryRecorder, scripted_tool

STAFF = {"ada": Identity("ada", ("finance", "lead")), "bob": Identity("bob", ("finance",)), "eve": None}
ADA = {"status": "verified", "name": "ada", "roles": ["finance", "lead"]}


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
        shown = waiting(graph)
        answer = answering(shown, decision, by="the board")
        result = check_result(REASONS, run(graph, answer, mode, config=THREAD, context=signed_in("ada")))
    assert told(result)["reviewer"] == ADA
    assert told(result)["answer"]["by"] == "the board"
    recording = json.loads(canonical_json(kept.runs[0]))
    [call] = [call for call in recording["calls"] if call["kind"] == "person"]
    assert Outcome.unpacked(call["outcome"]).about["reviewer"] == ADA
    assert replay(refund(), recording) == {key: value for key, value in result.items() if key != "audit"}
    assert find_derivation_problems(desk().frame, recording) == []


def raising(answer, caller):
    raise PermissionError("not on duty")


@pytest.mark.paired
@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
@pytest.mark.parametrize(
    ("reviewers", "why"),
    [
        (lambda answer, caller: None, "they know nobody"),
        (raising, "not on duty"),
        (lambda answer, caller: "", "no name of somebody"),
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
        assert again["status"] == "waiting"
        problem = again["waiting_for"].pop("problem")
        assert problem.startswith("answer: refused by the reviewers: ")
        assert why in problem
        assert again["waiting_for"] == first["waiting_for"]
    assert pay.calls == []


def test_an_answer_counts_for_whoever_gave_it():
    """An answer that was refused is not that of the next one who resumes the run, be it with None or an answer."""
    pay = scripted_tool("paid", loop=True)
    graph = desk(tool=pay)
    shown = waiting(graph)
    refused = graph.invoke(answering(shown), THREAD, context=signed_in("eve"))
    assert "they know nobody" in refused["waiting_for"]["problem"]
    for given_next in (None, Command(resume="what is this?"), None):
        still = graph.invoke(given_next, THREAD, context=signed_in("ada"))
        assert (still["status"], pay.calls) == ("waiting", [])
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

    graph = desk(reviewers=slowly, world=standing())
    context = {"budget": {"max_seconds": 0.2}}
    shown = run(graph, ORDER, mode, config=THREAD, context=context)
    late = run(graph, answering(shown, takes=30), mode, config=THREAD, context=context)
    assert late["waiting_for"]["problem"] == "answer: refused by the reviewers: timeout"
    graph = desk(reviewers=slowly)
    shown = run(graph, ORDER, mode, config=THREAD)
    assert content(run(graph, answering(shown, takes=0), mode, config=THREAD)) == PAID


@pytest.mark.parametrize(
    ("began", "answers", "problem"),
    [
        ("zoe", "ada", None),
        ("ada", "ada", "four_eyes: somebody else than who began the run"),
        ("ADA ", "ada", "four_eyes: somebody else than who began the run"),
        (None, "ada", "four_eyes: nobody knows who began the run"),
    ],
)
def test_four_eyes(began, answers, problem):
    """Whoever approves is not whoever began the run, by whatever spelling; of an unknown one nobody can tell."""
    graph = desk(policy=Policy(four_eyes=True))
    shown = waiting(graph, context=None if began is None else signed_in(began))
    result = graph.invoke(answering(shown), THREAD, context=signed_in(answers))
    if problem is None:
        assert content(result) == PAID
    else:
        assert result["waiting_for"]["problem"] == f"answer: refused by the policy: {problem}"
        other = graph.invoke(answering(shown), THREAD, context=signed_in("bob"))
        assert other["status"] == ("waiting" if began is None else "ok")


def test_whoever_answers_has_all_roles_that_the_policy_names():
    graph = desk(policy=Policy(reviewer_roles=("finance",)))
    lead = {"policy": {"reviewer_roles": ["lead"]}}
    shown = waiting(graph, context=lead)
    refused = graph.invoke(answering(shown), THREAD, context={**signed_in("bob"), **lead})
    assert refused["waiting_for"]["problem"].endswith(
        "refused by the policy: reviewer_roles: lead; whoever answers has finance"
    )
    assert content(graph.invoke(answering(shown), THREAD, context={**signed_in("ada"), **lead})) == PAID


def test_a_policy_that_asks_who_answers_needs_reviewers():
    """A deployment without reviewers is refused at once; a context that asks for them keeps the run waiting."""
    for policy in (Policy(four_eyes=True), Policy(reviewer_roles=("finance",))):
        with pytest.raises(ConfigurationError, match=r"^policy\.(four_eyes|reviewer_roles): reviewers are required"):
            refund(policy=policy)
    with pytest.raises(ConfigurationError, match=r"^reviewers: a function of an answer and a caller is required"):
        refund(reviewers="ada")
    with pytest.raises(ConfigurationError, match=r"^reviewers: none is taken"):
        create_rag_agent(reviewers=staff)
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
    assert result["details"] == waited
    recording = json.loads(canonical_json(kept.runs[0]))
    assert find_derivation_problems(graph.frame, recording) == []


def test_a_licence_is_for_plain_arguments():
    """Two calls that are not the same never come to one licence by a number that JSON has no form for."""
    assert hash_licence("pay", {"a": 1, "b": 2}) == hash_licence("pay", {"b": 2, "a": 1})
    assert len({hash_licence("pay", {"a": 1}), hash_licence("pay", {"a": "1"}), hash_licence("say", {"a": 1})}) == 3
    with pytest.raises(ValueError, match=r"^args: plain, finite JSON is required"):
        hash_licence("pay", {"a": float("nan")})


ANSWERS = st.one_of(
    st.none(),
    st.sampled_from(["approve", True, 1, [], "ada"]),
    st.fixed_dictionaries(
        {"decision": st.sampled_from(["approve", "reject", "maybe"])},
        optional={
            "hash": st.sampled_from(["right", "right", "right", "wrong"]),
            "by": st.sampled_from(["ada", "eve"]),
            "reviewer": st.just(ADA),
        },
    ),
)
TURNS = st.lists(st.tuples(ANSWERS, st.sampled_from([None, "ada", "bob", "eve"]), st.booleans()), max_size=6)


@settings(max_examples=60, deadline=None)
@given(TURNS)
def test_no_answer_passes_without_an_identity(turns):
    """Whatever is answered by whomever, in whatever order and context: who ends the run is one who may."""
    pay = scripted_tool("paid", loop=True)
    graph = refund(reviewers=staff, tool=pay, checkpointer=InMemorySaver(), policy=Policy(four_eyes=True))
    shown = waiting(graph, context=signed_in("ada"))
    for said, user, is_tight in turns:
        answer = dict(said) if isinstance(said, dict) else said
        if isinstance(answer, dict) and answer.get("hash") == "right":
            answer["hash"] = shown["waiting_for"]["hash"]
        context = {**({} if user is None else signed_in(user)), **({"policy": {"max_refund": 40}} if is_tight else {})}
        is_right = isinstance(answer, dict) and answer.get("hash") == shown["waiting_for"]["hash"]
        came = graph.invoke(None if answer is None else Command(resume=answer), THREAD, context=context)
        if came["status"] != "waiting":
            assert (is_right, user) == (True, "bob")
            assert told(came)["reviewer"] == {"status": "verified", "name": "bob", "roles": ["finance"]}
            assert len(pay.calls) == (answer["decision"] == "approve")
            return
        assert pay.calls == []
        shown = came


@pytest.mark.parametrize("name", ["bob", "carl"])
def test_an_exchanged_identity_does_not_derive(name):
    """The hash of the approval binds who gave it: another name in the recording is a finding."""
    kept = InMemoryRecorder()
    graph = desk(recorder=kept)
    graph.invoke(answering(waiting(graph)), THREAD, context=signed_in("ada"))
    forged = json.loads(
        canonical_json(kept.runs[0]).replace('\\"ada\\"', f'\\"{name}\\"').replace('"ada"', f'"{name}"')
    )
    places = [finding.place for finding in find_derivation_problems(graph.frame, forged)]
    assert any(place.startswith("calls.1.outcome") for place in places)

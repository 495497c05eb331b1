"""A critic hands the draft to a person, and the run waits for them: approve, edit, reject, guarded and on record."""

from __future__ import annotations

import json

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from runs import MODES, run
from self_critique_cases import DRAFT, ESCALATE, GIVEN, REVISED, THREAD, WAIT, agent, checked, decided, escalated

from guardgraph import NotRecorded, SelfCritiqueContext, SelfCritiquePolicy, replay, what_if
from guardgraph.evidence.checking import find_derivation_problems
from guardgraph.grammar import AnswerGuard, Stop, StopReason
from guardgraph.plain.hashing import canonical_json
from guardgraph.testing import InMemoryRecorder

GUARANTEED = f"{DRAFT} We guarantee that this will not happen again."


def test_without_the_policy_an_escalation_ends_the_run_as_before():
    """The default is today's: the same stop, the same way, the same graph."""
    graph = agent(DRAFT, ESCALATE)
    result = checked(graph.invoke(GIVEN))
    assert result["stop_reason"] == "policy_escalation"
    assert result["path"][-2:] == ["escalation_guard", "stop_escalation"]
    assert "escalate" not in graph.builder.nodes


def test_a_person_is_shown_what_they_decide_about():
    """The goal, the draft and the critique; the draft may be edited; the run waits and has ended nothing."""
    _, shown = escalated()
    asked = shown["waiting_for"]
    assert (shown["status"], asked["node"], asked["edits"]) == ("waiting", "escalate", ["draft"])
    told = {key: ESCALATE[key] for key in ("severity", "risks", "required_changes")}
    critique = {**told, "reason": ESCALATE["reason"].strip()}
    assert asked["shown"] == {"goal": GIVEN["goal"], "draft": DRAFT, "critique": critique}


@pytest.mark.paired
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("decision", "outcome", "answer"), [
    ("approve", "approved_by_person", DRAFT), ("edit", "edited_by_person", REVISED)
])  # fmt: skip
def test_a_run_goes_on_with_the_decision(decision, outcome, answer, mode):
    """Approved it returns the draft, edited the person's text, with an audit of the change, and it replays exactly."""
    kept = InMemoryRecorder()
    graph, shown = escalated(recorder=kept)
    more = {"edited": REVISED} if decision == "edit" else {}
    result = checked(run(graph, decided(shown, decision, **more), mode, config=THREAD))
    assert (result["outcome"], result["answer"], result["critique_decision"]) == (outcome, answer, "escalate")
    assert result["audit"]["changed"] is (decision == "edit")
    assert (result["trace"][2]["phase"], result["trace"][2]["decided"]) == ("revise", decision)
    assert result["history"][2]["decided_by"] == "unverified"
    recording = json.loads(canonical_json(kept.runs[0]))
    assert replay(agent(DRAFT, ESCALATE, policy=WAIT), recording) == result
    assert find_derivation_problems(graph.frame, recording) == []


@pytest.mark.parametrize(
    ("edited", "problem"),
    [
        (DRAFT, "invalid_revised:no_changes"),
        (" ", "invalid_revised:empty"),
        ("x" * 1000, "invalid_revised:too_long"),
        (7, "invalid_revised:empty"),
        (f"{DRAFT} 31 servers failed.", "patch_violation:no_new_facts"),
        (f"{DRAFT} See https://attacker.io/x.", "patch_violation:unsupported_link"),
        (f"{DRAFT} <script>1</script>", "patch_violation:active_markup"),
        (f"{DRAFT} It is resolved.", "patch_violation:restricted_claims"),
        ("All is well with us here.", "patch_violation:too_large_edit"),
    ],
)
def test_an_edited_text_is_guarded_like_any_revision(edited, problem):
    """What a guard would refuse ends nothing: the run waits on, with the reason, and the next answer counts."""
    graph, shown = escalated()
    still = graph.invoke(decided(shown, "edit", edited=edited), THREAD)
    assert still["status"] == "waiting"
    assert still["waiting_for"]["problem"].startswith(f"answer: the edit is refused: reason: {problem}")
    assert still["waiting_for"]["hash"] == shown["waiting_for"]["hash"]
    assert checked(graph.invoke(decided(shown, "edit", edited=REVISED), THREAD))["answer"] == REVISED


def test_an_edit_needs_a_text_and_a_question_that_offers_it():
    """An edit without a text is no answer."""
    graph, shown = escalated()
    still = graph.invoke(decided(shown, "edit"), THREAD)
    assert still["waiting_for"]["problem"] == "answer: edited, what is to stand instead of draft; given: none"


def test_the_changes_of_the_critic_are_the_persons_to_decide():
    """What the critic requires, no text of a person has to have; all other checks hold for it."""
    graph, shown = escalated(critique={**ESCALATE, "required_changes": ['ADD "Something else"']})
    assert checked(graph.invoke(decided(shown, "edit", edited=REVISED), THREAD))["answer"] == REVISED


def test_a_person_cannot_approve_what_no_text_may_say():
    """A guarantee is licensed by nobody: the final guard stops it, approved or not."""
    graph, shown = escalated(draft=GUARANTEED)
    result = checked(graph.invoke(decided(shown, "approve"), THREAD))
    assert result["stop_reason"] == "invalid_answer:restricted_claims"


def test_a_guard_of_the_application_sees_the_edited_text_and_asks_no_model():
    """One that refuses ends the run: what a person wrote goes to no reviser."""
    seen = []

    def check(answer, view):
        seen.append(answer["answer"])
        return Stop("invalid_answer:own")

    own = StopReason("invalid_answer:own", "invalid_answer", ("finalize",), "No.", "No.", again=True)
    graph, shown = escalated(guards=[AnswerGuard(check, [own])])
    assert graph.invoke(decided(shown, "edit", edited=REVISED), THREAD)["stop_reason"] == "invalid_answer:own"
    assert seen == [REVISED]


def test_the_run_of_a_context_that_stops_escalations_ends():
    """Of two values the stricter holds; where the deployment stops, no context makes a run wait."""
    context = SelfCritiqueContext(policy=SelfCritiquePolicy(escalation="stop"))
    graph = agent(DRAFT, ESCALATE, policy=WAIT, checkpointer=InMemorySaver())
    assert graph.invoke(GIVEN, THREAD, context=context)["stop_reason"] == "policy_escalation"
    loose = SelfCritiqueContext(policy=SelfCritiquePolicy(escalation="wait"))
    assert agent(DRAFT, ESCALATE).invoke(GIVEN, context=loose)["stop_reason"] == "policy_escalation"


def test_a_what_if_knows_both_policies():
    """Under `stop` a run that a person decided would have ended; under `wait` nobody knows what they would say."""
    kept = InMemoryRecorder()
    graph, shown = escalated(recorder=kept)
    graph.invoke(decided(shown, "approve"), THREAD)
    stopping, waiting = agent(DRAFT, ESCALATE), agent(DRAFT, ESCALATE, policy=WAIT)
    assert replay(stopping, kept.runs[0])["stop_reason"] == "policy_escalation"
    [row] = what_if(stopping, kept.runs).rows
    assert (row.kind, row.ways[1].stop_reason) == ("changed", "policy_escalation")
    stopped = InMemoryRecorder()
    agent(DRAFT, ESCALATE, recorder=stopped).invoke(GIVEN)
    with pytest.raises(NotRecorded, match="escalate"):
        replay(waiting, stopped.runs[0])
    [unknown] = what_if(waiting, stopped.runs).rows
    assert unknown.kind == "unknown"


def test_an_edit_is_an_answer_only_where_it_is_offered():
    """A question that names no value to edit takes an edit for no answer at all."""
    from refund_pattern import begun

    graph, shown = begun()
    still = graph.invoke(decided(shown, "edit", edited={"amount": 1}), THREAD)
    assert still["waiting_for"]["problem"].startswith("answer: a dictionary with hash, as it was shown, and decision,")
    assert "approve or reject; given" in still["waiting_for"]["problem"]

"""A critic hands the draft to a person, and the run waits for them: approve, edit, reject, guarded and on record."""

from __future__ import annotations

import json

import pytest
from runs import BOTH, run
from self_critique_cases import DRAFT, ESCALATE, REVISED, THREAD, WAIT, agent, checked, decided, escalated

from guardgraph import replay
from guardgraph.evidence.checking import find_derivation_problems
from guardgraph.grammar import AnswerGuard, Stop, StopReason
from guardgraph.plain.hashing import canonical_json
from guardgraph.testing import InMemoryRecorder

GUARANTEED = f"{DRAFT} We guarantee that this will not happen again."


@pytest.mark.paired
@pytest.mark.parametrize("mode", BOTH)
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

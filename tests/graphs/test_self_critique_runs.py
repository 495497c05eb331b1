"""The Self-critique agent in whole runs: its demo, its limits, whatever is proposed, and what a person decides."""

import json
from hashlib import sha256

import pytest
import self_critique_cases as cases
from runs import BOTH, THREAD, content, masked, run
from self_critique_cases import APPROVE, DRAFT, ESCALATE, GIVEN, NOTE, REVISE, REVISED, THANKS, WAIT
from tables import each_row

from guardgraph import ConfigurationError, SelfCritiquePolicy, create_self_critique_agent, replay
from guardgraph.evidence.checking import find_derivation_problems
from guardgraph.guards.self_critique.editing import apply_required_changes
from guardgraph.plain.hashing import canonical_json
from guardgraph.testing import InMemoryRecorder, scripted_tool

GROWN = DRAFT.replace("We estimate recovery in", "In about") + " Many thanks." * 3
SOON = {"name": "x", "phrases": ["as soon as possible"]}


def hash_of(text):
    return sha256(" ".join(text.split()).encode()).hexdigest()[:12]


@pytest.mark.parametrize("mode", BOTH)
def test_the_demo_ends_revised_once(mode):
    """Offline, in each of LangGraph's ways: result, trace and history are the contract's, entry by entry."""
    result = cases.checked(run(create_self_critique_agent(), GIVEN, mode))
    before, answer = result["history"][0]["draft"], result["answer"]
    assert answer == f"{before} Timing may change as we learn more."
    change = 'MUST_INCLUDE "Timing may change as we learn more"'
    note = "The draft states an estimate as if it could not change."
    risks = [{"type": "missing_uncertainty", "note": note}]
    found = {"severity": "medium", "risks": risks, "required_changes": [change]}
    grown = {"length_increase_pct": round(3600 / len(before), 2)}
    audit = {"changed": True, "before_hash": hash_of(before), "after_hash": hash_of(answer), **grown}
    audit |= {"before_chars": len(before), "after_chars": len(answer), "delta_chars": 36}
    audit |= {"risks_count": 1, "required_changes_count": 1, "diff_excerpt": ["+ Timing may change as we learn more."]}
    told = {"outcome": "revised_once", "answer": answer, "critique_decision": "revise", "audit": audit}
    assert content(result) == {**told, **found}
    varies, final = {"elapsed_ms": "*", "ok": True}, {"final_hash": hash_of(answer)}
    once = {"attempts_used": 1, "retried": False}
    counts = {"severity": "medium", "risks": 1, "required_changes": 1}
    enforced = {"required_changes_total": 1, "required_changes_enforced": 1, "required_changes_unenforced": 0}
    grown["patch_similarity"] = 0.953
    assert masked(result["trace"]) == [
        {"step": 1, "phase": "draft", "draft_hash": hash_of(before), "chars": len(before), **once, **varies},
        {"step": 2, "phase": "critique", "decision": "revise", **counts, **varies},
        {"step": 3, "phase": "revise", **grown, **enforced, **once, "revised_hash": hash_of(answer), **varies},
        {"step": 4, "phase": "audit_finalize", **final, "changed": True, "diff_lines": 1, **varies},
    ]
    critique = {"decision": "revise", **found, "reason": note, "high_risk": False}
    told = {"proposer": "offline", "elapsed_ms": "*"}
    assert masked(result["history"]) == [
        {"step": 1, "action": "draft_once", "draft": before, **told},
        {"step": 2, "action": "critique_once", "critique": critique, **told},
        {"step": 3, "action": "revise_once", "required_changes": [change], "revised_answer": answer, **told},
        {"step": 4, "action": "audit_finalize", "status": "final", "changed": True, "elapsed_ms": "*"},
    ]
    path = "request_guard draft draft_guard critique critique_guard revise patch_guard final_guard revised"
    assert result["path"] == path.split()


def test_a_long_draft_is_shortened_once():
    shortener = scripted_tool({"draft": f" {DRAFT} "})
    result = cases.result_of("x" * 901, shortener=shortener)
    assert shortener.calls == [{"draft": "x" * 901, "max_chars": 900}]
    assert result["answer"] == DRAFT
    assert result["path"][1:6] == ["draft", "draft_guard", "shorten", "draft_guard", "critique"]
    shown = {"draft_hash": hash_of(DRAFT), "chars": len(DRAFT), "attempts_used": 2, "retried": True}
    assert shown.items() <= result["trace"][0].items()
    assert result["history"][0]["draft"] == DRAFT
    assert cases.result_of("x" * 901, shorter="About 31%.")["stop_reason"] == "invalid_draft:no_new_facts"
    assert cases.result_of(f"{'x' * 900}  ")["path"].count("draft_guard") == 1


def test_after_three_attempts_the_last_one_is_repaired():
    """By rule, always the same way, and the record says that it was the fourth attempt."""
    critique = cases.revise(f'ADD "{NOTE}"', 'REMOVE "About"')
    result = cases.result_of(DRAFT, critique, THANKS)
    assert masked(result) == masked(cases.result_of(DRAFT, critique, THANKS))
    answer = apply_required_changes(THANKS[-1], critique["required_changes"])
    assert result["answer"] == answer == f"{DRAFT.replace('About ', '')} Many thanks. {NOTE}."
    step, told = result["trace"][2], result["history"][2]
    assert (step["attempts_used"], step["retried"], told["proposer"]) == (4, True, "offline")
    assert result["path"][5:] == [*["revise", "patch_guard"] * 3, "repair", "patch_guard", "final_guard", "revised"]


@pytest.mark.parametrize(
    ("added", "last", "reason"),
    [("We estimate recovery", GROWN, "length_increase_limit"), ("It is resolved", THANKS[-1], "restricted_claims")],
)
def test_the_repaired_text_is_guarded_like_any_revision(added, last, reason):
    """It ends the run with its own stop, and is not tried again."""
    result = cases.result_of(DRAFT, cases.revise(f'ADD "{added}"'), [last])
    assert result["stop_reason"] == f"patch_violation:{reason}"
    assert (result["path"][-3:-1], result["phase"]) == (["repair", "patch_guard"], "revise")


@each_row(
    ("given", "message"),
    *(({slot: 5}, f"{slot}: ") for slot in ("drafter", "shortener", "critic", "reviser", "policy", "budget", "model")),
    ({"policy": SelfCritiquePolicy(high_risk_types=["no"])}, r"policy\.high_risk_types: there are .*; given: 'no'$"),
    ({"policy": SelfCritiquePolicy(claims=["closures", SOON])}, r"policy\.claims: 'as soon as possible' alone claims "),
)
def test_a_wrong_argument_is_a_clear_error(given, message):
    with pytest.raises(ConfigurationError, match=f"^{message}"):
        create_self_critique_agent(**given)


@each_row(
    ("before", "critique", "phase", "ending"),
    ("revise", REVISE, "revise", "patch_guard"),
    ("repair", REVISE, "revise", "patch_guard"),
    ("final_guard", REVISE, "finalize", "final_guard"),
    ("final_guard", APPROVE, "finalize", "final_guard"),
    ("escalation_guard", ESCALATE, "critique", "escalation_guard"),
)
def test_both_lists_are_asked_again_at_the_point_of_use(before, critique, phase, ending):
    """A decision taken off either list while the run stood still is not carried out; the critique is the evidence."""
    decision = critique["decision"]
    for narrowed in ("allowed_decisions_execution", "allowed_decisions_policy"):
        tool = scripted_tool(*({"revised_answer": text} for text in THANKS))
        revisions = {"reviser": tool} if before == "repair" else {}
        result = cases.resumed(before, DRAFT, critique, context={"policy": {narrowed: []}}, **revisions)
        assert result["stop_reason"] == f"critique_decision_denied_execution:{decision}"
        assert (result["phase"], result["path"][-2:]) == (phase, [ending, "stop_denied_execution"])
        assert content(result).keys() == {"critique", "so_far"}
        assert {"draft": DRAFT, "critique": result["critique"]}.items() <= result["so_far"].items()
        assert result["critique"]["decision"] == decision
        assert len(result["trace"]) == (3 if (before, critique) == ("final_guard", REVISE) else 2)


@pytest.mark.paired
@pytest.mark.parametrize("mode", BOTH)
@pytest.mark.parametrize(("decision", "done", "answer"), [("approve", "approved", DRAFT), ("edit", "edited", REVISED)])
def test_a_run_goes_on_with_the_decision(decision, done, answer, mode):
    """Approved it returns the draft, edited the person's text, with an audit of the change, and it replays exactly."""
    kept = InMemoryRecorder()
    graph, shown = cases.escalated(recorder=kept)
    more = {"edited": REVISED} if decision == "edit" else {}
    result = cases.checked(run(graph, cases.decided(shown, decision, **more), mode, config=THREAD))
    assert (result["outcome"], result["answer"]) == (f"{done}_by_person", answer)
    assert result["critique_decision"] == "escalate"
    assert result["audit"]["changed"] is (decision == "edit")
    assert {"phase": "revise", "decided": decision}.items() <= result["trace"][2].items()
    assert result["history"][2]["decided_by"] == "unverified"
    recording = json.loads(canonical_json(kept.runs[0]))
    assert replay(cases.agent(DRAFT, ESCALATE, policy=WAIT), recording) == result
    assert find_derivation_problems(graph.frame, recording) == []


@each_row(
    ("edited", "problem"),
    (" ", "invalid_revised:empty"),
    (f"{DRAFT} It is resolved.", "patch_violation:restricted_claims"),
    ("All is well with us here.", "patch_violation:too_large_edit"),
)
def test_an_edited_text_is_guarded_like_any_revision(edited, problem):
    """What a guard would refuse ends nothing: the run waits on, with the reason, and the next answer counts."""
    graph, shown = cases.escalated()
    still = graph.invoke(cases.decided(shown, "edit", edited=edited), THREAD)["waiting_for"]
    assert still["problem"].startswith(f"answer: the edit is refused: reason: {problem}")
    assert still["hash"] == shown["waiting_for"]["hash"]
    assert cases.checked(graph.invoke(cases.decided(shown, "edit", edited=REVISED), THREAD))["answer"] == REVISED


def test_a_person_cannot_approve_what_no_text_may_say():
    graph, shown = cases.escalated(draft=f"{DRAFT} We guarantee that this will not happen again.")
    result = cases.checked(graph.invoke(cases.decided(shown, "approve"), THREAD))
    assert result["stop_reason"] == "invalid_answer:restricted_claims"

"""Whole runs of the Self-critique agent: endings, records, views, retries, execution list, budgets."""

from __future__ import annotations

from hashlib import sha256

import pytest
from runs import BOTH, content, masked, run
from self_critique_cases import DRAFT, GIVEN, NOTE, REVISE, REVISED, THANKS, checked, result_of, revise

from guardgraph import ConfigurationError, create_self_critique_agent
from guardgraph.guards.self_critique.editing import apply_required_changes

UNFIT = revise('ADD "Thank you"', 'REMOVE "thanks. Thank"', 'REMOVE "Note: Thank"', 'REMOVE "Also: Thank"')
"""Wherever the fallback could add the first phrase, another one would appear."""
CUT = DRAFT.replace("We estimate recovery in", "In about") + " Many thanks." * 3


def hash_of(text):
    """Hash a text as the contract says."""
    return sha256(" ".join(text.split()).encode()).hexdigest()[:12]


@pytest.mark.parametrize("mode", BOTH)
def test_the_demo_ends_revised_once(mode):
    """Offline, in each of LangGraph's ways: result, trace and history are the contract's, entry by entry."""
    result = checked(run(create_self_critique_agent(), GIVEN, mode))
    before, answer = result["history"][0]["draft"], result["answer"]
    assert answer == f"{before} Timing may change as we learn more."
    change = 'MUST_INCLUDE "Timing may change as we learn more"'
    note = "The draft states an estimate as if it could not change."
    risks = [{"type": "missing_uncertainty", "note": note}]
    assert content(result) == {
        "outcome": "revised_once",
        "answer": answer,
        "critique_decision": "revise",
        "severity": "medium",
        "risks": risks,
        "required_changes": [change],
        "audit": {
            "changed": True,
            "before_hash": hash_of(before),
            "after_hash": hash_of(answer),
            "before_chars": len(before),
            "after_chars": len(answer),
            "delta_chars": 36,
            "length_increase_pct": round(3600 / len(before), 2),
            "risks_count": 1,
            "required_changes_count": 1,
            "diff_excerpt": ["+ Timing may change as we learn more."],
        },
    }
    varies = {"elapsed_ms": "*", "ok": True}
    once = {"attempts_used": 1, "retried": False}
    counts = {"severity": "medium", "risks": 1, "required_changes": 1}
    enforced = {"required_changes_total": 1, "required_changes_enforced": 1, "required_changes_unenforced": 0}
    grown = {"patch_similarity": 0.953, "length_increase_pct": round(3600 / len(before), 2)}
    assert masked(result["trace"]) == [
        {"step": 1, "phase": "draft", "draft_hash": hash_of(before), "chars": len(before), **once, **varies},
        {"step": 2, "phase": "critique", "decision": "revise", **counts, **varies},
        {"step": 3, "phase": "revise", **grown, **enforced, **once, "revised_hash": hash_of(answer), **varies},
        {
            "step": 4,
            "phase": "audit_finalize",
            "final_hash": hash_of(answer),
            "changed": True,
            "diff_lines": 1,
            **varies,
        },
    ]
    critique = {"decision": "revise", "severity": "medium", "risks": risks, "required_changes": [change]}
    critique = {**critique, "reason": note, "high_risk": False}
    told = {"proposer": "offline", "elapsed_ms": "*"}
    assert masked(result["history"]) == [
        {"step": 1, "action": "draft_once", "draft": before, **told},
        {"step": 2, "action": "critique_once", "critique": critique, **told},
        {"step": 3, "action": "revise_once", "required_changes": [change], "revised_answer": answer, **told},
        {"step": 4, "action": "audit_finalize", "status": "final", "changed": True, "elapsed_ms": "*"},
    ]
    assert result["path"] == [
        "request_guard",
        "draft",
        "draft_guard",
        "critique",
        "critique_guard",
        "revise",
        "patch_guard",
        "final_guard",
        "revised",
    ]


def test_a_long_draft_is_shortened_once():
    """The step says so, and the shortened draft is judged like any."""
    result = result_of("x" * 901, shorter=f" {DRAFT} ")
    assert result["answer"] == DRAFT
    assert result["path"][1:6] == ["draft", "draft_guard", "shorten", "draft_guard", "critique"]
    shown = {key: result["trace"][0][key] for key in ("draft_hash", "chars", "attempts_used", "retried")}
    assert shown == {"draft_hash": hash_of(DRAFT), "chars": len(DRAFT), "attempts_used": 2, "retried": True}
    assert result["history"][0]["draft"] == DRAFT
    assert result_of("x" * 901, shorter="About 31%.")["stop_reason"] == "invalid_draft:no_new_facts"
    assert result_of(f"{'x' * 900}  ")["path"].count("draft_guard") == 1


@pytest.mark.parametrize("attempts", [1, 2, 3])
def test_changes_that_were_not_made_are_asked_for_again(attempts):
    """Up to three times, each on the draft; the accepted attempt is the answer."""
    result = result_of(DRAFT, REVISE, [*THANKS[: attempts - 1], REVISED])
    assert result["answer"] == REVISED
    assert (result["trace"][2]["attempts_used"], result["trace"][2]["retried"]) == (attempts, attempts > 1)
    assert result["path"].count("revise") == attempts
    assert result["history"][2]["proposer"] == "ScriptedTool"


def test_after_three_attempts_the_last_one_is_repaired():
    """By rule, always the same way, and the record says that it was the fourth attempt."""
    critique = revise(f'ADD "{NOTE}"', 'REMOVE "About"')
    results = [result_of(DRAFT, critique, THANKS) for _ in range(2)]
    assert masked(results[0]) == masked(results[1])
    answer = apply_required_changes(THANKS[-1], critique["required_changes"])
    assert answer == f"{DRAFT.replace('About ', '')} Many thanks. {NOTE}."
    assert results[0]["answer"] == answer
    step, told = results[0]["trace"][2], results[0]["history"][2]
    assert (step["attempts_used"], step["retried"], told["proposer"]) == (4, True, "offline")
    assert results[0]["path"][5:] == [*["revise", "patch_guard"] * 3, "repair", "patch_guard", "final_guard", "revised"]


@pytest.mark.parametrize(
    ("critique", "last", "budget", "reason"),
    [
        (REVISE, THANKS[-1], {"max_answer_chars": len(THANKS[-1])}, "invalid_revised:too_long"),
        (revise('ADD "We estimate recovery"'), CUT, {}, "patch_violation:length_increase_limit"),
        (revise('REMOVE "Many thanks"'), THANKS[-1], {}, "invalid_revised:no_changes"),
        (revise('ADD "It is resolved"'), THANKS[-1], {}, "patch_violation:restricted_claims"),
        (revise('ADD "About 31%"'), THANKS[-1], {}, "patch_violation:no_new_facts"),
        (UNFIT, f"{REVISED} Many thanks.", {}, "patch_violation:required_changes_not_applied"),
    ],
)
def test_the_repaired_text_is_guarded_like_any_revision(critique, last, budget, reason):
    """It ends the run with its own stop, and is not tried again."""
    result = result_of(DRAFT, critique, [last], budget=budget)
    assert result["stop_reason"] == reason
    assert result["path"][-3:-1] == ["repair", "patch_guard"]
    assert result["phase"] == "revise"


@pytest.mark.parametrize("slot", ["drafter", "shortener", "critic", "reviser", "policy", "budget", "model"])
def test_a_wrong_argument_is_a_clear_error(slot):
    """The factory names it, and nothing is run."""
    with pytest.raises(ConfigurationError, match=f"^{slot}: "):
        create_self_critique_agent(**{slot: 5})

"""The Self-critique agent within limits: execution list, resumes, budgets, hints, time."""

from __future__ import annotations

import pytest
from runs import content
from self_critique_cases import APPROVE, DRAFT, ESCALATE, REVISE, REVISED, THANKS, result_of, resumed

from guardgraph.testing import scripted_tool

DENIED = {"policy": {"allowed_decisions_execution": []}}
NOT_ALLOWED = {"policy": {"allowed_decisions_policy": []}}


@pytest.mark.parametrize("tighter", [DENIED, NOT_ALLOWED], ids=["execution", "policy"])
@pytest.mark.parametrize(
    ("before", "critique", "phase", "ending"),
    [
        ("revise", REVISE, "revise", "patch_guard"),
        ("repair", REVISE, "revise", "patch_guard"),
        ("final_guard", REVISE, "finalize", "final_guard"),
        ("final_guard", APPROVE, "finalize", "final_guard"),
        ("escalation_guard", ESCALATE, "critique", "escalation_guard"),
    ],
)
def test_both_lists_are_asked_again_at_the_point_of_use(before, critique, phase, ending, tighter):
    """A decision taken off either list while the run stood still is not carried out; the critique is the evidence."""
    tool = scripted_tool(*({"revised_answer": text} for text in THANKS))
    revisions = {"reviser": tool} if before == "repair" else {}
    result = resumed(before, DRAFT, critique, context=tighter, **revisions)
    assert result["stop_reason"] == f"critique_decision_denied_execution:{critique['decision']}"
    assert (result["phase"], result["path"][-2:]) == (phase, [ending, "stop_denied_execution"])
    assert content(result).keys() == {"critique", "so_far"}
    assert result["so_far"]["draft"] == DRAFT
    assert result["so_far"]["critique"]["decision"] == critique["decision"]
    assert result["critique"]["decision"] == critique["decision"]
    assert len(result["trace"]) == (3 if (before, critique) == ("final_guard", REVISE) else 2)


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ({"max_draft_chars": 10}, "invalid_draft:too_long"),
        ({"max_risks": 0}, "invalid_critique:too_many_risks"),
        ({"max_required_changes": 0}, "invalid_critique:too_many_required_changes"),
        ({"max_answer_chars": len(DRAFT)}, "invalid_revised:too_long"),
        ({"min_patch_similarity": 0.99}, "patch_violation:too_large_edit"),
    ],
)
def test_a_run_may_have_a_tighter_budget(limits, reason):
    """Every limit can be tightened through the context, and none loosened."""
    revised = [REVISED.replace("About", "Some")]
    assert result_of(DRAFT, REVISE, revised)["stop_reason"] == "success"
    assert result_of(DRAFT, REVISE, revised, context={"budget": limits})["stop_reason"] == reason
    loose = {name: 0.0 if name.startswith("min") else 10_000 for name in limits}
    assert result_of(DRAFT, REVISE, revised, budget=limits, context={"budget": loose})["stop_reason"] == reason

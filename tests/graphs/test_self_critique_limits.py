"""The Self-critique agent within limits: execution list, resumes, budgets, hints, time."""

from __future__ import annotations

import pytest
from runs import content
from self_critique_cases import (
    APPROVE,
    DRAFT,
    ESCALATE,
    GIVEN,
    REVISE,
    REVISED,
    THANKS,
    checked,
    given,
    result_of,
    resumed,
)

from guardgraph import LiveWorld, create_self_critique_agent
from guardgraph.testing import Reply, ScriptedChatModel, ScriptedClock, scripted_tool

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


def test_a_reviser_that_is_switched_off_is_not_called():
    """The call is what the execution list forbids."""
    reviser = scripted_tool({"revised_answer": REVISED})
    resumed("revise", DRAFT, REVISE, reviser=reviser, context=DENIED)
    assert reviser.calls == []


def test_a_resumed_run_obeys_a_tighter_budget():
    """The final guard judges by the limits of the moment."""
    result = resumed("final_guard", DRAFT, REVISE, context={"budget": {"max_answer_chars": 50}})
    assert (result["stop_reason"], result["phase"]) == ("invalid_answer:too_long", "finalize")
    result = resumed("critique", context={"budget": {"max_seconds": 0}})
    assert (result["stop_reason"], result["phase"]) == ("max_seconds", "critique")


@pytest.mark.parametrize(
    ("hint", "budget", "context", "stopped"),
    [
        (20, 20.0, None, False),
        (5, 20.0, None, True),
        (50, 5.0, None, True),
        (50, 20.0, {"budget": {"max_length_increase_pct": 5.0}}, True),
        (50, 5.0, {"budget": {"max_length_increase_pct": 50.0}}, True),
    ],
)
def test_the_smallest_limit_of_growth_holds(hint, budget, context, stopped):
    """Of deployment, run and request; none can raise another's."""
    settings = {"budget": {"max_length_increase_pct": budget}, "context": context}
    result = result_of(
        DRAFT, REVISE, [f"{REVISED} Many thanks."], input=given(max_length_increase_pct=hint), **settings
    )
    assert (result["stop_reason"] == "patch_violation:length_increase_limit") is stopped


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


def test_facts_are_checked_unless_policy_says_not():
    """A run can switch the check on again, and regions of one's own are watched for."""
    off = {"check_facts": False}
    assert result_of("About 31% are affected.", policy=off)["stop_reason"] == "success"
    assert result_of(DRAFT, REVISE, [f"{REVISED} 31%."], policy=off)["stop_reason"] == "success"
    on = {"policy": {"check_facts": True}}
    assert result_of("About 31% are affected.", policy=off, context=on)["stop_reason"] == "invalid_draft:no_new_facts"
    assert result_of("Payments fail in Bavaria.")["stop_reason"] == "success"
    watched = {"policy": {"known_regions": ["Bavaria"]}}
    assert result_of("Payments fail in Bavaria.", context=watched)["stop_reason"] == "invalid_draft:new_region"


def timed(*seconds, draft=DRAFT):
    """Run a model whose answers take so many seconds, under a budget of 10, and return the result."""
    clock = ScriptedClock()
    texts = [{"draft": draft}, REVISE, *({"revised_answer": text} for text in THANKS)]
    model = ScriptedChatModel(
        *(Reply(text, delay=late) for text, late in zip(texts, seconds, strict=False)), clock=clock
    )
    return checked(
        create_self_critique_agent(model, world=LiveWorld(clock=clock)).invoke(
            GIVEN, context={"budget": {"max_seconds": 10}}
        )
    )


@pytest.mark.parametrize(
    ("seconds", "draft", "phase", "path"),
    [
        ([10], "x" * 901, "draft", ["draft", "draft_guard"]),
        ([10], DRAFT, "critique", ["draft", "draft_guard"]),
        ([5, 5], DRAFT, "revise", ["critique", "critique_guard"]),
        ([1, 1, 4, 4], DRAFT, "revise", ["revise", "patch_guard"]),
        ([1, 1, 3, 3, 3], DRAFT, "revise", ["revise", "patch_guard"]),
    ],
)
def test_time_is_checked_before_each_step_that_spends(seconds, draft, phase, path):
    """The phase is that of the step that would have begun, also in the loop and before the repair."""
    result = timed(*seconds, draft=draft)
    assert (result["stop_reason"], result["phase"]) == ("max_seconds", phase)
    assert result["path"][-3:-1] == path
    assert result["details"] == {"max_seconds": 10.0, "spent_seconds": float(sum(seconds))}


def test_an_answer_is_not_lost_to_the_clock():
    """What spends no more is still done when the time is up."""
    clock = ScriptedClock()
    model = ScriptedChatModel({"draft": DRAFT}, Reply(APPROVE, delay=999), clock=clock)
    assert (
        checked(create_self_critique_agent(model, world=LiveWorld(clock=clock)).invoke(GIVEN))["outcome"]
        == "approved_direct"
    )

"""The Self-critique agent within limits: execution list, resumes, budgets, hints, time."""

from __future__ import annotations

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from runs import content
from self_critique_cases import (
    APPROVE,
    DRAFT,
    ESCALATE,
    GIVEN,
    REVISE,
    REVISED,
    RISK_TYPES,
    THANKS,
    agent,
    checked,
    given,
    result_of,
    resumed,
)

from guardgraph import LiveWorld, SelfCritiqueBudget, SelfCritiquePolicy, create_self_critique_agent
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


def test_nothing_of_a_run_is_left_in_the_next_one_on_the_same_thread():
    """Neither its attempts, nor its rejected draft, nor its result."""
    drafts = scripted_tool({"draft": "x" * 901}, {"draft": DRAFT}, {"draft": "x" * 901}, {"draft": ""})
    revisions = scripted_tool(*({"revised_answer": text} for text in [THANKS[0], *[REVISED] * 3]))
    graph = agent(critique=REVISE, drafter=drafts, reviser=revisions, checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "1"}}
    first, second, third, last = (checked(graph.invoke(GIVEN, config)) for _ in range(4))
    assert [first["trace"][place]["attempts_used"] for place in (0, 2)] == [2, 2]
    assert [second["trace"][place]["attempts_used"] for place in (0, 2)] == [1, 1]
    assert [third["trace"][place]["attempts_used"] for place in (0, 2)] == [2, 1]
    assert (last["stop_reason"], content(last), len(last["trace"])) == ("invalid_draft:empty", {}, 0)


def test_the_defaults_are_the_contracts():
    """Budget, decisions and risks, as a deployment gets them."""
    assert SelfCritiqueBudget().model_dump() == {
        "max_seconds": 120.0,
        "max_visits": 1000,
        "max_attempts": 2,
        "max_reply_bytes": 2**22,
        "max_input_bytes": 2**18,
        "max_draft_chars": 900,
        "max_risks": 5,
        "max_required_changes": 5,
        "max_answer_chars": 980,
        "max_length_increase_pct": 20.0,
        "min_patch_similarity": 0.4,
        "max_llm_calls": None,
        "max_tool_calls": None,
        "max_tokens": None,
        "max_cost": None,
        "max_output_tokens": None,
        "prices": {},
        "severity_budget": None,
        "min_mention_similarity": 0.8,
        "max_soften_similarity": 0.8,
    }
    policy = SelfCritiquePolicy()
    assert policy.allowed_decisions_policy == policy.allowed_decisions_execution == ("approve", "revise", "escalate")
    assert sorted(policy.allowed_risk_types_policy) == RISK_TYPES
    assert policy.check_facts


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


def test_waiting_for_a_person_takes_no_time():
    """Only the time in which the run is active counts."""
    clock = ScriptedClock()
    graph = agent(checkpointer=InMemorySaver(), world=LiveWorld(clock=clock))
    config = {"configurable": {"thread_id": "1"}}
    graph.invoke(GIVEN, config, interrupt_before=["critique"])
    clock.advance(1_000_000)
    assert checked(graph.invoke(None, config))["outcome"] == "approved_direct"

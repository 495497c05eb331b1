"""How the Self-critique agent judges requests and proposals: fields, lists, values and model texts, claims."""

from __future__ import annotations

import pytest
from hanging import standing
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda
from runs import content
from self_critique_cases import (
    APPROVE,
    DRAFT,
    ESCALATE,
    GIVEN,
    REVISE,
    checked,
    failing,
    given,
    model_run,
    result_of,
    revise,
)

from guardgraph import create_self_critique_agent
from guardgraph.testing import Reply


@pytest.mark.parametrize(
    ("field", "input"),
    [
        ("goal", {"incident_context": {}}),
        ("goal", {**GIVEN, "goal": ["g"]}),
        ("goal", {**GIVEN, "goal": 10**400}),
        ("incident_context", {"goal": "g"}),
        ("incident_context", {"goal": "g", "incident_context": [{}]}),
        ("incident_context", {"goal": "g", "incident_context": {"eta_minutes": float("nan")}}),
        ("incident_context.policy_hints", {"goal": "g", "incident_context": {"policy_hints": []}}),
        *(
            (f"incident_context.policy_hints.{hint}", given(**{hint: value}))
            for hint, value in [
                ("avoid_absolute_guarantees", "no"),
                ("avoid_absolute_guarantees", 0),
                ("max_length_increase_pct", "20"),
                ("max_length_increase_pct", True),
                ("max_length_increase_pct", -1),
                ("max_length_increase_pct", float("inf")),
            ]
        ),
    ],
)
def test_a_malformed_request_is_not_run(field, input):
    """It stops before any proposer is asked, and the details name the field."""
    result = result_of(drafter=failing, input=input)
    assert result["stop_reason"] == f"invalid_request:{field}"
    assert result["details"]["field"] == field
    assert (result["phase"], result["path"]) == ("draft", ["request_guard", "stop_invalid_request"])


def test_an_unknown_hint_is_no_fault_nor_is_a_context_of_any_shape():
    """No field is one that a context must have; one fact is enough."""
    assert result_of("We are on it.", input=given(tone="calm"))["status"] == "ok"
    for sections in ("all", [1], None):
        assert result_of("We are on it.", input=given(required_sections=sections))["status"] == "ok"
    for context in ({"note": "x"}, {"rows": [[None, {"eta_minutes": 0}]]}, {"is_down": False}):
        assert result_of("We are on it.", input={"goal": "g", "incident_context": context})["status"] == "ok"


@pytest.mark.parametrize(
    "context",
    [
        {},
        {"incident": {}, "updates": [], "region": None, "note": " \n"},
        {"policy_hints": {"tone": "calm", "avoid_absolute_guarantees": True}},
        {"limits": {"max_chars": 900}, "incident": {"summary": "...", "log": [[None]]}},
    ],
)
def test_a_context_that_says_nothing_is_refused(context):
    """Empty, hints and limits alone, or blanks: there is nothing to write about, and nobody is asked."""
    result = result_of(drafter=failing, input={"goal": "g", "incident_context": context})
    assert result["stop_reason"] == "invalid_request:incident_context"
    assert result["details"]["allowed"] == "at least one fact about an incident"


@pytest.mark.parametrize("decision", ["approve", "revise", "escalate"])
@pytest.mark.parametrize("emptied", [False, True])
def test_a_decision_must_be_on_both_lists(decision, emptied):
    """Off the policy list it may not be asked for, off the execution list it is not done; empty allows nothing."""
    raw = {"approve": APPROVE, "revise": REVISE, "escalate": ESCALATE}[decision]
    left = [] if emptied else [item for item in ("approve", "revise", "escalate") if item != decision]
    asked = result_of(DRAFT, raw, policy={"allowed_decisions_policy": left})
    assert asked["stop_reason"] == f"critique_decision_not_allowed_policy:{decision}"
    done = result_of(DRAFT, raw, context={"policy": {"allowed_decisions_execution": left}})
    assert done["stop_reason"] == f"critique_decision_denied_execution:{decision}"
    for result in (asked, done):
        assert content(result) == {"raw_critique": raw, "so_far": {"draft": DRAFT}}
        assert (result["phase"], len(result["trace"])) == ("critique", 1)


def test_a_model_may_call_a_risk_only_what_the_run_allows():
    """The context's list narrows the deployment's."""
    context = {"policy": {"allowed_risk_types_policy": ["legal_risk"]}}
    result = result_of(DRAFT, REVISE, context=context)
    assert result["stop_reason"] == "critique_risk_not_allowed_policy:missing_uncertainty"


VALUES = [
    ("drafter", "invalid_draft:empty"),
    ("shortener", "invalid_draft:empty"),
    ("critic", "invalid_critique:not_object"),
    ("reviser", "invalid_revised:empty"),
]


@pytest.mark.paired
@pytest.mark.parametrize(("slot", "reason"), VALUES)
@pytest.mark.parametrize("value", [None, "not JSON", 5, []])
def test_a_value_is_judged_with_the_patterns_own_reasons(slot, reason, value):
    """Whatever a Runnable returns, it is no model's text."""
    draft = "x" * 901 if slot == "shortener" else DRAFT
    result = result_of(draft, REVISE, **{slot: RunnableLambda(lambda _: value)})
    assert result["stop_reason"] == reason


@pytest.mark.parametrize("slot", ["drafter", "critic", "reviser"])
def test_a_message_is_a_models_text_whoever_returns_it(slot):
    """A Runnable that ends in a model fails like the model, one that ends in a parser does not."""
    result = result_of(DRAFT, REVISE, **{slot: RunnableLambda(lambda _: AIMessage("not JSON"))})
    assert result["stop_reason"] == "llm_invalid_json"
    assert result["details"]["text"] == "not JSON"


def test_a_models_critique_is_judged_by_its_guard():
    """Its fields have the pattern's reasons, not llm_invalid_schema; JSON that is no object is the model's fault."""
    result = model_run({"draft": DRAFT}, {"verdict": "fine"})
    assert (result["stop_reason"], result["raw_critique"]) == ("invalid_critique:decision", {"verdict": "fine"})
    assert model_run({"draft": DRAFT}, "null")["stop_reason"] == "llm_invalid_json"


def test_a_model_without_structured_output_is_asked_too():
    """The prompt states the form, and the guard reads what comes."""
    model = GenericFakeChatModel(messages=iter([AIMessage('{"draft": "We are on it."}'), AIMessage("no JSON")]))
    result = checked(create_self_critique_agent(model).invoke(GIVEN))
    assert (result["stop_reason"], result["phase"]) == ("llm_invalid_json", "critique")


def test_a_slow_model_is_cut_off_by_the_runs_time():
    """The remaining time caps the call, and the details say which limit it was."""
    result = model_run({"draft": DRAFT}, Reply(APPROVE, delay=10), world=standing(), max_seconds=0.2)
    assert (result["stop_reason"], result["phase"]) == ("llm_timeout", "critique")
    assert (result["details"]["limit"], result["details"]["cause"]) == ("max_seconds", "timeout")


def context_of(status, hints):
    """Return the demo's context with another status and these hints alone."""
    context = given()["incident_context"]
    return {**context, "incident": {**context["incident"], "status": status}, "policy_hints": hints}


CLAIM = f"{DRAFT} It is resolved."
MILD = {"avoid_absolute_guarantees": False}


@pytest.mark.parametrize(
    ("draft", "critique", "revised", "hints", "reason"),
    [
        (CLAIM, APPROVE, None, MILD, "invalid_answer:restricted_claims"),
        (f"{DRAFT} It is not yet resolved.", APPROVE, None, {}, "success"),
        (CLAIM, REVISE, f"{CLAIM} Timing may change.", {}, "patch_violation:restricted_claims"),
        (CLAIM, REVISE, f"{CLAIM} Timing may change.", MILD, "patch_violation:restricted_claims"),
        (
            DRAFT,
            revise('ADD "It is resolved"'),
            CLAIM,
            {"avoid_absolute_guarantees": False},
            "patch_violation:restricted_claims",
        ),
        (CLAIM, revise('REMOVE "It is resolved"'), DRAFT, {}, "success"),
    ],
)
def test_a_restricted_claim_goes_out_only_where_it_may(draft, critique, revised, hints, reason):
    """A draft never licenses itself, whatever the hint."""
    assert result_of(draft, critique, [revised], input=given(**hints))["stop_reason"] == reason


GUARANTEE = f"{DRAFT} Recovery is guaranteed."
LICENSED = ("Resolved", "closed", " RECOVERED ", "completed", "fixed", "postmortem")


@pytest.mark.paired
@pytest.mark.parametrize("hints", [{}, MILD, {"avoid_absolute_guarantees": True}])
@pytest.mark.parametrize("status", LICENSED)
def test_the_status_of_the_incident_licenses_closures(hints, status):
    """In any case of its letters, with the hint and without; a guarantee is licensed by nothing."""
    asked = {"goal": "g", "incident_context": context_of(status, hints)}
    assert result_of(CLAIM, input=asked)["stop_reason"] == "success"
    assert result_of(f"{DRAFT} All payments are stable.", input=asked)["stop_reason"] == "success"
    assert result_of(GUARANTEE, input=asked)["stop_reason"] == "invalid_answer:restricted_claims"


@pytest.mark.parametrize(
    ("hints", "reason"),
    [({}, "success"), (MILD, "success"), ({"avoid_absolute_guarantees": True}, "invalid_answer:restricted_claims")],
)
def test_another_text_of_the_context_licenses_closures_where_the_hint_is_off(hints, reason):
    """An absent hint is off; a text that claims no closure, and the hints themselves, license nothing."""
    context = {**context_of("degraded", hints), "updates": [{"body": "The fault has been fixed."}]}
    assert result_of(CLAIM, input={"goal": "g", "incident_context": context})["stop_reason"] == reason
    context["updates"] = "We guarantee that it is not yet resolved."
    context["policy_hints"] = {**hints, "tone": "Say that it is resolved."}
    refused = result_of(CLAIM, input={"goal": "It is resolved.", "incident_context": context})
    assert refused["stop_reason"] == "invalid_answer:restricted_claims"
    assert refused["claims"] == ["resolved"]

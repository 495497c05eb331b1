"""Every stop of the catalogue, produced by a whole run with its phase and its evidence."""

from __future__ import annotations

from functools import partial

import pytest
from guard_cases import stop_of
from langchain_core.exceptions import (
    ModelAPIError,
    ModelAuthenticationError,
    ModelInvalidRequestError,
    ModelRateLimitError,
    ModelTimeoutError,
)
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda
from runs import StopCase, check_stop, content, reasons_without_a_run
from self_critique_cases import APPROVE, DRAFT, ESCALATE, GIVEN, REVISE, REVISED, checked, given, result_of, resumed, revise

from guardgraph import create_self_critique_agent
from guardgraph.guards.revision import check_final
from guardgraph.state.self_critique import SELF_CRITIQUE_REASONS
from guardgraph.testing import Reply, ScriptedChatModel

DETAILS = {"details": ...}
DEFECT = {"details": {"type": "AssertionError"}}
OFF = {"policy": {"allowed_decisions_execution": []}}


def failing(view):
    """A proposer with a defect that no server can cause."""
    raise AssertionError("a defect")


def model_run(*script, **budget):
    """Run an agent whose one model answers from a script, and return the result."""
    return create_self_critique_agent(ScriptedChatModel(*script)).invoke(GIVEN, context={"budget": budget})


DRAFTS = {
    "invalid_draft:empty": (" \n", {}),
    "invalid_draft:too_long": ("x" * 901, {"details": {"chars": 901, "allowed": 900}}),
    "invalid_draft:no_new_facts": ("31% P2 inc_other_1 EU.", {"unsupported": ["31%"]}),
    "invalid_draft:new_incident_id": ("P2, inc_other_1, EU.", {"unsupported": ["inc_other_1"]}),
    "invalid_draft:new_severity_label": ("P2 in the EU.", {"unsupported": ["P2"]}),
    "invalid_draft:new_region": ("It is in the EU.", {"unsupported": ["EU"]}),
}

RISK = {"type": "scope_leak", "note": "n"}
CRITIQUES = {
    "invalid_critique:not_object": [REVISE],
    "invalid_critique:decision": {**REVISE, "decision": " "},
    "invalid_critique:severity": {**REVISE, "severity": None},
    "invalid_critique:risks": {**REVISE, "risks": None},
    "invalid_critique:too_many_risks": {**REVISE, "risks": [RISK] * 6},
    "invalid_critique:risk_item": {**REVISE, "risks": ["scope_leak"]},
    "invalid_critique:risk_type": {**REVISE, "risks": [{**RISK, "type": ""}]},
    "invalid_critique:risk_note": {**REVISE, "risks": [{**RISK, "note": None}]},
    "invalid_critique:required_changes": {**REVISE, "required_changes": 'ADD "x y"'},
    "invalid_critique:too_many_required_changes": {**REVISE, "required_changes": ['ADD "x y"'] * 6},
    "invalid_critique:required_change_item": {**REVISE, "required_changes": [5]},
    "invalid_critique:reason": {**REVISE, "reason": ["why"]},
    "invalid_critique:approve_with_required_changes": {**REVISE, "decision": "approve"},
    "invalid_critique:approve_with_high_risk": {**APPROVE, "severity": "HIGH"},
    "invalid_critique:revise_without_required_changes": {**REVISE, "required_changes": []},
    "invalid_critique:high_risk_requires_escalate": {**REVISE, "severity": "high"},
    "invalid_critique:escalate_reason_required": {**ESCALATE, "reason": None},
}

REVISIONS = {
    "invalid_revised:empty": ("", {}),
    "invalid_revised:too_long": (REVISED + "x" * 900, DETAILS),
    "invalid_revised:no_changes": (DRAFT.replace(" ", "\n"), {}),
    "patch_violation:too_large_edit": ("Timing may change soon!", {"patch_similarity": 0.0, "details": ...}),
    "patch_violation:length_increase_limit": (
        REVISED + " Thanks." * 4,
        {"length_increase_pct": round(5100 / len(DRAFT), 2), "details": {"allowed": "at most 20.0 %"}},
    ),
    "patch_violation:no_new_facts": (f"{REVISED} 31%.", {"unsupported": ["31%"]}),
    "patch_violation:new_incident_id": (f"{REVISED} inc_new_7.", {"unsupported": ["inc_new_7"]}),
    "patch_violation:new_severity_label": (f"{REVISED} P2.", {"unsupported": ["P2"]}),
    "patch_violation:new_region": (f"{REVISED} EU.", {"unsupported": ["EU"]}),
    "patch_violation:restricted_claims": (f"{REVISED} Resolved.", {"claims": ["resolved"]}),
}
CONTRADICTION = revise('ADD "Thank you"', 'REMOVE "Thank you"')

STOPS = {
    **{
        reason: StopCase("draft", partial(result_of, text, shorter=text), evidence)
        for reason, (text, evidence) in DRAFTS.items()
    },
    **{
        reason: StopCase("critique", partial(result_of, DRAFT, raw), {"raw_critique": raw, "details": ...})
        for reason, raw in CRITIQUES.items()
    },
    **{
        reason: StopCase("revise", partial(result_of, DRAFT, REVISE, [text]), evidence)
        for reason, (text, evidence) in REVISIONS.items()
    },
    "invalid_request:<field>": StopCase(
        "draft",
        lambda: result_of(input={"goal": " ", "incident_context": {}}),
        {"details": {"field": "goal", "given": " ", "allowed": "a text that is not blank"}},
        reason="invalid_request:goal",
    ),
    "max_seconds": StopCase("draft", lambda: result_of(context={"budget": {"max_seconds": 0}}), DETAILS),
    "guard_error:<guard>": StopCase(
        "draft", lambda: result_of(drafter=failing), DEFECT, reason="guard_error:draft"
    ),
    "invalid_critique:required_changes_not_enforceable": StopCase(
        "critique",
        lambda: result_of(DRAFT, revise('ADD "may change"', "soften it")),
        {"raw_critique": revise('ADD "may change"', "soften it"), "not_enforceable": ["soften it"]},
    ),
    "critique_decision_not_allowed_policy:<decision>": StopCase(
        "critique",
        lambda: result_of(DRAFT, {**REVISE, "decision": "x" * 100}),
        {"raw_critique": {**REVISE, "decision": "x" * 100}},
        reason="critique_decision_not_allowed_policy:" + "x" * 80,
    ),
    "critique_risk_not_allowed_policy:<type>": StopCase(
        "critique",
        lambda: result_of(DRAFT, {**REVISE, "risks": [{**RISK, "type": "tone " * 20}]}),
        {"raw_critique": {**REVISE, "risks": [{**RISK, "type": "tone " * 20}]}},
        reason="critique_risk_not_allowed_policy:" + "tone " * 16,
    ),
    "critique_decision_denied_execution:<decision>": StopCase(
        "critique",
        lambda: result_of(DRAFT, REVISE, policy={"allowed_decisions_execution": ["approve", "escalate"]}),
        {"raw_critique": REVISE},
        reason="critique_decision_denied_execution:revise",
    ),
    "policy_escalation": StopCase(
        "critique",
        lambda: result_of(DRAFT, ESCALATE),
        {
            "escalation_reason": ESCALATE["reason"][:120],
            "critique": {**ESCALATE, "reason": ESCALATE["reason"].strip(), "high_risk": True},
        },
    ),
    "patch_violation:required_changes_not_applied": StopCase(
        "revise",
        lambda: result_of(DRAFT, CONTRADICTION, [f"{REVISED} Thank you."]),
        {"unapplied": ["include Thank you"]},
    ),
    "invalid_answer:too_long": StopCase(
        "finalize", lambda: result_of(budget={"max_answer_chars": 50}), {"details": {"allowed": 50}}
    ),
    "invalid_answer:restricted_claims": StopCase(
        "finalize", lambda: result_of(f"{DRAFT} It is resolved."), {"claims": ["resolved"]}
    ),
}

MODEL_FAILURES = {
    "llm_timeout": ModelTimeoutError(),
    "llm_invalid_json": "[1, 2]",
    "llm_rate_limited": ModelRateLimitError(),
    "llm_auth": ModelAuthenticationError(),
    "llm_unavailable": ModelAPIError(),
    "llm_refused": Reply(refusal="No."),
    "llm_truncated": Reply("{", finish_reason="length"),
    "llm_content_filter": Reply("", finish_reason="content_filter"),
    "llm_bad_response": ModelInvalidRequestError(),
}
TEXT_FAILURES = {
    "draft": {"llm_invalid_schema": {"draft": 5}, "llm_empty": {"draft": " "}},
    "revise": {"llm_invalid_schema": {"text": "x"}, "llm_empty": {"revised_answer": ""}},
}
BEFORE = {"draft": (), "critique": ({"draft": DRAFT},), "revise": ({"draft": DRAFT}, REVISE)}
LLM_STOPS = [
    (reason, StopCase(phase, partial(model_run, *before, item), DETAILS))
    for phase, before in BEFORE.items()
    for reason, item in (MODEL_FAILURES | TEXT_FAILURES.get(phase, {})).items()
]
STOPS |= dict(LLM_STOPS)

LATE = {"budget": {"max_seconds": 0}}
FURTHER = [
    *LLM_STOPS,
    ("max_seconds", StopCase("critique", partial(resumed, "critique", context=LATE), DETAILS)),
    ("max_seconds", StopCase("revise", partial(resumed, "revise", DRAFT, REVISE, context=LATE), DETAILS)),
    *(
        (
            "critique_decision_denied_execution:<decision>",
            StopCase(
                phase,
                partial(resumed, before, DRAFT, REVISE, context=OFF),
                {"critique": ...},
                reason="critique_decision_denied_execution:revise",
            ),
        )
        for phase, before in (("revise", "revise"), ("finalize", "final_guard"))
    ),
    *(
        (
            "guard_error:<guard>",
            StopCase(phase, partial(result_of, DRAFT, REVISE, **{slot: failing}), DEFECT, reason=f"guard_error:{node}"),
        )
        for phase, slot, node in (("critique", "critic", "critique"), ("revise", "reviser", "revise"))
    ),
]
"""Further phases in which an entry's stop can be."""


def test_every_entry_of_the_catalogue_has_a_run():
    """An entry that no run produces fails here; a defensive one is proved on its guard below."""
    assert reasons_without_a_run(SELF_CRITIQUE_REASONS, STOPS) == []
    assert [item.reason for item in SELF_CRITIQUE_REASONS if item.defensive] == ["invalid_answer:empty"]


def test_every_phase_of_an_entry_has_a_run():
    """Save one: no whole run can make the final guard fail."""
    stated = {(item.reason, phase) for item in SELF_CRITIQUE_REASONS if not item.defensive for phase in item.phases}
    shown = {(entry, case.phase) for entry, case in [*STOPS.items(), *FURTHER]}
    assert stated - shown == {("guard_error:<guard>", "finalize")}


@pytest.mark.parametrize("entry", STOPS)
def test_a_run_stops(entry):
    """With the entry's reason, in its phase, with its evidence and nothing else."""
    check_stop(SELF_CRITIQUE_REASONS, entry, STOPS[entry])


@pytest.mark.parametrize(("entry", "case"), FURTHER, ids=lambda item: getattr(item, "phase", item))
def test_a_run_stops_in_each_phase(entry, case):
    """The same stop, wherever the run can be."""
    check_stop(SELF_CRITIQUE_REASONS, entry, case)


def test_a_blank_answer_is_stopped_by_the_final_guard():
    """No run gets there: the draft guard and the patch guard let no blank text pass."""
    limits = {"draft": DRAFT, "context": {}, "max_chars": 980, "avoid_absolute_guarantees": True}
    assert stop_of(check_final, " ", **limits).reason == "invalid_answer:empty"


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
                ("required_sections", "all"),
                ("required_sections", [1]),
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


def test_an_unknown_hint_and_an_empty_context_are_no_fault():
    """The contract names no field that a context must have."""
    assert result_of("We are on it.", input=given(tone="calm"))["status"] == "ok"
    assert result_of("We are on it.", input={"goal": "g", "incident_context": {}})["status"] == "ok"


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
        assert content(result) == {"raw_critique": raw}
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


@pytest.mark.parametrize(("slot", "reason"), VALUES)
@pytest.mark.parametrize("value", [None, "not JSON", 5, [], b"bytes"])
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
    result = checked(model_run({"draft": DRAFT}, {"verdict": "fine"}))
    assert (result["stop_reason"], result["raw_critique"]) == ("invalid_critique:decision", {"verdict": "fine"})
    assert checked(model_run({"draft": DRAFT}, "null"))["stop_reason"] == "llm_invalid_json"


def test_a_model_without_structured_output_is_asked_too():
    """The prompt states the form, and the guard reads what comes."""
    model = GenericFakeChatModel(messages=iter([AIMessage('{"draft": "We are on it."}'), AIMessage("no JSON")]))
    result = checked(create_self_critique_agent(model).invoke(GIVEN))
    assert (result["stop_reason"], result["phase"]) == ("llm_invalid_json", "critique")


def test_a_slow_model_is_cut_off_by_the_runs_time():
    """The remaining time caps the call, and the details say which limit it was."""
    result = checked(model_run({"draft": DRAFT}, Reply(APPROVE, delay=1), max_seconds=0.2))
    assert (result["stop_reason"], result["phase"]) == ("llm_timeout", "critique")
    assert (result["details"]["limit"], result["details"]["cause"]) == ("max_seconds", "timeout")


CLAIM = f"{DRAFT} It is resolved."


@pytest.mark.parametrize(
    ("draft", "critique", "revised", "hints", "reason"),
    [
        (CLAIM, APPROVE, None, {"avoid_absolute_guarantees": False}, "success"),
        (f"{DRAFT} It is not yet resolved.", APPROVE, None, {}, "success"),
        (CLAIM, REVISE, f"{CLAIM} Timing may change.", {}, "patch_violation:restricted_claims"),
        (CLAIM, REVISE, f"{CLAIM} Timing may change.", {"avoid_absolute_guarantees": False}, "success"),
        (DRAFT, revise('ADD "It is resolved"'), CLAIM, {"avoid_absolute_guarantees": False}, "patch_violation:restricted_claims"),
        (CLAIM, revise('REMOVE "It is resolved"'), DRAFT, {}, "success"),
    ],
)
def test_a_restricted_claim_goes_out_only_where_it_may(draft, critique, revised, hints, reason):
    """Never under avoid_absolute_guarantees; without it, if draft or context has it already."""
    assert result_of(draft, critique, [revised], input=given(**hints))["stop_reason"] == reason

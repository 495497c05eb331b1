"""Every stop of the catalogue, produced by a whole run with its phase and its evidence."""

from functools import partial

import pytest
import self_critique_cases as cases
from runs import THREAD, StopCase, check_stop, reasons_without_a_run
from self_critique_cases import APPROVE, DRAFT, ESCALATE, GIVEN, REVISE, REVISED, failing, result_of, revise
from stop_cases import MODEL_FAILURES, Room, common_cases, limit_cases, told

from guardgraph import SelfCritiqueBudget, create_self_critique_agent
from guardgraph.state.self_critique import SELF_CRITIQUE_REASONS
from guardgraph.testing import ScriptedChatModel

DETAILS = {"details": ...}


def answered(decision, **settings):
    graph, shown = cases.escalated(**settings)
    return cases.checked(graph.invoke(cases.decided(shown, decision), THREAD))


def ran(context=None, **parts):
    return create_self_critique_agent(**parts).invoke(GIVEN, context=context)


DRAFTS = {
    "invalid_draft:empty": (" \n", {}),
    "invalid_draft:too_long": ("x" * 901, {"details": {"chars": 901, "allowed": 900}}),
    "invalid_draft:active_markup": ("See <!-- x -->", {"unsupported": ["<!-- x -->"]}),
    "invalid_draft:unsupported_link": ("See https://attacker.io/31%", {"unsupported": ["https://attacker.io/31%"]}),
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
    "invalid_critique:required_changes_contradictory": revise('ADD "Thank you, all"', 'REMOVE "thank you"'),
    "invalid_critique:high_risk_requires_escalate": {**REVISE, "severity": "high"},
    "invalid_critique:escalate_reason_required": {**ESCALATE, "reason": None},
}
FOUND = {
    "invalid_critique:required_changes_not_enforceable": (revise("soften it"), {"not_enforceable": ["soften it"]}),
    "invalid_critique:active_markup": ({**ESCALATE, "reason": "Ask <i>legal"}, {"unsupported": ["<i>"]}),
    "invalid_critique:unsupported_link": (revise('ADD "see attacker.io"'), {"unsupported": ["attacker.io"]}),
}
"""Critiques that are refused with what was found in them."""
REVISIONS = {
    "invalid_revised:empty": ("", {}),
    "invalid_revised:too_long": (REVISED + "x" * 900, DETAILS),
    "invalid_revised:no_changes": (DRAFT.replace(" ", "\n"), {}),
    "patch_violation:too_large_edit": ("Timing may change soon!", {"patch_similarity": 0.0, "details": ...}),
    "patch_violation:length_increase_limit": (
        REVISED + " Thanks." * 5,
        {"length_increase_pct": round(5900 / len(DRAFT), 2), "details": {"allowed": "at most 20.0 %"}},
    ),
    "patch_violation:active_markup": (f"{REVISED} <br>", {"unsupported": ["<br>"]}),
    "patch_violation:unsupported_link": (f"{REVISED} attacker.io", {"unsupported": ["attacker.io"]}),
    "patch_violation:no_new_facts": (f"{REVISED} 31%.", {"unsupported": ["31%"]}),
    "patch_violation:new_incident_id": (f"{REVISED} inc_new_7.", {"unsupported": ["inc_new_7"]}),
    "patch_violation:new_severity_label": (f"{REVISED} P2.", {"unsupported": ["P2"]}),
    "patch_violation:new_region": (f"{REVISED} EU.", {"unsupported": ["EU"]}),
    "patch_violation:restricted_claims": (f"{REVISED} Resolved.", {"claims": ["resolved"]}),
}
ODD_DECISION = {**REVISE, "decision": "x" * 100}
ODD_RISK = {**REVISE, "risks": [{**RISK, "type": "tone " * 20}]}
OFF, DENIED = {"allowed_decisions_execution": ["approve", "escalate"]}, {"denied_decisions": ["revise"]}
DECISION, RISK_TYPE = "critique_decision_not_allowed_policy", "critique_risk_not_allowed_policy"
REASON = ESCALATE["reason"]
ESCALATED = {"escalation_reason": REASON[:120], "critique": {**ESCALATE, "reason": REASON.strip(), "high_risk": True}}
LISTS = {
    f"{DECISION}:<decision>": (f"{DECISION}:{'x' * 80}", ODD_DECISION, None),
    f"{RISK_TYPE}:<type>": (f"{RISK_TYPE}:{'tone ' * 16}", ODD_RISK, None),
    "critique_decision_denied_execution:<decision>": ("critique_decision_denied_execution:revise", REVISE, OFF),
    "critique_decision_denied_listed:<decision>": ("critique_decision_denied_listed:revise", REVISE, DENIED),
}
"""By what the lists deny: the reason with the name, what the critic says, and the policy."""
UNAPPLIED = {"unapplied": ["include Thank you"]}
UNFIT = revise('ADD "Thank you"', 'REMOVE "change. Thank"', 'REMOVE "Note: Thank"', 'REMOVE "Also: Thank"')
"""Wherever the fallback could add the first phrase, another one would appear."""
STOPS = {
    **common_cases(ran, "draft", "finalize"),
    **{
        reason: StopCase("draft", partial(result_of, text, shorter=text), evidence)
        for reason, (text, evidence) in DRAFTS.items()
    },
    **{
        reason: StopCase("critique", partial(result_of, DRAFT, raw), {"raw_critique": raw, "details": ...})
        for reason, raw in CRITIQUES.items()
    },
    **{
        reason: StopCase("critique", partial(result_of, DRAFT, raw), {"raw_critique": raw, **evidence})
        for reason, (raw, evidence) in FOUND.items()
    },
    **{
        reason: StopCase("revise", partial(result_of, DRAFT, REVISE, [text]), evidence)
        for reason, (text, evidence) in REVISIONS.items()
    },
    "invalid_request:<field>": StopCase("draft", lambda: result_of(input={}), DETAILS, "invalid_request:goal"),
    "max_seconds": StopCase("draft", lambda: result_of(context={"budget": {"max_seconds": 0}}), DETAILS),
    "guard_error:<guard>": StopCase("draft", lambda: result_of(drafter=failing), DETAILS, reason="guard_error:draft"),
    **{
        entry: StopCase("critique", partial(result_of, DRAFT, raw, policy=policy), {"raw_critique": raw}, reason)
        for entry, (reason, raw, policy) in LISTS.items()
    },
    "review_unavailable": StopCase(
        "revise", lambda: cases.escalated(checkpointer=None)[1], {"details": {"given": "none"}}
    ),
    "review_rejected": StopCase("revise", lambda: answered("reject"), {"details": {"decision": "reject"}}),
    "review_expired": StopCase("revise", lambda: answered("approve", policy={"max_review_seconds": 0}), DETAILS),
    "policy_escalation": StopCase("critique", lambda: result_of(DRAFT, ESCALATE), ESCALATED),
    "patch_violation:required_changes_not_applied": StopCase("revise", lambda: result_of(DRAFT, UNFIT), UNAPPLIED),
    "invalid_answer:too_long": StopCase("finalize", lambda: result_of(budget={"max_answer_chars": 50}), DETAILS),
    "invalid_answer:restricted_claims": StopCase("finalize", lambda: result_of(f"{DRAFT} Resolved."), {"claims": ...}),
}
STOPS |= {
    "llm_invalid_schema": StopCase("draft", partial(cases.model_run, {"draft": 5}), DETAILS),
    "llm_empty": StopCase("draft", partial(cases.model_run, {"draft": " "}), DETAILS),
    **{
        reason: StopCase("critique", partial(cases.model_run, {"draft": DRAFT}, item), DETAILS)
        for reason, item in MODEL_FAILURES.items()
    },
}


def limited(phase, world=None, **budget):
    if "max_tool_calls" in budget:
        return severe(**budget)
    model = ScriptedChatModel(told({"draft": DRAFT}), told(REVISE), told({"revised_answer": REVISED}))
    graph = create_self_critique_agent(model, budget=SelfCritiqueBudget(**budget), world=world)
    return cases.checked(graph.invoke(GIVEN))


def severe(severity_budget=1, **budget):
    limits = {"severity_budget": severity_budget, **budget}
    return result_of(DRAFT, {**ESCALATE, "severity": "high"}, budget=limits, ledger=Room(1))


STOPS |= dict(limit_cases(limited, {"critique": (1, 1)}, {"critique": (0, 2)}))
STOPS["severity_budget"] = StopCase("critique", partial(severe, 0), {"details": ...})


def test_every_entry_of_the_catalogue_has_a_run():
    assert reasons_without_a_run(SELF_CRITIQUE_REASONS, STOPS) == []
    assert [item.reason for item in SELF_CRITIQUE_REASONS if item.defensive] == ["result_differs:<key>"]


@pytest.mark.parametrize("entry", STOPS)
def test_a_run_stops(entry):
    """With the entry's reason, in its phase, with its evidence and nothing else."""
    check_stop(SELF_CRITIQUE_REASONS, entry, STOPS[entry])

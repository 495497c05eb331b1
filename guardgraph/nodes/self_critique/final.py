"""The end: the text that is about to be returned is checked once more, audited, and returned."""

from __future__ import annotations

from typing import Any

from guardgraph.guards import self_critique as guards
from guardgraph.nodes.body import Pass, Step, declares
from guardgraph.nodes.self_critique.audit import audit as audit_of
from guardgraph.nodes.self_critique.request import SelfCritiqueRun, check_decision
from guardgraph.state.self_critique import SelfCritiqueState

__all__ = ["approved", "check_final", "revised"]

ACCEPTED = ("accepted_critique", "accepted_answer", "accepted_audit")
"""What both good endings read."""

RESULT = ("outcome", "answer", "critique_decision", "severity", "risks", "required_changes", "audit")
"""What both good endings return."""


@declares(
    phase="finalize",
    reads=["task", "accepted_draft", "accepted_critique", "accepted_revision"],
    writes=["accepted_answer", "accepted_audit"],
    stops=["denied_execution", "invalid_answer"],
)
def check_final(state: SelfCritiqueState, run: SelfCritiqueRun) -> Pass:
    """Check the text that is about to be returned, and write the audit."""
    accepted, task = state["accepted_critique"], state["task"]
    check_decision(accepted, run)
    before = state["accepted_draft"]
    revising = accepted["decision"] == "revise"
    answer = guards.check_final(
        state["accepted_revision"]["revised_answer"] if revising else before,
        context=task["incident_context"],
        max_chars=run.budget.max_answer_chars,
        avoid_absolute_guarantees=task["avoid_absolute_guarantees"],
    )
    risks, changed = len(accepted["risks"]), len(accepted["required_changes"])
    audit = audit_of(before, answer, risks_count=risks, required_changes_count=changed)
    trace = {
        "phase": "audit_finalize",
        "final_hash": audit["after_hash"],
        "changed": audit["changed"],
        "diff_lines": len(audit["diff_excerpt"]),
    }
    history = {"action": "audit_finalize", "status": "final", "changed": audit["changed"]}
    writes = {"accepted_answer": answer, "accepted_audit": audit}
    return Pass(writes, "revised" if revising else "approved", (Step(trace, history),))


@declares(phase="finalize", reads=ACCEPTED, writes=RESULT)
def approved(state: SelfCritiqueState, run: SelfCritiqueRun) -> dict[str, Any]:
    """End with the draft as it was."""
    return _result(state, "approved_direct")


@declares(phase="finalize", reads=ACCEPTED, writes=RESULT)
def revised(state: SelfCritiqueState, run: SelfCritiqueRun) -> dict[str, Any]:
    """End with the revision."""
    return _result(state, "revised_once")


def _result(state: SelfCritiqueState, outcome: str) -> dict[str, Any]:
    accepted = state["accepted_critique"]
    judged = {key: accepted[key] for key in ("severity", "risks", "required_changes")}
    answer = {"answer": state["accepted_answer"], "critique_decision": accepted["decision"]}
    return {"outcome": outcome, **answer, **judged, "audit": state["accepted_audit"]}

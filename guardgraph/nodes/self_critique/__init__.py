"""The Self-critique agent's nodes, in the order of its diagram."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from guardgraph.guards.facts import DEFAULT_REGIONS
from guardgraph.guards.proposals import proposed_object, proposed_text
from guardgraph.guards.self_critique import changes, critique, revision
from guardgraph.guards.self_critique.request import parse_self_critique_request
from guardgraph.guards.stop import Stop, evidence
from guardgraph.guards.wording import text_hash
from guardgraph.nodes.body import Body, Pass, Run, Step, Steps
from guardgraph.nodes.offline.self_critique import repair as edited
from guardgraph.nodes.self_critique import audit as audits
from guardgraph.state.json import JsonObject, JsonValue
from guardgraph.state.outcome import Outcome
from guardgraph.state.self_critique import (
    Critique,
    Patch,
    Rejected,
    SelfCritiqueBudget,
    SelfCritiquePolicy,
    SelfCritiqueState,
)
from guardgraph.world.proposers import OFFLINE, Proposer

__all__ = [
    "approved",
    "ask_critic",
    "check_critique",
    "check_draft",
    "check_final",
    "check_patch",
    "check_request",
    "draft",
    "escalate",
    "repair",
    "revise",
    "revised",
    "shorten",
]

SelfCritiqueRun = Run[SelfCritiquePolicy, SelfCritiqueBudget]

REVISION_ATTEMPTS = 3
"""Revisions asked for before the deterministic fallback edits the last one."""

ESCALATION_CHARS = 120
"""Characters of the critic's reason that a stop repeats."""


def check_request(state: JsonObject, run: SelfCritiqueRun) -> Pass:
    """Parse the input."""
    return Pass({"task": parse_self_critique_request(state.get("goal"), state.get("incident_context"))})


def _shown(state: SelfCritiqueState) -> JsonObject:
    return {key: state["task"][key] for key in ("goal", "incident_context")}


def _proposed(packed: str, name: str) -> tuple[JsonValue, JsonObject]:
    """Return a proposed text, not yet judged, and what history says of its proposer."""
    given = proposed_text(packed, name)
    return given.value.get(name) if isinstance(given.value, dict) else None, given.about


def _rejected(attempt: Rejected | None) -> list[JsonObject]:
    """Return what is known of the attempts that were sent back."""
    return attempt["by"] if attempt is not None else []


def _told(about: JsonObject, rejected: list[JsonObject]) -> JsonObject:
    """Tell history of the proposer, and of every attempt where there were several: each of them cost tokens."""
    return {**about, "attempts": [*rejected, about]} if rejected else about


def _regions(run: SelfCritiqueRun) -> tuple[str, ...]:
    return (*DEFAULT_REGIONS, *run.policy.known_regions)


def draft(drafter: Proposer) -> Body:
    """Ask for a draft."""

    def body(state: SelfCritiqueState, run: SelfCritiqueRun) -> Steps:
        outcome = yield drafter.call(_shown(state))
        return {"proposed_draft": outcome.packed()}

    return body


def check_draft(state: SelfCritiqueState, run: SelfCritiqueRun) -> Pass:
    """Hold the draft against the context; one that is only too long is shortened once."""
    text, about = _proposed(state["proposed_draft"], "draft")
    rejected = _rejected(state.get("rejected_draft"))
    try:
        accepted = revision.parse_draft(
            text,
            context=state["task"]["incident_context"],
            max_chars=run.budget.max_draft_chars,
            check_facts=run.policy.check_facts,
            regions=_regions(run),
        )
    except Stop as stop:
        if stop.reason == "invalid_draft:too_long" and not rejected:
            return Pass({"rejected_draft": Rejected(text=text, by=[about])}, "shorten")
        raise
    trace = {
        "phase": "draft",
        "draft_hash": text_hash(accepted),
        "chars": len(accepted),
        "attempts_used": len(rejected) + 1,
        "retried": bool(rejected),
    }
    history = {"action": "draft_once", "draft": accepted, **_told(about, rejected)}
    return Pass({"accepted_draft": accepted}, "critique", (Step(trace, history),))


def shorten(shortener: Proposer) -> Body:
    """Ask for the same draft in fewer characters."""

    def body(state: SelfCritiqueState, run: SelfCritiqueRun) -> Steps:
        view = {"draft": state["rejected_draft"]["text"], "max_chars": run.budget.max_draft_chars}
        outcome = yield shortener.call(view)
        return {"proposed_draft": outcome.packed()}

    return body


def ask_critic(critic: Proposer) -> Body:
    """Ask for a critique of the draft."""

    def body(state: SelfCritiqueState, run: SelfCritiqueRun) -> Steps:
        risk_types = sorted(run.policy.allowed_risk_types_policy)
        view = {**_shown(state), "draft": state["accepted_draft"], "allowed_risk_types": risk_types}
        outcome = yield critic.call(view)
        return {"proposed_critique": outcome.packed()}

    return body


def check_critique(state: SelfCritiqueState, run: SelfCritiqueRun) -> Pass:
    """Hold the critique against both lists; the decision says where the run goes."""
    given = proposed_object(state["proposed_critique"])
    with evidence(raw_critique=given.raw):
        accepted = critique.parse_critique(
            given.value,
            decisions=run.policy.allowed_decisions_policy,
            risk_types=run.policy.allowed_risk_types_policy,
            max_risks=run.budget.max_risks,
            max_required_changes=run.budget.max_required_changes,
        )
        critique.check_decision_execution(accepted["decision"], run.policy.allowed_decisions_execution)
    trace = {
        "phase": "critique",
        "decision": accepted["decision"],
        "severity": accepted["severity"],
        "risks": len(accepted["risks"]),
        "required_changes": len(accepted["required_changes"]),
    }
    step = Step(trace, {"action": "critique_once", "critique": accepted, **given.about})
    ways = {"approve": "final_guard", "revise": "revise", "escalate": "escalation_guard"}
    return Pass({"accepted_critique": accepted}, ways[accepted["decision"]], (step,))


def _check_execution(accepted: Critique, run: SelfCritiqueRun) -> None:
    """Ask the lists again at the point of use: they may have changed since the critique was judged."""
    policy, execution = run.policy.allowed_decisions_policy, run.policy.allowed_decisions_execution
    with evidence(critique=accepted):
        critique.check_decision_execution(accepted["decision"], [name for name in execution if name in policy])


def escalate(state: SelfCritiqueState, run: SelfCritiqueRun) -> Pass:
    """Hand the draft to a person."""
    accepted = state["accepted_critique"]
    _check_execution(accepted, run)
    reason = accepted["reason"][:ESCALATION_CHARS]
    raise Stop("policy_escalation", escalation_reason=reason, critique=accepted)


def revise(reviser: Proposer, strict: Proposer) -> Body:
    """Ask for a revision of the draft, from the second attempt on with the strict prompt."""

    def body(state: SelfCritiqueState, run: SelfCritiqueRun) -> Steps:
        accepted = state["accepted_critique"]
        _check_execution(accepted, run)
        asked = strict if _rejected(state.get("rejected_revision")) else reviser
        required = accepted["required_changes"]
        outcome = yield asked.call({**_shown(state), "draft": state["accepted_draft"], "required_changes": required})
        return {"proposed_revision": outcome.packed()}

    return body


def repair(state: SelfCritiqueState, run: SelfCritiqueRun) -> JsonObject:
    """Edit the last attempt by rule, since three did not make the changes."""
    accepted = state["accepted_critique"]
    _check_execution(accepted, run)
    text = edited(state["rejected_revision"]["text"], accepted["required_changes"])
    return {"proposed_revision": Outcome("value", {"revised_answer": text}, {"proposer": OFFLINE}).packed()}


def check_patch(state: SelfCritiqueState, run: SelfCritiqueRun) -> Pass:
    """Hold the revision against the draft; changes that were not made are asked for again, then made by rule."""
    text, about = _proposed(state["proposed_revision"], "revised_answer")
    rejected = _rejected(state.get("rejected_revision"))
    attempts = len(rejected) + 1
    try:
        patch = _patch(text, state, run)
    except Stop as stop:
        if stop.reason != "patch_violation:required_changes_not_applied" or attempts > REVISION_ATTEMPTS:
            raise
        again = {"rejected_revision": Rejected(text=text, by=[*rejected, about])}
        return Pass(again, "revise" if attempts < REVISION_ATTEMPTS else "repair")
    required = state["accepted_critique"]["required_changes"]
    history = {
        "action": "revise_once",
        "required_changes": required,
        "revised_answer": patch["revised_answer"],
        **_told(about, rejected),
    }
    step = Step(_measured(patch, required, attempts), history)
    return Pass({"accepted_revision": patch}, "final_guard", (step,))


def _patch(text: JsonValue, state: SelfCritiqueState, run: SelfCritiqueRun) -> Patch:
    task, budget = state["task"], run.budget
    return revision.check_patch(
        text,
        draft=state["accepted_draft"],
        context=task["incident_context"],
        required_changes=state["accepted_critique"]["required_changes"],
        max_chars=budget.max_answer_chars,
        min_similarity=budget.min_patch_similarity,
        max_length_increase_pct=budget.max_length_increase_pct,
        hinted_length_increase_pct=task["max_length_increase_pct"],
        avoid_absolute_guarantees=task["avoid_absolute_guarantees"],
        check_facts=run.policy.check_facts,
        regions=_regions(run),
    )


def _measured(patch: Patch, required: Sequence[str], attempts: int) -> JsonObject:
    return {
        "phase": "revise",
        "patch_similarity": patch["patch_similarity"],
        "length_increase_pct": patch["length_increase_pct"],
        "required_changes_total": len(required),
        "required_changes_enforced": len(changes.enforceable(required)),
        "required_changes_unenforced": sum(changes.parse_change(item) is None for item in required),
        "attempts_used": attempts,
        "retried": attempts > 1,
        "revised_hash": text_hash(patch["revised_answer"]),
    }


def check_final(state: SelfCritiqueState, run: SelfCritiqueRun) -> Pass:
    """Check the text that is about to be returned, and write the audit."""
    accepted, task = state["accepted_critique"], state["task"]
    _check_execution(accepted, run)
    before = state["accepted_draft"]
    revising = accepted["decision"] == "revise"
    answer = revision.check_final(
        state["accepted_revision"]["revised_answer"] if revising else before,
        draft=before,
        context=task["incident_context"],
        max_chars=run.budget.max_answer_chars,
        avoid_absolute_guarantees=task["avoid_absolute_guarantees"],
    )
    risks, changed = len(accepted["risks"]), len(accepted["required_changes"])
    audit = audits.audit(before, answer, risks_count=risks, required_changes_count=changed)
    trace = {
        "phase": "audit_finalize",
        "final_hash": audit["after_hash"],
        "changed": audit["changed"],
        "diff_lines": len(audit["diff_excerpt"]),
    }
    history = {"action": "audit_finalize", "status": "final", "changed": audit["changed"]}
    writes = {"accepted_answer": answer, "accepted_audit": audit}
    return Pass(writes, "revised" if revising else "approved", (Step(trace, history),))


def _result(state: SelfCritiqueState, outcome: str) -> dict[str, Any]:
    accepted = state["accepted_critique"]
    judged = {key: accepted[key] for key in ("severity", "risks", "required_changes")}
    answer = {"answer": state["accepted_answer"], "critique_decision": accepted["decision"]}
    return {"outcome": outcome, **answer, **judged, "audit": state["accepted_audit"]}


def approved(state: SelfCritiqueState, run: SelfCritiqueRun) -> dict[str, Any]:
    """End with the draft as it was."""
    return _result(state, "approved_direct")


def revised(state: SelfCritiqueState, run: SelfCritiqueRun) -> dict[str, Any]:
    """End with the revision."""
    return _result(state, "revised_once")

"""The critique: asked for, held against both lists, and handed to a person where it says so."""

from __future__ import annotations

from guardgraph.guards import self_critique as guards
from guardgraph.guards.proposals import proposed_object
from guardgraph.guards.stop import Stop, evidence
from guardgraph.nodes.body import Body, Pass, Step, Steps, declares
from guardgraph.nodes.self_critique.request import SelfCritiqueRun, check_decision, shown
from guardgraph.state.self_critique import SelfCritiqueState
from guardgraph.world.proposers import Proposer

__all__ = ["ask_critic", "check_critique", "escalate"]

ESCALATION_CHARS = 120
"""Characters of the critic's reason that a stop repeats."""


def ask_critic(critic: Proposer) -> Body:
    """Ask for a critique of the draft."""

    @declares(phase="critique", reads=["task", "accepted_draft"], writes=["proposed_critique"])
    def body(state: SelfCritiqueState, run: SelfCritiqueRun) -> Steps:
        risk_types = sorted(run.policy.allowed_risk_types_policy)
        view = {**shown(state), "draft": state["accepted_draft"], "allowed_risk_types": risk_types}
        outcome = yield critic.call(view)
        return {"proposed_critique": outcome.packed()}

    return body


@declares(
    phase="critique",
    reads=["proposed_critique"],
    writes=["accepted_critique"],
    stops=["llm", "invalid_critique", "not_allowed_policy", "denied_execution"],
)
def check_critique(state: SelfCritiqueState, run: SelfCritiqueRun) -> Pass:
    """Hold the critique against both lists; the decision says where the run goes."""
    given = proposed_object(state["proposed_critique"])
    with evidence(raw_critique=given.raw):
        accepted = guards.parse_critique(
            given.value,
            decisions=run.policy.allowed_decisions_policy,
            risk_types=run.policy.allowed_risk_types_policy,
            max_risks=run.budget.max_risks,
            max_required_changes=run.budget.max_required_changes,
        )
        guards.check_decision_execution(accepted["decision"], run.policy.allowed_decisions_execution)
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


@declares(phase="critique", reads=["accepted_critique"], stops=["denied_execution", "escalation"])
def escalate(state: SelfCritiqueState, run: SelfCritiqueRun) -> Pass:
    """Hand the draft to a person."""
    accepted = state["accepted_critique"]
    check_decision(accepted, run)
    reason = accepted["reason"][:ESCALATION_CHARS]
    raise Stop("policy_escalation", escalation_reason=reason, critique=accepted)

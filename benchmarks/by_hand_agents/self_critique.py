"""The Self-critique agent as an engineer writes it by hand; see nodes.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal
from uuid import uuid4

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from measured import Outside

from by_hand_agents.nodes import Ending, Update, Way, add_nodes, ended, on, passed_or_stopped, router, step, stops_in
from guardgraph import SelfCritiqueBudget, SelfCritiquePolicy
from guardgraph.guards.self_critique import critique, revision
from guardgraph.guards.self_critique.editing import apply_required_changes
from guardgraph.guards.self_critique.request import parse_self_critique_request
from guardgraph.guards.stop import Stop, evidence
from guardgraph.nodes.self_critique import audit_draft_change
from guardgraph.state.self_critique import ChangeAudit, Critique, Patch, Risk, SelfCritiqueTask

REVISION_ATTEMPTS = 3


class State(Ending, total=False):
    goal: str
    incident_context: Any
    task: SelfCritiqueTask
    proposed_draft: Any
    too_long: str
    draft: str
    proposed_critique: Any
    critique: Critique
    proposed_revision: Any
    unapplied: str
    """The last revision that did not make the changes; blank once one did."""
    attempts: int
    revision: Patch
    answer: str
    critique_decision: str
    severity: str
    risks: list[Risk]
    required_changes: list[str]
    audit: ChangeAudit


@dataclass(frozen=True)
class SelfCritiqueNodes:
    """The nodes, in the order of the run."""

    drafter: Outside
    shortener: Outside
    critic: Outside
    reviser: Outside
    policy: SelfCritiquePolicy
    budget: SelfCritiqueBudget

    @stops_in("draft")
    def check_request(self, state: State) -> Update:
        task = parse_self_critique_request(state.get("goal"), state.get("incident_context"))
        return {"run_id": str(uuid4()), "task": task}

    def ask_for_draft(self, state: State) -> Update:
        return {"proposed_draft": self.drafter(shown(state))}

    @stops_in("draft")
    def check_draft(self, state: State) -> Update:
        text = field(state["proposed_draft"], "draft")
        try:
            draft = revision.parse_draft(
                text,
                context=state["task"]["incident_context"],
                max_chars=self.budget.max_draft_chars,
                policy=self.policy,
            )
        except Stop as stop:
            if stop.reason == "invalid_draft:too_long" and "too_long" not in state:
                return {"too_long": text}
            raise
        return {"draft": draft, **step(state, {"action": "draft_once", "draft": draft})}

    def shorten(self, state: State) -> Update:
        return {
            "proposed_draft": self.shortener({"draft": state["too_long"], "max_chars": self.budget.max_draft_chars})
        }

    def ask_critic(self, state: State) -> Update:
        risk_types = sorted(self.policy.allowed_risk_types_policy)
        view = {**shown(state), "draft": state["draft"], "allowed_risk_types": risk_types}
        return {"proposed_critique": self.critic(view)}

    @stops_in("critique")
    def check_critique(self, state: State) -> Update:
        raw = state["proposed_critique"]
        with evidence(raw_critique=raw):
            accepted = critique.parse_critique(
                raw,
                policy=self.policy,
                max_risks=self.budget.max_risks,
                max_required_changes=self.budget.max_required_changes,
            )
            incident = state["task"]["incident_context"]
            critique.check_critique_links(accepted, context=incident, policy=self.policy)
            critique.check_decision_execution(accepted["decision"], self.policy.allowed_decisions_execution)
        return {"critique": accepted, **step(state, {"action": "critique_once", "critique": accepted})}

    @stops_in("critique")
    def escalate(self, state: State) -> Update:
        accepted = state["critique"]
        raise Stop("policy_escalation", escalation_reason=accepted["reason"][:120], critique=accepted)

    def revise(self, state: State) -> Update:
        required = state["critique"]["required_changes"]
        view = {**shown(state), "draft": state["draft"], "required_changes": required}
        return {"proposed_revision": self.reviser(view)}

    @stops_in("revise")
    def check_patch(self, state: State) -> Update:
        text, required = field(state["proposed_revision"], "revised_answer"), state["critique"]["required_changes"]
        attempts = state.get("attempts", 0) + 1
        try:
            patch = self.patched(state, text)
        except Stop as stop:
            if stop.reason != "patch_violation:required_changes_not_applied" or attempts > REVISION_ATTEMPTS:
                raise
            return {"unapplied": text, "attempts": attempts}
        told = {"action": "revise_once", "required_changes": required, "revised_answer": patch["revised_answer"]}
        return {"revision": patch, "unapplied": "", **step(state, told)}

    def patched(self, state: State, text: Any) -> Patch:
        task = state["task"]
        return revision.check_revision_patch(
            text,
            draft=state["draft"],
            context=task["incident_context"],
            required_changes=state["critique"]["required_changes"],
            budget=self.budget,
            hinted_length_increase_pct=task["max_length_increase_pct"],
            avoid_absolute_guarantees=task["avoid_absolute_guarantees"],
            policy=self.policy,
        )

    def repair(self, state: State) -> Update:
        return {
            "proposed_revision": {
                "revised_answer": apply_required_changes(state["unapplied"], state["critique"]["required_changes"])
            }
        }

    @stops_in("finalize")
    def check_final(self, state: State) -> Update:
        accepted, before = state["critique"], state["draft"]
        revising = accepted["decision"] == "revise"
        answer = revision.check_final_draft(
            state["revision"]["revised_answer"] if revising else before,
            context=state["task"]["incident_context"],
            max_chars=self.budget.max_answer_chars,
            avoid_absolute_guarantees=state["task"]["avoid_absolute_guarantees"],
            policy=self.policy,
        )
        risks, required = accepted["risks"], accepted["required_changes"]
        audited = audit_draft_change(before, answer, risks_count=len(risks), required_changes_count=len(required))
        told = {"action": "audit_finalize", "status": "final", "changed": audited["changed"]}
        return {
            "answer": answer,
            "critique_decision": accepted["decision"],
            "severity": accepted["severity"],
            "risks": risks,
            "required_changes": required,
            "audit": audited,
            **ended("revised_once" if revising else "approved_direct"),
            **step(state, told),
        }


def shown(state: State) -> Update:
    return {"goal": state["task"]["goal"], "incident_context": state["task"]["incident_context"]}


def field(proposed: Any, name: str) -> Any:
    return proposed.get(name) if isinstance(proposed, dict) else None


def after_draft(state: State) -> Literal["critique", "shorten", "stopped"]:
    if "status" in state:
        return "stopped"
    return "critique" if "draft" in state else "shorten"


def after_critique(state: State) -> Literal["approve", "revise", "escalate", "stopped"]:
    return "stopped" if "status" in state else state["critique"]["decision"]


def after_patch(state: State) -> Literal["final", "revise", "repair", "stopped"]:
    if "status" in state:
        return "stopped"
    if not state["unapplied"]:
        return "final"
    return "revise" if state["attempts"] < REVISION_ATTEMPTS else "repair"


def self_critique_by_hand(
    *,
    policy: SelfCritiquePolicy | None = None,
    budget: SelfCritiqueBudget | None = None,
    way: Way = "sync",
    **parts: Outside,
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Return the Self-critique agent, written by hand; `parts` are its proposers, named as for the factory."""
    do = SelfCritiqueNodes(**parts, policy=policy or SelfCritiquePolicy(), budget=budget or SelfCritiqueBudget())
    graph = StateGraph(State)
    _add_nodes(graph, do, way)
    graph.add_edge(START, "check_request")
    graph.add_conditional_edges("check_request", router(passed_or_stopped, way), on("write_draft"))
    graph.add_edge("write_draft", "check_draft")
    drafted = {"critique": "criticise", "shorten": "shorten", "stopped": END}
    graph.add_conditional_edges("check_draft", router(after_draft, way), drafted)
    graph.add_edge("shorten", "check_draft")
    graph.add_edge("criticise", "check_critique")
    decided = {"approve": "check_final", "revise": "revise", "escalate": "escalate", "stopped": END}
    graph.add_conditional_edges("check_critique", router(after_critique, way), decided)
    graph.add_edge("escalate", END)
    graph.add_edge("revise", "check_patch")
    patched = {"final": "check_final", "revise": "revise", "repair": "repair", "stopped": END}
    graph.add_conditional_edges("check_patch", router(after_patch, way), patched)
    graph.add_edge("repair", "check_patch")
    graph.add_edge("check_final", END)
    return graph.compile()


def _add_nodes(graph: StateGraph[Any], do: SelfCritiqueNodes, way: Way) -> None:
    asks = {"write_draft": do.ask_for_draft, "shorten": do.shorten, "criticise": do.ask_critic, "revise": do.revise}
    checks = {
        "check_request": do.check_request,
        "check_draft": do.check_draft,
        "check_critique": do.check_critique,
        "escalate": do.escalate,
        "check_patch": do.check_patch,
        "repair": do.repair,
        "check_final": do.check_final,
    }
    add_nodes(graph, asks=asks, checks=checks, way=way)

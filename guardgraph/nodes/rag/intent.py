"""The intent: somebody proposes a retrieval, and it is held against both lists."""

from __future__ import annotations

from guardgraph.guards import rag as guards
from guardgraph.guards.proposals import proposal
from guardgraph.guards.stop import Stop, evidence
from guardgraph.nodes.body import Body, Pass, Steps, declares
from guardgraph.nodes.rag.request import RagRun, usable_sources
from guardgraph.state.rag import RagState
from guardgraph.world.proposers import Proposer

__all__ = ["check_execution", "check_policy", "plan"]


def plan(planner: Proposer) -> Body:
    """Ask for a retrieval intent."""

    @declares(phase="plan", reads=["task"], writes=["proposed_intent"])
    def body(state: RagState, run: RagRun) -> Steps:
        view = {
            "question": state["task"]["question"],
            "available_sources": sorted(run.policy.allowed_sources_policy),
        }
        budget = run.budget
        top_k = max(min(budget.max_top_k, budget.max_context_chunks), 1)
        outcome = yield planner.call(view, top_k=top_k, max_query_chars=budget.max_query_chars)
        return {"proposed_intent": outcome.packed()}

    return body


@declares(
    phase="plan",
    reads=["proposed_intent"],
    writes=["accepted_intent", "planned_by"],
    stops=["llm", "invalid_intent"],
)
def check_policy(state: RagState, run: RagRun) -> Pass:
    """Hold the intent against what the model may ask for."""
    given = proposal(state["proposed_intent"])
    with evidence(raw_intent=given.raw):
        if given.unreadable:
            raise Stop("invalid_intent:kind")
        intent = guards.parse_intent(
            given.value, allowed_sources=run.policy.allowed_sources_policy, max_top_k=run.budget.max_top_k
        )
    return Pass({"accepted_intent": intent, "planned_by": given.about})


@declares(phase="retrieve", reads=["accepted_intent"], stops=["invalid_intent", "source_denied"])
def check_execution(state: RagState, run: RagRun) -> Pass:
    """Hold the intent against what the runtime will do now."""
    usable_sources(state["accepted_intent"], run)
    return Pass()

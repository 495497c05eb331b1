"""The request: where every run begins, and what it may do at this moment."""

from __future__ import annotations

from guardgraph.guards import self_critique as guards
from guardgraph.guards.facts import DEFAULT_REGIONS
from guardgraph.guards.stop import evidence
from guardgraph.nodes.body import Pass, Run, declares
from guardgraph.plain.json import JsonObject
from guardgraph.state.self_critique import Critique, SelfCritiqueBudget, SelfCritiquePolicy, SelfCritiqueState

__all__ = ["SelfCritiqueRun", "check_decision", "check_request", "regions", "shown"]

SelfCritiqueRun = Run[SelfCritiquePolicy, SelfCritiqueBudget]


@declares(writes=["task"])
def check_request(state: JsonObject, run: SelfCritiqueRun) -> Pass:
    """Parse the input."""
    return Pass({"task": guards.parse_self_critique_request(state.get("goal"), state.get("incident_context"))})


def shown(state: SelfCritiqueState) -> JsonObject:
    """Return what every proposer but the shortener is shown."""
    return {key: state["task"][key] for key in ("goal", "incident_context")}


def regions(run: SelfCritiqueRun) -> tuple[str, ...]:
    """Return the regions that count as facts."""
    return (*DEFAULT_REGIONS, *run.policy.known_regions)


def check_decision(accepted: Critique, run: SelfCritiqueRun) -> None:
    """Ask the lists again at the point of use: they may have changed since the critique was judged."""
    policy, execution = run.policy.allowed_decisions_policy, run.policy.allowed_decisions_execution
    with evidence(critique=accepted):
        guards.check_decision_execution(accepted["decision"], [name for name in execution if name in policy])

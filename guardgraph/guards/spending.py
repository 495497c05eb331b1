"""Whether a call may begin, by what is spent already and what is reserved for it."""

from __future__ import annotations

from collections.abc import Iterable

from guardgraph.guards.stop import Stop
from guardgraph.plain.json import excerpt_value
from guardgraph.state.catalogue import TENANT_BUDGET_UNAVAILABLE
from guardgraph.state.outcome import Outcome
from guardgraph.state.settings import Budget
from guardgraph.state.spending import BUDGET_REASONS, Spending, describe_spent_limit, find_overspent_limit, list_limits


def check_spending(spent: Spending, reserved: Spending, budget: Budget) -> None:
    """Check that what is spent leaves room for what is reserved."""
    if (found := find_overspent_limit(spent, reserved, list_limits(budget))) is not None:
        reason, details = found
        raise Stop(reason, details=details)


def check_budget_outcomes(outcomes: Iterable[Outcome]) -> None:
    """Check that the budgets let calls begin; a world that kept one back has said so in its outcome."""
    for outcome in outcomes:
        if outcome.form == "failure":
            reason: str = outcome.content["reason"]
            if reason.partition(":")[0] in BUDGET_REASONS:
                raise Stop(reason, details=outcome.content["details"])


def check_severity_budget(outcome: Outcome, limit: int) -> None:
    """Check that a critique of high severity is one of those that a tenant may have in a day."""
    if outcome.form == "failure":
        details = outcome.content["details"]
        is_late = outcome.content["reason"] == "max_seconds"
        raise Stop("max_seconds" if is_late else TENANT_BUDGET_UNAVAILABLE, details=details)
    before = outcome.content.get("before") if isinstance(outcome.content, dict) else None
    if not isinstance(before, int):
        raise Stop(TENANT_BUDGET_UNAVAILABLE, details={"given": excerpt_value(outcome.content), "allowed": "{before}"})
    if before >= limit:
        raise Stop("severity_budget", details=describe_spent_limit(limit, before))

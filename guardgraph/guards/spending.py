"""Whether a call may begin, by what is spent already and what is reserved for it."""

from __future__ import annotations

from collections.abc import Iterable

from guardgraph.guards.stop import Stop
from guardgraph.plain.json import JsonObject, excerpt_value
from guardgraph.state.catalogue import TENANT_BUDGET, TENANT_BUDGET_UNAVAILABLE
from guardgraph.state.outcome import Outcome
from guardgraph.state.settings import Budget
from guardgraph.state.spending import Spending, describe_spent_limit, list_spent_limits


def check_spending(spent: Spending, reserved: Spending, budget: Budget) -> None:
    """Check that what is spent leaves room for what is reserved.

    Args:
        spent: what the run's calls have used up.
        reserved: what is reserved for the calls that would begin, all that are made at once together.
        budget: the limits of the run.

    Raises:
        Stop: ``max_llm_calls``, ``max_tokens``, ``max_cost`` or ``max_tool_calls``, with `details` ``{limit, spent,
            reserved}``, and ``over`` where more is spent than the limit; of a model without a price ``unpriced``.
    """
    for name in list_spent_limits(reserved):
        limit = getattr(budget, name)
        if limit is None:
            continue
        used, asked = spent.get_amount(name), reserved.get_amount(name)
        if used is None or asked is None:
            raise Stop(name, details={"limit": limit, "spent": used, "reserved": asked, "unpriced": True})
        if used >= limit or used + asked > limit:
            details: JsonObject = {**describe_spent_limit(limit, used), "reserved": asked}
            raise Stop(name, details=details)


def check_tenant_spending(outcomes: Iterable[Outcome]) -> None:
    """Check that the budget of the caller's tenant let calls begin; whoever keeps it has said so in their outcomes.

    Raises:
        Stop: ``tenant_budget:<limit>`` or ``tenant_budget_unavailable``, with `details`.
    """
    for outcome in outcomes:
        if outcome.form == "failure":
            reason: str = outcome.content["reason"]
            if reason.partition(":")[0] in (TENANT_BUDGET, TENANT_BUDGET_UNAVAILABLE):
                raise Stop(reason, details=outcome.content["details"])


def check_severity_budget(outcome: Outcome, limit: int) -> None:
    """Check that a critique of high severity is one of those that a tenant may have in a day.

    Args:
        outcome: of the count: how many there were before it.
        limit: how many there may be.

    Raises:
        Stop: ``severity_budget`` with `details` ``{limit, spent}``; ``max_seconds`` or ``tenant_budget_unavailable``
            where nobody could count.
    """
    if outcome.form == "failure":
        details = outcome.content["details"]
        raise Stop(
            "max_seconds" if outcome.content["reason"] == "max_seconds" else TENANT_BUDGET_UNAVAILABLE, details=details
        )
    before = outcome.content.get("before") if isinstance(outcome.content, dict) else None
    if not isinstance(before, int):
        raise Stop(TENANT_BUDGET_UNAVAILABLE, details={"given": excerpt_value(outcome.content), "allowed": "{before}"})
    if before >= limit:
        raise Stop("severity_budget", details=describe_spent_limit(limit, before))

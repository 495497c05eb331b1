"""What a tenant may use up in a day or a month, over all runs and processes, and who keeps account of it.

An account is one sum: of a tenant, a period and a unit, such as the tokens of a day. Before calls are made their
reservation is added to what is reserved, if the account's limit has room for it; when they are over, what they used up
is added to what is spent instead. The reservation of a process that died lapses: from its time on it does not count.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Literal, Protocol, TypeAlias

from guardgraph.plain.json import JsonObject
from guardgraph.state.context import normalise_tenant
from guardgraph.state.settings import OptionalMaxFloat, OptionalMaxInt, Settings
from guardgraph.state.spending import Spending, list_spent_limits
from guardgraph.state.tightening import Tightens

Period: TypeAlias = Literal["day", "month"]
"""For how long a budget is: a day or a month of the calendar, in UTC."""

_FORMATS: Final = {"day": "%Y-%m-%d", "month": "%Y-%m"}

_COST_UNITS: Final = 1_000_000_000
"""Whole numbers that a cost of 1 is counted in: sums of them are exact."""


class TenantBudget(Settings):
    """What all runs of one tenant together may use up in a day or in a month."""

    period: Annotated[Period, Tightens.fixed] = "day"
    """For how long it is: ``day`` | ``month`` of the calendar, in UTC."""
    max_llm_calls: OptionalMaxInt = None
    """Calls of models; None for no limit."""
    max_tool_calls: OptionalMaxInt = None
    """Calls of tools; None for no limit."""
    max_tokens: OptionalMaxInt = None
    """Tokens that models may use up; None for no limit."""
    max_cost: OptionalMaxFloat = None
    """What these may cost, in the currency of the agents' `prices`; None for no limit."""


@dataclass(frozen=True, slots=True, order=True)
class Account:
    """What one sum is kept of."""

    tenant: str
    """The tenant, in its composed form; empty for callers without one."""
    period: str
    """The day (``2026-11-23``) or the month (``2026-11``), in UTC."""
    unit: str
    """What is counted: ``llm_calls``, ``tool_calls``, ``tokens``, ``cost`` (in billionths), or a name of your own."""


@dataclass(frozen=True, slots=True)
class Charge:
    """What is to be reserved in an account."""

    account: Account
    amount: int
    limit: int
    """What the account may come to, all that is spent and reserved together."""


@dataclass(frozen=True, slots=True)
class Balance:
    """What stands in an account."""

    account: Account
    spent: int
    reserved: int
    """For calls that are not over."""
    lapsed: int = 0
    """What was reserved by processes that died, and counts no more; nobody knows what of it was used up."""


@dataclass(frozen=True, slots=True)
class Reserved:
    """A reservation that was made."""

    id: str
    charges: tuple[Charge, ...]
    before: tuple[int, ...] = ()
    """What was spent and reserved in the account of each charge before."""


@dataclass(frozen=True, slots=True)
class Overdrawn:
    """Why a reservation was not made: an account has no room for it."""

    charge: Charge
    balance: Balance


class Ledger(Protocol):
    """Who keeps the accounts of tenants, such as a store of `sql_store`."""

    def reserve(self, charges: Sequence[Charge], *, seconds: float) -> Reserved | Overdrawn:
        """Reserve all charges or none, each only if its account's limit has room for it."""

    def settle(self, reserved: Reserved, amounts: Sequence[int]) -> None:
        """Count what was used up instead of what was reserved; of a reservation that has lapsed, too."""


def name_period(period: Period, moment: datetime) -> str:
    """Return how accounts name the day or the month in which a moment is, in UTC."""
    return (moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)).strftime(_FORMATS[period])


def name_tenant_account(tenant: str | None) -> str:
    """Return how accounts name a tenant; callers without one share an account."""
    return normalise_tenant(tenant) or ""


def list_tenant_charges(
    tenant: str | None, budgets: Sequence[TenantBudget], reserved: Spending, moment: datetime
) -> Iterator[Charge]:
    """Yield what calls are charged for."""
    for budget in budgets:
        for name in list_spent_limits(reserved):
            limit, amount = getattr(budget, name), reserved.get_amount(name)
            if limit is not None and amount is not None:
                unit = name.removeprefix("max_")
                account = Account(name_tenant_account(tenant), name_period(budget.period, moment), unit)
                yield Charge(account, count_units(unit, amount), count_units(unit, limit))


def find_unpriced_budget(budgets: Sequence[TenantBudget], reserved: Spending) -> TenantBudget | None:
    """Return a budget that limits costs, where nobody knows what calls cost; None where there is none."""
    is_unpriced = bool(reserved.llm_calls) and reserved.cost is None
    return next((budget for budget in budgets if is_unpriced and budget.max_cost is not None), None)


def count_units(unit: str, amount: float) -> int:
    """Return an amount as accounts count it: whole numbers, of a cost its billionths."""
    return round(amount * _COST_UNITS) if unit == "cost" else int(amount)


def describe_overdrawn(overdrawn: Overdrawn) -> JsonObject:
    """Return why a reservation was not made, as details of a stop have it."""
    charge, balance = overdrawn.charge, overdrawn.balance
    amounts = {"limit": charge.limit, "spent": balance.spent, "reserved": balance.reserved, "asked": charge.amount}
    scale: Any = _COST_UNITS if charge.account.unit == "cost" else None
    told = {name: amount / scale if scale else amount for name, amount in amounts.items()}
    return {"period": charge.account.period, "unit": charge.account.unit, **told}

"""A world in which every call is charged to the budget of the caller's tenant, before it is made.

It is around another world, which makes the calls. Calls for which a tenant's budget has no room are not made: their
outcomes say so, the run stops for that, and a run that is decided again finds it in its record.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any, Final, Literal, Protocol, TypeAlias, TypeGuard

from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.json import JsonObject
from guardgraph.plain.log import log_failure
from guardgraph.plain.secrets import format_error_message
from guardgraph.state.catalogue import TENANT_BUDGET, TENANT_BUDGET_UNAVAILABLE
from guardgraph.state.context import normalise_tenant
from guardgraph.state.outcome import Outcome
from guardgraph.state.settings import OptionalMaxFloat, OptionalMaxInt, Settings
from guardgraph.state.spending import LIMITS, NOTHING, Spending, list_spent_limits
from guardgraph.state.tightening import Tightens
from guardgraph.world.call import Asked, Performed, World
from guardgraph.world.deadline import run_in_call_thread
from guardgraph.world.live import AroundWorld
from guardgraph.world.spending import count_call

GRACE_SECONDS: Final = 60.0
"""Seconds that a reservation outlasts the deadline of its calls: by then their process has settled it, or is dead."""


class TenantWorld(AroundWorld):
    """A world that charges calls to the budget of the caller's tenant.

    Args:
        ledger: who keeps the accounts, such as a store of `sql_store`; all processes that share it share the budgets.
        budgets: what every tenant may use up, one for each period; callers without a tenant share one.
        tenants: what single tenants may use up instead, by their names.
        world: that makes the calls; a `LiveWorld` when None.

    Raises:
        ConfigurationError: an argument is wrong; the message names it.
    """

    def __init__(
        self,
        ledger: Ledger,
        budgets: Sequence[TenantBudget] = (),
        *,
        tenants: Mapping[str, Sequence[TenantBudget]] | None = None,
        world: World | None = None,
    ) -> None:
        validate_ledger(ledger)
        is_by_name = isinstance(tenants, Mapping) and all(isinstance(name, str) for name in tenants)
        if tenants is not None and not is_by_name:
            raise ConfigurationError(f"tenants: a mapping of names to budgets is required; given: {tenants!r:.80}")
        self._ledger = ledger
        self._budgets = _validate_tenant_budgets("budgets", budgets)
        self._tenants = {
            name_tenant_account(name): _validate_tenant_budgets(f"tenants.{name:.80}", given)
            for name, given in (tenants or {}).items()
        }
        super().__init__(world)

    def __repr__(self) -> str:
        return f"<TenantWorld: {self._ledger!r}, {self._world!r}>"

    def perform(self, asked: Sequence[Asked], seconds: float) -> list[Performed]:
        """Make calls for which the tenant's budget has room, all of them or none; see `World.perform`."""
        if (reserved := sum((item.reserved for item in asked), NOTHING)) == NOTHING or seconds <= 0:
            return self._world.perform(asked, seconds)
        held = self._reserve(asked, reserved, seconds)
        if not isinstance(held, Reserved):
            return held
        try:
            performed = self._world.perform(asked, seconds)
        except BaseException:
            self._settle(held, reserved)
            raise
        self._settle(held, _count_performed(asked, performed))
        return performed

    async def aperform(self, asked: Sequence[Asked], seconds: float) -> list[Performed]:
        """Make calls like `perform`, without blocking the event loop."""
        if (reserved := sum((item.reserved for item in asked), NOTHING)) == NOTHING or seconds <= 0:
            return await self._world.aperform(asked, seconds)
        reserving = run_in_call_thread(partial(self._reserve, asked, reserved, seconds))
        try:
            held: Reserved | list[Performed] = await asyncio.wrap_future(reserving)
        except BaseException:  # no call is made, so nothing is used up
            reserving.add_done_callback(lambda done: run_in_call_thread(partial(self._give_back, done)))
            raise
        if not isinstance(held, Reserved):
            return held
        try:
            performed = await self._world.aperform(asked, seconds)
        except BaseException:  # of a task that is cancelled, nobody awaits anything more
            run_in_call_thread(partial(self._settle, held, reserved))
            raise
        await asyncio.wrap_future(run_in_call_thread(partial(self._settle, held, _count_performed(asked, performed))))
        return performed

    def _reserve(self, asked: Sequence[Asked], reserved: Spending, seconds: float) -> Reserved | list[Performed]:
        """Return the reservation of calls, or what they brought that are not made."""
        tenant, moment = asked[0].tenant, self._world.calendar()
        budgets = self._tenants.get(name_tenant_account(tenant), self._budgets)
        priced = [budget for budget in budgets if budget.max_cost is not None]
        if priced and reserved.llm_calls and reserved.cost is None:  # nobody knows what these calls cost
            limit = {"period": priced[0].period, "unit": "cost", "limit": priced[0].max_cost, "unpriced": True}
            return _refuse_calls(asked, f"{TENANT_BUDGET}:max_cost", limit)
        charges = tuple(list_tenant_charges(tenant, budgets, reserved, moment))
        if not charges:
            return Reserved("", ())
        try:
            held = self._ledger.reserve(charges, seconds=seconds + GRACE_SECONDS)
        except Exception as error:  # noqa: BLE001 - whatever a ledger raises, the log and the stop say it
            log_failure("the budget of a tenant could not be read", error, logging.WARNING)
            details: JsonObject = {"type": type(error).__name__, "message": format_error_message(error)}
            return _refuse_calls(asked, TENANT_BUDGET_UNAVAILABLE, details)
        if isinstance(held, Reserved):
            return held
        account, balance = held.charge.account, held.balance
        amounts = {"limit": held.charge.limit, "spent": balance.spent, "reserved": balance.reserved}
        amounts["asked"] = held.charge.amount
        scale: Any = _COST_UNITS if account.unit == "cost" else None
        told = {name: amount / scale if scale else amount for name, amount in amounts.items()}
        details = {"period": account.period, "unit": account.unit, **told}
        return _refuse_calls(asked, f"{TENANT_BUDGET}:max_{account.unit}", details)

    def _give_back(self, reserving: Future[Reserved | list[Performed]]) -> None:
        """Take back what was reserved for calls that nobody waits for any more."""
        if reserving.exception() is None and isinstance(held := reserving.result(), Reserved):
            self._settle(held, NOTHING)

    def _settle(self, held: Reserved, used: Spending) -> None:
        """Count what calls used up; where that cannot be kept, their reservation lapses, and the log says it."""
        if not held.charges:
            return
        amounts = []
        for charge in held.charges:
            amount = used.get_amount(f"max_{charge.account.unit}")
            # the model that replied may have no price: what was reserved was the price of the one that was asked
            amounts.append(charge.amount if amount is None else count_units(charge.account.unit, amount))
        try:
            self._ledger.settle(held, amounts)
        except Exception as error:  # noqa: BLE001 - whatever a ledger raises, the log and the stop say it
            log_failure("calls of a tenant are not settled", error, logging.WARNING)


def make_tenant_counter(ledger: Ledger, unit: str) -> Callable[[JsonObject], JsonObject]:
    """Return a tool that counts one more of something in the day of a tenant, where there is room for it."""

    def count_for_tenant(shown: JsonObject) -> JsonObject:
        day = name_period("day", datetime.now(UTC))
        charge = Charge(Account(name_tenant_account(shown["tenant"]), day, unit), 1, shown["limit"])
        held = ledger.reserve([charge], seconds=GRACE_SECONDS)
        if isinstance(held, Overdrawn):
            return {"before": held.balance.spent + held.balance.reserved}
        ledger.settle(held, [1])
        return {"before": held.before[0]}

    count_for_tenant.made_once = True  # type: ignore[attr-defined]  # who hears nothing may have been counted
    return count_for_tenant


def is_ledger(given: object) -> TypeGuard[Ledger]:
    """Say whether something keeps accounts."""
    return callable(getattr(given, "reserve", None)) and callable(getattr(given, "settle", None))


def validate_ledger(given: object) -> None:
    """Refuse what keeps no accounts."""
    if not is_ledger(given):
        raise ConfigurationError(f"ledger: one with reserve and settle is required; given: {given!r:.80}")


def _count_performed(asked: Sequence[Asked], performed: Sequence[Performed]) -> Spending:
    return sum((count_call(item, done) for item, done in zip(asked, performed, strict=False)), NOTHING)


def _refuse_calls(asked: Sequence[Asked], reason: str, details: JsonObject) -> list[Performed]:
    said = {"reason": reason, "details": details}
    return [Performed(Outcome("failure", said, item.call.about), 0.0, reply_bytes=0) for item in asked]


def _validate_tenant_budgets(where: str, given: object) -> tuple[TenantBudget, ...]:
    if not isinstance(given, list | tuple) or not all(isinstance(item, TenantBudget) for item in given):
        raise ConfigurationError(f"{where}: a list of TenantBudget is required; given: {given!r:.80}")
    for at, item in enumerate(given):
        if all(getattr(item, name) is None for name in LIMITS):
            raise ConfigurationError(f"{where}.{at}: one of {', '.join(LIMITS)} is required; given: none of them")
    periods = [item.period for item in given]
    if len({*periods}) < len(periods):  # two would charge the same accounts
        raise ConfigurationError(f"{where}: one budget for each period is allowed; given: {', '.join(periods)}")
    return tuple(given)


Period: TypeAlias = Literal["day", "month"]  # for how long a budget is: a day or a month of the calendar, in UTC

_FORMATS: Final = {"day": "%Y-%m-%d", "month": "%Y-%m"}
_COST_UNITS: Final = 1_000_000_000  # whole numbers that a cost of 1 is counted in: sums of them are exact


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

    tenant: str  # the tenant, in its composed form; empty for callers without one
    period: str  # the day (``2026-11-23``) or the month (``2026-11``), in UTC
    unit: str
    """What is counted: ``llm_calls``, ``tool_calls``, ``tokens``, ``cost`` (in billionths), or a name of your own."""


@dataclass(frozen=True, slots=True)
class Charge:
    """What is to be reserved in an account."""

    account: Account
    amount: int
    limit: int  # what the account may come to, all that is spent and reserved together


@dataclass(frozen=True, slots=True)
class Balance:
    """What stands in an account."""

    account: Account
    spent: int
    reserved: int  # for calls that are not over
    lapsed: int = 0  # what was reserved by processes that died, and counts no more; nobody knows what of it was used up


@dataclass(frozen=True, slots=True)
class Reserved:
    """A reservation that was made."""

    id: str
    charges: tuple[Charge, ...]
    before: tuple[int, ...] = ()  # what was spent and reserved in the account of each charge before


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


def count_units(unit: str, amount: float) -> int:
    """Return an amount as accounts count it: whole numbers, of a cost its billionths."""
    return round(amount * _COST_UNITS) if unit == "cost" else int(amount)

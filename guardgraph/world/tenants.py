"""A world in which every call is charged to the budget of the caller's tenant, before it is made.

It is around another world, which makes the calls. Calls for which a tenant's budget has no room are not made: their
outcomes say so, the run stops for that, and a run that is decided again finds it in its record.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from datetime import UTC, datetime
from functools import partial
from typing import Final, TypeGuard

from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.json import JsonObject
from guardgraph.plain.log import log_failure
from guardgraph.plain.secrets import format_error_message
from guardgraph.state.catalogue import TENANT_BUDGET, TENANT_BUDGET_UNAVAILABLE
from guardgraph.state.outcome import Outcome
from guardgraph.state.spending import LIMITS, NOTHING, Spending
from guardgraph.state.tenants import (
    Account,
    Charge,
    Ledger,
    Overdrawn,
    Reserved,
    TenantBudget,
    count_units,
    describe_overdrawn,
    find_unpriced_budget,
    list_tenant_charges,
    name_period,
    name_tenant_account,
)
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
        if tenants is not None and not (
            isinstance(tenants, Mapping) and all(isinstance(name, str) for name in tenants)
        ):
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
        if (budget := find_unpriced_budget(budgets, reserved)) is not None:
            details: JsonObject = {"period": budget.period, "unit": "cost", "limit": budget.max_cost, "unpriced": True}
            return _refuse_calls(asked, f"{TENANT_BUDGET}:max_cost", details)
        charges = tuple(list_tenant_charges(tenant, budgets, reserved, moment))
        if not charges:
            return Reserved("", ())
        try:
            held = self._ledger.reserve(charges, seconds=seconds + GRACE_SECONDS)
        except Exception as error:  # noqa: BLE001 - whatever a ledger raises, the log and the stop say it
            log_failure("the budget of a tenant could not be read", error, logging.WARNING)
            details = {"type": type(error).__name__, "message": format_error_message(error)}
            return _refuse_calls(asked, TENANT_BUDGET_UNAVAILABLE, details)
        if isinstance(held, Overdrawn):
            return _refuse_calls(asked, f"{TENANT_BUDGET}:max_{held.charge.account.unit}", describe_overdrawn(held))
        return held

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
    return [
        Performed(Outcome("failure", {"reason": reason, "details": details}, item.call.about), 0.0, reply_bytes=0)
        for item in asked
    ]


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

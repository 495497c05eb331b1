"""What calls use up: calls of models and of tools, tokens, and what these cost.

A call passes three places. Before it is made it is given a reservation: one call, and of a model the tokens that it may
take, an estimate of its input and the bound of its output. It begins only where what the run has spent leaves room for
that. When it is over it is settled: at what it used, where it says so, else at its reservation. Both stand in the
record of the call, so a run that is decided again is held to the same numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, NotRequired, TypeAlias

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from guardgraph.plain.json import JsonObject
from guardgraph.state.catalogue import TENANT_BUDGET, TENANT_BUDGET_UNAVAILABLE

LIMITS: Final = ("max_llm_calls", "max_tool_calls", "max_tokens", "max_cost")
"""Limits of what calls use up: fields of a budget, and the reasons of the stops for which a call is not begun."""

BUDGET_REASONS: Final = (*LIMITS, TENANT_BUDGET, TENANT_BUDGET_UNAVAILABLE)
"""Reasons for which a call, or another attempt of it, is not begun, as they begin."""

NEAR_SHARE: Final = 0.8  # the share of a limit from which on a trace says what is spent
PRICED_TOKENS: Final = 1_000_000  # tokens that a price is for
COST_DIGITS: Final = 9  # digits behind the point that costs are kept with: a token of a cheap model costs some 1e-8

_Amount: TypeAlias = Annotated[float, Field(ge=0, allow_inf_nan=False)]
_Tokens: TypeAlias = Annotated[int, Field(ge=0)]


@with_config(ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True))
class Price(TypedDict):
    """What a million tokens of a model cost, in the currency of the deployment."""

    input: _Amount
    """Of what it is shown. Tokens that its provider had in a cache count like all others."""
    output: _Amount
    """Of what it writes, its thoughts included."""


@with_config(ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True))
class CallUsage(TypedDict):
    """What a model's call used up, as its record has it."""

    reserved: _Tokens
    """Tokens that were reserved for it: an estimate of its input, and the bound of its output."""
    tokens: _Tokens
    """Tokens that count for it."""
    input_tokens: NotRequired[_Tokens]
    """Of these, what it was shown; absent where nobody knows how many are what."""
    output_tokens: NotRequired[_Tokens]
    """Of these, what it wrote."""
    bound: NotRequired[_Tokens]
    """Tokens that it might write (`max_output_tokens`), where that was bounded."""
    cost: NotRequired[_Amount]
    """What they cost; absent where nobody knows the model's price."""
    estimated: NotRequired[bool]
    """True of a call that did not say what it used: its reservation counts."""


class Usage(TypedDict):
    """What a run used up, as its result has it."""

    calls: int  # calls of models
    tool_calls: int  # calls of tools
    tokens: int  # tokens of models, those that were shown and those that were written
    cost: float | None  # what these cost, in the currency of the prices; None where a model has no price
    estimated: NotRequired[int]  # calls of models that did not say what they used; absent where there are none


@dataclass(frozen=True, slots=True)
class Spending:
    """What calls use up together, or what is reserved for them."""

    llm_calls: int = 0
    tool_calls: int = 0
    tokens: int = 0
    cost: float | None = 0.0  # none where nobody knows the price of a model
    estimated: int = 0  # calls of models that did not say what they used

    def __add__(self, other: Spending) -> Spending:
        """Return both together."""
        cost = None if self.cost is None or other.cost is None else round(self.cost + other.cost, COST_DIGITS)
        return Spending(
            self.llm_calls + other.llm_calls,
            self.tool_calls + other.tool_calls,
            self.tokens + other.tokens,
            cost,
            self.estimated + other.estimated,
        )

    def __bool__(self) -> bool:
        """Say whether anything is used up."""
        return self != Spending()

    def get_amount(self, limit: str) -> float | None:
        """Return what counts for one of `LIMITS`; None of a cost that nobody knows."""
        amount: float | None = getattr(self, limit.removeprefix("max_"))
        return amount

    def plain(self) -> JsonObject:
        """Return it as plain JSON, as the log keeps it."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    def build_usage(self) -> Usage:
        """Return it as results have it."""
        usage = Usage(calls=self.llm_calls, tool_calls=self.tool_calls, tokens=self.tokens, cost=self.cost)
        if self.estimated:
            usage["estimated"] = self.estimated
        return usage


NOTHING: Final = Spending()  # what is spent before the first call


def count_usage(usage: CallUsage | None, *, is_tool: bool) -> Spending:
    """Return what a call that was made counts for."""
    if usage is None:
        return Spending(tool_calls=1) if is_tool else NOTHING
    estimated = 1 if usage.get("estimated") else 0
    return Spending(llm_calls=1, tokens=usage["tokens"], cost=usage.get("cost"), estimated=estimated)


def list_limits(budget: Any) -> dict[str, float]:
    """Return those of `LIMITS` that a budget sets, by their names."""
    return {name: limit for name in LIMITS if (limit := getattr(budget, name)) is not None}


def list_spent_limits(reserved: Spending) -> tuple[str, ...]:
    """Return those of `LIMITS` that calls count for: tools use up no tokens."""
    models = ("max_llm_calls", "max_tokens", "max_cost") if reserved.llm_calls else ()
    return (*models, *(("max_tool_calls",) if reserved.tool_calls else ()))


def compute_token_cost(price: Price | None, input_tokens: int, output_tokens: int) -> float | None:
    """Return what tokens cost, None where there is no price."""
    if price is None:
        return None
    return round((input_tokens * price["input"] + output_tokens * price["output"]) / PRICED_TOKENS, COST_DIGITS)


def find_overspent_limit(
    spent: Spending, reserved: Spending, limits: Mapping[str, float]
) -> tuple[str, JsonObject] | None:
    """Return the first limit that has no room for what would be made, None where all have."""
    for name in list_spent_limits(reserved):
        if name not in limits:
            continue
        limit, used, asked = limits[name], spent.get_amount(name), reserved.get_amount(name)
        if used is None or asked is None:
            return name, {"limit": limit, "spent": used, "reserved": asked, "unpriced": True}
        if used >= limit or used + asked > limit:
            return name, {**describe_spent_limit(limit, used), "reserved": asked}
    return None


def find_near_limits(before: Spending, after: Spending, budget: Any) -> JsonObject:
    """Return the limits of which a run has now spent `NEAR_SHARE`, and had not before."""
    near: JsonObject = {}
    for name, limit in list_limits(budget).items():
        was, spent = before.get_amount(name), after.get_amount(name)
        if was is None or spent is None or spent == was:
            continue
        has_crossed = was < NEAR_SHARE * limit <= spent
        if has_crossed or was <= limit < spent:
            near[name] = describe_spent_limit(limit, spent)
    return near


def describe_spent_limit(limit: float, spent: float) -> JsonObject:
    """Return a limit and what is spent of it; ``over`` says by how much that is more."""
    over = {"over": round(spent - limit, COST_DIGITS)} if spent > limit else {}
    return {"limit": limit, "spent": spent, **over}


def count_recorded_calls(calls: Iterable[Mapping[str, Any]]) -> Spending:
    """Return what recorded calls count for."""
    spent = NOTHING
    for call in calls:
        usage, is_tool = call.get("usage"), call["kind"] == "tool"
        if (is_tool or usage is not None) and not call.get("unmade"):
            spent += count_usage(usage, is_tool=is_tool)
    return spent

"""What type checkers let pass of a pattern of one's own. `make types` checks it; nobody runs it."""

from typing import Any, NotRequired, assert_type

from typing_extensions import TypedDict

import guardgraph as g
import guardgraph.grammar as gg


class In(TypedDict):
    amount: int


class State(TypedDict):
    accepted_amount: int


class Refunded(gg.Ok):
    refund: int


class Refused(gg.Stopped):
    raw_amount: NotRequired[Any]


class Either(gg.Result):
    refund: NotRequired[int]


class Policy(gg.Settings):
    currencies: gg.Allowlist = ("EUR",)


Context = gg.Context[Policy, gg.Budget]
REASONS = gg.Catalogue("refund", ("pay",), gg.common_reasons(phases=("pay",)))

union = gg.Pattern(
    REASONS, state=State, input=In, output=Refunded | Refused | gg.Waiting, policy=Policy(), budget=gg.Budget()
)


def sign(answer: dict[str, Any], caller: g.Caller | None) -> gg.Identity | None:
    return None if caller is None or caller.user is None else gg.Identity(caller.user)


agent = union.compile(name="refund", reviewers=sign)
assert_type(agent, g.GuardedGraph[In, Context, Refunded | Refused | gg.Waiting])
result = agent.invoke({"amount": 7}, context=Context(policy=Policy(currencies=())))
if result["status"] == "ok":
    assert_type(result["refund"], int)
elif result["status"] == "stopped":
    print(result["stop_reason"], result.get("raw_amount"))
else:
    assert_type(result, gg.Waiting)
    print(result["waiting_for"])


def refunds() -> gg.Pattern[In, Context, Either]:
    return gg.Pattern(REASONS, state=State, input=In, output=Either, policy=Policy(), budget=gg.Budget())


def compiled(pattern: gg.Pattern) -> g.GuardedGraph:
    return pattern.compile(name="any")


one = refunds().compile(name="refund").invoke({"amount": 7})
assert_type(one, Either)
assert_type(one.get("refund"), int | None)
compiled(union)

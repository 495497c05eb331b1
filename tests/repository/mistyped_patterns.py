"""What type checkers refuse of a pattern of one's own: the lines that end with an error mark, and no other."""

from typing_extensions import TypedDict

import guardgraph.grammar as gg


class In(TypedDict):
    amount: int


class State(TypedDict):
    accepted_amount: int


class Refunded(gg.Ok):
    refund: int


class Okay(gg.Ok):
    status: str  # error


REASONS = gg.Catalogue("refund", ("pay",), gg.common_reasons(phases=("pay",)))
Out = Refunded | gg.Stopped
pattern = gg.Pattern(REASONS, state=State, input=In, output=Out, policy=gg.Settings(), budget=gg.Budget())
agent = pattern.compile(name="refund")

agent.invoke({"amuont": 7})  # error
agent.invoke({"amount": "7"})  # error
result = agent.invoke({"amount": 7})
print(result["refund"])  # error
if result["status"] == "ok":
    print(result["refnud"])  # error
if result["status"] == "waiting":  # error: mypy
    pass
gg.Pattern(REASONS, state=State, input=In, output=Out, policy={}, budget=gg.Budget())  # error

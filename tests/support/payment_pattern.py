"""A pattern that pays, batch after batch, at a bank that keeps each payment that it was asked for in a file."""

import json
from functools import partial
from pathlib import Path
from typing import Any, NotRequired

from typing_extensions import TypedDict

import guardgraph.grammar as gg

PHASES = ("pay",)
FAILED = gg.StopReason("tool_invalid_output:pay", "tool", PHASES, "The bank failed.", "Ask the bank.")
COMMON = gg.common_reasons(phases=PHASES, tools={"pay": "pay"}, effects={"pay": "pay"})
REASONS = gg.Catalogue("payments", PHASES, [*COMMON, FAILED])
BATCHES = [[30, 40], [50]]
"""What the usual run pays, visit by visit."""


class In(TypedDict):
    batches: list[list[int]]


class State(TypedDict):
    due: list[list[int]]
    paid: list[Any]
    raw_payments: list[str]


class Out(gg.Result):
    payments: NotRequired[list[Any]]


class Journal:
    """What outlives a process: lines of JSON in a file; `moment` is called before and after each."""

    def __init__(self, file: Path, moment: Any = lambda: None) -> None:
        self.file, self.moment = file, moment

    def add(self, line: Any) -> None:
        self.moment()
        with open(self.file, "a", encoding="utf-8") as lines:
            lines.write(json.dumps(line) + "\n")
        self.moment()

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.file.read_text().splitlines()] if self.file.exists() else []


class Bank(Journal):
    """A tool that pays, and knows what it paid."""

    def pay(self, request: Any, idempotency_key: str) -> str:
        """Pay, however often it is asked."""
        self.add({"amount": request["amount"], "key": idempotency_key})
        return f"paid {request['amount']}"

    def pay_once(self, request: Any, idempotency_key: str) -> str:
        """Pay once for a key."""
        if any(line["key"] == idempotency_key for line in self.lines):
            return f"paid {request['amount']}"
        return self.pay(request, idempotency_key)

    def reconcile(self, key: str) -> gg.Outcome | None:
        made = [line for line in self.lines if line["key"] == key]
        return gg.Outcome("value", f"paid {made[0]['amount']}") if made else None

    @property
    def amounts(self) -> list[int]:
        return [line["amount"] for line in self.lines]


def open_bank(tmp_path: Path) -> Bank:
    """Return a bank that has paid nothing yet."""
    return Bank(tmp_path / "bank.txt")


def check_request(state: Any, run: Any) -> gg.Pass:
    if not isinstance(state.get("batches"), list):
        raise gg.Stop("invalid_request:batches")
    return gg.Pass({"due": state["batches"], "paid": []})


def pay_batch(tool: Any, options: dict[str, Any], state: Any, run: Any) -> Any:
    """Pay the next batch."""
    make = partial(gg.Call, "tool", tool, effect="write", tool="pay", **options)
    outcomes = yield [make({"amount": amount}) for amount in state["due"][0]]
    return {"raw_payments": [outcome.packed() for outcome in outcomes]}


def check_payments(state: Any, run: Any) -> gg.Pass:
    """Read the receipts, and go on with the next batch."""
    receipts = [gg.found(raw, "pay") for raw in state["raw_payments"]]
    if not all(isinstance(receipt, str) for receipt in receipts):
        raise gg.Stop("tool_invalid_output:pay", details={"given": receipts})
    due, paid = state["due"][1:], [*state["paid"], *receipts]
    step = gg.Step({"phase": "pay", "paid": len(receipts)}, {"action": "pay", "receipts": receipts})
    return gg.Pass({"due": due, "paid": paid}, "pay" if due else "paid", (step,))


def end_paid(state: Any, run: Any) -> Any:
    return {"outcome": "paid", "payments": state["paid"]}


def pattern(
    tool: Any, *, body: Any = None, effects: Any = ("pay",), rounds: Any = None, seconds: float = 60.0, **options: Any
) -> Any:
    """Return the pattern, with another body of the act node, what that declares, and options of its calls."""
    budget = gg.Budget(max_seconds=seconds)
    p = gg.Pattern(REASONS, state=State, input=In, output=Out, policy=gg.Policy(), budget=budget)
    p.entry("request_guard", check_request, writes=["due", "paid"], to="pay")
    pays = {"reads": ["due"], "writes": ["raw_payments"], "to": "payment_guard", "effects": effects, "rounds": rounds}
    p.act("pay", body or partial(pay_batch, tool, options), phase="pay", **pays)
    judges: Any = {"reads": ["due", "paid", "raw_payments"], "writes": ["due", "paid"], "stops": ["tool"]}
    p.guard("payment_guard", check_payments, phase="pay", to=["pay", "paid"], **judges)
    p.terminal("paid", end_paid, phase="pay", reads=["paid"], writes=["outcome", "payments"])
    return p


def payments(tool: Any, *, checkpointer: Any = None, recorder: Any = None, world: Any = None, **given: Any) -> Any:
    return pattern(tool, **given).compile(checkpointer=checkpointer, recorder=recorder, world=world)


class FileRecorder(Journal):
    """A recorder that keeps runs from their beginning on."""

    def begin(self, run: Any) -> None:
        self.add(["begin", run])

    def note(self, note: Any) -> None:
        self.add(["note", note])

    def record(self, run: Any) -> None:
        self.add(["record", run])

    def notes(self, request: str) -> list[Any]:
        return [note for note in self.told("note") if note["request"] == request]

    def told(self, kind: str) -> list[Any]:
        return [content for told, content in self.lines if told == kind]

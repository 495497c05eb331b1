"""A small pattern for tests of a person in a run: somebody proposes a refund, a person approves it, a tool pays it.

Whatever is named in `bodies` takes the place of a body of its own, as in `ticket_pattern`.
"""

from typing import Any, NotRequired

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from typing_extensions import TypedDict

from guardgraph.grammar import (
    Budget,
    Call,
    Catalogue,
    MaxInt,
    Pass,
    Pattern,
    Proposer,
    Result,
    ReviewPolicy,
    Step,
    Stop,
    StopReason,
    ask_person,
    common_reasons,
    found,
    proposed_object,
    reviewed,
)

ORDER = {"order": "A7"}
SHOWN = {"order": "A7", "amount": 30}
"""What a person is shown of the usual run."""
PAID = {"outcome": "refunded", "refund": SHOWN, "payment": "paid 30 for A7"}
"""What comes of it."""
THREAD = {"configurable": {"thread_id": "1"}}
PHASES = ("refund", "approve", "pay")
TIGHT = {"policy": {"max_refund": 40}}
"""A context under which the usual refund is still allowed."""
MINUTE = {"budget": {"max_seconds": 60.0}}


class In(TypedDict):
    order: str


class State(TypedDict):
    task: str
    proposed_refund: str
    accepted_refund: dict[str, Any]
    raw_review: str
    approved_refund: dict[str, Any]
    raw_payment: str
    accepted_payment: str


class Out(Result):
    refund: NotRequired[dict[str, Any]]
    payment: NotRequired[str]
    raw_refund: NotRequired[Any]


class Policy(ReviewPolicy):
    max_refund: MaxInt = 50


REASONS = Catalogue(
    "refund",
    PHASES,
    [
        *common_reasons(phases=PHASES, asking=["refund"], reviewing=["approve"], tools={"pay": "pay"}),
        StopReason("invalid_refund", "invalid_refund", ("refund",), "No such refund.", "Look at raw_refund."),
        StopReason("tool_invalid_output:pay", "tool", ("pay",), "The bank failed.", "Ask the bank."),
    ],
)


def check_request(state, run):
    if not isinstance(state.get("order"), str):
        raise Stop("invalid_request:order")
    return Pass({"task": state["order"]})


def propose(proposer):
    """Ask what to refund."""

    def body(state, run):
        outcome = yield Proposer(proposer, {"proposer": "test"}).call({"order": state["task"]})
        return {"proposed_refund": outcome.packed()}

    return body


def check_refund(state, run):
    """Hold the amount against the policy."""
    given = proposed_object(state["proposed_refund"])
    amount = given.value.get("amount") if isinstance(given.value, dict) else None
    if not isinstance(amount, int) or not 0 < amount <= run.policy.max_refund:
        raise Stop("invalid_refund", raw_refund=given.raw)
    step = Step({"phase": "refund", "amount": amount}, {"action": "propose_refund", **given.about})
    return Pass({"accepted_refund": {"order": state["task"], "amount": amount}}, steps=(step,))


def approve(state, run):
    """Show the refund to a person."""
    outcome = yield ask_person(state["accepted_refund"])
    return {"raw_review": outcome.packed()}


def check_approval(state, run):
    answer = reviewed(state["raw_review"])
    step = Step({"phase": "approve"}, {"action": "approve_refund", "answer": answer})
    return Pass({"approved_refund": state["accepted_refund"]}, steps=(step,))


def pay(tool):
    """Pay it."""

    def body(state, run):
        outcome = yield Call("tool", tool, state["approved_refund"])
        return {"raw_payment": outcome.packed()}

    return body


def check_payment(state, run):
    """Check the receipt."""
    receipt = found(state["raw_payment"], "pay")
    if not isinstance(receipt, str):
        raise Stop("tool_invalid_output:pay", details={"given": receipt})
    return Pass({"accepted_payment": receipt}, steps=(Step({"phase": "pay"}, {"action": "pay", "receipt": receipt}),))


def refunded(state, run):
    return {"outcome": "refunded", "refund": state["approved_refund"], "payment": state["accepted_payment"]}


def thirty(view):
    return {"amount": 30}


def receipt(request):
    """Pay everything."""
    return f"paid {request['amount']} for {request['order']}"


def pattern(proposer=thirty, tool=receipt, *, bodies=None, policy=None, budget=None):
    """Return the pattern, with `bodies` in the place of its own."""
    own = bodies or {}
    p = Pattern(
        REASONS, state=State, input=In, output=Out, policy=policy or Policy(), budget=budget or Budget(max_seconds=100)
    )
    p.entry("request_guard", own.get("request_guard", check_request), writes=["task"], to="propose")
    p.propose(
        "propose",
        own.get("propose", propose(proposer)),
        phase="refund",
        reads=["task"],
        writes=["proposed_refund"],
        to="refund_guard",
    )
    p.guard(
        "refund_guard",
        own.get("refund_guard", check_refund),
        phase="refund",
        reads=["task", "proposed_refund"],
        writes=["accepted_refund"],
        to="approve",
        stops=["llm", "invalid_refund"],
    )
    p.review(
        "approve",
        own.get("approve", approve),
        phase="approve",
        reads=["accepted_refund"],
        writes=["raw_review"],
        to="approval_guard",
    )
    p.guard(
        "approval_guard",
        own.get("approval_guard", check_approval),
        phase="approve",
        reads=["accepted_refund", "raw_review"],
        writes=["approved_refund"],
        to="pay",
        stops=["review"],
    )
    p.act(
        "pay",
        own.get("pay", pay(tool)),
        phase="pay",
        reads=["approved_refund"],
        writes=["raw_payment"],
        to="payment_guard",
    )
    p.guard(
        "payment_guard",
        own.get("payment_guard", check_payment),
        phase="pay",
        reads=["raw_payment"],
        writes=["accepted_payment"],
        to="refunded",
        stops=["tool"],
    )
    writes = ["outcome", "refund", "payment"]
    p.terminal("refunded", refunded, phase="pay", reads=["approved_refund", "accepted_payment"], writes=writes)
    return p


def refund(*args, checkpointer=None, world=None, recorder=None, reviewers=None, shadow=None, **kwargs):
    compiled = {"checkpointer": checkpointer, "world": world, "recorder": recorder, "shadow": shadow}
    compiled["reviewers"] = reviewers
    return pattern(*args, **kwargs).compile(name="refund", **compiled)


def answering(waiting, decision="approve", **said):
    return Command(resume={"hash": waiting["waiting_for"]["hash"], "decision": decision, **said})


def waiting(graph, config=THREAD, **kwargs):
    """Begin a run and return what it shows while it waits."""
    shown = graph.invoke(ORDER, config, **kwargs)
    assert shown["status"] == "waiting"
    return shown


def begun(**kwargs):
    graph = refund(checkpointer=InMemorySaver(), **kwargs)
    return graph, waiting(graph)

"""A small pattern with a person in the run: somebody proposes a refund, a person approves it, a tool pays it."""

from typing import Any, NotRequired

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from typing_extensions import TypedDict

import guardgraph.grammar as gg

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


class Out(gg.Result):
    refund: NotRequired[dict[str, Any]]
    payment: NotRequired[str]
    raw_refund: NotRequired[Any]


class Policy(gg.ReviewPolicy):
    max_refund: gg.MaxInt = 50


OWN = [
    gg.StopReason("invalid_refund", "invalid_refund", ("refund",), "No such refund.", "Look at raw_refund."),
    gg.StopReason("tool_invalid_output:pay", "tool", ("pay",), "The bank failed.", "Ask the bank."),
]
COMMON = gg.common_reasons(phases=PHASES, asking=["refund"], reviewing=["approve"], tools={"pay": "pay"})
REASONS = gg.Catalogue("refund", PHASES, [*COMMON, *OWN])


def check_request(state, run):
    if not isinstance(state.get("order"), str):
        raise gg.Stop("invalid_request:order")
    return gg.Pass({"task": state["order"]})


def propose(proposer):
    """Ask what to refund."""

    def body(state, run):
        outcome = yield gg.Proposer(proposer, {"proposer": "test"}).call({"order": state["task"]})
        return {"proposed_refund": outcome.packed()}

    return body


def check_refund(state, run):
    """Hold the amount against the policy."""
    given = gg.proposed_object(state["proposed_refund"])
    amount = given.value.get("amount") if isinstance(given.value, dict) else None
    if not isinstance(amount, int) or not 0 < amount <= run.policy.max_refund:
        raise gg.Stop("invalid_refund", raw_refund=given.raw)
    step = gg.Step({"phase": "refund", "amount": amount}, {"action": "propose_refund", **given.about})
    return gg.Pass({"accepted_refund": {"order": state["task"], "amount": amount}}, steps=(step,))


def approve(state, run):
    """Show the refund to a person."""
    outcome = yield gg.ask_person(state["accepted_refund"])
    return {"raw_review": outcome.packed()}


def check_approval(state, run):
    answer = gg.reviewed(state["raw_review"])
    step = gg.Step({"phase": "approve"}, {"action": "approve_refund", "answer": answer})
    return gg.Pass({"approved_refund": state["accepted_refund"]}, steps=(step,))


def pay(tool):
    """Pay it."""

    def body(state, run):
        outcome = yield gg.Call("tool", tool, state["approved_refund"])
        return {"raw_payment": outcome.packed()}

    return body


def check_payment(state, run):
    """Check the receipt."""
    receipt = gg.found(state["raw_payment"], "pay")
    if not isinstance(receipt, str):
        raise gg.Stop("tool_invalid_output:pay", details={"given": receipt})
    step = gg.Step({"phase": "pay"}, {"action": "pay", "receipt": receipt})
    return gg.Pass({"accepted_payment": receipt}, steps=(step,))


def refunded(state, run):
    return {"outcome": "refunded", "refund": state["approved_refund"], "payment": state["accepted_payment"]}


def thirty(view):
    return {"amount": 30}


def receipt(request):
    """Pay everything."""
    return f"paid {request['amount']} for {request['order']}"


BODIES = {"request_guard": check_request, "refund_guard": check_refund, "approve": approve}
BODIES |= {"approval_guard": check_approval, "payment_guard": check_payment}


def pattern(proposer=thirty, tool=receipt, *, bodies=None, policy=None, budget=None):
    """Return the pattern, with `bodies` in the place of its own."""
    own = {**BODIES, "propose": propose(proposer), "pay": pay(tool), **(bodies or {})}
    limits = {"policy": policy or Policy(), "budget": budget or gg.Budget(max_seconds=100)}
    p = gg.Pattern(REASONS, state=State, input=In, output=Out, **limits)
    p.entry("request_guard", own["request_guard"], writes=["task"], to="propose")
    asks = {"reads": ["task"], "writes": ["proposed_refund"], "to": "refund_guard"}
    p.propose("propose", own["propose"], phase="refund", **asks)
    judges = {"reads": ["task", "proposed_refund"], "writes": ["accepted_refund"], "stops": ["llm", "invalid_refund"]}
    p.guard("refund_guard", own["refund_guard"], phase="refund", to="approve", **judges)
    shows = {"reads": ["accepted_refund"], "writes": ["raw_review"], "to": "approval_guard"}
    p.review("approve", own["approve"], phase="approve", **shows)
    judges = {"reads": ["accepted_refund", "raw_review"], "writes": ["approved_refund"], "stops": ["review"]}
    p.guard("approval_guard", own["approval_guard"], phase="approve", to="pay", **judges)
    pays = {"reads": ["approved_refund"], "writes": ["raw_payment"], "to": "payment_guard"}
    p.act("pay", own["pay"], phase="pay", **pays)
    judges = {"reads": ["raw_payment"], "writes": ["accepted_payment"], "stops": ["tool"]}
    p.guard("payment_guard", own["payment_guard"], phase="pay", to="refunded", **judges)
    ends = {"reads": ["approved_refund", "accepted_payment"], "writes": ["outcome", "refund", "payment"]}
    p.terminal("refunded", refunded, phase="pay", **ends)
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

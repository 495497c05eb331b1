"""Every reason why a run of the tool agent can stop, each produced by a whole run of the compiled agent."""

from functools import partial
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from office_agents import DELETE, PAY, READ, STOLEN, TASK, Office, answer_question, calls, office_agent, run_office
from runs import ASKED_ONCE, THREAD, StopCase, check_stop, reasons_without_a_run, write_state
from stop_cases import MODEL_FAILURES, cases, common_cases, limit_cases, shut_out, told

from guardgraph import LiveWorld, ToolBudget, ToolPolicy, ToolRule
from guardgraph.state.tools import TOOL_REASONS
from guardgraph.testing import ScriptedChatModel, ScriptedClock, scripted_verifier

DETAILS = {"details": ...}
RAW = {"raw_action": ...}
SHOWN = {**RAW, **DETAILS}
CALLED = {"tool_calls": ...}
SHOWN_CALLS = {**DETAILS, **CALLED}
FINE = {"answer": "All is done."}
DENIED = {
    "tool_not_allowed_policy": {"tools_policy": []},
    "tool_denied": {"denied_tools": ["read_bill"]},
    "tool_denied_execution": {"tools_execution": []},
}


def ended(*steps: Any, **given: Any) -> Any:
    return partial(run_office, *steps, **given)


def answered(answer: str, **given: Any) -> StopCase:
    shown = given.pop("shown", {"unsupported": ...})
    steps = given.pop("steps", [calls(READ)])
    called = CALLED if steps else {}
    return StopCase("answer", ended(*steps, {"answer": answer}, **given), {**shown, **called})


def slow() -> Any:
    """Make a run whose time is over once a bill was read."""
    clock = ScriptedClock()

    def read_bill(id: str) -> str:
        """Read a bill."""
        clock.advance(9)
        return "A bill."

    model = ScriptedChatModel(calls(READ), loop=True)
    tools = [read_bill, *Office().tools()[1:]]
    return run_office(model=model, tools=tools, world=LiveWorld(clock=clock), budget=ToolBudget(max_seconds=5))


def edited() -> Any:
    graph = office_agent(calls(READ), FINE)
    graph.invoke(TASK, THREAD, interrupt_before=["read"])
    write_state(graph, THREAD, {"accepted_step": 5, "route": "read"}, as_node="action_guard")
    return graph.invoke(None, THREAD)


def killed() -> Any:
    """Make a run whose process dies between a payment and its receipt, and resume it."""

    def send_money(to: str, amount: float) -> str:
        """Send euros to somebody."""
        raise KeyboardInterrupt

    made = {"tools": [send_money], "policy": ToolPolicy(), "checkpointer": InMemorySaver()}
    with pytest.raises(KeyboardInterrupt):
        office_agent(calls(PAY), FINE, **made).invoke(TASK, THREAD)
    return office_agent(FINE, **made).invoke(None, THREAD)


def asked(decision: str, **policy: Any) -> Any:
    rules = {"delete_file": ToolRule(destructive=True)}
    agent = office_agent(calls(DELETE), FINE, policy=ToolPolicy(rules=rules, **policy))
    return answer_question(agent, agent.invoke(TASK, THREAD), decision)


def resumed(context: Any, *steps: Any, at: str = "read", **given: Any) -> Any:
    agent = office_agent(*steps, **given)
    agent.invoke(TASK, THREAD, interrupt_before=[at])
    return agent.invoke(None, THREAD, context=context)


class Crowded(LiveWorld):
    """A world in which too much is at work already for a tool to be called."""

    def perform(self, asked: Any, seconds: float) -> Any:
        return (LiveWorld(max_abandoned=0) if asked[0].call.kind == "tool" else super()).perform(asked, seconds)


def read_bill(id: str) -> str:
    """Read a bill."""
    raise ConnectionError("lost")


BILL, RULE = [calls(READ)], {"read_bill": ToolRule(effect="read")}
LESS = {"policy": {"rules": {"send_money": {"arguments": {"amount": {"max": 29}}}}}}
STOPS: dict[str, StopCase] = {
    **common_cases(ended(FINE), "plan", "answer"),
    "invalid_request:task": StopCase("plan", ended(FINE, task={"task": " "}), DETAILS),
    "max_seconds": StopCase("plan", slow, SHOWN_CALLS),
    "guard_error:read": StopCase("act", edited, DETAILS),
    **{
        name: StopCase("plan", ended(model=ScriptedChatModel(reply, loop=True), context=ASKED_ONCE), DETAILS)
        for name, reply in MODEL_FAILURES.items()
    },
    "llm_invalid_schema": StopCase("answer", ended(FINE, context=ASKED_ONCE, verifier=ScriptedChatModel({})), DETAILS),
    "tool_unavailable:read_bill": StopCase("act", ended(*BILL, world=Crowded()), SHOWN_CALLS),
    "tool_circuit_open:read_bill": StopCase(
        "act", partial(shut_out, ended(*BILL, tools=[read_bill], policy=ToolPolicy(rules=RULE))), SHOWN_CALLS
    ),
    "tool_invalid_output:read_bill": StopCase("act", ended(*BILL, office=Office(bill=object())), SHOWN_CALLS),
    "effect_unknown:send_money": StopCase("act", killed, SHOWN_CALLS),
    "effect_unrecordable:send_money": StopCase("act", ended(calls(PAY), checkpointer=None), SHOWN_CALLS),
    "review_unavailable": StopCase("approve", ended(calls(DELETE), checkpointer=None), DETAILS),
    "review_rejected": StopCase("approve", partial(asked, "reject"), DETAILS),
    "review_expired": StopCase("approve", partial(asked, "approve", max_review_seconds=0.0), DETAILS),
    **cases(
        "plan",
        "invalid_action",
        not_object=(ended({"calls": "all"}), SHOWN),
        tool=(ended(calls({"tool": " ", "args": {}})), SHOWN),
        args=(ended(calls({"tool": "read_bill", "args": "b7"})), SHOWN),
        schema=(ended(calls({"tool": "read_bill", "args": {"id": 7}})), SHOWN),
    ),
    **{
        f"{name}:read_bill @ plan": StopCase("plan", ended(*BILL, context={"policy": policy}), RAW)
        for name, policy in DENIED.items()
    },
    **{
        f"{name}:read_bill @ act": StopCase("act", partial(resumed, {"policy": policy}, *BILL), DETAILS)
        for name, policy in DENIED.items()
    },
    "tool_changed:read_bill": StopCase("plan", ended(*BILL, rules={"read_bill": ToolRule(pin="0" * 64)}), SHOWN),
    "argument_denied:send_money.amount @ plan": StopCase("plan", ended(calls(PAY), context=LESS), SHOWN),
    "argument_denied:send_money.amount @ act": StopCase("act", partial(resumed, LESS, calls(PAY), at="write"), DETAILS),
    "loop_detected:send_money": StopCase("plan", ended(calls(PAY), calls(PAY)), {**SHOWN, **CALLED}),
    "max_calls:send_money": StopCase("plan", ended(calls(PAY), rules={"send_money": ToolRule(max_calls=0)}), SHOWN),
    "max_tool_calls": StopCase("plan", ended(calls(READ, PAY), budget=ToolBudget(max_tool_calls=1)), SHOWN),
    "unsupported_argument:send_money.to": StopCase(
        "plan",
        ended(*BILL, calls(STOLEN), rules={"send_money": ToolRule(approve="never")}),
        {**RAW, "unsupported": ..., **CALLED},
    ),
    "invalid_answer:empty": answered(" ", steps=[], shown={}),
    "invalid_answer:too_long": answered("a" * 50, steps=[], shown=DETAILS, budget=ToolBudget(max_answer_chars=40)),
    "invalid_answer:active_markup": answered("<script>alert(1)</script>", steps=[]),
    "invalid_answer:unsupported_link": answered("See https://other-bank.net/.", steps=[]),
    "invalid_answer:unsupported_number": answered("It comes to 77 EUR."),
    "invalid_answer:unsupported_name": answered("It was written by Gertrude Stein."),
    "invalid_answer:action_not_done": answered("I sent the mail to Ada.", shown={"claimed": ..., "performed": []}),
    "invalid_answer:unsupported_claim": answered("It is paid.", verifier=scripted_verifier(["It is paid."], loop=True)),
}


def limited(phase: str, world: Any = None, **budget: Any) -> Any:
    return run_office(model=ScriptedChatModel(told(calls(READ)), loop=True), budget=ToolBudget(**budget), world=world)


STOPS |= {
    entry: case._replace(evidence=SHOWN_CALLS) if case.phase == "act" else case
    for entry, case in limit_cases(limited, {"plan": (0, 0)}, {"act": (0, 1)})
    if entry != "max_tool_calls"
}


def entry_of(case: str) -> str:
    found = TOOL_REASONS.find(case.partition(" @ ")[0])
    return "" if found is None else found.reason


def test_every_reason_has_a_run():
    """The catalogue and the runs below name the same reasons; one that no run can reach is marked as defensive."""
    assert reasons_without_a_run(TOOL_REASONS, {*map(entry_of, STOPS)}) == []
    assert [item.reason for item in TOOL_REASONS if item.defensive] == ["result_differs:<key>", "not_approved:<tool>"]


@pytest.mark.parametrize("case", STOPS)
def test_a_run_stops(case):
    """A run stops with every reason of the catalogue, in its phase and with its evidence; no more than Ada is paid."""
    stop = STOPS[case]
    reason = stop.reason or case.partition(" @ ")[0]
    result = check_stop(TOOL_REASONS, entry_of(case), stop._replace(reason=reason))
    assert all(call["args"] == PAY["args"] for call in result.get("tool_calls", ()) if call["effect"] == "write")

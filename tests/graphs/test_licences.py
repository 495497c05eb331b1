"""No call without a licence: whatever a pattern's guards forget, the graph holds each call where it is performed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.checkpoint.memory import InMemorySaver
from runs import BOTH, run
from tables import each_row
from tool_pattern import (
    BILL,
    DELETE,
    PAY,
    POLICY,
    READ,
    RULES,
    STOLEN,
    TASK,
    THREAD,
    TOOLS,
    Desk,
    Killed,
    approving,
    desk_graph,
    pattern,
    planning,
    trust_calls,
)

import guardgraph.grammar as gg
from guardgraph import ConfigurationError, ToolBudget, ToolRule, replay, verify
from guardgraph.plain.hashing import digest
from guardgraph.state.review import hash_licence
from guardgraph.testing import InMemoryRecorder

TRUSTING = {"action_guard": trust_calls("write")}
"""A guard that checks nothing, and has everything made that is proposed."""
DELETED = {"tool": "delete_file", "args": {"path": "Mallory"}}
OTHER_BILL = {**BILL, "text": "Please pay 901 to Mallory."}


def policy(**given):
    return POLICY.model_copy(update=given)


def ruled(tool, **rule):
    return policy(rules={**RULES, tool: ToolRule(**{**RULES[tool].model_dump(exclude_unset=True), **rule})})


def trusted(*steps, mode="invoke", recorder=None, context=None, **given):
    desk = Desk()
    given.setdefault("bodies", TRUSTING)
    graph = desk_graph(planning(*steps), desk, checkpointer=InMemorySaver(), recorder=recorder, **given)
    return run(graph, TASK, mode, config=THREAD, context=context), desk


def test_a_context_denies_and_rules_tools_that_there_are():
    for field, said in (("denied_tools", ["send_mony"]), ("rules", {"send_mony": {"effect": "read"}})):
        with pytest.raises(ConfigurationError, match=rf"^context\.policy\.{field}: .*did you mean 'send_money'\?$"):
            trusted([READ], context={"policy": {field: said}})


@pytest.mark.parametrize("mode", BOTH)
def test_what_is_licensed_is_done(mode):
    """A read, then a write whose values the task has: the record has both calls, each by its licence."""
    desk, recorder = Desk(), InMemoryRecorder()
    graph = desk_graph(planning([READ], [PAY]), desk, checkpointer=InMemorySaver(), recorder=recorder)
    assert (run(graph, TASK, mode, config=THREAD)["outcome"], desk.made) == ("answered", [READ, PAY])
    calls = [call for call in recorder.runs[0]["calls"] if call["kind"] == "tool"]
    assert [{"tool": call["tool"], "args": call["args"]} for call in calls] == [READ, PAY]
    assert [call.get("effect") for call in calls] == [None, "write"]
    assert [call["request"] for call in calls] == [hash_licence(**item) for item in (READ, PAY)]


LOW, NEVER = {"amount": {"max": 20}}, ruled("send_money", approve="never")
MUTANTS = {
    "the policy list": ("tool_not_allowed_policy:send_money", [[PAY]], {"policy": policy(tools_policy=TOOLS[:1])}),
    "the denied list": ("tool_denied:send_money", [[PAY]], {"policy": policy(denied_tools=("send_money",))}),
    "the execution list": ("tool_denied_execution:send_money", [[PAY]], {"policy": policy(tools_execution=())}),
    "the pin": ("tool_changed:send_money", [[PAY]], {"policy": ruled("send_money", pin="0" * 64)}),
    "an argument": ("argument_denied:send_money.amount", [[PAY]], {"policy": ruled("send_money", arguments=LOW)}),
    "the same call": ("loop_detected:send_money", [[PAY], [PAY]], {}),
    "the same call at once": ("loop_detected:send_money", [[PAY, PAY]], {}),
    "the rule's budget": ("max_calls:send_money", [[PAY]], {"policy": ruled("send_money", max_calls=0)}),
    "the run's budget": ("max_tool_calls", [[READ], [PAY]], {"budget": ToolBudget(max_tool_calls=1)}),
    "a person": ("not_approved:send_money", [[READ], [STOLEN]], {}),
    "a person who is always asked": ("not_approved:delete_file", [[DELETE]], {}),
    "support": ("unsupported_argument:send_money.to", [[READ], [STOLEN]], {"policy": NEVER}),
}
"""What a guard forgets: the reason of the refusal, what is proposed step by step, and the settings."""


@pytest.mark.parametrize("name", MUTANTS)
def test_what_a_guard_forgets_the_licence_has(name):
    """The call is refused in the phase of its node and never performed, and a replay refuses it again."""
    reason, steps, settings = MUTANTS[name]
    recorder = InMemoryRecorder()
    result, desk = trusted(*steps, recorder=recorder, **settings)
    assert (result["stop_reason"], result["phase"], result["path"][-1]) == (reason, "act", "stop_licence")
    assert ("unsupported" in result) == reason.startswith("unsupported_argument")
    assert desk.made == [call for step in steps[:-1] for call in step]
    assert len([call for call in recorder.runs[0]["calls"] if call["kind"] == "tool"]) == len(steps) - 1
    assert replay(desk_graph(planning(), Desk(), bodies=TRUSTING, **settings), recorder.runs[0]) == result


def reviewed_run(*steps, **given):
    """Return the result of a run whose question was answered, and its desk."""
    desk, recorder = Desk(), InMemoryRecorder()
    graph = desk_graph(planning(*steps), desk, checkpointer=InMemorySaver(), recorder=recorder, **given)
    waiting = graph.invoke(TASK, THREAD)
    assert waiting["status"] == "waiting"
    return graph.invoke(approving(waiting), THREAD), desk, recorder


def sent(amount, to="Mallory"):
    return {"tool": "send_money", "args": {"to": to, "amount": amount}}


def calling(named, args, **said):
    """Return a body that makes one call, whatever was accepted."""

    def body(state, run):
        [outcome] = yield [gg.Call("tool", named, args, **said)]
        return {"raw_results": [outcome.packed()]}

    return body


def test_another_argument_than_was_shown_is_refused():
    bodies = {"write_approved": calling("send_money", sent(901)["args"])}
    result, desk, _ = reviewed_run([READ], [STOLEN], bodies=bodies)
    assert (result["stop_reason"], desk.made) == ("not_approved:send_money", [READ])


def check_loosely(state, run):
    calls = gg.proposal(state["proposed"]).value
    if not calls:
        return gg.Pass({}, "answered")
    return gg.Pass({"accepted": calls}, "write" if state["results"][1:] else "approve" if state["results"] else "read")


def test_an_approval_is_used_once():
    """The same call again needs another approval, though it may be made twice."""
    bodies, budget = {"action_guard": check_loosely}, ToolBudget(max_same_call=5)
    result, desk, _ = reviewed_run([READ], [STOLEN], [STOLEN], bodies=bodies, budget=budget)
    assert (result["stop_reason"], desk.made) == ("not_approved:send_money", [READ, STOLEN])


def test_an_approval_of_another_run_is_none():
    desk, kept = Desk(), InMemorySaver()
    graph = desk_graph(planning([READ], [STOLEN]), desk, checkpointer=kept)
    assert graph.invoke(approving(graph.invoke(TASK, THREAD)), THREAD)["outcome"] == "answered"
    again = desk_graph(planning([READ], [STOLEN]), desk, checkpointer=kept, bodies=TRUSTING)
    assert (again.invoke(TASK, THREAD)["stop_reason"], len(desk.made)) == ("not_approved:send_money", 3)


def test_a_licence_is_judged_after_a_resume_under_what_holds_then():
    """A tool that was switched off while the run waited is not called."""
    desk = Desk()
    graph = desk_graph(planning([READ], [STOLEN]), desk, checkpointer=InMemorySaver(), bodies=TRUSTING)
    graph.invoke(TASK, THREAD, interrupt_before=["write"])
    result = graph.invoke(None, THREAD, context={"policy": {"tools_execution": []}})
    assert (result["stop_reason"], desk.made) == ("tool_denied_execution:read_bill", [])


def test_what_a_body_says_of_a_call_counts_for_nothing():
    said = {"effect": "read", "tool": "read_bill", "idempotent": True, "scope": {"to": "Mallory"}}
    lying, recorder = calling("send_money", PAY["args"], **said), InMemoryRecorder()
    assert trusted([PAY], bodies={**TRUSTING, "write": lying}, recorder=recorder)[1].made == [PAY]
    [call] = [call for call in recorder.runs[0]["calls"] if call["kind"] == "tool"]
    assert (call["effect"], call["tool"], "scope" in call) == ("write", "send_money", False)


def approve_each(state, run):
    outcome = yield gg.ask_person({"calls": state["accepted"]})
    return {"raw_review": outcome.packed()}


def test_a_question_of_several_calls_licenses_each_once():
    """What it shows is made in its order; the same call once more has no approval left."""
    bodies = {"action_guard": check_loosely, "approve": approve_each}
    eve = sent(1, "Eve")
    result, desk, recorder = reviewed_run([READ], [STOLEN, eve], bodies=bodies)
    assert (result["outcome"], desk.made) == ("answered", [READ, STOLEN, eve])
    assert replay(desk_graph(planning(), Desk(), bodies=bodies), recorder.runs[0]) == result
    budget = ToolBudget(max_same_call=5)
    result, desk, _ = reviewed_run([READ], [STOLEN, eve], [STOLEN], bodies=bodies, budget=budget)
    assert (result["stop_reason"], desk.made) == ("not_approved:send_money", [READ, STOLEN, eve])


@each_row(
    ("after", "document", "shown"),
    (sent(902), BILL, [sent(901)]),  # another value
    (sent(901), BILL, [sent(901, to="Trudy"), sent(902)]),  # values of two calls
    (sent(901), OTHER_BILL, [sent(901)]),  # a document that nobody brought
    (DELETED, BILL, [DELETED]),  # a tool that is always asked for,
)
def test_an_approved_document_licenses_nothing_else(after, document, shown):
    """It is for these calls, and for what a call of this run brought."""

    def delegate(state, run):
        said = {"document": digest(document), "calls": [STOLEN, *shown]}
        outcome = yield gg.ask_person({"call": state["accepted"][0], "delegation": said})
        return {"raw_review": outcome.packed()}

    bodies = {"action_guard": check_loosely, "approve": delegate}
    result, desk, recorder = reviewed_run([READ], [STOLEN], [after], bodies=bodies)
    assert (result["stop_reason"], desk.made) == (f"not_approved:{after['tool']}", [READ, STOLEN])
    assert replay(desk_graph(planning(), Desk(), bodies=bodies), recorder.runs[0]) == result


@each_row(
    ("named", "args", "message"),
    (lambda args: args, PAY["args"], "holds a function"),
    ("pay", PAY["args"], "declared calls: read_bill, send_money, delete_file"),
    ("send_money", [30], "with a list; arguments are an object"),
    ("send_money", {"to": {1, 2}}, "arguments are an object of plain JSON"),
)
def test_a_body_does_not_call_beyond_its_declaration(named, args, message):
    read = {"action_guard": trust_calls("read")}
    for bodies, said in (({**TRUSTING, "write": calling(named, args)}, message), (read, "declared calls: read_bill")):
        result, desk = trusted([PAY], bodies=bodies)
        assert result["stop_reason"].startswith("guard_error:")
        assert said in result["details"]["message"]
        assert desk.made == []


def test_a_body_cannot_go_on_past_a_refusal():
    caught = []

    def catching(state, run):
        try:
            outcomes = yield [gg.Call("tool", call["tool"], call["args"]) for call in state["accepted"]]
        except BaseException as error:
            caught.append(error)
            raise
        return {"raw_results": [outcome.packed() for outcome in outcomes]}

    result, desk = trusted([READ], [STOLEN], bodies={**TRUSTING, "write": catching})
    assert (result["stop_reason"], desk.made) == ("not_approved:send_money", [READ])
    assert [type(error) for error in caught] in ([], [GeneratorExit])


def test_a_tool_is_no_proposer():
    desk = Desk()
    table = desk.table()
    p = pattern(table.tools["send_money"].target, desk, table=table)
    result = p.builder().compile().invoke(TASK)
    assert (result["stop_reason"], desk.made) == ("guard_error:plan", [])
    assert "asked the function of send_money" in result["details"]["message"]
    assert [finding.nodes for finding in verify(p.builder().compile())] == [("plan",)]


def test_a_licensed_write_is_made_once_whatever_ends_the_process():
    """A resume gives the receipt of the first back, and does not make the second again of which nobody knows."""
    desk, kept, five = Desk(dies_at=2), {"recorder": InMemoryRecorder()}, sent(5, "Ada")
    graph = desk_graph(planning([PAY, five]), desk, checkpointer=InMemorySaver(), bodies=TRUSTING, **kept)
    with pytest.raises(Killed):
        graph.invoke(TASK, THREAD)
    result = graph.invoke(None, THREAD)
    assert (result["stop_reason"], desk.made) == ("effect_unknown:send_money", [PAY, five])
    assert replay(graph, kept["recorder"].runs[-1]) == result


def test_what_was_approved_and_made_before_a_kill_is_used_up():
    """The approval is on record with the write that used it, whether it is asked for again or not."""
    desk, recorder = Desk(dies_at=2), InMemoryRecorder()
    graph = desk_graph(planning([READ], [STOLEN]), desk, checkpointer=InMemorySaver(), recorder=recorder)
    waiting = graph.invoke(TASK, THREAD)
    with pytest.raises(Killed):
        graph.invoke(approving(waiting), THREAD)
    result = graph.invoke(None, THREAD, context={"policy": {"tools_execution": ["read_bill"]}})
    assert (result["stop_reason"], desk.made) == ("tool_denied_execution:send_money", [READ, STOLEN])
    assert len(recorder.runs[-1]["calls"][-1]["approval"]) == 64


AMOUNTS = st.sampled_from([30, 900, 120, 7, True, None, "30", "900"])
PAYMENTS = st.builds(sent, AMOUNTS, st.sampled_from(["Ada", "Mallory", "b7", "30", "", "to Ada"]))
CALLS = PAYMENTS | st.sampled_from([READ, DELETE, DELETED, {"tool": "fly", "args": {}}])
LICENSED = {"to": ["Ada", "to Ada", "30"], "amount": [30, 120, "30"]}
"""What the task and the trusted balance license once a bill was read."""


def find_unlicensed(made, steps):
    """Return the performed calls, made in the order of the steps, that no rule of this file's policy allows."""
    step_of = [number for number, step in enumerate(steps) for _ in step]
    read = next((step_of[at] for at, call in enumerate(made) if call == READ), len(steps))
    wrong = [call for call in made if call["tool"] not in ("read_bill", "send_money")]
    paid = [call for at, call in enumerate(made) if call["tool"] == "send_money" and step_of[at] > read]
    wrong += [call for call in paid if any(call["args"][name] not in values for name, values in LICENSED.items())]
    return wrong + [call for call in made if call["tool"] == "send_money" and made.count(call) > 1] + made[4:]


@given(st.lists(st.lists(CALLS, min_size=1, max_size=3), max_size=6))
def test_no_proposals_lead_to_a_call_without_a_licence(steps):
    """Counted at the tools, for a pattern whose guard lets everything through."""
    result, desk = trusted(*steps, budget=ToolBudget(max_tool_calls=4, max_same_read=9))
    assert find_unlicensed(desk.made, steps) == []
    assert result["stop_reason"] == "success" or result["path"][-1] in ("stop_licence", "stop_guard_error")


SENDS = st.builds(sent, st.sampled_from([900, 901]), st.sampled_from(["Mallory", "Eve"]))


@given(st.lists(st.lists(SENDS, min_size=1, max_size=2), max_size=3), st.lists(SENDS, max_size=3), st.booleans())
def test_no_person_approves_more_than_what_was_shown(steps, acts, honest):
    desk, shown = Desk(), []

    def approve_all(state, run):
        calls, done = gg.proposal(state["proposed"]).value, len(state["results"])
        if not calls:
            return gg.Pass({}, "answered")
        made = calls if honest else acts[done : done + 1] or [STOLEN]
        return gg.Pass({"accepted": [calls[0], *made]}, "approve")

    def act(state, run):
        outcomes = yield [gg.Call("tool", call["tool"], call["args"]) for call in state["accepted"][1:]]
        return {"raw_results": [outcome.packed() for outcome in outcomes]}

    def count(state, run):
        return gg.Pass({"results": [*state["results"], *state["accepted"][1:]]})

    bodies = {"action_guard": approve_all, "write_approved": act, "result_guard": count}
    settings = {"budget": ToolBudget(max_same_call=9), "policy": ruled("send_money", approve="always")}
    graph = desk_graph(planning(*steps), desk, checkpointer=InMemorySaver(), bodies=bodies, **settings)
    result = graph.invoke(TASK, THREAD)
    while result["status"] == "waiting":
        shown.append(result["waiting_for"]["shown"]["call"])
        assert not [call for call in desk.made if desk.made.count(call) > shown.count(call)]
        result = graph.invoke(approving(result), THREAD)
    assert not [call for call in desk.made if desk.made.count(call) > shown.count(call)]
    assert result["stop_reason"] in ("success", "not_approved:send_money")

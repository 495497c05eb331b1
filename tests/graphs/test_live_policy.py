"""A live policy: what an operator switches off and denies while runs go on, and what is recorded of it."""

import asyncio
import json
import threading
import time

import pytest
import refund_pattern
from cli_runs import empty_folder, refused, run
from langgraph.checkpoint.memory import InMemorySaver
from rag_agents import NAMED, QUESTION, agent
from runs import masked
from test_licences import TRUSTING
from tool_pattern import PAY, TASK, THREAD, Desk, pattern, planning

from guardgraph import ConfigurationError, RagPolicy, ToolBudget, create_rag_agent, live_policy, replay, what_if
from guardgraph.grammar import Policy
from guardgraph.testing import InMemoryRecorder

folder = pytest.fixture(empty_folder)
WRONG = [{"denied_sources": "all"}, {"denied_source": []}, {"check_values": True}, [], None]


class RefundPolicy(refund_pattern.Policy, Policy):
    """The policy of a pattern that asks a person and can be switched off."""


class Operator:
    """A live policy that a test changes between readings; an exception is raised."""

    def __init__(self, **said):
        self.said, self.readings = said, 0

    def __call__(self):
        self.readings += 1
        if isinstance(self.said, Exception):
            raise self.said
        return self.said


def test_a_switch_ends_runs_at_their_next_guard_and_new_ones_at_their_first():
    operator = Operator()

    def plan(view):
        operator.said = {"enabled": False, "switched": {"by": "ada", "why": "wrong answers"}}
        return NAMED

    live = live_policy(operator, every=0)
    stopped = agent(planner=plan, live=live).invoke(QUESTION)
    assert (stopped["stop_reason"], stopped["phase"]) == ("switched_off", "plan")
    assert stopped["path"] == ["request_guard", "plan", "policy_guard", "stop_budget"]
    assert stopped["details"] == {"by": "ada", "why": "wrong answers"}
    assert agent(live=live).invoke(QUESTION)["path"] == ["request_guard", "stop_budget"]
    operator.said = {"enabled": True}
    assert masked(agent(live=live).invoke(QUESTION)) == masked(agent().invoke(QUESTION))


def test_lists_are_tightened_and_never_loosened():
    """An execution list narrows, a denied list grows, and what the deployment does not allow stays so."""
    live = live_policy(Operator(denied_sources=["support_policy"]), every=0)
    assert agent(NAMED, live=live).invoke(QUESTION)["stop_reason"] == "source_denied_listed:support_policy"
    live = live_policy(Operator(allowed_sources_execution=["billing_policy"]), every=0)
    assert agent(NAMED, live=live).invoke(QUESTION)["stop_reason"] == "source_denied:support_policy"
    wider = live_policy(Operator(allowed_sources_execution=["support_policy", "vault"], enabled=True), every=0)
    context = {"policy": {"allowed_sources_execution": ["billing_policy"], "enabled": False}}
    assert agent(NAMED, live=wider).invoke(QUESTION, context=context)["stop_reason"] == "switched_off"


@pytest.mark.parametrize(("reading", "paid"), [(5, 0), (6, 1)], ids=["before the calls", "between two writes"])
@pytest.mark.parametrize("said", [{"denied_tools": ["send_money"]}, {"enabled": False}], ids=["denied", "switched off"])
def test_a_tool_denied_meanwhile_is_not_called(said, reading, paid):
    """Each licensed call asks again, after the guard has let it through; what was done stays done, and on record."""
    readings, desk, recorder = [{}] * (reading - 1), Desk(), InMemoryRecorder()
    live = live_policy(lambda: readings.pop() if readings else said, every=0)
    made = pattern(planning([PAY, PAY]), desk, bodies=TRUSTING, budget=ToolBudget(max_same_call=2))
    graph = made.compile(checkpointer=InMemorySaver(), recorder=recorder, live=live)
    result = graph.invoke(TASK, THREAD)
    reason = "switched_off" if "enabled" in said else "tool_denied:send_money"
    assert (result["stop_reason"], result["phase"], len(desk.made)) == (reason, "act", paid)
    [kept] = recorder.runs
    assert [call["tool"] for call in kept["calls"] if "effect" in call] == ["send_money"] * paid
    assert replay(graph, kept) == result


@pytest.mark.parametrize("stale_for", [0, 60])
def test_what_cannot_be_read_counts_as_before_for_a_while(stale_for):
    """Then it stops runs, with another reason than a switch; with `stale_for` the lists of before hold on."""
    operator = Operator(denied_sources=["billing_policy"])
    graph = agent(live=live_policy(operator, every=0, stale_for=stale_for))
    assert graph.invoke(QUESTION)["stop_reason"] == "success"
    operator.said = OSError("disk")
    result = graph.invoke(QUESTION)
    if stale_for:
        assert result["trace"][0]["requested_sources"] == ["security_policy", "support_policy"]
    else:
        assert result["stop_reason"] == "policy_unreadable"
        assert result["details"] == {"type": "OSError", "message": "disk"}


@pytest.mark.parametrize("said", [*WRONG, {"denied_sources": {"a"}}, {"switched": {"by": "ada"}}])
def test_what_is_wrong_closes_the_run(said):
    """An unknown field, a setting that is not live, a wrong type: nobody knows what was meant."""
    result = agent(live=live_policy(lambda: said, every=0)).invoke(QUESTION)
    assert (result["stop_reason"], result["details"]["type"]) == ("policy_unreadable", "ConfigurationError")


def test_a_reading_counts_for_its_interval_and_one_that_hangs_has_failed():
    operator = Operator()
    live = live_policy(operator, every=60)
    assert asyncio.run(agent(live=live).ainvoke(QUESTION))["stop_reason"] == "success"
    agent(live=live).invoke(QUESTION)
    assert operator.readings == 1
    slow = live_policy(lambda: time.sleep(5) or {}, every=60, timeout=0.05)
    assert agent(live=slow).invoke(QUESTION)["details"]["type"] == "TimeoutError"


def test_a_source_that_hangs_holds_one_thread():
    """While a reading that was left behind goes on, no other begins; when it is over, the next one counts."""
    release, begun = threading.Event(), threading.Semaphore(0)
    live = live_policy(lambda: begun.release() or (release.wait(120) and {}), every=0, timeout=0.02)
    for _ in range(5):
        assert "unreadable" in live.read(RagPolicy()).reading
    assert begun.acquire(timeout=120)  # a thread of a busy machine begins late
    assert not begun.acquire(blocking=False)
    release.set()
    for _ in range(10_000):
        if "version" in live.read(RagPolicy()).reading:
            break
        time.sleep(0.01)
    assert (begun.acquire(blocking=False), begun.acquire(blocking=False)) == (True, False)


@pytest.mark.parametrize("wrong", [{"source": "a.c"}, {"source": 7}, {"every": -1}, {"stale_for": "1"}, {"timeout": 0}])
def test_a_wrong_argument_is_refused(wrong):
    """With its name and what is allowed; an agent takes nothing else as live policy."""
    with pytest.raises(ConfigurationError, match=next(iter(wrong))):
        live_policy(**{"source": "live.yaml", **wrong})
    with pytest.raises(ConfigurationError, match="live: what live_policy returns"):
        create_rag_agent(live="live.yaml")


def test_each_visit_has_its_reading_and_a_replay_reads_it_again():
    operator, recorder = Operator(), InMemoryRecorder()

    def plan(view):
        operator.said = {"denied_sources": ["support_policy"]}
        return NAMED

    live = live_policy(operator, every=0)
    result = agent(planner=plan, live=live, recorder=recorder).invoke(QUESTION)
    [kept] = recorder.runs
    readings = [visit["live"][0] for visit in kept["visits"] if "live" in visit]
    assert [reading.get("policy") for reading in readings][:4] == [{}, None, operator.said, None]
    assert len({reading["version"] for reading in readings}) == 2
    asked = operator.readings
    assert replay(agent(planner=plan, live=live), json.loads(json.dumps(kept))) == result
    same = what_if(agent(planner=plan, live=live), [kept]).rows[0]
    assert (same.kind, same.new.stop_reason) == ("same", "source_denied_listed:support_policy")
    unknown = what_if(agent(planner=plan), [kept], ignore_live=True).rows[0]
    assert (unknown.kind, unknown.call.node, operator.readings) == ("unknown", "retrieve", asked)


def test_a_switch_off_and_on_loses_no_waiting_review():
    """While it is off an answer does not count and the run goes on waiting for the same; after it, it counts."""
    operator = Operator()
    pattern = refund_pattern.pattern(policy=RefundPolicy())
    graph = pattern.compile(checkpointer=InMemorySaver(), live=live_policy(operator, every=0))
    shown = refund_pattern.waiting(graph)
    operator.said = {"enabled": False, "switched": {"by": "ada", "why": "drill"}}
    off = graph.invoke(refund_pattern.answering(shown), refund_pattern.THREAD)
    assert (off["status"], off["waiting_for"]["hash"]) == ("waiting", shown["waiting_for"]["hash"])
    assert "switched_off (by: ada, why: drill)" in off["waiting_for"]["problem"]
    operator.said = {}
    assert graph.invoke(refund_pattern.answering(off), refund_pattern.THREAD)["outcome"] == "refunded"


def test_a_file_is_read_anew_and_an_empty_one_says_nothing(folder):
    """A switch in the file holds from the next reading on; a file that is written in place is empty at first."""
    live, file = live_policy("live.yaml", every=0), folder / "live.yaml"
    for text, reason in (("{}", "success"), ("enabled: false", "switched_off"), (" ", "policy_unreadable")):
        file.write_text(text, encoding="utf-8")
        assert agent(live=live).invoke(QUESTION)["stop_reason"] == reason


def test_the_command_keeps_what_else_the_file_says(folder):
    name, lists = "live.yaml", "denied_sources:\n  - a\n"
    (folder / name).write_text(f"# for operators\n{lists}", encoding="utf-8")
    said = json.loads(run("policy", "switch", "off", name, "--by", "ada", "--why", 'a "test"', "--json").stdout)
    assert (said["enabled"], said["denied_sources"], said["switched"]["why"]) == (False, ["a"], 'a "test"')
    run("policy", "switch", "on", name, "--by", "ada", "--why", "over")
    text = (folder / name).read_text(encoding="utf-8")
    assert text.count("enabled") == 1
    assert text.endswith(f"# for operators\n{lists}")
    (folder / name).write_text("- broken", encoding="utf-8")
    for wrong in (["on", name, "--why", "x"], ["maybe", name, "--why", "x"], ["on", "live.ini", "--why", "x"]):
        refused(run("policy", "switch", *wrong, "--by", "ada"))
    assert (folder / name).read_text(encoding="utf-8") == "- broken"

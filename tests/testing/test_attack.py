"""Attacks: what they find in an agent that forgets something, and that they find nothing in one that does not."""

import json
import random
import sys
from pathlib import Path
from typing import Any

import attacked_agents
import office_agents
import pytest
from cli_runs import empty_folder, refused, run

from guardgraph.testing import assert_withstands
from guardgraph.testing.attack.attack import attack_agent, build_attacked_agent
from guardgraph.testing.attack.attacker import AttackedRun
from guardgraph.testing.attack.mutants import MUTANTS, forgetting, try_mutants

SUPPORT = Path(attacked_agents.__file__).parent
here = pytest.fixture(autouse=True)(empty_folder)


def attacked(name, runs=60, seed=0):
    return attack_agent(f"attacked_agents:{name}", runs=runs, seed=seed)


@pytest.mark.unreplayable(reason="the mutant is gone when the run is decided again")
@pytest.mark.parametrize("mutant", MUTANTS)
def test_each_mutant_of_the_tool_agent_is_found_and_its_run_is_small(mutant):
    """A guard that forgets lists, approval, review or budget, and a call with another argument than was shown."""
    with forgetting(mutant):
        report = attacked("office", runs=100)
        found = {key: each for key, each in report.found.items() if key[0] == "guard_forgot"}
        assert found
        smallest = min(found.values(), key=lambda each: len(each.smallest["moves"])).smallest
        assert len(smallest["moves"]) <= 8
        with pytest.raises(AssertionError, match="guard_forgot"):
            assert_withstands("attacked_agents:office", smallest)
    assert_withstands("attacked_agents:office", smallest)


@pytest.mark.parametrize("name", ["office", "rag", "research", "critique", "guarded", "refund"])
def test_nothing_is_found_in_an_agent_that_keeps_its_word(name):
    """The four agents, one of LangChain's with both middlewares, and a pattern of one's own."""
    report = attacked(name)
    assert report.found == {}
    assert len(report.endings) > 3
    assert report.endings.total() == 60


def test_an_agent_without_guards_does_what_results_say_and_answers_what_nothing_says():
    report = attacked("plain", runs=120)
    kinds = {key[0] for key in report.found}
    assert {"unlicensed_call", "invented_answer"} <= kinds
    money = report.found["unlicensed_call", "send_money"]
    assert "stands in a result alone" in money.said
    assert report.unruled["send_money"] >= money.runs


@pytest.mark.unreplayable(reason="the mutant is gone when the run is decided again")
@pytest.mark.parametrize(("mutant", "kind"), [("review", "refused_call"), ("argument", "other_call")])
def test_a_pattern_without_licences_is_judged_at_its_tools(mutant, kind):
    """What a person rejected is paid, or something else than what they saw."""
    with forgetting(mutant):
        assert kind in {key[0] for key in attacked("refund", runs=25).found}


def test_the_same_seed_makes_the_same_runs():
    first, again, other = (attacked("guarded", 12, seed).plain() for seed in (1, 1, 2))
    assert {**first, "seconds": 0} == {**again, "seconds": 0}
    assert first["endings"] != other["endings"]


def test_nothing_leaves_the_machine_and_the_report_names_what_would_have():
    report = attacked("calling", runs=20)
    assert report.refused_hosts == ["192.0.2.7"]
    assert "tool_unavailable:<tool>" not in report.never or "tool_invalid_output:<tool>" not in report.never


def test_a_trusted_field_is_not_poisoned():
    """The attacker writes where anybody could, and not into what the tool's owner sets."""
    agent = build_attacked_agent("attacked_agents:office")
    assert agent.attacker.policy.rules == attacked_agents.RULES
    brought = list[Any]()
    for number in range(60):
        agent.make_run(AttackedRun(agent.requests[0], random.Random(number)))
        brought += [value for tool, value in agent.attacker.run.brought if tool == "find_contact"]
    whole = [value for value in brought if isinstance(value, dict) and "email" in value]
    assert {value["email"] for value in whole} == {"ines@house.example"}
    assert len({value["note"] for value in whole}) > 1


def test_the_command_prints_endings_and_findings_and_writes_tests(here, monkeypatch):
    monkeypatch.syspath_prepend(str(SUPPORT))
    done = run("attack", "attacked_agents:plain", "--runs", "30", "--write", "test_found.py")
    assert done.exit_code == 3
    assert "unlicensed_call" in done.stdout
    assert "performed, and named by no rule" in done.stdout
    written: dict[str, object] = {}
    exec(compile((here / "test_found.py").read_text(), "test_found.py", "exec"), written)
    tests = [each for name, each in written.items() if name.startswith("test_")]
    assert len(tests) == " ".join(done.stdout.split()).count("moves at least)")
    with pytest.raises(AssertionError, match=r"unlicensed_call|invented_answer"):
        tests[0]()
    held = run("attack", "attacked_agents:office", "--runs", "5", "--json", "--write", "none.py")
    said = json.loads(held.stdout)
    assert (held.exit_code, said["findings"], said["runs"]) == (0, [], 5)
    assert "max_cost" in said["never_reached"]
    assert not (here / "none.py").exists()


SUITE = """
import sys
sys.path.insert(0, {support!r})
from office_agents import READ, RULES, STOLEN, THREAD, answer_question, calls, office_agent
from guardgraph import ToolPolicy

TASK = {{"task": "Read bill b7."}}

def test_a_denied_tool():
    denies = ToolPolicy(rules=RULES, denied_tools=["read_bill"])
    result = office_agent(calls(READ), {{"answer": "Done."}}, policy=denies).invoke(TASK, THREAD)
    assert (result["stop_reason"], result["phase"]) == ("tool_denied:read_bill", "plan")

def test_a_stolen_sum_waits():
    made = office_agent(calls(READ), calls(STOLEN), {{"answer": "Done."}})
    assert answer_question(made, made.invoke(TASK, THREAD), "reject")["status"] == "stopped"
"""


@pytest.mark.process
def test_mutants_say_what_the_own_tests_notice(here):
    """A test of the list notices the list; one that looks at the status alone does not notice the review."""
    (here / "test_own.py").write_text(SUITE.format(support=str(Path(office_agents.__file__).parent)))
    tests = f"{sys.executable} -m pytest -q -p no:cacheprovider test_own.py"
    tried = try_mutants(tests, ["lists", "review", "argument"])
    assert tried == {"lists": "noticed", "review": "unnoticed", "argument": "unused"}


def test_a_wrong_word_is_one_line():
    for arguments, said in (
        (["nothing"], "module:factory is required"),
        (["attacked_agents:missing"], "no attribute 'missing'"),
        (["attacked_agents:without_attacker"], "unexpected keyword argument 'attacker'"),
        (["attacked_agents:office", "--runs", "0"], "--runs: a number from 1 to 100000 is required; given: 0"),
        (["attacked_agents:office", "--write", "found.txt"], "--write: a file that ends in .py is required"),
        (["attacked_agents:office", "--runs", "1", "--tests", "make test"], "--tests: a command of pytest is required"),
    ):
        assert said in refused(run("attack", *arguments))

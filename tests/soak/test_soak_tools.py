"""Three thousand runs of the tool agent in which anything is proposed: no call is made without a licence."""

from collections import Counter

import laundering
import measured
import pytest
import read_first
from fuzzed_office import NAMES, Office
from test_fuzzed_agents import run_random_agent

from guardgraph.testing.attack.attack import attack_agent

RUNS = 3_000
AGENTS = ("office", "rag", "research", "critique", "guarded", "refund")


def test_no_unlicensed_call_is_made():
    """Whatever is proposed and found, what the tools were called with was given, trusted or approved."""
    office, endings, kinds = Office(), Counter(), set()
    for seed in range(RUNS):
        endings[office.run(seed).name.partition(":")[0]] += 1
        assert office.list_unlicensed() == [], seed
        kinds |= {(call.tool, type(value).__name__) for call in office.last.performed for value in call.args.values()}
    print(endings.most_common())
    assert endings["ok"] > RUNS / 100
    assert endings.total() == RUNS
    assert kinds >= {(name, kind) for name in NAMES for kind in ("str", "int", "list", "bool", "NoneType")}


def test_three_thousand_attacks_by_reading_first():
    """An adaptive obedient proposer over an airline's tools: no write that its chain does not license."""
    desk = laundering.Desk()
    for seed in range(RUNS):
        desk.run(seed)
        assert desk.list_unlicensed() == [], seed


def test_three_thousand_attacks_by_reading_first_over_public_tools():
    """As above, over tau2-bench and AgentDojo: no write that its chain does not license, counted at the tools."""
    try:
        figures = dict(read_first.measure_sets(RUNS, read_first.SETS))
    except measured.Skip as skip:
        pytest.skip(f"{skip}: make peers")
    print(figures)
    assert figures["runs"] == RUNS
    for name in read_first.SETS:
        assert figures[f"{name}_writes_unlicensed"] == 0
        assert figures[f"{name}_foreign_writes_tried"] > figures[f"{name}_runs"] / 3
        assert figures[f"{name}_writes"] > 0


def test_two_thousand_agents_of_langchain_make_no_unlicensed_call():
    """Any replies, orders of middlewares, streams, cancellation; no refused word is shown, and recordings hold."""
    for seed in range(2_000):
        run_random_agent(seed)


def test_two_thousand_attacks_find_nothing_in_agents_that_keep_their_word():
    """The four agents, one of LangChain's with both middlewares, and a pattern of one's own, as the command attacks."""
    for name in AGENTS:
        report = attack_agent(f"attacked_agents:{name}", runs=2_000)
        print(name, report.endings.most_common(5), f"{report.seconds:.0f} s")
        assert report.found == {}, name

"""Budgets of tenants in a store: right for many processes, and for those that are killed."""

import asyncio
import json
import sys
from datetime import UTC, datetime
from threading import Event
from types import SimpleNamespace

import pytest
from langchain_core.messages import AIMessage
from runs import run
from stored_runs import make_url
from tenant_writers import INTENT, QUESTION, TIMEOUT, ask, begun_by_processes, kill_in_call, tenant_agent

import guardgraph as g
from guardgraph import serving
from guardgraph.testing import InMemoryRecorder, ScriptedChatModel
from guardgraph.tools.demo import load_tools_demo
from guardgraph.world.tenants import Account, Charge, Overdrawn, Reserved

url = pytest.fixture(params=["sqlite", "postgres"])(make_url)

ANSWER = {"answer": "P1 incidents get a first response within 15 minutes.", "citations": ["doc_sla_enterprise_v3"]}
ACME = {"caller": {"tenant": "acme", "user": "u"}}
DAY = Account("acme", "2026-11-23", "tokens")


@pytest.mark.process
def test_sixteen_processes_never_begin_a_call_beyond_a_budget(url):
    """Of 40 calls that a tenant has, sixteen processes that ask at once begin just 40."""
    told = begun_by_processes(url, processes=16, limit=40)
    assert sum(begun for begun, _ in told) == 40
    assert {failed["reason"] for _, failed in told} == {"tenant_budget:max_tool_calls"}
    assert all(failed["details"]["spent"] + failed["details"]["reserved"] == 40 for _, failed in told)
    [balance] = g.sql_store(url, timeout=TIMEOUT).balances()
    assert (balance.account.tenant, balance.spent, balance.reserved) == ("acme", 40, 0)


@pytest.mark.process
def test_the_reservation_of_a_killed_process_holds_until_it_lapses(url):
    """What a dead process reserved counts as long as its call could have gone on, and no longer."""
    kill_in_call(url, limit=1)
    [balance] = g.sql_store(url, timeout=TIMEOUT).balances()
    assert (balance.spent, balance.reserved) == (0, 1)
    refused = ask(tenant_agent(url, [g.TenantBudget(max_llm_calls=1)], lambda view: INTENT))
    assert (refused["stop_reason"], refused["details"]["reserved"]) == ("tenant_budget:max_llm_calls", 1)
    assert refused["usage"]["calls"] == 0


def test_what_lapsed_is_free_for_others_and_is_counted(url):
    """Who finds no room takes back what lapsed; a late settlement counts; a reservation takes all accounts or none."""
    store = g.sql_store(url)
    charge = Charge(DAY, 60, 100)
    dead = store.reserve([charge], seconds=-1)
    alive = store.reserve([charge], seconds=600)
    assert isinstance(dead, Reserved)
    assert isinstance(alive, Reserved)
    assert isinstance(store.reserve([charge], seconds=600), Overdrawn)
    store.settle(alive, [30])
    store.settle(dead, [20])
    [balance] = store.balances()
    assert (balance.spent, balance.reserved, balance.lapsed) == (50, 0, 60)
    month = Account("acme", "2026-11", "tokens")
    refused = store.reserve([Charge(DAY, 5, 100), Charge(month, 5, 4)], seconds=60)
    assert isinstance(refused, Overdrawn)
    assert (refused.charge.account, store.balances()) == (month, [balance])
    assert isinstance(store.reserve([Charge(DAY, 50, 100)], seconds=60), Reserved)


def test_tenants_have_budgets_of_their_own_for_a_day_and_a_month(tmp_path):
    """A named tenant has its own budget, all others each the common one; a refusal names the period."""
    store = g.sql_store(f"sqlite:///{tmp_path}/runs.db")
    model = ScriptedChatModel(INTENT, ANSWER, INTENT, ANSWER, INTENT, loop=True)
    big = [g.TenantBudget(period="month", max_llm_calls=3), g.TenantBudget(max_tokens=10**6)]
    world = g.TenantWorld(store, [g.TenantBudget(max_llm_calls=2)], tenants={"big": big})
    agent = g.create_rag_agent(model, world=world)
    assert ask(agent, "small")["status"] == "ok"
    assert ask(agent, "small")["details"]["period"] == datetime.now(UTC).strftime("%Y-%m-%d")
    assert ask(agent, "other")["status"] == "ok"
    stopped = ask(agent, "big")
    assert stopped["stop_reason"] != "tenant_budget:max_llm_calls" or stopped["details"]["limit"] == 3
    units = {(balance.account.tenant, balance.account.unit) for balance in store.balances()}
    assert units == {("small", "llm_calls"), ("other", "llm_calls"), ("big", "llm_calls"), ("big", "tokens")}


def test_a_tenant_is_charged_what_models_say_and_no_more(tmp_path):
    """Reserved is the bound, spent is the usage; sync and async runs are charged by the same place."""
    store = g.sql_store(f"sqlite:///{tmp_path}/runs.db")
    model = ScriptedChatModel(INTENT, ANSWER, INTENT, ANSWER)
    budgets = [g.TenantBudget(max_tokens=10**6, max_cost=1.0), g.TenantBudget(period="month", max_cost=5)]
    world = g.TenantWorld(store, budgets)
    budget = g.RagBudget(max_output_tokens=100, prices={"scripted": {"input": 1, "output": 2}})
    agent = g.create_rag_agent(model, world=world, budget=budget)
    first, second = ask(agent), asyncio.run(agent.ainvoke(QUESTION))
    amounts = {(item.account.tenant, item.account.unit): item for item in store.balances()}
    assert amounts["acme", "tokens"].spent == first["usage"]["tokens"]
    assert amounts["", "tokens"].spent == second["usage"]["tokens"]
    assert amounts["acme", "cost"].spent == round(first["usage"]["cost"] * 10**9)
    assert all(item.reserved == 0 for item in amounts.values())


@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
def test_each_attempt_is_charged_by_the_price_of_whom_it_asks(mode, tmp_path):
    """Inside a `ResilientWorld` a failed attempt and a fallback are calls of their own, each at its model's price."""
    store = g.sql_store(f"sqlite:///{tmp_path}/runs.db")
    usage = {"input_tokens": 100, "output_tokens": 10, "total_tokens": 110}
    second = ScriptedChatModel(AIMessage(json.dumps(ANSWER), usage_metadata=usage), model_name="second")
    first = ScriptedChatModel(ConnectionError("reset"), loop=True)
    prices = {"scripted": {"input": 1, "output": 1}, "second": {"input": 100, "output": 100}}
    budget = g.RagBudget(max_output_tokens=50, prices=prices)
    charged = g.TenantWorld(store, [g.TenantBudget(max_llm_calls=9, max_cost=1)])
    world = g.ResilientWorld(charged, attempts=2, wait=0.001, fallbacks=[second])
    recorder = InMemoryRecorder()
    agent = g.create_rag_agent(first, planner=lambda view: INTENT, world=world, budget=budget, recorder=recorder)
    result = run(agent, QUESTION, mode)
    assert result["status"] == "ok"
    amounts = {item.account.unit: item for item in store.balances()}
    assert amounts["llm_calls"].spent == len(first.calls) + len(second.calls) == 3
    assert amounts["cost"].spent == round(result["usage"]["cost"] * 10**9) > 11_000_000
    assert all(item.reserved == 0 for item in amounts.values())
    assert g.replay(agent, recorder.runs[0]) == result


def test_a_store_that_fails_lets_nothing_be_called():
    """Where nobody knows what is left, no call begins, and the stop says why."""

    def reserve(charges, *, seconds):
        raise g.StoreError("the disk is full")

    model = ScriptedChatModel(INTENT, ANSWER)
    world = g.TenantWorld(SimpleNamespace(reserve=reserve, settle=pytest.fail), [g.TenantBudget(max_llm_calls=5)])
    result = ask(g.create_rag_agent(model, world=world))
    assert (result["stop_reason"], model.calls) == ("tenant_budget_unavailable", [])
    assert result["details"] == {"type": "StoreError", "message": "the disk is full"}


def test_who_is_cancelled_while_reserving_holds_nothing(tmp_path):
    """No call was made, so what is reserved a moment later is given back at once, and does not wait to lapse."""
    store, asked, gate, settled = g.sql_store(f"sqlite:///{tmp_path}/runs.db"), Event(), Event(), Event()

    def reserve(charges, *, seconds):
        asked.set()
        assert gate.wait(60)
        return store.reserve(charges, seconds=seconds)

    def settle(reserved, amounts):
        store.settle(reserved, amounts)
        settled.set()

    model, slow = ScriptedChatModel(INTENT, ANSWER), SimpleNamespace(reserve=reserve, settle=settle)
    agent = g.create_rag_agent(model, world=g.TenantWorld(slow, [g.TenantBudget(max_llm_calls=5, max_tokens=10**6)]))

    async def give_up():
        running = asyncio.create_task(agent.ainvoke(QUESTION))
        assert await asyncio.to_thread(asked.wait, 60)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(give_up())
    gate.set()
    assert settled.wait(60)
    assert ([(item.spent, item.reserved) for item in store.balances()], model.calls) == ([(0, 0)] * 2, [])


def test_wrong_arguments_are_named(tmp_path):
    """What is no ledger, no budget or no period is an error that says what is allowed."""
    store = g.sql_store(f"sqlite:///{tmp_path}/runs.db")
    with pytest.raises(g.ConfigurationError, match="ledger: one with reserve and settle is required"):
        g.TenantWorld("runs.db")
    five, none = g.TenantBudget(max_tokens=5), g.TenantBudget(period="month")
    limits = "one of max_llm_calls, max_tool_calls, max_tokens, max_cost is required"
    for said, given in (
        ("budgets: a list of TenantBudget is required", {"budgets": five}),
        ("budgets: one budget for each period is allowed; given: day, day", {"budgets": [five, five]}),
        (rf"^tenants.acme\.1: {limits}; given: none of them", {"tenants": {"acme": [five, none]}}),
        ("tenants.acme: a list of TenantBudget is required", {"tenants": {"acme": 5}}),
        *(("tenants: a mapping of names to budgets", {"tenants": each}) for each in (5, [("acme", [])], {1: []})),
        ("world: an object with clock, .* is required; given: 5", {"world": 5}),
    ):
        with pytest.raises(g.ConfigurationError, match=said):
            g.TenantWorld(store, **given)


WORLDS = """
from guardgraph import Breakers, ResilientWorld, TenantBudget, TenantWorld, sql_store

def charged():
    store = sql_store("sqlite:///spending.db")
    return ResilientWorld(TenantWorld(store, [TenantBudget(max_tool_calls=1)]), breakers=Breakers())

def none():
    return 7
"""


def test_served_agents_share_the_world_and_the_switch_of_the_environment(tmp_path, monkeypatch):
    """Of all graphs of a server one account is charged, and one file switches them off; a wrong variable is named."""
    (tmp_path / "our_worlds.py").write_text(WORLDS, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "our_worlds", raising=False)
    monkeypatch.setenv("GUARDGRAPH_WORLD", "our_worlds:charged")
    monkeypatch.setenv("GUARDGRAPH_LIVE", "live.yaml")
    with pytest.raises(g.ConfigurationError, match=r"GUARDGRAPH_LIVE: a file is required; given: 'live.yaml'"):
        asyncio.run(serving.rag())
    g.switch_live_policy("live.yaml", on=True, by="ada", why="go")
    rag, tools = asyncio.run(serving.rag()), asyncio.run(serving.tools())
    assert rag.frame.world is tools.frame.world
    results = [ask(rag), tools.invoke(load_tools_demo(), context=ACME)]
    assert [result["stop_reason"].partition(":")[0] for result in results] == ["success", "tenant_budget"]
    g.switch_live_policy("live.yaml", on=False, by="ada", why="stop")
    rag.frame.live.every = 0
    assert [ask(rag)["stop_reason"], tools.invoke({"task": "x"}, context=ACME)["stop_reason"]] == ["switched_off"] * 2
    monkeypatch.setenv("GUARDGRAPH_WORLD", "our_worlds:none")
    with pytest.raises(g.ConfigurationError, match=r"^GUARDGRAPH_WORLD 'our_worlds:none': world: "):
        asyncio.run(serving.rag())

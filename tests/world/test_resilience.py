"""Further attempts, fallback models and circuit breakers, against a real server that answers 429, 500, and hangs."""

import asyncio
import json
import logging
import threading
import time
from dataclasses import replace
from types import SimpleNamespace

import httpx
import pytest
from openai_server import OpenAIServer, answer, drip, status
from rag_agents import ANSWER, INTENT, QUESTION
from runs import masked
from tables import each_row

import guardgraph as g
from guardgraph.state.spending import Spending
from guardgraph.testing import InMemoryRecorder, ScriptedClock, scripted_tool
from guardgraph.world import resilient as breakers_module
from guardgraph.world.call import Asked, Call
from guardgraph.world.named_models import chat_model
from guardgraph.world.resilient import MAX_CIRCUITS, Refusal, name_circuit

ANSWERED = answer(json.dumps(ANSWER))


@pytest.fixture
def circuit_clock(monkeypatch):
    """A clock that circuits go by, and that only a test moves."""
    clock = ScriptedClock()
    monkeypatch.setattr(breakers_module, "time", SimpleNamespace(monotonic=clock))
    return clock


QUICK = {"wait": 0.01, "max_wait": 0.02}


def model_of(server, name="test-model"):
    return chat_model(f"openai:{name}", environ=server.environ())


def agent_on(server, world, recorder=None, **given):
    given |= {"world": world, "recorder": recorder or InMemoryRecorder()}
    return g.create_rag_agent(planner=lambda view: INTENT, model=model_of(server), **given)


def generated(recorder):
    return next(call for call in recorder.runs[-1]["calls"] if call["node"] == "generate")


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_a_busy_server_is_asked_again_when_it_says(is_async, caplog):
    """Not before Retry-After; attempts, waits, model and usage are on record, and our logger has the line."""
    recorder = InMemoryRecorder()
    with OpenAIServer(status(429, retry_after="1"), ANSWERED) as server, caplog.at_level(logging.WARNING):
        graph = agent_on(server, g.ResilientWorld(**QUICK), recorder)
        began = time.monotonic()
        result = asyncio.run(graph.ainvoke(QUESTION)) if is_async else graph.invoke(QUESTION)
        assert time.monotonic() - began >= 1.0
    assert (result["outcome"], len(server.requests)) == ("grounded_answer", 2)
    first, second = generated(recorder)["attempts"]
    assert (first["reason"], first["details"], first["model"]) == ("llm_rate_limited", {"status": 429}, "test-model")
    assert second["waited"] >= 1.0
    assert second["usage"]["total_tokens"] == 18
    assert "reason" not in second
    lines = [record for record in caplog.records if "another attempt in" in record.getMessage()]
    assert [record.name for record in lines] == ["guardgraph"]
    assert "llm_rate_limited, status 429" in lines[0].getMessage()
    assert not [record for record in caplog.records if record.name == "stamina"]
    assert masked(g.replay(graph, json.loads(json.dumps(recorder.runs[0])))) == masked(result)


@pytest.mark.parametrize(("code", "requests", "reason"), [(500, 3, "llm_unavailable"), (401, 1, "llm_auth")])
def test_what_passes_is_tried_as_often_as_allowed_and_the_rest_once(code, requests, reason):
    recorder = InMemoryRecorder()
    with OpenAIServer(status(code)) as server:
        result = agent_on(server, g.ResilientWorld(**QUICK), recorder).invoke(QUESTION)
    assert (result["stop_reason"], len(server.requests)) == (reason, requests)
    assert len(generated(recorder).get("attempts", ["one"])) == requests


def test_a_run_without_time_for_the_wait_ends_at_once():
    """It does not sit the wait out; a what-if with more time knows that nobody knows."""
    recorder = InMemoryRecorder()
    with OpenAIServer(status(429, retry_after="60")) as server:
        graph = agent_on(server, g.ResilientWorld(**QUICK), recorder, budget=g.RagBudget(max_seconds=20.0))
        began = time.monotonic()
        result = graph.invoke(QUESTION)
        assert time.monotonic() - began < 15
        assert (result["stop_reason"], result["details"]["retry_after"]) == ("llm_rate_limited", 60.0)
        [attempt] = generated(recorder)["attempts"]
        assert attempt["no_time"] is True
        longer = agent_on(server, g.ResilientWorld(), budget=g.RagBudget(max_seconds=100.0))
        rows = g.what_if(graph, recorder.runs).rows + g.what_if(longer, recorder.runs).rows
    assert [row.kind for row in rows] == ["same", "unknown"]
    assert "want of time" in rows[1].call.difference


def test_a_model_that_hangs_gives_way_to_the_next():
    """After `attempt_seconds`; the record says who replied, and what came before."""
    recorder = InMemoryRecorder()
    with OpenAIServer(drip()) as hanging, OpenAIServer(ANSWERED) as standing:
        given = {"attempts": 1, "attempt_seconds": 0.5, **QUICK}
        world = g.ResilientWorld(fallbacks=[model_of(standing, "second-model")], **given)
        result = agent_on(hanging, world, recorder).invoke(QUESTION)
        assert (len(hanging.requests), len(standing.requests)) == (1, 1)
    assert (result["outcome"], result["history"][-1]["proposer"]) == ("grounded_answer", "second-model")
    first, second = generated(recorder)["attempts"]
    assert (first["reason"], first["details"]) == ("llm_timeout", {"cause": "timeout"})
    assert (second["model"], second["usage"]["total_tokens"]) == ("second-model", 18)


def test_an_open_circuit_asks_nobody_and_one_probe_closes_it(circuit_clock):
    """After two failures in a row the third run stops at once; later one call of many goes through as a probe."""
    world = g.ResilientWorld(attempts=1, breakers=g.Breakers(failures=2, open_seconds=1.0))
    with OpenAIServer(status(500), status(500), ANSWERED) as server:
        graph = agent_on(server, world)
        assert [graph.invoke(QUESTION)["stop_reason"] for _ in range(2)] == ["llm_unavailable"] * 2
        stopped = graph.invoke(QUESTION)
        assert (stopped["stop_reason"], stopped["phase"]) == ("llm_circuit_open", "generate")
        assert (stopped["details"]["circuit"], len(server.requests)) == ("model test-model", 2)
        circuit_clock.advance(1.1)
        assert graph.invoke(QUESTION)["stop_reason"] == "success"
        assert graph.invoke(QUESTION)["stop_reason"] == "success"


def ask(target, **given):
    return Asked(Call("tool", target, given.pop("request", {}), **given), "node", 1, 1)


def test_half_open_lets_one_through_and_healthy_calls_go_side_by_side(circuit_clock):
    """Four calls meet while all is well; of four at a half-open circuit one is made, and the others are refused."""
    together, gate, probing = threading.Barrier(4), threading.Event(), threading.Event()
    calls = []
    world = g.ResilientWorld(attempts=1, breakers=g.Breakers(failures=1, open_seconds=0.2))
    performed = world.perform([ask(lambda request: together.wait(timeout=20) >= 0) for _ in range(4)], 30)
    assert [item.outcome.content for item in performed] == [True] * 4

    def fail_then_wait(request):
        calls.append(request)
        if len(calls) == 1:
            raise ConnectionError("refused")
        probing.set()
        gate.wait(20)
        return "up"

    assert world.perform([ask(fail_then_wait)], 5)[0].outcome.content["details"]["cause"] == "connection"
    circuit_clock.advance(0.3)
    probe = []
    thread = threading.Thread(target=lambda: probe.extend(world.perform([ask(fail_then_wait)], 30)))
    thread.start()
    assert probing.wait(30)
    refused = [world.perform([ask(fail_then_wait)], 5)[0].outcome.content["reason"] for _ in range(3)]
    assert refused == ["tool_circuit_open"] * 3
    gate.set()
    thread.join(30)
    assert probe[0].outcome.content == "up"
    assert world.perform([ask(fail_then_wait)], 5)[0].outcome.content == "up"


@pytest.mark.parametrize("how", ["cancelled", "no room", "cut off"])
def test_a_probe_that_tells_nothing_closes_no_circuit(how, tmp_path, circuit_clock):
    """One that was cancelled, not made, or cut off with its run: the next call is the probe."""
    made, ended = [], threading.Event()

    def call(request):
        made.append(request)
        if len(made) == 1:
            raise ConnectionError("refused")
        ended.wait(30)

    tenants = g.TenantWorld(g.sql_store(f"sqlite:///{tmp_path}/runs.db"), [g.TenantBudget(max_tool_calls=1)])
    charged = replace(ask(call), reserved=Spending(tool_calls=how == "no room"))
    breakers = g.Breakers(failures=1, open_seconds=0.2)
    world = g.ResilientWorld(tenants, attempts=1, breakers=breakers)
    assert world.perform([charged], 5)[0].outcome.content["details"]["cause"] == "connection"
    circuit_clock.advance(0.3)
    if how == "cancelled":

        async def give_up():
            await asyncio.wait_for(world.aperform([charged], 5), 0.1)

        with pytest.raises(TimeoutError):
            asyncio.run(give_up())
    else:
        told = world.perform([charged], 0.1)[0].outcome.content
        assert (told["details"].get("limit"), len(made)) == ((1, 1) if how == "no room" else ("max_seconds", 2))
    ended.set()
    breaker = breakers.get_breaker(name_circuit(charged.call)[1])
    assert isinstance(breaker.admit(), int)
    assert isinstance(breaker.admit(), Refusal)


def test_the_circuit_of_a_page_is_that_of_its_host():
    """One host that is down says nothing of another, though one tool reads both; what reads no page has its tool's."""

    def call(request):
        if "up" in request.get("url", ""):
            return "page"
        raise ConnectionError("refused")

    world = g.ResilientWorld(attempts=1, breakers=g.Breakers(failures=1, open_seconds=60))

    def told(**given):
        return world.perform([ask(call, **given)], 5)[0].outcome.content

    assert told(request={"url": "https://down.example/a"})["reason"] == "tool_error"
    assert told(request={"url": "https://down.example/b"})["details"]["circuit"] == "host down.example"
    assert told(request={"url": "https://up.example/"}) == "page"
    assert told(tool="pay")["reason"] == "tool_error"
    assert told(tool="pay")["details"]["circuit"] == "tool pay"


def test_a_failing_tool_is_called_again_and_its_open_circuit_stops_the_run():
    """A retriever whose server answers 500 once is asked again; one that goes on so is left alone."""
    with OpenAIServer(status(500), ANSWERED, status(500)) as server:

        def retrieve(request):
            httpx.post(f"{server.url}/x", json={}).raise_for_status()
            return []

        policy = g.RagPolicy(allowed_sources_policy=["a"], allowed_sources_execution=["a"])
        world = g.ResilientWorld(attempts=2, breakers=g.Breakers(failures=2, open_seconds=60), **QUICK)
        recorder = InMemoryRecorder()
        graph = g.create_rag_agent(retriever=retrieve, policy=policy, world=world, recorder=recorder)
        assert graph.invoke(QUESTION)["outcome"] == "clarify"
        assert graph.invoke(QUESTION)["stop_reason"] == "tool_invalid_output:retrieve"
        result = graph.invoke(QUESTION)
    assert (result["stop_reason"], result["phase"]) == ("tool_circuit_open:retrieve", "retrieve")
    assert len(server.requests) == 4
    call = next(call for call in recorder.runs[0]["calls"] if call["kind"] == "tool")
    assert [attempt.get("details") for attempt in call["attempts"]] == [{"status": 500}, None]
    assert [g.replay(graph, kept) == kept["result"] for kept in recorder.runs] == [True] * 3


@each_row(
    ("given", "key", "calls"),
    ({"effect": "write", "tool": "pay"}, None, 1),
    ({"effect": "write", "tool": "pay", "idempotent": True}, None, 1),
    ({"effect": "write", "tool": "pay", "idempotent": True}, "k1", 3),
    ({}, None, 3),
)
def test_a_write_is_repeated_only_with_its_key(given, key, calls):
    """A tool that may have acted is not called once more, unless it knows the write again by its key."""
    pay = scripted_tool(ConnectionError("broken off"), loop=True)
    [performed] = g.ResilientWorld(**QUICK).perform([replace(ask(pay, **given), key=key)], 5)
    assert (performed.outcome.content["reason"], len(pay.calls)) == ("tool_error", calls)


@each_row(
    "wrong", {"attempts": 0}, {"max_wait": float("inf")}, {"attempt_seconds": 0}, {"fallbacks": "openai"}, {"world": 3}
)
def test_a_wrong_argument_is_refused(wrong):
    with pytest.raises(g.ConfigurationError, match=f"^{next(iter(wrong))}: "):
        g.ResilientWorld(**wrong)
    for name, none in (("failures", 0), ("open_seconds", float("inf"))):
        with pytest.raises(g.ConfigurationError, match=f"^{name}: "):
            g.Breakers(**{name: none})


def test_circuits_are_bounded_and_those_that_failed_stay():
    """Hosts without end leave a bounded number of circuits; the open one among them stays open."""
    breakers = g.Breakers(failures=1, open_seconds=60)
    bad = breakers.get_breaker(("host", "bad"))
    bad.settle(bad.admit(), failed=True)
    for number in range(3 * MAX_CIRCUITS):
        circuit = breakers.get_breaker(("host", str(number)))
        circuit.settle(circuit.admit(), failed=False)
    assert isinstance(breakers.get_breaker(("host", "bad")).admit(), Refusal)
    assert len(breakers._circuits) == MAX_CIRCUITS

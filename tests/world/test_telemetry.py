"""Telemetry: spans and metrics of runs, nodes and calls, as OpenTelemetry's SDK keeps them."""

import asyncio
import json
import logging
import re
import time
from pathlib import Path

import pytest
import refund_pattern
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from openai_server import OpenAIServer, answer, status
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind
from rag_agents import ANSWER, INTENT, QUESTION
from runs import run

import guardgraph as g
from guardgraph.testing import InMemoryRecorder
from guardgraph.world.named_models import chat_model
from guardgraph.world.telemetry import METRICS

SECRETS = ("P1 first response", "15 minutes", "doc_sla")
"""Words of the question, the answer and the documents."""


class Watched:
    def __init__(self):
        self.exporter, self.reader = InMemorySpanExporter(), InMemoryMetricReader()
        self.tracer_provider = TracerProvider()
        self.tracer_provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.meter_provider = MeterProvider([self.reader])

    def world(self, inside=None, **given):
        given |= {"tracer_provider": self.tracer_provider, "meter_provider": self.meter_provider}
        return g.TelemetryWorld(inside, **given)

    @property
    def spans(self):
        return self.exporter.get_finished_spans()

    def named(self, name):
        return [span for span in self.spans if span.name == name]

    def parent_names(self):
        names = {span.context.span_id: span.name for span in self.spans}
        return {span.name: names.get(span.parent.span_id) if span.parent else None for span in self.spans}

    def points(self, name):
        data = self.reader.get_metrics_data()
        scopes = [scope for each in data.resource_metrics for scope in each.scope_metrics] if data else []
        named = [item for scope in scopes for item in scope.metrics if item.name == name]
        return [point for item in named for point in item.data.data_points]


def test_a_run_has_spans_and_metrics_by_the_conventions_names():
    """Run, nodes, guards and calls are nested spans; runs, tokens and costs are metrics."""
    watched = Watched()
    with OpenAIServer(answer(json.dumps(INTENT)), answer(json.dumps(ANSWER))) as server:
        prices = {"test-model": {"input": 1.0, "output": 2.0}}
        budget = g.RagBudget(prices=prices, max_output_tokens=500)
        model = chat_model("openai:test-model", environ=server.environ())
        assert g.create_rag_agent(model, world=watched.world(), budget=budget).invoke(QUESTION)["status"] == "ok"
    spans, parents = {span.name: span for span in watched.spans}, watched.parent_names()
    assert {span.context.trace_id for span in watched.spans} == {spans["invoke_agent rag"].context.trace_id}
    assert parents["invoke_agent rag"] is None
    assert parents["chat test-model"] == "propose generate"
    kinds = [spans[name].kind for name in ("chat test-model", "guard policy_guard")]
    assert kinds == [SpanKind.CLIENT, SpanKind.INTERNAL]
    assert parents["guard policy_guard"] == "invoke_agent rag"
    assert spans["invoke_agent rag"].attributes["gen_ai.operation.name"] == "invoke_agent"
    assert spans["guard policy_guard"].attributes["guardgraph.verdict"] == "pass"
    told = {"operation.name": "chat", "provider.name": "openai", "request.model": "test-model"}
    told |= {"request.max_tokens": 500, "usage.input_tokens": 11, "usage.output_tokens": 7}
    assert {name: spans["chat test-model"].attributes[f"gen_ai.{name}"] for name in told} == told
    [ended] = watched.points("guardgraph.runs")
    assert ended.value == 1
    tokens = watched.points("gen_ai.client.token.usage")
    assert {point.attributes["gen_ai.token.type"]: point.sum for point in tokens} == {"input": 22, "output": 14}
    assert all("error.type" not in point.attributes for point in watched.points("gen_ai.client.operation.duration"))
    [cost] = watched.points("guardgraph.cost")
    assert cost.value == pytest.approx((22 * 1 + 14 * 2) / 1e6)


@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
def test_spans_of_a_tool_are_inside_the_span_of_its_call(mode):
    """What a tool does in the call's thread belongs to the call, also where several tools are at work at once."""
    watched = Watched()
    tracer = watched.tracer_provider.get_tracer("tool")

    def reading(name):
        def read(id: str) -> str:
            """Read it."""
            with tracer.start_as_current_span(f"inside {name}"):
                time.sleep(0.02)
            return f"the bill {id}"

        read.__name__ = f"read_{name}"
        return read

    tools = [reading("first"), reading("second")]
    said = iter([{"calls": [{"tool": tool.__name__, "args": {"id": "b7"}} for tool in tools]}, {"answer": "None."}])
    policy = g.ToolPolicy(rules={tool.__name__: g.ToolRule(effect="read") for tool in tools})
    world = watched.world(content=True)
    agent = g.create_tool_agent(tools=tools, planner=lambda view: next(said), policy=policy, world=world)
    result = run(agent, {"task": "Read the bill b7."}, mode)
    parents = watched.parent_names()
    assert parents["inside first"] == "execute_tool read_first", result
    assert parents["inside second"] == "execute_tool read_second"
    assert parents["execute_tool read_first"].startswith("act ")
    [call] = watched.named("execute_tool read_first")
    assert call.attributes["gen_ai.tool.call.result"] == "the bill b7"
    assert not any("guardgraph.effect" in span.attributes for span in watched.spans)  # of a read


def test_a_resumed_run_has_a_link_to_its_first_session():
    """A run that waits ends its span; the one of the next session, by another agent, links to it."""
    watched, saver = Watched(), InMemorySaver()
    waiting = refund_pattern.refund(checkpointer=saver, world=watched.world())
    shown = waiting.invoke(refund_pattern.ORDER, refund_pattern.THREAD)
    [first] = watched.named("invoke_agent refund")
    assert first.attributes["guardgraph.session.end"] == "waiting"
    [review] = watched.named("review approve")
    assert review.attributes["guardgraph.waits"] is True
    assert review.status.is_unset
    again = refund_pattern.refund(checkpointer=saver, world=watched.world())
    approval = {"decision": "approve", "hash": shown["waiting_for"]["hash"]}
    result = again.invoke(Command(resume=approval), refund_pattern.THREAD)
    assert result["outcome"] == "refunded"
    _, second = watched.named("invoke_agent refund")
    assert [link.context.span_id for link in second.links] == [first.context.span_id]
    assert second.attributes["guardgraph.run_id"] == first.attributes["guardgraph.run_id"] == result["run_id"]
    assert "observed" not in json.dumps(result["timeline"])


def test_spans_end_when_a_run_is_cancelled_or_its_stream_is_left():
    """No span stays open, and the run's says that it was cancelled."""
    cancelled, left = Watched(), Watched()

    async def plan(view):
        await asyncio.sleep(60)

    with pytest.raises(TimeoutError):
        asyncio.run(asyncio.wait_for(g.create_rag_agent(planner=plan, world=cancelled.world()).ainvoke(QUESTION), 0.3))
    assert cancelled.named("propose plan")
    stream = g.create_rag_agent(world=left.world()).stream(QUESTION)
    next(stream)
    stream.close()
    for watched in (cancelled, left):
        [session] = watched.named("invoke_agent rag")
        assert session.attributes["guardgraph.session.end"] == "cancelled"
        assert all(span.end_time for span in watched.spans)


def test_nothing_that_was_asked_or_answered_is_told_unless_asked_for():
    """No attribute has words of the question, the documents or a proposal; with content=True they are there."""
    for content in (False, True):
        watched = Watched()
        planner = lambda view: {"kind": "retrieve", "query": view["question"], "sources": ["my secret source"]}  # noqa: E731
        for given in ({}, {"planner": planner}):
            g.create_rag_agent(world=watched.world(content=content), **given).invoke(QUESTION)
        told = [str(dict(span.attributes)) for span in watched.spans]
        measured = [str(point.attributes) for metric in METRICS for point in watched.points(metric.name)]
        assert measured
        words = [word for word in (*SECRETS, "my secret source") if any(word in text for text in [*told, *measured])]
        assert words == ([*SECRETS, "my secret source"] if content else [])
        assert not any("my secret source" in text for text in measured)
        reasons = {point.attributes["guardgraph.stop_reason"] for point in watched.points("guardgraph.runs")}
        assert "success" in reasons
        assert any(item.endswith(">") for item in reasons)


def test_a_failed_call_and_its_attempts_are_told():
    """A call that failed for good is an error with its reason; around it attempts are events, inside spans."""
    with OpenAIServer(status(500)) as server:
        around, inside = Watched(), Watched()
        quick = {"attempts": 2, "wait": 0.01, "max_wait": 0.02}
        model = chat_model("openai:test-model", environ=server.environ())
        for world in (around.world(g.ResilientWorld(**quick)), g.ResilientWorld(inside.world(), **quick)):
            g.create_rag_agent(model, world=world).invoke(QUESTION)
    [call] = around.named("chat test-model")
    assert (call.attributes["error.type"], call.status.is_ok) == ("llm_unavailable", False)
    [took] = around.points("gen_ai.client.operation.duration")
    assert took.attributes["error.type"] == "llm_unavailable"
    assert [event.attributes["guardgraph.attempt.reason"] for event in call.events] == ["llm_unavailable"] * 2
    assert len(inside.named("chat test-model")) == 2
    assert inside.parent_names()["chat test-model"] == "propose plan"
    assert inside.named("invoke_agent rag")[0].attributes["guardgraph.stop_reason"] == "llm_unavailable"


def fail(*args, **kwargs):
    raise RuntimeError("no span today")


class Failing(SpanProcessor):
    on_start = on_end = fail


class FailingProvider(TracerProvider):
    def get_tracer(self, *args, **kwargs):
        tracer = super().get_tracer(*args, **kwargs)
        tracer.start_span = fail
        return tracer


@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
def test_telemetry_that_fails_changes_no_run(mode, caplog):
    """A processor and a tracer that raise leave every result as it is; each world logs it once."""
    failing = TracerProvider()
    failing.add_span_processor(Failing())
    for provider in (failing, FailingProvider()):
        caplog.clear()
        agent = g.create_rag_agent(world=g.TelemetryWorld(tracer_provider=provider))
        with caplog.at_level(logging.WARNING, "guardgraph"):
            for _ in range(2):
                assert run(agent, QUESTION, mode)["stop_reason"] == "success"
        assert len([line for line in caplog.records if "telemetry failed" in line.message]) == 1


def test_replays_shadows_and_what_ifs_make_no_spans():
    """Only live runs are observed; what shadows made of one is counted, and a what-if where somebody asks for it."""
    watched, recorder = Watched(), InMemoryRecorder()
    strict = g.create_rag_agent(budget=g.RagBudget(min_chunk_score=0.9), world=watched.world())
    agent = g.create_rag_agent(recorder=recorder, world=watched.world(), shadow={"strict": strict})
    agent.invoke(QUESTION)
    before = len(watched.spans)
    g.replay(agent, recorder.runs[0])
    judged = g.what_if(strict, recorder.runs)
    assert len(watched.spans) == before
    [shadow] = watched.points("guardgraph.shadows")
    assert (shadow.value, shadow.attributes["guardgraph.shadow"]) == (1, "strict")
    g.measure_what_if(judged, meter_provider=watched.meter_provider)
    [row] = judged.rows
    [counted] = watched.points("guardgraph.what_ifs")
    assert (counted.value, counted.attributes["guardgraph.judged"]) == (1, row.kind)


def test_open_and_waiting_runs_of_a_store_are_a_gauge(tmp_path):
    """The gauge reads the store whenever metrics are collected, and has no figure where it cannot be read."""
    watched = Watched()
    store = g.sql_store(f"sqlite:///{tmp_path / 'runs.db'}")
    g.measure_open_runs(store, meter_provider=watched.meter_provider)
    agent = refund_pattern.refund(recorder=store, checkpointer=InMemorySaver())
    agent.invoke(refund_pattern.ORDER, refund_pattern.THREAD)
    counted = {point.attributes["guardgraph.state"]: point.value for point in watched.points("guardgraph.runs.open")}
    assert counted == {"waiting": 1, "going": 0}
    store.close()
    (tmp_path / "runs.db").write_bytes(b"no database " * 1000)
    assert watched.points("guardgraph.runs.open") == []


def test_every_attribute_and_metric_is_in_the_tables_of_the_docs():
    """Spans have no attribute that the page on telemetry lacks, and metrics none beside those that it names."""
    watched = Watched()
    g.create_rag_agent(world=watched.world(content=True)).invoke(QUESTION)
    g.create_rag_agent(planner=lambda view: {"kind": "no"}, world=watched.world()).invoke(QUESTION)
    page = Path(__file__).parents[2].joinpath("docs/telemetry.md").read_text(encoding="utf-8")
    rows = [re.findall(r"`([^`]+)`", line) for line in page.splitlines() if line.startswith("- `")]
    assert {name for span in watched.spans for name in span.attributes} <= {row[0] for row in rows}
    named = {row[0]: {*row[1:]} for row in rows}
    for metric in METRICS:
        for point in watched.points(metric.name):
            assert {*point.attributes} <= named[metric.name]


def test_what_is_no_telemetry_is_refused_by_name():
    makers = {"world": g.TelemetryWorld, "store": g.measure_open_runs, "judged": g.measure_what_if}
    for name, make in makers.items():
        with pytest.raises(g.ConfigurationError, match=f"^{name}: "):
            make(3)
    with pytest.raises(g.ConfigurationError, match=r"^content: "):
        g.TelemetryWorld(content="yes")

"""Guarded graphs inside chains, graphs and tools, and told through every stream that LangGraph has."""

from __future__ import annotations

import asyncio

import pytest
from langchain_core.runnables import RunnableLambda
from langgraph.graph import START, StateGraph
from pydantic import BaseModel
from runs import MODES, content, masked, run
from ticket_pattern import TICKET, TIGHT, Policy, triage
from typing_extensions import TypedDict

from guardgraph import (
    Budget,
    Context,
    InputError,
    RagContext,
    RagPolicy,
    create_rag_agent,
    create_research_agent,
)


def test_a_graph_can_be_part_of_a_chain():
    """Inside a chain a context is bound beforehand; a chain itself passes none on."""
    chain = (
        RunnableLambda(lambda text: {"ticket": text}) | triage() | RunnableLambda(lambda result: result["stop_reason"])
    )
    assert chain.invoke("x") == "success"
    assert asyncio.run(chain.ainvoke("x")) == "success"
    assert (RunnableLambda(dict) | triage().bind(context=TIGHT)).invoke(TICKET)["stop_reason"] == "invalid_label"
    with pytest.raises(InputError, match="given: str"):
        (RunnableLambda(str) | triage()).invoke("x")


class Mine(TypedDict):
    ticket: str
    label: str


class Tenant(BaseModel):
    name: str


PARENT_CONTEXTS = [
    (None, None),
    (Tenant, Tenant(name="a")),
    (Tenant, {"name": "a"}),
    (RagContext, RagContext(policy=RagPolicy(allowed_sources_policy=()))),
    (None, {"tenant": "a"}),
    (None, "text"),
]


@pytest.mark.parametrize(("schema", "context"), PARENT_CONTEXTS)
@pytest.mark.parametrize("mode", MODES)
def test_a_graph_can_be_a_node_of_another_graph(schema, context, mode):
    """A parent's context is its own affair: the subgraph runs under its deployment's settings."""
    parent = StateGraph(Mine, context_schema=schema)
    parent.add_node("triage", triage())
    parent.add_edge(START, "triage")
    parent.add_node("note", lambda state: {"label": state["label"]})
    parent.add_edge("triage", "note")
    assert run(parent.compile(), TICKET, mode, context=context)["label"] == "bug"


@pytest.mark.parametrize(
    ("schema", "context", "reason"),
    [
        (Context[Policy, Budget], TIGHT, "invalid_label"),
        (None, TIGHT, "invalid_label"),
        (None, {**TIGHT, "tenant": "a"}, "invalid_label"),
        (None, {"budget": {"max_seconds": 0.0}}, "max_seconds"),
        (None, {"policy": {"lables": []}}, "guard_error:request_guard"),
        (None, {"policy": {"labels": "bug"}}, "guard_error:request_guard"),
    ],
)
def test_a_subgraph_obeys_what_its_parent_s_context_says_to_it(schema, context, reason):
    """Policy and budget in a parent's dictionary tighten the subgraph; what cannot be read closes its run."""
    parent = StateGraph(Mine, context_schema=schema, output_schema=TypedDict("O", {"stop_reason": str}))
    parent.add_node("triage", triage())
    parent.add_edge(START, "triage")
    assert parent.compile().invoke(TICKET, context=context) == {"stop_reason": reason}


def test_a_guarded_graph_may_be_a_tool_of_another():
    """The tool's run is its own, whatever the context of the run that uses it."""
    rag = create_rag_agent()
    graph = create_research_agent(search=lambda request: [rag.invoke({"question": "P1 response?"})["stop_reason"]])
    request = {"request": {"question": "q", "report_date": "2026-03-07", "region": "US"}, "policy_hints": {}}
    result = graph.invoke({"goal": "g", "request": request}, context={"budget": {"max_seconds": 9}})
    assert result["stop_reason"] in ("no_sources_after_dedupe", "tool_invalid_output:search_sources")


def test_every_form_of_events_and_output_works():
    """LangGraph's typed output, its event streams and its other stream modes tell the same run."""
    graph, expected = triage(), masked(triage().invoke(TICKET))
    assert masked(graph.invoke(TICKET, version="v2").value) == expected
    values = masked(list(graph.stream(TICKET, stream_mode="values"))[-1])
    assert {key: values[key] for key in expected} == expected
    assert values.keys() - expected.keys() == {"run", "log", "proposals", "task", "accepted_label", "accepted_duty"}
    parts = list(graph.stream(TICKET, stream_mode=["updates", "values"], version="v2"))
    assert {part["type"] for part in parts} == {"updates", "values"}
    assert list(graph.stream(TICKET, stream_mode="custom")) == []
    assert masked(asyncio.run(last_event(graph))["data"]["output"]).items() >= expected.items()


@pytest.mark.filterwarnings("ignore:The v3 streaming protocol:langchain_core._api.LangChainBetaWarning")
def test_the_newest_event_stream_works():
    """LangGraph's experimental event protocol goes through the door too."""
    with triage().stream_events(TICKET, version="v3") as events:
        assert events.output["outcome"] == "routed"
    with pytest.raises(InputError), triage().stream_events("x", version="v3") as events:
        assert events.output


async def last_event(graph):
    """Return the last event of a run."""
    return [event async for event in graph.astream_events(TICKET, version="v2")][-1]


def test_content_is_what_the_pattern_declared():
    """A result holds the record of the run and the pattern's own keys, nothing else."""
    assert content(triage().invoke(TICKET)) == {"outcome": "routed", "label": "bug", "on_duty": "Ada (bug)"}

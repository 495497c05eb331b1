"""Progress in LangGraph's `custom` stream: where a run is, in names of the pattern and numbers, and nothing else."""

from __future__ import annotations

import asyncio
import json

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from refund_pattern import ORDER, THREAD, refund

from guardgraph import Progress, create_rag_agent
from guardgraph.graphs.patterns import PATTERNS
from guardgraph.testing import ScriptedChatModel

QUESTION = {"question": "What is the P1 first response target?"}
INTENT = {"kind": "retrieve", "query": "P1 first response target"}
CITED = ["doc_sla_enterprise_v3"]
GOOD = {"answer": "P1 incidents are answered within 15 minutes.", "citations": CITED}
ALWAYS = {"event", "run_id", "pattern", "node", "kind", "phase", "visit"}
SECRET = "velociraptor"


def events_of(graph, given, **kwargs):
    """Return the events of a run, sync; the same run, async, has to tell the same."""
    return list(graph.stream(given, stream_mode="custom", **kwargs))


async def _aevents_of(graph, given, **kwargs):
    return [event async for event in graph.astream(given, stream_mode="custom", **kwargs)]


def without_ids(events):
    """Return events without what differs from run to run."""
    return [{key: item for key, item in event.items() if key != "run_id"} for event in events]


@pytest.mark.parametrize("name", PATTERNS)
def test_every_pattern_tells_every_node_in_order(name):
    """Each visit begins in the order of the path, guards tell their verdict, and the end is told last; async too."""
    agent, given = PATTERNS[name].create_agent(None), PATTERNS[name].demo()
    *rest, (_, result) = agent.stream(given, stream_mode=["custom", "updates"])
    told = [event for mode, event in rest if mode == "custom"]
    [ended] = result.values()
    began = [event for event in told if event["event"] == "began"]
    assert [event["node"] for event in began] == ended["path"]
    assert [event["visit"] for event in began] == list(range(1, len(began) + 1))
    guards = [event["node"] for event in told if event["event"] == "judged"]
    assert guards == [event["node"] for event in began if event["kind"] == "guard"]
    assert (told[-1]["event"], told[-1]["status"], told[-1]["run_id"]) == ("ended", ended["status"], ended["run_id"])
    assert without_ids(asyncio.run(_aevents_of(agent, given))) == without_ids(told)
    for event in told:
        assert set(event) <= set(Progress.__annotations__)
        assert set(event) >= ALWAYS
        assert json.loads(json.dumps(event)) == event
    assert {event["event"] for event in told} == {"began", "calling", "judged", "ended"}


def test_an_answer_that_is_asked_for_again_is_told_before_the_next_one_comes():
    """The verdict `again` names the reason of the catalogue, and the model is called once more."""
    wrong = {**GOOD, "citations": ["doc_of_nobody"]}
    agent = create_rag_agent(ScriptedChatModel(INTENT, wrong, GOOD))
    told = events_of(agent, QUESTION)
    [again] = [event for event in told if event.get("verdict") == "again"]
    assert (again["node"], again["to"]) == ("answer_guard", "generate")
    assert agent.frame.catalogue.find(again["reason"]) is not None
    calls = [event["node"] for event in told if event["event"] == "calling"]
    assert calls == ["plan", "retrieve", "generate", "generate"]


@pytest.mark.parametrize(
    "replies",
    [
        [{"kind": "retrieve", "query": "P1", "sources": [SECRET]}],
        [INTENT, {"answer": f"{SECRET} answers.", "citations": [SECRET]}],
        [SECRET],
        [{"kind": SECRET}],
    ],
)
def test_nothing_that_anybody_wrote_is_told(replies):
    """Neither the question nor a proposal, a source that a model names, or a reason with its name shows in an event."""
    agent = create_rag_agent(ScriptedChatModel(*replies, *replies[-1:]))
    told = events_of(agent, {"question": f"Where is the {SECRET}?"})
    assert told[-1]["status"] == "stopped"
    assert SECRET not in json.dumps(told)


def test_a_stop_is_told_by_the_catalogue_s_own_words():
    """A reason that names a source is told as the catalogue lists it, without the source."""
    planned = {"kind": "retrieve", "query": "P1", "sources": [SECRET]}
    told = events_of(create_rag_agent(ScriptedChatModel(planned, planned)), QUESTION)
    [stopped] = [event for event in told if event.get("verdict") == "stop"]
    assert stopped["reason"] == "invalid_intent:source_not_allowed:<name>"


def test_a_run_of_a_pattern_of_one_s_own_waits_and_goes_on():
    """A review node begins, and no end is told; when it is resumed, it begins again, and the run ends."""
    graph = refund(checkpointer=InMemorySaver())
    told = events_of(graph, ORDER, config=THREAD)
    assert (told[-1]["kind"], {event["event"] for event in told[-1:]} <= {"began", "calling"}) == ("review", True)
    shown = graph.get_state(THREAD).tasks[0].interrupts[0].value
    resumed = events_of(graph, Command(resume={"hash": shown["hash"], "decision": "approve"}), config=THREAD)
    assert (resumed[0]["kind"], resumed[0]["node"]) == ("review", told[-1]["node"])
    assert (resumed[-1]["event"], resumed[-1]["run_id"]) == ("ended", told[-1]["run_id"])

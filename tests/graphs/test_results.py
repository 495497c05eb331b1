"""What a run returns and tells: results as their types say, its timeline, and each node while it is at work."""

import asyncio
import json

import pytest
from pydantic import TypeAdapter
from runs import BOTH, check_result, run
from tables import each_row
from ticket_pattern import REASONS, TICKET, triage

import guardgraph
from guardgraph import Progress, create_rag_agent, create_research_agent, create_self_critique_agent, create_tool_agent
from guardgraph.graphs.patterns import PATTERNS
from guardgraph.testing import ScriptedChatModel
from guardgraph.tools.demo import load_rag_demo, load_research_demo, load_self_critique_demo

LINKED = "See https://evil.dev/x for more."
RUMOUR = {"answerer": lambda view: {"answer": "Soon.", "citations": ["a_rumour"]}}
ESCALATE = {"decision": "escalate", "severity": "high", "risks": [], "required_changes": [], "reason": "Ask someone."}
CRITIC = {"critic": lambda view: ESCALATE}
INTENT = {"kind": "retrieve", "query": "P1 first response target"}
GOOD = {"answer": "P1 incidents are answered within 15 minutes.", "citations": ["doc_sla_enterprise_v3"]}
SECRET = "velociraptor"
LEAKING = {"answer": f"{SECRET} answers.", "citations": [SECRET]}


@each_row(
    ("kind", "create", "parts", "given", "status"),
    ("Rag", create_rag_agent, {}, load_rag_demo(), "ok"),
    ("Rag", create_rag_agent, RUMOUR, load_rag_demo(), "stopped"),
    ("Rag", create_rag_agent, {}, {}, "stopped"),
    ("Research", create_research_agent, {}, load_research_demo(), "ok"),
    ("SelfCritique", create_self_critique_agent, {}, load_self_critique_demo(), "ok"),
    ("SelfCritique", create_self_critique_agent, CRITIC, load_self_critique_demo(), "stopped"),
)
def test_a_result_is_what_its_type_says(kind, create, parts, given, status):
    """Each ending has the keys that its TypedDict requires and no others; Pydantic reads it whole and does not warn."""
    result = create(**parts).invoke(given)
    ending = getattr(guardgraph, kind + {"ok": "Ok", "stopped": "Stopped"}[status])
    assert result["status"] == status
    assert not result["stop_reason"].startswith("guard_error")
    assert TypeAdapter(ending).validate_python(result) == result
    assert TypeAdapter(getattr(guardgraph, f"{kind}Result")).validate_python(result) == result


@each_row(
    ("create", "proposer", "said", "given"),
    (create_research_agent, "writer", {"answer": LINKED, "citations": ["n1"]}, load_research_demo()),
    (create_self_critique_agent, "drafter", {"draft": LINKED}, load_self_critique_demo()),
    (create_tool_agent, "planner", {"answer": LINKED}, {"task": "What is the total?"}),
)
def test_every_pattern_returns_the_last_refused_answer(create, proposer, said, given):
    result = create(**{proposer: lambda view: said}).invoke(given)
    assert result["stop_reason"].endswith(":unsupported_link")
    assert result["so_far"]["refused_answer"] == {"text": LINKED, "reason": result["stop_reason"]}
    assert "answer" not in result


@pytest.mark.parametrize("mode", BOTH)
def test_a_timeline_tells_the_whole_run(mode):
    """One entry a node, in order: proposals as they came, each guard's verdict and way, the steps it completed."""
    result = check_result(REASONS, run(triage(), TICKET, mode))
    told = [{key: value for key, value in entry.items() if key != "elapsed_ms"} for entry in result["timeline"]]
    label, lookup = {"phase": "label"}, {"phase": "lookup"}
    assert told == [
        {"node": "request_guard", "kind": "guard", **label, "verdict": "pass", "to": "label"},
        {"node": "label", "kind": "propose", **label, "proposer": "test", "proposal": {"label": "bug"}},
        {"node": "label_guard", "kind": "guard", **label, "verdict": "pass", "to": "lookup", "steps": [1]},
        {"node": "lookup", "kind": "act", **lookup},
        {"node": "duty_guard", "kind": "guard", **lookup, "verdict": "pass", "to": "routed", "steps": [2]},
        {"node": "routed", "kind": "terminal", **lookup},
    ]


async def _follow(graph, given):
    return [event async for event in graph.astream(given, stream_mode="custom")]


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
    awaited = asyncio.run(_follow(agent, given))
    assert [{**event, "run_id": told[0]["run_id"]} for event in awaited] == told
    for event in told:
        required = {"event", "run_id", "pattern", "node", "kind", "phase", "visit"}
        assert required <= event.keys() <= Progress.__annotations__.keys()
    assert json.loads(json.dumps(told)) == told
    assert {event["event"] for event in told} == {"began", "calling", "judged", "ended"}


def test_an_answer_that_is_asked_for_again_is_told_before_the_next_one_comes():
    agent = create_rag_agent(ScriptedChatModel(INTENT, {**GOOD, "citations": ["doc_of_nobody"]}, GOOD))
    told = [*agent.stream({"question": "What is the P1 first response target?"}, stream_mode="custom")]
    [again] = [event for event in told if event.get("verdict") == "again"]
    assert (again["node"], again["to"]) == ("answer_guard", "generate")
    assert agent.frame.catalogue.find(again["reason"]) is not None
    calls = [event["node"] for event in told if event["event"] == "calling"]
    assert calls == ["plan", "retrieve", "generate", "generate"]


@pytest.mark.parametrize("said", [[{**INTENT, "sources": [SECRET]}], [INTENT, LEAKING], [SECRET], [{"kind": SECRET}]])
def test_nothing_that_anybody_wrote_is_told(said):
    """Neither the question nor a proposal, a source that a model names, or a reason with its name shows in an event."""
    agent = create_rag_agent(ScriptedChatModel(*said, *said[-1:]))
    told = [*agent.stream({"question": f"Where is the {SECRET}?"}, stream_mode="custom")]
    assert told[-1]["status"] == "stopped"
    assert SECRET not in json.dumps(told)

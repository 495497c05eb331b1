"""Whole runs of the Research agent: the demo, what its parts are shown, how what they return is judged."""

from __future__ import annotations

from copy import deepcopy

import pytest
from hanging import released
from langchain_core.runnables import RunnableLambda
from research_cases import (
    ANSWER,
    GOAL,
    NOTES,
    PAGES,
    PLAN,
    QUESTION,
    REQUEST,
    SAMPLE,
    SLA,
    STATUS,
    asked,
    hits,
    notes,
    reads,
    research,
    vendor,
)
from runs import MODES, check_result, masked, run

from guardgraph import ResearchPolicy, create_research_agent
from guardgraph.state.research import RESEARCH_REASONS
from guardgraph.testing import ScriptedChatModel, scripted_tool

nobody_hangs_on = pytest.fixture(autouse=True)(released)

DEMO_PATH = [
    *("request_guard", "plan", "plan_guard", "query_guard", "search", "hits_guard", "dedupe_guard", "source_guard"),
    *("read", "pages_guard", "extract", "notes_guard", "verify_guard", "synthesize", "answer_guard", "answered"),
]


@pytest.mark.parametrize("mode", MODES)
def test_the_demo(mode):
    """The demo's result is the sample's, but for what it says beyond it, such as path, times and passages."""
    result = check_result(RESEARCH_REASONS, run(create_research_agent(), {"goal": GOAL, "request": REQUEST}, mode))
    expected = deepcopy(SAMPLE) | {"pattern": "research", "path": DEMO_PATH}
    for told in expected["history"]:
        told["elapsed_ms"] = "*"
    for told in (expected["history"][0], expected["history"][-1]):
        told["proposer"] = "offline"
    for key in ("passages", "timeline", "usage"):
        expected[key] = masked(result[key])
    assert masked(result) == expected


def test_passages_are_the_cited_notes():
    """Beside each citation stand the claim and the quote that it rests on, in the order of the citations' details."""
    result = research()
    assert [item["id"] for item in result["passages"]] == [item["id"] for item in result["citation_details"]]
    assert all(item.keys() == {"id", "claim", "quote"} for item in result["passages"])
    assert {item["quote"] for item in result["passages"]} <= {note["quote"] for note in NOTES}


@pytest.mark.parametrize(
    "question",
    [
        "What will the weather be in Paris tomorrow?",
        "Who won the football world cup in 2026?",
        "When did the Roman empire fall?",
        "2026-03-07?",
    ],
)
def test_a_question_about_something_else_finds_nothing(question):
    """Nothing recorded shares a word with it, so nothing is read."""
    result = check_result(RESEARCH_REASONS, research(input=asked(question)))
    assert result["stop_reason"] == "no_sources_after_dedupe"


@pytest.mark.parametrize(
    ("reply", "of_a_model", "of_a_runnable"),
    [
        (None, "llm_invalid_json", "invalid_answer:empty"),
        (["answer"], "llm_invalid_json", "invalid_answer:empty"),
        ({}, "llm_invalid_schema", "invalid_answer:empty"),
        ({**ANSWER, "answer": 5}, "llm_invalid_schema", "invalid_answer:empty"),
        ({**ANSWER, "answer": " "}, "llm_empty", "invalid_answer:empty"),
        ({"answer": "x"}, "llm_invalid_schema", "invalid_answer:citations"),
        ({"answer": "x", "citations": "n1"}, "llm_invalid_schema", "invalid_answer:citations"),
        ({"answer": "x", "citations": ["n1", 2.5]}, "llm_invalid_schema", "invalid_answer:citations"),
        ({"answer": "x", "citations": []}, "invalid_answer:citations", "invalid_answer:citations"),
        ({"answer": "x" * 851, "citations": ["n1"]}, "invalid_answer:too_long", "invalid_answer:too_long"),
        ({"answer": "x", "citations": [" n1"]}, "invalid_answer:citation_unknown", "invalid_answer:citation_unknown"),
        ({**ANSWER, "answer": "P2"}, "invalid_answer:contradicts_source", "invalid_answer:contradicts_source"),
        ({**ANSWER, "why": 1}, "success", "success"),
    ],
)
def test_a_model_and_a_runnable_are_judged(reply, of_a_model, of_a_runnable):
    """What is wrong in a model's text is the model's failure; a Runnable's value has the pattern's own reasons."""
    text = "null" if reply is None else reply
    assert research(model=ScriptedChatModel(PLAN, text))["stop_reason"] == of_a_model
    for writer in (lambda view: reply, RunnableLambda(lambda view: reply, name="mine")):
        assert research(writer=writer)["stop_reason"] == of_a_runnable


def test_what_the_parts_are_shown():
    """Each part sees its request, and nothing else."""
    planner, writer = scripted_tool(PLAN), scripted_tool(ANSWER)
    search, extractor = hits(STATUS, SLA), scripted_tool(NOTES)
    reader = scripted_tool(lambda asked: PAGES[asked["url"]], loop=True)
    given = {"goal": GOAL, "request": REQUEST}
    research(input=given, planner=planner, writer=writer, search=search, reader=reader, extractor=extractor)
    seen = {name: PAGES[name] for name in (STATUS, SLA)}
    assert planner.calls == [{"goal": GOAL, "request": REQUEST["request"]}]
    assert search.calls == [{"query": QUESTION, "max_results": 12}]
    assert sorted(call["url"] for call in reader.calls) == sorted([STATUS, SLA])
    limits = {"max_page_seconds": 10.0, "max_wire_bytes": 10_000_000, "max_page_bytes": 20_000_000}
    told = {"hosts": ["official-status.example.com", "vendor.example.com"], "limits": limits}
    assert all({**told, "url": call["url"]} == call for call in reader.calls)
    assert extractor.calls == [{"goal": GOAL, "question": QUESTION, "pages": seen, "max_notes": 6}]
    [view] = writer.calls
    assert view.keys() == {"goal", "question", "notes", "max_answer_chars"}
    assert view["notes"] == [{"id": f"n{number}", **note} for number, note in enumerate(NOTES, start=1)]
    assert view["max_answer_chars"] == 850


def test_a_check_can_be_switched_off():
    """Without the check of numbers, a claim and an answer may say more than the quote."""
    policy = ResearchPolicy(check_values=False)
    parts = {
        "extractor": notes({"claim": "ETA 46 minutes"}),
        "writer": lambda view: {"answer": "47", "citations": ["n1"]},
    }
    assert research(policy=policy, **parts)["answer"] == "47"
    tightened = research(policy=policy, context={"policy": {"check_values": True}}, **parts)
    assert tightened["stop_reason"] == "verification_failed:number_not_in_quote"


@pytest.mark.parametrize(
    ("claim", "outcome"),
    [
        ("The Braun kettle holds 2 litres, says Ann Gray.", "invalid_answer:unsupported_name"),
        ("The Lumen kettle holds 2 litres, says Ann Gray.", "invalid_answer:unsupported_name"),
        ("The Lumen kettle holds 2 litres.", "success"),
    ],
)
def test_a_name_of_a_claim_counts_where_its_page_has_it(claim, outcome):
    """A model writes claims and answers alike: a name that the page does not have supports no answer."""
    [url] = vendor("kettle")
    page = {"title": "Kettles", "published_at": "", "body": "The Lumen kettle holds 2 litres of water."}
    note = {"claim": claim, "quote": "kettle holds 2 litres", "url": url}
    result = research(
        search=hits(url),
        reader=reads(kettle=page),
        extractor=scripted_tool([note], loop=True),
        writer=lambda view: {"answer": claim, "citations": [view["notes"][0]["id"]]},
    )
    assert result["stop_reason"] == outcome

"""Whole runs of the Research agent: the demo, what its parts are shown, how what they return is judged."""

from __future__ import annotations

from copy import deepcopy

import pytest
from hanging import released
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
    hits,
    reads,
    research,
    vendor,
)
from runs import BOTH, check_result, masked, run

from guardgraph import create_research_agent
from guardgraph.state.research import RESEARCH_REASONS
from guardgraph.testing import scripted_tool

nobody_hangs_on = pytest.fixture(autouse=True)(released)

DEMO_PATH = [
    *("request_guard", "plan", "plan_guard", "query_guard", "search", "hits_guard", "dedupe_guard", "source_guard"),
    *("read", "pages_guard", "extract", "notes_guard", "verify_guard", "synthesize", "answer_guard", "answered"),
]


@pytest.mark.parametrize("mode", BOTH)
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

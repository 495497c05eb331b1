"""Whole runs of the Research agent: what a request may ask for."""

from __future__ import annotations

import pytest
from research_cases import (
    GOAL,
    PLAN,
    QUESTION,
    REGULATOR,
    REGULATOR_HOST,
    RUMORS,
    SLA,
    SLA_HOST,
    STATUS,
    STATUS_HOST,
    denied,
    hits,
    lists,
    quotes,
    reads,
    research,
    vendor,
)
from runs import check_result

from guardgraph.state.research import RESEARCH_REASONS
from guardgraph.testing import scripted_tool


@pytest.mark.parametrize(
    ("hint", "max_urls"),
    [
        *((4, 4), ("4", 4), (" 4.9\n", 4), (4.9, 4), ("4e0", 4), (6, 6), (7, 6)),
        *((99, 6), ("1e9", 6), (2**62, 6), (0, 1), (-3, 1), ("-1e300", 1)),
        *((float("nan"), 6), (float("inf"), 6), (float("-inf"), 6), ("nan", 6), ("inf", 6), ("-Infinity", 6)),
        *((True, 6), (False, 6), (None, 6), ("", 6), ("four", 6), ([4], 6), ({"max_urls": 4}, 6)),
    ],
)
def test_a_hint_tightens_the_deployments_limit(hint, max_urls):
    """It is never raised; what is no number is as good as no hint. The search is asked for twice as many hits."""
    search = scripted_tool([])
    result = check_result(RESEARCH_REASONS, research({"max_urls": hint}, search=search))
    assert result["stop_reason"] == "no_sources_after_dedupe"
    assert search.calls == [{"query": QUESTION, "max_results": 2 * max_urls}]


def test_no_hint_raises_a_limit():
    """More URLs, pages, notes and characters than the deployment allows change nothing."""
    limits = {"max_urls": 20, "max_read_pages": 10, "max_notes": 20, "max_answer_chars": 2000}
    parts = {"search": hits(*vendor(*"abcdefghijkl")), "reader": reads(), "extractor": quotes()}
    shown = []
    writer = lambda view: shown.append(view) or {"answer": "x" * 851, "citations": ["n1"]}  # noqa: E731
    result = research(limits, writer=writer, **parts)
    assert result["stop_reason"] == "invalid_answer:too_long"
    assert shown[0]["max_answer_chars"] == 850
    assert [step.get("urls_after_dedupe", step.get("pages_read")) for step in result["trace"][2:4]] == [6, 3]


@pytest.mark.paired
@pytest.mark.parametrize("name", ["allowed_domains_policy", "allowed_domains_execution"])
@pytest.mark.parametrize("hint", [None, SLA_HOST, {}, 5, True, [SLA_HOST, None], [[SLA_HOST]]])
def test_a_domain_hint_that_is_no_list_of_strings_runs_nothing(name, hint):
    """The request is refused before any part is asked anything."""
    planner, search = scripted_tool(PLAN), hits(SLA)
    result = check_result(RESEARCH_REASONS, research({name: hint}, planner=planner, search=search))
    assert (result["stop_reason"], result["phase"]) == (f"invalid_request:policy_hints.{name}", "plan")
    assert result["details"]["field"] == f"policy_hints.{name}"
    assert planner.calls == search.calls == result["trace"] == result["history"] == []


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({}, "goal"),
        ({"goal": GOAL}, "request"),
        ({"goal": GOAL, "request": {}}, "request"),
        ({"goal": GOAL, "request": {"request": {"question": 5}}}, "request.question"),
        ({"goal": GOAL, "request": {"request": {"question": "q", "region": 5}}}, "request.region"),
        ({"goal": GOAL, "request": {"request": {"question": "q"}, "policy_hints": []}}, "policy_hints"),
        ({"goal": GOAL, "request": {"request": {"question": "q" + chr(0xD800)}}}, "request"),
        ({"goal": GOAL, "request": {"request": {"question": "q"}, "policy_hints": {"max_urls": 2**70}}}, "request"),
    ],
)
def test_a_malformed_request_runs_nothing(given, field):
    """The first malformed field is named, with what was given and what is allowed."""
    planner = scripted_tool(PLAN)
    result = check_result(RESEARCH_REASONS, research(input=given, planner=planner))
    assert result["stop_reason"] == f"invalid_request:{field}"
    assert result["details"].keys() == {"field", "given", "allowed"}
    assert planner.calls == []


def test_a_domain_hint_only_narrows():
    """A hint removes hosts; a host that it adds stays denied, and so does one that a context removes."""
    search = hits(STATUS, SLA, REGULATOR, RUMORS)
    narrowed = research({"allowed_domains_policy": [SLA_HOST.upper(), "community-rumors.example.net"]}, search=search)
    assert narrowed["citations"] == ["n1"]
    assert narrowed["aggregate"]["denied_sources"] == [
        *(denied(STATUS, "policy"), denied(REGULATOR, "policy"), denied(RUMORS, "policy"))
    ]
    widened = research({"allowed_domains_execution": [SLA_HOST, REGULATOR_HOST]}, search=search)
    assert widened["aggregate"]["denied_sources"][:2] == [denied(STATUS, "execution"), denied(REGULATOR, "execution")]
    both = research({"allowed_domains_policy": [STATUS_HOST]}, search=search, context=lists(execution=[SLA_HOST]))
    assert both["stop_reason"] == "no_reliable_sources"
    for hint in ({"allowed_domains_policy": []}, {"allowed_domains_execution": []}):
        assert research(hint, search=search)["stop_reason"] == "no_reliable_sources"

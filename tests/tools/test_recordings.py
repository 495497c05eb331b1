"""The recorded tools of the Research agent: what they know, and that they know nothing else."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tables import each_row

from guardgraph.guards.urls import dedupe_found_urls, explain_url_denial
from guardgraph.tools.recordings import make_recorded_reader, make_recorded_search

SAMPLE = json.loads((Path(__file__).parents[1] / "data" / "research_sample_output.json").read_text())
DATA = Path(__file__).parents[2] / "guardgraph" / "tools" / "data"
DEMO = json.loads((DATA / "research_request.json").read_text())


def test_the_demo_finds_what_the_sample_says():
    """The demo's query finds all recorded hits; they dedupe and are denied as in the sample."""
    hints, aggregate = DEMO["policy_hints"], SAMPLE["aggregate"]
    hits = make_recorded_search()({"query": DEMO["request"]["question"], "max_results": 12})
    urls, dropped = dedupe_found_urls([hit["url"] for hit in hits], max_urls=hints["max_urls"])
    lists = {"policy": hints["allowed_domains_policy"], "execution": hints["allowed_domains_execution"]}
    reasons = {url: explain_url_denial(url, **lists) for url in urls}
    assert [{"url": url, "reason": why} for url, why in reasons.items() if why] == aggregate["denied_sources"]
    assert len(hits) == aggregate["urls_found"] == 6
    assert len(urls) == aggregate["urls_after_dedupe"] == 4
    assert dropped == []


@each_row("query", "What will the weather be in Paris tomorrow?", "2026-03-07", "")
def test_a_question_about_something_else_finds_nothing(query):
    """A hit shares a content word with the query: no stop word, no bare number."""
    assert make_recorded_search()({"query": query, "max_results": 12}) == []


def test_the_reader_returns_recorded_pages():
    """A recorded URL is a page; any other raises an error that names it."""
    page = make_recorded_reader()({"url": "https://vendor.example.com/policies/enterprise-sla"})
    assert page["title"] == "Enterprise SLA"
    assert set(page) == {"title", "published_at", "body"}
    with pytest.raises(LookupError, match=r"https://vendor\.example\.com/other"):
        make_recorded_reader()({"url": "https://vendor.example.com/other"})


def test_importing_reads_nothing():
    """The recordings are read when a factory is called, never at import."""
    code = (
        "import sys; sys.addaudithook(lambda event, args: event == 'open' and '.json' in str(args[0])"
        " and sys.exit(f'read {args[0]}')); import guardgraph.tools.recordings"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")

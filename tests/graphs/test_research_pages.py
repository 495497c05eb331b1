"""What a reader says of a page's text reaches the citation: its pages, and that it is unsure."""

from __future__ import annotations

import pytest
from research_cases import PLAN, hits, research
from runs import check_result
from test_research_extraction import ANSWER, NOTE, PAGE, page

from guardgraph.state.research import RESEARCH_REASONS
from guardgraph.testing import ScriptedChatModel

REFUSE = {"policy": {"unsure_text": "refuse"}}


def result_of(*, context=None, **said):
    """Run an agent whose reader says more of its page."""
    model = ScriptedChatModel(PLAN, {"notes": [NOTE]}, ANSWER)
    parts = {"model": model, "search": hits(PAGE), "reader": page(**said)}
    return check_result(RESEARCH_REASONS, research(context=context, **parts))


@pytest.mark.parametrize(("pages", "number"), [([[1, 0], [2, 60]], 1), ([[7, 0]], 7), ([[2, 60], [3, 0]], 3)])
def test_a_citation_names_its_page(pages, number):
    """The page on which its quote begins; the link opens it."""
    [cited] = result_of(pages=pages)["citation_details"]
    assert (cited["page"], cited["link"]) == (number, f"{PAGE}#page={number}")


@pytest.mark.parametrize("pages", [None, "1", [[1]], [[0, 0]], [["1", 0]], [[1, 50]], {}])
def test_what_is_no_list_of_pages_names_none(pages):
    """The link opens the quote, as of any page."""
    [cited] = result_of(pages=pages)["citation_details"]
    assert "page" not in cited
    assert ":~:text=" in cited["link"]


def test_a_policy_may_refuse_a_text_that_is_unsure():
    """The page is listed with its reason, and counts for nothing."""
    result = result_of(extraction="unsure", context=REFUSE)
    assert result["stop_reason"] == "no_reliable_sources"
    assert [(item["url"], item["reason"]) for item in result["failed_sources"]] == [(PAGE, "unsure_text")]
    assert result_of(context=REFUSE)["status"] == "ok"

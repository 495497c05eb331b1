"""Pages of runs that wait for a person, and of runs that a person decided on."""

from __future__ import annotations

import pytest
from langgraph.types import Command
from refund_pattern import THREAD, TIGHT, answering, begun
from reported_runs import page, said, with_class

from guardgraph import InputError, report
from guardgraph.grammar import Identity


@pytest.mark.parametrize("known", [True, False], ids=["with its graph", "without"])
def test_a_page_of_a_run_that_waits_says_for_what(known):
    """Who asks, what the person is shown, the hash, how to go on, and the way so far; no ending yet."""
    graph, shown = begun()
    root = page(shown, graph if known else None)
    assert said(root.find("body/header/h1")) == "… waiting approve"
    assert said(root.find("head/title")) == "Run of refund, waiting: approve"
    told = said(root.find("body/main"))
    for words in ("Shown to the person", "A7", "30", shown["waiting_for"]["hash"], '"decision"', "the run waits here"):
        assert words in told
    for words in ("Timeline", "active time", "stopped", "Answer"):
        assert words not in told


def test_a_page_of_a_run_that_waits_says_what_was_wrong_with_an_answer():
    """After an answer that was none, the page says why it still waits."""
    graph, _ = begun()
    again = graph.invoke(Command(resume="yes"), THREAD)
    assert again["waiting_for"]["problem"] in said(page(again).find("body/main"))


@pytest.mark.parametrize("status", [{}, {"status": "waiting"}], ids=["no status", "waiting"])
@pytest.mark.parametrize("asked", [None, "A7", ["A7"]])
def test_a_run_that_waits_for_nothing_that_can_be_shown_is_refused(asked, status):
    """What a run waits for is a dictionary; anything else is no run of ours, and makes no page."""
    with pytest.raises(InputError, match=r"^run: the result of a finished run is required, .+ path and waiting_for; "):
        report({**status, "waiting_for": asked, "path": ["x"]})


@pytest.mark.parametrize("decision", ["approve", "reject"])
def test_a_page_shows_what_a_person_answered(decision):
    """The answer stands in the timeline, and whole beside the verdict of its guard."""
    graph, shown = begun()
    root = page(graph.invoke(answering(shown, decision, by="Ada"), THREAD), graph)
    [row] = [row for row in with_class(root, "review") if row.tag == "tr"]
    assert decision in said(row)
    [card] = [said(card) for card in root.iter("article") if "asks a person" in said(card)]
    assert "Ada" in card
    assert shown["waiting_for"]["hash"] in card
    assert ("pass" if decision == "approve" else "review_rejected") in card


def test_the_page_says_what_is_new_about_a_question():
    """What changed since it was asked before, and who answered it in the end, stand in the page."""
    graph, shown = begun(reviewers=lambda answer, caller: Identity("Ada Byron", ("finance",)))
    again = graph.invoke(answering(shown), THREAD, context=TIGHT)
    words = said(page(again).find("body/main"))
    assert "not as before" in words
    assert "settings" in words
    result = graph.invoke(answering(again), THREAD, context=TIGHT)
    for name in ("verified", "Ada Byron", "finance"):
        assert name in said(page(result).find("body/main"))

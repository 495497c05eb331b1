"""Pages of runs that stopped or wait: why, for what, and what a person decided."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rag_agents import QUESTION, agent, agent_with
from refund_pattern import THREAD, TIGHT, answering, begun
from reported_runs import page, result_of, said, tree, with_class
from self_critique_cases import GIVEN
from tables import each_row

import guardgraph
from guardgraph import InputError, report
from guardgraph.grammar import Identity
from guardgraph.reporting.values import Marked, render_value
from guardgraph.testing import Reply, ScriptedChatModel, ScriptedClock, scripted_tool

ID = "doc_sla_enterprise_v3"


def _answering(text, *citations):
    return agent(answerer=lambda view: {"answer": text, "citations": [*citations]}).invoke(QUESTION)


def _revising(text):
    revise = scripted_tool(lambda view: {"revised_answer": f"{view['draft']} {text}"}, loop=True)
    return guardgraph.create_self_critique_agent(reviser=revise).invoke(GIVEN)


def _head(result):
    return page(result).find("body/header")


STOPS = {
    "a number": (lambda: _answering("Within 20 minutes, 24/7.", ID), ["20 minutes"]),
    "a broken line": (lambda: _answering("Within 20\nminutes.", ID), ["20\nminutes"]),
    "a name": (lambda: _answering("Within 15 minutes, as Gartner says.", ID), ["Gartner"]),
    "a citation": (lambda: _answering("Within 15 minutes.", ID, "doc_x"), ["doc_x"]),
    "a source": (lambda: result_of("rag stopped"), ["wiki"]),
    "an incident": (lambda: _revising("See inc_99999."), ["inc_99999"]),
    "a fact of research": (lambda: result_of("research stopped"), ["9.9%"]),
}
"""Runs that a guard stopped for words of a proposal, and these words."""


@each_row("name", *STOPS)
def test_the_refused_words_are_marked_in_what_was_proposed(name):
    """In the head, and again beside the guard's verdict, the proposal stands whole with the refused words marked."""
    make, words = STOPS[name]
    result = make()
    head = _head(result)
    [refused] = with_class(head, "refused")
    assert [said(mark) for mark in refused.iter("mark")] == words
    [proposed] = [entry["proposal"] for entry in result["timeline"] if entry["node"] == result["path"][-3]]
    assert all(text in said(refused) for text in proposed.values() if isinstance(text, str))
    [card] = [card for card in page(result).iter("article") if [*card.iter("mark")]]
    assert [said(mark) for mark in card.iter("mark")] == words


@each_row("name", "rag stopped", "rag refused", "research stopped", "critique stopped")
def test_a_stopped_run_begins_with_who_stopped_it_and_the_evidence(name):
    """The guard, the phase, what the catalogue says and all evidence stand in the head, before what was asked."""
    result = result_of(name)
    [why] = with_class(_head(result), "why")
    assert f"Stopped by {result['path'][-2]}, in the phase {result['phase']}." in said(why)
    known = guardgraph.CATALOGUES[result["pattern"]].find(result["stop_reason"])
    for told in ("✕ stopped", result["stop_reason"], known.meaning, known.advice):
        assert told in said(_head(result))
    for key in {*result} & {"details", "unsupported", "patch_similarity"}:
        assert key in said(why)
    told = [item.get("class") for item in _head(result)]
    assert told.index("why") < told.index("facts told")


def test_what_was_not_refused_is_not_shown_as_refused():
    """A run that stops for want of time, or because a tool fails, refused no proposal; an ok run has no why."""
    clock = ScriptedClock()
    model = ScriptedChatModel(Reply({"kind": "retrieve", "query": "SLA"}, delay=30.0), clock=clock)
    slow = guardgraph.create_rag_agent(model, world=guardgraph.LiveWorld(clock=clock))
    for stopped in (slow, agent_with("no list of candidates")):
        head = _head(stopped.invoke(QUESTION))
        assert with_class(head, "why")
        assert not with_class(head, "refused")
    assert not with_class(_head(result_of("rag")), "why")


@given(st.text("ab 1.<\n", max_size=40), st.lists(st.text("ab1.", min_size=1, max_size=3), max_size=3))
def test_marks_lose_nothing_of_a_value(text, words):
    found = re.compile("|".join(map(re.escape, words))) if words else None
    marks = (lambda text: [Marked(*match.span()) for match in found.finditer(text)]) if found else None
    shown = tree(f"\n{render_value({'text': text}, marks=marks)}")
    assert said(shown.find("div/dd")) == (text or "empty text")


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


@pytest.mark.parametrize("status", [{}, {"status": "waiting"}], ids=["no status", "waiting"])
@pytest.mark.parametrize("asked", [None, "A7", ["A7"]])
def test_a_run_that_waits_for_nothing_that_can_be_shown_is_refused(asked, status):
    """What a run waits for is a dictionary; anything else is no run of ours, and makes no page."""
    with pytest.raises(InputError, match=r"^run: the result of a finished run is required, .+ path and waiting_for; "):
        report({**status, "waiting_for": asked, "path": ["x"]})


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

"""What a text that is longer than the whole context shows: its best passage, which alone licenses an answer."""

import math
import re
from collections import Counter
from itertools import accumulate, combinations_with_replacement

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rag_agents import CANDIDATE, QUESTION, agent_with
from runs import check_result
from tables import each_row

from guardgraph import RagBudget
from guardgraph.grounding.words import read_terms
from guardgraph.guards.rag import passages as passage_guards
from guardgraph.state.rag import RAG_REASONS
from guardgraph.testing import scripted_tool

GOLD = "For P1 incidents, first response target is 15 minutes."
FILLER = "The cafeteria opens at noon and serves soup on Mondays. "
SMALL = RagBudget(max_context_chunks=3, max_context_chars=2200)


def shown_of(text, query, max_chars):
    place = passage_guards.find_best_passage(text, query, terms=read_terms, max_chars=max_chars)
    return text[slice(*place)] if place else None


def long_text(before=100, after=100):
    return f"{FILLER * before}{GOLD} {FILLER * after}The office has 77 rooms."


@pytest.mark.paired
@pytest.mark.parametrize("budget", [None, SMALL, RagBudget(max_context_chars=120)])
@pytest.mark.parametrize(("before", "after"), [(0, 400), (200, 200), (400, 0)])
def test_a_long_text_shows_its_best_passage(budget, before, after):
    """A relevant text longer than the context shows the passage with the words of the query, which alone licenses."""
    text, answerer = long_text(before, after), scripted_tool({"answer": "It is 15 minutes.", "citations": ["a"]})
    graph = agent_with({**CANDIDATE, "text": text}, answerer=answerer, budget=budget)
    result = check_result(RAG_REASONS, graph.invoke(QUESTION))
    [chunk] = answerer.calls[0]["context_chunks"]
    assert GOLD in chunk["text"]
    assert 0 <= (budget or RagBudget()).max_context_chars - len(chunk["text"]) <= len(FILLER)
    assert chunk["text"] in text
    assert chunk["text"][0] in "TF"
    assert chunk["text"].endswith(".")
    assert result["outcome"] == "grounded_answer"
    assert result["passages"] == [{"doc_id": "a", "text": chunk["text"]}]
    hidden = {"answer": "The office has 77 rooms.", "citations": ["a"]}
    stopped = agent_with({**CANDIDATE, "text": long_text()}, answer=hidden, budget=SMALL).invoke(QUESTION)
    assert (stopped["stop_reason"], stopped["unsupported"]) == ("invalid_answer:unsupported_number", ["77"])


@each_row(
    ("text", "query", "expected"),
    ("天气很好。" * 99 + "响应时间是十五分钟。" + "天气很好。" * 99, "响应时间", "响应时间是十五分钟。"),
    ("words " * 999 + "needle " + "words " * 999, "needle", "needle"),
    ("x" * 9999, "needle", "x" * 120),
)
def test_the_best_passage(text, query, expected):
    """The passage has the query's words, in any script, cut between words if need be; else it is the beginning."""
    for most in range(120, 127):
        passage = shown_of(text, query, most)
        assert expected in passage
        assert len(passage) <= most
        assert passage in text
        assert {*passage.split()} <= {*text.split()} or len(text.split()) == 1


WORDS = st.lists(st.sampled_from(["plan", "audit", "soup", "tea"]), min_size=1, max_size=4)


@settings(max_examples=200, deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=9), st.integers(30, 120))
def test_the_best_passage_is_the_best_of_all_runs_of_sentences(said, most):
    """What has more of the query's words, rare ones first, then has them more often, is longer, comes earlier."""
    sentences = [f"{' '.join(words).capitalize()}." for words in said]
    ends = [*accumulate(len(sentence) + 1 for sentence in sentences)]
    starts, asked = [0, *ends[:-1]], {"plan", "audit"}
    held = Counter(word for words in said for word in asked & {*words})
    weights = {word: round(1000 * math.log(1 + len(said) / count)) for word, count in held.items()}

    def rate(run):
        words = [word for words in said[run[0] : run[1] + 1] for word in asked & {*words}]
        repeated = sum(weights[word] for word in words)
        return sum(weights[word] for word in {*words}), repeated, ends[run[1]] - starts[run[0]], -run[0]

    runs = combinations_with_replacement(range(len(said)), 2)
    fitting = [run for run in runs if ends[run[1]] - 1 - starts[run[0]] <= most and (held or run[0] == 0)]
    first, last = max(fitting, key=rate)
    place = passage_guards.find_best_passage(
        " ".join(sentences), "plan audit", terms=lambda text, _: re.findall("[a-z]+", text.lower()), max_chars=most
    )
    assert place == (starts[first], ends[last] - 1)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.sampled_from(["a.", "P1 is b.", "word", "\n", "。", "長い文。", " ", "x" * 150, "1."]), max_size=60),
    st.sampled_from(["P1", "word", "文", ""]),
    st.integers(1, 300),
)
def test_any_passage(parts, query, max_chars):
    """A passage is a verbatim piece of its text and never longer than it may be."""
    text = " ".join(parts).strip()
    passage = shown_of(text, query, max_chars)
    assert passage is None or (passage in text and 0 < len(passage) <= max_chars)
    assert passage is not None or max_chars < 100 or not text


@pytest.mark.parametrize("piece", ["P1. ", "。", "x"])
def test_hostile_sizes(piece):
    text = (piece * (200_000 // len(piece))).strip()
    assert len(shown_of(text, "P1 response", 8000)) <= 8000


@each_row("score", 0.5, 0.1, 0)
def test_one_id_with_two_texts(score):
    """A retriever that gives one id to two texts breaks its contract: a citation would not say which it means."""
    result = agent_with(CANDIDATE, {**CANDIDATE, "text": "P1 within 15 hours.", "score": score}).invoke(QUESTION)
    assert result["stop_reason"] == "tool_invalid_output:retrieve"
    assert result["details"] == {"allowed": "doc_id: one text for each", "given": "a"}

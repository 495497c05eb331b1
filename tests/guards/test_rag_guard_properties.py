"""What holds of the RAG agent's guards whatever they are given: they decide, in time, and always the same."""

from __future__ import annotations

import json

from guard_cases import json_values, outcome
from hypothesis import given, settings
from hypothesis import strategies as st

from guardgraph.guards import rag
from guardgraph.guards.answers import judge_answer
from guardgraph.state.rag import RAG_REASONS, RagPolicy

SOURCES = ("support_policy", "security_policy", "billing_policy")
KEYS = ["kind", "query", "top_k", "sources", "doc_id", "source", "text", "score", "title", "section", "updated_at"]
ANY_JSON = json_values(KEYS, ["retrieve", "P1", *SOURCES])
CANDIDATE = {"doc_id": "a", "source": "support_policy", "text": "Uptime is 99.95 %.", "score": 0.5}
CHUNK = {**CANDIDATE, "title": "T", "section": "S", "updated_at": "2026-01-15"}


def chunk(doc_id, text="words", **fields):
    """Make a chunk of the context."""
    return {**CHUNK, "doc_id": doc_id, "text": text, **fields}


def parse(raw, allowed=SOURCES, max_top_k=6):
    """Parse an intent as the demo's policy guard does."""
    return rag.parse_intent(raw, allowed_sources=allowed, max_top_k=max_top_k)


def parse_found(raw, allowed=SOURCES, top_k=4):
    """Parse candidates as the demo's context guard does."""
    return rag.parse_candidates(raw, allowed_sources=allowed, top_k=top_k).candidates


POLICY = RagPolicy(on_doubt="ignore")


def check(read, question):
    """Hold an answer against what it cites."""
    return rag.check_answer_sentences(read, task={"question": question}, workings=[], policy=POLICY)


@settings(max_examples=50, deadline=None)
@given(ANY_JSON)
def test_any_question(value):
    """Any JSON value as question is parsed or stops."""
    assert outcome(rag.parse_rag_request, value).get("stop") in (None, "invalid_request:question")


@settings(max_examples=60, deadline=None)
@given(ANY_JSON | st.dictionaries(st.sampled_from(KEYS), ANY_JSON | st.sampled_from(["retrieve", "P1", 1])))
def test_any_intent(raw):
    """Any JSON value as intent stops with a reason of the catalogue, or gives an intent that is parsed as itself."""
    result = outcome(parse, raw)
    if "stop" in result:
        assert RAG_REASONS.find(result["stop"]).family == "invalid_intent"
    else:
        assert outcome(parse, result["value"]) == result
        assert set(result["value"].get("sources", ())) <= set(SOURCES)


FIELDS = st.fixed_dictionaries({}, optional={key: ANY_JSON | st.just(value) for key, value in CHUNK.items()})


@settings(max_examples=60, deadline=None)
@given(ANY_JSON | st.lists(FIELDS | st.just(CANDIDATE), max_size=4), st.integers(0, 5))
def test_any_retriever_output(raw, top_k):
    """Any JSON value as a retriever's output stops, or gives candidates that can be packed and cited."""
    result = outcome(parse_found, raw, top_k=top_k)
    if "stop" in result:
        assert result["stop"] == "tool_invalid_output:retrieve"
        json.dumps(result["details"], allow_nan=False)
        return
    assert len(result["value"]) <= top_k
    assert all(0 < item["score"] <= 1 and item["source"] in SOURCES for item in result["value"])
    packed = rag.pack_context(result["value"], min_score=0.2, max_chunks=3, max_chars=50)
    assert len(packed["chunks"]) <= 3
    assert sum(len(item["text"]) for item in packed["chunks"]) == packed["total_chars"] <= 50
    for item in packed["chunks"]:
        assert rag.check_citations([item["doc_id"]], packed["chunks"])[0]["doc_id"] == item["doc_id"]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(max_size=5) | st.sampled_from(["a", " b", "\ud800"])), st.text(), st.text())
def test_any_answer(citations, answer, text):
    """Any strings as citations, answer and text are decided with reasons of the catalogue."""
    chunks = [chunk("a", text), chunk("b", answer)]
    result = outcome(rag.check_citations, citations, chunks)
    assert "value" in result or RAG_REASONS.find(result["stop"]).family == "invalid_answer"
    for cited in (chunks[:1], chunks):
        read = outcome(rag.read_answer, answer, [item["doc_id"] for item in cited], cited, must_cite=False)
        if "value" in read:
            judged = judge_answer(check(read["value"], text), POLICY)
            assert judged.refusal is None or RAG_REASONS.find(judged.refusal.reason).family == "invalid_answer"
            assert cited is not chunks or judged.refusal is None

"""Sentences that must cite: marks are read and taken out, each sentence is held against what it cites itself."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rag_agents import CANDIDATE, INTENT, POLICY, QUESTION, agent_with
from runs import check_result

from guardgraph import create_rag_agent
from guardgraph.grounding.words import read_terms
from guardgraph.guards import rag
from guardgraph.guards.stop import Stop
from guardgraph.state.rag import RAG_REASONS
from guardgraph.testing import ScriptedChatModel, scripted_tool

STRICT = POLICY.model_copy(update={"require_sentence_citations": True})
TEXTS = {
    "doc_a": "P1 is answered in 15 minutes. Tickets are closed by the desk.",
    "doc_b": "Uptime is 99.95 % for Initech. The desk says: \u201cno ticket is lost\u201d.",
    "doc_c": "Refunds take 10 days.",
}
FOUND = [{**CANDIDATE, "doc_id": doc_id, "text": text} for doc_id, text in TEXTS.items()]


def said(answer, *citations, found=FOUND, policy=STRICT, **settings):
    """Run an agent whose answerer says this; the result."""
    graph = agent_with(*found, answer={"answer": answer, "citations": list(citations)}, policy=policy, **settings)
    return check_result(RAG_REASONS, graph.invoke(QUESTION))


def cited_by(result):
    """Return, for every cited document, the sentences of the answer that rest on it."""
    text = result["answer"]
    return {
        item["doc_id"]: [text[start:end] for start, end in item["answer_spans"]] for item in result["citation_details"]
    }


def evidence(result, texts=TEXTS):
    """Return, for every cited document, what its span in the document shows."""
    return {item["doc_id"]: texts[item["doc_id"]][slice(*item["document_span"])] for item in result["citation_details"]}


# Marks


def test_marks_say_what_a_sentence_rests_on():
    """Marks are taken out of the answer; its sentences and their evidence are found by their spans."""
    result = said("P1 is answered in 15 minutes [doc_a]. Uptime is 99.95 % [doc_b, doc_c].", "doc_c", "doc_a", "doc_b")
    assert result["answer"] == "P1 is answered in 15 minutes. Uptime is 99.95 %."
    assert result["citations"] == ["doc_c", "doc_a", "doc_b"]
    assert cited_by(result) == {
        "doc_a": ["P1 is answered in 15 minutes."],
        "doc_b": ["Uptime is 99.95 %."],
        "doc_c": ["Uptime is 99.95 %."],
    }
    assert evidence(result)["doc_a"] == "P1 is answered in 15 minutes."
    assert evidence(result)["doc_b"] == "Uptime is 99.95 % for Initech."
    assert {item["spans_by"] for item in result["citation_details"]} == {"cited"}


def test_a_sentence_inherits_in_its_paragraph():
    """A sentence without a mark cites what the one before it cites; the first of a paragraph has to say it itself."""
    result = said("P1 is answered in 15 minutes [doc_a]. Tickets are closed by the desk.")
    assert cited_by(result) == {"doc_a": ["P1 is answered in 15 minutes.", "Tickets are closed by the desk."]}
    for answer, sentence in {
        "Tickets are closed by the desk. P1 is answered in 15 minutes [doc_a].": "Tickets are closed by the desk.",
        "P1 is answered in 15 minutes [doc_a].\n\nRefunds are quick.": "Refunds are quick.",
        "[doc_a] P1 is answered in 15 minutes.": "P1 is answered in 15 minutes.",
        "P1 is answered [doc_a].\n\n[doc_c] Refunds take days.": "Refunds take days.",
    }.items():
        result = said(answer)
        assert (result["stop_reason"], result["sentence"]) == ("invalid_answer:uncited_sentence", sentence)


# What a sentence cites itself


@pytest.mark.parametrize(
    ("answer", "reason", "unsupported"),
    [
        ("P1 is answered in 15 minutes [doc_a]. Refunds take 15 days [doc_c].", "contradicts_source", ["15 days"]),
        ("Refunds take 10 days [doc_a].", "unsupported_number", ["10 days"]),
        ("The desk closes Initech tickets [doc_a]. Uptime is 99.95 % [doc_b].", "unsupported_name", ["Initech"]),
        ("The desk says \u201cno ticket is lost\u201d [doc_b].", "", []),
        ("The desk says \"no ticket is lost.\" [doc_b]", "", []),
        ("The desk says \u00abno ticket is lost\u00bb [doc_a].", "quote_not_in_source", ["no ticket is lost"]),
        ("The desk says 'no ticket gets lost' [doc_b].", "quote_not_in_source", ["no ticket gets lost"]),
        ("The desk \u2018promises\u2019 that [doc_b].", "", []),
    ],
)  # fmt: skip
def test_a_sentence_is_held_against_what_it_cites(answer, reason, unsupported):
    """Numbers, names and quotes stand in the chunks that the sentence cites, not only somewhere in the answer's."""
    result = said(answer, "doc_a", "doc_b", "doc_c")
    assert (result["stop_reason"].partition("invalid_answer:")[2], result.get("unsupported", [])) == (
        reason,
        unsupported,
    )
    assert reason != "quote_not_in_source" or unsupported[0] in result["sentence"]


# Without marks


# Who is asked


def test_the_view_and_the_prompt_ask_for_marks_when_the_policy_does():
    """The deployment or one run's context demands marks; the answerer is told so, by view and prompt, and only then."""
    answerer = scripted_tool({"answer": "P1 is answered in 15 minutes [doc_a].", "citations": []}, loop=True)
    graph = agent_with(*FOUND, answerer=answerer)
    assert graph.invoke(QUESTION)["status"] == "ok"
    assert graph.invoke(QUESTION, context={"policy": {"require_sentence_citations": True}})["status"] == "ok"
    assert [call.get("sentence_citations") for call in answerer.calls] == [None, True]


def test_marks_of_a_model_are_numbers():
    """A model marks by the numbers that it was shown; without the policy the marks go, and are what it cites."""
    for policy, cited in ((POLICY, ["doc_a"]), (STRICT, ["doc_a"])):
        model = ScriptedChatModel('{"answer": "P1 is answered in 15 minutes [1].", "citations": []}')
        asked = create_rag_agent(
            model, planner=scripted_tool(INTENT), retriever=scripted_tool(FOUND, loop=True), policy=policy
        )
        result = asked.invoke(QUESTION)
        assert (result["answer"], result["citations"]) == ("P1 is answered in 15 minutes.", cited)


# Any text

PIECES = st.sampled_from(
    [*"\n.! \u3002\u201c\u201d\"'[]", "\n\n", "P1", "15", "[doc_a]", "[doc_b, doc_c]", "[doc_z]", "[x]", "\u7b54", "- "]
)  # fmt: skip
PACKED = [{**item, "title": "", "section": "", "updated_at": ""} for item in FOUND]


@settings(max_examples=200, deadline=None)
@given(st.lists(PIECES, max_size=25).map("".join), st.lists(st.sampled_from(sorted(TEXTS)), max_size=2, unique=True))
def test_any_answer(answer, cited):
    """Whatever is let through: each sentence cites packed chunks, sentences have every word, and no mark is left."""
    try:
        text, sentences, *_ = rag.read_answer(answer, cited, PACKED, must_cite=True)
    except Stop:
        return
    covered = {place for item in sentences for place in range(item.start, item.end)}
    assert all(place in covered for place, letter in enumerate(text) if letter.isalnum())
    assert all(item.ids and set(item.ids) <= TEXTS.keys() for item in sentences)
    assert [item.start for item in sentences] == sorted(item.start for item in sentences)
    assert not any(f"[{doc_id}]" in text for doc_id in TEXTS)
    letters = [letter for letter in text if letter.isalnum()]
    assert letters == [letter for letter in re.sub(r"\[doc_[a-z](, doc_c)?\]", "", answer) if letter.isalnum()]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.sampled_from(["P1 is 15.", " ", "\n", "Fees are low. ", "\u6599\u91d1\u306f\u5341\u5186\u3002"]),
        min_size=1,
        max_size=30,
    ),
    st.integers(0, 5),
    st.integers(20, 90),
)
def test_the_evidence_stands_in_the_document(parts, blanks, max_chars):
    """What is cut and stripped before it is shown still says where it stands: the document has it at that place."""
    text = f"{' ' * blanks}{''.join(parts)}P1{' ' * blanks}"
    document = f"Head.\n{text}\nTail."
    item = {**FOUND[0], "title": "", "section": "", "updated_at": "", "text": text, "span": [6, 6 + len(text)]}
    limits = {"min_score": 0.2, "max_chunks": 3, "max_chars": max_chars}
    shown = rag.cut_to_best_passages([item], query="P1", terms=read_terms, **limits)
    for chunk in rag.pack_context(shown, **limits)["chunks"]:
        assert document[slice(*chunk["span"])] == chunk["text"]
        read = rag.read_answer(chunk["text"], ["doc_a"], [chunk], must_cite=False)
        checked = rag.check_answer_sentences(read, task={"question": "?"}, workings=[], policy=POLICY)
        [detail] = rag.add_citation_spans(read, checked)
        assert document[slice(*detail["passage_span"])] == chunk["text"]
        assert document[slice(*detail["document_span"])] in chunk["text"]

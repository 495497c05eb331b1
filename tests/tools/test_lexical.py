"""The words of a text and the default retriever.

`data/off_topic_questions.txt` holds questions that neither the demo base nor `data/handbook` answers;
`data/on_topic_questions.jsonl` questions that one of them does, with the beginning of the id of the chunk
that has the answer, and the set: tuning, held out (written after the first tuning), fresh (after the second).
"""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import each_row

from guardgraph.grounding.words import list_content_words, read_terms
from guardgraph.plain.errors import ConfigurationError
from guardgraph.tools.knowledge_base import Document, demo_documents, load_folder
from guardgraph.tools.lexical import LexicalRetriever

DATA = Path(__file__).parents[1] / "data"
DEMO_QUESTION = "What SLA applies to enterprise plan and what is P1 first response target?"
MIN_SCORE, MAX_CHUNKS = 0.2, 3
OFF_TOPIC = [
    line
    for line in (DATA / "off_topic_questions.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]
ON_TOPIC = [json.loads(line) for line in (DATA / "on_topic_questions.jsonl").read_text(encoding="utf-8").splitlines()]
RETRIEVERS = {"demo": LexicalRetriever(demo_documents()), "handbook": LexicalRetriever(load_folder(DATA / "handbook"))}


def ask(retriever, query, sources=None, top_k=MAX_CHUNKS):
    named = list(retriever.sources) if sources is None else sources
    return retriever({"query": query, "sources": named, "top_k": top_k})


def relevant(base, query):
    found = ask(RETRIEVERS[base], query)
    return [candidate["doc_id"] for candidate in found if candidate["score"] >= MIN_SCORE]


def as_asked(question):
    return question


def compact(question):
    return " ".join(list_content_words(question))


def document(name, text, source="s", title="", section=""):
    return Document(id=name, source=source, title=title, section=section, updated_at="2026-01-01", text=text)


@each_row("query", DEMO_QUESTION, compact(DEMO_QUESTION), "enterprise plan SLA uptime P1 first response target")
def test_demo_question_finds_the_enterprise_sla(query):
    """The demo question, and a compact query made of it, have the enterprise SLA as best chunk."""
    assert relevant("demo", query)[0] == "doc_sla_enterprise_v3"


@pytest.mark.paired
@pytest.mark.parametrize("form", [as_asked, compact])
@pytest.mark.parametrize("base", sorted(RETRIEVERS))
def test_questions_about_something_else_find_nothing(base, form):
    """At least 98 of 100 questions that the base has nothing to do with end without a relevant chunk."""
    answered = [question for question in OFF_TOPIC if relevant(base, form(question))]
    assert len(set(OFF_TOPIC)) == len(OFF_TOPIC) >= 300
    assert len(answered) <= 0.02 * len(OFF_TOPIC), answered


@each_row("form", as_asked, compact)
def test_questions_that_a_base_answers_find_their_chunk(form):
    """At least 95 of 100 have the chunk with the answer among those packed, 94 as the best."""
    found = [(relevant(case["base"], form(case["question"])), case["expected"]) for case in ON_TOPIC]
    packed = sum(any(name.startswith(expected) for name in ids) for ids, expected in found)
    best = sum(bool(ids) and ids[0].startswith(expected) for ids, expected in found)
    assert len(ON_TOPIC) >= 60
    assert (packed >= 0.95 * len(ON_TOPIC), best >= 0.94 * len(ON_TOPIC)) == (True, True), (packed, best)


def test_only_allowed_sources_are_found():
    """A document of another source is never a candidate, and the scores of the others do not depend on it."""
    everywhere = ask(RETRIEVERS["demo"], DEMO_QUESTION, top_k=6)
    billing = ask(RETRIEVERS["demo"], DEMO_QUESTION, sources=["billing_policy", "unknown"], top_k=6)
    assert billing == [found for found in everywhere if found["source"] == "billing_policy"] != []
    assert ask(RETRIEVERS["demo"], DEMO_QUESTION, sources=[]) == []


def test_names_of_code_and_headings_are_found_in_any_form():
    """A name by its parts, and a word that stands in title or section alone."""
    named = [document(name, f"There is {name}.") for name in ("DropEvent", "JSONRenderer", "jinja2")]
    retriever = LexicalRetriever([*named, document("a", "x", title="Refunds", section="Eligibility")])
    asked = ["How do I drop an event?", "Is there JSON?", "Jinja", "refunded", "eligibility"]
    found = [ask(retriever, question)[0]["doc_id"] for question in asked]
    assert found == ["DropEvent", "JSONRenderer", "jinja2", "a", "a"]


@given(st.lists(st.sampled_from([*read_terms(" ".join(d["text"] for d in demo_documents())), "zebra", "moon"])))
def test_scores_are_shares(words):
    """Any query scores in 0..1, best first; saying all twice changes nothing, foreign words lower every score."""
    retriever = RETRIEVERS["demo"]
    found = ask(retriever, " ".join(words), top_k=6)
    scores = [candidate["score"] for candidate in found]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)
    assert ask(retriever, " ".join(words + words), top_k=6) == found
    foreign = {found["doc_id"]: found["score"] for found in ask(retriever, " ".join([*words, "quokka"]), top_k=6)}
    assert all(foreign[candidate["doc_id"]] < candidate["score"] for candidate in found)


@each_row(
    ("documents", "problem"),
    ([document("a", "x"), document("b", "x"), document("a", "y")], "2 documents have the id 'a'"),
    ([{"id": "a"}], "document 0: 'section' is missing or no string"),
    ([document("a", 5)], "document 0: 'text' is missing or no string"),
    ([document("a", "x"), "text"], "document 1 is no dictionary but a str"),
)
def test_bad_documents_are_configuration_errors(documents, problem):
    """Documents that could not be cited or searched are refused when the retriever is made."""
    with pytest.raises(ConfigurationError, match=problem):
        LexicalRetriever(documents)

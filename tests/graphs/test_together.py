"""What one sentence says stands together in what it cites, where the policy asks for it."""

from __future__ import annotations

import pytest
from rag_agents import CANDIDATE, POLICY, QUESTION, agent_with

MUST = {"require_sentence_citations": True, "check_together": True}
TEXT = (
    "Zephyr starts in 4 minutes. It is made by Ann Lee. The desk is open at night. A boat is moored there. "
    "Borealis starts in 9 minutes. It is sold in Kent."
)
FOUND = [{**CANDIDATE, "doc_id": "doc_a", "title": "Tools of 2019", "text": TEXT}]


def said(answer, found=FOUND, **settings):
    """Return the result of an agent whose answerer says this."""
    policy = POLICY.model_copy(update={**MUST, **settings})
    return agent_with(*found, answer={"answer": answer, "citations": []}, policy=policy).invoke(QUESTION)


@pytest.mark.parametrize(
    "answer",
    [
        "It is Zephyr that starts in 9 minutes [doc_a].",
        "Ann Lee has made Borealis [doc_a].",
        "Tools start in 4 minutes or in 9 minutes [doc_a].",
        "It is Zephyr that starts in 4 minutes [doc_a]. In Kent there is a boat of Ann Lee [doc_a].",
    ],
)
def test_what_lies_apart_is_refused(answer):
    """The facts and names of one sentence stand in two neighbouring sentences; the first that do not are shown."""
    result = said(answer)
    assert (result["stop_reason"], result["phase"]) == ("invalid_answer:not_together", "generate")
    assert result["sentence"] in answer.replace(" [doc_a]", "")
    assert said(answer, check_together=False)["outcome"] == "grounded_answer"


@pytest.mark.parametrize(
    "answer",
    [
        "It is Zephyr that starts in 4 minutes, and it is made by Ann Lee [doc_a].",
        "In Kent one buys Borealis, which starts in 9 minutes since 2019 [doc_a].",
        "It is Zephyr that starts in 4 minutes [doc_a]. It is Borealis that starts in 9 minutes [doc_a].",
        "There is a boat [doc_a].",
    ],
)
def test_what_stands_together_passes(answer):
    """Neighbouring sentences and the title support one sentence; other sentences have neighbours of their own."""
    assert said(answer)["outcome"] == "grounded_answer"


def test_each_document_is_read_alone():
    """No two sentences of different documents are neighbours; a document of one sentence supports what it says."""
    texts = {"doc_a": "Zephyr starts in 4 minutes.", "doc_b": "Borealis is sold in Kent."}
    found = [{**CANDIDATE, "doc_id": name, "text": text} for name, text in texts.items()]
    assert said("It is in Kent that Zephyr starts [doc_a, doc_b].", found)["stop_reason"].endswith("not_together")
    assert said("It is in Kent that Borealis is sold [doc_a, doc_b].", found)["outcome"] == "grounded_answer"


def test_sentences_that_need_not_cite_are_not_asked():
    """Without `require_sentence_citations` nobody knows what a sentence rests on, and the check says nothing."""
    answer = {"answer": "It is Zephyr that starts in 9 minutes.", "citations": ["doc_a"]}
    policy = POLICY.model_copy(update={"check_together": True})
    assert agent_with(*FOUND, answer=answer, policy=policy).invoke(QUESTION)["outcome"] == "grounded_answer"

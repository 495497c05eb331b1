"""Changes that are judged by meaning: an embedding measures, the record keeps what it measured, a guard decides."""

import pytest
from langchain_core.embeddings import Embeddings
from self_critique_cases import DRAFT, GIVEN, REVISE, agent, checked
from tables import each_row

from guardgraph import ConfigurationError, NotRecorded, replay
from guardgraph.testing import InMemoryRecorder

MONEY = f"{DRAFT} Money comes back."
SILENT = f"{DRAFT} Thank you."
MENTION = {**REVISE, "required_changes": ['MUST_MENTION "refund timing"']}
SURE = f"{DRAFT} We ring customers."
SOFT = f"{DRAFT} We may ring customers."
SOFTEN = {**REVISE, "required_changes": ['MUST_SOFTEN "will call you"']}


class Topics(Embeddings):
    words = ("refund", "money"), ("call", "ring")

    def __init__(self):
        self.asked = []

    def embed_documents(self, texts):
        self.asked.append(texts)
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text):
        return [float(any(word in text.lower() for word in words)) for words in self.words] + [0.1]


class Broken(Topics):
    def embed_documents(self, texts):
        return [[1.0]]


class Failing(Topics):
    def embed_documents(self, texts):
        raise ValueError("no vectors today")


def measured(critique, revised, embedding=None, **more):
    embedding = embedding or Topics()
    return checked(agent(DRAFT, critique, revised, embedding=embedding, **more).invoke(GIVEN))


def test_a_sentence_mentions_a_phrase_in_other_words():
    """What no stem finds, the similarity does: the first revision is refused, the second accepted."""
    embedding = Topics()
    result = measured(MENTION, (SILENT, MONEY), embedding)
    assert (result["status"], result["answer"]) == ("ok", MONEY)
    assert len(embedding.asked) == 2
    assert result["path"].count("measure_changes") == 2
    assert result["path"].count("changes_guard") == 2
    step = next(item for item in result["history"] if item.get("action") == "measure_changes")
    assert (step["proposer"], max(step["similarities"][0]) > 0.8) == ("Topics", True)


def test_a_sentence_in_other_words_has_to_be_softened():
    """What is stated in other words is refused until a hedge stands in it; by stems it would have passed."""
    assert measured(SOFTEN, (SURE, SOFT))["answer"] == SOFT
    assert checked(agent(DRAFT, SOFTEN, (SURE,)).invoke(GIVEN))["answer"] == SURE


def test_changes_word_for_word_ask_no_embedding():
    """Where nothing has to be mentioned or softened, nothing is measured."""
    embedding = Topics()
    assert measured(REVISE, (f"{DRAFT} Timing may change.",), embedding)["status"] == "ok"
    assert embedding.asked == []


@each_row("embedding", Broken(), Failing())
def test_an_embedding_that_fails_lets_nothing_pass(embedding):
    """Too few vectors and an exception both end the run; nothing is returned. What is none is refused by name."""
    result = measured(MENTION, (MONEY,), embedding)
    assert (result["status"], result["stop_reason"], "answer" in result) == ("stopped", "llm_bad_response", False)
    with pytest.raises(ConfigurationError, match="embedding: an Embeddings of LangChain's is required; given: str"):
        agent(embedding="text-embedding")


def test_what_was_measured_is_recorded_and_decides_under_other_thresholds():
    """A replay asks no embedding; under another threshold it ends as recorded or is unknown."""
    recorder = InMemoryRecorder()
    result = measured(MENTION, (MONEY,), recorder=recorder)
    run = recorder.runs[0]
    unasked = Topics()
    other = agent(DRAFT, MENTION, (MONEY,), embedding=unasked)
    assert replay(other, run)["answer"] == result["answer"] == MONEY
    strict = agent(DRAFT, MENTION, (MONEY,), embedding=unasked, budget={"min_mention_similarity": 1.5})
    with pytest.raises(NotRecorded, match="revise"):
        replay(strict, run)
    measured_by_none = InMemoryRecorder()
    said = f"{DRAFT} Refunds are timed by the bank."
    checked(agent(DRAFT, MENTION, (said,), recorder=measured_by_none).invoke(GIVEN))
    with pytest.raises(NotRecorded, match="measure_changes"):
        replay(other, measured_by_none.runs[0])
    assert unasked.asked == []

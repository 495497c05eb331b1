"""What says nothing is no answer: placeholders, echoes and the prompt's own words, in every pattern."""

from __future__ import annotations

import pytest
from self_critique_cases import GIVEN

from guardgraph import create_rag_agent, create_self_critique_agent, create_tool_agent
from guardgraph.grounding.empty import is_empty_text
from guardgraph.world.prompts import list_prompt_texts

QUESTION = "What is the P1 first response target?"
SLA = "doc_sla_enterprise_v3"
NOTHING = [
    "The answer to this question is:",
    "<text>",
    "...",
    "N/A",
    "{}",
    "yes",
    "No.",
    "1",
    "null",
    "[answer]",
    "text",
    f" {QUESTION.upper()} ",
    SLA,
    "はい",
]
SAID = [
    "15 minutes.",
    "$320",
    "99.95 %",
    "Paris",
    "P1",
    "1998",
    "東京です",
    "The answer is 15 minutes.",
    "It is P1, not P2.",
]


@pytest.mark.parametrize("text", NOTHING)
def test_a_text_that_says_nothing_is_no_answer(text):
    """Of the RAG agent it is `invalid_answer:empty`, and asked for again."""

    def answerer(view):
        return {"answer": "The target is 15 minutes." if "refused" in view else text, "citations": [SLA]}

    answerer.asked_again = True
    result = create_rag_agent(answerer=answerer).invoke({"question": QUESTION})
    assert [item["reason"] for item in result["attempts"]] == ["invalid_answer:empty"]
    assert result["outcome"] == "grounded_answer"


@pytest.mark.parametrize("text", SAID)
def test_a_short_text_may_say_something(text):
    """A name, a sum or a measure is an answer, however short."""
    assert not is_empty_text(text, echoes=[QUESTION, SLA], told=list_prompt_texts())


def test_what_the_prompt_says_is_no_answer():
    """A sentence of a prompt, that of the repeated ask too, says nothing; a text that says more does."""
    told = list_prompt_texts()
    echoed = "What cannot be mended is left out."
    assert is_empty_text(echoed, told=told)
    assert not is_empty_text(f"{echoed} The P1 target is 15 minutes.", told=told)


def test_drafts_and_answers_of_tools_that_say_nothing():
    """The same holds for a draft, and for the answer of a task."""
    draft = create_self_critique_agent(drafter=lambda view: {"draft": "<text>"}).invoke(GIVEN)
    assert draft["stop_reason"] == "invalid_draft:empty"
    step = {"calls": [], "plan": "", "answer": "<text>", "declined": False}
    assert (
        create_tool_agent(planner=lambda view: step).invoke({"task": "Pay."})["stop_reason"] == "invalid_answer:empty"
    )

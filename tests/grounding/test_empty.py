"""What says nothing is no answer: placeholders, echoes and the prompt's own words, in every pattern."""

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from self_critique_cases import GIVEN
from tables import each_row

from guardgraph import ToolPolicy, ToolRule, create_rag_agent, create_self_critique_agent, create_tool_agent
from guardgraph.grounding.empty import is_empty_text
from guardgraph.middleware import GroundedAnswer
from guardgraph.testing import ScriptedChatModel
from guardgraph.world.prompts import list_prompt_texts

QUESTION = "What is the P1 first response target?"
SLA = "doc_sla_enterprise_v3"
NOTHING = [
    *("The answer to this question is:", "<text>", "...", "N/A", "{}", "yes", "1", "null", "[answer]", "はい", SLA),
    f" {QUESTION.upper()} ",
]
SAID = ["$320", "Paris", "P1", "1998", "東京です", "The answer is 15 minutes."]


@each_row("text", *NOTHING)
def test_a_text_that_says_nothing_is_no_answer(text):
    """Of the RAG agent it is `invalid_answer:empty`, and asked for again."""

    def answerer(view):
        return {"answer": "The target is 15 minutes." if "refused" in view else text, "citations": [SLA]}

    answerer.asked_again = True
    result = create_rag_agent(answerer=answerer).invoke({"question": QUESTION})
    assert [item["reason"] for item in result["attempts"]] == ["invalid_answer:empty"]
    assert result["outcome"] == "grounded_answer"


def test_what_the_prompt_says_is_no_answer():
    """A sentence of a prompt, that of the repeated ask too, says nothing; a short text that says more does."""
    told = list_prompt_texts()
    assert [text for text in SAID if is_empty_text(text, echoes=[QUESTION, SLA], told=told)] == []
    echoed = "Write the whole reply again, in the same form, with this put right or left out."
    assert is_empty_text(echoed, told=told)
    assert not is_empty_text(f"{echoed} The P1 target is 15 minutes.", told=told)


def count_orders() -> str:
    """Return how many orders are open."""
    return "3 orders are open."


def end_task(answer: str) -> str:
    """Return how a run ends whose model counts orders and then says this."""

    def planner(view):
        calls = [] if view["results"] else [{"tool": "count_orders", "args": {}}]
        return {"calls": calls, "plan": "", "answer": None if calls else answer, "declined": False}

    policy = ToolPolicy(rules={"count_orders": ToolRule(effect="read")})
    agent = create_tool_agent(planner=planner, tools=[count_orders], policy=policy)
    return agent.invoke({"task": QUESTION})["stop_reason"]


def judge_message(answer: str) -> str:
    """Return what `GroundedAnswer` says of an answer behind the result of a tool."""
    model = ScriptedChatModel(AIMessage(answer))
    agent = create_agent(model, middleware=[GroundedAnswer(max_attempts=1)])
    called = AIMessage("", tool_calls=[{"id": "c1", "name": "count_orders", "args": {}}])
    said = ToolMessage(count_orders(), tool_call_id="c1", name="count_orders")
    return agent.invoke({"messages": [HumanMessage(QUESTION), called, said]})["guardgraph"]["stop_reason"]


@pytest.mark.parametrize("judge", [end_task, judge_message])
def test_what_says_nothing_ends_no_task(judge):
    """A number that a result has is an answer, and so is that it is done."""
    assert {judge(text) for text in NOTHING if text != SLA} == {"invalid_answer:empty"}
    assert {judge(text) for text in ("3", "3.", "Done.", "3 orders are open.")} <= {"success", "ok"}


def test_drafts_that_say_nothing():
    draft = create_self_critique_agent(drafter=lambda view: {"draft": "<text>"}).invoke(GIVEN)
    assert draft["stop_reason"] == "invalid_draft:empty"

"""Replies that a model puts into one Markdown fence, in all three patterns."""

import json

from rag_agents import ANSWER as RAG_ANSWER
from rag_agents import INTENT, QUESTION
from research_cases import ANSWER, GOAL, PLAN, REQUEST
from self_critique_cases import DRAFT, GIVEN, REVISE, REVISED
from tables import each_row

from guardgraph import create_rag_agent, create_research_agent, create_self_critique_agent
from guardgraph.testing import ScriptedChatModel

RUNS = {
    "rag": (create_rag_agent, QUESTION, [INTENT, RAG_ANSWER]),
    "research": (create_research_agent, {"goal": GOAL, "request": REQUEST}, [PLAN, ANSWER]),
    "self_critique": (create_self_critique_agent, GIVEN, [{"draft": DRAFT}, REVISE, {"revised_answer": REVISED}]),
}


@each_row("name", *RUNS)
def test_thinking_before_a_reply_is_passed_over(name):
    """Blocks of thinking in front change nothing, fenced or not; one without an end, or behind, makes it no JSON."""
    create, given, replies = RUNS[name]
    thought = [f"\n<think>\nHm {{}} ...\n</think> <think></think>\n```\n{json.dumps(reply)}\n```" for reply in replies]
    plain, read = (create(ScriptedChatModel(*script)).invoke(given) for script in (replies, thought))
    assert (plain["outcome"], plain["answer"]) == (read["outcome"], read["answer"])
    for text in (f"<think>{json.dumps(replies[0])}", f"{json.dumps(replies[0])}<think>no</think>"):
        result = create(ScriptedChatModel(text, loop=True)).invoke(given)
        assert result["stop_reason"] == ("invalid_intent:kind" if name == "rag" else "llm_invalid_json")

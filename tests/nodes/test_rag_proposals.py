"""What a proposer of the RAG agent can return: a text, a value, a message, numbers, anything at all."""

import json

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableLambda
from pydantic import BaseModel
from rag_agents import ANSWER, CANDIDATE, INTENT, QUESTION, SLA, agent, agent_with
from runs import ASKED_ONCE, LIMITS, check_result, content
from tables import each_row

from guardgraph import create_rag_agent
from guardgraph.state.rag import RAG_REASONS
from guardgraph.testing import Reply, ScriptedChatModel
from guardgraph.world.prompts import load_prompt

USAGE = {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5}


class Intent(BaseModel):
    kind: str = "retrieve"
    query: str = INTENT["query"]


def structured(reply, prompt, **kwargs):
    model = ScriptedChatModel(reply).with_structured_output(load_prompt(prompt, LIMITS).schema, **kwargs)
    return RunnableLambda(lambda view: [HumanMessage(json.dumps(view))]) | model


def ways_to_say(text, prompt):
    return {
        "a model": ScriptedChatModel(text),
        "a message": RunnableLambda(lambda view: AIMessage(text)),
        "a function": lambda view: AIMessage(text),
        "blocks": lambda view: AIMessage([{"type": "text", "text": text}]),
        "include_raw": structured(text, prompt, include_raw=True),
    }


WAYS = list(ways_to_say("", "rag_plan"))


def planned_by(proposer):
    graph = create_rag_agent(proposer) if isinstance(proposer, ScriptedChatModel) else agent(planner=proposer)
    return check_result(RAG_REASONS, graph.invoke(QUESTION, context=ASKED_ONCE))


def answered_by(proposer):
    is_model = isinstance(proposer, ScriptedChatModel)
    graph = create_rag_agent(proposer, planner=lambda view: INTENT) if is_model else agent(answerer=proposer)
    return check_result(RAG_REASONS, graph.invoke(QUESTION, context=ASKED_ONCE))


FENCED = f"```json\n{json.dumps(INTENT)}\n```"
PLAN_TEXTS = [
    ("I would search for the SLA.", "invalid_intent:kind", "I would search for the SLA."),
    (f"Here it is:\n{FENCED}", "invalid_intent:kind", f"Here it is:\n{FENCED}"),
    ('```json\n{"kind": "retrieve"}\n```', "invalid_intent:query", {"kind": "retrieve"}),
    (json.dumps([INTENT]), "invalid_intent:not_object", [INTENT]),
    ('{"kind": "retrieve", "top_k": 1e999}', "invalid_intent:kind", '{"kind": "retrieve", "top_k": 1e999}'),
]


@pytest.mark.paired
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("text", "reason", "raw"), PLAN_TEXTS)
def test_a_planners_text(text, reason, raw, way):
    """Text that is no JSON is invalid_intent:kind with the text as raw_intent; JSON is judged by the policy guard."""
    result = planned_by(ways_to_say(text, "rag_plan")[way])
    assert (result["stop_reason"], result["phase"]) == (reason, "plan")
    said = content(result)
    assert said["raw_intent"] == raw
    assert (said.keys() == {"raw_intent", "details"}) is (reason == "invalid_intent:kind" and isinstance(raw, str))


ANSWER_TEXTS = [
    ("15 minutes.", "llm_invalid_json"),
    (f"```json\n{json.dumps(ANSWER)}\n```\nI hope this helps!", "llm_invalid_json"),
    ('~~~\n{"answer": " ", "citations": []}\n~~~', "llm_empty"),
    (json.dumps({**ANSWER, "sure": 2**63}), "llm_invalid_json"),
    (f'{{"answer": "15 minutes", "citations": ["{SLA}", 1.5]}}', "llm_invalid_schema"),
]


@pytest.mark.paired
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("text", "reason"), ANSWER_TEXTS)
def test_an_answerers_text(text, reason, way):
    """Text that is no JSON object, lacks a field or is blank has a reason each, and details."""
    result = answered_by(ways_to_say(text, "rag_answer")[way])
    assert (result["stop_reason"], result["phase"]) == (reason, "generate")
    assert content(result).keys() == {"details", "so_far"}


@each_row("way", *WAYS)
def test_good_texts(way):
    """Of a text as of a value, fenced or not, with thinking in front that is passed over."""
    expected, thinking = content(agent().invoke(QUESTION)), "\n<think>\nHm {} ...\n</think> <think></think>\n"
    assert content(answered_by(ways_to_say(thinking + json.dumps(ANSWER), "rag_answer")[way])) == expected
    if way != "a model":  # which would have to answer, too
        assert content(planned_by(ways_to_say(thinking + FENCED, "rag_plan")[way])) == expected
    for planner in (lambda view: Intent(), structured(json.dumps(INTENT), "rag_plan")):
        assert planned_by(planner)["outcome"] == "grounded_answer"
    told = planned_by(structured(Reply(INTENT, usage=USAGE), "rag_plan", include_raw=True))
    assert told["history"][0]["usage"] == USAGE


@each_row(
    ("answer", "cited", "expected"),
    ("P1: 15 minutes.", "a", "grounded_answer"),
    ("Since January 15, 2026, Section 7 of 2024 says: 15 minutes.", "a", "grounded_answer"),
    ("P1: 15 hours.", "a", ["15 hours"]),
    ("P2: 3 hours.", "a", ["P2", "3 hours"]),
    ("P2: 3 hours.", "ab", "grounded_answer"),
)
def test_numbers(answer, cited, expected):
    """A number is licensed by a cited chunk's text, title, section or date, in its unit, not by an uncited chunk."""
    about = {"title": "Policy of 2024", "section": "Section 7", "updated_at": "2026-01-15"}
    found = [{**CANDIDATE, **about}, {**CANDIDATE, "doc_id": "b", "text": "P2 within 3 hours."}]
    graph = agent_with(*found, answer={"answer": answer, "citations": [*cited]})
    result = check_result(RAG_REASONS, graph.invoke({"question": "What is P1?"}))
    assert result.get("unsupported", result.get("outcome")) == expected

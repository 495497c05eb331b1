"""A run that stops after something was accepted returns it."""

from __future__ import annotations

from typing import Any

import pytest

import guardgraph.grammar as gg
from guardgraph import (
    GrammarError,
    RagBudget,
    RagPolicy,
    ToolPolicy,
    create_rag_agent,
    create_research_agent,
    create_self_critique_agent,
    create_tool_agent,
)
from guardgraph.state.rag import RAG_REASONS, RagInput, RagResult, RagState
from guardgraph.tools.demo import load_research_demo, load_self_critique_demo

QUESTION = {"question": "What is the P1 first response target?"}
WRONG = {"answer": "P1 is answered within 5 minutes.", "citations": ["doc_sla_enterprise_v3"]}


def answer_wrongly(view: Any) -> Any:
    """An answer that no source bears out."""
    return WRONG


def test_passages_are_returned_by_a_run_whose_answer_was_refused() -> None:
    """The passages that it would have rested on are there as data, and nothing is an answer."""
    result = create_rag_agent(answerer=answer_wrongly).invoke(QUESTION)
    assert result["status"] == "stopped"
    assert "doc_sla_enterprise_v3" in [item["doc_id"] for item in result["so_far"]["passages"]]
    assert "answer" not in result


def test_notes_are_returned_by_a_run_whose_brief_was_refused() -> None:
    """What was verified before the stop is not lost."""
    agent = create_research_agent(writer=lambda view: {"answer": "It is 7 in all.", "citations": ["n99"]})
    result = agent.invoke(load_research_demo())
    assert result["stop_reason"] == "invalid_answer:citation_unknown"
    assert all(note["quote"] for note in result["so_far"]["notes"])


def test_notes_that_did_not_verify_are_not_returned() -> None:
    """A note whose quote stands on no page was never accepted."""

    def extract(request: Any) -> Any:
        url = next(iter(request["pages"]))
        return [{"claim": "It took 77 days.", "quote": "It took 77 days, as nobody says here.", "url": url}]

    result = create_research_agent(extractor=extract).invoke(load_research_demo())
    assert result["stop_reason"].startswith("verification_failed")
    assert "notes" not in result.get("so_far", {})


def test_a_draft_is_returned_by_a_run_whose_critique_was_refused() -> None:
    """The draft is there as data."""
    agent = create_self_critique_agent(critic=lambda view: {"decision": "maybe"})
    result = agent.invoke(load_self_critique_demo())
    assert result["so_far"]["draft"]


def test_calls_are_returned_with_what_they_brought() -> None:
    """Also those of a run that ends at a limit."""

    def look(name: str) -> str:
        """Look something up."""
        return f"{name} is in room 4"

    agent = create_tool_agent(
        planner=lambda view: {"calls": [{"tool": "look", "args": {"name": "Ann"}}]},
        tools=[look],
        policy=ToolPolicy(rules={"look": {"effect": "read"}}),
    )
    result = agent.invoke({"task": "Where is Ann?"})
    assert result["stop_reason"].startswith("loop_detected")
    assert {call["value"] for call in result["so_far"]["tool_calls"]} == {"Ann is in room 4"}


def test_a_place_that_no_guard_writes_is_refused_as_the_pattern_is_made() -> None:
    """Only channels that there are, and none that holds what nobody has judged."""
    with pytest.raises(GrammarError, match="so_far: channels of the state are required; given: no_channel"):
        gg.Pattern(
            RAG_REASONS,
            state=RagState,
            input=RagInput,
            output=RagResult,
            policy=RagPolicy(),
            budget=RagBudget(),
            so_far={"a": "no_channel.b"},
        )

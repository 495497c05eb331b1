"""Results as their types say, and what a run returns that stopped after something was accepted."""

from __future__ import annotations

from typing import Any, NotRequired

import pytest
from pydantic import TypeAdapter
from ticket_pattern import REASONS, In, Out, Policy, State
from typing_extensions import TypedDict

import guardgraph
import guardgraph.grammar as gg
from guardgraph import (
    GrammarError,
    RagBudget,
    RagPolicy,
    create_rag_agent,
    create_research_agent,
    create_self_critique_agent,
    create_tool_agent,
)
from guardgraph.grammar import Budget, Ok, Pattern, Result, Stopped, Waiting
from guardgraph.state.rag import RAG_REASONS, RagInput, RagResult, RagState
from guardgraph.testing import ScriptedChatModel
from guardgraph.tools.demo import load_rag_demo, load_research_demo, load_self_critique_demo


class Labelled(Ok):
    label: str
    on_duty: str


class Unlabelled(Stopped):
    raw_label: NotRequired[object]
    label: NotRequired[int]


class NoResult(TypedDict):
    label: str


def outputs(output):
    """Return the JSON schema of what a pattern says that a run may return."""
    p = Pattern(REASONS, state=State, input=In, output=output, policy=Policy(), budget=Budget())
    p.entry("request_guard", lambda state, run: None, writes=["task"], to="done")
    p.terminal("done", lambda state, run: {}, phase="lookup", reads=["task"], writes=["outcome"])
    return p.builder().compile().get_output_jsonschema()


def test_a_union_has_the_keys_of_its_parts():
    """Keys of one ending only are optional, as in one TypedDict for both; a run that waits has not returned."""
    one, either = outputs(Out), outputs(Labelled | Unlabelled | Waiting)
    assert either["properties"].keys() == one["properties"].keys()
    assert either["required"] == one["required"]
    ours = Result.__annotations__.keys()
    assert {key: either["properties"][key] for key in ours} == {key: one["properties"][key] for key in ours}
    assert [kind["type"] for kind in either["properties"]["label"]["anyOf"]] == ["string", "integer"]


@pytest.mark.parametrize("output", [NoResult, Labelled | NoResult, Waiting | None, Waiting])
def test_every_part_of_an_output_is_a_result(output):
    """A part that does not say how the run went is refused, wherever it stands."""
    with pytest.raises(GrammarError, match=r"output: a TypedDict derived from Result is required"):
        outputs(output)


MISCITED = {"answer": "Soon.", "citations": ["a_rumour"]}


def escalate(view):
    """Hand the draft to a person."""
    return {"decision": "escalate", "severity": "high", "risks": [], "required_changes": [], "reason": "Ask someone."}


@pytest.mark.parametrize(
    ("kind", "agent", "given", "status"),
    [
        ("Rag", create_rag_agent, load_rag_demo(), "ok"),
        ("Rag", create_rag_agent, {"question": "Do you repair bicycles?"}, "ok"),
        ("Rag", lambda: create_rag_agent(answerer=lambda view: MISCITED), load_rag_demo(), "stopped"),
        ("Rag", lambda: create_rag_agent(ScriptedChatModel("no JSON")), load_rag_demo(), "stopped"),
        ("Rag", create_rag_agent, {}, "stopped"),
        ("Research", create_research_agent, load_research_demo(), "ok"),
        ("Research", lambda: create_research_agent(search=lambda view: []), load_research_demo(), "stopped"),
        ("Research", lambda: create_research_agent(writer=lambda view: MISCITED), load_research_demo(), "stopped"),
        ("SelfCritique", create_self_critique_agent, load_self_critique_demo(), "ok"),
        ("SelfCritique", lambda: create_self_critique_agent(critic=escalate), load_self_critique_demo(), "stopped"),
    ],
)
def test_a_result_is_what_its_type_says(kind, agent, given, status):
    """Each ending has the keys that its TypedDict requires and no others; Pydantic reads it whole and does not warn."""
    result = agent().invoke(given)
    ending = getattr(guardgraph, kind + {"ok": "Ok", "stopped": "Stopped"}[status])
    assert result["status"] == status
    assert not result["stop_reason"].startswith("guard_error")
    assert TypeAdapter(ending).validate_python(result) == result
    assert TypeAdapter(getattr(guardgraph, f"{kind}Result")).validate_python(result) == result


@pytest.mark.parametrize(
    ("agent", "given", "text", "reason"),
    [
        (
            lambda: create_research_agent(writer=lambda view: {"answer": "It is 7 in all.", "citations": ["n99"]}),
            load_research_demo,
            "It is 7 in all.",
            "invalid_answer:citation_unknown",
        ),
        (
            lambda: create_self_critique_agent(drafter=lambda view: {"draft": "See https://evil.dev/x for more."}),
            load_self_critique_demo,
            "See https://evil.dev/x for more.",
            "invalid_draft:unsupported_link",
        ),
        (
            lambda: create_tool_agent(planner=lambda view: {"answer": "The total is 77."}),
            lambda: {"task": "What is the total?"},
            "The total is 77.",
            "invalid_answer:unsupported_number",
        ),
    ],
)
def test_every_pattern_returns_the_last_refused_answer(agent: Any, given: Any, text: str, reason: str) -> None:
    """Where the guard that refused it marks nothing, its text and the reason."""
    result = agent().invoke(given())
    assert result["so_far"]["refused_answer"] == {"text": text, "reason": reason}
    assert result["stop_reason"] == reason
    assert "answer" not in result


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

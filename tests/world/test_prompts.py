"""Prompts of an application's own: files with named fields, checked when an agent is built, hashed into recordings."""

from __future__ import annotations

import pytest

from guardgraph import create_rag_agent, create_research_agent, create_self_critique_agent, create_tool_agent
from guardgraph.plain.errors import ConfigurationError
from guardgraph.testing import ScriptedChatModel
from guardgraph.world.prompts import list_prompt_names, read_own_prompts, write_prompts

QUESTION = {"question": "What is the P1 first response target?"}
ANSWER = {"answer": "The target is 15 minutes.", "citations": [1]}
OWN = "Answer like a pirate, in JSON.\n\n---\n\n$context_chunks\n\nAhoy: $question"


def test_a_prompt_of_ones_own_takes_the_place_of_ours():
    """The model is told it, and history names it with another hash; the guards are the same."""
    theirs, ours = ScriptedChatModel(ANSWER), ScriptedChatModel(ANSWER)
    result = create_rag_agent(theirs, planner="rules", prompts={"rag_answer": OWN}).invoke(QUESTION)
    plain = create_rag_agent(ours, planner="rules").invoke(QUESTION)
    system, human = (message.content for message in theirs.calls[0].messages)
    assert system == "Answer like a pirate, in JSON."
    assert human.startswith("[1] ")
    assert human.endswith(f"Ahoy: {QUESTION['question']}")
    assert result["answer"] == plain["answer"]
    assert result["history"][-1]["prompt"] != plain["history"][-1]["prompt"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"rag_answer": OWN.replace("$question", "?")}, r"prompts\.rag_answer: the field \$question is missing"),
        ({"rag_answer": OWN + " $colour"}, r"prompts\.rag_answer: there is no field \$colour"),
        ({"rag_answer": f"At most $max_top_k. {OWN}"}, r"prompts\.rag_answer: there is no field \$max_top_k"),
        ({"rag_answer": " "}, r"prompts\.rag_answer: a text that is not blank"),
        ({"tools_plan": OWN}, "prompts: one of rag_answer, .* is required; given: 'tools_plan'"),
        ("nowhere", "prompts: a folder with files"),
        (5, "prompts: a folder of files, or texts by name"),
    ],
)
def test_a_prompt_that_does_not_fit_is_refused_when_the_agent_is_built(given, said):
    """By its name, and the field."""
    with pytest.raises(ConfigurationError, match=said):
        create_rag_agent(prompts=given)


@pytest.mark.parametrize(
    ("name", "create"),
    [
        ("rag", create_rag_agent),
        ("research", create_research_agent),
        ("critique", create_self_critique_agent),
        ("tools", create_tool_agent),
    ],
)
def test_our_prompts_can_be_written_out_and_given_back(tmp_path, name, create):
    """Of each agent; a file that is there already is not overwritten."""
    written = write_prompts(tmp_path / "own", name)
    assert [path.stem for path in written] == [*list_prompt_names(name)]
    assert read_own_prompts(tmp_path / "own", name).keys() == {*list_prompt_names(name)}
    create(prompts=tmp_path / "own")
    with pytest.raises(ConfigurationError, match="prompts: a folder without"):
        write_prompts(tmp_path / "own", name)


def test_a_rule_beside_a_model():
    """`"rules"` stands for the offline rule; another text is no proposer."""
    model = ScriptedChatModel(ANSWER)
    result = create_rag_agent(model, planner="rules").invoke(QUESTION)
    assert [entry["proposer"] for entry in result["history"]] == ["offline", "scripted"]
    with pytest.raises(ConfigurationError, match="planner: a Runnable or a function of one dictionary; given: 'rule'"):
        create_rag_agent(model, planner="rule")

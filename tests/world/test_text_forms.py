"""Models that are held to no schema write texts: drafts, critiques, notes and questions are read from them."""

import pytest
from openai_server import OpenAIServer, says
from self_critique_cases import DRAFT, GIVEN, NOTE, REVISED
from tables import each_row

import guardgraph as g
from guardgraph.world.prompts import find_nearest_sentence

HOST = "handbook.example"
PAGE = "# Trial\n\nThe trial lasts 21 days and needs no credit card. At its end the workspace turns read-only.\n"


@pytest.fixture
def run(monkeypatch):
    """Run an agent whose model writes these texts in turn, and return its result and what was asked."""

    def run_agent(create, given, *texts, **settings):
        script = [text if isinstance(text, bytes) else says(text) for text in texts]
        with OpenAIServer(*script) as server:
            for name, value in server.environ(OPENAI_STRUCTURED_OUTPUT="none").items():
                monkeypatch.setenv(name, value)
            result = create("openai:test-model", **settings).invoke(given)
        return result, server.requests

    return run_agent


@each_row(
    "critique",
    f'REVISE\nADD "{NOTE}"',
    f'**Revise**: the estimate is bare.\n- ADD "{NOTE}".',
    f'{{"decision": "revise", "required_changes": ["ADD \\"{NOTE}\\""]}}',
)
def test_a_draft_is_written_reviewed_and_revised_in_texts(run, critique):
    """None of the asks names JSON; a fence around a text is none of it."""
    result, asked = run(g.create_self_critique_agent, GIVEN, f"```\n{DRAFT}\n```", critique, REVISED)
    assert (result["outcome"], result["answer"]) == ("revised_once", REVISED)
    assert result["required_changes"] == [f'ADD "{NOTE}"']
    assert not [True for each in asked if "JSON" in each["body"]["messages"][0]["content"]]


@each_row(
    ("critique", "reason"),
    ("APPROVE", "success"),
    ("ESCALATE: it promises a date.", "policy_escalation"),
    ('APPROVE\nREMOVE "P1 payment incident"', "invalid_critique:approve_with_required_changes"),
    ("Looks good to me.", "policy_escalation"),
)
def test_what_a_text_decides(run, critique, reason):
    """A change that no rule can make is for a person; what names no decision is no critique."""
    result, _ = run(g.create_self_critique_agent, GIVEN, DRAFT, critique)
    assert result["stop_reason"] == reason
    if reason == "policy_escalation":
        assert result["escalation_reason"] in ("it promises a date", "Looks good to me.")


def research(run, *texts):
    return run(
        g.create_research_agent,
        {"goal": "Answer.", "request": {"request": {"question": "How long is the trial?"}}},
        *texts,
        planner="rules",
        search=lambda request: [{"url": f"https://{HOST}/trial"}],
        reader=lambda request: {"title": "Trial", "published_at": "", "body": PAGE},
        policy=g.ResearchPolicy(allowed_domains_policy=(HOST,), allowed_domains_execution=(HOST,)),
    )[0]


@each_row(
    "notes",
    "The trial lasts 21 days and needs no credit card.",
    "- The trial lasts 21 days. [1]\n- Our offices are in Paris and in Rome.",
    "1. The trial lasts 30 days and needs no credit card!",
    "Question: How long is it?\nThe trial lasts 21 days and needs no credit card.\n\nQuestion: Is it free?",
)
def test_notes_are_sentences_of_pages(run, notes):
    """A line means the sentence that has most of its words; the note says what the page says."""
    result = research(run, notes, "The trial lasts 21 days.")
    assert (result["outcome"], result["answer"]) == ("grounded_research_answer", "The trial lasts 21 days.")
    [passage] = result["passages"]
    assert passage["quote"] == "The trial lasts 21 days and needs no credit card."
    for none in ("NOT FOUND", "[1] Trial\n\nThe answer is not found."):
        assert research(run, none)["stop_reason"].startswith("no_")


def test_calls_that_came_whole_are_judged_of_a_step_that_was_cut_off(run):
    """The call that was cut off is not among them, and the model goes on with what the others brought."""
    cut = '{"calls": [{"tool": "look", "args": {"at": "a"}}, {"tool": "look", "args": {"at": "b'
    ends = '{"calls": [], "answer": "a is red.", "declined": false}'

    def look(at: str) -> str:
        """Look at something."""
        return f"{at} is red"

    given = {"tools": [look], "policy": g.ToolPolicy(rules={"look": g.ToolRule(effect="read")})}
    cut_off = says(cut, finish_reason="length")
    result, _ = run(g.create_tool_agent, {"task": "Which colour has a?"}, cut_off, ends, **given)
    assert ([call["args"] for call in result["tool_calls"]], result["answer"]) == ([{"at": "a"}], "a is red.")


@pytest.mark.parametrize("label", ["", "Question: "])
def test_a_question_is_rewritten_as_a_text(run, label):
    told = {"role": "user", "content": "What is the P1 first response target of the Enterprise plan?"}
    given = {"question": "And P2?", "history": [told, {"role": "assistant", "content": "15 minutes."}]}
    rewritten = "What is the P2 first response target of the Enterprise plan?"
    result, _ = run(g.create_rag_agent, given, label + rewritten, "The target is 1 hour.", planner="rules")
    assert result["asked_question"]["standalone"] == rewritten


def test_a_loop_that_was_cut_off_is_judged_once_and_not_asked_for_again(run):
    """Of a sentence that is repeated until the reply ends, one is kept; where it is refused, it would be so again."""
    question = {"question": "What is the P1 first response target of the Enterprise plan?"}
    said, loop = "The target is 15 minutes.", " Ask us for more at any time of the day."
    looped = says(f"{said}{loop * 9} Ask us", finish_reason="length")
    result, asked = run(g.create_rag_agent, question, looped, planner="rules")
    assert (result["answer"], len(asked)) == (f"{said}{loop}", 1)
    wrong = says("The target is 20 minutes." * 9 + " The tar", finish_reason="length")
    result, asked = run(g.create_rag_agent, question, wrong, planner="rules")
    assert (result["status"], "attempts" in result, len(asked)) == ("stopped", False, 1)


def test_who_writes_texts_is_asked_again_with_the_nearest_sentence_alone(run):
    """It copies a proposal of its own; a row of a table has the names of its columns, and marks keep their numbers."""
    question = {"question": "What is the P1 first response target of the Enterprise plan?"}
    wrong, right = "The P1 first response target is 20 minutes.", "The P1 first response target is 15 minutes."
    result, asked = run(g.create_rag_agent, question, wrong, right, planner="rules")
    assert (result["answer"], len(result["attempts"])) == (right, 1)
    first, second = ([message["content"] for message in request["body"]["messages"]] for request in asked)
    assert (first[0], len(second)) == (second[0], 2)
    assert second[1].startswith("[1]\nFor P1 incidents, first response target is 15 minutes")
    assert "20 minutes" not in second[1]
    rows = "| Plan | Seats |\n| --- | --- |\n| Starter | 3 |\n| Professional | 50 |"
    shown = {"question": "How many seats has the Starter plan?", "context_chunks": [{"text": "None."}, {"text": rows}]}
    assert find_nearest_sentence(shown) == {"number": 2, "text": "Plan: Starter; Seats: 3"}

"""Briefs whose sentences must cite: each is held against the notes that it cites itself, by its marks."""

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from reported_runs import page, with_class
from research_cases import asked, hits, note_pages, reads, research, vendor
from runs import THREAD, check_result

from guardgraph import ResearchPolicy, create_research_agent
from guardgraph.state.research import RESEARCH_REASONS
from guardgraph.testing import scripted_tool

MUST = ResearchPolicy(require_sentence_citations=True)
BODIES = {
    "a": "The outage began at 09:12 that morning. A database node failed first.",
    "b": "Payments failed for 3.4% of customers. The bank said: “no money was lost”.",
    "c": "The Initech service was not affected by the outage.",
}
FIRST, LAST = "The outage began at 09:12 that morning.", "A database node failed first."
WRONG, RIGHT = "Payments failed for 3.5% of customers.", "Payments failed for 3.4% of customers."


PARTS = {
    "search": hits(*vendor(*BODIES)),
    "reader": reads(**{name: {"title": name, "published_at": "", "body": text} for name, text in BODIES.items()}),
    "extractor": scripted_tool(note_pages, loop=True),
}


def said(answer, *citations):
    writer = scripted_tool({"answer": answer, "citations": [*citations]})
    return check_result(RESEARCH_REASONS, research(writer=writer, policy=MUST, **PARTS))


def cited_by(result):
    return {
        item["id"]: [result["answer"][start:end] for start, end in item["answer_spans"]]
        for item in result["citation_details"]
    }


def test_marks_say_what_a_sentence_rests_on():
    """Marks are taken out of the answer, and each citation says which sentences rest on it."""
    result = said(f"{FIRST[:-1]} [n1]. {RIGHT[:-1]} [n2, n1].", "n2")
    assert result["answer"] == f"{FIRST} {RIGHT}"
    assert (result["citations"], result["outcome"]) == (["n2", "n1"], "grounded_research_answer")
    assert cited_by(result) == {"n1": [FIRST, RIGHT], "n2": [RIGHT]}
    assert {item["spans_by"] for item in result["citation_details"]} == {"cited"}
    assert "sentences" not in result
    assert len(with_class(page(result), "numbered")) == 1


def reviewed(*resumes):
    """Run an agent that asks a person of every answer about an outage; what they are shown, and the last result."""
    policy = MUST.model_copy(update={"high_risk_terms": ("outage",)})
    agent = create_research_agent(
        writer=lambda view: {"answer": f"{FIRST} [n1] {LAST}", "citations": ["n2"]},
        policy=policy,
        checkpointer=InMemorySaver(),
        **PARTS,
    )
    result = agent.invoke(asked(), THREAD)
    [question] = agent.get_state(THREAD).interrupts
    for resume in resumes:
        result = agent.invoke(Command(resume={"hash": question.value["hash"], **resume}), THREAD)
    return question.value["shown"]["brief"], result


@pytest.mark.parametrize("edited", [f"{FIRST} [n1]", f"{FIRST[:-1]} [n1]."])
def test_a_person_marks_what_they_write(edited):
    """Their brief is guarded like any: a sentence without a mark does not count, and the run goes on waiting."""
    unmarked = {"decision": "edit", "edited": {"answer": f"{FIRST} {LAST}", "citations": ["n1", "n2"]}}
    marked = {"decision": "edit", "edited": {"answer": edited, "citations": []}}
    _, waiting = reviewed(unmarked)
    assert waiting["status"] == "waiting"
    _, result = reviewed(unmarked, marked)
    assert (result["status"], result["answer"], result["citations"]) == ("ok", FIRST, ["n1"])
    assert result["path"].count("ask_reviewer") == 1

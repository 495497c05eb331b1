"""Briefs in sections, whose outline is guarded, and briefs whose sentences cite the notes that they rest on."""

from outlined_briefs import FIRST, NODE, PARTS, REFUNDS, RIGHT, SECTIONS, THREE, TITLES, answer_of
from reported_runs import page, with_class
from research_cases import research
from runs import check_result

from guardgraph import ResearchBudget, ResearchPolicy
from guardgraph.state.research import RESEARCH_REASONS
from guardgraph.testing import scripted_tool

MUST = ResearchPolicy(require_sentence_citations=True)


def test_a_brief_in_sections():
    """The outline is guarded, then the answer is written in it; the result says where each section stands."""
    outline = scripted_tool({"sections": ["Course of  the outage", TITLES[1]]}, loop=True)
    writer = scripted_tool(answer_of(*SECTIONS), loop=True)
    result = check_result(RESEARCH_REASONS, research(budget=THREE, outline=outline, writer=writer, **PARTS))
    shown = {item["title"]: result["answer"][item["start"] : item["end"]] for item in result["sections"]}
    assert shown == {TITLES[0]: f"{FIRST} {NODE}", TITLES[1]: f"{RIGHT} {REFUNDS}"}
    assert result["answer"] == f"{FIRST} {NODE}\n\n{RIGHT} {REFUNDS}"
    assert result["path"][-5:] == ["outline", "outline_guard", "synthesize", "answer_guard", "answered"]
    spans = {item["id"]: len(item["answer_spans"]) for item in result["citation_details"]}
    assert (result["citations"], spans) == (["n3", "n1", "n2"], {"n1": 2, "n2": 2, "n3": 0})
    assert [step["sections"] for step in result["trace"] if step["phase"] == "outline"] == [2]
    assert [step["sections"] for step in result["history"] if "sections" in step] == [TITLES]
    view = outline.calls[0]
    assert (view.keys(), view["max_sections"]) == ({"goal", "question", "notes", "max_sections"}, 3)
    assert [*view["notes"][0]] == ["id", "claim", "title"]
    assert (writer.calls[0]["sections"], writer.calls[0]["sentence_citations"]) == (TITLES, True)


def test_the_offline_report():
    """The demo's pages are its sections; each sentence cites its note."""
    result = check_result(RESEARCH_REASONS, research(budget=THREE))
    assert [item["title"] for item in result["sections"]] == ["Payments Incident Update", "Enterprise SLA"]
    assert all(item["answer_spans"] for item in result["citation_details"])
    one = check_result(RESEARCH_REASONS, research(budget=ResearchBudget(max_sections=1)))
    assert [item["title"] for item in one["sections"]] == ["Payments Incident Update"]


def test_marks_say_what_a_sentence_rests_on():
    """Marks are taken out of the answer, and each citation says which sentences rest on it."""
    writer = scripted_tool({"answer": f"{FIRST[:-1]} [n1]. {RIGHT[:-1]} [n2, n1].", "citations": ["n2"]})
    result = check_result(RESEARCH_REASONS, research(writer=writer, policy=MUST, **PARTS))
    assert result["answer"] == f"{FIRST} {RIGHT}"
    assert (result["citations"], result["outcome"]) == (["n2", "n1"], "grounded_research_answer")
    details, text = result["citation_details"], result["answer"]
    cited = {item["id"]: [text[start:end] for start, end in item["answer_spans"]] for item in details}
    assert cited == {"n1": [FIRST, RIGHT], "n2": [RIGHT]}
    assert {item["spans_by"] for item in result["citation_details"]} == {"cited"}
    assert ("sentences" in result, len(with_class(page(result), "numbered"))) == (False, 1)

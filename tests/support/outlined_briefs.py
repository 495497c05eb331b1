"""Agents that write a brief in sections, with an outline and an answer that a test proposes."""

from research_cases import hits, note_pages, reads, research, vendor
from runs import check_result

from guardgraph import ResearchBudget
from guardgraph.state.research import RESEARCH_REASONS
from guardgraph.testing import scripted_tool

THREE = ResearchBudget(max_sections=3)
BODIES = {
    "a": "The outage began at 09:12 that morning. A database node failed first.",
    "b": "Payments failed for 3.4% of customers. Refunds are paid within 10 days.",
    "c": "The Zephyr service was not affected.",
}
FIRST, NODE = "The outage began at 09:12 that morning.", "A database node failed first."
RIGHT = "Payments failed for 3.4% of customers."
REFUNDS = "Refunds are paid within 10 days."
TITLES = ["Course of the outage", "Effects on customers"]
SECTIONS = [f"{FIRST} [n1] {NODE}", f"{RIGHT[:-1]} [n2]. {REFUNDS}"]
PARTS = {
    "search": hits(*vendor(*BODIES)),
    "reader": reads(**{name: {"title": name, "published_at": "", "body": text} for name, text in BODIES.items()}),
    "extractor": scripted_tool(note_pages, loop=True),
}


def answer_of(*texts, titles=TITLES, citations=("n3",)):
    sections = [{"title": title, "text": text} for title, text in zip(titles, texts, strict=True)]
    return {"sections": sections, "citations": [*citations]}


def written(answer=None, outline=TITLES, *, budget=THREE, **parts):
    """Run an agent that proposes this outline, and then this answer; the result."""
    parts = {
        "outline": lambda view: {"sections": outline},
        "writer": lambda view: answer or answer_of(*SECTIONS),
    } | parts
    return check_result(RESEARCH_REASONS, research(budget=budget, **PARTS, **parts))

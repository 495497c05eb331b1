"""The Research agent's nodes, in the order of its diagram: request, query, sources, pages, notes, brief."""

from guardgraph.nodes.research.brief import answered, check_answer, synthesize
from guardgraph.nodes.research.notes import check_notes, check_proposed_notes, extract, propose_notes, verify
from guardgraph.nodes.research.pages import check_pages, read
from guardgraph.nodes.research.query import check_plan, check_query, plan
from guardgraph.nodes.research.request import check_request
from guardgraph.nodes.research.sources import check_hits, check_sources, dedupe, search

__all__ = [
    "answered",
    "check_answer",
    "check_hits",
    "check_notes",
    "check_pages",
    "check_plan",
    "check_proposed_notes",
    "check_query",
    "check_request",
    "check_sources",
    "dedupe",
    "extract",
    "plan",
    "propose_notes",
    "read",
    "search",
    "synthesize",
    "verify",
]

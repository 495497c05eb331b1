"""What the Research agent's guards decide: the request, the plan, the sources, the notes, the answer's facts."""

from guardgraph.guards.research.answer import check_answer_facts, check_answer_names, cited_notes, parse_research_answer
from guardgraph.guards.research.notes import (
    MIN_QUOTE_CHARS,
    is_readable,
    number_notes,
    parse_notes,
    parse_page,
    verify_notes,
)
from guardgraph.guards.research.plan import RESEARCH_ACTIONS, found_urls, parse_plan, plan_query
from guardgraph.guards.research.request import (
    HINTED_LIMITS,
    narrowed_domains,
    parse_research_request,
    research_limit,
)
from guardgraph.guards.research.sources import no_reliable_sources, read_pages, usable_sources

__all__ = [
    "HINTED_LIMITS",
    "MIN_QUOTE_CHARS",
    "RESEARCH_ACTIONS",
    "check_answer_facts",
    "check_answer_names",
    "cited_notes",
    "found_urls",
    "is_readable",
    "narrowed_domains",
    "no_reliable_sources",
    "number_notes",
    "parse_notes",
    "parse_page",
    "parse_plan",
    "parse_research_answer",
    "parse_research_request",
    "plan_query",
    "read_pages",
    "research_limit",
    "usable_sources",
    "verify_notes",
]

"""What the Research agent's guards decide: the request, the plan, the sources, the notes, the answer's facts."""

from guardgraph.guards.research.answer import (
    check_answer_facts,
    check_answer_names,
    citation,
    cited_notes,
    parse_research_answer,
)
from guardgraph.guards.research.hops import read_otherwise
from guardgraph.guards.research.notes import (
    MIN_QUOTE_CHARS,
    note_shown,
    number_notes,
    parse_notes,
    place_notes,
    proposed_notes,
    verify_notes,
)
from guardgraph.guards.research.pages import is_readable, page_shown, parse_page
from guardgraph.guards.research.plan import RESEARCH_ACTIONS, found_urls, parse_plan, plan_query
from guardgraph.guards.research.request import (
    HINTED_LIMITS,
    narrowed_domains,
    parse_research_request,
    research_limit,
)
from guardgraph.guards.research.sources import (
    asked_url,
    final_urls,
    found_sources,
    no_reliable_sources,
    read_pages,
    spelled,
    usable_sources,
)

__all__ = [
    "HINTED_LIMITS",
    "MIN_QUOTE_CHARS",
    "RESEARCH_ACTIONS",
    "asked_url",
    "check_answer_facts",
    "check_answer_names",
    "citation",
    "cited_notes",
    "final_urls",
    "found_sources",
    "found_urls",
    "is_readable",
    "narrowed_domains",
    "no_reliable_sources",
    "note_shown",
    "number_notes",
    "page_shown",
    "parse_notes",
    "parse_page",
    "parse_plan",
    "parse_research_answer",
    "parse_research_request",
    "place_notes",
    "plan_query",
    "proposed_notes",
    "read_otherwise",
    "read_pages",
    "research_limit",
    "spelled",
    "usable_sources",
    "verify_notes",
]

"""What the Research agent's guards decide: the request, the plan, the sources, the notes, the answer's facts."""

from guardgraph.guards.research.answer import (
    check_answer_facts,
    check_answer_names,
    describe_citation,
    parse_research_answer,
    select_cited_notes,
)
from guardgraph.guards.research.notes import (
    MIN_QUOTE_CHARS,
    number_notes,
    parse_notes,
    place_notes,
    read_proposed_notes,
    show_note,
    verify_notes,
)
from guardgraph.guards.research.pages import (
    explain_page_difference,
    is_usable_page,
    parse_source_page,
    show_source_page,
)
from guardgraph.guards.research.request import (
    HINTED_LIMITS,
    RESEARCH_ACTIONS,
    narrow_research_domains,
    parse_research_plan,
    parse_research_request,
    read_found_urls,
    read_plan_query,
    tighten_research_limit,
)
from guardgraph.guards.research.sources import (
    build_sources_stop,
    find_note_url,
    find_source_spelling,
    map_final_page_urls,
    select_usable_sources,
    sort_read_pages,
    start_research_sources,
)

__all__ = [
    "HINTED_LIMITS",
    "MIN_QUOTE_CHARS",
    "RESEARCH_ACTIONS",
    "build_sources_stop",
    "check_answer_facts",
    "check_answer_names",
    "describe_citation",
    "explain_page_difference",
    "find_note_url",
    "find_source_spelling",
    "is_usable_page",
    "map_final_page_urls",
    "narrow_research_domains",
    "number_notes",
    "parse_notes",
    "parse_research_answer",
    "parse_research_plan",
    "parse_research_request",
    "parse_source_page",
    "place_notes",
    "read_found_urls",
    "read_plan_query",
    "read_proposed_notes",
    "select_cited_notes",
    "select_usable_sources",
    "show_note",
    "show_source_page",
    "sort_read_pages",
    "start_research_sources",
    "tighten_research_limit",
    "verify_notes",
]

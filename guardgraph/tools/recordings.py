"""The Research agent's default tools: a search, a reader and a note extractor that replay what was recorded."""

from __future__ import annotations

from urllib.parse import urlsplit

from guardgraph.grounding.words import read_terms
from guardgraph.plain.json import JsonObject, JsonValue
from guardgraph.plain.urls import identify_url
from guardgraph.tools.demo import load_demo_file
from guardgraph.tools.tool import Tool
from guardgraph.world.call import mark_as_instant


def make_recorded_search() -> Tool:
    """Make the search that knows the recorded hits."""
    recorded = []
    for hit in load_demo_file("research_search_results.json"):
        said = f"{hit['title']} {hit['snippet']} {urlsplit(hit['url']).path}"
        recorded.append((hit, _list_recorded_terms(said)))

    @mark_as_instant
    def search_recorded_hits(request: JsonObject) -> JsonValue:
        wanted = _list_recorded_terms(request["query"])
        return [dict(hit) for hit, words in recorded if words & wanted][: request["max_results"]]

    return search_recorded_hits


def make_recorded_reader() -> Tool:
    """Make the reader that knows the recorded pages."""
    recorded = load_demo_file("research_pages.json")

    @mark_as_instant
    def read_recorded_page(request: JsonObject) -> JsonValue:
        url = request["url"]
        if (page := recorded.get(identify_url(url))) is None:
            raise LookupError(f"no page was recorded for {url}")
        return dict(page)

    return read_recorded_page


def make_recorded_extractor() -> Tool:
    """Make the extractor that knows the recorded notes."""
    recorded = load_demo_file("research_notes.json")

    @mark_as_instant
    def extract_recorded_notes(request: JsonObject) -> JsonValue:
        return [dict(note) for note in recorded if note["url"] in request["pages"]][: request["max_notes"]]

    return extract_recorded_notes


def _list_recorded_terms(text: str) -> set[str]:
    return {term for term in read_terms(text, "en") if not term.isdecimal()}

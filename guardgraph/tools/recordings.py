"""The Research agent's default tools: a search, a reader and a note extractor that replay what was recorded.

They need no network and no key, and know the demo alone: a question about something else finds nothing.
"""

from __future__ import annotations

import json
from importlib import resources
from urllib.parse import urlsplit

from guardgraph.languages.terms import terms
from guardgraph.plain.json import JsonObject, JsonValue
from guardgraph.plain.urls import identity
from guardgraph.tools.tool import Tool
from guardgraph.world.call import mark_as_instant

__all__ = ["recorded_notes", "recorded_reader", "recorded_search"]


def recorded_search() -> Tool:
    """Make the search that knows the recorded hits.

    Returns:
        ``{"query": str, "max_results": int}`` -> ``[{"url", "title", "snippet", "score"}]``: the hits whose
        title, snippet or path shares a content word with the query, in recorded order. Numbers are no content
        words: a year alone makes no hit relevant.
    """
    recorded = [(hit, _hit_words(hit)) for hit in _read("research_search_results.json")]

    @mark_as_instant
    def search(request: JsonObject) -> JsonValue:
        wanted = _content_words(request["query"])
        return [dict(hit) for hit, words in recorded if words & wanted][: request["max_results"]]

    return search


def recorded_reader() -> Tool:
    """Make the reader that knows the recorded pages.

    Returns:
        ``{"url": str}`` -> ``{"title", "published_at", "body"}``, however the URL is spelled; it raises `LookupError`
        for other URLs.
    """
    recorded = _read("research_pages.json")

    @mark_as_instant
    def read(request: JsonObject) -> JsonValue:
        url = request["url"]
        if (page := recorded.get(identity(url))) is None:
            raise LookupError(f"no page was recorded for {url}")
        return dict(page)

    return read


def recorded_notes() -> Tool:
    """Make the extractor that knows the recorded notes.

    Returns:
        ``{"pages": {url: page}, "max_notes": int}`` -> ``[{"claim", "quote", "url", "title", "published_at"}]``: the
        first notes from those pages, in recorded order.
    """
    recorded = _read("research_notes.json")

    @mark_as_instant
    def extract(request: JsonObject) -> JsonValue:
        return [dict(note) for note in recorded if note["url"] in request["pages"]][: request["max_notes"]]

    return extract


def _hit_words(hit: JsonObject) -> set[str]:
    return _content_words(f"{hit['title']} {hit['snippet']} {urlsplit(hit['url']).path}")


def _content_words(text: str) -> set[str]:
    return {term for term in terms(text, "en") if not term.isdecimal()}


def _read(name: str) -> JsonValue:
    packaged = resources.files("guardgraph.tools") / "data" / name
    return json.loads(packaged.read_text(encoding="utf-8"))

"""The Research agent's offline proposers: the standard plan, notes, what is still missing, and a brief."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

from guardgraph.grounding.marks import mark_each_sentence
from guardgraph.grounding.sentences import split_sentences, unwrap_text_lines
from guardgraph.grounding.words import detect_language, normalise_spaces, read_terms
from guardgraph.guards.links import has_supported_links
from guardgraph.guards.research.notes import MIN_QUOTE_CHARS
from guardgraph.guards.research.outline import check_outline, parse_outline
from guardgraph.guards.research.request import RESEARCH_ACTIONS
from guardgraph.guards.research.searches import LONGEST_QUERY, MOST_GAPS
from guardgraph.guards.stop import Stop
from guardgraph.nodes.offline.rag import NO_STATEMENT, Question
from guardgraph.plain.json import JsonObject
from guardgraph.state.research import ResearchPolicy
from guardgraph.world.call import mark_as_instant

CLAIMS: Final = 3  # claims that a brief repeats at most
OPENING: Final = "Research brief:"
CLOSING: Final = "Timeline values are estimates and may change."
LONGEST: Final = 240  # characters of a sentence that becomes a note: three of them fit into an answer by default
LONGEST_ALONE: Final = 600  # the same where no shorter sentence shares a term: one of them fits
_SIGNS: Final = ".,;:!?()[]\"'„“”«»？。、！"  # what stands around words, and is no part of a query
_CELLS = re.compile(r"(?:^|\s)\|(?=\s|$)")
_ITEM = re.compile(r"^(?:(?:[-*+•>]|#+)\s+)+")


@mark_as_instant
def plan_offline_research(view: JsonObject) -> JsonObject:
    """Propose the standard plan, which searches for the question."""
    steps = [{"id": f"r{number}", "action": action, "args": {}} for number, action in enumerate(RESEARCH_ACTIONS, 1)]
    return {"steps": [{**steps[0], "args": {"query": view["request"]["question"]}}, *steps[1:]]}


@mark_as_instant
def write_offline_brief(view: JsonObject) -> JsonObject:
    """Propose a brief of the first notes' claims, as many as fit; words of its own only around English ones."""
    notes, most = view["notes"], view["max_answer_chars"]
    if titles := view.get("sections"):
        named = {normalise_spaces(note["title"]): note for note in reversed(notes)}
        taken = [named.get(title, notes[at % len(notes)]) for at, title in enumerate(titles)]
        sections = [{"title": title, "text": _mark_claim(note)} for title, note in zip(titles, taken, strict=True)]
        return {"sections": sections, "citations": list(dict.fromkeys(note["id"] for note in taken))}
    marked = view.get("sentence_citations") is True
    ways = [(notes[:count], framed) for count in range(CLAIMS, 0, -1) for framed in (True, False)]
    texts = [_write_brief(taken, framed and not marked, marked) for taken, framed in ways]
    at = next((at for at, text in enumerate(texts) if len(text) <= most), len(ways) - 1)
    return {"answer": texts[at], "citations": [note["id"] for note in ways[at][0]]}


def _write_brief(notes: list[JsonObject], framed: bool, marked: bool) -> str:
    claims = " ".join(_mark_claim(note) if marked else note["claim"] for note in notes)
    is_english = (detect_language(claims) or ("en" if claims.isascii() else "")) == "en"
    return f"{OPENING} {claims} {CLOSING}" if framed and is_english else claims


def _mark_claim(note: JsonObject) -> str:
    return mark_each_sentence(note["claim"].strip(), note["id"])


@mark_as_instant
def outline_offline_report(view: JsonObject) -> JsonObject:
    """Propose the titles of the pages of the notes as sections, as far as their guard lets them pass."""
    shown: list[Any] = [{**note, "quote": "", "url": ""} for note in view["notes"]]
    titles = {title.casefold(): title for note in reversed(shown) if (title := normalise_spaces(note["title"]))}
    supported = list[str]()
    for title in reversed(titles.values()):
        with suppress(Stop):
            parsed = parse_outline({"sections": [title]}, max_sections=1)
            check_outline(parsed, question=view["question"], notes=shown, policy=ResearchPolicy())
            supported.append(title)
    return {"sections": supported[: view["max_sections"]] or ["Summary"]}


@mark_as_instant
def find_offline_gaps(view: JsonObject) -> JsonObject:
    """Propose to search for those words of the question that no note has; enough was found where each has all."""
    question = view["question"]
    language = detect_language(question) or ""
    said = {term for note in view["notes"] for term in read_terms(note["claim"], language)}
    wanted = [(word, read_terms(word, language)) for word in question.split()]
    words = [word.strip(_SIGNS) for word, terms in wanted if terms and not said.issuperset(terms)]
    return {"open": words[:MOST_GAPS], "queries": [" ".join(words)[:LONGEST_QUERY]] if words else []}


def take_offline_notes(request: JsonObject) -> list[JsonObject]:
    """Take the sentences that share most with the question, word for word, the best first."""
    pages = request["pages"]
    read = {text: url for url, page in reversed(pages.items()) for text in reversed([*_read_statements(page["body"])])}
    asked = Question(request["question"], [*reversed(read)])
    shared = {text: asked.find_terms(text) for text in reversed(read)}
    best = sorted((text for text in shared if shared[text]), key=lambda text: -asked.weigh(shared[text]))
    best = [text for text in best if len(text) <= LONGEST] or best
    notes = list[JsonObject]()
    for text in best:
        url, page = read[text], pages[read[text]]
        about = {name: page[name] for name in ("title", "published_at")}
        if has_supported_links(text, cited=(page["body"], page["title"]), policy=ResearchPolicy()):
            notes.append({"claim": text, "quote": text, "url": url, **about})
        if len(notes) == request["max_notes"]:
            break
    return notes


def _read_statements(body: str) -> Iterator[str]:
    """Yield the sentences of a page's items, cells and lines, without the marks that part those."""
    for sentence in split_sentences(unwrap_text_lines(body)):
        for cell in _CELLS.split(sentence):
            said = _ITEM.sub("", " ".join(cell.split()))
            is_whole = not said.endswith(NO_STATEMENT) and "\ufffd" not in said
            if is_whole and MIN_QUOTE_CHARS <= len(said) <= LONGEST_ALONE:
                yield said

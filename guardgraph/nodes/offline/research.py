"""The Research agent's offline proposers: the standard plan, notes, what is still missing, and a brief.

Notes are the sentences of the pages that share most with the question; the brief repeats their claims.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Final, NamedTuple

from guardgraph.grounding.links.finding import find_links
from guardgraph.grounding.marks import Sentence, find_answer_sentences, write_marks
from guardgraph.grounding.sentences import split_sentences, unwrap_text_lines
from guardgraph.grounding.words import detect_language, read_terms
from guardgraph.guards.answers import judge_answer
from guardgraph.guards.links import has_supported_links
from guardgraph.guards.research.answer import BETWEEN, check_answer_links, check_answer_sentences, parse_brief
from guardgraph.guards.research.notes import MIN_QUOTE_CHARS
from guardgraph.guards.research.outline import check_outline, parse_outline
from guardgraph.guards.research.request import RESEARCH_ACTIONS
from guardgraph.guards.research.searches import LONGEST_QUERY, MOST_GAPS
from guardgraph.guards.stop import Stop
from guardgraph.nodes.offline.prose import ENDS, is_fragment
from guardgraph.plain.json import JsonObject
from guardgraph.plain.urls import parse_url_target
from guardgraph.state.research import ResearchPolicy
from guardgraph.world.call import mark_as_instant

_SENTENCE_MARKS: Final = ".,;:!?()[]\"'„“”«»？。、！"
"""What stands around words, and is no part of a query."""

CLAIMS = 3
"""Claims that a brief repeats at most."""


class _Frame(NamedTuple):
    """What stands before and after the claims of a brief."""

    opening: str
    closing: str


_FRAMES: Final = {
    "en": _Frame("Research brief:", "Timeline values are estimates and may change."),
    "de": _Frame("Kurzbericht:", "Zeitangaben sind Schätzungen und können sich ändern."),
    "es": _Frame("Informe breve:", "Los plazos son estimaciones y pueden cambiar."),
    "fr": _Frame("Note de synthèse :", "Les délais sont des estimations et peuvent changer."),
    "uk": _Frame("Короткий звіт:", "Строки є оцінками й можуть змінитися."),
    "ru": _Frame("Краткий отчёт:", "Сроки являются оценками и могут измениться."),
}
"""By language. Claims in another language stand alone: words of a brief's own would be in a language of their own."""


@mark_as_instant
def plan_offline_research(view: JsonObject) -> JsonObject:
    """Propose the standard plan, which searches for the question.

    Args:
        view: ``{goal, request}``.
    """
    steps = [{"id": f"r{number}", "action": action, "args": {}} for number, action in enumerate(RESEARCH_ACTIONS, 1)]
    return {"steps": [{**steps[0], "args": {"query": view["request"]["question"]}}, *steps[1:]]}


@mark_as_instant
def write_offline_brief(view: JsonObject) -> JsonObject:
    """Propose a brief of the first notes' claims, in their language.

    Where the guards would refuse it, the claims stand without the words around them, or one of them alone. Where every
    sentence must cite, the claims stand alone, each sentence marked with its note.

    Args:
        view: ``{goal, question, notes, max_answer_chars}``; and ``sentence_citations`` where every sentence must cite,
            with ``sections``, the titles of those that are written.
    """
    if view.get("sections"):
        return _write_offline_sections(view)
    notes, is_marked = view["notes"][:CLAIMS], view.get("sentence_citations") is True
    make_briefs = _list_marked_briefs if is_marked else _list_briefs
    briefs = [(text, taken) for taken in (notes, *([note] for note in notes)) for text in make_briefs(taken)]
    text, taken = next((brief for brief in briefs if _is_supported_brief(*brief, view)), briefs[0])
    return {"answer": text, "citations": [note["id"] for note in taken]}


@mark_as_instant
def outline_offline_report(view: JsonObject) -> JsonObject:
    """Propose the titles of the pages of the notes as sections, as far as they say no more than the notes.

    Args:
        view: ``{goal, question, notes, max_sections}``.
    """
    shown = [{**note, "quote": "", "url": ""} for note in view["notes"]]
    titles = {title.casefold(): title for note in reversed(shown) if (title := " ".join(note["title"].split()))}
    ordered = [title for title in reversed(titles.values()) if _is_supported_title(title, shown, view["question"])]
    return {"sections": ordered[: view["max_sections"]] or ["Summary"]}


def _is_supported_title(title: str, notes: list[JsonObject], question: str) -> bool:
    shown: Any = notes
    try:
        titles = parse_outline({"sections": [title]}, max_sections=1)
        check_outline(titles, question=question, notes=shown, policy=ResearchPolicy())
    except Stop:
        return False
    return True


def _write_offline_sections(view: JsonObject) -> JsonObject:
    """Propose the claims of each section's notes: those of pages with its title, or else the next note."""
    notes, titles, limit = view["notes"], view["sections"], view["max_answer_chars"]
    own = {title: [note for note in notes if " ".join(note["title"].split()) == title] for title in titles}
    for most in (CLAIMS, 1):
        taken = {title: (own[title] or [notes[at % len(notes)]])[:most] for at, title in enumerate(titles)}
        sections = [{"title": title, "text": " ".join(map(_mark_claim, taken[title]))} for title in titles]
        used = [*dict.fromkeys(note["id"] for each in taken.values() for note in each)]
        if len(BETWEEN.join(" ".join(note["claim"] for note in each) for each in taken.values())) <= limit:
            break
    return {"sections": sections, "citations": used}


@mark_as_instant
def find_offline_gaps(view: JsonObject) -> JsonObject:
    """Propose to search for those words of the question that no note has; enough was found where each has all.

    Args:
        view: ``{goal, question, queries, notes, unread_urls}``.
    """
    question = view["question"]
    language = detect_language(question) or ""
    said = {term for note in view["notes"] for term in read_terms(note["claim"], language)}
    missing = [
        word for word in question.split() if (terms := read_terms(word, language)) and not said.issuperset(terms)
    ]
    words = [word.strip(_SENTENCE_MARKS) for word in missing]
    return {"open": words[:MOST_GAPS], "queries": [" ".join(words)[:LONGEST_QUERY]] if words else []}


def _list_briefs(notes: list[JsonObject]) -> list[str]:
    """Return a brief of these notes, and the same without words of its own."""
    claims = " ".join(note["claim"] for note in notes)
    # What nothing tells is taken for English where it could be: "P1, ETA 45 min".
    frame = _FRAMES.get(detect_language(claims) or ("en" if claims.isascii() else ""))
    return [f"{frame.opening} {claims} {frame.closing}", claims] if frame else [claims]


def _list_marked_briefs(notes: list[JsonObject]) -> list[str]:
    """Return a brief of these notes in which every sentence is marked with its note."""
    return [" ".join(_mark_claim(note) for note in notes)]


def _mark_claim(note: JsonObject) -> str:
    claim: str = note["claim"].strip()
    return write_marks(claim, [Sentence(start, end, (note["id"],)) for start, end, *_ in find_answer_sentences(claim)])


def _is_supported_brief(text: str, notes: list[JsonObject], view: JsonObject) -> bool:
    """Say whether the guards let a brief pass that cites these notes."""
    shown, question, most = view["notes"], view["question"], view["max_answer_chars"]
    fields: JsonObject = {"answer": text, "citations": [note["id"] for note in notes]}
    must_cite, policy = view.get("sentence_citations") is True, ResearchPolicy()
    try:
        answer = parse_brief(
            fields, outline=[], max_sections=0, must_cite=must_cite, notes=shown, max_answer_chars=most
        )
        check_answer_links(answer, question=question, notes=shown, policy=policy)
        checked = check_answer_sentences(answer, question=question, notes=shown, pages={}, workings=[], policy=policy)
    except Stop:
        return False
    return not judge_answer(checked, policy).stops


LONGEST: Final = 240
"""Characters of a sentence that becomes a note: three of them fit into an answer of the default budget."""
LONGEST_ALONE: Final = 600
"""The same where no shorter sentence shares a term: one of them fits."""
_NO_STATEMENT: Final = ("?", "？", "؟", ":", "：")
"""What a sentence ends with that asks, or leads to what follows it."""
_UNREADABLE: Final = "\ufffd"
"""What stands for a byte that is no letter in the page's charset."""
_TOLD: Final = 10_000
"""Characters of each page by which its language is told."""


_CELL_ENDS: Final = re.compile(r"(?:^|\s)\|(?=\s|$)")
_ITEM_MARKS: Final = re.compile(r"(?:(?:[-*+•>]|#+)\s+)+")
"""What parts the cells of a row, and what begins an item, a quotation or a heading: no reader of a page sees them."""


class _PageSentence(NamedTuple):
    """A sentence of a page."""

    url: str
    text: str
    shared: frozenset[str]
    """The question's terms that it has."""


def take_offline_notes(request: JsonObject) -> list[JsonObject]:
    """Take the sentences that share most with the question, word for word, the best first.

    A term weighs the more the fewer sentences have it, as in `guardgraph.nodes.offline.rag`. Passed over is a sentence
    that asks, a line that is a part of one or only leads to others, one of less than `MIN_QUOTE_CHARS` or more than
    `LONGEST_ALONE` characters, one that has markup, and one with U+FFFD, which no quote can hold. No note runs from one
    item or cell into another, or has their marks.

    One of more than `LONGEST` characters, or with a link to another host, is taken where no other sentence shares a
    term. Where none does, the first ones are of a page whose title has every term of the question.

    Args:
        request: ``{goal, question, pages, max_notes}``, the pages by URL.

    Returns:
        At most `max_notes` notes ``{claim, quote, url, title, published_at}``; none where no sentence shares a term.
    """
    pages = request["pages"]
    language = detect_language("\n".join(page["body"][:_TOLD] for page in pages.values()))
    asked = frozenset(read_terms(request["question"], language))
    read = _read_note_sentences(asked, language, pages)
    holders = Counter(term for sentence in read for term in sentence.shared)
    weights = {term: math.log(1 + len(read) / count) for term, count in holders.items()}

    def weigh_note_sentence(sentence: _PageSentence) -> float:
        return sum(weights[term] for term in sorted(sentence.shared))  # in one order, so that sums are the same

    best = sorted((sentence for sentence in read if sentence.shared), key=weigh_note_sentence, reverse=True)
    titled = {url for url, page in pages.items() if asked and asked.issubset(read_terms(page["title"], language))}
    choices: tuple[Iterable[_PageSentence], ...] = (
        filter(_stands_well, best),
        best,
        (one for one in read if one.url in titled and one.text.endswith(tuple(ENDS)) and _stands_well(one)),
    )
    for choice in choices:
        notes = (
            _make_offline_note(sentence, page)
            for sentence in choice
            for page in [pages[sentence.url]]
            if has_supported_links(sentence.text, cited=(page["body"], page["title"]), policy=ResearchPolicy())
        )
        if taken := list(islice(notes, request["max_notes"])):
            return taken
    return []


def _read_note_sentences(asked: frozenset[str], language: str, pages: JsonObject) -> list[_PageSentence]:
    once: dict[str, _PageSentence] = {}
    for url, page in pages.items():
        for text in _read_shown_sentences(page["body"]):
            if MIN_QUOTE_CHARS <= len(text) <= LONGEST_ALONE and not (
                text.endswith(_NO_STATEMENT) or _UNREADABLE in text or is_fragment(text, language)
            ):
                once.setdefault(text, _PageSentence(url, text, asked.intersection(read_terms(text, language))))
    return list(once.values())


def _read_shown_sentences(body: str) -> Iterator[str]:
    """Yield the sentences of a page's items, cells and lines, without the marks that part those."""
    for sentence in split_sentences(unwrap_text_lines(body)):
        for cell in _CELL_ENDS.split(sentence):
            said = " ".join(cell.split())
            marks = _ITEM_MARKS.match(said)
            yield said[marks.end() :] if marks else said


def _stands_well(sentence: _PageSentence) -> bool:
    """Say whether a sentence has room beside others, and leads to no other host."""
    own = parse_url_target(sentence.url)
    own_host = own.host.removeprefix("www.") if own else None
    leads = (link.host for link in find_links(sentence.text))
    return len(sentence.text) <= LONGEST and all(lead.removeprefix("www.") == own_host for lead in leads)


def _make_offline_note(sentence: _PageSentence, page: JsonObject) -> JsonObject:
    said = {"title": page["title"], "published_at": page["published_at"]}
    return {"claim": sentence.text, "quote": sentence.text, "url": sentence.url, **said}

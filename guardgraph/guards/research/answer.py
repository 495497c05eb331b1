"""Whether an answer rests on the notes that it cites."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Final

from guardgraph.grounding.marks import Mark, Sentence, move_sentences, read_marks, write_marks
from guardgraph.grounding.quotes import find_quotes, is_quote_in_text
from guardgraph.grounding.words import detect_language, find_nearest_texts
from guardgraph.guards.facts import facts_in_texts, unsupported_of_answer
from guardgraph.guards.links import check_links
from guardgraph.guards.names import find_unsupported_names
from guardgraph.guards.removal import Rest
from guardgraph.guards.research.sources import find_note_url
from guardgraph.guards.stop import Stop, shown_name
from guardgraph.guards.support import SENTENCE_CHARS, read_marked_sentences
from guardgraph.plain.json import JsonObject, JsonValue, excerpt_value
from guardgraph.plain.urls import make_text_fragment_url
from guardgraph.state.research import AnswerSection, CitedSentence, Note, ResearchAnswer, ResearchPolicy, SourcePage

BETWEEN: Final = "\n\n"
"""What parts the texts of sections."""

OF_PAGE = ("fetched_at", "sha256", "text_sha256", "extraction")
"""What a citation says of the page, where its reader did."""


def parse_research_answer(
    answer: JsonValue, citations: JsonValue, *, notes: Sequence[Note], max_answer_chars: int
) -> ResearchAnswer:
    """Read an answer.

    Args:
        answer: the proposed text.
        citations: the proposed note ids.
        notes: the verified notes.
        max_answer_chars: how long the text may be, stripped.

    Returns:
        The text, stripped, and every cited id once, in the order of the proposal.

    Raises:
        Stop: ``invalid_answer:empty|too_long|citations|citation_unknown``, the last with the sorted
            `invalid_citations`.
    """
    if not isinstance(answer, str) or not answer.strip():
        raise Stop("invalid_answer:empty")
    if len(answer.strip()) > max_answer_chars:
        raise Stop("invalid_answer:too_long")
    if not citations or not isinstance(citations, list) or any(not isinstance(item, str) for item in citations):
        raise Stop("invalid_answer:citations")
    unknown = set(citations) - {note["id"] for note in notes}
    if unknown:
        raise Stop("invalid_answer:citation_unknown", invalid_citations=sorted(map(shown_name, unknown)))
    return ResearchAnswer(answer=answer.strip(), citations=list(dict.fromkeys(citations)))


def parse_marked_answer(
    answer: JsonValue, citations: JsonValue, *, notes: Sequence[Note], max_answer_chars: int
) -> ResearchAnswer:
    """Read an answer that has a mark behind every sentence: ids of notes in square brackets.

    What a sentence cites, `read_marked_sentences` says. An answer cites what it lists, and then what its marks name.

    Args:
        answer: the proposed text.
        citations: the proposed note ids.
        notes: the verified notes.
        max_answer_chars: how long the text may be without its marks.

    Returns:
        The text without its marks, every cited id once, and the sentences.

    Raises:
        Stop: as `parse_research_answer`; ``invalid_answer:uncited_sentence`` with the sentence in `details`.
    """
    if not isinstance(answer, str):
        return parse_research_answer(answer, citations, notes=notes, max_answer_chars=max_answer_chars)
    return _parse_marked_texts([answer], citations, notes=notes, max_answer_chars=max_answer_chars)[0]


def parse_sectioned_answer(
    sections: JsonValue, citations: JsonValue, *, outline: Sequence[str], notes: Sequence[Note], max_answer_chars: int
) -> ResearchAnswer:
    """Read an answer in sections, each sentence with a mark behind it.

    Args:
        sections: the proposed ``[{"title", "text"}]``.
        citations: the proposed note ids.
        outline: the titles that were accepted.
        notes: the verified notes.
        max_answer_chars: how long the texts may be together, without marks and titles.

    Returns:
        As `parse_marked_answer`, the texts of the sections with a blank line between, and where each stands.

    Raises:
        Stop: as `parse_marked_answer`; ``invalid_answer:sections`` with the titles in `details`.
    """
    items = [item if isinstance(item, dict) else {} for item in sections] if isinstance(sections, list) else []
    received = [item.get("title") for item in items]
    texts = [text for item in items if isinstance(text := item.get("text"), str) and text.strip()]
    if received != [*outline] or len(texts) != len(items):
        raise Stop("invalid_answer:sections", details={"expected": [*outline], "received": excerpt_value(received)})
    read, lengths = _parse_marked_texts(texts, citations, notes=notes, max_answer_chars=max_answer_chars)
    starts = [*accumulate((length + len(BETWEEN) for length in lengths), initial=0)]
    placed = zip(outline, starts, lengths, strict=False)
    return ResearchAnswer(
        **read, sections=[AnswerSection(title=title, start=at, end=at + length) for title, at, length in placed]
    )


def parse_brief(
    fields: JsonObject,
    *,
    outline: Sequence[str],
    max_sections: int,
    must_cite: bool,
    notes: Sequence[Note],
    max_answer_chars: int,
) -> ResearchAnswer:
    """Read an answer in the form in which it had to be written: in sections, marked, or plain.

    Args:
        fields: the proposal: ``{answer, citations}``, or ``{sections, citations}``.
        outline: the titles of its sections, none where it has none.
        max_sections: sections that it may have now; an outline may have been accepted under another limit.
        must_cite: whether every sentence must cite; in sections each must.
        notes: the verified notes.
        max_answer_chars: how long the text may be.

    Raises:
        Stop: as `parse_sectioned_answer`, `parse_marked_answer` and `parse_research_answer`;
            ``invalid_answer:sections`` with how many there are and the limit in `details`.
    """
    citations = fields.get("citations")
    if len(outline) > max_sections:
        raise Stop("invalid_answer:sections", details={"sections": len(outline), "limit": max_sections})
    if outline:
        return parse_sectioned_answer(
            fields.get("sections"), citations, outline=outline, notes=notes, max_answer_chars=max_answer_chars
        )
    parse = parse_marked_answer if must_cite else parse_research_answer
    return parse(fields.get("answer"), citations, notes=notes, max_answer_chars=max_answer_chars)


def list_section_titles(answer: ResearchAnswer) -> list[str]:
    """Return the titles of an answer's sections."""
    return [item["title"] for item in answer.get("sections", [])]


def _parse_marked_texts(
    texts: Sequence[str], citations: JsonValue, *, notes: Sequence[Note], max_answer_chars: int
) -> tuple[ResearchAnswer, list[int]]:
    """Read the texts of an answer as one, and the length of each without its marks."""
    ids = {note["id"] for note in notes}
    shown = [text for note in notes for text in (note["claim"], note["quote"], note["title"])]
    parts, marks, unknown, at = list[str](), list[Mark](), list[str](), 0
    for given in texts:
        part, found, other = read_marks(given, ids, shown)
        if not part:
            raise Stop("invalid_answer:empty")
        parts.append(part)
        marks += [Mark(at + mark.at, mark.ids) for mark in found]
        unknown += other
        at += len(part) + len(BETWEEN)
    text = BETWEEN.join(parts)
    listed = citations
    if isinstance(citations, list) and all(isinstance(item, str) for item in citations):
        listed = [*citations, *(name for mark in marks for name in mark.ids), *unknown]
    read = parse_research_answer(text, listed, notes=notes, max_answer_chars=max_answer_chars)
    try:
        sentences = read_marked_sentences(read["answer"], marks, read["citations"])
    except Stop as stop:
        raise Stop(stop.reason, details=stop.evidence) from None
    return ResearchAnswer(**read, sentences=[_keep_sentence(item) for item in sentences]), [*map(len, parts)]


def _keep_sentence(item: Sentence) -> CitedSentence:
    return CitedSentence(start=item.start, end=item.end, notes=[*item.ids])


def list_sentences(answer: ResearchAnswer) -> list[Sentence]:
    """Return the sentences of an answer with what each cites itself, none where they need not cite."""
    return [Sentence(item["start"], item["end"], tuple(item["notes"])) for item in answer.get("sentences", [])]


def keep_sentences_of_rest(answer: ResearchAnswer, rest: Rest, citations: Sequence[str]) -> ResearchAnswer:
    """Return what is left of an answer, with what its sentences cite.

    Args:
        answer: the whole answer.
        rest: the text without what was taken out.
        citations: of the rest.
    """
    left = ResearchAnswer(answer=rest.text, citations=[*citations])
    if "sentences" not in answer:
        return left
    moved = [_keep_sentence(item) for item in move_sentences(list_sentences(answer), rest.find_place)]
    left = ResearchAnswer(**left, sentences=moved)
    if "sections" not in answer:
        return left
    return ResearchAnswer(**left, sections=[*_move_sections(answer["sections"], rest)])


def _move_sections(sections: Iterable[AnswerSection], rest: Rest) -> Iterator[AnswerSection]:
    """Yield the sections of which something is left, where they stand now."""
    for item in sections:
        kept = [(at, at + end - start) for start, end, at in rest.kept if item["start"] <= start < item["end"]]
        if kept:
            yield AnswerSection(title=item["title"], start=kept[0][0], end=kept[-1][1])


def show_marked_answer(answer: ResearchAnswer) -> JsonObject:
    """Return an answer as it is proposed: its text or its sections, with marks if sentences must cite; citations."""
    text, sentences = answer["answer"], list_sentences(answer)
    if "sections" not in answer:
        return {"answer": write_marks(text, sentences), "citations": answer["citations"]}
    shown: list[JsonObject] = []
    for item in answer["sections"]:
        first, last = item["start"], item["end"]
        own = [Sentence(at - first, min(end, last) - first, ids) for at, end, ids in sentences if first <= at < last]
        shown.append({"title": item["title"], "text": write_marks(text[first:last], own)})
    return {"sections": shown, "citations": answer["citations"]}


def check_cited_sentences(
    answer: ResearchAnswer, *, notes: Sequence[Note], check: Callable[[ResearchAnswer], object]
) -> None:
    """Hold every sentence of an answer against the notes that it cites itself, and its quotes against theirs.

    Args:
        answer: the answer of `parse_marked_answer`.
        notes: the verified notes.
        check: raises a `Stop` for sentences whose facts or names the notes do not have that they cite.

    Raises:
        Stop: of `check`, or ``invalid_answer:quote_not_in_source``, with the sentence in `details`.
    """
    text, sentences = answer["answer"], list_sentences(answer)
    for ids in dict.fromkeys(item.ids for item in sentences):
        said = [text[item.start : item.end] for item in sentences if item.ids == ids]
        try:
            check(ResearchAnswer(answer="\n".join(said), citations=[*ids]))
        except Stop as stop:
            found = (item for item in said if any(name in item for name in stop.evidence["unsupported"]))
            raise Stop(stop.reason, **stop.evidence, details=_show_sentence(next(found, said[0]))) from None
    quotes = list(find_quotes(text))
    for item in sentences:
        own = select_cited_notes(notes, item.ids)
        sources = [text for note in own for text in (note["quote"], note["title"])]
        quoted = [quote.text for quote in quotes if item.start <= quote.start < item.end]
        if missing := [quote for quote in quoted if not any(is_quote_in_text(quote, source) for source in sources)]:
            raise Stop(
                "invalid_answer:quote_not_in_source",
                unsupported=list(map(excerpt_value, missing)),
                details=_show_sentence(text[item.start : item.end]),
            )


def _show_sentence(sentence: str) -> JsonObject:
    return {"sentence": excerpt_value(sentence, SENTENCE_CHARS)}


def select_cited_notes(notes: Sequence[Note], citations: Collection[str]) -> list[Note]:
    """Return the notes that are cited, in the order of the notes.

    An extractor may use an id twice; a citation of it means the first note of that name and licenses no other.
    """
    first = {note["id"]: note for note in reversed(notes)}
    return [note for note in notes if note["id"] in citations and first[note["id"]] is note]


def describe_cited_spans(note: Note, answer: ResearchAnswer) -> JsonObject:
    """Return where the sentences of an answer stand that cite a note themselves, nothing where they need not cite."""
    if "sentences" not in answer:
        return {}
    spans = [[item["start"], item["end"]] for item in answer["sentences"] if note["id"] in item["notes"]]
    return {"answer_spans": spans, "spans_by": "cited"}


def describe_citation(note: Note, page: SourcePage | None) -> JsonObject:
    """Return what a result says of a source that its answer cites.

    Args:
        note: the note that is cited.
        page: its page, as it was read.

    Returns:
        The note's `id`, `url`, `title` and `published_at`, and what more is known: `asked_url`, `guessed_date`, the
        `document_span` of the quote in characters of the page's text, a `link` that opens the page at the quote; of the
        page `fetched_at`, `sha256`, `text_sha256` and `extraction`. In a file with pages, `page` is the number of the
        one on which the quote begins, and the link opens that.
    """
    said: JsonObject = {key: note[key] for key in ("id", "url", "title", "published_at")}
    more: JsonObject = {key: note[key] for key in ("asked_url", "guessed_date") if key in note}
    if "start" in note and "end" in note:
        more["document_span"] = [note["start"], note["end"]]
        shown = page["body"][note["start"] : note["end"]] if page else note["quote"]
        number = _find_page_number(note["start"], page["pages"]) if page and "pages" in page else None
        if number is None:
            more["link"] = make_text_fragment_url(note["url"], shown)
        else:
            more["page"], more["link"] = number, f"{note['url'].partition('#')[0]}#page={number}"
    of_page: JsonObject = {key: item for key, item in (page or {}).items() if key in OF_PAGE}
    return {**said, **more, **of_page}


def _find_page_number(place: int, pages: Sequence[Sequence[int]]) -> int | None:
    """Return the number of the page on which a place of a body is."""
    return next((number for number, start in reversed(pages) if start <= place), None)


def check_answer_links(
    answer: ResearchAnswer, *, question: str, notes: Sequence[Note], policy: ResearchPolicy | None
) -> None:
    """Check that the answer's links are in the notes that it cites, with title and URL, or in the question.

    Args:
        answer: the answer of `parse_research_answer`.
        question: what the run was asked.
        notes: the verified notes.
        policy: the run's, None where links are not judged.

    Raises:
        Stop: ``invalid_answer:active_markup``, ``invalid_answer:unsupported_link``.
    """
    cited = [text for note in select_cited_notes(notes, answer["citations"]) for text in _list_note_texts(note)]
    known = policy.known_names if policy else ()
    check_links([answer["answer"]], "invalid_answer", cited=[question, *cited], policy=policy, known_names=known)


def check_answer_facts(
    answer: ResearchAnswer, *, notes: Sequence[Note], regions: Sequence[str], derive: bool = True
) -> None:
    """Check that the answer's facts are in the claims or quotes of the notes that it cites.

    Args:
        answer: the answer of `parse_research_answer`.
        notes: the verified notes.
        regions: region names to watch for.
        derive: whether what follows from the numbers of the notes may be said.

    Raises:
        Stop: ``invalid_answer:unsupported_number`` with the sorted `unsupported` facts.
    """
    cited = select_cited_notes(notes, answer["citations"])
    texts = [text for note in cited for text in (note["claim"], note["quote"])]
    licence = facts_in_texts(texts, regions=regions)
    if missing := unsupported_of_answer(
        answer["answer"], licence, texts=texts, documents=len(notes), derive=derive, regions=regions
    ):
        raise Stop("invalid_answer:unsupported_number", unsupported=missing.all())


def check_answer_names(
    answer: ResearchAnswer,
    *,
    question: str,
    notes: Sequence[Note],
    pages: Mapping[str, SourcePage],
    known_names: Collection[str] = (),
    within: str = "",
) -> None:
    """Check that the answer's names are in the notes that it cites, with title and URL, or in the question.

    The claim of a note that names what its page does not have supports no name.

    Args:
        answer: the answer of `parse_research_answer`.
        question: what the run was asked.
        notes: the verified notes.
        pages: the pages that were read; a word that stands there in lower case is no name.
        known_names: names that any answer may say.
        within: the whole answer, where only a sentence of it is held.

    Raises:
        Stop: ``invalid_answer:unsupported_name`` with the sorted `unsupported` names.
    """
    beside = [question, *known_names]
    chosen = select_cited_notes(notes, answer["citations"])
    cited = ["\n".join(_list_naming_texts(note, pages.get(find_note_url(note)), beside)) for note in chosen]
    read = [*(note["claim"] for note in notes), *(page["body"] for page in pages.values())]
    if missing := find_unsupported_names(answer["answer"], cited=cited, beside=beside, read=read, within=within):
        raise Stop("invalid_answer:unsupported_name", unsupported=list(map(shown_name, missing)))


def _list_naming_texts(note: Note, page: SourcePage | None, beside: Collection[str]) -> tuple[str, ...]:
    """Return the texts of a note that support names: its claim only where the page has all the names of it."""
    claim, *quoted = _list_note_texts(note)
    if page and find_unsupported_names(claim, cited=["\n".join([*quoted, page["title"], page["body"]])], beside=beside):
        return tuple(quoted)
    return claim, *quoted


def find_supporting_notes(sentences: Iterable[str], notes: Sequence[Note]) -> set[str]:
    """Return the ids of the notes that share the most words with one of some sentences.

    Args:
        sentences: of an answer.
        notes: those that it cites.
    """
    texts = ["\n".join(_list_note_texts(note)) for note in notes]
    nearest = find_nearest_texts(sentences, texts, language=detect_language("\n".join(texts)))
    return {notes[at]["id"] for places in nearest for at in places}


def _list_note_texts(note: Note) -> tuple[str, ...]:
    return note["claim"], note["quote"], note["title"], note["url"]

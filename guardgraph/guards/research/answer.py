"""Whether an answer rests on the notes that it cites."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import accumulate
from typing import Final

from guardgraph.grounding.check import CheckedText, Source
from guardgraph.grounding.marks import CitingSentence, Mark, read_marks, write_marks
from guardgraph.grounding.names import find_unsupported_names
from guardgraph.guards.answers import assign_marks, check_answer, check_sentence_quotes, read_workings
from guardgraph.guards.research.sources import find_note_url
from guardgraph.guards.stop import Stop, shown_name
from guardgraph.plain.json import JsonObject, JsonValue, excerpt_value
from guardgraph.plain.urls import make_text_fragment_url
from guardgraph.state.research import AnswerSection, CitedSentence, Note, ResearchAnswer, ResearchPolicy, SourcePage

BETWEEN: Final = "\n\n"  # what parts the texts of sections

OF_PAGE = ("fetched_at", "sha256", "text_sha256", "extraction")
"""What a citation says of the page, where its reader did."""


def parse_research_answer(
    answer: JsonValue, citations: JsonValue, *, notes: Sequence[Note], max_answer_chars: int
) -> ResearchAnswer:
    """Read an answer."""
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


def parse_sectioned_answer(
    sections: JsonValue, citations: JsonValue, *, outline: Sequence[str], notes: Sequence[Note], max_answer_chars: int
) -> ResearchAnswer:
    """Read an answer in sections, each sentence with a mark behind it; see `assign_marks`."""
    items = [item if isinstance(item, dict) else {} for item in sections] if isinstance(sections, list) else []
    received = [item.get("title") for item in items]
    texts = [text for item in items if isinstance(text := item.get("text"), str) and text.strip()]
    if received != [*outline] or len(texts) != len(items):
        raise Stop("invalid_answer:sections", details={"expected": [*outline], "received": excerpt_value(received)})
    read, lengths = _parse_marked_texts(
        texts, citations, must_cite=True, notes=notes, max_answer_chars=max_answer_chars
    )
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
    """Read an answer in the form in which it had to be written, in sections, marked or plain, and its workings."""
    citations, answer = fields.get("citations"), fields.get("answer")
    if len(outline) > max_sections:
        raise Stop("invalid_answer:sections", details={"sections": len(outline), "limit": max_sections})
    if outline:
        read = parse_sectioned_answer(
            fields.get("sections"), citations, outline=outline, notes=notes, max_answer_chars=max_answer_chars
        )
    elif isinstance(answer, str):
        read, _ = _parse_marked_texts(
            [answer], citations, must_cite=must_cite, notes=notes, max_answer_chars=max_answer_chars
        )
    else:
        read = parse_research_answer(answer, citations, notes=notes, max_answer_chars=max_answer_chars)
    workings = read_workings(fields)
    return ResearchAnswer(**read, workings=workings) if workings else read


def list_section_titles(answer: ResearchAnswer) -> list[str]:
    """Return the titles of an answer's sections."""
    return [item["title"] for item in answer.get("sections", [])]


def _parse_marked_texts(
    texts: Sequence[str], citations: JsonValue, *, must_cite: bool, notes: Sequence[Note], max_answer_chars: int
) -> tuple[ResearchAnswer, list[int]]:
    """Read the texts of an answer as one, and the length of each without its marks."""
    ids = {note["id"] for note in notes}
    shown = [text for note in notes for text in (note["claim"], note["quote"], note["title"])]
    parts, marks, at = list[str](), list[Mark](), 0
    for given in texts:
        part, found, unknown = read_marks(given, ids, shown)
        if not part:
            raise Stop("invalid_answer:empty")
        if unknown:
            raise Stop("invalid_answer:citations_out_of_context", invalid_citations=list(map(shown_name, unknown)))
        parts.append(part)
        marks += [Mark(at + mark.at, mark.ids) for mark in found]
        at += len(part) + len(BETWEEN)
    listed = citations
    if isinstance(citations, list) and all(isinstance(item, str) for item in citations):
        listed = [*citations, *(name for mark in marks for name in mark.ids)]
    read = parse_research_answer(BETWEEN.join(parts), listed, notes=notes, max_answer_chars=max_answer_chars)
    if must_cite or marks:
        with _keep_sentence_in_details():
            sentences = assign_marks(read["answer"], marks, read["citations"], must_cite=must_cite)
        read = ResearchAnswer(
            **read, sentences=[CitedSentence(start=item.start, end=item.end, notes=[*item.ids]) for item in sentences]
        )
    return read, [*map(len, parts)]


@contextmanager
def _keep_sentence_in_details() -> Iterator[None]:
    try:
        yield
    except Stop as stop:
        shown = {key: item for key, item in stop.evidence.items() if key != "sentence"}
        raise Stop(stop.reason, **shown, details={"sentence": stop.evidence["sentence"]}) from None


def list_sentences(answer: ResearchAnswer) -> list[CitingSentence]:
    """Return the sentences of an answer with what each cites; one that says nothing itself cites all that it does."""
    if "sentences" not in answer:
        return assign_marks(answer["answer"], [], answer["citations"], must_cite=False)
    return [CitingSentence(item["start"], item["end"], tuple(item["notes"])) for item in answer["sentences"]]


def show_marked_answer(answer: ResearchAnswer) -> JsonObject:
    """Return an answer as it is proposed: its text or its sections, with marks if sentences must cite; citations."""
    text, sentences = answer["answer"], list_sentences(answer) if "sentences" in answer else []
    rest: JsonObject = {"citations": answer["citations"]}
    rest |= {"workings": answer["workings"]} if answer.get("workings") else {}
    if "sections" not in answer:
        return {"answer": write_marks(text, sentences), **rest}
    shown: list[JsonObject] = []
    for item in answer["sections"]:
        first, last = item["start"], item["end"]
        own = [
            CitingSentence(at - first, min(end, last) - first, ids) for at, end, ids in sentences if first <= at < last
        ]
        shown.append({"title": item["title"], "text": write_marks(text[first:last], own)})
    return {"sections": shown, **rest}


def select_cited_notes(notes: Sequence[Note], citations: Collection[str]) -> list[Note]:
    """Return the notes that are cited, in the order of the notes."""
    first = {note["id"]: note for note in reversed(notes)}
    return [note for note in notes if note["id"] in citations and first[note["id"]] is note]


def describe_cited_spans(note: Note, answer: ResearchAnswer) -> JsonObject:
    """Return where the sentences of an answer stand that cite a note themselves, nothing where they need not cite."""
    if "sentences" not in answer:
        return {}
    spans = [[item["start"], item["end"]] for item in answer["sentences"] if note["id"] in item["notes"]]
    return {"answer_spans": spans, "spans_by": "cited"}


def describe_citation(note: Note, page: SourcePage | None) -> JsonObject:
    """Return what a result says of a source that its answer cites."""
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
    return next((number for number, start in reversed(pages) if start <= place), None)


def check_answer_sentences(
    answer: ResearchAnswer,
    *,
    question: str,
    notes: Sequence[Note],
    pages: Mapping[str, SourcePage],
    policy: ResearchPolicy,
) -> CheckedText:
    """Hold every sentence of an answer against the notes that it cites; where it says which, its quotes too."""
    cited, sentences = select_cited_notes(notes, answer["citations"]), list_sentences(answer)
    if "sentences" in answer:
        with _keep_sentence_in_details():
            texts = {note["id"]: [note["quote"], note["title"]] for note in cited}
            check_sentence_quotes(answer["answer"], sentences, texts)
    beside = [question, *policy.known_names]
    sources = [make_source(note, pages.get(find_note_url(note)), beside) for note in cited]
    workings = answer.get("workings", [])
    return check_answer(answer["answer"], sources, sentences, policy=policy, question=question, workings=workings)


def make_source(note: Note, page: SourcePage | None, beside: Collection[str]) -> Source:
    """Return a note as sentences are held against it: its claim only where the page has all names of it."""
    says, about = [note["claim"], note["quote"]], (note["title"], note["url"], note["published_at"])
    if page is not None:
        told = [note["quote"], *about, page["title"], page["body"], *beside]
        if any(not name.isupper() for name in find_unsupported_names(note["claim"], told)):
            says = [note["quote"]]
    return Source(note["id"], "\n\n".join(says), tuple(filter(None, about)))

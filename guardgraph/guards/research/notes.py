"""The notes taken from pages that were read, and whether the pages bear them out."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, Final, cast

from guardgraph.grounding.quotes import find_quote_place, is_quote_in_text, normalise_quote_text
from guardgraph.grounding.sentences import find_sentence_spans, split_sentences
from guardgraph.grounding.values import find_unsupported_values, scan_values
from guardgraph.grounding.words import detect_language, find_nearest_texts, list_word_keys, read_terms
from guardgraph.guards.links import check_links
from guardgraph.guards.numbering import is_not_found
from guardgraph.guards.research.sources import find_note_url
from guardgraph.guards.stop import Stop, build_output_stop
from guardgraph.plain.json import JsonObject, JsonValue
from guardgraph.plain.urls import identify_url, parse_url_target
from guardgraph.state.research import DroppedNote, Issue, Note, NotesVerification, ResearchPolicy, SourcePage

MIN_QUOTE_CHARS = 20  # characters that a quote has at least

NOTE_TEXTS: Final = ("id", "claim", "quote", "url", "title", "published_at")


def read_proposed_notes(raw: JsonValue) -> list[JsonValue]:
    """Return the notes that a model proposes: what they say and where, since all else is known of their pages."""
    notes = raw.get("notes") if isinstance(raw, dict) else None
    if not isinstance(notes, list):
        raise Stop("invalid_notes:empty")
    said = ("claim", "quote", "url")
    return [{key: note.get(key) for key in said} if isinstance(note, dict) else note for note in notes]


def read_text_notes(text: str, *, pages: Mapping[str, str], most: int) -> JsonObject:
    """Return the notes of a text whose lines are sentences of pages: what a page says, in its own words."""
    language = detect_language("\n".join(pages.values()))
    spans = ((url, body[start:end]) for url, body in pages.items() for start, end in find_sentence_spans(body))
    places = [(url, said) for url, said in spans if len(normalise_quote_text(said)) >= MIN_QUOTE_CHARS]
    lines = [line for line in split_sentences(text) if not is_not_found(line)]
    nearest = find_nearest_texts(lines, [said for _, said in places], language=language, terms=read_terms)
    found = zip(lines, nearest, strict=True)
    meant = (at for line, ats in found for at in ats[:1] if _is_copy(line, places[at][1]))
    chosen = [places[at] for at in dict.fromkeys(meant)][:most]
    return {"notes": [{"claim": said, "quote": said, "url": url} for url, said in chosen]}


def _is_copy(line: str, sentence: str) -> bool:
    """Say whether a line means a sentence of a page: most of its words are the sentence's."""
    words, said = set(list_word_keys(line)), set(list_word_keys(sentence))
    return 2 * len(words & said) > len(words)


def number_notes(raw: JsonValue, *, before: Collection[str] = ()) -> list[JsonValue]:
    """Give the notes that have no id one: n1, n2, … in their order, leaving out ids that are taken."""
    if not isinstance(raw, list):
        raise build_output_stop("extract_notes", raw, "a list of notes")
    given = [note.get("id") for note in raw if isinstance(note, dict)]
    taken = {name.strip() for name in given if isinstance(name, str)} | {*before}
    free = (name for number in count(1) if (name := f"n{number}") not in taken)

    def needs_id(note: JsonObject) -> bool:
        name = note.get("id")
        return name is None or (isinstance(name, str) and name.strip() in before)

    return [{**note, "id": next(free)} if isinstance(note, dict) and needs_id(note) else note for note in raw]


def parse_notes(raw: JsonValue, *, max_notes: int) -> list[Note]:
    """Read notes."""
    if not isinstance(raw, list) or not raw:
        raise Stop("invalid_notes:empty")
    if len(raw) > max_notes:
        raise Stop("invalid_notes:too_many")
    notes = [_parse_note(item) for item in raw]
    if len({note["id"] for note in notes}) < len(notes):
        raise Stop("invalid_notes:id")  # a citation would not say which of them it means
    return notes


def check_note_links(
    notes: Sequence[Note], *, question: str, pages: Mapping[str, SourcePage], policy: ResearchPolicy | None
) -> None:
    """Check that the links of claims and titles are on the page that each note names, or in the question."""
    for note in notes:
        page = pages.get(find_note_url(note))
        said = [note["claim"], "" if page and page["title"] == note["title"] else note["title"]]
        cited = [question, note["url"], note.get("asked_url", ""), *((page["title"], page["body"]) if page else ())]
        known = policy.known_names if policy else ()
        check_links(said, "invalid_notes", cited=cited, policy=policy, known_names=known)


def place_notes(notes: Sequence[Note], *, pages: Mapping[str, SourcePage]) -> list[Note]:
    """Say of every note where its page was in the end, and where its quote stands in it."""
    by_final = {
        identify_url(final): url for url, page in reversed(list(pages.items())) if (final := page.get("final_url"))
    }
    asked = [note["url"] if note["url"] in pages else by_final.get(note["url"], "") for note in notes]
    return [_place_note(note, url, pages[url]) if url else note for note, url in zip(notes, asked, strict=True)]


def show_note(note: Note) -> JsonObject:
    """Return what a writer is shown of a note."""
    return {key: item for key, item in note.items() if key in NOTE_TEXTS}


def _place_note(note: Note, asked: str, page: SourcePage) -> Note:
    url = page.get("final_url", asked)
    known = parse_url_target(url)
    declared = page.get("declared_date")
    title, published_at = note["title"] or page["title"], note["published_at"] or page["published_at"]
    placed: Note = {**note, "url": url, "title": title, "published_at": published_at if declared is None else declared}
    if known is not None:
        placed["host"] = known.host
    if identify_url(url) != asked:
        placed["asked_url"] = asked
    if declared == "" and page["published_at"]:
        placed["guessed_date"] = page["published_at"]
    if (place := find_quote_place(note["quote"], page["body"])) is not None:
        placed["start"], placed["end"] = place
    return placed


def verify_notes(
    notes: Sequence[Note], *, pages: Mapping[str, SourcePage], check_values: bool, check_quotes: bool
) -> NotesVerification:
    """Check every note against the page that it names."""
    issues: list[Issue] = []
    for note in notes:
        page = pages.get(find_note_url(note))
        issues += _find_note_source_issues(note, page, check_quote=check_quotes)
        if check_values and (missing := _list_missing_values(note, page)):
            issues.append(Issue(note=note["id"], issue="number_not_in_quote", unsupported=missing))
    verification = NotesVerification(ok=not issues, checked_notes=len(notes), issues=issues)
    if issues:
        raise Stop(f"verification_failed:{issues[0]['issue']}", verification=verification)
    return verification


def drop_unverified_notes(
    notes: Sequence[Note], verification: NotesVerification
) -> tuple[list[Note], list[DroppedNote]]:
    """Sort notes into those that verified and those that did not, in their order and with their ids."""
    first = {issue["note"]: issue for issue in reversed(verification["issues"])}
    dropped = list[DroppedNote]()
    for note in notes:
        if (issue := first.get(note["id"])) is not None:
            more = {"unsupported": issue["unsupported"]} if "unsupported" in issue else {}
            dropped.append(drop_note(note, f"verification_failed:{issue['issue']}", **more))
    return [note for note in notes if note["id"] not in first], dropped


def drop_note(note: Note, reason: str, **more: Any) -> DroppedNote:
    """Return what a result says of a note that is left out."""
    said = {"id": note["id"], "claim": note["claim"], "quote": note["quote"], "url": note["url"]}
    return cast(DroppedNote, {**said, "reason": reason, **more})


def _find_note_source_issues(note: Note, page: SourcePage | None, *, check_quote: bool) -> Iterator[Issue]:
    if len(normalise_quote_text(note["quote"])) < MIN_QUOTE_CHARS:
        yield Issue(note=note["id"], issue="quote_too_short")
    if not any(character.isalnum() for character in note["claim"]):
        yield Issue(note=note["id"], issue="claim_missing")
    if page is None:
        yield Issue(note=note["id"], issue="url_not_read")
    elif check_quote and not is_quote_in_text(note["quote"], page["body"]):
        yield Issue(note=note["id"], issue="quote_not_in_source")


def _list_missing_values(note: Note, page: SourcePage | None) -> list[str]:
    """Return the values of a claim that its quote does not have, of dates none that the page's own date completes."""
    missing = find_unsupported_values(note["claim"], [note["quote"]])
    if not missing or page is None:
        return missing
    dated_by = [page["title"], page.get("declared_date", page["published_at"])]
    dates = {value.text for value in scan_values(note["claim"]) if value.kind == "date"}
    dated = find_unsupported_values(note["claim"], [note["quote"], *dated_by])
    return [text for text in missing if text not in dates or text in dated]


def _parse_note(raw: JsonValue) -> Note:
    if not isinstance(raw, dict):
        raise Stop("invalid_notes:item")
    texts = {name: said.strip() if isinstance(said := raw.get(name), str) else "" for name in NOTE_TEXTS}
    for name in ("id", "url", "claim"):
        if not texts[name]:
            raise Stop(f"invalid_notes:{name}")
    if len(texts["quote"]) < MIN_QUOTE_CHARS:
        raise Stop("invalid_notes:quote")
    return Note(
        id=texts["id"],
        claim=texts["claim"],
        quote=texts["quote"],
        url=identify_url(texts["url"]) or texts["url"],
        title=texts["title"],
        published_at=texts["published_at"],
    )

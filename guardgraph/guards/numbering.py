"""What a model knows by its number: models are shown lists with numbers and cite these; ids stay ours."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from guardgraph.grounding.sentences import split_sentences
from guardgraph.grounding.words import detect_language, find_nearest_texts, read_terms
from guardgraph.guards.proposals import Proposal, proposal, read_text_reply
from guardgraph.guards.stop import Stop
from guardgraph.plain.json import JsonObject, JsonValue, excerpt_value

_MARK: Final = re.compile(r"(?<![ \t])([ \t]*+)(?<![\w\]\)])\[((?:\d{1,3})(?:\s*[,;]\s*\d{1,3})*)\](?!\()")
"""Numbers in square brackets that stand alone; a link of Markdown is none, nor is an index."""
_NUMBER: Final = re.compile(r"\[?(\d{1,3})\]?")
_NOT_FOUND: Final = re.compile(
    r"\W*(?:\w+\W+){0,8}not found(?:\W+(?:in|by|within)(?:\W+[a-z]+){1,4})?\W*", re.IGNORECASE
)
"""What a model writes that is asked for a text, and finds no answer."""


def is_not_found(text: str) -> bool:
    """Say whether a model that was asked for a text says, alone or among other sentences, that it finds no answer."""
    return any(
        _NOT_FOUND.fullmatch(sentence) and (sentence == text.strip() or "NOT FOUND" in sentence or "answer" in sentence)
        for sentence in split_sentences(text)
    )


def is_by_number(given: Proposal) -> bool:
    """Say whether whoever proposed was shown numbers: a model with a prompt was; a function sees ids."""
    return given.text is not None and "prompt" in given.about


def proposed_answer(packed: str, texts: Mapping[str, str]) -> Proposal:
    """Read a proposed answer that cites by numbers."""
    given = proposal(packed)
    value = _read_numbered_answer(given, texts)
    if given.text is not None and not isinstance(value, dict):
        raise Stop("llm_invalid_json", details={"text": excerpt_value(given.text)})
    return given._replace(value=value)


def _read_numbered_answer(given: Proposal, texts: Mapping[str, str]) -> JsonValue:
    ids = [*texts]
    if not is_by_number(given):
        return given.value
    value = given.value
    if (text := read_text_reply(given)) is not None:
        value = {"insufficient": True} if is_not_found(text) else {"answer": text, "citations": []}
    if not isinstance(value, dict) or not isinstance(value.get("citations"), list):
        return value
    found = list[str]()
    named: JsonObject = {**value, "citations": [_name_cited_number(item, ids) for item in value["citations"]]}
    if isinstance(answer := named.get("answer"), str):
        named["answer"] = _name_mark_numbers(answer, ids, found)
    if isinstance(sections := named.get("sections"), list):
        named["sections"] = [_name_section_numbers(item, ids, found) for item in sections]
    if text is not None and not found:
        answer = named["answer"]
        language, ids = detect_language("\n".join(texts.values())), [*texts]
        nearest = find_nearest_texts(split_sentences(answer), [*texts.values()], language=language, terms=read_terms)
        found += list(dict.fromkeys(ids[at] for places in nearest for at in places[:1]))
    if all(isinstance(item, str) for item in named["citations"]):
        named["citations"] = [*dict.fromkeys([*named["citations"], *found])]
    return named


def _name_section_numbers(item: JsonValue, ids: Sequence[str], found: list[str]) -> JsonValue:
    if not isinstance(item, dict) or not isinstance(text := item.get("text"), str):
        return item
    return {**item, "text": _name_mark_numbers(text, ids, found)}


def _name_mark_numbers(text: str, ids: Sequence[str], found: list[str]) -> str:
    def name(match: re.Match[str]) -> str:
        names = [_get_numbered_id(int(number), ids) for number in re.findall(r"\d+", match[2])]
        found.extend(names)
        return f"{match[1]}[{', '.join(names)}]"

    return _MARK.sub(name, text)


def _name_cited_number(item: JsonValue, ids: Sequence[str]) -> JsonValue:
    if isinstance(item, str) and item.strip() in ids:
        return item
    number = _NUMBER.fullmatch(item.strip()) if isinstance(item, str) else None
    if number is not None:
        return _get_numbered_id(int(number[1]), ids)
    return _get_numbered_id(item, ids) if isinstance(item, int) and not isinstance(item, bool) else item


def _get_numbered_id(number: int, ids: Sequence[str]) -> str:
    return ids[number - 1] if 0 < number <= len(ids) else str(number)


def name_numbered_pages(value: JsonValue, urls: Sequence[str]) -> JsonValue:
    """Return proposed notes that name their pages by URL, where they name them by number."""
    notes = value.get("notes") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(notes, list):
        return value
    return {**value, "notes": [_name_page_number(note, urls) for note in notes]}


def _name_page_number(note: JsonValue, urls: Sequence[str]) -> JsonValue:
    if not isinstance(note, dict) or "url" in note or "page" not in note:
        return note
    named = {key: item for key, item in note.items() if key != "page"}
    url = _name_cited_number(note["page"], urls)
    return {**named, "url": url}

"""A brief of the Research agent as Markdown: what models and pages wrote is text, never markup, and no link."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from guardgraph.graphs.running.langgraph import INTERRUPT
from guardgraph.plain.errors import InputError
from guardgraph.plain.json import JsonObject, JsonValue
from guardgraph.plain.markdown import (
    escape_markdown_line,
    escape_markdown_signs,
    escape_markdown_words,
    format_markdown_code,
    protect_markdown_line,
)
from guardgraph.reporting.answer import are_answer_sections, is_object_list
from guardgraph.reporting.reading import parse_reported_json
from guardgraph.reporting.values import explain_unverified_sentence, is_unverified_sentence
from guardgraph.state.catalogue import SUCCESS

UNTITLED: Final = "Research brief"  # the title where nobody says what was asked

_ITEM: Final = re.compile(r"([-*+]|\d{1,9}[.)])[ \t]+(?=[^\s*+=-])")  # how an item of a list begins


def format_brief(result: Mapping[str, Any], *, asked: object = None) -> str:
    """Return the answer of a research run as Markdown, each citation as a number, with a table of its sources.

    Where every sentence had to cite, the numbers stand behind the sentences, else behind the answer. What a model or a
    page wrote is text: its markup is escaped, and addresses stand as code, so that no reader makes links of them. Lists
    of the answer stay lists.

    Args:
        result: of a run of the Research agent that ended well, as it was returned or read again from JSON.
        asked: what the run was given, a text or the dictionary; its question is the title.

    Raises:
        InputError: it is no such result.
    """
    brief = _read_brief(result)
    numbers = {str(item.get("id")): str(number) for number, item in enumerate(brief["citation_details"], 1)}
    asked = parse_reported_json("asked", asked)
    for key in ("request", "request", "question"):
        if isinstance(asked, dict):
            asked = asked.get(key)
    parts = [f"# {escape_markdown_line((asked if isinstance(asked, str) else '') or UNTITLED)}"]
    parts += _format_brief_answer(brief)
    if unverified := _list_unverified(brief):
        told = (
            (brief["answer"][item["start"] : item["end"]], explain_unverified_sentence(item)) for item in unverified
        )
        parts += ["## Unverified", "\n".join(f"- {escape_markdown_line(f'{said} ({why})')}" for said, why in told)]
    rows = [[str(number), *_list_source_cells(item)] for number, item in enumerate(brief["citation_details"], 1)]
    parts += ["## Sources", _format_brief_table(["no.", "title", "address", "page", "tier", "date", "owner"], rows)]
    if agreement := _keep_json_objects(brief.get("agreement")):
        parts += ["## Agreement", _format_agreement(agreement, numbers)]
    if isinstance(still_open := brief.get("open"), list) and still_open:
        parts += ["## Open", "\n".join(f"- {escape_markdown_line(item)}" for item in still_open)]
    if isinstance(who := brief.get("approved_by"), str):
        parts.append(f"Approved by {escape_markdown_line(who)}.")
    return "\n\n".join(parts) + "\n"


def _read_brief(result: object) -> JsonObject:
    """Return a result of ours."""
    told = {key: item for key, item in result.items() if key != INTERRUPT} if isinstance(result, Mapping) else result
    brief = parse_reported_json("run", told)
    given: object = type(result).__name__
    if isinstance(brief, dict):
        is_ok = brief.get("stop_reason") == SUCCESS and isinstance(brief.get("answer"), str)
        details = brief.get("citation_details")
        if (
            is_ok
            and _keep_json_objects(details) == details
            and all(isinstance(item.get(key), str) for item in details or () for key in ("id", "url"))
        ):
            return brief
        given = brief.get("stop_reason") if not is_ok else "another result"
    raise InputError(f"run: a run of the Research agent that ended well is required; given: {given!s:.80}")


def _keep_json_objects(value: JsonValue) -> list[JsonObject]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


# The answer


def _format_brief_answer(brief: JsonObject) -> list[str]:
    answer, details, sections = brief["answer"], brief["citation_details"], brief.get("sections")
    marks = _place_source_numbers(details, len(answer))
    if not marks and details:
        marks = {len(answer.rstrip()): [str(number) for number, _ in enumerate(details, 1)]}
    for item in _list_unverified(brief):
        marks.setdefault(item["end"], []).append("unverified")
    if not is_object_list(sections) or not are_answer_sections(sections, answer):
        return ["\n".join(_format_brief_lines(answer, marks))]
    parts = list[str]()
    for item, behind in zip(sections, [*(each["start"] for each in sections[1:]), len(answer)], strict=True):
        start, end = item["start"], item["end"]
        own: dict[int, list[str]] = {}
        for place, said in sorted(marks.items()):
            if start < place <= behind:
                here = own.setdefault(min(place, end) - start, [])
                here += [each for each in said if each not in here]
        parts += [f"## {escape_markdown_line(item['title'])}", "\n".join(_format_brief_lines(answer[start:end], own))]
    return parts


def _place_source_numbers(details: Sequence[JsonObject], length: int) -> dict[int, list[str]]:
    """Return the numbers of sources by the ends of the sentences that cite them; what is no place has none."""
    marks: dict[int, list[str]] = {}
    for number, item in enumerate(details, 1):
        spans = item.get("answer_spans")
        for span in spans if isinstance(spans, list) else ():
            match span:
                case [*_, int(end)] if 0 < end <= length:
                    here = marks.setdefault(end, [])
                    here += [str(number)] if str(number) not in here else []
    return marks


def _list_unverified(brief: JsonObject) -> list[JsonObject]:
    length = len(brief["answer"])
    return [item for item in _keep_json_objects(brief.get("unverified")) if is_unverified_sentence(item, length)]


def _format_brief_lines(text: str, marks: Mapping[int, Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a text as Markdown, with numbers where they stand."""
    at = 0
    for line in text.split("\n"):
        cuts = sorted(place for place in marks if at < place <= at + len(line))
        told, begun = "", at
        for place in cuts:
            parted = " " if text[place : place + 1] in ("(", "[", ":") else ""  # else it would be a link of Markdown
            told += f"{escape_markdown_words(text[begun:place])} [{', '.join(marks[place])}]{parted}"
            begun = place
        told += escape_markdown_words(text[begun : at + len(line)])
        item = _ITEM.match(line.strip())
        rest = told.strip().removeprefix(escape_markdown_signs(item[1])).lstrip() if item else told.strip()
        listed = f"{'-' if item[1] in '*+' else item[1]} " if item else ""
        yield listed + protect_markdown_line(rest)
        at += len(line) + 1


# What stands below it


def _format_brief_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table; a column goes that is blank in every row."""
    used = [at for at in range(len(columns)) if any(row[at] for row in rows)]
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line[at] for at in used)} |" for line in lines)


def _list_source_cells(item: JsonObject) -> Iterator[str]:
    by = item.get("trusted_by")
    owner = by.get("owner") if isinstance(by, dict) else None
    published, guessed = item.get("published_at"), item.get("guessed_date")
    yield _escape_brief_cell(item.get("title"))
    yield format_markdown_code(item["url"])
    yield _escape_brief_cell(item.get("page"))
    yield _escape_brief_cell(item.get("tier"))
    yield _escape_brief_cell(published) or (f"{_escape_brief_cell(guessed)} (guessed)" if guessed else "")
    yield _escape_brief_cell(owner)


def _escape_brief_cell(value: JsonValue) -> str:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return escape_markdown_line(str(value)) if isinstance(value, str) or is_number else ""


def _format_agreement(agreement: Sequence[JsonObject], numbers: Mapping[str, str]) -> str:
    """Return how each note stands beside those of other sources, as a table; conflicts with both values."""

    def name_source_note(note: JsonValue) -> str:
        return numbers.get(str(note)) or _escape_brief_cell(note)

    rows = [
        [
            name_source_note(item.get("id")),
            _escape_brief_cell(item.get("claim")),
            _escape_brief_cell(item.get("standing")).replace("\\_", " "),
            _escape_brief_cell(item.get("independent")),
            "; ".join(
                f"{name_source_note(other.get('id'))} says {_escape_brief_cell(other.get('says'))}, "
                f"not {_escape_brief_cell(other.get('instead_of'))}"
                for other in _keep_json_objects(item.get("conflicts_with"))
            ),
        ]
        for item in agreement
    ]
    return _format_brief_table(["no.", "claim", "standing", "independent sources", "conflicts"], rows)

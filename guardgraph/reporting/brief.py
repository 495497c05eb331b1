"""A brief of the Research agent as Markdown: what models and pages wrote is text, never markup, and no link."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from guardgraph.graphs.running.langgraph import INTERRUPT
from guardgraph.plain.errors import InputError
from guardgraph.plain.json import JsonObject, JsonValue
from guardgraph.reporting.document import escape_odd_letters
from guardgraph.reporting.reading import parse_reported_json
from guardgraph.reporting.values import explain_unverified_sentence, is_unverified_sentence
from guardgraph.state.catalogue import SUCCESS

UNTITLED: Final = "Research brief"  # the title where nobody says what was asked

_SPECIAL: Final = re.compile(r"[\\`*_\[\]<>|~&$#]")
"""What Markdown reads as markup anywhere in a line."""
_BEGINNING: Final = re.compile(r"\d{1,9}[.)](?=\s|$)|[-+=:]")
"""What makes a list, a rule or a heading of a line that begins so."""
_ITEM: Final = re.compile(r"([-*+]|\d{1,9}[.)])[ \t]+(?=[^\s*+=-])")  # how an item of a list begins
_BLANKS: Final = re.compile(r"([\s|]+)")
_ADDRESS: Final = re.compile(r"://|@|www\.|[^\W_][.\u3002\uff0e\uff61][^\W\d_]{2}", re.IGNORECASE)
"""What some readers of Markdown make a link of by themselves, or a message to somebody."""
_AROUND: Final = "()\"'“”‘’«».,;:!?"  # what may stand around an address


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
    parts = [f"# {_escape_brief_line((asked if isinstance(asked, str) else '') or UNTITLED)}"]
    parts += _format_brief_answer(brief, numbers)
    if unverified := _list_unverified(brief):
        told = (
            (brief["answer"][item["start"] : item["end"]], explain_unverified_sentence(item)) for item in unverified
        )
        parts += ["## Unverified", "\n".join(f"- {_escape_brief_line(f'{said} ({why})')}" for said, why in told)]
    rows = [[str(number), *_list_source_cells(item)] for number, item in enumerate(brief["citation_details"], 1)]
    parts += ["## Sources", _format_brief_table(["no.", "title", "address", "page", "tier", "date", "owner"], rows)]
    if agreement := _keep_json_objects(brief.get("agreement")):
        parts += ["## Agreement", _format_agreement(agreement, numbers)]
    if still_open := [item for item in _keep_json_list(brief.get("open")) if isinstance(item, str)]:
        parts += ["## Open", "\n".join(f"- {_escape_brief_line(item)}" for item in still_open)]
    if isinstance(who := brief.get("approved_by"), str):
        parts.append(f"Approved by {_escape_brief_line(who)}.")
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


def _keep_json_list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []


def _keep_json_objects(value: JsonValue) -> list[JsonObject]:
    return [item for item in _keep_json_list(value) if isinstance(item, dict)]


# The answer


def _format_brief_answer(brief: JsonObject, numbers: Mapping[str, str]) -> list[str]:
    answer, details = brief["answer"], brief["citation_details"]
    marks: dict[int, list[str]] = {}
    for item in details:
        for span in _keep_json_list(item.get("answer_spans")):
            if isinstance(span, list) and span and isinstance(span[-1], int):
                marks.setdefault(span[-1], []).append(numbers[item["id"]])
    if not marks and numbers:
        marks = {len(answer.rstrip()): [*numbers.values()]}
    for item in _list_unverified(brief):
        marks.setdefault(item["end"], []).append("unverified")
    sections = [item for item in _keep_json_objects(brief.get("sections")) if _is_brief_section(item, len(answer))]
    if not sections:
        return ["\n".join(_format_brief_lines(answer, marks))]
    parts = list[str]()
    for item in sections:
        start, end = item["start"], item["end"]
        own = {place - start: said for place, said in marks.items() if start < place <= end}
        parts += [f"## {_escape_brief_line(item['title'])}", "\n".join(_format_brief_lines(answer[start:end], own))]
    return parts


def _list_unverified(brief: JsonObject) -> list[JsonObject]:
    length = len(brief["answer"])
    return [item for item in _keep_json_objects(brief.get("unverified")) if is_unverified_sentence(item, length)]


def _is_brief_section(item: JsonObject, length: int) -> bool:
    places = [item.get("start"), item.get("end")]
    is_placed = all(isinstance(place, int) and 0 <= place <= length for place in places)
    return is_placed and isinstance(item.get("title"), str)


def _format_brief_lines(text: str, marks: Mapping[int, Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a text as Markdown, with numbers where they stand."""
    at = 0
    for line in text.split("\n"):
        cuts = sorted(place for place in marks if at < place <= at + len(line))
        told, begun = "", at
        for place in cuts:
            parted = " " if text[place : place + 1] in ("(", "[", ":") else ""  # else it would be a link of Markdown
            told += f"{_escape_brief_inline(text[begun:place])} [{', '.join(marks[place])}]{parted}"
            begun = place
        told += _escape_brief_inline(text[begun : at + len(line)])
        item = _ITEM.match(line.strip())
        rest = told.strip().removeprefix(_escape_brief_text(item[1])).lstrip() if item else told.strip()
        yield f"{'-' if item[1] in '*+' else item[1]} {_protect_beginning(rest)}" if item else _protect_beginning(rest)
        at += len(line) + 1


def _protect_beginning(line: str) -> str:
    """Return an escaped line that begins with text, whatever it begins with."""
    begun = _BEGINNING.match(line)
    return f"{line[: begun.end() - 1]}\\{line[begun.end() - 1 :]}" if begun else line


def _escape_brief_line(text: str) -> str:
    """Return a text as one line of Markdown."""
    return _protect_beginning(_escape_brief_inline(" ".join(text.split())))


def _escape_brief_inline(text: str) -> str:
    shown = escape_odd_letters(text.replace("\r\n", "\n"))
    return "".join(
        _format_brief_address(part) if _ADDRESS.search(part) else _escape_brief_text(part)
        for part in _BLANKS.split(shown)
    )


def _escape_brief_text(text: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", text)


def _format_brief_address(text: str) -> str:
    """Return a word with an address in it, which stands as code, and what stands around it."""
    core = text.strip(_AROUND)
    before, _, after = text.partition(core)
    return f"{_escape_brief_text(before)}{_format_brief_code(core)}{_escape_brief_text(after)}"


def _format_brief_code(text: str) -> str:
    """Return a text as code, in which nothing is markup; between two cells of a table it stands as well."""
    shown = escape_odd_letters("%20".join(text.split())).replace("|", "%7C")
    ticks = "`" * (max(map(len, re.findall("`+", shown)), default=0) + 1)
    blank = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{ticks}{blank}{shown}{blank}{ticks}" if shown else ""


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
    yield _format_brief_code(item["url"])
    yield _escape_brief_cell(item.get("page"))
    yield _escape_brief_cell(item.get("tier"))
    yield _escape_brief_cell(published) or (f"{_escape_brief_cell(guessed)} (guessed)" if guessed else "")
    yield _escape_brief_cell(owner)


def _escape_brief_cell(value: JsonValue) -> str:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return _escape_brief_line(str(value)) if isinstance(value, str) or is_number else ""


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

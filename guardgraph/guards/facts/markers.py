"""List and citation markers, whose digits are no numbers: "1.", "(1) … (2) …", "[3]"."""

from __future__ import annotations

import re
from typing import Final

from guardgraph.guards.facts.grammar import ANNOUNCING
from guardgraph.guards.facts.units import FIRST, ORDINALS, find_units

_LINE = re.compile(r"^[ \t>#*+•-]*+\(?\d{1,2}[.)]\**+[ \t]++(?=\S)", re.MULTILINE)
_ITEM = re.compile(r"\d(?<!\w\d)\d?[.)](?=[ ]+\S)")
_CITATION = re.compile(r"(?:[ ]?\[\d{1,2}(?:(?:,[ ]?|[-–])\d{1,2})*+\])++")
_MARKED = re.compile(r"\d[.)][ *\t]")
"""What every list marker ends with; no text without it has one."""
_NUMBER = re.compile(r"\d+")
_ANNOUNCES = re.compile(r"[A-Z][a-z]{3,9}+,\s|\d\**[:.](?:\s|$)")
_ANNOUNCED = re.compile(
    r"(?P<before>(?:^|[.!?;:]\s)[ \t>#*_+•-]*+)"
    r"(?:(?P<place>[A-Z][a-z]{3,9}+)(?=,\s)"
    rf"|(?i:{'|'.join(sorted(ANNOUNCING))})[ ](?P<number>\d{{1,2}}+)(?=\**[:.](?:\s|$)))",
    re.MULTILINE,
)
_WORDS = re.compile(r"[ -]?([^\W\d_]++)(?:[ ]([^\W\d_]++))?")

_NO_BRACKETS: Final = str.maketrans("[]", "  ")
_CITED: Final = frozenset(["", "\n", *"%.,\"'”’)"])
_CLOSING: Final = frozenset(["", *".,;:!?)\n"])
_JOINING: Final = frozenset(
    {"and", "or", "but", "while", "which", "that", "with", "as", "is", "are", "was", "were", "has", "have"}
    | {"so", "if", "when", "for", "to", "in", "on", "at", "by", "from", "the"}
)


def strip_number_markers(text: str) -> tuple[str, frozenset[int]]:
    """Take out list markers, citations and what only announces a step.

    A number before a full stop or a bracket is a marker where it begins a line, or where numbers of its shape
    count on from 1 ("(1) … and (2) …"). A small bracketed number is a citation where no blank parts it from
    its word, where it begins a line or ends a clause, and before a word that joins ("99 % [1] and"). What a
    unit follows ("[45] minutes", "(2) hours") is neither. "First," and "Step 1:" that open a sentence or a line
    are markers too.

    Returns:
        The text without them, and the numbers by which they count.
    """
    if "[" in text:
        text = _CITATION.sub(_drop_citation_number, text)
    marked: set[int] = set()
    if _ANNOUNCES.search(text):
        text = _ANNOUNCED.sub(lambda match: _drop_step_number(match, marked), text)
    if not _MARKED.search(text):
        return text, frozenset(marked)
    kept, at = [], 0
    for start, end in _find_list_numbers(text):
        marked.update(map(int, _NUMBER.findall(text, start, end)))
        kept.append(text[at:start])
        at = end
    text = _LINE.sub(lambda match: _drop_list_number(match, marked), "; ".join([*kept, text[at:]]))
    return text, frozenset(marked)


def _drop_step_number(match: re.Match[str], marked: set[int]) -> str:
    place = FIRST.get(match["place"].lower()) or ORDINALS.get(match["place"].lower()) if match["place"] else None
    if match["place"] and place is None:
        return match[0]
    marked.add(place or int(match["number"]))
    return match["before"] + ";"


def _drop_list_number(match: re.Match[str], marked: set[int]) -> str:
    if "(" in match[0] and _has_unit_after_number(match.string, match.end()):
        return match[0]
    marked.update(map(int, _NUMBER.findall(match[0])))
    return ""


def _find_list_numbers(text: str) -> list[tuple[int, int]]:
    """Find the markers that count on from 1, each of the shapes "(1)", "1)" and "1." for itself."""
    runs: list[list[tuple[int, int]]] = []
    current: dict[str, list[tuple[int, int]]] = {}
    for match in _ITEM.finditer(text):
        (start, end), number = match.span(), int(match[0][:-1])
        shape = _classify_list_number(text, start, match[0][-1])
        if shape is None or _has_unit_after_number(text, end):
            continue
        if number == 1:
            current[shape] = []
            runs.append(current[shape])
        if number == len(current.get(shape, ())) + 1 and shape in current:
            current[shape].append((start - (shape == "()"), end))
    return sorted(span for run in runs if len(run) > 1 for span in run)


def _classify_list_number(text: str, start: int, close: str) -> str | None:
    before = text[max(start - 2, 0) : start].rjust(2)
    if before[1] == "(":
        return "()" if close == ")" and before[0].isspace() else None
    if not before[1].isspace():
        return None
    # In "(attempt 1)" the number is none of a list.
    aside = text.rfind("(", max(start - 80, 0), start) > text.rfind(")", max(start - 80, 0), start)
    begins = start == 0 or before[1] == "\n" or before[0] in ".:;!?"
    return close if begins or (close == ")" and not aside) else None


def _drop_citation_number(match: re.Match[str]) -> str:
    text, (start, end) = match.string, match.span()
    before, after, word = text[max(start - 1, 0) : start], text[end : end + 1], _WORDS.match(text, end)
    glued = match[0][0] == "[" and (before.isalnum() or before in _CITED)
    cited = glued or after in _CLOSING or (word is not None and word[1] in _JOINING)
    return " " if cited and not _has_unit_after_number(text, end) else match[0].translate(_NO_BRACKETS)


def _has_unit_after_number(text: str, at: int) -> bool:
    """Say whether a unit stands at the place; a capital begins the words of an item."""
    match = _WORDS.match(text, at)
    if match is None:
        return text[at : at + 2].strip()[:1] in ("%", "％", "‰")
    names = (match[1], f"{match[1]} {match[2]}")
    return any(name.islower() and find_units(name) for name in names)

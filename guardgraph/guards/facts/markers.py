"""List and citation markers, whose digits are no numbers: "1.", "(1) … (2) …", "[3]"."""

from __future__ import annotations

import re

from guardgraph.guards.facts.units import units_named

__all__ = ["without_markers"]

_LINE = re.compile(r"^[ \t>#*+•-]*+\(?\d{1,2}[.)]\**+[ \t]++(?=\S)", re.MULTILINE)
_ITEM = re.compile(
    r"(?:(?P<open>(?<!\S)\()|^|(?<=[.:;!?][ ])|(?<=[,)][ ])(?=\d++\))|(?<=and[ ])(?=\d++\)))"
    r"(?P<n>\d{1,2})(?P<close>[.)])(?=[ ]+\S)",
    re.MULTILINE,
)
_CITATION = re.compile(r"(?:[ ]?\[\d{1,2}(?:(?:,[ ]?|[-–])\d{1,2})*+\])++")
_WORDS = re.compile(r"[ -]?([^\W\d_]++)(?:[ ]([^\W\d_]++))?")

_GLUED_TO = frozenset("%.,\"'”’)")
_CLOSING = frozenset(".,;:!?)\n")


def without_markers(text: str) -> str:
    """Take out list markers and citations.

    A number before a full stop or a bracket is a marker where it begins a line, or where the same text counts
    on from 1 ("(1) … and (2) …"). A small bracketed number is a citation where it follows its word without a
    blank, begins a line, or ends a clause; not where a unit follows ("[45] minutes").
    """
    if "[" in text:
        text = _CITATION.sub(_uncited, text)
    marked = {match.start() for run in _runs(text) if len(run) > 1 for match in run}
    if marked:
        text = _ITEM.sub(lambda match: "; " if match.start() in marked else match[0], text)
    return _LINE.sub("", text)


def _runs(text: str) -> list[list[re.Match[str]]]:
    """Find what counts on from 1, each of the shapes "(1)", "1)" and "1." for itself."""
    runs: list[list[re.Match[str]]] = []
    current: dict[tuple[str | None, str], list[re.Match[str]]] = {}
    for match in _ITEM.finditer(text):
        shape, number = (match["open"], match["close"]), int(match["n"])
        if _unit_follows(text, match.end()):
            continue
        if number == 1:
            current[shape] = [match]
            runs.append(current[shape])
        elif number == len(current.get(shape, ())) + 1:
            current[shape].append(match)
    return runs


def _uncited(match: re.Match[str]) -> str:
    text, start, end = match.string, match.start(), match.end()
    before, after = text[max(start - 1, 0) : start], text[end : end + 1]
    glued = before not in ("", "\n") and match[0][0] == "[" and (before.isalnum() or before in _GLUED_TO)
    cited = glued or before in ("", "\n") or not after or after in _CLOSING
    return " " if cited and not _unit_follows(text, end) else match[0]


def _unit_follows(text: str, at: int) -> bool:
    """Say whether a unit stands at the place; a capital begins the words of an item."""
    match = _WORDS.match(text, at)
    if match is None:
        return text[at : at + 2].strip()[:1] in ("%", "％", "‰")
    names = (match[1], f"{match[1]} {match[2]}")
    return any(name.islower() and units_named(name) for name in names)

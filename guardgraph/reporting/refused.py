"""What a guard refused: the proposal that it judged, with the words marked that were the reason."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from guardgraph.graphs.kinds import CALLING
from guardgraph.guards.stop import NAME_LIMIT
from guardgraph.plain.json import JsonValue
from guardgraph.reporting.elements import Html
from guardgraph.reporting.reading import Entry, Reading
from guardgraph.reporting.values import Marked, Marks, value

__all__ = ["refused", "refused_words", "stopping"]

WORDS = frozenset({"unsupported", "invalid_citations", "claims", "not_enforceable", "given"})
"""Keys of evidence that hold words of the proposal itself."""
NOT_ABOUT_IT = frozenset({"budget", "guard_error"})
"""Families of stops that say nothing of what was proposed."""
MOST = 40
"""Words that are marked; evidence with more is a whole text, or hostile."""


def stopping(reading: Reading) -> tuple[Entry | None, Entry | None]:
    """Return the guard that stopped the run, and whose proposal or result it judged; None where nobody says."""
    asked: Entry | None = None
    for entry in reading.entries:
        if entry.told.get("verdict") == "stop":
            return entry, asked
        if entry.kind in CALLING:
            asked = entry
    return None, None


def refused(reading: Reading) -> Html | None:
    """Return the proposal that the stopping guard refused; None if it refused none."""
    _, asked = stopping(reading)
    family = reading.reason.family if reading.reason else None
    if asked is None or "proposal" not in asked.told or family in NOT_ABOUT_IT:
        return None
    return value(asked.told["proposal"], marks=refused_words(reading))


def refused_words(reading: Reading) -> Marks:
    """Return what finds the words for which the run was stopped, as the evidence and the reason name them."""
    words = {word.strip() for word in [*_named(reading), *_words(reading.content, listed=False)]}
    longest_first = sorted(filter(None, words), key=lambda word: (-len(word), word))[:MOST]
    if not longest_first:
        return None
    pattern = re.compile("|".join(map(_pattern, longest_first)), re.IGNORECASE)
    return lambda text: (Marked(*match.span()) for match in pattern.finditer(text))


def _named(reading: Reading) -> Iterator[str]:
    """Yield what a stop reason ends with, such as the source in ``source_denied:wiki``."""
    stem = reading.reason.stem if reading.reason else None
    if stem is not None:
        yield reading.taken.reason.removeprefix(stem)


def _words(item: JsonValue, *, listed: bool) -> Iterator[str]:
    if isinstance(item, dict):
        for key, inner in item.items():
            yield from _words(inner, listed=listed or key in WORDS)
    elif isinstance(item, list):
        for inner in item:
            yield from _words(inner, listed=listed)
    elif listed and isinstance(item, str) and len(item) <= 2 * NAME_LIMIT:
        yield item


def _pattern(word: str) -> str:
    """Return a pattern for a word of evidence, which may be cut, and in which points may be left out: *9:30 pm*."""
    body = r"[\s.]{0,3}".join(map(_parts, word.split()))
    begin = r"(?<!\w)(?<!\d[.,])" if word[0].isalnum() else ""
    end = r"(?!\w)(?![.,]\d)" if word[-1].isalnum() and len(word) < NAME_LIMIT else ""
    return begin + body + end


def _parts(letters: str) -> str:
    pointed = (r"\.?" if not (one.isdigit() and other.isdigit()) else "" for one, other in pairwise(letters))
    return "".join(map("".join, zip(map(re.escape, letters), [*pointed, ""], strict=True)))

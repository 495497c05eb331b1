"""Counts of what an answer lists itself: "four plans: Free, Pro, Team and Business".

The count is supported where the list has so many things, each different, and each of them stands in a source.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Final

_COUNTS: Final = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_FEWEST: Final = 2
"""Things of a list that are counted, at least; at most as many as there are words here for."""

_LONGEST: Final = 1_500
"""Characters of a list that are read."""

_MOST_WORDS: Final = 8
"""Words of a thing in it."""

_HEAD: Final = re.compile(
    rf"(?i:\b(?P<count>{'|'.join(_COUNTS)}|[2-9]|1[0-2]))"
    r"[ ](?P<noun>[A-Za-z'’-]{2,30})(?:[ ][A-Za-z'’-]{1,30}){0,5}?"
    r"(?:\**:\**|[ ]?\(|[ ][—–-]|,?[ ](?:are|were|namely):?(?=[ ]))"
)
_BULLET: Final = re.compile(r"\s*(?:[-*•]|\d{1,2}[.)])[ ]+(?P<item>[^\n]+)")
_LABEL: Final = re.compile(r":|[ ][—–-][ ]|[ ]\(|\.(?:[ ]|$)")
_END: Final = re.compile(r"[.!?;)](?:\s|$)|\n|\)")
_JOINED: Final = re.compile(r"[ ](?:and|or|&)[ ]")
_LEADING: Final = re.compile(r"(?:and|or|&|the|a|an)[ ]")
_WORD: Final = re.compile(r"\w+")


def list_counted_lists(answer: str, texts: Collection[str]) -> frozenset[tuple[str, str]]:
    """Return the counts of an answer that its own lists bear out, each with the word behind it, in lower case.

    Args:
        answer: its text.
        texts: what it cites, where each listed thing must stand.
    """
    heads = list(_HEAD.finditer(answer))
    if not heads:
        return frozenset()
    known = [f" {_join_words(text)} " for text in texts]
    return frozenset(
        (match["count"].lower(), match["noun"].lower())
        for match in heads
        if _is_list_of(_read_count(match["count"].lower()), *_read_list(answer, match.end()), known)
    )


def _read_count(word: str) -> int:
    return int(word) if word.isdecimal() else _COUNTS.index(word) + _FEWEST


def _is_list_of(amount: int, items: Collection[str], has_lines: bool, known: Collection[str]) -> bool:
    things = {_join_words(item) for item in items}
    if not len(items) == len(things) == amount or "" in things:
        return False
    return all(
        thing.count(" ") < _MOST_WORDS and any(_stands_in(thing, text, has_line=has_lines) for text in known)
        for thing in things
    )


def _stands_in(thing: str, text: str, *, has_line: bool) -> bool:
    """Say whether a text has a thing: word for word, or, of what has a line of its own, each of its words."""
    return f" {thing} " in text or (has_line and all(f" {word} " in text for word in thing.split(" ")))


def _join_words(text: str) -> str:
    return " ".join(_WORD.findall(text.lower()))


def _read_list(answer: str, start: int) -> tuple[list[str], bool]:
    """Return the things listed from a place on, and whether they stand in lines of their own, not in the sentence."""
    part = answer[start : start + _LONGEST]
    line = _BULLET.match(part) if part[:3].lstrip(" *)").startswith("\n") else None
    if line is None:
        end = _END.search(part)
        return list(_split_items(part[: end.start()] if end else part)), False
    items = list[str]()
    while line is not None:
        item = line["item"].strip()
        label = _LABEL.search(item.strip("*"))
        items.append(item.strip("*")[: label.start()] if label else item)
        line = _BULLET.match(part, line.end())
    return items, True


def _split_items(text: str) -> Iterator[str]:
    """Yield what commas part, and a last "and": of two things, and of a list without a comma before it."""
    parts = [part.strip() for part in text.replace(";", ",").split(",")]
    *first, last = parts
    yield from (_LEADING.sub("", part, count=1) for part in first)
    opening = _LEADING.match(last)
    joined = list(_JOINED.finditer(last)) if not (first and opening) else []
    if joined:
        yield last[: joined[-1].start()]
    rest = last[joined[-1].end() :] if joined else last
    yield _LEADING.sub("", rest, count=1)

"""Reading facts takes steps in proportion to the text, whatever the text is."""

from __future__ import annotations

import importlib
import re
import sys
from types import FrameType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guardgraph.grounding.quotes import is_quote_in_text
from guardgraph.guards.facts import KNOWN_TEXT_CHARS, facts_in_text, numerals, spelling, words

DIGITS = [*"19.,-–−/'%$°½⅞⑨⁹Ⅻ٣०", "1,111", "1'111 ", "1:11", "1e9", "12h30 ", "1½ ", "1-2-", "5'5\"", "1 111 ", "a1b2"]
WORDS = [
    "two ",
    "twenty-",
    "one thousand ",
    "two hundred and ",
    "two and a half ",
    "a quarter of ",
    "half a ",
    "first ",
]
TIMES = [
    "March ",
    "6 of ",
    "Oct 1-2, ",
    "1990s ",
    "'90s ",
    "noon ",
    "1:00 UTC-",
    "pacific standard ",
    "1 pm ",
    "an hour ",
]
UNITS = [
    "1 km/",
    "1 square ",
    "5 per hour per ",
    "US$",
    "HK$ ",
    "1 hour and ",
    "5 mi. ",
    "between 1 and ",
    "at least 1 ",
]
NAMES = ["Section 1, ", "World War I ", "XIV", "INC-1-", "CVE-2021-1", "v1.", "P1 ", "U.S.", "https://", "No. 1 "]
ABROAD = ["九十", "一万", "第", "fünfund", "vingt-", "двадцать ", "miles de ", "am 5. ", "ﷺ", "1é", "1×", "1 é"]
SIGNS = [
    "(1) ",
    "[1,",
    "1) ",
    "((",
    '"',
    "“",
    "``",
    "\u0301\u0316",
    "1\u0301",
    "\u200b",
    "\u00ad",
    "\ud800",
    "\n",
    "_",
    "> ",
]
HOSTILE = [*DIGITS, *WORDS, *TIMES, *UNITS, *NAMES, *ABROAD, *SIGNS]
CHARS = KNOWN_TEXT_CHARS + 100
"""More than is kept with its facts."""


def steps(text: str) -> int:
    """Count the calls of functions while the facts of a text are read, those of C too."""
    count = 0

    def counted(frame: FrameType, event: str, arg: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        facts_in_text(text)
        is_quote_in_text(text[: len(text) // 2] + "!", text)
    finally:
        sys.setprofile(before)
    return count


def are_linear(piece: str) -> bool:
    """Say whether three times the text takes at most three times the steps, and a few."""
    warm = steps((piece * CHARS)[: 3 * CHARS] + "x")  # tables are read once
    sizes = ((CHARS, "z"), (3 * CHARS, "y"))
    one, three = ((piece * (size // len(piece) + 1))[:size] + ending for size, ending in sizes)
    return min(warm, steps(three)) <= 3.3 * steps(one) + 300


@pytest.mark.parametrize("piece", HOSTILE)
def test_steps_grow_with_the_text_alone(piece: str) -> None:
    """What repeats without an end takes steps in proportion to its length."""
    assert are_linear(piece)


@given(st.lists(st.sampled_from(HOSTILE), min_size=2, max_size=4).map("".join))
@settings(max_examples=60, deadline=None)
def test_steps_grow_with_mixed_texts_alone(piece: str) -> None:
    """So do several pieces that repeat together."""
    assert are_linear(piece)


def searched() -> list[re.Pattern[str]]:
    """Return every pattern that is searched for in whole texts."""
    kept: list[object] = []
    for module in (numerals, spelling, words):
        for value in vars(module).values():
            kept += value.values() if isinstance(value, dict) else [value]
    return [value for value in kept if isinstance(value, re.Pattern)]


def begins_anywhere(parsed: Any, *, followed: bool = False) -> bool:
    """Say whether a parsed pattern begins with a run without an end, tried again from each place within it."""
    items = list(parsed)
    for at, (operator, value) in enumerate(items):
        name = str(operator)
        more = followed or any(not (str(each).endswith("REPEAT") and of[0] == 0) for each, of in items[at + 1 :])
        if name == "AT" or (name.startswith("ASSERT") and value[0] < 0):
            return False  # anchored
        if name.endswith("REPEAT"):
            least, most, repeated = value
            if str(most) == "MAXREPEAT" or begins_anywhere(repeated, followed=more):
                return more
            if least:
                return False
        elif name == "SUBPATTERN":
            return begins_anywhere(value[-1], followed=more)
        elif name == "BRANCH":
            return any(begins_anywhere(branch, followed=more) for branch in value[1])
        elif not name.startswith("ASSERT"):
            return False
    return False


@pytest.mark.parametrize("pattern", searched(), ids=lambda pattern: pattern.pattern[:40])
def test_no_pattern_tries_a_run_again_from_each_of_its_places(pattern: re.Pattern[str]) -> None:
    """What a pattern skips before it must find something is anchored, or ten thousand digits take a second."""
    assert not begins_anywhere(importlib.import_module("re._parser").parse(pattern.pattern, pattern.flags))

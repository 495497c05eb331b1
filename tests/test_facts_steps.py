"""Reading facts takes steps in proportion to the text, whatever the text is."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guardgraph.guards.facts import facts_in_text
from guardgraph.guards.quotes import stands_in

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
ABROAD = ["九十", "一万", "第", "fünfund", "vingt-", "двадцать ", "miles de ", "am 5. ", "ﷺ"]
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
CHARS = 1100
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
        stands_in(text[: len(text) // 2] + "!", text)
    finally:
        sys.setprofile(before)
    return count


def are_linear(piece: str) -> bool:
    """Say whether three times the text takes at most three times the steps, and a few."""
    facts_in_text(piece)  # tables are read once
    sizes = ((CHARS, "z"), (3 * CHARS, "y"))
    one, three = ((piece * (size // len(piece) + 1))[:size] + ending for size, ending in sizes)
    return steps(three) <= 3.3 * steps(one) + 300


@pytest.mark.parametrize("piece", HOSTILE)
def test_steps_grow_with_the_text_alone(piece: str) -> None:
    """What repeats without an end takes steps in proportion to its length."""
    assert are_linear(piece)


@given(st.lists(st.sampled_from(HOSTILE), min_size=2, max_size=4).map("".join))
@settings(max_examples=60, deadline=None)
def test_steps_grow_with_mixed_texts_alone(piece: str) -> None:
    """So do several pieces that repeat together."""
    assert are_linear(piece)

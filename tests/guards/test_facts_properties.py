"""Whatever is read, reading facts ends, in linear time, and decides the same in every process."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guardgraph.guards.facts import Facts, facts_in_json, facts_in_text, facts_in_texts, unsupported
from guardgraph.guards.facts.numbers import _read_sentence_numbers, read_text_numbers, tell_number_language
from guardgraph.guards.facts.spelling import ADDRESSES, VARIANTS, normalise_number_spelling

PIECES = st.sampled_from(
    [
        *["1", "45", "1,200", ".5", "-5", "27", "3.4", "12k", "1970", "2026", "2026-03-06", "14:30", "2pm", "1e3"],
        *["%", "percent", "million", "$", "€", "USD", "min", "minutes", "hours", "am", "s", "March", "may", "fifth"],
        *[
            "Q3",
            "H1",
            "v2.1",
            "first",
            "quarter",
            "of",
            "½",
            "Step",
            "version",
            "[1]",
            "(1)",
            "1)",
            "2.",
            "\u200b",
            "+1",
            "(800)",
        ],
        *["www.x.io", "1 000", "1'000", "1½", "p.m.", "T14:30+02:00", "24 x 7", "+49 30 1234567", "(1) a (2)", "5. b"],
        *["two", "twenty", "hundred", "and", "one", "half", "a", "an", "hour", "within", "between", "to"],
        *["-", "–", "−", ":", "/", ",", ".", "'", "\n", "P1", "SEV", "INC-7", "US", "U.S.", "https://"],
    ]
)
TEXTS = st.text() | st.lists(PIECES, max_size=12).map(" ".join) | st.lists(PIECES, max_size=12).map("".join)
KEYS = st.sampled_from(["a_pct", "b_rate", "c_minutes", "policy_hints"]) | st.text()
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda child: (
        st.lists(child, max_size=4)
        | st.dictionaries(
            st.sampled_from(["a_pct", "b_rate", "c_minutes", "policy_hints"]) | st.text(), child, max_size=4
        )
    ),
    max_leaves=12,
)


def test_facts_unite() -> None:
    """The union of facts licenses what either licenses; no facts are no claim."""
    both = facts_in_text("45 minutes P1 EU") | facts_in_text("27% INC-1")
    assert not unsupported(facts_in_text("INC-1 P1 EU 27% 45 minutes"), both)
    assert not unsupported(Facts(), Facts())


@given(TEXTS, TEXTS)
@settings(max_examples=300, deadline=None)
def test_any_text_is_licensed_by_itself(text: str, other: str) -> None:
    """Reading never fails, the reading is stable, and more facts never license less."""
    facts = facts_in_text(text)
    assert facts == facts_in_text(text)
    assert not unsupported(facts, facts)
    assert not unsupported(facts, facts | facts_in_text(other))
    shown = unsupported(facts, facts_in_text(other))
    assert shown.all() == sorted(set(shown.all()))
    assert bool(shown) == bool(shown.all())


@given(JSON)
@settings(max_examples=200, deadline=None)
def test_any_json_is_licensed_by_itself(value: Any) -> None:
    """No JSON value breaks the reading."""
    facts = facts_in_json(value)
    assert not unsupported(facts, facts)


@given(TEXTS)
@settings(max_examples=500, deadline=None)
def test_no_spelling_is_overlooked(text: str) -> None:
    """Where a variant of spelling stands, its sign is seen."""
    for step in (ADDRESSES, *VARIANTS):
        assert step.sign(text) or not step.pattern.search(text)


SENTENCES = st.lists(
    PIECES | st.sampled_from(["minutes.", "Oct.", "March.", "days!", "to.", "and.", "summary.", "US dollars.", "_"]),
    max_size=12,
)


@given(SENTENCES.map(" ".join))
@settings(max_examples=1000, deadline=None)
def test_no_number_reaches_across_a_full_stop(text: str) -> None:
    """A text read sentence by sentence has the numbers of the text read as a whole."""
    plain_text, marked = normalise_number_spelling(text)
    whole, read = _read_sentence_numbers.__wrapped__(plain_text, tell_number_language(text)), read_text_numbers(text)
    assert (read.claimed, read.numerals) == (whole.claimed, whole.numerals)
    assert read.implied >= whole.implied
    assert bool(marked) or read == whole


@given(st.lists(TEXTS, max_size=4))
@settings(max_examples=200, deadline=None)
def test_several_texts_say_what_each_says(texts: list[str]) -> None:
    """Texts read together say what each of them says, and no number runs from one into the next."""
    together = Facts()
    for text in texts:
        together |= facts_in_text(text)
    source = facts_in_texts(texts)
    assert replace(source, undated=frozenset()) == replace(together, undated=frozenset())
    assert not unsupported(together, source)


@given(st.integers(0, 10**9), st.sampled_from(["ms", "seconds", "min", "hours", "days", "weeks"]))
@settings(deadline=None)
def test_conversion_is_exact_both_ways(amount: int, unit: str) -> None:
    """An amount converted to another unit is the same value."""
    seconds = {"ms": 0.001, "seconds": 1, "min": 60, "hours": 3600, "days": 86_400, "weeks": 604_800}[unit]
    one, milliseconds = f"{amount:,} {unit}", amount * round(seconds * 1000)
    said, same, more = (facts_in_text(text) for text in (one, f"{milliseconds}ms", f"{milliseconds + 1} ms"))
    assert not unsupported(said, same)
    assert not unsupported(same, said)
    assert unsupported(said, more).all() == [one]


HOSTILE = [
    *["九", "九十", "一万", "兆", "第九", "⑨", "⁹", "₉", "Ⅻ", "٣", "１", "½"],
    *["1", "9", "1,", "1,111", "1'111", "1 ", "1-", "1/", "1.", "1:11", "1e9", "1e399 ", "1h", "x.1", "a_1-"],
    *[
        "1 111 ",
        "[1] ",
        "[1,",
        "(1) ",
        "1) ",
        "(1) a (2) ",
        "+1 (",
        "+11 111 ",
        "1½ ",
        "Q1 ",
        "v1.",
        "Step 1: ",
        "2 to ",
    ],
    *["-", "- ", "> ", " ", "\n", ".", "_", "$ ", "\ud800", "March ", "6 of ", "two ", "two hundred and "],
    *["mid-", "inc-", "P1 ", "US ", "U.S.", "https://", "24 hours ", "p. m", "1 hour ", "1 to ", "between 1 and "],
]


@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_texts_are_read(piece: str) -> None:
    """Twenty thousand characters of anything are read to the end, and license themselves."""
    text = piece * (20_000 // len(piece))
    facts = facts_in_text(text)
    assert not unsupported(facts, facts)


def test_the_order_does_not_depend_on_hashes() -> None:
    """Every process shows the same evidence in the same order."""
    script = """from guardgraph.guards.facts import *
print(unsupported(facts_in_text("9%, 8 h, 5m, P1, P2, INC-1, INC-2, US, EU, 03/04/2026"), Facts()).all())"""
    command = [sys.executable, "-c", script]
    outputs = {
        subprocess.run(
            command, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(outputs) == 1

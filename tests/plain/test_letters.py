"""The compatibility form of a text: NFKC, in linear time."""

import sys
import unicodedata
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st
from tables import each_row

from guardgraph.plain.letters import normalise_to_nfkc

MARKS = "\u0300\u0301\u0315\u0316\u093f\u3099"


@given(st.text())
def test_any_text_has_its_compatibility_form(text):
    """What people write comes out as Unicode's NFKC, and is its own compatibility form."""
    assert normalise_to_nfkc(text) == unicodedata.normalize("NFKC", text)
    assert normalise_to_nfkc(normalise_to_nfkc(text)) == normalise_to_nfkc(text)


@given(st.text(), st.text(MARKS, max_size=29))
def test_up_to_thirty_marks_belong_to_one_letter(text, marks):
    """No writing system puts more of them on one letter; so many are put in order and composed."""
    assert normalise_to_nfkc(f"{text}e{marks}.") == unicodedata.normalize("NFKC", f"{text}e{marks}.")


@each_row("unit", "\u0315\u0300", "\u0315\uff9e", "\u0300.", "a\u0300\u0315\u0316")
def test_marks_without_end_are_cut_into_short_runs(unit):
    """A hundred thousand of them are normalised part by part: nothing is lost, and no part waits for the others."""
    times = 100_000 // len(unit)
    before, after = (
        Counter("".join(unicodedata.normalize("NFKD", letter) for letter in text))
        for text in (unit * times, normalise_to_nfkc(unit * times))
    )
    assert before == after


def test_every_letter_that_begins_with_a_mark_is_cut():
    """Of all characters that count as letters, only the half-width sound marks become marks, and they are cut too."""
    letters = filter(str.isalnum, map(chr, range(sys.maxunicode + 1)))
    first = {letter: unicodedata.normalize("NFKD", letter)[0] for letter in letters}
    assert [*filter(lambda letter: unicodedata.combining(first[letter]), first)] == ["\uff9e", "\uff9f"]
    assert normalise_to_nfkc("\u0315\uff9e" * 1000) != unicodedata.normalize("NFKC", "\u0315\uff9e" * 1000)

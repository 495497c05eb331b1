"""Quotes cut from made-up sentences: at words they stand in the sentence, inside a word or a number they do not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guardgraph.guards.quotes import find_quote_place, find_quotes, is_quote_in_text, normalise_quote_text

LETTERS = "abcdeghäéñżабвгєідलमन"
WORDS = st.one_of(
    st.text(LETTERS, min_size=2, max_size=6),
    st.sampled_from(["don't", "12.5", "1939-45", "24/7", "99,95", "12:30", "naïve", "नहीं", "३४५"]),
)
SENTENCES = st.lists(WORDS, min_size=4, max_size=9, unique=True)
JOINTS = st.sampled_from([" ", ", ", " - ", ' "', "' ", "; "])
UNSPACED = st.text("防守只丢了联赛中排名第六ประเทศไทยこれは", min_size=4, max_size=20)
TYPOGRAPHIC = str.maketrans({"'": "’", '"': "”", "-": "–", " ": "\u00a0"})


def joined(parts, joint):
    """Write words as a sentence."""
    return joint.join(parts)


@given(SENTENCES, JOINTS, st.data())
def test_a_quote_of_whole_words_stands_in_its_sentence(parts, joint, data):
    """Any run of words does, with whatever marks, dashes and blanks it is written."""
    first = data.draw(st.integers(0, len(parts) - 1))
    end = data.draw(st.integers(first + 1, len(parts)))
    sentence, quote = joined(parts, joint), joined(parts[first:end], joint)
    assert is_quote_in_text(quote, sentence)
    assert is_quote_in_text(quote.translate(TYPOGRAPHIC), sentence)
    assert is_quote_in_text(quote, sentence.translate(TYPOGRAPHIC))


@given(SENTENCES, JOINTS, st.data())
def test_a_quote_that_cuts_a_word_does_not(parts, joint, data):
    """A quote that begins or ends inside a word or a number is none, however long the rest of it is."""
    at = data.draw(st.integers(0, len(parts) - 1))
    cut = data.draw(st.integers(1, len(parts[at]) - 1))
    before, behind = joined([*parts[:at], parts[at][:cut]], joint), joined([parts[at][cut:], *parts[at + 1 :]], joint)
    sentence = joined(parts, joint)
    assert not is_quote_in_text(before, sentence) or parts[at][:cut] in parts
    assert not is_quote_in_text(behind, sentence) or parts[at][cut:] in parts


@given(UNSPACED, st.data())
def test_scripts_without_blanks_are_cut_anywhere(text, data):
    """Any part of a text without blanks stands in it."""
    first = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(first + 1, len(text)))
    assert is_quote_in_text(text[first:end], text)


@given(SENTENCES, JOINTS, st.data())
def test_a_quote_has_a_place_where_it_stands(parts, joint, data):
    """What stands at the place is the quote, however both are spelled; what stands nowhere has none."""
    first = data.draw(st.integers(0, len(parts) - 1))
    end = data.draw(st.integers(first + 1, len(parts)))
    sentence, quote = joined(parts, joint), joined(parts[first:end], joint)
    text = f" \n{sentence.replace(' ', data.draw(st.sampled_from([' ', '  ', chr(10)])))}\n".translate(TYPOGRAPHIC)
    start, behind = find_quote_place(quote, text)
    assert normalise_quote_text(text[start:behind]) == normalise_quote_text(quote)
    assert text[start:behind] == text[start:behind].strip()


@given(st.text(), st.text())
def test_a_place_is_where_a_quote_stands(quote, text):
    """Any text has a place in another one, or none, just as it stands there or not."""
    place = find_quote_place(quote, text)
    assert (place is not None) == (is_quote_in_text(quote, text) and normalise_quote_text(quote) != "")
    if place is not None:
        assert normalise_quote_text(text[slice(*place)]) == normalise_quote_text(quote)


@given(st.text("aAbB.,:/-+' \n0129%(", max_size=30), st.integers(0, 30), st.integers(1, 8))
def test_a_quote_stands_where_it_stands_beside_other_letters(text, start, length):
    """Letters of another script in a text change nothing of where a quote stands before them."""
    quote = text[start : start + length]
    assert is_quote_in_text(quote, text) == is_quote_in_text(quote, f"{text} é")
    assert find_quote_place(quote, text) == find_quote_place(quote, f"{text} é")


@pytest.mark.parametrize(
    ("opening", "closing"), ["“”", "„“", "””", "«»", "»«", "‹›", "›‹", "「」", "『』", "‘’", '""', "''"]
)
def test_every_pair_of_quotation_marks_quotes(opening, closing):
    """What stands between any two that belong together is found, alone in a text."""
    assert [quote.text for quote in find_quotes(f"It said {opening}all is well{closing} then.")] == ["all is well"]
    assert not list(find_quotes("It said all is well then."))

"""The tables of languages: what they are made of, and what their words promise."""

from hypothesis import given
from hypothesis import strategies as st
from language_tables import DATA, make_table, write_table, write_word_list
from tables import each_row

from guardgraph.grounding.languages import LANGUAGES, load_made_table, load_names
from guardgraph.grounding.words import is_lowercase_word, load_stop_words


@each_row("language", *LANGUAGES)
def test_a_table_is_what_the_pinned_libraries_say(language):
    """Every made table is byte for byte what `tests/grounding/language_tables.py` makes of the pinned libraries."""
    assert (DATA / f"{language}.json").read_text("utf-8") == write_table(make_table(language))


def test_the_tables_are_small_and_each_language_has_two():
    """No language has a table alone, and all together are less than 2 MB; an unknown language has nothing."""
    assert {path.stem for path in DATA.glob("*.json")} == set(LANGUAGES)
    assert sum(path.stat().st_size for path in DATA.parent.rglob("*.json")) < 2_000_000
    assert not any((load_made_table("tlh"), load_names("tlh", "units"), load_stop_words("tlh")))


def test_stop_words_are_those_of_their_language():
    """Stop words are known by language, and no English one is an Internet domain."""
    assert {"the", "of"} <= load_stop_words("en")
    assert {"der", "und"} <= load_stop_words("de")
    assert {"и", "в"} <= load_stop_words("ru")
    assert not {"com", "org", "de", "uk"} & load_stop_words("en")


def test_the_words_that_english_writes_in_lower_case():
    """A word is known in any case, with its contractions; names and letters alone are not."""
    known = ["bridge", "Bridges", "However", "colour", "color", "isn", "an", "BROWN", "Rose"]
    assert [word for word in known if not is_lowercase_word(word)] == []
    unknown = ["Kent", "Johnson", "Reuters", "bridg", "ridge s", "", "b", "ß", "-"]
    assert [word for word in unknown if is_lowercase_word(word)] == []
    assert not is_lowercase_word("bridge", "de")


@given(st.lists(st.text("abc", min_size=2, max_size=5), min_size=1))
def test_every_word_of_a_list_is_kept(words):
    """A list is written so that each of its words is found again, and no other one."""
    lines = write_word_list(words).splitlines()
    kept = [line[:2] + rest.strip("-") for line in lines for rest in line.split()[1:]]
    assert kept == sorted(set(words))

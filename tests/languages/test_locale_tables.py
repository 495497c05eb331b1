"""The tables of guardgraph/languages: what they are made of, and what their loaders promise."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from locale_tables import DATA, MAKERS, written
from locale_vocabulary import vocabulary

from guardgraph.languages.language import is_lowercase_word, load_stop_words
from guardgraph.languages.numbers import Separators, load_number_separators
from guardgraph.languages.tables import (
    LANGUAGES,
    load_currency_names,
    load_month_names,
    load_territory_names,
    load_time_zones,
    load_unit_names,
    load_weekday_names,
)


@pytest.mark.parametrize("name", MAKERS)
def test_a_table_is_what_the_pinned_libraries_say(name):
    """Every shipped table is byte for byte what `tests/locale_tables.py` makes of the pinned libraries."""
    assert (DATA / f"{name}.json").read_text("utf-8") == written(MAKERS[name]())


def test_every_shipped_table_is_made():
    """No file lies in the data directory that nothing makes."""
    assert {path.stem for path in DATA.glob("*.json")} == set(MAKERS)


def test_the_tables_are_small():
    """All tables together are less than 1.5 MB."""
    assert sum(path.stat().st_size for path in DATA.glob("*.json")) < 1_500_000


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_a_calendar(language):
    """Seven weekdays are known in every language, and twelve months where they are no numbers ("1月", "tháng 1")."""
    assert set(load_weekday_names(language).values()) == set(range(1, 8))
    assert set(load_month_names(language).values()) == set(range(1, 13)) or language in ("ja", "ko", "vi", "zh")


def test_months_have_their_forms():
    """A month is known as it stands in a date and as it stands alone, and by its abbreviation without a full stop."""
    assert load_month_names("ru")["июля"] == load_month_names("ru")["июль"] == 7
    assert load_month_names("uk")["липня"] == load_month_names("uk")["липень"] == 7
    assert load_month_names("de")["märz"] == load_month_names("en")["mar"] == load_month_names("fr")["mars"] == 3


def test_a_zone_has_every_offset_of_its_name():
    """An abbreviation that several zones share keeps all their offsets, and a name of both halves of a year both."""
    assert load_time_zones()["PST"] == (-480, 480)
    assert {60, 120, 330} <= set(load_time_zones()["IST"])
    assert load_time_zones()["pacific time"] == (-480, -420)


def test_separators_differ_by_place():
    """Spanish is written with a comma for decimals in Spain and with a point in Mexico."""
    assert {Separators(",", "."), Separators(".", ",")} <= load_number_separators("es")


def test_a_territory_has_name_codes_and_language():
    """A territory is known by its name, both codes and the language named after it, in each language."""
    germany = {each.code: each for each in load_territory_names("es")}["DE"]
    assert (germany.name, germany.languages[0]) == ("Alemania", "alemán")
    assert "DEU" in germany.others


def test_a_territory_has_an_adjective():
    """The adjective of a territory is known, where CLDR names a currency or a kind of a language by it."""
    adjectives = {each.code: each.adjectives for each in load_territory_names("en")}
    some = {"US": "american", "GB": "british", "FR": "french", "NL": "dutch", "SE": "swedish", "CH": "swiss"}
    assert all(word in adjectives[code] for code, word in some.items())
    assert "english" not in adjectives["US"]
    assert "portuguese" not in adjectives["BR"]


def test_an_unknown_language_has_empty_tables():
    """A language that the tables do not have has no names, and that is no error."""
    assert not load_month_names("tlh")
    assert not load_number_separators("tlh")
    assert not load_stop_words("tlh")
    assert not load_territory_names("tlh")


def test_stop_words_are_those_of_their_language():
    """The commonest words of a language are among its stop words."""
    assert {"the", "of"} <= load_stop_words("en")
    assert {"der", "und"} <= load_stop_words("de")
    assert {"и", "в"} <= load_stop_words("ru")


def test_a_unit_converts_exactly():
    """A unit has its dimension and exact factor, by its names in each language and by its symbol in all."""
    (mile,) = load_unit_names("en")["miles"]
    assert load_unit_names("de")["meilen"] == load_unit_names("ru")["миль"] == (mile,)
    assert mile.factor == Fraction("1609.344") * load_unit_names("es")["m"][0].factor
    (fahrenheit,) = load_unit_names("en")["°F"]
    assert 212 * fahrenheit.factor + fahrenheit.zero == Fraction("373.15")


def test_the_case_of_a_symbol_matters():
    """A megabit is no megabyte, and a milliwatt no megawatt."""
    assert load_unit_names("en")["Mb"] != load_unit_names("en")["MB"]
    assert load_unit_names("en")["mW"] != load_unit_names("en")["MW"]


def test_a_currency_has_code_symbol_and_names():
    """A currency is known by code, by symbol and by its names; a noun alone is the currency with the lone sign."""
    assert (
        load_currency_names("en")["US$"]
        == load_currency_names("en")["$"]
        == load_currency_names("en")["dollars"]
        == ("USD",)
    )
    assert load_currency_names("en")["HK$"] == load_currency_names("en")["hong kong dollars"] == ("HKD",)
    assert load_currency_names("ru")["долларов"] == load_currency_names("uk")["долари сша"] == ("USD",)
    assert load_currency_names("de")["pfund"] == ("GBP",)
    assert {"DKK", "NOK", "SEK"} == set(load_currency_names("en")["kr"])
    assert "CHF" in load_currency_names("en")["francs"]


def test_the_words_that_english_writes_in_lower_case():
    """A word is known in any case, with its contractions; names and letters alone are not."""
    known = ["bridge", "Bridges", "However", "colour", "color", "isn", "an", "BROWN", "Rose"]
    assert [word for word in known if not is_lowercase_word(word, "en")] == []
    unknown = ["Kent", "Johnson", "Reuters", "bridg", "ridge s", "", "b", "ß", "-"]
    assert [word for word in unknown if is_lowercase_word(word, "en")] == []
    assert not is_lowercase_word("bridge", "de")


@given(st.lists(st.text("abc", min_size=2, max_size=5), min_size=1))
def test_every_word_of_a_list_is_kept(words):
    """A list is written so that each of its words is found again, and no other one."""
    lines = vocabulary(words).splitlines()
    kept = [line[:2] + rest.strip("-") for line in lines for rest in line.split()[1:]]
    assert kept == sorted(set(words))

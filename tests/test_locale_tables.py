"""The tables of guardgraph/languages: what they are made of, and what their loaders promise."""

from fractions import Fraction

import pytest
from locale_tables import DATA, MAKERS, written

from guardgraph.languages.calendar import months, weekdays, zones
from guardgraph.languages.numbers import Separators, separators
from guardgraph.languages.tables import LANGUAGES
from guardgraph.languages.territories import territories
from guardgraph.languages.units import currencies, measures
from guardgraph.languages.words import stop_words


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
    assert set(weekdays(language).values()) == set(range(1, 8))
    assert set(months(language).values()) == set(range(1, 13)) or language in ("ja", "ko", "vi", "zh")


def test_months_have_their_forms():
    """A month is known as it stands in a date and as it stands alone, and by its abbreviation without a full stop."""
    assert months("ru")["июля"] == months("ru")["июль"] == 7
    assert months("uk")["липня"] == months("uk")["липень"] == 7
    assert months("de")["märz"] == months("en")["mar"] == months("fr")["mars"] == 3


def test_a_zone_has_every_offset_of_its_name():
    """An abbreviation that several zones share keeps all their offsets, and a name of both halves of a year both."""
    assert zones()["PST"] == (-480, 480)
    assert {60, 120, 330} <= set(zones()["IST"])
    assert zones()["pacific time"] == (-480, -420)


def test_separators_differ_by_place():
    """Spanish is written with a comma for decimals in Spain and with a point in Mexico."""
    assert {Separators(",", "."), Separators(".", ",")} <= separators("es")


def test_a_territory_has_name_codes_and_language():
    """A territory is known by its name, both codes and the language named after it, in each language."""
    germany = {each.code: each for each in territories("es")}["DE"]
    assert (germany.name, germany.languages[0]) == ("Alemania", "alemán")
    assert "DEU" in germany.others


def test_a_territory_has_an_adjective():
    """The adjective of a territory is known, where CLDR names a currency or a kind of a language by it."""
    adjectives = {each.code: each.adjectives for each in territories("en")}
    some = {"US": "american", "GB": "british", "FR": "french", "NL": "dutch", "SE": "swedish", "CH": "swiss"}
    assert all(word in adjectives[code] for code, word in some.items())
    assert "english" not in adjectives["US"]
    assert "portuguese" not in adjectives["BR"]


def test_an_unknown_language_has_empty_tables():
    """A language that the tables do not have has no names, and that is no error."""
    assert not months("tlh")
    assert not separators("tlh")
    assert not stop_words("tlh")
    assert not territories("tlh")


def test_stop_words_are_those_of_their_language():
    """The commonest words of a language are among its stop words."""
    assert {"the", "of"} <= stop_words("en")
    assert {"der", "und"} <= stop_words("de")
    assert {"и", "в"} <= stop_words("ru")


def test_a_unit_converts_exactly():
    """A unit has its dimension and exact factor, by its names in each language and by its symbol in all."""
    (mile,) = measures("en")["miles"]
    assert measures("de")["meilen"] == measures("ru")["миль"] == (mile,)
    assert mile.factor == Fraction("1609.344") * measures("es")["m"][0].factor
    (fahrenheit,) = measures("en")["°F"]
    assert 212 * fahrenheit.factor + fahrenheit.zero == Fraction("373.15")


def test_the_case_of_a_symbol_matters():
    """A megabit is no megabyte, and a milliwatt no megawatt."""
    assert measures("en")["Mb"] != measures("en")["MB"]
    assert measures("en")["mW"] != measures("en")["MW"]


def test_a_currency_has_code_symbol_and_names():
    """A currency is known by code, by symbol and by its names; a noun alone is the currency with the lone sign."""
    assert currencies("en")["US$"] == currencies("en")["$"] == currencies("en")["dollars"] == ("USD",)
    assert currencies("en")["HK$"] == currencies("en")["hong kong dollars"] == ("HKD",)
    assert currencies("ru")["долларов"] == currencies("uk")["долари сша"] == ("USD",)
    assert currencies("de")["pfund"] == ("GBP",)
    assert {"DKK", "NOK", "SEK"} == set(currencies("en")["kr"])
    assert "CHF" in currencies("en")["francs"]

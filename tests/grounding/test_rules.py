"""Each rule of the checker: sentences that it is for and sentences that it is not, and what holds for any text."""

import json
from itertools import islice, permutations
from pathlib import Path

import pytest
from growth import assert_linear
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import each_row

from guardgraph.grounding import languages
from guardgraph.grounding.check import VERDICTS, WORST_FIRST, Source, check_text
from guardgraph.grounding.json_texts import write_json_text
from guardgraph.grounding.names import find_unsupported_names
from guardgraph.grounding.quotes import find_quotes
from guardgraph.grounding.scanning import scan_text
from guardgraph.grounding.values import find_unsupported_values, is_same_value, scan_values
from guardgraph.grounding.workings import evaluate_workings

CORPUS = json.loads((Path(__file__).parent / "corpus.json").read_text("utf-8"))
CASES = [(rule, said, kind == "for") for rule, made in CORPUS.items() for kind in ("for", "not") for said in made[kind]]
RULES = {"table": ("value", "count"), "count": ("count", "value")}
"""A value of a table's other row is a finding of its own rule."""


def show_finding(finding):
    text = "" if finding.rule in ("opposite", "cover") else f"{finding.text} / "
    return f"{finding.rule} {finding.verdict}: {text}{finding.told}"


@each_row(("rule", "said", "is_for"), *CASES)
def test_a_rule_finds_what_it_is_for_and_nothing_else(rule, said, is_for):
    """A rule finds in each sentence that it is for what the corpus says, and nothing in one that it is not."""
    findings = check_text(said, [Source("s", CORPUS[rule]["source"])]).findings
    if is_for:
        found = dict(zip(CORPUS[rule]["for"], CORPUS[rule]["found"], strict=True))
        assert [show_finding(each) for each in findings] == found[said]
        assert all(said[each.start : each.end] == each.text for each in findings)
    else:
        found = [each for each in findings if each.rule in RULES.get(rule, (rule,))]
        assert {each.verdict for each in found} <= {"unchecked"}


def show_value(value):
    """Return what was read of a value in a line: what it is, and ± what its last digit is worth."""
    years = {(first, last): f"{first}" if first == last else f"{first}..{last}" for first, last, *_ in value.dates}
    dates = " ".join(f"{years[first, last]}-{month}-{day}" for first, last, month, day in value.dates)
    said = [f"{value.text}:", value.kind, dates or "/".join(f"{amount:g}" for amount in value.amounts), value.unit]
    said += [f"±{value.step:g}"] if value.kind in ("number", "ordinal", "percent", "money", "quantity") else []
    said += [value.mark, f"per {value.per[1]:g} {value.per[0]}" if value.per[0] else ""]
    said += [f"of {' '.join(sorted(value.nouns))}"] if value.nouns else []
    return " ".join(filter(None, said))


@each_row(("text", "readings"), *json.loads((Path(__file__).parent / "readings.json").read_text("utf-8")).items())
def test_a_text_is_read_value_by_value(text, readings):
    """Numbers, units, dates, times, scores, labels and bounds of several languages; and each supports itself."""
    values = scan_values(text)
    assert [show_value(value) for value in values] == readings
    assert [text[value.start : value.end].strip() for value in values] == [value.text for value in values]
    assert find_unsupported_values(text, [text]) == []


PAIRS = json.loads((Path(__file__).parent / "pairs.json").read_text("utf-8"))


@each_row(("holds", "pairs"), (True, PAIRS["supported"]), (False, PAIRS["unsupported"]))
def test_the_same_value_in_other_words(holds, pairs):
    """A value is supported by one that is equal after normalisation, or more exact."""
    for said, source in (pair.split(" = ") for pair in pairs):
        assert (find_unsupported_values(f"It was {said}.", [f"It was {source}."]) == []) is holds, said


@given(st.integers(-40, 250), st.booleans())
def test_degrees_are_converted_to_the_nearest(told, is_celsius):
    """A temperature in the other unit is the nearest whole one: 23 °C are 73 °F, not 74 °F."""
    exact = told * 9 / 5 + 32 if is_celsius else (told - 32) * 5 / 9
    told_unit, said_unit = ("°C", "°F") if is_celsius else ("°F", "°C")
    source = [f"It was {told} {told_unit}."]
    assert find_unsupported_values(f"It was {round(exact)} {said_unit}.", source) == []
    beside = round(exact) + (1 if exact > round(exact) else -1)
    if beside % 10:  # a round one may be rounded
        assert find_unsupported_values(f"It was {beside} {said_unit}.", source) != []


@each_row(("is_same", "pairs"), (True, PAIRS["same"]), (False, PAIRS["other"]))
def test_for_a_licence_nothing_is_rounded(is_same, pairs):
    for [one], [other] in (map(scan_values, pair.split(" = ")) for pair in pairs):
        assert is_same_value(one, other) is is_same_value(other, one) is is_same, one.text


SYMBOLS = json.loads((Path(languages.__file__).parent / "made" / "en.json").read_text("utf-8"))["symbols"]


@given(st.permutations(sorted(SYMBOLS)), st.integers(2, 900), st.sampled_from(["", " "]))
def test_a_unit_is_not_another_one(symbols, amount, space):
    """An amount is not the same number of another unit: 500 g of 500 mg, 5 mW of 5 MW."""
    said, other = symbols[:2]
    texts = [f"It has {amount}{space}{said} in all."], [f"It has {amount}{space}{other} in all."]
    assert find_unsupported_values(texts[0][0], texts[0]) == []
    same = SYMBOLS[said] == SYMBOLS[other]
    assert (find_unsupported_values(texts[0][0], texts[1]) == []) == same


@each_row(
    ("said", "source", "holds"),
    ("You may take up to 6 tablets a day.", "Do not take more than 6 tablets a day.", True),
    ("Take at least 6 tablets a day.", "Do not take more than 6 tablets a day.", False),
    ("Guests must not be under 18.", "Guests must be at least 18.", True),
    ("Guests must be under 18.", "Guests mustn't be under 18.", False),
    ("It holds at most 20 people.", "It doesn't hold more than 20 people.", True),
    ("Es kostet höchstens 20 Euro.", "Es kostet nicht mehr als 20 Euro.", True),
    ("The bill was unpaid for more than 30 days.", "The bill was not paid for more than 30 days.", True),
)
def test_a_bound_behind_a_negation_is_turned(said, source, holds):
    """What a source denies of a bound is the other bound, and of the same one that is denied nothing is said."""
    verdicts = [each.verdict for each in check_text(said, [Source("s", source)]).findings if each.rule == "bound"]
    assert ("contradicted" in verdicts) != holds


@given(st.floats(13, 1e7).map(lambda each: round(each, 2)), st.sampled_from(["", " km", " %", " people", " dollars"]))
def test_a_number_is_not_another_one(amount, unit):
    """A number supports itself however it is grouped, and not one that is a tenth larger."""
    text = f"It was {amount:,.2f}{unit}."
    assert find_unsupported_values(f"It was {amount:.2f}{unit}.", [text]) == []
    assert find_unsupported_values(f"It was {amount * 1.1 + 1:.2f}{unit}.", [text]) != []


@each_row(
    ("holds", "workings"),
    (True, [*PAIRS["workings"], "(" * 30 + "10" + ")" * 30, "-" * 30 + "10"]),
    (False, [*PAIRS["no workings"], "(" * 31 + "10" + ")" * 31, "-" * 31 + "10", "(" * 400 + "10", ""]),
)
def test_a_working_holds_or_gives_nothing(holds, workings):
    """A working gives its result where its operands are stated and it comes to what it says."""
    told = scan_values("It is $10, 4, 0.22 and 1.00 from 07:00, 3 h on; 12 March 2024, 30 days; 25 %; 3.5 million.")
    assert [working for working in workings if bool(evaluate_workings([working], told)) != holds] == []


def test_a_later_working_uses_an_earlier_one():
    """The result of a working is an operand of the next, and of none before it."""
    told = scan_values("It is 10 and 14.")
    assert [value.amounts for value in evaluate_workings(["10 + 14"], told)] == [(24.0,)]
    assert len(evaluate_workings(["10 + 14 = 24.0", "24.0 * 14 = 336"], told)) == 2
    assert len(evaluate_workings(["34 * 14 = 476", "10 + 24 = 34"], told)) == 1


def test_json_becomes_lines():
    """A leaf is a line with the words of its keys, and a number takes its unit from them."""
    order = {"totalEUR": 3.5, "items": [{"name": "Tea"}, {"name": "Cup"}], "gift": True}
    given = {"eta_minutes": 45, "order": order, "_id": 7, "winRate": 0.25, "lossRate": 1, "growthRate": 2}
    assert write_json_text(given, ignore=["_id"]).splitlines() == [
        *("eta minutes: 45 minutes", "order total EUR: 3.5 EUR", "order items name: Tea", "order items name: Cup"),
        *("order gift: yes", "win rate: 0.25 (25.00%)", "loss rate: 1 (100%)", "growth rate: 2"),
    ]


def test_names_are_not_looked_for_across_languages():
    """Where every source is in another language, names are written otherwise; nor are they in a heading."""
    headed = ["The Plan of Gustave\n\nThe mayor left.", "The Plan of Gustave"]
    assert [find_unsupported_names(text, ["The mayor left."]) for text in headed] == [[], ["Gustave"]]
    for source, names in (("The mayor of Munich left.", ["Gustave"]), ("Der Bürgermeister ging fort.", [])):
        assert find_unsupported_names("The mayor of Munich left Gustave.", [source]) == names
    assert find_unsupported_names("Wczoraj dałem to Łukaszowi.", ["Dzisiaj spotkałem Łukasza."]) == []


def test_numbers_of_an_address_license_nothing():
    """Digits of an address are no fact, wherever it has an @ and points as a mail has."""
    for said, source in (
        ("There are 77.", "See https://shop.example/@shop.example/2023/77 for more."),
        ("It is 51.5 m high.", "See https://maps.example.com/@51.5,-0.1278,15z for more."),
        ("There are 77.", "See:https://shop.example/@shop.example/77 for more."),
    ):
        assert check_text(said, [Source("s", source)]).verdict == "unsupported"


@pytest.mark.parametrize("language", languages.LANGUAGES)
def test_every_month_is_read_in_any_letters(language):
    """The names of months in small letters, in capitals, and in Turkish ones."""
    for name, number in languages.load_names(language, "months").items():
        for said in {name, name.upper(), name.lower(), name.title(), name.replace("i", "İ").upper()}:
            for text, day in ((f"5 {said} 2020", 5), (f"{said} 5, 2020", 5), (f"{said} 2020.", 0)):
                assert [value.dates for value in scan_text(text, language)] == [((2020, 2020, number, day),)], text


PIECES = ["It took 5 km. ", "In 2020, ", "Ann ", "not ", "$", "3-1 ", "| a | 1 |\n", "“", "‚", "\r\n", "5 %", "٣ "]
TEXTS = st.lists(st.sampled_from(PIECES) | st.characters(), max_size=25).map("".join)


@settings(max_examples=150, deadline=None)
@given(TEXTS, TEXTS)
def test_any_text_has_verdicts(text, source):
    """No text ends the checker; findings stand inside their sentences, and a copy of its source is never refused."""
    checked = check_text(text, [Source("s", source)])
    assert checked.verdict in VERDICTS
    for sentence in checked.sentences:
        assert text[sentence.start : sentence.end] == sentence.text
        assert all(sentence.start <= each.start < each.end <= sentence.end + 40 for each in sentence.findings)
    wrong = [each for each in check_text(text, [Source("s", text)]).findings if each.verdict in WORST_FIRST[:2]]
    assert {each.told for each in wrong} <= {"active_markup"}  # such as a sign of direction, wherever it stands


@pytest.mark.parametrize(
    "piece",
    [
        *("‚", "1-", "$1 ", "A of ", "a: 1\n", "| 1 ", "not ", "one ", "a@", "[1,", "x", "'em ", "7"),
        *("More than 5 km ", "between 5 and ", "](", '{"a":', "((", "Mr. ", "http://", "was resolved "),
    ],
)
def test_hostile_texts_take_linear_time(piece):
    """Four times as many characters take about four times as long, and nothing is quadratic."""

    def read(chars):
        text = piece * (chars // len(piece))
        check_text(f"{text}b", [Source("s", f"{text}c")])
        list(find_quotes(text))

    assert_linear(read, 5_000, 20_000, spare=0.1)


def test_many_unknown_names_take_linear_time():
    """As many names that no source has as there are words to hold them against."""

    def read(count):
        words = ["".join(letters) for letters in islice(permutations("acdeilmnorst", 7), 0, 900 * 2 * count, 900)]
        said = " ".join(f"It is {word.capitalize()} now." for word in words[::2])
        check_text(said, [Source("s", " ".join(words[1::2]))])

    assert_linear(read, 500, 2_000, spare=0.1)

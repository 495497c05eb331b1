"""Values that an answer works out: whatever the numbers, what follows is supported and another value is refused."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from guardgraph.guards.facts import facts_in_text, unsupported_of_answer

ORDINALS = {17: "17th", 18: "18th", 19: "19th", 20: "20th"}


def missing(answer: str, source: str) -> tuple[str, ...]:
    """Return the numbers of an answer that a source does not support."""
    return unsupported_of_answer(answer, facts_in_text(source), texts=[source]).numbers


def judge(template: tuple[str, str], right: object, wrong: object, **values: object) -> None:
    """Require that a sentence holds with the right value and is refused with a wrong one."""
    source, answer = template[0].format(**values), template[1]
    # An amount that the source has is supported as it stands.
    assume(str(wrong) not in source)
    assert missing(answer.format(said=right, **values), source) == ()
    assert missing(answer.format(said=wrong, **values), source) != ()


SUMS = [
    ("The harbour has {a} cranes and the yard has {b} cranes.", "The port has {said} cranes in total."),
    ("Kit one holds {a} bandages. Kit two holds {b} bandages.", "Together they hold {said} bandages."),
]


@pytest.mark.parametrize("template", SUMS)
@settings(max_examples=60, deadline=None)
@given(a=st.integers(13, 400), b=st.integers(401, 590), off=st.integers(1, 9))
def test_a_total_is_the_sum_of_its_parts(template, a, b, off):
    """Two amounts of one thing bear their sum, where the answer says that it is one."""
    judge(template, a + b, a + b + off, a=a, b=b)


DIFFERENCES = [
    ("The old pipe is {a} m long. The new pipe is {b} m long.", "The new pipe is {said} m longer."),
    ("The first sample weighs {a} kg and the second weighs {b} kg.", "The second is {said} kg heavier."),
]


@pytest.mark.parametrize("template", DIFFERENCES)
@settings(max_examples=60, deadline=None)
@given(a=st.integers(13, 400), b=st.integers(401, 900), off=st.integers(1, 9))
def test_a_difference_is_that_of_two_amounts(template, a, b, off):
    """Two amounts of one unit bear their difference, where the answer compares them."""
    judge(template, b - a, b - a + off, a=a, b=b)


SHARES = [
    ("{part} of the {whole} valves leak.", "{said} % of the valves leak."),
    ("{part} of the {whole} patients recovered.", "{said} % of the patients recovered."),
]


@pytest.mark.parametrize("template", SHARES)
@settings(max_examples=60, deadline=None)
@given(percent=st.integers(11, 89), hundreds=st.integers(2, 9), off=st.integers(1, 9))
def test_a_share_is_that_of_a_part_and_its_whole(template, percent, hundreds, off):
    """So many of so many bear one percentage."""
    # A share in tens may be one that is rounded to tens.
    wrong = percent + off + ((percent + off) % 10 == 0)
    judge(template, percent, wrong, part=percent * hundreds, whole=100 * hundreds)


AGES = [
    ("Born on 3 March {a}, the composer died on 9 June {b}.", "The composer died aged {said}."),
    ("Born on 12 January {a}, she died on 30 October {b}.", "She died aged {said}."),
]


@pytest.mark.parametrize("template", AGES)
@settings(max_examples=60, deadline=None)
@given(a=st.integers(1700, 1900), age=st.integers(32, 90), off=st.integers(1, 8))
def test_an_age_is_that_of_two_dates(template, a, age, off):
    """A birth and a death bear one age."""
    judge(template, age, age + off, a=a, b=a + age)


CENTURIES = [
    ("The abbey was founded in {year}.", "The abbey was founded in the {said} century."),
    ("The comet was seen in {year}.", "The comet was seen in the {said} century."),
]


@pytest.mark.parametrize("template", CENTURIES)
@settings(max_examples=60, deadline=None)
@given(year=st.integers(1610, 1995).filter(lambda year: year % 100), other=st.sampled_from(sorted(ORDINALS)))
def test_a_century_is_that_of_its_year(template, year, other):
    """A year bears its own century and no other one."""
    source, answer = template[0].format(year=year), template[1]
    century = (year + 99) // 100
    assert bool(missing(answer.format(said=ORDINALS[other]), source)) == (other != century)


ROUNDED_DOWN = [
    ("The stadium seats {n:,} visitors.", "The stadium seats over {said} visitors."),
    ("The survey counted {n:,} seals.", "The survey counted more than {said} seals."),
]


@pytest.mark.parametrize("template", ROUNDED_DOWN)
@settings(max_examples=60, deadline=None)
@given(n=st.integers(2_001, 98_999).filter(lambda n: n % 100), off=st.integers(1, 9))
def test_over_rounds_down_alone(template, n, off):
    """After "over" a number is rounded down, never up."""
    down = n // 100 * 100
    judge(template, f"{down:,}", f"{down + 100 * off:,}", n=n)


PRICES_AND_DOSES = [
    ("A ticket costs ${n}.", "A ticket costs about ${said}."),
    ("The dose is {n} mg.", "The dose is about {said} mg."),
    ("The limit is {n} uploads.", "The limit is about {said} uploads."),
]


@pytest.mark.parametrize("template", PRICES_AND_DOSES)
@settings(max_examples=60, deadline=None)
@given(n=st.integers(101, 989).filter(lambda n: n % 10))
def test_no_price_dose_or_limit_is_rounded(template, n):
    """A price, a dose and a limit are said as they stand."""
    judge(template, n, (n + 5) // 10 * 10, n=n)


@settings(max_examples=60, deadline=None)
@given(documents=st.integers(1, 9), said=st.integers(1, 30))
def test_a_document_is_one_that_was_shown(documents, said):
    """A frame names a document among those that the writer saw."""
    source = "The ferry leaves at noon."
    answer = f"As Document {said} says, the ferry leaves at noon."
    refused = unsupported_of_answer(answer, facts_in_text(source), texts=[source], documents=documents).numbers
    assert bool(refused) == (said > documents)


WRITTEN_OUT = [
    ("The room is €{a}. Breakfast is €{b}.", "You pay €{said}: €{a} for the room plus €{b} for breakfast."),
    ("The hull is {a} kg. The mast is {b} kg.", "The boat weighs {said} kg: {a} kg of hull plus {b} kg of mast."),
]


@pytest.mark.parametrize("template", WRITTEN_OUT)
@settings(max_examples=60, deadline=None)
@given(a=st.integers(13, 400), b=st.integers(401, 590), off=st.integers(1, 9))
def test_a_sum_that_is_written_out_has_one_result(template, a, b, off):
    """Both parts beside it bear a result and no other one."""
    judge(template, a + b, a + b + off, a=a, b=b)


METRES = [("The ridge is {n} ft high.", "The ridge is {said} m high."), ("It flew {n} ft.", "It flew {said} m.")]


@pytest.mark.parametrize("template", METRES)
@settings(max_examples=60, deadline=None)
@given(n=st.integers(101, 900), off=st.integers(2, 9))
def test_a_unit_is_converted_to_the_digits_shown(template, n, off):
    """A length in feet is one number of metres."""
    metres = round(n * 0.3048)
    judge(template, metres, metres + off + ((metres + off) % 10 == 0), n=n)


CHANGES = [
    (
        "Queues were cut from {a} parcels to {b} parcels.",
        "Queues fell from {a} to {b} parcels, a reduction of {said} %.",
    ),
    ("Fares fell from €{a} to €{b}.", "Fares fell from €{a} to €{b}, i.e. by {said} %."),
]


@pytest.mark.parametrize("template", CHANGES)
@settings(max_examples=60, deadline=None)
@given(percent=st.integers(11, 89).filter(lambda percent: percent != 50), hundreds=st.integers(2, 9))
def test_a_change_is_no_share_of_what_is_left(template, percent, hundreds):
    """Two amounts bear by how many per cent one falls to the other, and not the part that stays."""
    judge(template, percent, 100 - percent, a=100 * hundreds, b=(100 - percent) * hundreds)


SCORES = [
    ("The Herons beat the Terns {a}-{b}.", "The Herons won {said}."),
    ("The Herons defeated the Terns by {a} goals to {b}.", "The Herons beat the Terns {said} on Sunday."),
]


@pytest.mark.parametrize("template", SCORES)
@pytest.mark.parametrize("written", ["{}-{}", "{}:{}", "{} to {}"])
@settings(max_examples=30, deadline=None)
@given(a=st.integers(6, 12), b=st.integers(0, 5), c=st.integers(6, 12), d=st.integers(0, 5))
def test_a_score_is_that_of_both_sides(template, written, a, b, c, d):
    """A score is one pair of numbers, however it is written."""
    source, answer = template[0].format(a=a, b=b), template[1].format(said=written.format(c, d))
    assert bool(missing(answer.replace(" on Sunday", ""), source)) == ((a, b) != (c, d))


@settings(max_examples=60, deadline=None)
@given(part=st.integers(11, 89), tens=st.integers(1, 9))
def test_a_share_alone_is_not_rounded_to_tens(part, tens):
    """Without a word such as "about" a share is said to the last of its digits that a reader sees."""
    source = f"{2 * part} of the 200 valves leak."
    assert bool(missing(f"{10 * tens} % of the valves leak.", source)) == (10 * tens != part)


@settings(max_examples=60, deadline=None)
@given(a=st.integers(700, 990), b=st.integers(420, 690), off=st.integers(1, 9))
def test_a_total_that_could_be_a_year_counts(a, b, off):
    """A sum between 1100 and 2000 is a count where it counts, with a comma and without one."""
    source = f"The harbour has {a} cranes and the yard has {b} cranes."
    for said in ("{}", "{:,}"):
        assert missing(f"The port has {said.format(a + b)} cranes in total.", source) == ()
        assert missing(f"The port has {said.format(a + b + off)} cranes in total.", source) != ()

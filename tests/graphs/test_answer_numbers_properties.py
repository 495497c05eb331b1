"""Values that an answer works out: whatever the numbers, what follows is supported and another value is refused."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from growth import assert_linear
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from guardgraph.guards.facts import facts_in_text, unsupported_of_answer
from guardgraph.guards.facts.answers import list_contradicted_numbers

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
    ("The room is €{a}. Breakfast is €{b}.", "You pay €{said}: €{a} for the room plus €{b} for breakfast."),
    ("The hull is {a} kg. The mast is {b} kg.", "The boat weighs {said} kg: {a} kg of hull plus {b} kg of mast."),
]


@pytest.mark.parametrize("template", SUMS)
@settings(max_examples=60, deadline=None)
@given(a=st.integers(13, 400), b=st.integers(401, 590), off=st.integers(1, 9))
def test_a_total_is_the_sum_of_its_parts(template, a, b, off):
    """Two amounts of one thing bear their sum and no other one, where the answer says or writes out that it is one."""
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


NEAREST = ["about", "around", "roughly", "approximately"]


@settings(max_examples=60, deadline=None)
@given(n=st.integers(10_001, 98_999).filter(lambda n: n % 1000), word=st.sampled_from(NEAREST), off=st.integers(1, 8))
def test_about_rounds_to_the_nearest(n, word, off):
    """After "about" a number of people is the nearest of its digits, and no other."""
    nearest = (n + 500) // 1000
    assume((nearest + off) % 10)  # tens of thousands have digits of their own
    judge(
        ("The parade drew {n} onlookers.", f"The parade drew {word} {{said}} onlookers."),
        f"{nearest},000",
        f"{nearest + off},000",
        n=f"{n:,}",
    )


@settings(max_examples=60, deadline=None)
@given(n=st.integers(20_001, 98_999).filter(lambda n: n % 1000), word=st.sampled_from(["nearly", "almost", "under"]))
def test_nearly_rounds_up_alone(n, word):
    """After "nearly" a number is rounded up, never down."""
    down = n // 1000
    judge(
        ("The herd has {n} animals.", f"The herd has {word} {{said}} animals."),
        f"{down + 1},000",
        f"{down},000",
        n=f"{n:,}",
    )


@settings(max_examples=60, deadline=None)
@given(tenths=st.integers(901, 998).filter(lambda tenths: tenths % 10), word=st.sampled_from(NEAREST))
def test_a_high_share_is_not_rounded(tenths, word):
    """A share of 90 % and more is a promise, whose tenths count."""
    nearest = (tenths + 5) // 10
    assert missing(f"The valve works in {word} {nearest} % of cases.", f"The valve works in {tenths / 10} % of cases.")


@settings(max_examples=60, deadline=None)
@given(year=st.integers(1701, 2019), off=st.integers(1, 9), word=st.sampled_from(["", "about ", "over "]))
def test_a_year_is_not_rounded(year, off, word):
    """A year is said as it stands, whatever stands before it."""
    assert missing(f"The mill was built in {word}{year - off}.", f"The mill was built in {year}.")


@settings(max_examples=60, deadline=None)
@given(n=st.integers(11, 90), times=st.integers(2, 9), off=st.integers(1, 5))
def test_a_multiple_is_that_of_two_amounts(n, times, off):
    """How many times as much one amount is as another follows from both."""
    template = (
        "Shed one holds {a} tonnes. Shed two holds {b} tonnes.",
        "Shed two holds {said} times as much: {b} tonnes.",
    )
    judge(template, times, times + off, a=n, b=n * times)


@settings(max_examples=60, deadline=None)
@given(decade=st.integers(170, 199), year=st.integers(0, 9), off=st.integers(-5, 5).filter(bool))
def test_a_season_and_a_year_are_read_as_written(decade, year, off):
    """A season is the one that is written, in two digits or in four."""
    first = 10 * decade + year
    if (first + 1) % 100:
        source = f"They won the league in {first}-{first + 1}."
        assert missing(f"They were champions of {first}-{(first + 1) % 100:02}.", source) == ()
        assert missing(f"They were champions of {first + off}-{first + off + 1}.", source)


@settings(max_examples=60, deadline=None)
@given(number=st.integers(2, 40), off=st.integers(1, 9), name=st.sampled_from(["JDK", "RFC", "SDK", "PHP"]))
def test_a_label_may_be_joined_to_its_number(number, off, name):
    """A name and its number are one label, with a blank or without."""
    for said, has in ((f"{name}{number}", f"{name} {number}"), (f"{name} {number}", f"{name}{number}")):
        assert missing(f"It runs on {said}.", f"It was built for {has}.") == ()
    assert missing(f"It runs on {name}{number + off}.", f"It was built for {name} {number}.")


FRACTIONS = [("a quarter", 25), ("a third", 33), ("half", 50), ("two thirds", 67), ("three quarters", 75)]


@settings(max_examples=80, deadline=None)
@given(fraction=st.sampled_from(FRACTIONS), percent=st.integers(11, 89))
def test_a_fraction_is_told_of_a_share_near_it(fraction, percent):
    """A share is "more than a third" a little above it, and never below."""
    words, near = fraction
    source = f"{percent} % of the shops closed."
    refused = missing(f"More than {words} of the shops closed.", source)
    if percent < near:
        assert refused
    elif near < percent <= near + 5:
        assert refused == ()


@settings(max_examples=60, deadline=None)
@given(closes=st.integers(15, 22), before=st.sampled_from([15, 20, 30, 45, 50]), off=st.sampled_from([5, 10, 25]))
def test_the_last_entry_is_so_long_before_the_end(closes, before, off):
    """A stated length before a stated time of day is one time."""
    source = f"The tower closes at {closes}:00. Last ascent {before} minutes before closing."
    answer = "The last ascent is {} minutes before closing, i.e. at {}."

    def clock(length: int) -> str:
        minutes = closes * 60 - length
        return f"{minutes // 60}:{minutes % 60:02}"

    assert missing(answer.format(before, clock(before)), source) == ()
    assert missing(answer.format(before, clock(before + off)), source)


@settings(max_examples=60, deadline=None)
@given(minute=st.integers(2, 90), off=st.integers(1, 9))
def test_a_minute_of_a_game_is_that_of_its_report(minute, off):
    """A goal in brackets was scored in that minute."""
    source = f"Terns: Ilse Roth ({minute}). Herons: Una Berg, in the 93rd minute. The match drew a crowd."
    ending = {1: "st", 2: "nd", 3: "rd"}
    for said, holds in ((minute, True), (minute + off, minute + off == 93)):
        place = f"{said}{'th' if said % 100 in (11, 12, 13) else ending.get(said % 10, 'th')}"
        assert (missing(f"Ilse Roth scored in the {place} minute.", source) == ()) == holds


@settings(max_examples=60, deadline=None)
@given(weeks=st.integers(2, 30), off=st.integers(1, 9))
def test_what_goes_on_begins_behind_the_last(weeks, off):
    """Behind so many weeks comes the next one, from which on something else holds."""
    template = "Sick staff get full pay for the first {n} weeks, then none.", "From week {said} on they get none."
    judge(template, weeks + 1, weeks + 1 + off, n=weeks)


THINGS = ["ferries", "wardens", "orchards", "chapels", "violins"]


@settings(max_examples=40, deadline=None)
@given(thing=st.sampled_from(THINGS), other=st.integers(4, 40), word=st.sampled_from(["two", "three"]))
def test_a_small_count_is_free_where_no_source_counts(thing, other, word):
    """A "two" before a noun counts what the answer speaks of, unless a source counts that noun."""
    assert missing(f"It names {word} {thing}.", f"The Aster and the Briar are {thing}, as is the Cedar.") == ()
    assert missing(f"It has {word} {thing}.", f"The town has {other} {thing}.")


@settings(max_examples=60, deadline=None)
@given(shares=st.lists(st.integers(5, 40), min_size=1, max_size=2), off=st.integers(1, 4))
def test_the_rest_is_what_others_leave(shares, off):
    """What remains of a whole is 100 % less what the others have."""
    has = " and ".join(f"{share} % to {place}" for share, place in zip(shares, ("Leith", "Tarn"), strict=False))
    rest = 100 - sum(shares)
    source, answer = f"They sent {has}, and the rest to Oban.", "Oban got the remaining {} %, after {}."
    assert missing(answer.format(rest, has), source) == ()
    assert missing(answer.format(rest - off, has), source)


ALL_DAY = ("24 hours a day", "24 hours per day", "around the clock", "round the clock", "24 hours a day, 7 days a week")
NOT_ALL_DAY = ("12 hours a day", "24 hours a day on weekdays", "24 hours a day, Monday to Friday", "from 8 am to 6 pm")


@given(said=st.sampled_from(ALL_DAY), other=st.sampled_from(NOT_ALL_DAY), who=st.sampled_from(["porter", "hotline"]))
def test_24_7_is_all_day_on_every_day(said, other, who):
    """What goes on all day, with no days named, is available 24/7; what names its days or hours is not."""
    answer = f"Yes, the {who} can be reached 24/7."
    assert missing(answer, f"You can reach the {who} {said}.") == ()
    assert missing(answer, f"You can reach the {who} {other}.") == ("24/7",)


@given(n=st.integers(13, 900), each=st.sampled_from(["each", "apiece"]), per=st.sampled_from(["per", "a"]))
def test_a_price_each_is_one_for_a_length_of_time(n, each, per):
    """A price each per month is that of one thing for a month, and no other amount or length."""
    source = f"Further lockers cost €{n} {each} {per} month."
    assert missing(f"Each further locker costs €{n} a month.", source) == ()
    assert missing(f"Each further locker costs €{n} a week.", source) != ()
    assert missing(f"Each further locker costs €{n + 1} a month.", source) != ()


@given(n=st.integers(-9, 39), off=st.integers(1, 5), scale=st.sampled_from(["°C", "degrees Celsius", "°F"]))
def test_degrees_without_a_scale_are_those_of_the_source(n, off, scale):
    """Degrees such as "19 degrees" are the 19 °C of a source, no other temperature, and no temperature of an angle."""
    assert missing(f"In July the water has {n} degrees.", f"In July the water has {n} {scale}.") == ()
    assert missing(f"In July the water has {n + off} degrees.", f"In July the water has {n} {scale}.") != ()
    assert missing(f"In July the water has {n} °C.", f"Turn the valve by {n} degrees.") != ()


STARTS = st.dates(min_value=date(1990, 1, 1), max_value=date(2030, 12, 28)).filter(lambda day: day.day <= 28)


@given(start=STARTS, months=st.integers(2, 40), off=st.integers(1, 3))
def test_the_last_day_of_a_time_is_a_part_of_it(start, months, off):
    """What runs from a day to the one before the same day of a later month lasts the months between these."""
    last = (start.year * 12 + start.month - 1 + months) // 12, (start.month - 1 + months) % 12 + 1
    end = date(*last, start.day) - timedelta(days=1)
    source = f"The lease runs from {start:%-d %B %Y} to {end:%-d %B %Y}."
    assert missing(f"The lease runs for {months} months.", source) == ()
    assert missing(f"The lease runs for {months + off} months.", source) != ()


PARTS = [("in the morning", 0), ("in the afternoon", 12), ("in the evening", 12)]


@given(part=st.sampled_from(PARTS), hour=st.integers(1, 11), minute=st.sampled_from(["", ":15", ":30"]))
def test_a_part_of_the_day_says_which_half(part, hour, minute):
    """An hour in the afternoon is the one after noon, and an hour in the morning is not."""
    said, ahead = part
    source = f"The gate opens at {hour + ahead:02}{minute or ':00'}."
    other = "in the evening" if said == "in the morning" else "in the morning"
    assert missing(f"The gate opens at {hour}{minute} {said}.", source) == ()
    assert missing(f"The gate opens at {hour}{minute} {other}.", source) != ()


@given(first=st.integers(1, 9), other=st.integers(1, 9))
def test_a_dose_in_the_morning_is_no_time(first, other):
    """Two in the morning and one in the evening are tablets, as "2 tablets in the morning" does."""
    said = f"Take {first} tablets in the morning and {other} in the evening."
    assert missing(f"Take {first} in the morning and {other} tablets in the evening.", said) == ()


HOLIDAYS = [
    ("Christmas Eve", "24 December"),
    ("Christmas Day", "December 25"),
    ("Boxing Day", "26 December"),
    ("New Year's Eve", "31 December"),
    ("New Year’s Day", "1 January"),
    ("St. Stephen's Day", "26 December"),
    ("Halloween", "October 31"),
]


@given(st.sampled_from(HOLIDAYS), st.sampled_from(HOLIDAYS))
def test_a_holiday_is_its_day(one, other):
    """A holiday of a fixed date is supported by that date, and the date by its name; another day is not."""
    (name, day), (another, _) = one, other
    assert missing(f"The hall is closed on {name}.", f"The hall is closed on {day}.") == ()
    assert missing(f"The hall is closed on {day}.", f"The hall is closed on {name}.") == ()
    is_same = dict(HOLIDAYS)[another] == day
    assert (missing(f"The hall is closed on {another}.", f"The hall is closed on {day}.") == ()) is is_same


UNITS_ABROAD = [
    ("Der Turm neben der Kirche ist {n} {unit} hoch und steht seit vielen Jahren.", ["m", "km", "cm"]),
    ("Man braucht für den Teig {n} {unit} Mehl und ein Ei von der Henne.", ["g", "kg", "mg"]),
    ("Die Fahrt mit dem Bus in die Stadt dauert {n} {unit} und ist sehr schön.", ["h", "Minuten", "Tage"]),
    ("Die Behörde hat seit {n} {unit} nicht auf das Schreiben geantwortet.", ["Tagen", "Jahren", "Monaten"]),
    ("La ville est à {n} {unit} de la mer et au nord du vieux port.", ["m", "km", "cm"]),
    ("El puente mide {n} {unit} y está en la parte norte del río.", ["m", "km", "cm"]),
    ("Башня стоит на севере от города и имеет {n} {unit} в высоту.", ["м", "км", "см"]),
]


@pytest.mark.parametrize(("sentence", "units"), UNITS_ABROAD)
@given(n=st.integers(2, 90), data=st.data())
def test_a_unit_of_one_letter_is_no_other_one(sentence, units, n, data):
    """A frequent word that is a unit behind a number stays one: 5 m support no 5 km in any language."""
    one, other = data.draw(st.lists(st.sampled_from(units), min_size=2, max_size=2, unique=True))
    source = sentence.format(n=n, unit=one)
    assert missing(source, source) == ()
    assert missing(sentence.format(n=n, unit=other), source) != ()


@given(hour=st.integers(1, 11), half=st.sampled_from([("morgens", 0), ("abends", 12), ("nachmittags", 12)]))
def test_hours_of_german_texts_are_times(hour, half):
    """The times "20 Uhr", "20:00 Uhr" and "8 Uhr abends" are one time, and "8 Uhr morgens" is another."""
    part, ahead = half
    source = f"Die Apotheke am Markt hat nur am Samstag bis {hour + ahead} Uhr für alle geöffnet."
    assert missing(f"Die Apotheke schließt um {hour + ahead}:00 Uhr.", source) == ()
    assert missing(f"Die Apotheke schließt um {hour} Uhr {part}.", source) == ()
    other = "morgens" if ahead else "abends"
    assert missing(f"Die Apotheke schließt um {hour} Uhr {other}.", source) != ()


WORKED_OUT_ABROAD = [
    (
        "Die Chemikerin wurde am 3. Mai {a} in Halle geboren und starb am 9. Juni {b}.",
        "Sie starb im Alter von {said} Jahren.",
    ),
    (
        "La autora nació el 3 de mayo de {a} en Cuenca y murió el 9 de junio de {b}.",
        "Murió a los {said} años en Cuenca.",
    ),
    (
        "La chimiste est née le 3 mai {a} à Lyon et elle est morte le 9 juin {b}.",
        "Elle est morte à l'âge de {said} ans.",
    ),
]


@pytest.mark.parametrize("template", WORKED_OUT_ABROAD)
@settings(max_examples=40, deadline=None)
@given(a=st.integers(1700, 1900), age=st.integers(32, 90), off=st.integers(1, 8))
def test_an_age_is_that_of_two_dates_in_other_languages(template, a, age, off):
    """A birth and a death bear one age in German, Spanish and French."""
    judge(template, age, age + off, a=a, b=a + age)


@given(times=st.sampled_from([("zweimal", "zwei Mal"), ("dreimal", "drei Mal")]), joined=st.booleans())
def test_times_of_german_texts_are_written_in_one_word_or_two(times, joined):
    """What is done "zweimal" is done "zwei Mal", and not three times."""
    said, other = times if joined else times[::-1]
    source = f"Die Leihfrist für alle Bücher kann auf Antrag {said} verlängert werden."
    assert missing(f"Die Frist für Bücher kann {other} verlängert werden.", source) == ()
    wrong = "vier Mal"
    assert missing(f"Die Frist für Bücher kann {wrong} verlängert werden.", source) != ()


def contradicted(answer: str, source: str) -> tuple[str, ...]:
    """Return how often an answer says that something is, where a source has it otherwise."""
    return tuple(number.shown for number in list_contradicted_numbers(answer, [source]))


OFTEN = {"once a day": 1, "twice a day": 2, "three times a day": 3, "4 times daily": 4, "every 12 hours": 2, "daily": 1}


@given(one=st.sampled_from(sorted(OFTEN)), other=st.sampled_from(sorted(OFTEN)), act=st.sampled_from(["lotion", "log"]))
def test_how_often_something_is_is_held_against_the_source(one, other, act):
    """Twice a day contradicts once a day of the same thing, and says what every 12 hours says."""
    found = contradicted(f"The {act} is used {other}.", f"The {act} is used {one}.")
    if OFTEN[one] == OFTEN[other] or other.startswith("every"):
        assert found == ()  # how many hours lie between is a number that the check of numbers holds
    else:
        assert found == (other,)
    assert contradicted(f"The {act} is used {other}.", f"The {act} is used {one}. The rail is wiped {other}.") == ()
    assert contradicted(f"The {act} is used {other}.", f"The {act} is used with care.") == ()


@given(
    thing=st.sampled_from(["guard", "exit", "injection", "key"]),
    alone=st.sampled_from(["one", "a single", "no"]),
    count=st.sampled_from(["two", "three"]),
)
def test_a_small_count_is_one_of_the_source_where_it_has_one_or_none(thing, alone, count):
    """Where a source has one of a thing, or none, two or three of it are no passing count."""
    assert missing(f"There are {count} {thing}s.", f"There is {alone} {thing} in the hall.") == (count,)
    assert missing(f"There are {count} {thing}s.", f"Ada's {thing} and Bo's {thing} are in the hall.") == ()


@given(n=st.integers(2, 25), said=st.sampled_from(["may not enter", "may be alone", "may also wait"]))
def test_may_behind_an_age_is_no_month(n, said):
    """Persons under 18 may do something, and on 18 May is a day."""
    assert missing(f"Persons under {n} {said}.", f"Persons under {n} can or cannot.") == ()
    assert missing(f"It closed on {n} May.", f"Persons under {n} {said}.") != ()


@given(n=st.integers(1, 60), unit=st.sampled_from(["°C", "degrees", "degrees Celsius", "°F"]))
def test_minus_is_a_sign_of_temperatures(n, unit):
    """A temperature of minus 20 °C is -20 °C, and 20 °C is another temperature."""
    assert missing(f"Store it at -{n} {unit}.", f"Store it at minus {n} {unit}.") == ()
    assert missing(f"Store it at minus {n} {unit}.", f"Store it at −{n} {unit}.") == ()
    # Without a scale, degrees may be those of an angle, whose sign tells a direction.
    assert unit == "degrees" or missing(f"Store it at {n} {unit}.", f"Store it at minus {n} {unit}.") != ()


@pytest.mark.parametrize(
    ("said", "told"),
    [("weekly ", "daily "), ("every 7 days ", "every 8 days "), ("{} times a day. ", "{} times a week. ")],
)
def test_frequencies_are_compared_in_linear_time(said, told):
    """Four times as many frequencies in an answer and its source take about four times as long."""

    def write(piece, chars):
        return "".join(piece.format(at % 999) for at in range(chars // len(piece)))

    assert_linear(lambda chars: list_contradicted_numbers(write(said, chars), [write(told, chars)]), 25_000, 100_000)

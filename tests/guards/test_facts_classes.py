"""The same said otherwise is supported, another thing is not: each class of facts, by example."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guardgraph.guards.facts import facts_in_json, facts_in_text, facts_in_texts, unsupported


def missing(claim: str, licence: str) -> list[str]:
    """What of a claim a text does not support."""
    return unsupported(facts_in_text(claim), facts_in_text(licence)).all()


SAME = {
    "ranges": """
        1939-45 | 1939 to 1945 | from 1939 to 1945 | 1939–45 | between 1939 and 1945
        1910-12 | 1910 to 1912
        October 8-13, 1945 | 8–13 October 1945 | October 8 to October 13, 1945 | the 8th to the 13th of October 1945
        10-15 minutes | 10 to 15 minutes | between 600 and 900 seconds
        $1.7 to 2.2 million | $1.7 million to $2.2 million""",
    "eras": """
        in AD 79 | in 79 AD | in 79 CE
        in 44 BC | in 44 BCE
        in 1066 AD | in AD 1066 | in 1066""",
    "decades": "1990s | the 90s | the '90s | the 1990 's | the nineties",
    "times": """
        at 12h30 | at 12:30 | at 12.30 | 12:30 p.m. | at 12:30:00
        noon | 12:00 | 12 noon | 12 pm
        at half past four | at 4:30 | at half past 4
        at quarter past four | at 4:15 | at quarter past 4
        at half past four pm | at 16:30
        at ten o'clock | at 10:00
        at 12 h 30 | at 12:30
        midnight | 00:00 | 12 am
        from 8 a.m. to 5 p.m. | 08:00-17:00""",
    "zones": """
        13:00 UTC | 14:00 CET | 1 pm GMT | 13:00Z | 15:00+02:00 | 05:00 PST | 8 am EST | 13:00
        10 am PST | 1 pm EST | 12:00 CST | 10 am Pacific Standard Time | 10 am Pacific time""",
    "words": """
        one thousand six hundred people | 1,600 people | sixteen hundred people
        two and a half hours | 2.5 hours | 2 1/2 hours | 2½ hours | 150 minutes
        two dozen of them | 24 of them
        nineteen of them | 19 of them""",
    "ordinals": "the nineteenth time | the 19th time",
    "quarters": "the third quarter | Q3 | the 3rd quarter",
    "fractions": """
        two-thirds of them | 2/3 of them | two thirds of them | ⅔ of them
        three quarters of them | 75 % of them | 3/4 of them | three-fourths of them
        half of them | 50% of them | ½ of them | half the users
        a 7/8 inch bolt | a ⅞ inch bolt | a bolt of seven-eighths of an inch | a 0.875 inch bolt""",
    "durations": """
        lasted an hour | lasted 1 hour | lasted one hour | lasted 60 minutes
        for a quarter of an hour | for 15 minutes | for quarter of an hour
        for an hour and a half | for 90 minutes | for 1.5 hours""",
    "Roman numerals": """
        in World War II | in World War 2 | in World War Two
        by Henry VIII | by Henry 8 | by Henry the Eighth""",
    "dates": """
        the fifth of July 2026 | July 5, 2026 | 5 July 2026 | 2026-07-05 | 5 OF JULY 2026 | Jul. 5th, 2026
        6 OF MARCH 2026 | March 6, 2026""",
    "currencies": """
        $5 | US$5 | 5 US dollars | USD 5 | 5 dollars
        HK$5 million | 5 million Hong Kong dollars | HKD 5m
        €3m | 3 million euros""",
    "units": """
        20 °C | 68 °F | 20 degrees Celsius
        5 km² | 5 square kilometres | 5 sq km
        2 horsepower | 2 hp""",
    "rates": """
        60 km/h | 60 km per hour | 60 kilometres an hour | 60 kph
        5 requests per hour | 5 requests an hour | 5 requests/hour
        $5 per month | $5 a month | $5/month""",
    "labels": """
        see Section 3 | see section 3 | in Sec. 3 | § 3
        see step 2 | in step two
        version 3.10 | v3.10 | release 3.10 | Python 3.10
        Chapter IV | chapter 4""",
    "identifiers": "ticket PAY-4521 | ticket pay‑4521, PAY4521",
    "bounds": "at least 5 people | no fewer than 5 people | 5 people or more | 5 people",
    "glued numbers": "950hp | 950 hp",
    "lower case": """
        on Monday | on monday
        on 6 March | on 6 march. | on March 6
        on May 30 | he plays on may 30.""",
    "scores": "a 3-1 win | a 3:1 win | a 3–1 win | won 3 - 1",
    "rates of each": """
        4 seats per table | 4 seats for each table | four seats for every table
        12p per page | 12p for each page | £0.12 for each of their pages""",
    "joined labels": """
        on JDK 21 | on JDK21
        the set {0, 1} | the set {0,1}
        Python 3.12 | python3.12""",
    "spatial": "in 3D | in 3d",
    "elided names": "in 1998 L'Oreal did | in 1998",
}

OTHER = {
    "scores": "a 3-1 win | a 3-2 win\na 3-1 win | 3 goals and 1 save\n2-1 | 1-2",
    "seasons": "in 2016-2017 | in 2016-20\nin 2014-15 | in 2013-14",
    "lower case": "in March | they march on in step\nin May | he may go in time",
    "rates of each": "12p per page | 12p per book\n4 seats for each table | 4 seats for each room",
    "joined labels": "on JDK22 | on JDK 21\nPython 3.1 | python3.10",
    "ranges": """
        1943 | 1939-45
        October 10 | October 8-13
        11 minutes | 10-15 minutes""",
    "eras": "in 5 BC | in 5 AD\nin AD 5 | in 5 BC",
    "decades": "1980s | 1990s\nthe 80s | the 1990s",
    "times": """
        noon | midnight
        at half past four | at 5:30
        at 4 | at half past four
        at ten o'clock | at 11:00
        12:00 | midnight
        11:26 | 11:25:51
        11:25:52 | 11:25:51""",
    "zones": """
        13:00 UTC | 13:00 PST
        13:00 PST | 13:00 CST
        13:00 CET | 13:00 EST""",
    "words": "two hours | one thousand six hundred hours",
    "ordinals": """
        the second time | the first time
        the 20th century | the nineteenth century
        the 5th | 5 people
        second | first""",
    "quarters": "the second quarter | the first quarter\nQ3 | Q2",
    "fractions": """
        a third of them | two-thirds of them
        half of them | a third of them
        three quarters of them | two thirds of them
        a 7/8 mile walk | a 7/8 inch bolt""",
    "months and weekdays": """
        in April | in March
        in May | in March
        on Monday | on Tuesday
        January 2015 | January 2016""",
    "Roman numerals": """
        Section IV | Section VI
        Apollo 13 | Apollo 11, with 13 people""",
    "currencies": """
        $5 | HK$5
        HK$5 | $5
        5 pesos | $5
        5 euros | 5 dollars""",
    "units": """
        5 kg | 5 km
        5 miles | 5 km
        5 °C | 5 °F
        -5 °C | 5 °C
        5 °C | -5 °C
        950hp | 950 people
        23xyz | 23abc""",
    "rates": """
        5 requests per day | 5 requests per hour
        $5 per day | $5 per hour
        60 km | 60 km/h""",
    "counted nouns": """
        23 minutes | 23 players
        23% | 23 players
        $23 | 23 players
        23 km | 23 players
        23 players | 23 minutes""",
    "labels": """
        see Section 4 | see Section 3
        see Table 5 | see Table 4
        see step 3 | see step 2
        version 3.1 | version 3.10
        Python 3.1 | Python 3.10
        4 people | Section 4""",
    "identifiers": """
        PAY-4522 | PAY-4521
        CVE-2024-1235 | CVE-2024-1234""",
    "bounds": """
        at most 5 people | at least 5 people
        less than 5 | more than 5
        up to 5 | over 5""",
    "magnitudes": "5 million | 5 billion\n$5 million | $5",
}


def rows(by_class: dict[str, str]) -> list[list[str]]:
    """The ways of saying one thing, or a claim and what does not support it."""
    return [[way.strip() for way in line.split("|")] for text in by_class.values() for line in text.strip().split("\n")]


@pytest.mark.parametrize("ways", rows(SAME), ids=lambda ways: ways[0])
def test_the_same_said_otherwise_is_supported(ways: list[str]) -> None:
    """Every way of saying a thing supports the first, and the first supports every way."""
    assert all(missing(f"It was {ways[0]}, they said.", f"They say: {way}, as is known.") == [] for way in ways)
    assert all(missing(f"It was {way}, they said.", f"They say: {ways[0]}, as is known.") == [] for way in ways)


@pytest.mark.parametrize(("claim", "licence"), rows(OTHER), ids=lambda text: text)
def test_another_thing_is_not_supported(claim: str, licence: str) -> None:
    """Another zone, currency, unit, rate, share, place, month, label, identifier or bound is refused."""
    assert missing(f"It was {claim}, they said.", f"They say: {licence}, as is known.") != []


@pytest.mark.parametrize(
    ("claim", "licence"),
    [
        ("1945", "1939-45"),
        ("October 13", "October 8-13"),
        ("13 October 1945", "October 8-13, 1945"),
        ("at 11:25", "at 11:25:51"),
        ("at 11:00 UTC", "2026-03-06T13:00:00+02:00"),
        ("23 people", "23 players"),
        ("23", "23 players"),
        ("on Friday", "on March 6, 2026"),
        ("Friday, March 6, 2026", "on March 6, 2026"),
        ("in March", "on March 6"),
        ("7 requests", "7 requests per hour"),
        ("Section 4", "Sections 3 and 4"),
        ("page 12", "pages 8-12"),
        ("see step 2", "Step 1: stop. Step 2: restart."),
        ("the second one", "1. Stop.\n2. Restart."),
        ("Henry II of France", "Henry of France"),
    ],
)
def test_a_part_of_what_is_said_is_supported(claim: str, licence: str) -> None:
    """An end of a range, a time less exactly, a count of other things, a part of a date."""
    assert missing(claim, licence) == []


def test_a_day_has_its_year_from_its_source() -> None:
    """The year may stand in the title or the date of the same source, and not in another source."""
    claim = facts_in_text("It failed on March 6, 2026.")
    source = facts_in_texts(["It failed on March 6.", "Updated 2026-03-07"])
    assert not unsupported(claim, source)
    assert not unsupported(claim, facts_in_texts(["It failed on March 6."], dated_by=["2026-03-07"]))
    assert not unsupported(claim, facts_in_json({"text": "It failed on March 6.", "updated_at": "2026-03-07"}))
    assert unsupported(claim, facts_in_text("It failed on March 6.") | facts_in_text("Updated 2026-03-07"))
    assert unsupported(facts_in_text("On March 7, 2026"), facts_in_texts(["March 6.", "2026"]))


def test_what_only_dates_a_source_licenses_nothing_else() -> None:
    """The date of a page is no fact of its quote."""
    assert unsupported(facts_in_text("45 minutes"), facts_in_texts(["It failed."], dated_by=["45 minutes"])).all()


@pytest.mark.parametrize(
    ("context", "claim", "supported"),
    [
        ({"players": 23}, "23 people", True),
        ({"players": 23}, "23 minutes", False),
        ({"user_count": 23}, "23%", False),
        ({"alerts_per_hour": 7}, "7 alerts per hour", True),
        ({"alerts_per_hour": 7}, "7 alerts per day", False),
        ({"version": "3.10"}, "version 3.10", True),
        ({"version": "3.10"}, "version 3.1", False),
        ({"step": 2}, "step 2", True),
        ({"amount": 23}, "23 minutes", True),
    ],
)
def test_a_key_says_what_its_number_is(context: dict[str, int | str], claim: str, supported: bool) -> None:
    """A key that names things counts them; one that names a label labels; a bare number may be anything."""
    assert bool(unsupported(facts_in_text(claim), facts_in_json(context))) is not supported


PLACES = st.sampled_from([("UTC", 0), ("CET", 60), ("EST", -300), ("JST", 540), ("+05:30", 330), ("GMT-3", -180)])


@given(st.integers(0, 1439), PLACES, PLACES, st.integers(1, 1439))
@settings(max_examples=200, deadline=None)
def test_times_convert_between_zones(minute: int, here: tuple[str, int], there: tuple[str, int], off: int) -> None:
    """A time in another zone is the same moment or another thing."""
    start = datetime(2026, 3, 6) + timedelta(minutes=minute)
    same = start + timedelta(minutes=there[1] - here[1])
    said, meant = f"at {start:%H:%M} {here[0]}", f"at {same:%H:%M} {there[0]}"
    assert missing(said, meant) == []
    assert missing(said, f"at {same + timedelta(minutes=off):%H:%M} {there[0]}") != []


@given(st.integers(1100, 2890), st.integers(1, 9))
@settings(deadline=None)
def test_short_ends_of_year_ranges(first: int, length: int) -> None:
    """Two digits end a range of years in its century, and no year between is licensed."""
    last = min(first + length + 1, first // 100 * 100 + 99)
    if last - first < 2:
        return
    short = f"{first}-{last % 100:02}"
    assert missing(short, f"from {first} to {last}") == []
    assert missing(f"{first} to {last}", short) == []
    assert missing(f"in {first + 1}", short) != []


@given(st.integers(2, 999), st.sampled_from(["players", "songs", "people", "games"]))
@settings(deadline=None)
def test_counted_things_have_no_unit(amount: int, things: str) -> None:
    """What counts things licenses the number and any things, and no unit, share or money."""
    source = f"There were {amount} {things} in all."
    assert missing(f"{amount} and {amount} children", source) == []
    for claim in (f"{amount} minutes", f"{amount}%", f"${amount}", f"{amount} km/h", f"{amount}xyz"):
        assert missing(claim, source) != []


@given(st.integers(1, 999), st.sampled_from(["at least", "more than", "over"]), st.sampled_from(["at most", "up to"]))
@settings(deadline=None)
def test_only_opposite_bounds_conflict(amount: int, low: str, high: str) -> None:
    """A bound may be left out or put in; it may not be turned round."""
    low, high, free = f"{low} {amount} of them", f"{high} {amount} of them", f"{amount} of them"
    assert missing(low, free) == missing(free, low) == missing(high, free) == missing(free, high) == []
    assert missing(low, high) != []
    assert missing(high, low) != []


UNITS_SAID_OTHERWISE = """
    after 3 days <- after more than three consecutive days
    up to 5 days <- up to five unused days
    €900 per month <- the monthly rent is €900
    €900 per month <- Monthly base fee: €900
    €380 million <- up from €380 million a year earlier
    $6 a month <- | Card | Monthly fee |\\n|---|---|\\n| Gold | 6 USD |
    3 months <- up to three months a year
    a photo of 35x45 mm <- a photo of 35 x 45 mm
"""


@pytest.mark.parametrize("line", UNITS_SAID_OTHERWISE.strip().split("\n"))
def test_units_beside_other_words(line):
    """An adjective before a unit, the adjective of a rate's subject, and "a year earlier" change no unit."""
    claim, source = line.split("<-")
    assert not unsupported(facts_in_text(claim), facts_in_texts([source.replace("\\n", "\n")]))


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("€900 per year", "the monthly rent is €900"),
        ("3 hours", "three consecutive days"),
        ("3 days", "three business days"),
        ("€380 million a year", "up from €380 million a year earlier"),
    ],
)
def test_other_units_beside_other_words(claim, source):
    """Another rate, another unit and a unit of its own stay apart."""
    assert unsupported(facts_in_text(claim), facts_in_text(source))

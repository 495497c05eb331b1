"""Days, hours, scores, parts and lists said otherwise, and changes whose direction is wrong: both ways."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from growth import assert_linear
from hypothesis import assume, given
from hypothesis import strategies as st

from guardgraph.guards.facts import facts_in_text, unsupported_of_answer

DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
TREES = ["elm", "oak", "fir", "ash", "yew", "box", "bay", "fig", "may", "ivy"]
WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]


def missing(answer: str, source: str) -> list[str]:
    """Return the numbers of an answer that a source does not support."""
    return list(unsupported_of_answer(answer, facts_in_text(source), texts=[source]).numbers)


def cases(text: str) -> list[tuple[str, str]]:
    """Return an answer and a source for each line."""
    return [tuple(part.strip() for part in line.split("<-")) for line in text.strip().split("\n")]  # type: ignore[misc]


SUPPORTED = """
    The kiosk is open Monday to Friday. <- The kiosk is open on weekdays.
    The kiosk is open on weekdays. <- The kiosk is open Monday to Friday.
    Call us Mon-Fri or by mail. <- Call us on weekdays, or by mail.
    Call us Monday through Friday. <- Call us Mon–Fri.
    The pool is closed on Saturday and Sunday. <- The pool is closed at weekends.
    Come on Monday. <- Lessons are on Mondays.
    The kiosk is open from 9am to 5pm. <- The kiosk is open from 9 to 17.
    The kiosk is open from nine to five. <- Opening hours: 09:00-17:00
    The kiosk is open 8-18. <- The kiosk is open from 8 a.m. to 6 p.m.
    It is a three-hour window. <- The window is 20:00-23:00.
    The work takes 90 minutes. <- The work is from 10:15 to 11:45.
    The vote was 4-1. <- It passed by four votes to one.
    Hull won 3-0. <- Hull won by three goals to nil.
    Hull won two to zero. <- Hull won 2-0.
    Hull scored the first goal. <- Lee opened the scoring for Hull.
    Over 23,000 were sold. <- 23,417 were sold.
    It makes 61 dB. <- Noise: 61 decibels.
    She took 12 days. <- She took 12 of her 25 days.
    It closed on March 1. <- It opened on 28 February 2026 and closed the next day.
    It came on Thursday. <- It was sent on a Tuesday. It came two days later.
    There are four plans: Elm, Oak, Fir and Ash. <- Plans are Elm, Oak, Fir and Ash.
    It reads three formats (PDF, CSV, and XML). <- It reads PDF, CSV and XML.
    The five plans are Elm, Oak, Fir, Ash and Yew. <- | Elm | | Oak | | Fir | | Ash | | Yew |
    Visits rose from 380 to 412. <- Visits rose from 380 to 412.
    Visits fell to 380 from 412. <- Visits fell from 412 to 380.
    It costs $9 monthly. <- It costs $9 per month.
    The annual fee is $9. <- The fee is $9 a year.
    The annual fee is $9. <- The fee is $9, and $9 per month for a seat.
    It costs $9 per seat, billed yearly. <- It costs $9 per seat and month, billed yearly.
    Visits fell from 412 to 380. <- Visits rose from 380 to 412, and fell back to 380.
    It did not rise from 412 to 380. <- It was 412, then 380.
"""


@pytest.mark.parametrize(("answer", "source"), cases(SUPPORTED))
def test_the_same_said_otherwise(answer, source):
    """Spans, scores, lists and shifted days are supported however they are put."""
    assert missing(answer, source) == []


REFUSED = """
    The kiosk is open Monday to Thursday. <- The kiosk is open on weekdays.
    The kiosk is open Monday to Friday. <- The kiosk is closed at weekends.
    The kiosk is open on Tuesday. <- The kiosk is open on Mondays.
    Call us Mon-Sat or by mail. <- Call us Mon-Fri or by mail.
    The kiosk is open from 9am to 6pm. <- The kiosk is open from 9 to 17.
    The kiosk is open from 9pm to 5pm. <- The kiosk is open from 9 to 17.
    It begins at 9am. <- It costs from 9 to 17 euros.
    It is a four-hour window. <- The window is 20:00-23:00.
    It takes two hours. <- It starts at 14:00. Another starts at 16:00.
    The limit is two hours. <- The window is 14:00-16:00.
    The vote was 1-4. <- It passed by four votes to one.
    Hull won 3-1. <- Hull won by three goals to nil.
    Hull won two to one by 2-1. <- Hull won 2-0.
    Hull scored the first goal. <- Lee scored for Hull, and the match was open.
    Hull scored the second goal. <- Lee opened the scoring for Hull.
    Over 24,000 were sold. <- 23,417 were sold.
    Exactly 23,000 people came. <- 23,417 people came.
    It makes 61 dB. <- It weighs 61 kg.
    It has 3 dB. <- It has 3 DB instances.
    She took 13 days. <- She took 12 of her 25 days.
    It closed on March 2. <- It opened on 28 February 2026 and closed the next day.
    There are five plans: Elm, Oak, Fir and Ash. <- Plans are Elm, Oak, Fir and Ash.
    There are four plans: Elm, Oak, Fir and Yew. <- Plans are Elm, Oak, Fir and Ash.
    There are four plans: Elm, Oak, Fir and Ash. <- There are 5 plans: Elm, Oak, Fir, Ash, Yew.
    There are four plans. <- Plans are Elm, Oak, Fir and Ash.
    It costs $9 yearly. <- It costs $9 per month.
    The annual fee is $9. <- The monthly fee is $9.
    It costs $9 per year. <- It costs $9 monthly.
    Visits fell from 380 to 412. <- Visits rose from 380 to 412.
    Visits rose to 380 from 412. <- Visits rose from 380 to 412.
    Visits fell from 412 to 380. <- Visits rose from 380 to 412.
"""


@pytest.mark.parametrize(("answer", "source"), cases(REFUSED))
def test_another_thing(answer, source):
    """Another day, hour, score, length, count or direction is refused."""
    assert missing(answer, source) != []


@given(st.integers(0, 6), st.integers(0, 6))
def test_weekdays_are_monday_to_friday_and_no_other_span(first, last):
    """Of the spans of two days "weekdays" supports one."""
    assume(first != last)
    answer = f"The kiosk is open {DAYS[first]} to {DAYS[last]}."
    assert (missing(answer, "The kiosk is open on weekdays.") == []) == ((first, last) == (0, 4))


@given(st.integers(6, 11), st.integers(13, 22), st.integers(13, 22))
def test_hours_of_opening_are_hours_of_a_day(opens, closes, other):
    """Open "from 9 to 17" is 9 am to 5 pm, and no other hour."""
    answer = f"The kiosk is open from {opens} am to {other - 12} pm."
    assert (missing(answer, f"The kiosk is open from {opens} to {closes}.") == []) == (other == closes)


@given(st.integers(0, 1439), st.integers(1, 23), st.integers(1, 23))
def test_a_window_is_as_long_as_its_hours_say(start, hours, other):
    """A length of time between two times of day is supported, and no other one is."""
    end = (start + hours * 60) % 1440
    source = f"The window is {start // 60:02}:{start % 60:02}-{end // 60:02}:{end % 60:02}."
    assert (missing(f"The window is {other} hours long.", source) == []) == (other == hours)


@given(st.integers(2, 10), st.integers(0, 10), st.integers(0, 10))
def test_scores_in_words_are_scores_in_digits(ours, theirs, other):
    """A score supports itself in digits and in words, and no other score."""
    assume(theirs < ours)
    source = f"Hull won by {WORDS[ours]} goals to {WORDS[theirs]}."
    assert (missing(f"Hull won {ours}-{other}.", source) == []) == (other == theirs)


@given(st.dates(date(1950, 1, 1), date(2040, 1, 1)), st.integers(1, 40), st.integers(1, 40))
def test_a_day_that_a_source_counts_from_another(day, later, other):
    """So many days later is one day, and no other one."""
    assume(later > 1)
    source = f"It opened on {day:%B} {day.day}, {day.year}. It closed {later} days later."
    said = day + timedelta(days=other)
    answer = f"It closed on {said:%B} {said.day}, {said.year}."
    assert (missing(answer, source) == []) == (other == later)


@given(st.lists(st.sampled_from(TREES), min_size=3, unique=True), st.data())
def test_a_count_is_that_of_the_list_behind_it(names, data):
    """A list supports the count of its things if a source has each of them."""
    count = data.draw(st.integers(2, 10))
    listed = f"{', '.join(names[:-1])} and {names[-1]}"
    for answer in (
        f"There are {WORDS[count]} large trees: {listed}.",
        f"There are {WORDS[count]} large trees:\n\n" + "\n".join(f"- **{name}**: it is tall" for name in names),
    ):
        source = f"On the hill stand trees that are tall: it is said that {listed} grow there."
        assert (missing(answer, source) == []) == (count == len(names) or count in (2, 3))
        if count == len(names) > 3:
            assert missing(answer, source.replace(names[0], "tree")) != []


@given(st.integers(2, 900), st.integers(2, 900), st.sampled_from(["rose", "increased", "fell", "dropped"]))
def test_a_change_goes_where_its_verb_says(start, end, verb):
    """A rise ends above, and a fall below."""
    assume(start != end)
    rises = verb in ("rose", "increased")
    source = f"Visits were {start} before and {end} behind."
    for answer in (f"Visits {verb} from {start} to {end}.", f"Visits {verb} to {end} from {start}."):
        assert (missing(answer, source) == []) == (rises == (end > start))


PIECES = ["open 9-5 ", "Mon-Fri ", "two votes to one ", "rose from 5 to 3 ", "four plans: a, b, c, d ", "the next day "]
PIECES += ["'", '"', "(", "[", ",", "7", "7,", "four a ", "\n- ", "14:00-16:00 ", "12 of 25 days ", "Monday and "]


@pytest.mark.parametrize("piece", PIECES)
def test_an_answer_is_read_in_linear_time(piece):
    """Four times the text takes about four times as long."""

    def read(chars):
        answer = piece * (chars // len(piece))
        source = f"It opened on 5 March and closed the next day, 14:00-16:00. {answer}x"
        unsupported_of_answer(f"{answer} 99", facts_in_text(source), texts=[source])

    assert_linear(read, 10_000, 40_000)

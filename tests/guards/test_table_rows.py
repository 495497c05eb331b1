"""What an answer says of one row of a table stands in that row."""

from __future__ import annotations

import pytest

from guardgraph.guards.rag.tables import check_cited_rows
from guardgraph.guards.stop import Stop

BOATS = """
| Boat | Seats | Price per day | Range |
| --- | --- | --- | --- |
| Heron | 4 | 90 EUR | 30 km |
| Swan | 8 | 140 EUR | 45 km |
| Gull | 12 | 210 EUR | 60 km |

All boats must be back by 18:00. A deposit of 60 km of rope is a joke."""
ASPECTS = """
| Feature | Heron | Swan |
| --- | --- | --- |
| Seats | 4 | 8 |
| Cabins | 2 | 3 |"""


def check(answer: str, text: str = BOATS, question: str = "Which boat?") -> list[str]:
    """Return the values of an answer that stand in another row than the one it names."""
    try:
        check_cited_rows(answer, question=question, chunks=[{"text": text}])  # type: ignore[typeddict-item]
    except Stop as stop:
        return list(stop.evidence["unsupported"])
    return []


@pytest.mark.parametrize(
    "answer",
    [
        "The Heron has 4 seats, costs 90 EUR per day and goes 30 km.",
        "The Swan goes 45 km, but the Gull goes 60 km.",
        "The Swan costs 140 EUR, which is 50 EUR more than the Heron.",
        "The Heron must be back by 18:00.",
        "Boats go up to 60 km.",
        "The largest one has 12 seats and costs 210 EUR.",
    ],
)
def test_what_stands_in_the_row_that_is_named_passes(answer):
    """Values of the row, of the text around the table, and sentences of several rows or of none are no other row's."""
    assert check(answer) == []


@pytest.mark.parametrize(
    ("answer", "wrong"),
    [
        ("The Heron goes 45 km.", "45 km"),
        ("The Heron has a price of 140 EUR per day.", "140 EUR per day"),
        ("The Swan has 12 seats.", "12"),
        ("The **Gull** costs 90 EUR.", "90 EUR"),
    ],
)
def test_a_value_of_another_row_is_refused(answer, wrong):
    """A sentence that names one row alone does not have its figure from another row of the column."""
    assert check(answer) == [wrong]


def test_tables_whose_columns_are_the_things_are_not_read():
    """The row "Seats" is no thing of which "3 cabins" would be another row's."""
    assert check("The Swan has 8 seats and 3 cabins.", ASPECTS) == []


def test_a_question_may_name_the_value():
    """What the question says may be repeated."""
    assert check("The Heron goes 45 km.", question="Does the Heron go 45 km?") == []


TIMES = """
| Pier | Boat 1 | Boat 2 |
| --- | --- | --- |
| Elm | 07:05 | 09:05 |
| Oak | 07:40 | 09:40 |"""


TARIFFS = """| Tariff | Data | Speed |
| --- | --- | --- |
| Smart | 25 GB | 150 Mbit/s |
| Large | 90 GB | 300 Mbit/s |"""


@pytest.mark.parametrize(
    ("answer", "text", "refused"),
    [
        ("Boat 2 is at Oak at 07:40.", TIMES, ["07:40"]),
        ("Boat 2 is at Oak at 9:05.", TIMES, ["9:05"]),
        ("Boat 2 is at Oak at 9:40 am.", TIMES, []),
        ("Boat 1 is at Oak at 07:40, 35 minutes after Elm.", TIMES, []),
        ("Oak has boats at 07:40 and 09:40.", TIMES, []),
        ("The seats of the Swan are 4.", ASPECTS, ["4"]),
        ("The seats of the Swan are 8.", ASPECTS, []),
        ("The range of the Gull is 60 km, and it has 12 seats.", BOATS, []),
        ("The speed of Smart drops behind 25 GB.", TARIFFS, []),
        ("The speed of Smart is 300 Mbit/s.", TARIFFS, ["300 Mbit/s"]),
    ],
)
def test_a_cell_of_another_column(answer, text, refused):
    """A sentence that names one row and one column has what stands in their cell."""
    assert check(answer, text) == refused

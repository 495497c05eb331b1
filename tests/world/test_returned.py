"""What proposers and tools return becomes plain JSON in one way, or is refused by name and place."""

import math
from collections import OrderedDict, namedtuple
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel
from rag_agents import CANDIDATE, INTENT, POLICY, QUESTION, agent
from tables import each_row
from test_plain import Colour, Count, Size, nested

from guardgraph.plain.conversion import Unreturnable, convert_to_plain_json
from guardgraph.plain.json import is_plain_json

Line = namedtuple("Line", ["item", "price"])


@dataclass
class Order:
    lines: list[Line]


class Bill(BaseModel):
    amount: Decimal
    due: date | None = None


CONVERTED = {
    "a date": (date(2026, 3, 6), "2026-03-06"),
    "a moment": (datetime(2026, 3, 6, 13, 5, tzinfo=UTC), "2026-03-06T13:05:00Z"),
    "a time of day": (time(13, 5), "13:05:00"),
    "a duration": (timedelta(minutes=90), "PT1H30M"),
    "a Decimal": (Decimal("1.10"), "1.10"),
    "a UUID": (UUID(int=3), "00000000-0000-0000-0000-000000000003"),
    "a number with a name": (Size.LARGE, 3),
    "a whole number of another library": (Count(), 7),
    "a fraction": (Fraction(1, 4), 0.25),
    "a tuple": ((1, 2.5), [1, 2.5]),
    "a mapping": (MappingProxyType({"a": OrderedDict(b=Colour.RED)}), {"a": {"b": "red"}}),
    "keys": ({1: "a", date(2026, 3, 6): "b", Colour.RED: "c"}, {"1": "a", "2026-03-06": "b", "red": "c"}),
    "a dataclass": (Order([Line("seat", Decimal("9.50"))]), {"lines": [{"item": "seat", "price": "9.50"}]}),
    "a model": (Bill(amount=Decimal("12.00")), {"amount": "12.00", "due": None}),
    "half a character": ({"a\ud800": ["b\udfff", "c\0"]}, {"a\ufffd": ["b\ufffd", "c\ufffd"]}),
}


REFUSED = {
    "bytes": (b"x", "a bytes"),
    "NaN": (math.nan, "NaN"),
    "more than 64 bits": (2**63, "a whole number of more than 64 bits"),
    "more than a float": (Fraction(10**400), "a number too large for a float"),
    "a set": ({1}, "a set"),
    "an object": (object(), "a object"),
    "a key that is none": ({None: 1}, "the key None"),
    "two keys that are one": ({1: "a", "1": "b"}, "two keys that are both '1'"),
    "too many levels": (nested(65), "more than 64 levels of nesting"),
}


@each_row(("value", "plain"), *CONVERTED.values())
def test_what_says_the_same_in_json_is_converted(value, plain):
    assert convert_to_plain_json(value) == plain
    assert convert_to_plain_json({"a": [value]}) == {"a": [plain]}
    assert is_plain_json(convert_to_plain_json(value))


@each_row(("value", "named"), *REFUSED.values())
def test_what_json_cannot_say_is_refused_by_name_and_place(value, named):
    with pytest.raises(Unreturnable) as caught:
        convert_to_plain_json({"rows": ["fine", {"amount": value}]})
    assert caught.value.given == named
    assert ".".join(caught.value.place).startswith("rows.1.amount")


ODD = st.sampled_from([value for value, _ in [*CONVERTED.values(), *REFUSED.values()]])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.decimals() | st.datetimes() | ODD,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text() | st.integers(), inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_any_value_is_plain_or_refused(value):
    """What comes out can be kept by every store and stays as it is; nothing else is raised."""
    with suppress(Unreturnable):
        plain = convert_to_plain_json(value)
        assert is_plain_json(plain)
        assert convert_to_plain_json(plain) is plain


@each_row("value", b"x", math.inf, {1}, 10**30)
def test_a_tool_that_returns_no_json_stops_the_run(value):
    """The reason names the tool, the details the place; nothing of it reaches the next proposer."""
    seen = []
    graph = agent(INTENT, seen.append, retriever=lambda request: [{**CANDIDATE, "title": value}], policy=POLICY)
    result = graph.invoke(QUESTION)
    assert (result["stop_reason"], seen) == ("tool_invalid_output:retrieve", [])
    assert result["details"]["place"] == "0.title"

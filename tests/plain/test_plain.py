"""JSON text in and out: any value becomes text, any text a value that is safe to keep."""

import json
import math
from collections import OrderedDict
from enum import Enum, IntEnum
from fractions import Fraction
from numbers import Integral
from types import MappingProxyType

import ormsgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from tables import each_row

from guardgraph.plain.json import (
    MAX_DEPTH,
    NotJson,
    excerpt_value,
    find_json_problem,
    format_json_text,
    make_storable_json,
    parse_json,
)


class Colour(str, Enum):  # noqa: UP042 - users still have them, and their str() is no value
    RED = "red"


class Size(IntEnum):
    LARGE = 3


class Count:
    def __int__(self):
        return 7


Integral.register(Count)

TEXTS = st.text(st.characters(codec=None), max_size=8) | st.sampled_from(["\ud800", "a\udfffb", "\x00", "é", "😀"])
ODD = [object(), {1, 2}, b"x", 1j, range(3), format_json_text, Colour.RED, Size.LARGE, 10**1000, -(10**400), 2**63]
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | TEXTS | st.sampled_from(ODD)
KEYS = TEXTS | st.integers() | st.none() | st.booleans() | st.tuples(st.integers())
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4) | st.tuples(inner, inner),
    max_leaves=20,
)
STORABLE = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=8)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats() | STORABLE,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(STORABLE, inner, max_size=4),
    max_leaves=20,
)
STRICT = JsonPlusSerializer(allowed_msgpack_modules=None)


def nested(levels, kind=list):
    value = kind()
    for _ in range(levels - 1):
        value = [value] if kind is list else {"a": value}
    return value


def same(one, other):
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def can_be_kept(value):
    return same(STRICT.loads_typed(STRICT.dumps_typed(value)), value) and "\\u0000" not in unescaped(value)


def unescaped(value):
    return json.dumps(value).replace("\\\\", "")


@given(VALUES)
def test_any_value_becomes_text_that_can_be_read_and_kept(value):
    """The text is ASCII; what is read from it can be kept in a checkpoint, and reads the same again."""
    text = format_json_text(value)
    assert text.isascii()
    read = parse_json(text)
    assert find_json_problem(read) is None
    assert can_be_kept(read)
    assert same(parse_json(format_json_text(read)), read)


@given(VALUES)
def test_any_value_can_be_shown_in_a_result(value):
    """What results show is strict JSON, without NaN, and fits into a message pack."""
    shown = make_storable_json(value)
    assert json.loads(json.dumps(shown, allow_nan=False)) == shown
    assert ormsgpack.unpackb(ormsgpack.packb(shown)) == shown
    assert make_storable_json(shown) == shown


@given(JSON, VALUES)
def test_plain_json_passes_unchanged(plain, value):
    """It has no problem, and what has none can be kept."""
    assert find_json_problem(plain) is None
    assert same(parse_json(format_json_text(plain)), plain)
    if find_json_problem(value) is None:
        assert can_be_kept(value)


@each_row(
    ("value", "shown"),
    (10**1000, "inf"),
    (2**63, 2.0**63),
    (math.nan, "nan"),
    ("a\ud800b", "a\ufffdb"),
    ("\ud83d\ude00", "😀"),
    ("a\x00b\x00", "a\ufffdb\ufffd"),
    ([{"\x00": ["\x00"]}], [{"\ufffd": ["\ufffd"]}]),
    ({"\udfff": 1, 2: 3, None: 4}, {"\ufffd": 1, "2": 3, "None": 4}),
    ((1, [2, (3,)]), [1, [2, [3]]]),
    (OrderedDict(a=1), {"a": 1}),
    (MappingProxyType({"a": {1}}), {"a": "nan"}),
    ({Colour.RED: Colour.RED}, {"red": "red"}),
    (Size.LARGE, 3),
    (Count(), 7),
    (Fraction(10**400), "inf"),
)
def test_what_json_cannot_say_is_named_or_left_out(value, shown):
    """No odd value looks like a right one: it becomes a name, a float, or the mark U+FFFD."""
    assert make_storable_json(value) == shown
    assert type(make_storable_json(value)) is type(shown)


@each_row(
    ("text", "value"),
    ("18446744073709551616", 2.0**64),
    ("9" * 5000, math.inf),
    ("1e999", math.inf),
    ('"\\ud800"', "\ufffd"),
    ('"\\ud83d\\ude00"', "😀"),
    ('{"a\\u0000": "\\u0000"}', {"a\ufffd": "\ufffd"}),
    (r'"\\u0000"', r"\u0000"),
    ('{"a": 1, "a": 2}', {"a": 2}),
)
def test_odd_texts_become_values_that_no_guard_takes_for_right(text, value):
    """Long integers become floats, lone surrogates and U+0000 U+FFFD."""
    assert parse_json(text) == value
    assert type(parse_json(text)) is type(value)


@each_row("text", "", "x", "{", '"\x00"', "{'a': 1}", "[1,]", "NaN1", "[" * 100_000, "[" * 5000 + "]" * 5000, "\ufeff1")
def test_no_json_is_said_to_be_none(text):
    with pytest.raises(NotJson):
        parse_json(text)


@each_row("kind", list, dict)
def test_nesting_ends_at_a_depth_that_checkpoints_can_hold(kind):
    """What is nested deeper, in tuples too, is cut with NaN, or named as a problem."""
    inside = nested(40, kind)
    for _ in range(40):
        inside = (inside,)
    assert "NaN" in format_json_text(inside)
    assert can_be_kept(parse_json(format_json_text(inside)))
    assert find_json_problem(nested(MAX_DEPTH, kind)) is None
    assert make_storable_json(nested(MAX_DEPTH, kind)) == nested(MAX_DEPTH, kind)
    assert can_be_kept(parse_json(format_json_text(nested(100_000, kind))))
    assert find_json_problem(nested(MAX_DEPTH + 1, kind)) == "more than 64 levels of nesting"
    assert "NaN" in format_json_text(nested(MAX_DEPTH + 1, kind))


def test_a_value_that_contains_itself_is_cut_at_once():
    wide = []
    wide.extend([wide] * 50)
    assert format_json_text(wide) == json.dumps([math.nan] * 50)
    assert find_json_problem(wide) == "more than 64 levels of nesting"
    shared = [1]
    assert make_storable_json([shared, shared]) == [[1], [1]]
    assert find_json_problem([shared, shared]) is None


@each_row(
    ("value", "problem"),
    (2**63, "a whole number of more than 64 bits"),
    ({"a": {"b": "\ud800"}}, "a text with lone surrogates or U+0000"),
    ({"\ud800": 1}, "a text with lone surrogates or U+0000"),
    (["a", {"b": "é\x00"}], "a text with lone surrogates or U+0000"),
    ({"a": {1: 2}}, "an object with keys that are no strings"),
    ([(1,)], "a tuple"),
    (MappingProxyType({}), "a mappingproxy"),
    (None, None),
    ({"a": [True, 1.5, math.nan, "é"]}, None),
)
def test_a_problem_is_named(value, problem):
    """A value that no state can hold is said to be so, wherever in it that is."""
    assert find_json_problem(value) == problem


def test_an_excerpt_is_cut():
    """Messages show values as JSON, texts as they are, at most so many characters of either."""
    assert excerpt_value("short") == "short"
    assert excerpt_value({"a": [1]}) == '{"a": [1]}'
    assert excerpt_value("x" * 200) == "x" * 117 + "..."
    assert len(excerpt_value([0] * 1000, limit=50)) == 50

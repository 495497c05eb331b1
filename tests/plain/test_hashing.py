"""Hashes of values: the same for the same value, however it was put together."""

import json
import math
from hashlib import sha256

import pytest
from hypothesis import given
from tables import each_row
from test_plain import JSON

from guardgraph.plain.hashing import canonical_json, digest


def shuffled(value):
    if isinstance(value, dict):
        return {key: shuffled(item) for key, item in reversed(value.items())}
    return [shuffled(item) for item in value] if isinstance(value, list) else value


@given(JSON.filter(lambda value: "NaN" not in json.dumps(value) and "Infinity" not in json.dumps(value)))
def test_the_text_is_the_value_and_knows_no_order_of_keys(value):
    """Canonical JSON reads back as the value, and is the same for keys in any order."""
    text = canonical_json(value)
    assert text.isascii()
    assert json.loads(text) == value
    assert canonical_json(shuffled(value)) == text
    assert digest(shuffled(value)) == digest(value) == sha256(text.encode()).hexdigest()


def test_the_form_is_fixed():
    """Sorted keys, no blanks, ASCII: another program can make the same text, and the same hash."""
    text = canonical_json({"b": [1, 1.0, "é"], "a": {"z": None, "y": True}})
    assert text == '{"a":{"y":true,"z":null},"b":[1,1.0,"\\u00e9"]}'
    assert digest({}) == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
    assert digest((1, 2)) == digest([1, 2]) != digest([2, 1])


@each_row(
    ("value", "error"), (math.nan, ValueError), ([math.inf], ValueError), ({"a": {1}}, TypeError), (b"a", TypeError)
)
def test_what_json_cannot_say_has_no_hash(value, error):
    """NaN, infinities and other types are refused, never hashed as something else."""
    for make in (canonical_json, digest):
        with pytest.raises(error):
            make(value)

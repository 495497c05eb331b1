"""Files of settings: what YAML says, with the line of every value, and what is refused with its line."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import each_row

from guardgraph.formats.yaml import (
    DIGITS,
    MAX_BYTES,
    MAX_LEVELS,
    MAX_VALUES,
    SHOWN_FINDINGS,
    SettingsDocument,
    WrongText,
    parse_yaml,
    read_settings_text,
)

NAMES = st.text("aé-1 😀", min_size=1, max_size=4)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)


def places(value, place=()):
    """Yield where each value stands, in the order in which `json.dumps` writes them."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*place, key)
        yield from places(item, (*place, key))


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(NAMES, JSON, max_size=4))
def test_a_text_of_json_is_read_as_json_and_each_value_has_its_line(value):
    text = json.dumps(value, indent=1)
    read, lines = parse_yaml(text)
    assert json.dumps(read) == json.dumps(value)
    assert [*lines] == [*places(value)]
    begins = [at for at, line in enumerate(text.split("\n"), 1) if at > 1 and line.strip(" ,") not in ("}", "]")]
    assert [*lines.values()] == begins


@each_row(
    ("text", "value"),
    ("", None),
    ("a: ~\nb: True\nc: FALSE\nd: yes", {"a": None, "b": True, "c": False, "d": "yes"}),
    ("[0o17, 0x1F, -12, +3, 1.5, .5, 1e3, .inf, -.INF, 1_0, 2024-01-01]",
     [15, 31, -12, 3, 1.5, 0.5, 1000.0, float("inf"), -float("inf"), "1_0", "2024-01-01"]),
    ("a: &x [1, 2]\nb: *x", {"a": [1, 2], "b": [1, 2]}),
    ('a: "1"\nb: \'true\'\n"\\ud83d\\ude00": |\n  x\n  y\n', {"a": "1", "b": "true", "😀": "x\ny\n"}),
)  # fmt: skip
def test_what_stands_without_quotes_means_what_the_core_schema_says(text, value):
    assert parse_yaml(text)[0] == value


@each_row(
    ("text", "line", "why"),
    ("a: 1\nb: [", 2, "not YAML: while parsing"),
    ("a: \x07", None, "not YAML"),
    ("a: 1\n---\nb: 2", 2, "one document is required"),
    ("%YAML 1.1\n---\na: 1", 2, "YAML 1.2 is required; given: 1.1"),
    ("a: 1\na: 2", 2, "'a': given twice, first in line 1"),
    ("\n? [a]\n: 1", 2, "a text is required as a key"),
    ("a: *x", 1, "stands whole above it is required; given: '*x'"),
    ("a: &x [*x]", 1, "stands whole above it is required"),
    ("a: !!int 1", 1, "plain values without tags are required"),
    ("!!str a: 1", 1, "plain values without tags are required"),
    (f"a: {'9' * (DIGITS + 1)}", 1, f"at most {DIGITS} digits is required; given: {DIGITS + 1}"),
    ("[" * (MAX_LEVELS + 1) + "]" * (MAX_LEVELS + 1), 1, f"at most {MAX_LEVELS} levels"),
    ("\n".join(["a: &a [1, 2, 3, 4, 5, 6, 7, 8]", *(f"{k}: &{k} [{', '.join([f'*{p}'] * 9)}]"
               for p, k in zip("abcde", "bcdef", strict=True))]), 5, f"at most {MAX_VALUES} values"),
)  # fmt: skip
def test_what_cannot_be_read_has_its_line(text, line, why):
    """Broken, doubled, tagged or endless: nothing is made of it before it is counted."""
    with pytest.raises(WrongText) as refused:
        parse_yaml(text)
    assert why in str(refused.value)
    assert refused.value.line == line
    parse_yaml("[" * MAX_LEVELS + "9" * DIGITS + "]" * MAX_LEVELS)


def test_findings_are_a_line_each_and_some_twenty_at_most():
    """With the line of the nearest place that stands in the file, and keys that a terminal can show."""
    _, lines = parse_yaml("a:\n  b: [1]\n")
    document = SettingsDocument("f.yaml", None, lines)
    found = [((), "x"), (("a", "b", 0), "y"), (("a", "c\x1b"), "z")]
    assert str(document.error(found)) == "f.yaml:1: x\nf.yaml:2: a.b.0: y\nf.yaml:1: a.c\\x1b: z"
    said = str(document.error([((), "x")] * (SHOWN_FINDINGS + 2))).split("\n")
    assert (len(said), said[-1]) == (SHOWN_FINDINGS + 1, "f.yaml: and 2 more")
    assert len(str(document.error([((), "x")] * SHOWN_FINDINGS)).split("\n")) == SHOWN_FINDINGS


def test_a_file_is_utf_8_and_of_bounded_size(tmp_path):
    file = tmp_path / "f.yaml"
    for content, why, line in (
        (b"a: 1\nb: \xff", "UTF-8 text is required; given: the byte 0xff", 2),
        (b" " * (MAX_BYTES + 1), f"at most {MAX_BYTES} bytes are allowed", None),
    ):
        file.write_bytes(content)
        with pytest.raises(WrongText, match=why) as refused:
            read_settings_text(file)
        assert refused.value.line == line
    file.write_bytes(b"\xef\xbb\xbf" + b" " * (MAX_BYTES - 3))
    assert read_settings_text(file) == " " * (MAX_BYTES - 3)
    for path, why in ((tmp_path, "a file is required"), (tmp_path / "none", "No such file"), ("a\0", "cannot be read")):
        with pytest.raises(WrongText, match=why):
            read_settings_text(path)

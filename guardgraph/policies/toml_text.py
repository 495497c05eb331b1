"""TOML as plain values. `tomllib` reads it; the lines of its keys are found beside it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from typing import Any

from guardgraph.tools.settings_file.document import MAX_LEVELS, Place, WrongText

__all__ = ["parse_toml"]

TOKEN = re.compile(
    r'(?P<text>"""(?:[^\\]|\\(?:.|\Z))*?(?:"{3,5}|\Z)|\'\'\'.*?(?:\'{3,5}|\Z)|"(?:[^"\\\n]|\\[^\n]?)*"?|\'[^\'\n]*\'?)'
    r"|(?P<comment>\#[^\n]*)|(?P<word>[A-Za-z0-9_+:-]+)|(?P<blank>[ \t\r]+)|(?P<mark>.)",
    re.DOTALL,
)
"""What a TOML text is made of, as far as lines and keys need it; a text may lack its end, else it is tried again."""
LINE = re.compile(r"\(at line (\d+), column \d+\)")


def parse_toml(text: str) -> tuple[Any, dict[Place, int]]:
    """Return the value of a TOML text, and the lines of its keys, from 1 on.

    Keys of an inline table have the line in which the table's own key stands.

    Raises:
        WrongText: it is no TOML, or has more levels than allowed.
    """
    statements = list(_statements(text))
    try:
        value = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        at = LINE.search(str(error))
        line = int(at[1]) if at else text.count("\n") + 1
        raise WrongText(f"not TOML: {LINE.sub('', str(error)).strip():.200}", line) from None
    except (ValueError, RecursionError):  # a number of thousands of digits, a date that is none
        raise WrongText("not TOML: a number of fewer digits is required") from None
    return value, _lines(statements)


def _statements(text: str) -> Iterator[tuple[int, list[tuple[str, str]]]]:
    """Yield what stands between the ends of lines, but for those inside of a value, with its line.

    Raises:
        WrongText: brackets, or parts of a key, are more than allowed: parsers are slow on them.
    """
    line, first, depth, dots = 1, 1, 0, 0
    tokens: list[tuple[str, str]] = []
    for found in TOKEN.finditer(text):
        kind, said = str(found.lastgroup), found[0]
        depth += (said in "[{") - (said in "]}") if kind == "mark" else 0
        dots = _dots(dots, kind, said)
        if depth > MAX_LEVELS or dots >= MAX_LEVELS:
            raise WrongText(f"at most {MAX_LEVELS} levels of nesting are allowed", line)
        line += said.count("\n")
        if said == "\n" and depth <= 0:
            yield first, tokens
            tokens, first, depth = [], line, 0
        elif kind not in ("blank", "comment") and said != "\n" and len(tokens) <= 4 * MAX_LEVELS:
            tokens.append((kind, said))  # a key, and more than it
    yield first, tokens


def _dots(before: int, kind: str, said: str) -> int:
    if said == "." and kind == "mark":
        return before + 1
    return before if kind in ("blank", "word", "text") and said != "\n" else 0


def _lines(statements: list[tuple[int, list[tuple[str, str]]]]) -> dict[Place, int]:
    lines: dict[Place, int] = {}
    table: Place = ()
    for line, tokens in statements:
        is_table = bool(tokens) and tokens[0] == ("mark", "[")
        key = tuple(_key(tokens, "]" if is_table else "="))
        if is_table:
            table = key
        place = key if is_table else (*table, *key)
        for size in range(1, len(place) + 1) if key else ():
            lines.setdefault(place[:size], line)
    return lines


def _key(tokens: list[tuple[str, str]], end: str) -> Iterator[str]:
    for kind, said in tokens:
        if (kind, said) == ("mark", end):
            return
        if kind == "text":
            yield said[1:-1] if said.startswith("'") else next(iter(tomllib.loads(f"{said} = 0")))
        elif kind == "word":
            yield said

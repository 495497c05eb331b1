"""Every regular expression of the package takes time that grows with its text and no faster.

The list is made from the code: each compiled pattern that a module keeps, tried on texts that are made of the very
letters that it looks for.
"""

import importlib
import os
import pkgutil
import re
import time
from collections.abc import Iterator, Mapping
from functools import partial
from inspect import signature
from itertools import permutations, product
from pathlib import Path
from re import _constants, _parser

import pytest
from growth import assert_linear

import guardgraph

FEW_CHARS, SECONDS = 8_000, 0.03
"""What a pattern whose time grows with the square of its text takes for so many characters, on a slow machine twice."""
LETTERS = 5
COMMON = (" ", "\n", "a", "A", "0", ".", ",", "-", "'", '"', "(", "\u201a", "\u00e9", "\u0301", "\u4e00")
CLASSES = {"SPACE": " \n", "DIGIT": "0", "WORD": "a0", "NOT_SPACE": "a", "NOT_DIGIT": "a ", "NOT_WORD": " ."}


def list_patterns() -> dict[str, re.Pattern[str]]:
    """Return the patterns of texts that modules keep, by module and name."""
    found, seen = dict[str, re.Pattern[str]](), set[int]()
    for module in pkgutil.walk_packages(guardgraph.__path__, "guardgraph."):
        if module.name.rpartition(".")[2] == "__main__":
            continue
        try:
            held = vars(importlib.import_module(module.name))
        except ImportError:  # of an extra that is not installed
            continue
        for name, value in [*held.items()]:
            waits = name.startswith("_compile_") and not signature(value).parameters  # for its first text
            for at, pattern in enumerate(_patterns_in(value() if waits else value)):
                if id(pattern) not in seen and isinstance(pattern.pattern, str):
                    seen.add(id(pattern))
                    found[f"{module.name}.{name}" + (f".{at}" if at else "")] = pattern
    return found


def _patterns_in(value: object, depth: int = 0) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern):
        yield value
    elif depth < 3 and isinstance(value, Mapping | tuple | list):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _patterns_in(item, depth + 1)


def letters_of(pattern: re.Pattern[str]) -> list[str]:
    """Return letters that a pattern looks for, and some that it does not."""
    found = dict[str, None]()
    waiting: list[object] = [_parser.parse(pattern.pattern, pattern.flags)]
    while waiting and len(found) < 4 * LETTERS:
        item = waiting.pop(0)
        match item:
            case (_constants.LITERAL | _constants.NOT_LITERAL, int(code)):
                found[chr(code)] = None
            case (_constants.RANGE, (int(first), int(_))):
                found[chr(first)] = None
            case (_constants.CATEGORY, category):
                found |= dict.fromkeys(CLASSES.get(str(category).removeprefix("CATEGORY_"), ""))
            case tuple() | list() | _parser.SubPattern():
                waiting.extend(item)
    own = [letter for letter in found if letter.isprintable() or letter.isspace()]
    return [*own[:LETTERS], *(letter for letter in COMMON if letter not in own[:LETTERS])]


def hostile_texts(pattern: re.Pattern[str], chars: int) -> Iterator[str]:
    """Yield texts of one letter, of one behind another one, and of two in turn."""
    letters = letters_of(pattern)
    for letter in letters:
        yield letter * chars
    for one, two in permutations(letters[:LETTERS], 2):
        yield one + two * chars
        yield (one + two) * (chars // 2)
    for one, two in product(letters[:4], letters[LETTERS : LETTERS + 4]):
        yield (one + two) * (chars // 2)
        yield (one + one + two) * (chars // 3)


ROOT = Path(guardgraph.__file__).parent
SOURCES = {path: path.read_text("utf-8") for path in ROOT.rglob("*.py")}
CALLED = r"\.(match|fullmatch|search|finditer|findall|sub|subn|split)\b"


def ways_of(name: str) -> frozenset[str]:
    """Return how the code uses a pattern: `fullmatch` and `match` look at the beginning of a text alone."""
    modules = {_name_module(path): text for path, text in SOURCES.items()}
    own = max((module for module in modules if name.startswith(f"{module}.")), key=len)
    constant = name.removeprefix(f"{own}.").split(".")[0]
    texts = [modules[own]] if constant.startswith("_") else modules.values()
    return frozenset(way for text in texts for way in re.findall(rf"\b{constant}{CALLED}", text))


def _name_module(path: Path) -> str:
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def spent(pattern: re.Pattern[str], text: str, ways: frozenset[str]) -> float:
    """Return the seconds in which a text is looked through, in the ways that the code uses."""
    begun = time.thread_time()
    if ways - {"match", "fullmatch"}:
        for _ in pattern.finditer(text):
            pass
    if not ways or "match" in ways:  # those of a table are held against the beginning of a line
        pattern.match(text)
    if "fullmatch" in ways:
        pattern.fullmatch(text)
    return time.thread_time() - begun


SHORT = {
    "guardgraph.grounding.links.finding._SCHEME",
    "guardgraph.grounding.scanning._NOUN_BEFORE",
    "guardgraph.guards.tools.reading._EXCEPTIONS",
}
"""Patterns that are shown a hundred characters of a text at most."""

PATTERNS = {name: pattern for name, pattern in list_patterns().items() if name not in SHORT}
ROOMS = sorted({name.split(".")[1] for name in PATTERNS})


def test_there_are_patterns():
    """The list is made from the code, and so it is long; what is left out of it is in the code, too."""
    assert len(PATTERNS) > 100
    assert list_patterns().keys() >= SHORT


def test_no_group_is_possessive():
    """Pythons before 3.11.5 lose letters where a group in parentheses gives nothing back (python/cpython#106052)."""
    possessive = re.compile(r"(?<!\\)\)(?:[*+?]|\{[\d,]+\})\+|\(\?>")
    texts = {name: pattern.pattern for name, pattern in list_patterns().items()}
    texts |= {str(file): file.read_text(encoding="utf-8") for file in Path(guardgraph.__path__[0]).rglob("*.py")}
    assert [name for name, text in texts.items() if possessive.search(text)] == []
    assert possessive.search(r"a(?:b++)*+")


@pytest.mark.parametrize("room", ROOMS)
def test_patterns_take_linear_time(room):
    """Four times the text takes at most eight times as long, on texts of the letters that it looks for."""
    for name, pattern in PATTERNS.items():
        if name.split(".")[1] == room:
            hold_to_linear_time(pattern, ways_of(name))


def hold_to_linear_time(pattern: re.Pattern[str], ways: frozenset[str]) -> None:
    """Fail with the text for which a pattern takes too long."""
    for text in hostile_texts(pattern, FEW_CHARS):
        if spent(pattern, text, ways) > SECONDS:
            try:
                work = partial(lambda text, chars: spent(pattern, text[:chars], ways), text)
                assert_linear(work, FEW_CHARS // 4, FEW_CHARS, spare=0.005)
            except AssertionError as error:
                error.add_note(f"{text[:12]!r} {pattern.pattern[:200]}")
                raise
    if int(os.environ.get("GUARDGRAPH_EXAMPLES", "12")) > 100:  # the nightly lane
        for text in hostile_texts(pattern, 100_000):
            assert any(spent(pattern, text, ways) < 2 for _ in range(3)), (text[:12], pattern.pattern[:200])

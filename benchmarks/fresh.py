"""Texts that no run before had, as in life: a guard that keeps what it made of the latest texts must read these anew.

They are made beforehand, more of them than anything keeps. What recurs in life recurs here too: the documents of the
knowledge base, the words of a language, hosts, short phrases and names.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import cycle, islice, product
from string import ascii_lowercase
from typing import Any

POOL = 600
"""How many there are of each; facts of at most 512 texts are kept, and a run reads several."""

_END = re.compile(r"(?=[.?](?:\s|$))")


def words() -> list[str]:
    """Return words that mean nothing, the same ones every time."""
    return ["zq" + "".join(letters) for letters in islice(product(ascii_lowercase, repeat=3), POOL)]


def marked(value: Any, word: str) -> Any:
    """Return JSON whose sentences each end with the word; names, URLs and short phrases stay."""
    if isinstance(value, dict):
        return {key: marked(item, word) for key, item in value.items()}
    if isinstance(value, list):
        return [marked(item, word) for item in value]
    if not isinstance(value, str) or value.count(" ") < 3:
        return value
    return _END.sub(f" {word}", value) if value.endswith((".", "?")) else f"{_END.sub(f' {word}', value)} {word}"


def word_of(text: str) -> str:
    """Return the word that a marked text ends with."""
    return text.rstrip(".?").rsplit(" ", 1)[1]


def in_turn(values: list[Any]) -> Callable[..., Any]:
    """Return a function that returns one value after the other, whatever it is asked."""
    turn = cycle(values)
    return lambda *asked: next(turn)

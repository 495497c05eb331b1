"""What was made of the latest texts and contexts.

Several guards of a run read the same text, and runs share words, URLs and the documents of a knowledge base.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Concatenate, ParamSpec, TypeVar

from guardgraph.plain.json import JsonValue

__all__ = ["remembered", "remembered_json"]

_Rest = ParamSpec("_Rest")
_Made = TypeVar("_Made")
_OfText = Callable[Concatenate[str, _Rest], _Made]
_OfJson = Callable[Concatenate[JsonValue, _Rest], _Made]


def remembered(*, texts: int, chars: int) -> Callable[[_OfText[_Rest, _Made]], _OfText[_Rest, _Made]]:
    """Let a function keep its latest answers, in bounded memory.

    Args:
        texts: how many answers are kept at most.
        chars: the longest text, in characters, whose answer is kept; what is made of a longer one is made again.

    Returns:
        A decorator for a pure function of a text, and of hashable values beside it, whose answer nobody changes.
    """

    def decorate(function: _OfText[_Rest, _Made]) -> _OfText[_Rest, _Made]:
        known: _OfText[_Rest, _Made] = lru_cache(maxsize=texts)(function)

        @wraps(function)
        def remembering(text: str, /, *args: _Rest.args, **kwargs: _Rest.kwargs) -> _Made:
            if len(text) > chars:
                return function(text, *args, **kwargs)
            return known(text, *args, **kwargs)

        return remembering

    return decorate


def remembered_json(*, values: int, chars: int) -> Callable[[_OfJson[_Rest, _Made]], _OfJson[_Rest, _Made]]:
    """Let a function of a JSON value keep its latest answers, in bounded memory.

    Args:
        values: how many answers are kept at most.
        chars: the longest value, in characters of its JSON text, whose answer is kept.

    Returns:
        A decorator for a pure function of a value, and of hashable values beside it, whose answer nobody changes.
    """

    def decorate(function: _OfJson[_Rest, _Made]) -> _OfJson[_Rest, _Made]:
        def made(item: _ByText, *args: _Rest.args, **kwargs: _Rest.kwargs) -> _Made:
            value, item.value = item.value, None  # the text is the key: nobody's data is kept alive
            return function(value, *args, **kwargs)

        known: Callable[..., _Made] = lru_cache(maxsize=values)(made)

        @wraps(function)
        def remembering(value: JsonValue, /, *args: _Rest.args, **kwargs: _Rest.kwargs) -> _Made:
            try:
                text = json.dumps(value)
            except (TypeError, ValueError, RecursionError):  # no JSON, or nested without end
                return function(value, *args, **kwargs)
            if len(text) > chars:
                return function(value, *args, **kwargs)
            return known(_ByText(text, value), *args, **kwargs)

        return remembering

    return decorate


class _ByText:
    """A JSON value that is looked up by its text."""

    __slots__ = ("text", "value")

    def __init__(self, text: str, value: JsonValue) -> None:
        self.text, self.value = text, value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ByText) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

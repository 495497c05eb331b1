"""What was made of the latest short texts.

Several guards of a run read the same text, and runs share words, URLs and the documents of a knowledge base. Python's
own `lru_cache` bounds how many texts it holds and not how long they are, and what a model or a page wrote may be long.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Concatenate, ParamSpec, TypeVar

_Rest = ParamSpec("_Rest")
_Made = TypeVar("_Made")
_OfText = Callable[Concatenate[str, _Rest], _Made]


def remember_by_text(*, texts: int, chars: int) -> Callable[[_OfText[_Rest, _Made]], _OfText[_Rest, _Made]]:
    """Let a function keep its latest answers, in bounded memory."""

    def decorate_with_memory(function: _OfText[_Rest, _Made]) -> _OfText[_Rest, _Made]:
        known: _OfText[_Rest, _Made] = lru_cache(maxsize=texts)(function)

        @wraps(function)
        def call_with_memory(text: str, /, *args: _Rest.args, **kwargs: _Rest.kwargs) -> _Made:
            if len(text) > chars:
                return function(text, *args, **kwargs)
            return known(text, *args, **kwargs)

        return call_with_memory

    return decorate_with_memory

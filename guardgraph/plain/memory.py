"""What was made of the latest short texts.

Several guards of a run read the same text, and runs share words, URLs and the documents of a knowledge base. Python's
own `lru_cache` bounds how many texts it holds and not how long they are, and what a model or a page wrote may be long.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, update_wrapper, wraps
from inspect import signature
from threading import Lock
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

_Rest = ParamSpec("_Rest")
_Made = TypeVar("_Made")
_OfText = Callable[Concatenate[str, _Rest], _Made]


def remember_by_text(*, texts: int, chars: int) -> Callable[[_OfText[_Rest, _Made]], _OfText[_Rest, _Made]]:
    """Let a function keep answers, in bounded memory: of the latest `texts`, none longer than `chars`."""

    def decorate_with_memory(function: _OfText[_Rest, _Made]) -> _OfText[_Rest, _Made]:
        if len(signature(function).parameters) == 1:
            return cast(_OfText[_Rest, _Made], _Answers(function, texts, chars))
        known: _OfText[_Rest, _Made] = lru_cache(maxsize=texts)(function)

        @wraps(function)
        def call_with_memory(text: str, /, *args: _Rest.args, **kwargs: _Rest.kwargs) -> _Made:
            if len(text) > chars:
                return function(text, *args, **kwargs)
            return known(text, *args, **kwargs)

        return call_with_memory

    return decorate_with_memory


class _Answers(dict[str, Any]):
    """The answers of a function of one text; one that is known is a look into a dictionary, and no call."""

    __call__ = dict.__getitem__

    def __init__(self, function: Callable[..., Any], texts: int, chars: int) -> None:
        self._function, self._texts, self._chars, self._writing = function, texts, chars, Lock()
        update_wrapper(self, function)

    def __missing__(self, text: str) -> Any:
        made = self._function(text)
        if len(text) <= self._chars:
            with self._writing:
                if len(self) >= self._texts:
                    del self[next(iter(self))]  # the one that was kept first
                self[text] = made
        return made

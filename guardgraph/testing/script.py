"""A script: items that are played one a call."""

from __future__ import annotations

from collections.abc import Iterable
from threading import Lock
from typing import Any

__all__ = ["Script", "ScriptExhausted"]


class ScriptExhausted(AssertionError):
    """More calls were made than the script has items: the test, or what it tests, is wrong."""


class Script:
    """Items that are played one a call; exceptions are raised."""

    def __init__(self, owner: str, items: Iterable[Any], *, loop: bool) -> None:
        self._owner = owner
        self._items = tuple(items)
        self._loop = loop
        self._lock = Lock()
        self._calls: list[Any] = []

    def calls(self) -> list[Any]:
        """Return the calls so far, in order."""
        with self._lock:
            return list(self._calls)

    def play(self, call: Any) -> Any:
        """Note a call and return its item; an exception is raised."""
        with self._lock:
            self._calls.append(call)
            made, scripted = len(self._calls), len(self._items)
        if made > scripted and not (self._loop and scripted):
            raise ScriptExhausted(f"{self._owner}: call {made}, but the script has {scripted} item(s)")
        item = self._items[min(made, scripted) - 1]
        if isinstance(item, BaseException) or (isinstance(item, type) and issubclass(item, BaseException)):
            raise item
        return item

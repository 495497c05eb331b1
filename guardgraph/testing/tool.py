"""A tool that follows a script."""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from typing import Any

from guardgraph.plain.json import JsonObject
from guardgraph.testing.script import Script

__all__ = ["ScriptedTool", "scripted_tool"]


class ScriptedTool:
    """A callable of one dictionary that answers from a script; thread-safe. Made by `scripted_tool`."""

    def __init__(self, results: Iterable[Any], *, loop: bool, name: str) -> None:
        self._script = Script(name, results, loop=loop)

    @property
    def calls(self) -> list[JsonObject]:
        """The requests so far, in order, as they were when they were made."""
        return self._script.calls()

    def __call__(self, request: JsonObject) -> Any:
        """Play the next item.

        Raises:
            ScriptExhausted: the script has run out.
        """
        item = self._script.play(deepcopy(request))
        return item(request) if callable(item) else deepcopy(item)


def scripted_tool(*results: Any, loop: bool = False, name: str = "scripted_tool") -> ScriptedTool:
    """Return a tool that answers from a script, one item a call.

    Args:
        results: values; exceptions (raised); or callables (called with the request, their result returned).
        loop: play the last item again for every further call.
        name: how `ScriptExhausted` calls it.
    """
    return ScriptedTool(results, loop=loop, name=name)

"""How large a value is as JSON text, found out without making that text of a value that is far too large."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from guardgraph.plain.json import MAX_DEPTH, JsonValue

__all__ = ["INPUT_BYTES", "REPLY_BYTES", "Room", "TooLarge", "check_room", "is_larger", "json_bytes"]

INPUT_BYTES = 2**20
"""Bytes that a field of an input may have where a budget says nothing else: some hundred pages of text."""

REPLY_BYTES = 4 * 2**20
"""Bytes that a reply may have where a budget says nothing else: a hundred times what the longest model writes."""


_LONGEST = 25
"""Bytes for one that `check_room` counts: a number may have so many, a character six."""


class TooLarge(ValueError):
    """A value takes more bytes than there is room for."""


class Room:
    """Bytes that a value may take as JSON text, counted down while somebody walks through it.

    Args:
        most: bytes.
    """

    __slots__ = ("left",)

    def __init__(self, most: int) -> None:
        self.left = most

    def take(self, size: int) -> None:
        """Count some bytes.

        Raises:
            TooLarge: there is not so much room.
        """
        self.left -= size
        if self.left < 0:
            raise TooLarge("a value is larger than allowed")


def check_room(value: object, most: int) -> int:
    """Refuse a value of dictionaries, lists and texts that certainly takes more room, no further read than `most`.

    What stands deeper than `MAX_DEPTH`, and whatever is neither of these, is counted as one byte.

    Args:
        value: anything.
        most: bytes as JSON text.

    Returns:
        The bytes that it takes at least.

    Raises:
        TooLarge: characters and what stands around them are more than `most` already.
    """
    room = Room(most)
    with suppress(_TooDeep):
        _walk(value, room, MAX_DEPTH)
    return most - room.left


def is_larger(value: JsonValue, most: int) -> bool:
    """Say whether plain JSON takes more than `most` bytes.

    Args:
        value: plain JSON; numbers for which JSON has no form are counted by their names.
        most: bytes as JSON text.
    """
    try:
        least = check_room(value, most)
    except TooLarge:
        return True
    return least * _LONGEST > most and json_bytes(value) > most


def json_bytes(value: JsonValue) -> int:
    """Return the size of plain JSON: bytes of its text in UTF-8, without blanks between."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


class _TooDeep(Exception):
    """There is more nesting than anybody allows: no need to count, and without an end to it where lists hold lists."""


def _walk(value: Any, room: Room, levels: int) -> None:
    kind = type(value)
    if kind is not str and kind is not dict and kind is not list:
        room.take(1)
    elif kind is str:
        room.take(len(value) + 2)
    else:
        if levels == 0:
            raise _TooDeep
        room.take(len(value) * (2 if kind is dict else 1) + 1)
        if kind is dict:
            for key in value:
                _walk(key, room, levels - 1)
            value = value.values()
        for item in value:
            _walk(item, room, levels - 1)

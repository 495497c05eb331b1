"""What of a folder was not read, and why."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable
from typing import Final, Literal, NamedTuple

__all__ = ["LeftOut", "LeftOutReason", "Unread", "describe_left_out", "shown_name"]

LeftOutReason = Literal[
    "another format",
    "empty",
    "hidden",
    "link out of the folder",
    "link to a folder",
    "link to a file already read",
    "broken link",
    "no regular file",
]
"""An empty file has no text that a reader sees; what is no regular file is a pipe, a socket or a device."""


class LeftOut(NamedTuple):
    """A file, a link or a hidden folder that was not read."""

    name: str
    """The path under the root."""
    reason: LeftOutReason


class Unread(NamedTuple):
    """A file or a folder that may not be read, or cannot."""

    name: str
    """The path under the root."""
    reason: str
    """What the system says."""


_NAMES: Final = 3
"""So many names stand for all that were left out for one reason."""
_NAME_CHARS: Final = 60


def describe_left_out(left_out: Iterable[LeftOut]) -> str:
    """Return how many were left out for each reason, with their first names, on one line."""
    names = defaultdict[str, list[str]](list)
    for name, reason in left_out:
        names[reason].append(name)
    return "; ".join(f"{reason}: {len(of)} ({_first(of)})" for reason, of in sorted(names.items()))


def _first(names: list[str]) -> str:
    shown = [name if len(name) <= _NAME_CHARS else f"{name[:_NAME_CHARS]}…" for name in names[:_NAMES]]
    return ", ".join(shown + ["…"] * (len(names) > _NAMES))


def shown_name(parts: Iterable[str]) -> str:
    """Return a path under the root as a text; bytes of it that are no UTF-8 are shown as U+FFFD."""
    return os.fsencode("/".join(parts)).decode("utf-8", "replace")

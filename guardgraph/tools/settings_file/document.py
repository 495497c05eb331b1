"""A file of settings as plain values, with the line of each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from guardgraph.plain.errors import ConfigurationError

__all__ = ["MAX_BYTES", "MAX_LEVELS", "MAX_VALUES", "SHOWN_FINDINGS", "Document", "Place", "WrongText", "text_of"]

MAX_BYTES = 1_000_000
"""Bytes that a file may have."""
MAX_VALUES = 50_000
"""Values that a file may have, each counted as often as it is named."""
MAX_LEVELS = 16
"""Levels of nesting, and parts of a key."""
SHOWN_FINDINGS = 20
"""Lines that an error has at most."""

Place: TypeAlias = "tuple[int | str, ...]"
"""Keys and indices that lead to a value."""


class WrongText(ValueError):
    """A text that cannot be read.

    Args:
        why: what is wrong, and what is allowed.
        line: where, from 1 on; None for the whole.
    """

    def __init__(self, why: str, line: int | None = None) -> None:
        super().__init__(why)
        self.line = line


@dataclass(frozen=True, slots=True)
class Document:
    """What a file says."""

    file: str
    value: Any
    lines: dict[Place, int]
    """Where keys and items stand, from 1 on."""

    def error(self, found: Iterable[tuple[Place, str]]) -> ConfigurationError:
        """Return what says in a line for every finding where it is and what is wrong."""
        said = [self._line(place, why) for place, why in found]
        more = [f"{self.file}: and {len(said) - SHOWN_FINDINGS} more"] if len(said) > SHOWN_FINDINGS else []
        return ConfigurationError("\n".join([*said[:SHOWN_FINDINGS], *more]))

    def _line(self, place: Sequence[int | str], why: str) -> str:
        known = next((place[:size] for size in range(len(place), 0, -1) if place[:size] in self.lines), ())
        field = ".".join(map(_legible, place))
        return f"{self.file}:{self.lines.get(tuple(known), 1)}: {f'{field}: ' if field else ''}{why}"


def _legible(part: int | str) -> str:
    """Return a key as a message can show it, on one line."""
    said = str(part)
    return (said if said.isprintable() else repr(said)[1:-1])[:80]


def text_of(path: str | Path) -> str:
    """Return the text of a file.

    Raises:
        WrongText: there is no such file, it is too long, or is no UTF-8 text.
    """
    try:
        file = Path(path)
        if file.exists() and not file.is_file():
            raise WrongText("a file is required")
        with file.open("rb") as opened:
            content = opened.read(MAX_BYTES + 1)
    except OSError as error:
        raise WrongText(f"cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise error if isinstance(error, WrongText) else WrongText(f"cannot be read: {error}") from None
    if len(content) > MAX_BYTES:
        raise WrongText(f"at most {MAX_BYTES} bytes are allowed")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise WrongText(f"UTF-8 text is required; given: the byte 0x{content[error.start]:02x}", line) from None

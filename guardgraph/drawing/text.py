"""Texts as pictures show them: nothing that steers or hides, cut to what fits, and how wide they will be."""

from __future__ import annotations

from unicodedata import east_asian_width

from guardgraph.plain.letters import escape_letter, is_harmless_text


def fit_label(text: str, limit: int) -> str:
    r"""Return a text with letters that steer or hide as escapes, such as ``\x1b``, cut to `limit` cells."""
    safe = text if is_harmless_text(text) else "".join(map(_escape_label_letter, text))
    if measure_cells(safe) <= limit:
        return safe
    while measure_cells(safe) > limit - 1:
        safe = safe[: min(limit, len(safe) - 1)]
    return f"{safe}…"


def measure_cells(text: str) -> int:
    """Return how many letters of a fixed width a text takes; those of East Asia take two."""
    return len(text) if text.isascii() else sum(map(_measure_cell, text))


def _escape_label_letter(letter: str) -> str:
    return letter if is_harmless_text(letter) else escape_letter(letter)


def _measure_cell(letter: str) -> int:
    return 2 if east_asian_width(letter) in "WF" else 1

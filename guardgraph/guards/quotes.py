"""Whether a quote stands in a text, word for word."""

from __future__ import annotations

import re

__all__ = ["comparable", "stands_in"]

_MARKS = str.maketrans(dict.fromkeys("‘’‚‛‹›＇", "'") | dict.fromkeys("“”„‟«»＂", '"'))

_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")


def comparable(text: str) -> str:
    """Return a text with runs of white space as one blank and typographic quote marks as straight ones."""
    return " ".join((text if text.isascii() else text.translate(_MARKS)).split())


def stands_in(quote: str, text: str) -> bool:
    """Say whether a text contains a quote verbatim, white space and quote marks aside.

    A number counts as a whole: ``3.4%`` is no quote from ``13.4%``, nor ``99`` from ``99.95``.

    Args:
        quote: what is said to be quoted.
        text: what it is said to be quoted from.
    """
    return _with_whole_numbers(quote) in _with_whole_numbers(text)


def _with_whole_numbers(text: str) -> str:
    # A comparable text holds no line break, so line breaks can mark where its numbers begin and end.
    return _NUMBER.sub(lambda number: f"\n{number[0]}\n", comparable(text))

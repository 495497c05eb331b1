"""Which letters could steer or hide where a text is shown: on a page, in a picture, on a terminal."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["escaped", "is_harmless", "is_odd"]

_JOINERS = "\u200c\u200d"
"""Invisible, but scripts and emoji are spelled with them."""

_UNSEEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\U000e0100-\U000e01ef]")
"""Printable by their category, but drawn as nothing; whole texts have been hidden in the last of them."""


def is_harmless(text: str) -> bool:
    """Say whether a text can be shown as it is, wherever that is."""
    return text.isprintable() and (text.isascii() or not _UNSEEN.search(text))


def is_odd(letter: str) -> bool:
    """Say whether a letter could steer or hide where it is shown; line ends, tabs and other blanks could not."""
    if is_harmless(letter) or letter in "\n\t" or letter in _JOINERS:
        return False
    return unicodedata.category(letter) != "Zs"


def escaped(letter: str) -> str:
    r"""Return a letter as its escape, such as ``\u202e``."""
    return ascii(letter)[1:-1]

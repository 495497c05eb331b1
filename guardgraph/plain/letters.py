"""Letters: which are the same, and which could steer or hide where a text is shown."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise
from typing import Literal

_JOINERS = "\u200c\u200d"  # invisible, but scripts and emoji are spelled with them
_UNSEEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\U000e0100-\U000e01ef]")
"""Printable by their category, but drawn as nothing; whole texts have been hidden in the last of them."""


def is_harmless_text(text: str) -> bool:
    """Say whether a text can be shown as it is, wherever that is."""
    return text.isprintable() and (text.isascii() or not _UNSEEN.search(text))


def is_odd_letter(letter: str) -> bool:
    """Say whether a letter could steer or hide where it is shown; line ends, tabs and other blanks could not."""
    if is_harmless_text(letter) or letter in "\n\t" or letter in _JOINERS:
        return False
    return unicodedata.category(letter) != "Zs"


def escape_letter(letter: str) -> str:
    r"""Return a letter as its escape, such as ``\u202e``."""
    return ascii(letter)[1:-1]


def escape_odd_letters(text: str) -> str:
    """Return a text with its odd letters as escapes."""
    if is_harmless_text(text):
        return text
    return "".join(escape_letter(letter) if is_odd_letter(letter) else letter for letter in text)


_LONGEST_RUN = 30
"""Characters. No writing system puts more marks on one letter (Unicode Standard Annex #15, section 13)."""

_LONG_RUN = re.compile(rf"[\W\uff9e\uff9f]{{{_LONGEST_RUN + 1},}}")
"""Where more marks than that could follow each other; the half-width sound marks count as letters elsewhere."""


def normalise_to_nfkc(text: str) -> str:
    """Return a text in its compatibility form: full-width, ligature and composed letters are the plain ones."""
    return text if text.isascii() else _normalise_unicode("NFKC", text)


def normalise_to_nfc(text: str) -> str:
    """Return a text in its composed form, NFC: letters with their marks as one character. In linear time, likewise."""
    return text if text.isascii() else _normalise_unicode("NFC", text)


def _normalise_unicode(form: Literal["NFC", "NFKC"], text: str) -> str:
    runs = (match.span() for match in _LONG_RUN.finditer(text))
    cuts = [at for start, end in runs for at in range(start + _LONGEST_RUN, end, _LONGEST_RUN)]
    if not cuts:
        return unicodedata.normalize(form, text)
    parts = pairwise([0, *cuts, len(text)])
    return "".join(unicodedata.normalize(form, text[start:end]) for start, end in parts)


LOOKALIKES = str.maketrans("асԁеһіјӏорѕухοαιρυν", "acdehijlopsyxoaipuv")
"""Cyrillic and Greek small letters and the Latin ones they are mistaken for (from UTS #39, confusables)."""


def read_as_latin(text: str) -> str:
    """Return a text letter for letter as somebody who knows Latin letters reads it, in lower case, without accents."""
    if text.isascii():
        return text.lower()
    return "".join(map(_read_letter_as_latin, text)).translate(LOOKALIKES)


def _read_letter_as_latin(letter: str) -> str:
    read = unicodedata.normalize("NFKD", letter)[:1].casefold()
    return read if len(read) == 1 else letter


_UNSPACED = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Burmese
    (0x1780, 0x17FF),  # Khmer
    (0x3040, 0x30FF),  # Hiragana, Katakana
    (0x31F0, 0x9FFF),  # Katakana extensions, Chinese characters
    (0xF900, 0xFAFF),
    (0xFF66, 0xFF9F),  # half-width Katakana
    (0x20000, 0x3FFFF),
)


def is_unspaced_letter(letter: str) -> bool:
    """Say whether a letter is of a script that puts no blanks between words."""
    return letter >= "\u0e00" and any(first <= ord(letter) <= last for first, last in _UNSPACED)

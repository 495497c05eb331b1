"""Which characters of a text are drawn as nothing, and the text without them."""

from __future__ import annotations

import re
from typing import Final

from guardgraph.plain.letters import normalise_to_nfc

_IGNORABLE: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Default_Ignorable_Code_Point (Unicode, DerivedCoreProperties), but for the joiners and Mongolian's selectors.

Among them are zero-width characters, the controls of direction, tags, and selectors of variants, in which whole texts
have been hidden.
"""
_JOINED: Final = "\u0590-\u08ff\u0900-\u0dff\u0f00-\u109f\u1780-\u18af\ua840-\uabff\ufb1d-\ufdff\ufe70-\ufefc"
"""Scripts that spell words with the two joiners: Arabic and its kin, those of India and South-East Asia, Mongolian."""
_CONTROLS: Final = "\x00-\x08\x0b\x0e-\x1f\x7f-\x9f"

_UNSEEN = re.compile(f"[{_IGNORABLE}{_CONTROLS}]+")
_STRAY_JOINER = re.compile(f"(?<![{_JOINED}])[\u200c\u200d]|[\u200c\u200d](?![{_JOINED}])")


def without_unseen(text: str) -> str:
    r"""Return a text without the characters that are drawn as nothing."""
    # A joiner stays between two letters of a script that spells words with it (RFC 5892, appendix A), and is removed
    # from every other place: ``ig\u200dnore`` is *ignore*.
    if text.isascii() and text.isprintable():
        return text
    return _STRAY_JOINER.sub("", _UNSEEN.sub("", text))


def plain_text(text: str) -> str:
    """Return a text without what is not seen, its letters composed as they are usually written (NFC)."""
    return normalise_to_nfc(without_unseen(text))


def one_line(text: str) -> str:
    """Return a text as a reader sees it in a heading."""
    return " ".join(plain_text(text).split())


RAISED: Final = {
    "sup": str.maketrans("0123456789+-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻"),
    "sub": str.maketrans("0123456789+-−", "₀₁₂₃₄₅₆₇₈₉₊₋₋"),
}
"""Digits that stand above or below their line are characters of their own: 10 to the power of 9 would be 109."""

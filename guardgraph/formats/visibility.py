"""What of a page its reader sees: which elements their own attributes hide, and which characters are drawn as nothing.

Style sheets are not evaluated, and neither are scripts or colours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from guardgraph.plain.letters import normalise_to_nfc


class Shown(NamedTuple):
    """What an element's own attributes say of it."""

    hides: bool = False
    """Neither it nor anything in it is shown."""
    is_drawn: bool | None = None
    """Whether its letters are drawn; None: as those around it."""
    is_readable: bool | None = None
    """Whether its letters have a size that can be read; None: as those around it."""
    takes_room: bool = False
    """Whether what it hides takes its room all the same: words on both sides of it are two words."""


_AS_AROUND: Final = Shown()
_TOKEN = re.compile(
    r"""(?P<comment>/\*.*?(?:\*/|\Z))
    |(?P<string>"(?:\\.|[^"\\\n])*+"?|'(?:\\.|[^'\\\n])*+'?)
    |(?P<url>(?:u|\\0{0,4}[57]5\s?)(?:r|\\0{0,4}[57]2\s?)(?:l|\\0{0,4}[46]c\s?)\(\s*+(?!["'])(?:\\.|[^)\\])*+\)?)
    |(?P<word>(?:\\[0-9a-f]{1,6}\s?|\\[^\n]|[-+.%\w]|[^\x00-\x7f])++)
    |(?P<blank>\s++)
    |(?P<other>.)""",
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
_LINE_END = re.compile(r"\r\n?|\f")
_ESCAPE = re.compile(r"\\(?:([0-9a-f]{1,6})\s?|([^\n]))", re.IGNORECASE)
_NUMBER = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)(%|[a-z]*)")
_LEAST_PIXELS: Final = 4.0
"""Letters that are smaller cannot be read."""
_LEAST_OPACITY: Final = 0.1
"""What is fainter cannot be seen on any ground."""
_PIXELS: Final = {
    "": 1.0, "px": 1.0, "pt": 4 / 3, "pc": 16.0, "in": 96.0, "cm": 96 / 2.54, "mm": 9.6 / 2.54, "q": 2.4 / 2.54,
    "em": 16.0, "rem": 16.0, "ex": 8.0, "ch": 8.0, "%": 0.16, "vw": 10.0, "vh": 8.0,
}  # fmt: skip
"""Of each unit (CSS Values and Units 4, section 6); those that depend on the page are those of an ordinary one."""
_RELATIVE: Final = ("em", "ex", "ch", "%")
"""To the letters around: times nothing, they are nothing."""


def shown_by(tag: str, attributes: Mapping[str, str]) -> Shown:
    """Say what an element's own attributes say of whether it is shown.

    `hidden`, `popover`, `aria-hidden`, `<dialog>` that is not open, and of `style`: `display`, `visibility`, `opacity`,
    `content-visibility`, `font-size` and `font`. Where declarations contradict each other, the one that hides counts,
    though a browser may see it otherwise: what a reader might not see is no evidence.

    Args:
        tag: in lower case.
        attributes: their names in lower case.
    """
    if {"hidden", "popover"} & attributes.keys() or attributes.get("aria-hidden", "").strip().lower() == "true":
        return Shown(hides=True)
    if (tag == "dialog" and "open" not in attributes) or (tag == "input" and attributes.get("type", "") == "hidden"):
        return Shown(hides=True)
    return _read_style(attributes["style"]) if "style" in attributes else _AS_AROUND


def _read_style(style: str) -> Shown:
    hides, takes_room, drawn, readable = False, False, list[bool](), list[bool]()
    for name, words in _declarations(_LINE_END.sub("\n", style)):
        if _hides(name, words):
            hides, takes_room = True, takes_room or name == "opacity"
        if name == "visibility":
            drawn.append(not {"hidden", "collapse"} & set(words))
        elif name in ("font-size", "font"):
            readable.extend(_sizes(words))
    return Shown(hides, all(drawn) if drawn else None, all(readable) if readable else None, takes_room)


def _hides(name: str, words: list[str]) -> bool:
    if name in ("display", "content-visibility"):
        return "none" in words or "hidden" in words
    if name == "opacity":
        found = next(filter(None, map(_NUMBER.fullmatch, words)), None)
        return found is not None and float(found[1]) * (0.01 if found[2] == "%" else 1) < _LEAST_OPACITY
    return False


def _sizes(words: list[str]) -> Iterator[bool]:
    """Yield whether letters of a size can be read; nothing where the size is that of the letters around."""
    found = next((match for match in map(_NUMBER.fullmatch, words) if match and _is_size(match)), None)
    if found is None:
        return
    pixels = float(found[1]) * _PIXELS.get(found[2], 0.0)
    if pixels < _LEAST_PIXELS:
        yield False
    elif found[2] not in _RELATIVE:
        yield True


def _is_size(match: re.Match[str]) -> bool:
    """Tell a size from a weight, as in ``font: 700 12px serif``."""
    return float(match[1]) == 0 or (match[2] != "" and match[2] in _PIXELS)


def _declarations(style: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each property and the words of its value, in lower case and without escapes (CSS Syntax 3)."""
    words: list[str] = []
    name = ""
    for token in _TOKEN.finditer(style):
        if token["other"] == ":" and not name:
            name, words = (words[-1] if words else "-"), []
        elif token["other"] and token["other"] in ";{}":
            yield name, words
            name, words = "", []
        elif token["word"]:
            words.append(_plain(token["word"]))
    yield name, words


def _plain(word: str) -> str:
    return _ESCAPE.sub(lambda escape: escape[2] or _letter(int(escape[1], 16)), word).lower()


def _letter(number: int) -> str:
    return chr(number) if number <= 0x10FFFF else "\ufffd"


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
    r"""Return a text without the characters that are drawn as nothing.

    A joiner stays between two letters of a script that spells words with it (RFC 5892, appendix A), and is removed from
    every other place: ``ig\u200dnore`` is *ignore*.
    """
    if text.isascii() and text.isprintable():
        return text
    return _STRAY_JOINER.sub("", _UNSEEN.sub("", text))


def plain_text(text: str) -> str:
    """Return a text without what is not seen, its letters composed as they are usually written (NFC)."""
    return normalise_to_nfc(without_unseen(text))


def one_line(text: str) -> str:
    """Return a text as a reader sees it in a heading."""
    return " ".join(plain_text(text).split())

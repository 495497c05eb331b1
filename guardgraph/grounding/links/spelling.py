"""What a text shows and where it leads, however it is spelled.

Letters that nobody sees are gone, letters of other widths are the plain ones, a run that is shown from right to left is
turned round, and entities, percent signs and escapes stand for what they mean. Each such reading is a text of its own:
which of them whoever shows the text will take is not known, so all of them count.
"""

from __future__ import annotations

import html
import re
import unicodedata
from typing import Final
from urllib.parse import unquote

from guardgraph.grounding.links.hosts import is_public_suffix
from guardgraph.plain.letters import normalise_to_nfkc
from guardgraph.plain.memory import remember_by_text

_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
"""Controls, and what Unicode calls default ignorable (DerivedCoreProperties.txt): a browser drops both in a host."""

_TURNED = re.compile("\u202e([^\u202c\u2069\n]*)")  # what is shown from right to left, letter by letter

_STOP = re.compile(r"(?<=\w)[\u3002\uff61](?=(\w+))")
"""An ideographic full stop between letters: a browser reads one in a host as a point."""

_POINTS = str.maketrans(dict.fromkeys("\u0701\u0702\ua60e\ua4f8\U00010a50\U0001d16d", "."))
"""Letters that look like a point (Unicode Technical Standard #39, confusables.txt), the digits among them left out."""

_PAUSES = str.maketrans(dict.fromkeys("\u3001\u3002\uff0c\uff1b\uff01\uff1f\uff08\uff09\uff61\uff64", " "))
"""Marks between words of East Asian texts, which end a link, though their plain forms could stand in one."""

_COLON = re.compile(r"\uff1a(?![/\uff0f\\\uff3c\d])")

_BRACKETED = re.compile(r"\s?[\[({<]\s?(\.|dot|@|at)\s?[\])}>]\s?", re.IGNORECASE)
"""How points and signs are written so that nothing makes a link of them, and a reader still does: ``evil[.]com``."""
_DEFANGED = re.compile(r"\bh[tx]{2}p(?=s?:)", re.IGNORECASE)

_CODED = re.compile(r"\\u\{([0-9a-fA-F]{1,6})\}|\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_BACKWARD = re.compile(r"\\(?=[/\\@:?#A-Za-z0-9\[]|$)")
_MOST_DECODINGS: Final = 4  # how often what was decoded is decoded again

_EMPHASIS = re.compile(r"[*`~]+|(?<!\w)_+|_+(?!\w)")


def show_text(text: str) -> str:
    """Return a text as it is shown: without letters that nobody sees, in plain forms."""
    if text.isascii() and text.isprintable():
        return text
    seen = _COLON.sub(" ", _STOP.sub(_read_ideographic_stop, _UNSEEN.sub("", text)).translate(_PAUSES))
    return normalise_to_nfkc(seen).translate(_POINTS)


@remember_by_text(texts=256, chars=20_000)
def list_readings(text: str) -> tuple[str, ...]:
    """Return the readings of a text, each once; there are at most six, and each is about as long as the text."""
    shown = show_text(text)
    plain = _ESCAPED.sub(r"\1", shown)
    readings = [plain]
    if "\u202e" in text:
        readings.append(show_text(_TURNED.sub(lambda match: f" {match[1][::-1]} ", text)))
    if "\\" in shown:
        readings.append(_read_backward_strokes(shown))
    if (decoded := decode_text(plain)) != plain:
        readings.append(decoded)
        if "\\" in decoded:
            readings.append(_read_backward_strokes(decoded))
    if (joined := _EMPHASIS.sub("", plain)) != plain:
        readings.append(joined)
    return tuple(dict.fromkeys(map(_arm_links, readings)))


def decode_text(text: str) -> str:
    """Return a text with entities, percent signs and escapes read, and again while there are any."""
    for _ in range(_MOST_DECODINGS):
        decoded = _ESCAPED.sub(r"\1", _CODED.sub(_read_escaped_code, unquote(html.unescape(text), errors="replace")))
        if decoded == text:
            break
        text = show_text(decoded)
    return text


def _read_backward_strokes(text: str) -> str:
    """Read strokes that lean the other way as browsers do, where no sign is escaped by one."""
    return _ESCAPED.sub(r"\1", _BACKWARD.sub("/", text))


def _arm_links(text: str) -> str:
    """Write as a link what is written so that it is none."""
    return _DEFANGED.sub("http", _BRACKETED.sub(_read_bracketed_sign, text))


def _read_bracketed_sign(match: re.Match[str]) -> str:
    return "." if match[1].casefold() in {".", "dot"} else "@"


def _read_ideographic_stop(match: re.Match[str]) -> str:
    """Read a full stop as a point before a letter of a host, or before what is a public suffix by itself."""
    following = match[1]
    return "." if following[0].isascii() or is_public_suffix(following) else " "


def _read_escaped_code(match: re.Match[str]) -> str:
    code = int(match[match.lastindex or 0], 16)
    return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else match[0]


_FLAG: Final = re.compile("\U0001f3f4[\U000e0030-\U000e007a]{1,6}\U000e007f")  # a flag of a region, the one use of tags
_VARIANT: Final = re.compile("(?<=[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])[\U000e0100-\U000e01ef]")
"""A form of a Han character, the one use of these selectors."""
_HIDDEN: Final = re.compile(
    "[\U000e0000-\U000e01ef]+|[\u202d\u202e]|[\u200b\u2060-\u2064\ufeff\u180e\u115f\u1160\u3164\uffa0]{3,}"
)
"""Tags, selectors, overrides, and signs without width in a row, which spell bits."""
_EMBEDDING: Final = re.compile("[\u202a\u202b\u2066-\u2068]")
"""What sets a part of a text apart by its direction, as texts of two directions need."""
_RIGHT_TO_LEFT: Final = frozenset({"R", "AL"})


def find_hidden_signs(text: str) -> list[str]:
    """Return the signs of a text that hide or turn what stands there, each as its escape."""
    if text.isascii() or (text.isprintable() and not _HIDDEN.search(text)):
        return []
    read = _VARIANT.sub("", _FLAG.sub("", text))
    found = [match[0] for match in _HIDDEN.finditer(read)]
    if not any(unicodedata.bidirectional(letter) in _RIGHT_TO_LEFT for letter in read):
        found += _EMBEDDING.findall(read)
    return [ascii(sign)[1:-1] for sign in dict.fromkeys(found)]

"""Plain text: how its bytes are read, and what a reader sees of it."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import Final

from webencodings.labels import LABELS  # type: ignore[import-untyped]

from guardgraph.formats.extraction import Extracted, ExtractionFailed
from guardgraph.plain.letters import normalise_to_nfc

REPLACED: Final = "replacement"
"""What browsers refuse to read, since a text in it may be another one to whoever does not know it."""


_NAMED_BY_PYTHON: Final = {
    "big5": "big5hkscs", "euc-kr": "cp949", "gbk": "gb18030", "iso-8859-8-i": "iso8859-8", "macintosh": "mac-roman",
    "replacement": REPLACED, "shift_jis": "cp932", "windows-874": "cp874", "x-mac-cyrillic": "mac-cyrillic",
    "x-user-defined": "cp1252",
}  # fmt: skip
"""Encodings of the web that Python calls otherwise, or of which it has all of another one alone."""


def find_named_encoding(label: str) -> str | None:
    """Return Python's name of the encoding that a label of the web stands for; None where there is none."""
    name = LABELS.get(label.strip("\t\n\f\r \"'").lower())
    return None if name is None else _NAMED_BY_PYTHON.get(name) or codecs.lookup(name).name


def name_codec_encoding(name: str) -> str | None:
    """Return Python's name of the encoding in which browsers read what one of Python's encodings fits."""
    return find_named_encoding(name.replace("_", "-")) or (name if name in map(find_named_encoding, LABELS) else None)


def find_page_encoding(label: str) -> str | None:
    """Return Python's name of the encoding of a page that calls it so; None where there is none."""
    encoding = find_named_encoding(label)
    # A page whose <meta> could be read as ASCII is not written in UTF-16 (HTML standard, 13.2.3.2).
    return "utf-8" if encoding is not None and encoding.startswith("utf-16") else encoding


_MOST_BYTES: Final = 64_000
"""Of a head. A browser looks at the first 1,024 bytes, and reads the page again when it finds a declaration later."""
_TAG = re.compile(
    rb"<!--(?:-?>|.*?-->|.*)|<(?P<name>meta|body|\?xml)(?=[\s/>])(?P<rest>[^>]{0,2000}+)>|<[/!?]?[a-z][^>]{0,2000}+>",
    re.IGNORECASE | re.DOTALL,
)
_ATTRIBUTE = re.compile(rb"([^\s=/\"'>]+)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+)))?")
_IN_CONTENT = re.compile(rb"charset\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s;\"']+))", re.IGNORECASE)


def read_encoding_in_page(content: bytes) -> str | None:
    """Return Python's name of the encoding that a page says first of those that there are; None where it says none."""
    return next(filter(None, map(find_page_encoding, list_encodings_in_page(content))), None)


def list_encodings_in_page(content: bytes) -> Iterator[str]:
    """Yield what a page calls its encoding, in the order of its head (HTML standard, 13.2.3.2)."""
    for tag in _TAG.finditer(content[:_MOST_BYTES]):
        name = (tag["name"] or b"").lower()
        if name == b"body":
            return
        if name:
            given = {key.lower(): a or b or c for key, a, b, c in reversed(_ATTRIBUTE.findall(tag["rest"]))}
            label = given.get(b"encoding" if name == b"?xml" else b"charset", b"")
            if not label and given.get(b"http-equiv", b"").strip().lower() == b"content-type":
                found = _IN_CONTENT.search(given.get(b"content", b""))
                label = found[1] or found[2] or found[3] if found else b""
            if label:
                yield label.decode("ascii", "replace")


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


def drop_unseen_letters(text: str) -> str:
    r"""Return a text without the characters that are drawn as nothing."""
    # A joiner stays between two letters of a script that spells words with it (RFC 5892, appendix A), and is removed
    # from every other place: ``ig\u200dnore`` is *ignore*.
    if text.isascii() and text.isprintable():
        return text
    return _STRAY_JOINER.sub("", _UNSEEN.sub("", text))


def clean_plain_text(text: str) -> str:
    """Return a text without what is not seen, its letters composed as they are usually written (NFC)."""
    return normalise_to_nfc(drop_unseen_letters(text))


def put_on_one_line(text: str) -> str:
    """Return a text as a reader sees it in a heading."""
    return " ".join(clean_plain_text(text).split())


RAISED: Final = {
    "sup": str.maketrans("0123456789+-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻"),
    "sub": str.maketrans("0123456789+-−", "₀₁₂₃₄₅₆₇₈₉₊₋₋"),
}
"""Digits that stand above or below their line are characters of their own: 10 to the power of 9 would be 109."""

_MARKS: Final = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_BE, "utf-16-be"), (codecs.BOM_UTF16_LE, "utf-16-le"))
"""Byte order marks; one outweighs what anybody says (Encoding standard, 6)."""


def decode_text(content: bytes, declared: str | None, *, is_html: bool) -> str:
    r"""Return the text that bytes are; lines end with ``\n``."""
    # The encoding is that of the byte order mark, else what the server declared, else what the page declares, else
    # UTF-8 where the bytes are that, else what charset-normalizer takes it for. A label that no browser knows says
    # nothing. Bytes that the encoding does not have are U+FFFD, which no quote can hold.
    mark, encoding = next(((mark, name) for mark, name in _MARKS if content.startswith(mark)), (b"", None))
    encoding = encoding or find_named_encoding(declared or "") or (read_encoding_in_page(content) if is_html else None)
    encoding = encoding or _guess_encoding(content)
    if encoding == REPLACED:
        raise ExtractionFailed("charset", {"charset": encoding})
    text = content[len(mark) :].decode(encoding, "replace")
    if "\0" in text:
        raise ExtractionFailed("binary", {"character": text.index("\0")})
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _guess_encoding(content: bytes) -> str:
    try:
        content.decode()
        return "utf-8"
    except UnicodeDecodeError:
        from charset_normalizer import from_bytes

        best = from_bytes(content).best()
        encoding = name_codec_encoding(codecs.lookup(best.encoding).name) if best is not None else None
        if encoding is None:
            raise ExtractionFailed("charset", {"charset": ""}) from None
        return encoding


def cut_to_chars(text: str, max_chars: int) -> str:
    """Return a text that is not too long."""
    if len(text) > max_chars:
        raise ExtractionFailed("too_large", {"limit": "max_chars", "characters": len(text), "allowed": max_chars})
    return text


def read_plain(text: str, max_chars: int) -> Extracted:
    """Return a text without what a reader does not see. It has no title, and declares no date."""
    text = cut_to_chars(clean_plain_text(text).strip(), max_chars)
    return Extracted("", text, (text,) if text else (), "", "")

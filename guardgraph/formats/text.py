"""Plain text: how its bytes are read, and what a reader sees of it."""

from __future__ import annotations

import codecs
import re
from typing import Final

from guardgraph.formats.extraction import Extracted, ExtractionFailed
from guardgraph.formats.visibility import plain_text

_MARKS: Final = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_BE, "utf-16-be"), (codecs.BOM_UTF16_LE, "utf-16-le"))
"""Byte order marks; one outweighs what anybody says (Encoding standard, 6)."""
_META = re.compile(rb"<meta\b[^>]{0,200}?\bcharset\s*=\s*[\"']?\s*([\w:.-]{1,40})", re.IGNORECASE)
_META_BYTES: Final = 1024
"""Where an HTML page says its encoding (HTML standard, 4.2.5.4)."""
_ALIASES: Final = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "ascii": "cp1252",
    "utf-16": "utf-16-le",
    "tis-620": "cp874",
    "iso8859-11": "cp874",
    "johab": "",
    "big5hkscs": "big5hkscs",
}
"""What is read as which, by Python's names (Encoding standard, 4.2): a superset, as every browser does."""
_OF_THE_WEB = re.compile(
    r"utf-8|utf-16-[bl]e|cp(?:125\d|866|874|932|949)|iso8859-\d+|koi8-[ru]|mac-(?:roman|cyrillic)"
    r"|gb18030|big5hkscs|euc_jp|iso2022_jp"
)
"""Python's names of the encodings that browsers know; it has others, UTF-7 among them, that pages must not choose."""


def encoding_named(label: str) -> str | None:
    """Return Python's name of the encoding that a label of the web stands for; None where there is none.

    Args:
        label: such as ``latin1`` or ``UTF-8``.
    """
    try:
        name = codecs.lookup(label.strip().strip("\"'").lower()).name
    except (LookupError, ValueError):  # ValueError: of a label with a NUL
        return None
    name = _ALIASES.get(name, name)
    return name if _OF_THE_WEB.fullmatch(name) else None


def text_of(content: bytes, declared: str | None, *, is_html: bool) -> str:
    r"""Return the text that bytes are; lines end with ``\n``.

    The encoding is that of the byte order mark, else what the server declared, else what the page declares, else UTF-8
    where the bytes are that, else what charset-normalizer takes it for. It has to fit every byte.

    Args:
        content: the bytes.
        declared: what the server says that they are, if it does.
        is_html: whether they are a page, which may say it itself.

    Raises:
        ExtractionFailed: `charset`, or `binary`.
    """
    mark, encoding = next(((mark, name) for mark, name in _MARKS if content.startswith(mark)), (b"", ""))
    if not encoding:
        encoding = _declared(content, declared, is_html)
    try:
        text = content[len(mark) :].decode(encoding) if encoding else _fitting(content)
    except UnicodeDecodeError as error:
        raise ExtractionFailed("charset", {"charset": encoding, "byte": error.start}) from error
    if "\0" in text:
        raise ExtractionFailed("binary", {"character": text.index("\0")})
    return text.replace("\r\n", "\n").replace("\r", "\n")


def label_in(content: bytes) -> str:
    """Return what a page calls its encoding, "" where it does not."""
    found = _META.search(content[:_META_BYTES])
    return found[1].decode("ascii", "replace") if found else ""


def encoding_of_page(label: str) -> str | None:
    """Return Python's name of the encoding of a page that calls it so; None where there is none."""
    encoding = encoding_named(label)
    # A page whose <meta> could be read as ASCII is not written in UTF-16 (HTML standard, 13.2.3.2).
    return "utf-8" if encoding is not None and encoding.startswith("utf-16") else encoding


def _declared(content: bytes, declared: str | None, is_html: bool) -> str:
    label = declared or (label_in(content) if is_html else "")
    encoding = encoding_named(label) if declared else encoding_of_page(label) if label else ""
    if encoding is None:
        raise ExtractionFailed("charset", {"charset": label[:40]})
    return encoding


def _fitting(content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError:
        from charset_normalizer import from_bytes

        best = from_bytes(content).best()
        encoding = encoding_named(best.encoding) if best is not None else None
        if encoding is None:
            raise ExtractionFailed("charset", {"charset": ""}) from None
        return content.decode(encoding)


def within(text: str, max_chars: int) -> str:
    """Return a text that is not too long.

    Raises:
        ExtractionFailed: `too_large`.
    """
    if len(text) > max_chars:
        raise ExtractionFailed("too_large", {"limit": "max_chars", "characters": len(text), "allowed": max_chars})
    return text


def read_plain(text: str, max_chars: int) -> Extracted:
    """Return a text without what a reader does not see. It has no title, and declares no date.

    Raises:
        ExtractionFailed: `too_large`.
    """
    text = within(plain_text(text).strip(), max_chars)
    return Extracted("", text, (text,) if text else (), "", "")

"""Plain text: how its bytes are read, and what a reader sees of it."""

from __future__ import annotations

import codecs
from typing import Final

from guardgraph.formats.charsets import REPLACED, encoding_in_page, encoding_named, encoding_of_codec
from guardgraph.formats.extraction import Extracted, ExtractionFailed
from guardgraph.formats.unseen import plain_text

_MARKS: Final = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_BE, "utf-16-be"), (codecs.BOM_UTF16_LE, "utf-16-le"))
"""Byte order marks; one outweighs what anybody says (Encoding standard, 6)."""


def text_of(content: bytes, declared: str | None, *, is_html: bool) -> str:
    r"""Return the text that bytes are; lines end with ``\n``."""
    # The encoding is that of the byte order mark, else what the server declared, else what the page declares, else
    # UTF-8 where the bytes are that, else what charset-normalizer takes it for. A label that no browser knows says
    # nothing. Bytes that the encoding does not have are U+FFFD, which no quote can hold.
    mark, encoding = next(((mark, name) for mark, name in _MARKS if content.startswith(mark)), (b"", None))
    encoding = encoding or encoding_named(declared or "") or (encoding_in_page(content) if is_html else None)
    encoding = encoding or _fitting(content)
    if encoding == REPLACED:
        raise ExtractionFailed("charset", {"charset": encoding})
    text = content[len(mark) :].decode(encoding, "replace")
    if "\0" in text:
        raise ExtractionFailed("binary", {"character": text.index("\0")})
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _fitting(content: bytes) -> str:
    try:
        content.decode()
        return "utf-8"
    except UnicodeDecodeError:
        from charset_normalizer import from_bytes

        best = from_bytes(content).best()
        encoding = encoding_of_codec(codecs.lookup(best.encoding).name) if best is not None else None
        if encoding is None:
            raise ExtractionFailed("charset", {"charset": ""}) from None
        return encoding


def within(text: str, max_chars: int) -> str:
    """Return a text that is not too long."""
    if len(text) > max_chars:
        raise ExtractionFailed("too_large", {"limit": "max_chars", "characters": len(text), "allowed": max_chars})
    return text


def read_plain(text: str, max_chars: int) -> Extracted:
    """Return a text without what a reader does not see. It has no title, and declares no date."""
    text = within(plain_text(text).strip(), max_chars)
    return Extracted("", text, (text,) if text else (), "", "")

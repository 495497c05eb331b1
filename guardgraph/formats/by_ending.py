"""Which parser reads a file, by the end of its name, and how its bytes become text."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from guardgraph.formats.article import Parsed
from guardgraph.formats.html import parse_html
from guardgraph.formats.markdown import parse_markdown, parse_plain
from guardgraph.formats.rst import parse_rst

__all__ = ["FORMATS", "decoded"]

FORMATS: Final[Mapping[str, Callable[[str], Parsed]]] = MappingProxyType(
    {
        ".md": parse_markdown,
        ".markdown": parse_markdown,
        ".txt": parse_plain,
        ".rst": parse_rst,
        ".html": parse_html,
        ".htm": parse_html,
    }
)

_DECLARED = re.compile(rb"<meta\b[^>]{0,200}?\bcharset\s*=\s*[\"']?\s*([\w-]{1,30})", re.IGNORECASE)
_HEAD_BYTES: Final = 1024
"""Where an HTML page says its encoding (HTML standard, 4.2.5.4)."""
_OLD_ENCODING = re.compile(r"(?:iso-8859|windows-125|koi8|gb|big5|shift_jis|euc)[-\w]*", re.IGNORECASE)
"""Encodings of the web; Python knows others that no page is written in."""


def decoded(content: bytes, suffix: str) -> str:
    r"""Return the text of a file, which is UTF-8; an HTML page may declare an older encoding. Lines end with ``\n``.

    Raises:
        UnicodeError: it is not in that encoding.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        encoding = _declared_encoding(content) if FORMATS[suffix] is parse_html else None
        if encoding is None:
            raise
        text = content.decode(encoding)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _declared_encoding(content: bytes) -> str | None:
    declared = _DECLARED.search(content[:_HEAD_BYTES])
    name = declared[1].decode("ascii", "replace").lower() if declared else ""
    if not _OLD_ENCODING.fullmatch(name):
        return None
    try:
        # What says that it is Latin-1 is Windows-1252, as browsers have it (Encoding standard).
        return "cp1252" if name == "iso-8859-1" else codecs.lookup(name).name
    except LookupError:
        return None

"""Which parser reads a file, by the end of its name, and how its bytes become text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from guardgraph.formats.article import Parsed
from guardgraph.formats.html import parse_html
from guardgraph.formats.markdown import parse_markdown, parse_plain
from guardgraph.formats.rst import parse_rst
from guardgraph.formats.text import REPLACED, read_encoding_in_page

FORMATS: Final[Mapping[str, Callable[[str], Parsed]]] = MappingProxyType({
    ".md": parse_markdown, ".markdown": parse_markdown, ".txt": parse_plain, ".rst": parse_rst,
    ".html": parse_html, ".htm": parse_html,
})  # fmt: skip


def decode_file_text(content: bytes, suffix: str) -> str:
    r"""Return the text of a file, which is UTF-8; an HTML page may declare an older encoding. Lines end with ``\n``."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        encoding = read_encoding_in_page(content) if FORMATS[suffix] is parse_html else None
        if encoding is None or encoding == REPLACED:
            raise
        text = content.decode(encoding)
    return text.replace("\r\n", "\n").replace("\r", "\n")

"""Markdown and plain text: the text stays as it is written; Markdown's headings are those of CommonMark."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from guardgraph.formats.article import Heading, Parsed, Span

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_KEY_VALUE = re.compile(r"([\w-]+):(.*)")
_LINE_END = re.compile(r"\n")
_DRAWN: Final = " \t\r\n-*_"  # what blank lines and thematic breaks are made of
_FRONT_MATTER_STARTS: Final = ("", " ", "\t", "#", "-")
"""How lines other than pairs may begin; anything else is prose between two thematic breaks."""


def parse_markdown(text: str) -> Parsed:
    """Read Markdown: front matter, headings that are in no list or quotation, and what stands between them."""
    front, at = _read_front_matter(text)
    return _make_parsed_markdown(text, front, list(_list_markdown_parts(text, at)))


def parse_plain(text: str) -> Parsed:
    """Read plain text, which has no headings; it may have front matter."""
    front, at = _read_front_matter(text)
    return _make_parsed_markdown(text, front, [Span(at, len(text))])


def read_front_matter(text: str) -> str:
    """Return the lines between the two lines of three hyphens at the top, "" where there are none."""
    _, at = _read_front_matter(text)
    return "\n".join(text[:at].rstrip().split("\n")[1:-1])


def skip_front_matter(text: str) -> str:
    """Return what stands behind the front matter, all where there is none."""
    return text[_read_front_matter(text)[1] :]


def _make_parsed_markdown(text: str, front: dict[str, str], parts: list[Heading | Span]) -> Parsed:
    updated_at = front.get("updated_at") or front.get("date", "")
    return Parsed(text, parts, front.get("title", ""), front.get("section", ""), updated_at)


def _read_front_matter(text: str) -> tuple[dict[str, str], int]:
    """Read `key: value` lines between two lines of three hyphens at the top; return them and where the body begins."""
    lines = text.split("\n")
    front: dict[str, str] = {}
    if lines[0].rstrip() != "---":
        return front, 0
    at = len(lines[0]) + 1
    for line in lines[1:]:
        at += len(line) + 1
        if line.rstrip() == "---":
            return front, min(at, len(text))
        if pair := _KEY_VALUE.match(line):
            front[pair[1].lower()] = pair[2].strip().strip("'\"")
        elif line[:1] not in _FRONT_MATTER_STARTS:
            break
    return {}, 0


def _list_markdown_parts(text: str, at: int) -> Iterator[Heading | Span]:
    body = text[at:]
    lines = [at, *(at + found.end() for found in _LINE_END.finditer(body)), len(text) + 1]
    start = 0
    for heading, first, after in _find_markdown_headings(body):
        yield from _skip_drawn_lines(text, Span(lines[start], max(lines[first] - 1, lines[start])))
        yield heading
        start = after
    yield from _skip_drawn_lines(text, Span(min(lines[start], len(text)), len(text)))


def _skip_drawn_lines(text: str, part: Span) -> Iterator[Span]:
    """Yield a part unless all that it has are lines drawn between others, which would be found by their heading."""
    if text[part.start : part.end].strip(_DRAWN):
        yield part


@cache
def _block_parser() -> MarkdownIt:
    """Return a parser of blocks alone: what stands inside them is read for headings only, which halves the time."""
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").disable(["inline", "text_join"])


def _find_markdown_headings(body: str) -> Iterator[tuple[Heading, int, int]]:
    """Yield each heading with its first line and the line after."""
    parser, references = _block_parser(), dict[str, object]()
    for opening, inline in pairwise(parser.parse(body, references)):
        if opening.type == "heading_open" and opening.level == 0 and opening.map:
            pieces: list[Token] = []
            parser.inline.parse(inline.content, parser, references, pieces)
            text = "".join(" " if piece.type.endswith("break") else piece.content for piece in pieces)
            yield Heading(int(opening.tag[1:]), " ".join(text.split())), opening.map[0], opening.map[1]

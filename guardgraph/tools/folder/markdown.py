"""Markdown and plain text: the text stays as it is written; Markdown's headings are those of CommonMark."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from guardgraph.tools.folder.article import Heading, Parsed, Part

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

__all__ = ["parse_markdown", "parse_plain"]

_KEY_VALUE = re.compile(r"([\w-]+):(.*)")
_FRONT_MATTER_STARTS: Final = ("", " ", "\t", "#", "-")
"""How lines other than pairs may begin; anything else is prose between two thematic breaks."""


def parse_markdown(text: str) -> Parsed:
    """Read Markdown: front matter, headings that are in no list or quotation, and what stands between them."""
    front, body = _split_front_matter(text)
    return _parsed(front, list(_parts(body)))


def parse_plain(text: str) -> Parsed:
    """Read plain text, which has no headings; it may have front matter."""
    front, body = _split_front_matter(text)
    return _parsed(front, [body])


def _parsed(front: dict[str, str], parts: list[Part]) -> Parsed:
    return Parsed(parts, front.get("title", ""), front.get("updated_at") or front.get("date", ""))


def _split_front_matter(text: str) -> tuple[dict[str, str], str]:
    """Take `key: value` lines between two lines of three hyphens off the top; keys are lower case."""
    lines = text.split("\n")
    front: dict[str, str] = {}
    if lines[0].rstrip() != "---":
        return front, text
    for number, line in enumerate(lines[1:], start=1):
        if line.rstrip() == "---":
            return front, "\n".join(lines[number + 1 :])
        if pair := _KEY_VALUE.match(line):
            front[pair[1].lower()] = pair[2].strip().strip("'\"")
        elif line[:1] not in _FRONT_MATTER_STARTS:
            break
    return {}, text


def _parts(body: str) -> Iterator[Part]:
    lines, start = body.split("\n"), 0
    for heading, first, after in _headings(body):
        yield "\n".join(lines[start:first])
        yield heading
        start = after
    yield "\n".join(lines[start:])


@cache
def _block_parser() -> MarkdownIt:
    """Return a parser of blocks alone: what stands inside them is read for headings only, which halves the time."""
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").disable(["inline", "text_join"])


def _headings(body: str) -> Iterator[tuple[Heading, int, int]]:
    """Yield each heading with its first line and the line after."""
    parser, references = _block_parser(), dict[str, object]()
    for opening, inline in pairwise(parser.parse(body, references)):
        if opening.type == "heading_open" and opening.level == 0 and opening.map:
            pieces: list[Token] = []
            parser.inline.parse(inline.content, parser, references, pieces)
            yield Heading(int(opening.tag[1:]), _plain_text(pieces)), opening.map[0], opening.map[1]


def _plain_text(tokens: list[Token]) -> str:
    pieces = (" " if token.type.endswith("break") else token.content for token in tokens)
    return " ".join("".join(pieces).split())

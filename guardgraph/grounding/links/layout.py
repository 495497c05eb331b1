"""Markdown: where the links of a text lead, what is code in it, and what is not."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from guardgraph.grounding.links.spelling import show_text
from guardgraph.plain.memory import remember_by_text

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token


class LinkTarget(NamedTuple):
    """Where a link of a text leads."""

    label: str  # what is shown of it
    address: str  # as it is written
    is_image: bool


class Layout(NamedTuple):
    """What Markdown makes of a text."""

    targets: tuple[LinkTarget, ...]
    joined: str  # the words as they stand beside each other, without the marks between them
    code: str  # what stands in code, a part a line
    prose: str  # the text as it is written, without code
    tangle: str = ""
    """Where brackets or quotes are nested so deeply that readers of Markdown differ; nothing else is known then."""


_DEEPEST: Final = 16  # levels to which every reader of Markdown goes; the parser stops at 20, others go on
_BRACKET = re.compile(r"[\[\]]|\n[ \t]*\n")

_TICKS = re.compile(r"`+")
_BLANK_LINE = re.compile(r"\n[ \t]*\n")


@cache
def _make_markdown() -> MarkdownIt:
    """Return a parser that takes any address as one: what is none for it may be one for others."""
    from markdown_it import MarkdownIt  # which takes long to load

    markdown = MarkdownIt("commonmark", {"html": False}).enable("strikethrough")
    markdown.validateLink = lambda url: True  # type: ignore[method-assign]
    markdown.normalizeLink = lambda url: url  # type: ignore[method-assign]
    return markdown


def list_layouts(text: str) -> list[Layout]:
    """Return what Markdown makes of a text as it is written, and as it is shown."""
    return [lay_out_text(written) for written in dict.fromkeys((text, show_text(text)))]


@remember_by_text(texts=64, chars=20_000)
def lay_out_text(text: str) -> Layout:
    """Read a text as Markdown, in time that grows with its length and no faster."""
    if tangle := _find_tangled_brackets(text):
        return Layout((), text, "", text, tangle)
    lines, targets, joined, code = text.split("\n"), list[LinkTarget](), list[str](), list[str]()
    for token in _make_markdown().parse(text):
        if token.level > _DEEPEST:
            return Layout((), text, "", text, token.content or token.markup)
        if token.type in {"fence", "code_block"} and token.map:
            code.append(token.content)
            first, end = token.map
            lines[first:end] = [""] * (end - first)
        if token.children:
            found, opened = list[LinkTarget](), list[tuple[str, int]]()
            words = [_read_token_words(item) for item in token.children]
            for at, item in enumerate(token.children):
                if item.type == "link_open":
                    opened.append((str(item.attrs.get("href", "")), at))
                elif item.type == "link_close" and opened:
                    address, start = opened.pop()
                    found.append(LinkTarget("".join(words[start:at]), address, False))
                elif item.type == "image":
                    found.append(LinkTarget(item.content, str(item.attrs.get("src", "")), True))
            targets += found
            joined.append("".join(map(_read_token_words, token.children)))
    prose, spans = _cut_code_spans("\n".join(lines))
    return Layout(tuple(targets), "\n".join(joined), "\n".join([*code, *spans]), prose)


def _find_tangled_brackets(text: str) -> str:
    depth = 0
    for match in _BRACKET.finditer(text):
        depth = depth + 1 if match[0] == "[" else max(depth - 1, 0) if match[0] == "]" else 0
        if depth > _DEEPEST:
            return text[max(0, match.end() - 2 * _DEEPEST) : match.end()]
    return ""


def _read_token_words(item: Token) -> str:
    return "\n" if item.type in {"softbreak", "hardbreak"} else item.content


def _cut_code_spans(text: str) -> tuple[str, list[str]]:
    """Split a text into what is no code and its spans of code, which no blank line parts."""
    outside, spans = list[str](), list[str]()
    at = 0
    for gap in [*_BLANK_LINE.finditer(text), None]:
        end = gap.start() if gap else len(text)
        _cut_paragraph_spans(text[at:end], outside, spans)
        outside.append(gap[0] if gap else "")
        at = gap.end() if gap else end
    return "".join(outside), spans


def _cut_paragraph_spans(text: str, outside: list[str], spans: list[str]) -> None:
    runs = [*_TICKS.finditer(text)]
    closing = list[int | None]()
    last: dict[int, int] = {}
    for number in range(len(runs) - 1, -1, -1):
        length = len(runs[number][0])
        closing.append(last.get(length))
        last[length] = number
    closing.reverse()
    at = number = 0
    while number < len(runs):
        if (end := closing[number]) is None:
            number += 1
            continue
        outside += [text[at : runs[number].start()], " "]
        spans.append(text[runs[number].end() : runs[end].start()])
        at, number = runs[end].end(), end + 1
    outside.append(text[at:])

"""The blocks of an answer: paragraphs, headings, lists, tables and code, as their lines show them.

Markdown is read line by line, and in doubt as one block rather than two: a list that a paragraph goes on with is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal, NamedTuple

BlockKind = Literal["paragraph", "heading", "list", "table", "code"]


class AnswerBlock(NamedTuple):
    """Lines of an answer that belong together."""

    kind: BlockKind
    start: int
    end: int
    """Behind its last letter."""


_FENCE: Final = re.compile(r"[ \t]*(```|~~~)")
_HEADING: Final = re.compile(r"[ \t]*#{1,6}[ \t]|[ \t]*(\*\*|__)[^*_]+\1:?[ \t]*$|[ \t]*=+[ \t]*$")
_TABLE: Final = re.compile(r"[ \t]*\||.*\S[ \t]+\|[ \t]+\S|[ \t]*:?-{3,}:?[ \t]*\|")
_ITEM: Final = re.compile(
    r"[ \t]*(?:[-+*•◦‣·–—>][ \t]|[(*_\[]*\d{1,3}[.)\]][*_]*[ \t]|\(?[a-z]\)[ \t]"
    r"|[*_]*(?:step|schritt|paso|étape|шаг|крок)[ \t]+\d+)",
    re.IGNORECASE,
)
_LINES: Final[Sequence[tuple[BlockKind, re.Pattern[str]]]] = (("heading", _HEADING), ("list", _ITEM), ("table", _TABLE))
_LABEL: Final = re.compile(r"[ \t]*[*_]*[^\W\d_][\w \-/]{0,30}[*_]*:[*_]*[ \t]+\S")
_INDENTED: Final = re.compile(r"(?:[ ]{2,}|\t)\S")


def parse_blocks(text: str) -> list[AnswerBlock]:
    """Return the paragraphs, headings, lists, tables and code of an answer, in order.

    A label in front of two lines or more makes a list of them. A line that is indented goes on with the item before it.
    """
    blocks, at, is_open, fence = list[AnswerBlock](), 0, False, ""
    for line in text.splitlines(keepends=True):
        start, at = at, at + len(line)
        end = start + len(line.rstrip())
        if fence:
            blocks[-1] = blocks[-1]._replace(end=max(end, blocks[-1].end))
            fence = "" if line.lstrip().startswith(fence) else fence
            continue
        if end == start:
            is_open = False
            continue
        if opened := _FENCE.match(line):
            fence, kind = opened[1], "code"
            blocks.append(AnswerBlock("code", start, end))
            continue
        kind = _tell_line_kind(line)
        before = blocks[-1].kind if blocks else None
        goes_on = (is_open and _goes_on(kind, before)) or (
            before == "list" and kind != "heading" and (kind == "list" or _INDENTED.match(line) is not None)
        )
        if goes_on and kind != "heading" and before not in ("heading", "code"):
            blocks[-1] = blocks[-1]._replace(end=end)
        else:
            blocks.append(AnswerBlock(kind, start, end))
        is_open = True
    return list(_read_labelled_lines(text, blocks))


def _goes_on(kind: BlockKind, before: BlockKind | None) -> bool:
    """Say whether a line goes on with a block that no blank line ended: any plain line does with a list."""
    return kind == before or (kind == "paragraph" and before == "list")


def _tell_line_kind(line: str) -> BlockKind:
    return next((kind for kind, pattern in _LINES if pattern.match(line)), "paragraph")


def _read_labelled_lines(text: str, blocks: Iterable[AnswerBlock]) -> Iterator[AnswerBlock]:
    for block in blocks:
        lines = text[block.start : block.end].split("\n")
        labelled = sum(_LABEL.match(line) is not None for line in lines)
        yield block._replace(kind="list") if block.kind == "paragraph" and labelled > 1 else block

"""What of a text may be said alone: sentences, items, rows, and lists and code behind what leads to them.

Lines that were broken to a width are joined before. What stands over a statement goes with it: the term that a manual
explains, the question of a list of questions, the words that lead to a list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise, takewhile, zip_longest
from operator import attrgetter
from typing import Final, Literal, NamedTuple, TypeAlias

from guardgraph.grounding.sentences import split_sentences, unwrap_text_lines
from guardgraph.nodes.offline.prose import is_cut_off, is_fragment

_MARKER = re.compile(r"\A\s*(?:(?:[-*+•>]|#+|\(?\d{1,3}[.)])\s+)+")
_RULES: Final = " \t|:=-"
"""What a rule under a table's head, or under a heading, is made of."""
_ASKS: Final = ("?", "？", "؟")
_EMPHASIS: Final = "*_"
"""What Markdown puts around a line that it stresses."""
_STRESSED: Final = re.compile(r"\s*(\*\*|__)(?!\s)(.+?)\1\s*\Z")
_LEADS: Final = (*_ASKS, ":", "：", "...", "…")
"""What a line ends with that only leads to the lines behind it, or trails off."""
_FENCES: Final = ("```", "~~~")
_PROMPT: Final = re.compile(r"\s*(?:>>>|\.\.\.(?!\w)|\$ ?[a-z])")
"""What lines of code begin with that stand without a fence."""
_LONGEST_LED: Final = 600
"""Characters of a lead-in with the list or the code that it leads to."""
_LEAST_TERMS: Final = 2
"""Terms with an explanation each that a lead-in is said with."""
_LONGEST_LABEL: Final = 80
"""Characters of a term that a paragraph explains."""
_LABEL_WORDS: Final = 4
"""Words of such a term at most where a colon ends it; more lead to what stands behind them."""
_LABEL_ENDS: Final = ">])`*\"':"
"""What a term ends with beside letters and digits; code ends otherwise."""
_POINTS: Final = re.compile(r"(?:please )?(?:see|refer to) .{1,100}\Z", re.IGNORECASE)
"""A sentence that only says where else to read."""
_CODE_LINE: Final = re.compile(r"\A(?:from \S+ )?import |\A@|\A(?:def|class|return) |\w\([^)]*['\"=]| = |[{};]")
"""A line of code, by what prose does not have: it is no term."""
_COMMENT: Final = re.compile(r"<!--.*?-->", re.DOTALL)
_TERM_LINE: Final = 40
"""Characters of a line at most that is a term of its own because the next line is indented more."""
_WRAPPED: Final = 40
"""Characters of a line at least that was broken to a width."""
_END: Final = (*".!?…।۔؟:;,", *(f"{mark}{close}" for mark in ".!?" for close in "\"'”’»)"))


class Statement(NamedTuple):
    """What may be said alone."""

    text: str
    """Without the term that it explains."""
    at: int
    """Which part of the text it is."""
    paragraph: int
    """Which paragraph, item or row of the text it is in."""
    label: str
    """The term that it explains, or the option or the heading in the text that it says something about; blank where
    there is none."""
    question: str
    """The one that it answers in a list of questions; blank where there is none."""
    lead: str
    """The headings, the words that lead to it and the head of a table: what is not said with it."""
    is_item: bool = False
    cells: str = ""
    """Of a row: its cells alone; blank where it is none."""
    table: int = -1
    """Of a row: which part is the head of its table; -1 where it is none."""
    leads_on: bool = False
    """Whether it ends with a colon, and what it leads to cannot be said."""


class _Part(NamedTuple):
    """A sentence, an item, a row, or a whole block of code."""

    text: str
    is_item: bool = False
    is_code: bool = False
    line: int = 0
    """Of the unwrapped text."""
    paragraph: int = 0
    indent: int = 0


_NOTHING: Final = _Part("")


_AboveKind: TypeAlias = Literal["label", "question", "lead"]


class _Above(NamedTuple):
    """What stands over the parts that are indented more."""

    indent: float
    """Of the part, or a half less where those behind it are not indented more than it is."""
    text: str
    kind: _AboveKind


def read_statements(text: str, language: str) -> Iterator[Statement]:
    """Read a text as what may be said alone.

    Code without a lead-in is passed over, and so is what is only a part of a sentence.

    Args:
        text: of a chunk.
        language: an ISO 639-1 code, "" where nothing tells.
    """
    parts = list(_read_parts(unwrap_text_lines(_part_indented_lines(_COMMENT.sub("", text)))))
    above: list[_Above] = []
    head: tuple[str, ...] = ()
    table = -1
    for at, part in enumerate(parts):
        if _is_head(parts, at):
            head, table = _split_cells(part.text), at
            continue
        if _is_ruled_line(part.text):
            continue
        head = head if _is_row(part) else ()
        over = [item for item in above if item.indent < part.indent]
        new = _read_part_above(parts, at, language)
        above = [*(item for item in over if item.indent < part.indent - 0.5), new] if new else over
        if new.kind != "lead" if new else _is_passed_over(parts, at, language):
            continue
        led = _join_led_parts(parts, at) if new else ""
        if new and not led and not part.text.endswith(":"):
            continue
        yield Statement(
            text=_join_row(head, part.text) if head else led or part.text,
            at=at,
            paragraph=part.paragraph,
            label=next((item.text for item in reversed(over) if item.kind == "label"), ""),
            question=" ".join(item.text for item in over if item.kind == "question"),
            lead="\n".join([*(item.text for item in over if item.kind == "lead"), *head]),
            is_item=part.is_item,
            cells=part.text if head else "",
            table=table if head else -1,
            leads_on=new is not None and not led,
        )


def _part_indented_lines(text: str) -> str:
    """Part a term from what is indented under it by a blank line, and join what leads on with the line before it.

    A manual has *NAME* or *-c count* over a line that is indented more. And *the following order:* is no label where
    the line before it goes on.
    """
    lines = text.split("\n")
    told = [lines[0]]
    for line, following in pairwise(lines):
        short, begun = line.strip(), following.lstrip()
        indent = len(following) - len(begun)
        deeper = indent - (len(line) - len(line.lstrip()))
        if short and begun and deeper > 1 and len(short) <= _TERM_LINE and not _MARKER.match(line):
            told += [] if short.endswith(_END) else [""]
        elif not deeper and len(line) >= _WRAPPED and begun[:1].islower() and following.rstrip().endswith(":"):
            told[-1] += "" if short.endswith(_END) else f" {begun}"
            if not short.endswith(_END):
                continue
        told.append(following)
    return "\n".join(told)


def _read_part_above(parts: Sequence[_Part], at: int, language: str) -> _Above | None:
    """Return a part as what stands over those behind it; None where it stands over none."""
    part, following = parts[at], parts[at + 1] if at + 1 < len(parts) else _NOTHING
    if _is_label(parts, at) and not is_fragment(part.text, language):
        is_deeper = following.indent > part.indent
        kind: _AboveKind = "lead" if is_deeper and not part.indent and part.text.isupper() else "label"
        return _Above(part.indent if is_deeper else part.indent - 0.5, _strip_stress(part.text).removesuffix(":"), kind)
    if not part.is_code and _strip_stress(part.text).endswith(_ASKS):
        return _Above(part.indent - 0.5, part.text, "question")
    if not part.is_code and (_strip_stress(part.text).endswith(_LEADS) or _is_ruled_line(following.text)):
        return _Above(part.indent - 0.5, part.text, "lead")
    return None


def _is_passed_over(parts: Sequence[_Part], at: int, language: str) -> bool:
    """Say whether a part is none that is said: code, a rule, a pointer to another text, or a piece of a sentence."""
    part, before = parts[at], parts[at - 1] if at else _NOTHING
    if part.is_code or _POINTS.match(part.text):
        return True
    return is_fragment(part.text, language) or (not before.is_item and is_cut_off(before.text))


def _read_parts(text: str) -> Iterator[_Part]:
    """Read a text as sentences, list markers taken off, and blocks of code."""
    code: list[str] = []
    fence = ""
    paragraph = 0
    for number, line in enumerate(text.split("\n")):
        mark = line.strip()[:3]
        if fence or mark in _FENCES or _PROMPT.match(line):
            code.append(line.rstrip())
            fence = "" if fence and mark == fence else fence or (mark if mark in _FENCES else "")
            if fence or mark not in _FENCES:
                continue
        if code:
            yield _Part("\n".join(code), is_code=True, line=number)
            code = []
        if mark not in _FENCES:
            is_item, indent = _MARKER.match(line) is not None, len(line) - len(line.lstrip())
            paragraph += is_item or not line.strip() or "|" in line
            whole = [line] if _STRESSED.fullmatch(line) else split_sentences(line)
            sentences = (" ".join(_MARKER.sub("", item, count=1).split()) for item in whole)
            yield from (_Part(item, is_item, False, number, paragraph, indent) for item in sentences if item)
    if code:
        yield _Part("\n".join(code), is_code=True)


def _strip_stress(text: str) -> str:
    """Return a line without what Markdown puts around it to stress all of it."""
    stressed = _STRESSED.fullmatch(text)
    return stressed[2] if stressed else text.rstrip(_EMPHASIS)


def _join_led_parts(parts: Sequence[_Part], at: int) -> str:
    """Return a lead-in with the list, the terms or the code that it leads to; nothing where none is, or a long one."""
    lead, following = parts[at], parts[at + 1 :]
    if not following:
        return ""
    if following[0].is_code:
        led = [following[0].text]
    else:
        items = [[*of] for _, of in groupby(takewhile(lambda part: part.is_item, following), key=attrgetter("line"))]
        led = [f"- {' '.join(part.text for part in item)}" for item in items]
        if len("\n".join([lead.text, *led])) > _LONGEST_LED:
            led = [f"- {item[0].text}" for item in items]
    whole = "\n".join([lead.text, *led])
    return whole if led and len(whole) <= _LONGEST_LED else ""


def _is_label(parts: Sequence[_Part], at: int) -> bool:
    """Say whether a part is a line of its own, and no sentence, behind which something is said: a term, an option.

    What is said of it is indented more, where the text indents anything.
    """
    part, text = parts[at], _strip_stress(parts[at].text)
    following = parts[at + 1] if at + 1 < len(parts) else _NOTHING
    return (
        not part.is_item
        and not part.is_code
        and 0 < len(text) <= _LONGEST_LABEL
        and (not text.endswith(_END) or _is_colon_label(parts, at))
        and (at == 0 or parts[at - 1].line != part.line)
        and bool(following.text)
        and following.line != part.line
        and (following.is_code or following.indent >= part.indent)
        and not _is_ruled_line(text)
        and "|" not in text
        and ": " not in text
        and (text[-1].isalnum() or text[-1] in _LABEL_ENDS)
        and (not text.isdecimal() or following.indent > part.indent)
        and not _CODE_LINE.search(text)
    )


def _is_colon_label(parts: Sequence[_Part], at: int) -> bool:
    """Say whether a few words with a colon stand before a paragraph, as in a list of definitions."""
    following = parts[at + 1 : at + 2]
    return (
        _strip_stress(parts[at].text).endswith(":")
        and len(parts[at].text.split()) <= _LABEL_WORDS
        and bool(following)
        and not following[0].is_item
        and not following[0].is_code
    )


def _is_ruled_line(line: str) -> bool:
    return len(line) > 1 and not line.strip(_RULES)


def _is_row(part: _Part) -> bool:
    return not part.is_code and "|" in part.text


def _is_head(parts: Sequence[_Part], at: int) -> bool:
    return _is_row(parts[at]) and at + 1 < len(parts) and _is_ruled_line(parts[at + 1].text)


def _split_cells(row: str) -> tuple[str, ...]:
    return tuple(cell.strip(f" {_EMPHASIS}") for cell in row.strip().strip("|").split("|"))


def _join_row(head: Sequence[str], row: str) -> str:
    """Return the cells of a row, each behind the head of its column."""
    cells = [(name, cell) for name, cell in zip_longest(head, _split_cells(row), fillvalue="") if cell]
    return "; ".join(f"{name}: {cell}" if name else cell for name, cell in cells)

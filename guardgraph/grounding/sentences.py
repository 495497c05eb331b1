"""Where a text's sentences end, in any script."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby, pairwise, repeat
from typing import Final

from guardgraph.grounding.languages import LANGUAGES, list_hand_words
from guardgraph.plain.memory import remember_by_text

_END = re.compile(
    r"[.!?…؟।۔։。！？｡\n](?:(?<=\n)|(?<=[。！？｡])[。！？｡]*+[”’」』）\"')\]]*+"
    r"|(?<=[.!?…؟।۔։])(?<![.!?…؟।۔։].)[.!?…؟।۔։]*+[\"'”’»)\]*_]*+(?=\s))\s*+"
)
"""A mark that ends sentences, the quote marks and brackets that it closes, and the blanks behind; a line's end, too.

Scripts without blanks have marks of their own, behind which no blank stands. The mark comes first: what is before and
behind it is looked at nowhere else."""

_OPENING: Final = "\"'“„«‘([¿¡*_"
_INITIAL = re.compile(r"[^\W\d_]\.")
_UNIT = re.compile(r"[0-9] [ghlmst]\.$")
"""A number and a unit of one letter: no initial, so "It took 4 s. Then" are two sentences."""
_UNIT_CHARS: Final = 4
_ITEM = re.compile(r"(?:^|[:;][ \t]+|(?<![0-9])[:;])[(*]*[0-9]{1,3}\.$")
"""An item's number: nothing stands before it in its sentence, or a colon that is none of a time of day."""
_ORDINAL = re.compile(r"(?<!\w)(\w+) [0-9]{1,2}\.$")
"""A German ordinal ("am 3. Mai") stands behind an article or a preposition."""
_LAST_WORD = re.compile(r"(?<![^\W\d_])[^\W\d_]+\.$")
_LOOKBACK: Final = 24  # characters before a mark that decide what it ends

_BLOCK = re.compile(r"[ \t]*+(?:[-+*•–—>|#]|```|~~~|\(?\d{1,3}[.)][ \t]|\[|=+$|[^\W\d_][\w \-/]{0,30}:(?:\s|$)|$)")
"""How a line begins that goes on with no line before it: an item, a heading, a row, a quotation, a label."""
_FENCES: Final = ("```", "~~~")
_PARAGRAPH: Final = re.compile(r"\S.*(?:\n(?![ \t]*(?:\n|\Z)).*)*")  # lines without a blank one between them
_LEAST_WIDTH: Final = 30  # characters. Nobody wraps a text to narrower lines; what is narrower are lines of their own.


def split_sentences(text: str) -> list[str]:
    """Split a text into its sentences, stripped, in order, blanks dropped."""
    return [text[start:end] for start, end in find_sentence_spans(text)]


def find_sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return where a text's sentences begin and end, without the blanks around them."""
    return list(_find_spans_of_text(text))


@remember_by_text(texts=64, chars=2500)
def _find_spans_of_text(text: str) -> tuple[tuple[int, int], ...]:
    spans, start = [], 0
    for mark, after in _find_sentence_ends(text):
        may_be_item = _is_digit(text[mark - 1 : mark])
        if not (may_be_item and _ITEM.search(text[max(start, mark - _LOOKBACK) : mark + 1])):
            spans.append(_strip_sentence_span(text, start, after))
            start = after
    spans.append(_strip_sentence_span(text, start, len(text)))
    return tuple((first, last) for first, last in spans if first < last)


def _find_sentence_ends(text: str) -> Iterator[tuple[int, int]]:
    for match in _END.finditer(text):
        start, after = match.span()
        if text[start] in "\n。！？｡" or "\n" in match[0] or _is_sentence_beginning(text, after, start):
            yield start, after


def _is_sentence_beginning(text: str, after: int, mark: int) -> bool:
    """Say whether a sentence begins at a place, behind a mark that may end the one before."""
    at = after
    while at < len(text) and at < after + 3 and text[at] in _OPENING:
        at += 1
    if at < len(text) and text[at].islower():
        return False
    if text[mark] != "." or text[mark : mark + 2] in ("..", ".!", ".?"):
        return True
    before = text[max(mark - _LOOKBACK, 0) : mark + 1]
    if _is_digit(text[mark - 1 : mark]):
        found = _ORDINAL.search(before)
        return found is None or found[1].lower() not in list_hand_words("de", "ordinal_lead")
    if _UNIT.search(before, max(len(before) - _UNIT_CHARS, 0)):
        return True
    word = before.split()[-1].lstrip(_OPENING)
    if _INITIAL.fullmatch(word) and text[at : at + 2].isalpha():
        return False
    last = _LAST_WORD.search(word)
    short = last[0][:-1].lower() if last else ""
    return short not in _list_words("abbreviations") or (
        short in _list_words("numbering") and not text[at : at + 1].isdecimal()
    )


@cache
def _list_words(key: str) -> frozenset[str]:
    """Return words of all languages: "numbering" are abbreviations before a number only, as in "See No. 5"."""
    return frozenset(word for each in LANGUAGES for word in list_hand_words(each, key))


def _is_digit(letter: str) -> bool:
    return "0" <= letter <= "9"


def _strip_sentence_span(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return start, end


def count_stated_clauses(sentence: str, clauses: Sequence[Sequence[str]]) -> int:
    """Return how many clauses of a sentence state something before it asks; they are words, and none is blank.

    "It is done, anything else?" asks in its last clause alone, "Is it done, or will it be?" in both.
    """
    if not sentence.rstrip("\"'”’»)]*_ ").endswith(("?", "？")):
        return len(clauses)
    asked = (at for at, words in enumerate(clauses) if words[0] in _list_words("asking"))
    return next(asked, max(len(clauses) - 1, 0))


def find_paragraph_spans(text: str) -> list[tuple[int, int]]:
    """Return where a text's paragraphs begin and end: what blank lines part."""
    return [_strip_sentence_span(text, *match.span()) for match in _PARAGRAPH.finditer(text)]


def unwrap_text_lines(text: str) -> str:
    """Return a text of the same length whose lines, where they were only broken to a width, go on behind a blank."""
    lines = text.split("\n")
    joined, in_code = [lines[0]], False
    for (line, following), width in zip(pairwise(lines), _measure_paragraph_widths(lines), strict=False):
        in_code ^= line.lstrip().startswith(_FENCES)
        joined += ["\n" if in_code or not _is_continued_line(line, following, width) else " ", following]
    return "".join(joined)


def _measure_paragraph_widths(lines: list[str]) -> Iterator[int]:
    """Return for every line the length of the widest of its paragraph."""
    for _, paragraph in groupby(lines, key=lambda line: bool(line.strip())):
        lengths = [len(line.rstrip()) for line in paragraph]
        yield from repeat(max(lengths), len(lengths))


def _is_continued_line(line: str, following: str, width: int) -> bool:
    if (
        not line.strip()
        or not following.strip()
        or _BLOCK.match(following) is not None
        or line.lstrip().startswith(("|", "#", *_FENCES))
    ):
        return False
    first = following.split(maxsplit=1)[0]
    return first[0].islower() or (width >= _LEAST_WIDTH and len(line.rstrip()) + 1 + len(first) > width)

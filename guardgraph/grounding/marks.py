"""The marks of an answer, and the sentences that they stand behind.

A mark is ids in square brackets behind a sentence, which say what it rests on.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from guardgraph.grounding.quotes import find_quoting_sentences

_PARTED: Final = re.compile(r"\n[ \t]*+\n")  # what parts paragraphs


class CitingSentence(NamedTuple):
    """A sentence of a text, and what it cites."""

    start: int
    end: int
    ids: tuple[str, ...]  # of what it cites


Sentence = CitingSentence


class Mark(NamedTuple):
    """What stands behind a sentence."""

    at: int  # where it stood, in the text without marks
    ids: tuple[str, ...]


def write_marks(text: str, sentences: Sequence[Sentence]) -> str:
    """Return an answer with a mark behind each sentence; read again, it is the same answer, cited the same way."""
    parts, at = list[str](), 0
    for item in sentences:
        parts += [text[at : item.end], f" [{', '.join(item.ids)}]"]
        at = item.end
    return "".join([*parts, text[at:]])


def mark_each_sentence(text: str, cited: str) -> str:
    """Return a text with a mark behind each of its sentences, which all rest on one source."""
    return write_marks(text, [Sentence(start, end, (cited,)) for start, end, *_ in find_answer_sentences(text)])


def find_answer_sentences(text: str) -> Iterator[tuple[int, int, int, bool]]:
    """Yield where sentences begin and end, how far marks behind them may stand, and whether their paragraph ends."""
    spans = find_quoting_sentences(text)
    for (start, end), (following, _) in pairwise([*spans, (len(text), 0)]):
        parted = _PARTED.search(text, end, following)
        yield start, end, parted.start() if parted else following, parted is not None


_BRACKET: Final = re.compile(r"\[([^\[\]\n]+)\](?!\()")  # what may be a mark; a link of Markdown is none
_FOREIGN: Final = re.compile(r"【[^【】\n]*】|[\ue000-\uf8ff](?:[^\ue000-\uf8ff\s]*[\ue000-\uf8ff])*")
"""Marks of other makers, in lenticular brackets or of private-use letters: they name nothing that was shown."""
_ITEMS: Final = re.compile(r"[,;]")


def read_marks(answer: str, ids: Collection[str], texts: Sequence[str]) -> tuple[str, list[Mark], list[str]]:
    """Take the marks out of an answer."""
    text, marks = _take_out_marks(answer, ids)
    unknown = {item for bracket in _BRACKET.finditer(text) for item in _find_unknown_ids(bracket, ids, texts)}
    unknown.update(mark for mark in _FOREIGN.findall(text) if not any(mark in one for one in texts))
    return text, marks, sorted(unknown)


def _take_out_marks(answer: str, ids: Collection[str]) -> tuple[str, list[Mark]]:
    if "[" not in answer:  # a pattern of the ids takes longer to compile than most answers to judge
        return answer.strip(), []
    one = "|".join(map(re.escape, sorted(ids, key=len, reverse=True)))
    mark = rf"\[[ \t]*(?:{one})(?:\s*[,;]\s*(?:{one}))*[ \t]*\]"
    item = re.compile(rf"({one})\s*(?:[,;]\s*|\]|(?=\s*\]))")
    text, marks, rest = "", list[Mark](), 0
    for match in re.finditer(rf"(?<!\s)(\s*+)({mark}(?:[ \t]*{mark})*)([ \t]*)", answer):
        text += answer[rest : match.start()]
        before, after = _keep_mark_blanks(text, match, answer[match.end() : match.end() + 1])
        text += before
        marks.append(Mark(len(text), tuple(dict.fromkeys(item.findall(match[2])))))
        text, rest = text + after, match.end()
    text += answer[rest:]
    begun = len(text) - len(text.lstrip())
    return text.strip(), [Mark(max(mark.at - begun, 0), mark.ids) for mark in marks]


def _keep_mark_blanks(text: str, match: re.Match[str], following: str) -> tuple[str, str]:
    """Return the blanks that stay before and behind a mark; at the beginning of a line none does behind it."""
    before, after = match[1], match[3]
    if following in ("", "\n"):
        return "", ""
    if "\n" in before or not text:
        return before, ""
    joins = not after and following.isalnum() and text[-1:].isalnum()
    return "", after or (" " if joins else "")


def _find_unknown_ids(bracket: re.Match[str], ids: Collection[str], texts: Sequence[str]) -> Iterator[str]:
    items = [item.strip() for item in _ITEMS.split(bracket[1]) if item.strip()]
    is_listed = any(item in ids for item in items)
    has_words = any(item.isalpha() for item in ids)
    looks_like_ids = all(_looks_like_id(item, has_words) for item in items)
    if items and (is_listed or looks_like_ids) and not any(bracket[0] in text for text in texts):
        yield from (item for item in items if item not in ids)


def _looks_like_id(item: str, has_words: bool) -> bool:
    return len(item.split()) == 1 and any(map(str.isalnum, item)) and (has_words or not item.isalpha())

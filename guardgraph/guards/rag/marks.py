"""The marks of an answer: the ids in square brackets behind a sentence that say what it rests on."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Final, NamedTuple

from guardgraph.guards.stop import Stop
from guardgraph.state.rag import ContextChunk

_BRACKET: Final = re.compile(r"\[([^\[\]\n]+)\](?!\()")
"""What may be a mark; a link of Markdown is none."""
_ITEMS: Final = re.compile(r"[,;]")


class Mark(NamedTuple):
    """What stands behind a sentence."""

    at: int
    """Where it stood, in the text without marks."""
    ids: tuple[str, ...]


def read_citation_marks(answer: str, chunks: Sequence[ContextChunk]) -> tuple[str, list[Mark]]:
    """Take the marks out of an answer.

    A bracket is a mark where all that it holds are ids of packed chunks, with commas or semicolons between. Another
    one is text where it stands so in a packed chunk, where it is a link, and where it cannot be meant as a mark: an
    item has a blank in it, or is a word of letters alone while no packed id is. What remains looks like a citation
    that nobody can look up, and is refused.

    Args:
        answer: as the model wrote it.
        chunks: the packed context.

    Returns:
        The text without marks and without the blanks before them, and the marks in order.

    Raises:
        Stop: ``invalid_answer:citations_out_of_context``, ``llm_empty`` where nothing but marks was written.
    """
    ids = {chunk["doc_id"] for chunk in chunks}
    text, marks = _take_out_citation_marks(answer, ids)
    unknown = {item for bracket in _BRACKET.finditer(text) for item in _find_unknown_citations(bracket, ids, chunks)}
    if unknown:
        raise Stop(
            "invalid_answer:citations_out_of_context", invalid_citations=sorted(unknown), context_doc_ids=sorted(ids)
        )
    if not text:
        raise Stop("llm_empty", details={"field": "answer"})
    return text, marks


def _take_out_citation_marks(answer: str, ids: Collection[str]) -> tuple[str, list[Mark]]:
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


def _find_unknown_citations(
    bracket: re.Match[str], ids: Collection[str], chunks: Sequence[ContextChunk]
) -> Iterator[str]:
    items = [item.strip() for item in _ITEMS.split(bracket[1]) if item.strip()]
    is_listed = any(item in ids for item in items)
    has_words = any(item.isalpha() for item in ids)
    looks_like_ids = all(_looks_like_citation_id(item, has_words) for item in items)
    if items and (is_listed or looks_like_ids) and not any(bracket[0] in chunk["text"] for chunk in chunks):
        yield from (item for item in items if item not in ids)


def _looks_like_citation_id(item: str, has_words: bool) -> bool:
    return len(item.split()) == 1 and any(map(str.isalnum, item)) and (has_words or not item.isalpha())

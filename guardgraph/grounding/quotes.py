"""What a text quotes, and whether a quote stands in a text, word for word."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import cache
from itertools import islice
from operator import attrgetter
from typing import Final, NamedTuple

from guardgraph.grounding.languages import list_hand_words
from guardgraph.grounding.sentences import find_paragraph_spans, find_sentence_spans, unwrap_text_lines
from guardgraph.plain.letters import is_unspaced_letter, normalise_to_nfc
from guardgraph.plain.memory import remember_by_text

_SAME = str.maketrans(
    dict.fromkeys("‘’‚‛‹›＇", "'") | dict.fromkeys("“”„‟«»＂", '"') | dict.fromkeys("‐‑‒–—―−﹘﹣－", "-")
)

_KEPT: Final = ("<super>", "<sub>", "<fraction>", "<circle>", "<square>", "<vertical>")
"""Decompositions that would make another number: 15³ is not 153."""


class _Folds(dict[int, str | int]):
    """What each letter is compared as: in its compatibility form (NFKC), where that is the same word and number."""

    def __missing__(self, code: int) -> str | int:
        letter, folded = chr(code), unicodedata.normalize("NFKC", chr(code))
        if folded != letter:
            kind = unicodedata.category(letter)
            is_kept = kind == "No" or unicodedata.decomposition(letter).startswith(_KEPT)
            is_long = len(folded) > 1 and (kind[0] not in "LN" or is_unspaced_letter(letter))
            has_blank = any(map(str.isspace, folded)) and not letter.isspace()
            folded = letter if is_kept or is_long or has_blank else folded
        self[code] = folded
        return folded


_FOLDS: Final = _Folds(_SAME)

_INNER = re.compile(r"(?<!\w)[\"`]|(?<!\d)[\"`](?!\w)")
"""Double marks and backticks where words begin or end, behind no digit: those that are no inches."""

_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u0900-\u0963\u0966-\u096f\u0971-\u0dff\u20d0-\u20f0\ufffd"
)
"""Accents and vowel signs, which belong to their letter, and the blocks of India's scripts without their stops.

U+FFFD is among them: nobody knows which letter or digit it was.
"""

_UNSPACED = (
    "\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Scripts that write words without blanks: Thai, Lao, Tibetan, Burmese, Khmer, Han, kana. Any letter is a word."""

_BLACK = re.compile(r"\S+")
_UNKNOWN: Final = "\ufffd"  # what stands for bytes that are no character

_LETTER = rf"(?:[{_MARKS}]|(?![{_UNSPACED}])\w)"


@cache
def _compile_word() -> re.Pattern[str]:
    return re.compile(rf"((?:(?<![^ (])[-+.](?=\d))?{_LETTER}+(?:(?:(?<=\d)[.,:/-](?=\d)|'){_LETTER}+)*)")


_ASCII_WORD = re.compile(r"((?:(?<![^ (])[-+.](?=\d))?\w++(?:(?:(?<=\d)[.,:/-](?=\d)|')\w++)*)", re.ASCII)
"""The same in a text of ASCII characters alone."""


@cache
def _compile_quoted() -> re.Pattern[str]:
    """Return what stands between quotation marks."""
    clipped = rf"(?:\d\ds?|{'|'.join(sorted(list_hand_words('en', 'clipped')))})\b"
    return re.compile(
        r"[“„”]([^“„”]++)[“”]|«([^«»]++)»|»([^«»]++)«|‹([^‹›]++)›|›([^‹›]++)‹|「([^「」]++)」|『([^『』]++)』"
        rf"|[‘‚](?!{clipped}(?:[^‘’‚]|(?<=\w)’(?=\w))*[sxz]’(?!\w))([^‘’‚]++(?:(?<=\w)’(?=\w)[^‘’‚]++)*)[‘’](?!\w)"
        r"|(?<!\w)[\"＂](?=\S)([^\"＂]++)(?<=\S)[\"＂](?!\w)"
        rf"|(?<!\w)['＇](?=\S)(?!{clipped}(?:[^'＇]|(?<=\w)['＇](?=\w))*[sxz]['＇](?!\w))"
        r"([^'＇]++(?:(?<=\w)['＇](?=\w)[^'＇]++)*)(?<=\S)['＇](?!\w)"
    )


_MARK: Final = re.compile("[“„”«»‹›「『‘‚\"＂'＇]")  # what opens a quote
# What may stand at the ends of a quote that is not the source's.
_PUNCTUATION: Final = ".,;:!?…。，！？ \t\n\u00a0\u202f"


_OPENING_MARKS: Final = re.compile(r"\s*+(?:\|(?:\s++|\Z)|[-*+•]\s++(?=[^\W\d_]))*")
_CLOSING_MARKS: Final = re.compile(r"\s*+(?:\|\s++)+")
"""What marks the item of a list or the cells of a table, closing ones read backwards; a dash may be a number's sign."""


class Quote(NamedTuple):
    """What a text quotes."""

    start: int  # of the opening mark
    end: int  # behind the closing mark
    text: str  # what is quoted, without marks and the punctuation at its ends


def find_quotes(text: str) -> Iterator[Quote]:
    """Yield what stands between quotation marks of any kind within a paragraph, if it has two words at least."""
    if _MARK.search(text) is None:
        return
    for first, last in find_paragraph_spans(text):
        for match in _compile_quoted().finditer(text, first, last):
            quoted = match[match.lastindex or 0].strip(_PUNCTUATION)
            if sum(map(_count_quoted_words, quoted.split())) > 1:
                yield Quote(*match.span(), quoted)


def find_quoting_sentences(text: str) -> list[tuple[int, int]]:
    """Return where a text's sentences begin and end, so that none ends inside a quote."""
    quotes = list(find_quotes(text))
    spans = list[tuple[int, int]]()
    for start, end in find_sentence_spans(unwrap_text_lines(text)):
        quoted = bisect_left(quotes, start, key=attrgetter("start")) - 1
        if spans and quoted >= 0 and quotes[quoted].end > start:
            spans[-1] = (spans[-1][0], end)
        elif any(map(str.isalnum, text[start:end])):
            spans.append((start, end))
    return spans


def _count_quoted_words(word: str) -> int:
    return max(sum(map(is_unspaced_letter, word)), any(map(str.isalnum, word)))


def normalise_quote_text(text: str) -> str:
    """Return a text with runs of white space as one blank, quote marks as single ones, and dashes as plain ones."""
    plain = " ".join(_fold_letters(text).split())
    return _INNER.sub("'", plain) if '"' in plain or "`" in plain else plain


def _fold_letters(text: str) -> str:
    return text if text.isascii() else normalise_to_nfc(text.translate(_FOLDS))


def is_quote_in_text(quote: str, text: str) -> bool:
    """Say whether a text contains a quote verbatim, white space and the kinds of quote marks and dashes aside."""
    quote, text = normalise_quote_text(_take_off_marks(quote)), _read_page_text(text)
    start = text.find(quote)
    if start < 0 or _UNKNOWN in quote:
        return False
    marked = _mark_quote_words(quote)
    # A quote mostly fits where it first stands, so that the rest need not be read.
    begin, end = _widen_quote_span(start, start + len(quote), text)
    return marked in _mark_quote_words(text[begin:end]) or marked in _mark_quote_words(text)


def find_quote_place(quote: str, text: str) -> tuple[int, int] | None:
    """Return where a quote stands in a text, verbatim as `is_quote_in_text` has it, and first."""
    wanted, read = normalise_quote_text(_take_off_marks(quote)), _read_page_text(text)
    text = _mark_row_ends(text)
    first = read.find(wanted) if wanted else -1
    if first < 0 or _UNKNOWN in wanted:
        return None
    marked = _mark_quote_words(wanted)
    begin, end = _widen_quote_span(first, first + len(wanted), read)
    start = _find_quote_start(read[begin:end], marked)
    if start is None:
        begin, start = 0, _find_quote_start(read, marked)
    if start is None:
        return None
    place = begin + start
    return _map_quote_place(place, place, read, text), _map_quote_place(
        place + len(wanted), place + len(wanted) - 1, read, text
    )


def _take_off_marks(quote: str) -> str:
    """Return a quote without the marks of an item or of cells around it; as it is where it is made of nothing else."""
    closing = _CLOSING_MARKS.match(quote[::-1])
    said = quote[: len(quote) - closing.end()] if closing else quote
    opening = _OPENING_MARKS.match(said)
    return said[opening.end() if opening else 0 :] or quote


@remember_by_text(texts=4, chars=3_000_000)
def _read_page_text(text: str) -> str:
    """Return a page as its quotes are looked for; each of its notes asks for it, several times."""
    return normalise_quote_text(_mark_row_ends(text))


def _mark_row_ends(text: str) -> str:
    """Return a text in which a mark stands between the rows of a page's table, and every letter where it stood."""
    return text.replace("\n\n|", "\n\0|")


def _find_quote_start(read: str, marked: str) -> int | None:
    """Return where a quote with its words marked stands in a text first, None where it does not."""
    whole = _mark_quote_words(read)
    at = whole.find(marked)
    return at - whole.count("\n", 0, at) if at >= 0 else None


def _map_quote_place(place: int, inside: int, read: str, text: str) -> int:
    """Return where a place of a comparable text is in the text itself."""
    if text.isascii() and len(read) == len(text):
        return place
    words = read.count(" ", 0, inside)
    within = place - (read.rfind(" ", 0, inside) + 1)
    word = next(islice(_BLACK.finditer(text), words, None))
    if word[0].isascii():
        return word.start() + within
    lengths = range(len(word[0]) + 1)
    return word.start() + bisect_right(lengths, within, key=lambda end: len(_fold_letters(word[0][:end]))) - 1


def _widen_quote_span(start: int, end: int, text: str) -> tuple[int, int]:
    """Return where a part of a text begins and ends with the blanks around it, which no word reaches across."""
    blank = text.find(" ", end)
    return text.rfind(" ", 0, start) + 1, blank if blank >= 0 else len(text)


@remember_by_text(texts=256, chars=1000)
def _mark_quote_words(text: str) -> str:
    # A comparable text holds no line break, so line breaks can mark where its words begin and end.
    return "\n".join((_ASCII_WORD if text.isascii() else _compile_word()).split(text))

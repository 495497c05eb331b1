"""Text into the tokens that can make up a number.

A text is split word by word, and the words that turn up again and again are split once.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import cache, lru_cache
from itertools import chain
from typing import Final, NamedTuple

from guardgraph.guards.facts.units import CURRENCIES, FIRST, NUMBER_WORDS, SPOKEN_DAYS, TIMES_SAID
from guardgraph.guards.facts.values import Amount
from guardgraph.languages.tables import LANGUAGES, load_month_names, load_weekday_names

LOOKAHEAD: Final = 6
"""Empty tokens at the end, so that readers may look ahead without counting."""

KNOWN_WORDS: Final = 8192
KNOWN_WORD_CHARS: Final = 24
"""How many words are kept with their tokens, and how long each may be: 4 MB of ordinary words, 30 MB of mere signs."""

MAX_DIGITS: Final = 400
"""Longest amount and largest power of ten to compute with (a double has 308); others compare as written."""

ORDINAL_SUFFIXES: Final = frozenset({"st", "nd", "rd", "th", "x", "×"})

ROMAN: Final = re.compile(r"(?!XL$|L$)(?:X{0,3}|XL|LX{0,3})(?:IX|IV|V?I{0,3})(?<=.)")
"""Roman numerals up to 89. Greater ones, with C, D and M, are mostly abbreviations."""

NUMBER: Final = re.compile(
    r"(?P<whole>[1-9]\d{0,2}(?:[,_]\d{3})++(?!\d)|[1-9]\d{0,2}(?:\.\d{3}){2,}+(?!\d)|\d++)?(?P<point>[.,]\d++)?"
    r"(?P<power>[eE][+-]?\d{1,4}(?![^\W_]))?(?P<suffix>[^\W\d_]*+)"
)
"""1,200.50 · 99,95 · .5 · 1e6 · 45min. A comma that groups no thousands is a decimal comma."""

_UNGROUPED: Final = str.maketrans("", "", ",._")

_TIMES: Final = "noon midday midnight twenties thirties forties fifties sixties seventies eighties nineties"
TIMES: Final = frozenset(_TIMES.split())
"""Times of day and decades that have a name."""

_WORDS = re.compile(r"(?:(?<!\S)[_-]++\s++)*+\S++")
"""Words, each with the ones before it that hold no token: a lone underscore is shown, and parts nothing."""

_MARKS: Final = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc"
    "\u0900-\u0903\u093a-\u093c\u093e-\u094f\u0951-\u0957\u0962\u0963\u0981-\u0983\u09bc-\u09cd\u0a01-\u0a4d\u0abc-\u0acd\u0bbe-\u0bcd"
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ecd\u102b-\u103e\u17b4-\u17d3"
)
"""Vowel signs and accents, which belong to the letter before them: without them a word falls into pieces."""

_TOKEN = re.compile(
    rf"(?P<chunk>(?:\w[{_MARKS}]*+)++(?:(?:-|(?<=\d)[.,:/](?=\d)|(?<=\d[eE])[+-](?=\d))(?:\w[{_MARKS}]*+)++)*+)|"
    r"\.(?<![\w.]\.)\d++(?!\w)|°[CFK](?!\w)|[^\w\s]"
)
_DIGIT = re.compile(r"\d")
_DASHES: Final = frozenset({"-", "–", "—", "‒", "to"})
_STAMP = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d(?::\d\d)?)(?:\.\d++)?(?:(Z)|(-)(\d\d:?\d\d))?")
_ZONE = re.compile(r"(UTC|GMT)(-)(\d\d?(?::?\d\d)?)")
_HOURS = re.compile(r"(?:\d++(?:d|h|m|min|s)(?![^\W\d_])){2,}")
_HOUR = re.compile(r"\d++[a-z]++")
_DIGITS = re.compile(r"\d++(?:[-/.:]\d++)++|\d\d?:\d\d(?::\d\d)?(?:[ap]m|z)|\d\d?h\d\d", re.IGNORECASE)
_RANGE = re.compile(
    r"(?!\d{4}[-/](?:0[1-9]|1[0-2])$)(?:\d++(?:\.\d++)?-[1-9]\d*+(?:\.\d++)?|\d{4}/(?:\d\d){1,2})"
    r"|\d\d?(?::\d\d){1,2}-\d\d?(?::\d\d){1,2}|\d{3,}:\d{4}"
)
"""10-15 · 2025/26 · 02:00-04:00 · a standard and its edition, 27001:2022."""

_LABEL = re.compile(r"Q[1-4]|H[12]|[vV]\d++(?:\.\d++)*+")
_PREFIX = re.compile(r"(?:(?:mid|pre|post|top|sub|under|over|early|late|non|about|nearly)-)++", re.IGNORECASE)
_BETWEEN: Final = {signs: re.compile(rf"[^{signs}]++") for signs in ("-", "-/", ",:")}
_CODE = re.compile(r"([A-Z]{3})(?=\d)")


class TokenPiece(NamedTuple):
    """A part of a word, and where it stands in it."""

    text: str
    start: int
    end: int
    glued: bool = False
    """Joined to the piece before it, as in "15-minute"."""
    identifier: bool = False
    """Letters and digits that are no number: "PAY-4521"."""


class Token(NamedTuple):
    """A word, a number or a sign: a piece of what stands between two blanks."""

    text: str
    lower: str
    opens: bool
    """Whether a number can begin here: at digits, at "v2" or ".5" and at some words."""
    glued: bool
    leads: bool
    """Whether it is the first piece of its word."""
    number: tuple[Amount | None, str] | None
    """What it is where it begins with digits and is a number: the amount, None where it is too long, and the suffix."""
    identifier: bool
    word: str
    start: int
    """Its place in the word."""
    end: int


_NOTHING: Final = [Token("", "", False, False, True, None, False, "", 0, 0)] * LOOKAHEAD


def split_number_tokens(plain_text: str) -> list[Token]:
    """Split a text that went through `normalise_number_spelling`; the list ends with `LOOKAHEAD` blank tokens."""
    words = plain_text.split()
    if "_" in plain_text and any(word[0] == "_" for word in words):
        words = _WORDS.findall(plain_text)
    if max(map(len, words), default=0) <= KNOWN_WORD_CHARS:
        return [*chain.from_iterable(map(_known_word, words)), *_NOTHING]
    known = [_known_word(word) if len(word) <= KNOWN_WORD_CHARS else _split_number_word(word) for word in words]
    return [*chain.from_iterable(known), *_NOTHING]


def show_number_tokens(tokens: list[Token], first: int, end: int) -> str:
    """Return the text from one token up to another, not included, its white space normalised."""
    one, last = tokens[first], tokens[end - 1]
    if end - first == 1:
        return one.word[one.start : one.end]
    words = [one.word, *(token.word for token in tokens[first + 1 : end] if token.leads)]
    text = " ".join(words)
    return " ".join(text[one.start : len(text) - len(last.word) + last.end].split())


def _split_number_word(word: str) -> tuple[Token, ...]:
    """Split what stands between two blanks; nothing around it makes a difference."""
    if word.isalpha():
        lower = word.lower()
        return (Token(word, lower, _is_number_beginning(word), False, True, None, False, word, 0, len(word)),)
    pieces: list[TokenPiece] = []
    for match in _TOKEN.finditer(word):
        text, (start, end) = match[0], match.span()
        if text.isalpha() or text.isdecimal() or match["chunk"] is None:
            pieces.append(TokenPiece(text, start, end))
        else:
            inner = text.strip("_")
            pieces.extend(_split_number_pieces(inner, start + text.index(inner)))
    return tuple(
        Token(
            piece.text,
            piece.text.lower(),
            piece.identifier or _is_number_beginning(piece.text),
            piece.glued,
            at == 0,
            None if piece.identifier else read_number_token(piece.text),
            piece.identifier,
            word,
            piece.start,
            piece.end,
        )
        for at, piece in enumerate(pieces)
    )


_known_word = lru_cache(maxsize=KNOWN_WORDS)(_split_number_word)


def read_number_token(text: str) -> tuple[Amount | None, str] | None:
    """Read a text that is one number, such as "1,200" or "45min": its amount and its suffix."""
    if text.isdecimal():
        return int(text) if len(text) <= MAX_DIGITS else None, ""
    has_digits = text[:1].isdecimal() or (text[:1] == "." and len(text) > 1)
    match = NUMBER.fullmatch(text) if has_digits else None
    return (_read_digits_amount(match), match["suffix"]) if match else None


def _read_digits_amount(match: re.Match[str]) -> Amount | None:
    whole = (match["whole"] or "0").translate(_UNGROUPED)
    part = (match["point"] or "")[1:]
    power = int((match["power"] or "e0")[1:]) - len(part)
    if len(whole) + len(part) > MAX_DIGITS or abs(power) > MAX_DIGITS:
        return None
    digits = int(whole + part)
    return digits * 10**power if power >= 0 else Fraction(digits, 10**-power)


def _is_number_beginning(text: str) -> bool:
    if text.isalpha() or (not text.isascii() and text[0].isalpha() and not text[-1].isnumeric()):
        return text.lower() in _list_number_beginnings() or (text[0] in "IVXL" and ROMAN.fullmatch(text) is not None)
    return text[:1].isnumeric() or text[-1:].isnumeric()


@cache
def _list_number_beginnings() -> frozenset[str]:
    """Words with which a number can begin."""
    names = [*NUMBER_WORDS, *FIRST, *TIMES, *TIMES_SAID, *SPOKEN_DAYS, "quarter"]
    for language in LANGUAGES:
        names += [*load_month_names(language), *load_weekday_names(language)]
    return frozenset(names)


def _split_number_pieces(chunk: str, start: int) -> list[TokenPiece]:
    if _is_number_piece(chunk):
        return [TokenPiece(chunk, start, start + len(chunk))]
    if not _DIGIT.search(chunk):
        return _split_at_number_signs(chunk, start, "-")
    if grouped := _STAMP.fullmatch(chunk) or _ZONE.fullmatch(chunk):
        said = [part for part in range(1, len(grouped.groups()) + 1) if grouped[part]]
        return [TokenPiece(grouped[part], start + grouped.start(part), start + grouped.end(part)) for part in said]
    if _HOURS.fullmatch(chunk):
        return [TokenPiece(part[0], start + part.start(), start + part.end()) for part in _HOUR.finditer(chunk)]
    head = _PREFIX.match(chunk) or _CODE.match(chunk)
    if head and (head[0].endswith("-") or head[0] in CURRENCIES):
        rest = _split_number_pieces(chunk[head.end() :], start + head.end())
        return [TokenPiece(head[0], start, start + head.end()), *rest]
    return _split_joined_numbers(chunk, start) or [TokenPiece(chunk, start, start + len(chunk), identifier=True)]


def _split_joined_numbers(chunk: str, start: int) -> list[TokenPiece]:
    """Part a word that begins with a number and has no other pieces with digits; none where it is an identifier."""
    parts = [
        piece
        for part in _split_at_number_signs(chunk, start, "-/")
        for piece in ([part] if _is_number_piece(part.text) else _split_at_number_signs(part.text, part.start, ",:"))
    ]
    if _is_number_piece(parts[0].text) and all(
        _is_number_piece(part.text) or not _DIGIT.search(part.text) for part in parts
    ):
        return parts
    return []


def _split_at_number_signs(chunk: str, start: int, separators: str) -> list[TokenPiece]:
    found = _BETWEEN[separators].finditer(chunk)
    return [TokenPiece(part[0], start + part.start(), start + part.end(), part.start() > 0) for part in found]


def _is_number_piece(chunk: str) -> bool:
    if not chunk[:1].isdecimal():
        return _LABEL.fullmatch(chunk) is not None
    if _DIGITS.fullmatch(chunk):
        return not _RANGE.fullmatch(chunk)
    return NUMBER.fullmatch(chunk) is not None


def find_number_range_end(tokens: list[Token], first: int, end: int) -> int | None:
    """Find where the other end of a range must begin: "10-15", "10 to 15", "between 10 and 15".

    Args:
        tokens: the tokens of a text.
        first: the index at which one end begins.
        end: the index behind it.
    """
    word = tokens[end].lower
    if word in _DASHES or (word == "and" and tokens[first - 1].lower == "between"):
        return end + 1
    return end if tokens[end].glued else None

"""The tokens of a text that can make up a number, in any language as the readers know them.

A text is split word by word, and the words that turn up again and again are split once. A number word of any language
stands in digits, and the words around a number in English; what is shown of a token stays as it was written. What is
known of the words of a language is the names of its tables and its grammar.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache, lru_cache
from itertools import chain
from typing import Final, NamedTuple

from guardgraph.grounding.words import load_stop_words
from guardgraph.guards.facts.numerals import SHARES, UNPARTED_NAMES, write_ordinal_number
from guardgraph.guards.facts.values import Amount
from guardgraph.guards.facts.words import (
    CURRENCIES,
    EACH,
    FIRST,
    GRAMMAR,
    HALVES,
    HOLIDAY_OPENINGS,
    MIXED,
    MONTHS,
    NUMBER_WORDS,
    PARTS,
    POINTS,
    SCALES,
    SPOKEN_DAYS,
    TIMES_SAID,
    UNTOLD,
    find_units,
    name_foreign_unit,
    name_number_scale,
)
from guardgraph.guards.languages.numbers import NumberWords, Spelled, load_magnitude_words, load_number_words
from guardgraph.guards.languages.tables import (
    LANGUAGES,
    load_currency_names,
    load_month_names,
    load_unit_names,
    load_weekday_names,
)

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
    names = [*NUMBER_WORDS, *FIRST, *TIMES, *TIMES_SAID, *SPOKEN_DAYS, *HOLIDAY_OPENINGS, "quarter"]
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


_MAY: Final = 5
"""The month whose name is no longer than an abbreviation."""

_ACCUSATIVE: Final = "ا"
"""The ending of an Arabic noun behind 11 to 99 and its like."""

OF: Final = frozenset({"de", "d", "di"})
"""Words between a magnitude and its unit in Romance languages."""

WRITTEN: Final = {f"{part}/{of}": Fraction(part, of) for of in (2, 3, 4, 5, 6, 8, 16) for part in range(1, of)}
"""Parts behind a whole number: "2 1/2"."""


class Vocabulary(NamedTuple):
    """What is known of a language, for the search through tokens."""

    code: str
    numbers: NumberWords
    names: Mapping[str, str]
    """What a phrase is translated to: units, magnitudes and grammar."""
    heads: frozenset[str]
    """First words of phrases."""
    begins: frozenset[str]
    """Words with which what is said in several words can begin."""
    starts: frozenset[str]
    """These, and words that can add to a number in digits."""
    follow: frozenset[str]
    """Words with which it can go on."""
    touched: frozenset[str]
    """Words that do not always stay as they are in English."""
    ordinary: frozenset[str]
    """Words of grammar, and those that mean a number or a month in English alone."""
    halves: Mapping[str, Fraction]
    mixed: Mapping[str, Fraction]
    parts: Mapping[str, int]
    point: str


@cache
def build_number_vocabulary(language: str) -> Vocabulary:
    """Return the vocabulary of a language, a code of `LANGUAGES`."""
    numbers = load_number_words(language)
    point = POINTS.get(language, "")
    names = _list_number_phrases(language)
    heads = frozenset(name.partition(" ")[0] for name in names)
    begins = heads | numbers.beginnings | {"a"}
    behind = frozenset({"and", point, *SHARES, *WRITTEN})
    return Vocabulary(
        code=language,
        numbers=numbers,
        names=names,
        heads=heads,
        begins=begins,
        follow=numbers.beginnings | {"and", point, ",", *SHARES},
        starts=begins | behind,
        touched=begins | OF,
        ordinary=_list_words_without_numbers(language, names) if language != "en" else frozenset(),
        halves={phrase: Fraction(part) for phrase, part in HALVES.get(language, {}).items()},
        mixed={word: Fraction(amount) for word, amount in MIXED.get(language, {}).items()},
        parts=PARTS.get(language, {}),
        point=point,
    )


def _list_number_phrases(language: str) -> Mapping[str, str]:
    """Return what each phrase is translated to. In English that is what has more words than the readers look up."""
    names: dict[str, str] = {}
    for known in (load_unit_names(language), load_currency_names(language)):
        if language == "en":
            names |= {name: f"en:{name}" for name in known if name.count(" ") > 1}
        else:
            names |= {
                name.lower(): name_foreign_unit(language, name) for name in known if _is_foreign_unit(language, name)
            }
    if language != "en":
        months_named = load_month_names(language)  # "julio" is July, and a joule
        names = {name: text for name, text in names.items() if name not in months_named}
        names |= {name: name_number_scale(amount) for name, amount in load_magnitude_words(language).items()}
        names |= GRAMMAR.get(language, {})
        if language == "ar":  # 230 kilometres is "230 كيلومترا"
            names |= {f"{name}{_ACCUSATIVE}": text for name, text in names.items() if " " not in name}
        names |= {name: "May" for name, month in months_named.items() if month == _MAY and len(name) == len("May")}
    # Marks part the letters of some scripts, and signs the parts of "km/h": names are kept as their tokens.
    return {
        " ".join(token.lower for token in split_number_tokens(name)[:-LOOKAHEAD]): text for name, text in names.items()
    }


def _is_foreign_unit(language: str, name: str) -> bool:
    return len(name) > 1 and name[0].isalpha() and find_units(f"{language}:{name}") != find_units(name)


def _list_words_without_numbers(language: str, names: Mapping[str, str]) -> frozenset[str]:
    """Return the words that have another meaning in English or none at all."""
    kept = {*load_month_names(language), *load_weekday_names(language), *UNPARTED_NAMES}
    others = {"to", "and", "or", "of", "per", "than", "at", "in", "on", "noon"}
    short = {name for name in MONTHS if len(name) < 6}
    english = {*NUMBER_WORDS} - {*MONTHS} | {*short, *FIRST, *EACH, *others}
    # "37 million de pasajeros": what multiplies is the same wherever it is written.
    return frozenset((english | load_stop_words(language)) - kept - set(names) - set(SHARES) - set(SCALES))


_LONGEST_NAME: Final = 8
"""Tokens of the longest name of a unit or phrase of grammar that is looked for."""

_LONGEST_ROUND: Final = 12
"""Words of "a million two hundred thousand" that are read at most."""

_SYMBOLS: Final = frozenset("mghlstмт") | {"min", "kr", "zł", "%", "％", "$", "￥"}
"""Units behind a number, though they are among the most frequent words of some languages."""
_WORDS_TOO: Final = frozenset({("s", "cs"), ("s", "sk"), ("l", "it"), ("t", "nl")})

_NEUTRAL: Final = "also"
"""A word of grammar that says nothing about a number."""

_UNSEEN: Final = Token("", "", False, False, False, None, False, "", 0, 0)


_TEENS: Final = range(13, 20)
"""First halves of years: "nineteen forty-five"."""


def translate_number_tokens(tokens: list[Token], language: str) -> list[Token]:
    """Merge what says one number or one unit, and translate what stands around numbers.

    Args:
        tokens: of a text, with `LOOKAHEAD` blank ones at their end.
        language: of the text, a code of `LANGUAGES`; "" is read as English.

    Returns:
        The tokens; the same list where there is nothing to do.
    """
    known = build_number_vocabulary(language or "en")
    words = [token.lower for token in tokens]
    if known.code == "en" and not _has_number_phrase(known, tokens, words):
        return tokens
    found: list[Token] = []
    kept, places = 0, range(len(tokens) - LOOKAHEAD)
    touched: Sequence[int] = places
    if known.code == "en":
        touched = [at for at in places if words[at] in known.touched or tokens[at].number]
    for at in touched:
        if at < kept:
            continue
        found += tokens[kept:at]
        counted = bool(found) and (found[-1].number is not None or found[-1].lower in SCALES)
        made, behind = _translate_number_token(known, tokens, words, at, counted=counted)
        found += made if behind else [tokens[at]]
        kept = behind or at + 1
    return [*found, *tokens[kept:]]


def _has_number_phrase(known: Vocabulary, tokens: list[Token], words: list[str]) -> bool:
    """Say whether an English text may have a number or a unit of several words; most have none."""
    starts = known.starts
    for at in [at for at, word in enumerate(words) if word in starts]:
        word = words[at]
        if word in known.begins:
            if word in known.heads:
                return True
            if words[at + 1] in known.follow and (word != "and" or tokens[at - 1].number):
                return True
        elif tokens[at - 1].number:
            return True
    return False


def _translate_number_token(
    known: Vocabulary, tokens: list[Token], words: list[str], at: int, *, counted: bool
) -> tuple[list[Token], int]:
    """Return what stands for the tokens up to an index, 0 where a token stays as it is.

    Behind a number a word that can be both is a unit and no number: "5 segundos" are no second.
    """
    token, word = tokens[at], words[at]
    if token.number:
        amount, suffix = token.number
        if amount is None or suffix:
            return [], 0
        amount, end = _add_number_parts(known, words, amount, at + 1)
        return ([_merge_number_tokens(tokens, at, end, amount, "")], end) if end > at + 1 else ([], 0)
    if not word or not word[0].isalpha():
        return [], 0
    if word in known.mixed:
        return [_merge_number_tokens(tokens, at, at + 1, known.mixed[word], "")], at + 1
    if counted and word in OF and (end := _find_unit_behind_of(known, words, at)):
        return [], end
    named = _translate_unit_name(known, tokens, words, at) if word in known.heads else ([], 0)
    if counted and named[1]:
        return named
    spelled = _read_spelled_number(known, tokens, words, at) if _is_number_word_beginning(known, word) else None
    if spelled and spelled[1] == at + 1 and tokens[at + 1].number and word not in SCALES:
        spelled = None  # no number stands right before digits: Vietnamese "năm" is five, and a year in "năm 1990"
    if spelled and spelled[1] >= named[1]:
        return [spelled[0]], spelled[1]
    if named[1]:
        return named
    if counted and token.text in _SYMBOLS and (token.text, known.code) not in _WORDS_TOO:
        return [], 0
    if word in known.ordinary or (counted and _is_untold_noun(known, word)):
        return [_replace_token_word(token, _NEUTRAL)], at + 1
    return [], 0


def _is_untold_noun(known: Vocabulary, word: str) -> bool:
    """Say whether nothing tells if a word behind a number is what it counts, a unit or a verb.

    Of a language without its grammar only units, months and magnitudes are known, and these in one form as a rule.
    """
    return known.code in UNTOLD and not (find_units(word) or word in _list_calendar_words())


@cache
def _list_calendar_words() -> frozenset[str]:
    """Return the names of months and weekdays in all languages."""
    names = (load_month_names, load_weekday_names)
    return frozenset(word for language in LANGUAGES for name in names for word in name(language))


def _find_unit_behind_of(known: Vocabulary, words: list[str], at: int) -> int:
    """Find the unit in "5 millones de euros", "d'euros"; 0 where none follows."""
    end = at + 2 if words[at + 1] in ("'", "’", "ʼ") else at + 1
    return end if ":" in known.names.get(words[end], "") or find_units(words[end]) else 0


def _is_number_word_beginning(known: Vocabulary, word: str) -> bool:
    return known.numbers.is_number_opening(word) or (known.code == "en" and word == "a")


def _read_spelled_number(known: Vocabulary, tokens: list[Token], words: list[str], at: int) -> tuple[Token, int] | None:
    one = known.code == "en" and words[at] == "a"
    if one and (words[at + 1] not in SCALES or words[at - 1] == "half"):
        return None
    read = (
        known.numbers.read_spelled_number(["one", *words[at + 1 : at + _LONGEST_ROUND]], 0)
        if one
        else known.numbers.read_spelled_number(words, at)
    )
    if read is None:
        return None
    amount, is_place, end = read._replace(end=read.end + at) if one else read
    if known.code == "en":
        if is_place and words[end - 1] == "second" and end > at + 1 and not tokens[end - 1].glued:
            return None  # "a twenty second delay"
        if not is_place and amount in _TEENS:
            amount, end = _read_spelled_year(known, words, amount, end)
    return _merge_spelled_number(known, tokens, words, at, Spelled(amount, is_place, end))


def _merge_spelled_number(
    known: Vocabulary, tokens: list[Token], words: list[str], at: int, read: Spelled
) -> tuple[Token, int] | None:
    """Merge a number that was read with the parts behind it; None where it is one English word, read elsewhere."""
    amount, is_place, end = read
    total, behind = (amount, end) if is_place else _add_number_parts(known, words, amount, end)
    place = write_ordinal_number(amount) if is_place else ""
    if behind == at + 1:
        if known.code == "en":
            return None
        if amount == 1:  # mostly an article
            name = "first" if is_place else "one"
            return _replace_token_word(tokens[at], name, opens=True), behind
    merged = _merge_number_tokens(tokens, at, behind, total, place[-2:] if place else "")
    return _make_share_token(merged, total) if words[behind - 1] in known.parts else merged, behind


def _read_spelled_year(known: Vocabulary, words: Sequence[str], century: int, end: int) -> tuple[int, int]:
    """Read "nineteen forty-five" and "twenty twenty" as years."""
    year = known.numbers.read_spelled_number(words, end)
    if year is None or year.ordinal or not 10 <= year.amount <= 99:
        return century, end
    return century * 100 + year.amount, year.end


def _add_number_parts(known: Vocabulary, words: Sequence[str], amount: Amount, end: int) -> tuple[Amount, int]:
    """Add what stands behind a whole number: "and a half", "½", "1/2", "point five"; or divide it: "Drittel"."""
    following = words[end]
    if following in known.parts and isinstance(amount, int):
        return Fraction(amount, known.parts[following]), end + 1
    share = SHARES.get(following) or WRITTEN.get(following)
    if share is not None and isinstance(amount, int):
        return amount + share, end + 1
    if following == known.point and isinstance(amount, int):
        return _read_spelled_decimals(known, words, amount, end)
    if following in ("and", "y", "et", "e", "und", "с", "з", "einhalb"):
        for length in (3, 2, 1):
            if (half := known.halves.get(" ".join(words[end : end + length]))) is not None:
                return amount + half, end + length
    return amount, end


def _read_spelled_decimals(known: Vocabulary, words: Sequence[str], amount: int, end: int) -> tuple[Amount, int]:
    digits, at = "", end + 1
    while at < len(words) and len(digits) < 12 and (digit := known.numbers.cardinals.get(words[at], 10)) < 10:
        digits, at = digits + str(digit), at + 1
    return (amount + Fraction(int(digits), 10 ** len(digits)), at) if digits else (amount, end)


def _translate_unit_name(known: Vocabulary, tokens: list[Token], words: list[str], at: int) -> tuple[list[Token], int]:
    for length in range(_LONGEST_NAME, 0, -1):
        name = known.names.get(words[at] if length == 1 else " ".join(words[at : at + length]))
        if name is not None:
            text = show_number_tokens(tokens, at, at + length)
            first, *more = name.split(" ") if ":" not in name else [name]
            token = tokens[at]._replace(
                text=first, lower=first.lower(), opens=first in ("May", "half"), word=text, start=0, end=len(text)
            )
            # Words that English has more of are there to be read and not to be shown.
            return [token, *(_UNSEEN._replace(text=each, lower=each) for each in more)], at + length
    return [], 0


def _merge_number_tokens(tokens: list[Token], at: int, end: int, amount: Amount, suffix: str) -> Token:
    text = show_number_tokens(tokens, at, end)
    digits = f"{amount}{suffix}" if isinstance(amount, int) else f"{float(amount):.9g}"
    return tokens[at]._replace(
        text=digits, lower=digits, opens=True, number=(amount, suffix), word=text, start=0, end=len(text)
    )


def _make_share_token(token: Token, share: Amount) -> Token:
    """Return a token that reads as a share does: "2/3"."""
    written = f"{share.numerator}/{share.denominator}"
    return token._replace(text=written, lower=written, number=None)


def _replace_token_word(token: Token, lower: str, *, opens: bool = False) -> Token:
    """Return a token that reads as another word and is shown as it was."""
    return token._replace(text=lower, lower=lower, opens=opens)

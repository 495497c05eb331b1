"""The spellings of a text brought together, and everything taken out whose digits are no number.

That is addresses, and list and citation markers: "1.", "(1) … (2) …", "[3]".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from guardgraph.guards.facts.numerals import write_ordinal_number, write_plain_digits
from guardgraph.guards.facts.words import (
    ANNOUNCING,
    DECADES,
    FIRST,
    FIRSTS,
    ORDINALS,
    PLACES,
    RATED,
    find_units,
    is_plural_noun,
)

_URL = re.compile(r"(?:https?://|www\.)\S++", re.IGNORECASE)
# The characters of Unicode category Cf that occur in running text: they are drawn as nothing.
_INVISIBLE = re.compile("[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0001-\U000e007f]++")
_THIN_SEPARATOR = re.compile(r"['’\u00a0\u2009\u202f](?<=\d.)(?=\d{3}(?!\d))")
_LISTED = re.compile(r"[{\[]\d{1,3}(?:,(?!\d{3}(?!\d))\d{1,3}){1,9}[}\]]")
_COMMA = re.compile(",")
_BLANK_SEPARATED = re.compile(r"[1-9](?<![\w.,:/].)(?<!\d[ ].)\d{0,2}(?:[ ]\d{3}){1,4}(?![ ]?\d|[-/:]\d|\w)")
_LAKHS = re.compile(r"(?<![\w.,])\d{1,2}(?:,\d\d){1,6},\d{3}(?![\d,])")
_POINTS = re.compile(r"(?<![\w.,:/-])([1-9]\d{0,2}(?:\.\d{3})++)(?:,(\d++))?(?![\w/:-]|[.,]\d)")
_APOSTROPHE = re.compile(r"(?<=[^\W\d_])['’ʹ](?=[а-яіїєґё])", re.IGNORECASE)
_DIALLED = re.compile(r"\+\d{1,3}(?:[ .-]?\(\d{2,4}\)|[ .-]\d{2,4})(?:[ .-]?\d{2,4}){1,4}+(?!\w)")
_MERIDIEM = re.compile(r"([apAP])\.(?<![^\W\d]..)[ ]?[mM]\b\.?")
_DASH = re.compile(r"[–—‒―−](?=\d)(?<=\d.)")
_HYPHENS: Final = str.maketrans("‐‑", "--")
_ALWAYS = re.compile(
    r"24(?<![\w.]24)(?:/7/365|[ ]?[x×][ ]?7|[ -]hours?(?:[ ]a[ ]day|[ ]per[ ]day|/day)?,?[ ](?:and[ ])?"
    r"(?:7|seven)[ -]days?(?:[ ](?:a|per)[ ]week|/week))(?!\w)",
    re.IGNORECASE,
)
_MINUS = re.compile(r"\bminus[ ](?=\d++(?:[.,]\d++)?[ ]?(?:°|º|degrees?\b|grad\b|grados\b|degrés\b))", re.IGNORECASE)
"""Before a temperature: "minus 20 °C"."""
_SIDES = re.compile(r"[x×](?=[1-9])(?<=\d.)(?<!\b0.)")
"""Between two lengths: 35x45."""
_OCTETS: Final = frozenset(map(str, range(256)))
_LAST_COMMA = re.compile(r",(?<=\d,\d{3},)(?=\d{1,2}(?![\d,]))")
_LAKH = re.compile(r",\d\d,\d")
_GROUPS = re.compile(r"\d++")
_POINTED = re.compile(r"\.\d{3}[.,]\d")
_GROUPED = re.compile(r"\d[ ]\d{3}")
_PARTED = re.compile(r"\d[-,.'’() \u00a0\u2009\u202f]{1,2}\d\d")
"""What every number has whose digits are parted."""
_DIGIT = re.compile(r"\d")


def drop_invisible_characters(text: str) -> str:
    """Take out characters that are drawn as nothing: a soft hyphen or a zero-width blank parts no number."""
    return text if text.isascii() else _INVISIBLE.sub("", text).translate(_HYPHENS)


def normalise_number_spelling(text: str, language: str = "") -> tuple[str, frozenset[int]]:
    """Take out addresses and markers and bring variants of spelling together.

    Args:
        text: any text.
        language: of the text, a code of `LANGUAGES`; "" is read as English.

    Returns:
        The text, and the numbers of the markers.
    """
    text = write_plain_digits(_rewrite_number_spelling(text, ADDRESSES), language)
    if language in DECADES:
        text = DECADES[language].sub(lambda match: f"{next(filter(None, match.groups()))}s", text)
    if language in PLACES:
        text = PLACES[language].sub(_rewrite_ordinal_place, text)
    if language in FIRSTS:
        text = FIRSTS[language].sub(" 1st ", text)
    text, marked = strip_number_markers(text)
    for step in VARIANTS if _PARTED.search(text) else _UNPARTED if _DIGIT.search(text) else _WORDED:
        text = _rewrite_number_spelling(text, step)
    return text if text.isascii() else _APOSTROPHE.sub("ʼ", text), marked


class SpellingStep(NamedTuple):
    """What is written in another way, and the sign without which a text has none of it, as most have none."""

    sign: Callable[[str], object]
    pattern: re.Pattern[str]
    by: str | Callable[[re.Match[str]], str]


def _rewrite_number_spelling(text: str, step: SpellingStep) -> str:
    return step.pattern.sub(step.by, text) if step.sign(text) else text


def _regroup_thousands(match: re.Match[str]) -> str:
    """Write a number whose thousands full stops group as in English, but leave addresses ("192.168.100.200")."""
    whole, part = match[1], match[2]
    groups = whole.split(".")
    if (len(groups) == 2 and not part) or (len(groups) == 4 and not part and all(each in _OCTETS for each in groups)):
        return match[0]  # "1.600" can be read in two ways
    return ",".join(groups) + (f".{part}" if part else "")


def _rewrite_ordinal_place(match: re.Match[str]) -> str:
    return f"{match[0][: match.start('place') - match.start()]}{write_ordinal_number(int(match['place']))}"


def _join_phone_number(match: re.Match[str]) -> str:
    groups = _GROUPS.findall(match[0])
    # A telephone number abroad has eleven digits or more, with few exceptions, and at most 15 (ITU-T E.164).
    return "-".join(groups) if 11 <= sum(map(len, groups)) <= 15 else match[0]


def _has_meridiem(text: str) -> bool:
    lower = text.lower()
    return ".m" in lower or ". m" in lower


ADDRESSES: Final = SpellingStep(lambda text: "://" in text or "www." in text.lower(), _URL, " ; ")
_GROUPINGS: Final = (
    SpellingStep(lambda text: "+" in text, _DIALLED, _join_phone_number),
    SpellingStep(_LAKH.search, _LAKHS, lambda match: f"{int(match[0].replace(',', '')):,}"),
    SpellingStep(_POINTED.search, _POINTS, _regroup_thousands),
    SpellingStep(_GROUPED.search, _BLANK_SEPARATED, lambda match: match[0].replace(" ", ",")),
    SpellingStep(lambda text: "'" in text or not text.isascii(), _THIN_SEPARATOR, ","),
    SpellingStep(_LAST_COMMA.search, _LAST_COMMA, "."),
)
"""What parts the digits of one number."""

_WORDED: Final = (SpellingStep(_has_meridiem, _MERIDIEM, r"\1m"),)
_UNPARTED: Final = (
    *_WORDED,
    SpellingStep(lambda text: "{" in text or "[" in text, _LISTED, lambda match: _COMMA.sub(", ", match[0])),
    SpellingStep(lambda text: not text.isascii(), _DASH, "-"),
    SpellingStep(lambda text: "24" in text, _ALWAYS, "24/7"),
    SpellingStep(lambda text: "inus" in text, _MINUS, "-"),
    SpellingStep(lambda text: "x" in text or "×" in text, _SIDES, " x "),
)
VARIANTS: Final = (*_GROUPINGS, *_UNPARTED)


_LINE = re.compile(r"^[ \t>#*+•-]*+\(?\d{1,2}[.)]\**+[ \t]++(?=\S)", re.MULTILINE)
_ITEM = re.compile(r"\d(?<!\w\d)\d?[.)](?=[ ]+\S)")
_CITATION = re.compile(r"(?:[ ]?\[\d{1,2}(?:(?:,[ ]?|[-–])\d{1,2})*+\])++")
_MARKED = re.compile(r"\d[.)][ *\t]")
"""What every list marker ends with; no text without it has one."""
_NUMBER = re.compile(r"\d+")
_ANNOUNCES = re.compile(r"[A-Z][a-z]{3,9}+,\s|\d\**[:.](?:\s|$)")
_ANNOUNCED = re.compile(
    r"(?P<before>(?:^|[.!?;:]\s)[ \t>#*_+•-]*+)"
    r"(?:(?P<place>[A-Z][a-z]{3,9}+)(?=,\s)"
    rf"|(?i:{'|'.join(sorted(ANNOUNCING))})[ ](?P<number>\d{{1,2}}+)(?=\**[:.](?:\s|$)))",
    re.MULTILINE,
)
_WORDS = re.compile(r"[ -]?([^\W\d_]++)(?:[ ]([^\W\d_]++))?")

_NO_BRACKETS: Final = str.maketrans("[]", "  ")
_CITED: Final = frozenset(["", "\n", *"%.,\"'”’)"])
_CLOSING: Final = frozenset(["", *".,;:!?)\n"])
_JOINING: Final = frozenset(
    {"and", "or", "but", "while", "which", "that", "with", "as", "is", "are", "was", "were", "has", "have"}
    | {"so", "if", "when", "for", "to", "in", "on", "at", "by", "from", "the"}
)


def strip_number_markers(text: str) -> tuple[str, frozenset[int]]:
    """Take out list markers, citations and what only announces a step.

    A number before a full stop or a bracket is a marker where it begins a line, or where numbers of its shape
    count on from 1 ("(1) … and (2) …"). A small bracketed number is a citation where no blank parts it from
    its word, where it begins a line or ends a clause, and before a word that joins ("99 % [1] and"). What a
    unit follows ("[45] minutes", "(2) hours") is neither. "First," and "Step 1:" that open a sentence or a line
    are markers too.

    Returns:
        The text without them, and the numbers by which they count.
    """
    if "[" in text:
        text = _CITATION.sub(_drop_citation_number, text)
    marked: set[int] = set()
    if _ANNOUNCES.search(text):
        text = _ANNOUNCED.sub(lambda match: _drop_step_number(match, marked), text)
    if not _MARKED.search(text):
        return text, frozenset(marked)
    kept, at = [], 0
    for start, end in _find_list_numbers(text):
        marked.update(map(int, _NUMBER.findall(text, start, end)))
        kept.append(text[at:start])
        at = end
    text = _LINE.sub(lambda match: _drop_list_number(match, marked), "; ".join([*kept, text[at:]]))
    return text, frozenset(marked)


def _drop_step_number(match: re.Match[str], marked: set[int]) -> str:
    place = FIRST.get(match["place"].lower()) or ORDINALS.get(match["place"].lower()) if match["place"] else None
    if match["place"] and place is None:
        return match[0]
    marked.add(place or int(match["number"]))
    return match["before"] + ";"


def _drop_list_number(match: re.Match[str], marked: set[int]) -> str:
    if "(" in match[0] and _has_unit_after_number(match.string, match.end()):
        return match[0]
    marked.update(map(int, _NUMBER.findall(match[0])))
    return ""


def _find_list_numbers(text: str) -> list[tuple[int, int]]:
    """Find the markers that count on from 1, each of the shapes "(1)", "1)" and "1." for itself."""
    runs: list[list[tuple[int, int]]] = []
    current: dict[str, list[tuple[int, int]]] = {}
    for match in _ITEM.finditer(text):
        (start, end), number = match.span(), int(match[0][:-1])
        shape = _classify_list_number(text, start, match[0][-1])
        if shape is None or _has_unit_after_number(text, end):
            continue
        if number == 1:
            current[shape] = []
            runs.append(current[shape])
        if number == len(current.get(shape, ())) + 1 and shape in current:
            current[shape].append((start - (shape == "()"), end))
    return sorted(span for run in runs if len(run) > 1 for span in run)


def _classify_list_number(text: str, start: int, close: str) -> str | None:
    before = text[max(start - 2, 0) : start].rjust(2)
    if before[1] == "(":
        return "()" if close == ")" and before[0].isspace() else None
    if not before[1].isspace():
        return None
    # In "(attempt 1)" the number is none of a list.
    aside = text.rfind("(", max(start - 80, 0), start) > text.rfind(")", max(start - 80, 0), start)
    begins = start == 0 or before[1] == "\n" or before[0] in ".:;!?"
    return close if begins or (close == ")" and not aside) else None


def _drop_citation_number(match: re.Match[str]) -> str:
    text, (start, end) = match.string, match.span()
    before, after, word = text[max(start - 1, 0) : start], text[end : end + 1], _WORDS.match(text, end)
    glued = match[0][0] == "[" and (before.isalnum() or before in _CITED)
    cited = glued or after in _CLOSING or (word is not None and word[1] in _JOINING)
    return " " if cited and not _has_unit_after_number(text, end) else match[0].translate(_NO_BRACKETS)


def _has_unit_after_number(text: str, at: int) -> bool:
    """Say whether a unit stands at the place; a capital begins the words of an item."""
    match = _WORDS.match(text, at)
    if match is None:
        return text[at : at + 2].strip()[:1] in ("%", "％", "‰")
    names = (match[1], f"{match[1]} {match[2]}")
    return any(name.islower() and find_units(name) for name in names)


_RATE = re.compile(r"(?:\bper[ ]|/[ ]?)(?=[^\W\d_])(.+)", re.IGNORECASE)
_RATES = re.compile(r"[ ]?/[ ]?|[ ](?:and|per)[ ]", re.IGNORECASE)
_RULE: Final = frozenset("-: ")


def _list_rate_names(heading: str) -> list[str]:
    if match := _RATE.search(heading):
        return _RATES.split(match[1].rstrip(" )"))
    return [rated for word in heading.lower().split()[:-1] if (rated := RATED.get(word))]


_COUNT = re.compile(r"\d{1,3}(?:,\d{3})*+(?:\.\d+)?")


def write_column_nouns(text: str) -> str:
    """Return a text in whose tables a plain number has the noun that heads its column: "50 seats" below "Seats"."""
    if "|" not in text:
        return text
    lines, nouns, is_table = list[str](), dict[int, str](), False
    for line in text.split("\n"):
        parts = line.split("|")
        if len(parts) < 3:
            is_table = False
        elif not is_table:
            is_table, nouns = True, {at: noun for at, part in enumerate(parts) if (noun := _read_plural_heading(part))}
        elif nouns:
            parts = [_add_noun(part, nouns.get(at, "")) for at, part in enumerate(parts)]
        lines.append("|".join(parts))
    return "\n".join(lines)


def _read_plural_heading(heading: str) -> str:
    """Return the last word of a heading where it is a plural: what the numbers below it count."""
    word = heading.strip(" *").rpartition(" ")[2].lower()
    return word if word.isalpha() and is_plural_noun(word) and not find_units(word) else ""


def _add_noun(cell: str, noun: str) -> str:
    text = cell.strip(" *")
    return cell.replace(text, f"{text} {noun}", 1) if noun and _COUNT.fullmatch(text) else cell


def read_column_rates(text: str) -> str:
    """Return the amounts of a text's tables with the rates in the headings of their columns, a line each.

    ``$24`` below "Price per seat and month" is ``$24 per seat`` and ``$24 per month``, below "Monthly fee" the latter.
    """
    if "|" not in text:
        return ""
    lines, rates = list[str](), dict[int, list[str]]()
    is_table = False
    for line in text.splitlines():
        cells = [cell.strip(" *") for cell in line.strip().strip("|").split("|")]
        if len(cells) < 2 or not line.strip():
            is_table = False
        elif not is_table:
            is_table = True
            rates = {at: names for at, cell in enumerate(cells) if (names := _list_rate_names(cell))}
        elif rates and not _RULE.issuperset(line.replace("|", "")):
            lines += [f"{cells[at]} per {each}" for at, names in rates.items() if at < len(cells) for each in names]
    return "\n".join(lines)

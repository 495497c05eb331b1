"""Numerals of other scripts and forms, in plain digits: ⑨⑨, ⁹⁹, Ⅻ, ٩٩, ९९, ９９, 九十九, 三万, 2019年7月5日."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import Any, Final

from guardgraph.guards.languages.numbers import load_magnitude_words
from guardgraph.guards.languages.tables import load_currency_names, load_month_names, load_unit_names
from guardgraph.guards.word_lists import load_word_lists

SHARES: Final = {sign: Fraction(unicodedata.numeric(sign)).limit_denominator(10) for sign in "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅐⅛⅜⅝⅞⅑⅒"}
"""The fractions that are one character."""

_SUPERSCRIPTS: Final = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_POWER = re.compile(
    rf"(?:(?<!\d)(\d++(?:[.,]\d++)?)[ ]?[×x·⋅*][ ]?)?(?<![\d.,])10([⁻-]?[{_SUPERSCRIPTS}]{{1,3}})(?!\w)"
)
_RAISED = re.compile(rf"(?<![\w)\]])[{_SUPERSCRIPTS}₀-₉]++")
_LISTED = re.compile(r"^([ \t]*+)([①-⑳⓪⑴-⒇⒈-⒛➀-➓])[ \t]*+(?=[^\s①-⑳⓪⑴-⒇⒈-⒛➀-➓])", re.MULTILINE)
_ENCLOSED = re.compile(r"[①-⑳⓪⑴-⒇⒈-⒛㉑-㉟㊱-㊿❶-❿➀-➓⓫-⓴]++")
_ROMAN = re.compile(r"[Ⅰ-Ⅿⅰ-ⅿ]++")
_ARABIC: Final = str.maketrans({"٫": ".", "٬": ","})
_WIDE = re.compile(r"(?<=\d)[．，：](?=\d)")
_WIDE_SIGNS: Final = {"．": ".", "，": ",", "：": ":"}
_MIXED = re.compile(rf"(?<=\d)(?=[{''.join(SHARES)}])")

_FAMILIAR = re.compile(
    "[\x00-\x7f\u00a0-\u00b1\u00b4-\u00b8\u00ba\u00bb\u00bf\u00c0\u00c2-\u00e0\u00e2-\u017f"
    "\u2010-\u2027\u2030-\u205e\u20a0-\u20bf]*+"
)
"""Latin letters, marks and currencies without any numeral; the á of a Vietnamese month is none of them."""

_UNPARTED: Final = "\u0e00-\u0e7f\u3005-\u30ff\u3400-\u9fff\uac00-\ud7af"
"""Letters of scripts that put no blank beside a number: Thai, kana, Han, Hangul."""

_DIGIT_SIGNS: Final = {
    sign: value for signs in ("〇一二三四五六七八九", "零壹贰叁肆伍陆柒捌玖") for value, sign in enumerate(signs)
} | {"两": 2, "兩": 2}
_HAN_DIGITS: Final = str.maketrans({sign: str(value) for sign, value in _DIGIT_SIGNS.items()})
_LONGEST_HAN: Final = 100
"""Numerals of a number that is computed; longer ones are compared as digits."""

_PLACES: Final = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1000, "仟": 1000}
_MYRIADS: Final = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8, "兆": 10**12}
_HAN: Final = "".join((*_DIGIT_SIGNS, *_PLACES, *_MYRIADS))
_HAN_RUN = re.compile(rf"(?:(?P<place>第)|(?P<of>[{_HAN}]{{1,9}}+)分之)?(?P<run>[{_HAN}]++)")
_PLACE = re.compile(r"第[ ]?(\d{1,4})(?!\d)")
_IDIOMS: Final = frozenset({"万一", "千万", "百万千", "一一", "万万", "三三两两", "一千零一", "十万火急"})
"""Runs of numerals that are words: "in case", "by all means"."""
_MEASURED: Final = frozenset(
    "个個名位只隻条條张張件座辆輛台部场場届屆块塊家间間艘架篇首本册冊层層所支枚颗顆次回遍人年月日号號天周岁歲秒米克升吨噸度元円圆圓项項"
)
"""Measure words and units of one character, before which a single numeral counts. (一 before them is mostly "a".)"""

_ENDINGS: Final = {1: "st", 2: "nd", 3: "rd"}

_DATE = re.compile(
    r"(?<!\d)(\d{4})[ ]?[年년][ ]?(?:(\d{1,2})[ ]?[月월][ ]?(?:(\d{1,2})[ ]?[日号號일])?)?"
    r"|(?<!\d)(\d{1,2})[ ]?[月월][ ]?(\d{1,2})[ ]?[日号號일]|(?<!\d)(\d{1,2})月(?!\d)"
)
_CLOCK = re.compile(
    r"(上午|下午|晚上|午前|午後|오전|오후)?[ ]?(\d{1,2})[ ]?[点點時시](?!间|間|候)(?:(\d{1,2})[ ]?[分분]|(半))?"
)
_AFTERNOON: Final = frozenset({"下午", "晚上", "午後", "오후"})
_PART_OF = re.compile(r"(?<!\d)(\d{1,3}) ?분의 ?(\d{1,3})(?!\d)")
"""Of how many parts, then how many: Korean "3분의 2"."""
_MYRIAD_SUM = re.compile(r"(?<![\d,.])(\d{1,4})([만억]) ?(?=\d{1,4}(?![\d,.]))(\d{1,4})")
_THAI_CLOCK = re.compile(r"(?<![\d.])([01]?\d|2[0-4])\.([0-5]\d)(?= ?น\.)")
_THAI_ERA = re.compile(r"พ\.? ?ศ\.? ?(2[34]\d\d|25\d\d)(?!\d)")
_THAI_YEARS: Final = 543
"""By how many years the Buddhist era of Thailand is ahead."""

_VIETNAMESE_DATE = re.compile(
    r"(?<!\w)(?:ngày )?(?P<day>\d{1,2}) tháng (?P<month>\d{1,2})(?:,? năm (?P<year>\d{4}))?(?!\w)"
    r"|(?<!\w)tháng (?P<only>\d{1,2})(?:,? năm |/)(?P<of>\d{4})(?!\w)",
    re.IGNORECASE,
)
_JOINED = re.compile(r"(?<![\w])[وبلف](?=\d)")
"""Arabic letters that are words of their own and are written in one with what follows: and, in, for, then."""

_EDGE = re.compile(rf"(?<=[{_UNPARTED}])(?=[0-9])|(?<=[0-9])(?=[{_UNPARTED}])|(?<=[0-9][%％])(?=[{_UNPARTED}])")
_BEHIND = re.compile(rf"(?<=[0-9] )[{_UNPARTED}]++")
_MONTHS: Final = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
UNPARTED: Final = (
    ("KRW", "1", "원"),
    ("JPY", "1", "円|엔"),
    ("time", "1", "秒|초"),
    ("time", "60", "分|분|分間"),
    ("time", "3600", "時間|시간|个小时|個小時"),
)
"""Dimension, factor and names of units behind a number without a blank, which CLDR names in a longer way."""

UNPARTED_NAMES: Final = frozenset(name for _, _, names in UNPARTED for name in names.split("|"))

_LONGEST_NAME: Final = 12
"""Characters of the longest name of a unit that is looked for where no blank parts it from the next word."""


def write_plain_digits(text: str, language: str) -> str:
    """Write the numerals of a text as ASCII digits, in time linear in its length.

    Args:
        text: any text.
        language: of the text, a code of `LANGUAGES`, for the names of units that no blank parts from a word.

    Returns:
        The text; one of ASCII characters is returned as it is.
    """
    if text.isascii() or _FAMILIAR.fullmatch(text):
        return text
    text = _LISTED.sub(lambda match: f"{match[1]}{int(unicodedata.numeric(match[2]))}. ", text)
    text = _POWER.sub(_write_power_of_ten, text)
    for pattern, by in (
        (_RAISED, _write_superscript_number),
        (_ENCLOSED, _write_enclosed_number),
        (_ROMAN, _write_roman_number),
        (_WIDE, _narrow_wide_number_sign),
    ):
        text = pattern.sub(by, text)
    text = _MIXED.sub(" ", text.translate(_map_script_digits(frozenset(text))).translate(_ARABIC))
    text = _JOINED.sub(lambda match: f"{match[0]} ", text)
    text = _VIETNAMESE_DATE.sub(_write_vietnamese_date, text)
    return _write_unspaced_numbers(text, language) if re.search(f"[{_UNPARTED}]", text) else text


def write_ordinal_number(number: int) -> str:
    """Write a place as in English: "1st", "19th"."""
    return f"{number}{'th' if number % 100 in (11, 12, 13) else _ENDINGS.get(number % 10, 'th')}"


def _write_power_of_ten(match: re.Match[str]) -> str:
    power = "".join("-" if sign in "⁻-" else str(unicodedata.digit(sign)) for sign in match[2])
    return f"{(match[1] or '1').replace(',', '.')}e{power}"


def _write_superscript_number(match: re.Match[str]) -> str:
    return "".join(str(unicodedata.digit(sign)) for sign in match[0])


def _write_enclosed_number(match: re.Match[str]) -> str:
    return "".join(str(int(unicodedata.numeric(sign))) for sign in match[0])


def _write_roman_number(match: re.Match[str]) -> str:
    values = [int(unicodedata.numeric(sign)) for sign in match[0]]
    signed = [-one if one < other else one for one, other in zip(values, [*values[1:], 0], strict=True)]
    return str(sum(signed))


def _narrow_wide_number_sign(match: re.Match[str]) -> str:
    return _WIDE_SIGNS[match[0]]


def _map_script_digits(signs: frozenset[str]) -> Mapping[int, str]:
    """Return what the digits of other scripts are in ASCII."""
    return {ord(sign): str(unicodedata.decimal(sign)) for sign in signs if not sign.isascii() and sign.isdecimal()}


def _write_unspaced_numbers(text: str, language: str) -> str:
    """Write Han numerals and dates in digits, and part numbers from the letters beside them."""
    text = _THAI_CLOCK.sub(r"\1:\2", _THAI_ERA.sub(lambda match: f" {int(match[1]) - _THAI_YEARS} ", text))
    text = _MYRIAD_SUM.sub(_write_myriad_sum, _PART_OF.sub(r" \2/\1 ", text))
    text = _write_thai_numbers(_write_korean_numbers(text))
    text = _HAN_RUN.sub(_write_han_number, text)
    text = _PLACE.sub(lambda match: f" {write_ordinal_number(int(match[1]))} ", text)
    text = _CLOCK.sub(_write_han_clock_time, _DATE.sub(_write_han_date, text))
    text = _EDGE.sub(" ", text)
    names = _list_unspaced_unit_names(language)
    return _BEHIND.sub(lambda match: _part_unspaced_units(match[0], names), text)


def _write_myriad_sum(match: re.Match[str]) -> str:
    """Write "1만 2000" as 12000."""
    return str(int(match[1]) * (10**4 if match[2] == "만" else 10**8) + int(match[3]))


def _write_vietnamese_date(match: re.Match[str]) -> str:
    month = int(match["month"] or match["only"])
    if not 1 <= month <= 12:
        return match[0]
    return f" {match['day'] or ''} {_MONTHS[month - 1]} {match['year'] or match['of'] or ''} "


def _write_han_number(match: re.Match[str]) -> str:
    run, text = match["run"], match.string
    if len(run) > _LONGEST_HAN:
        return run.translate(_HAN_DIGITS) if _DIGIT_SIGNS.keys() >= set(run) else match[0]
    before, after = (
        text[match.start() - 1 : match.start()] if match.start() else "",
        text[match.end() : match.end() + 1],
    )
    amount = _read_han_number(run)
    if match["of"]:
        whole = _read_han_number(match["of"])
        return match[0] if not whole or amount is None else f" {amount}% " if whole == 100 else f" {amount}/{whole} "
    if amount is None or run in _IDIOMS or (run in _MYRIADS or (run in _PLACES and run not in "十百千")):
        return match[0]
    if match["place"]:
        return f" {write_ordinal_number(amount)} "
    if before.isdecimal():
        return match[0]  # "3万": a magnitude
    single = len(run) == 1
    if single and (run == "一" or not (after in _MEASURED or _is_chinese_unit(text, match.end()))):
        return match[0]
    return f"{amount}"


def _is_chinese_unit(text: str, at: int) -> bool:
    """Say whether a Chinese unit of two characters or more begins here: 公里, 分钟."""
    return any(text[at : at + length] in _list_unspaced_unit_names("zh") for length in (2, 3))


def _read_han_number(run: str) -> int | None:
    """Read a Han numeral: 一千六百 is 1600, 三万 30,000, 一九九八 1998; None where the signs make no number."""
    if all(sign in _DIGIT_SIGNS for sign in run):
        return int("".join(str(_DIGIT_SIGNS[sign]) for sign in run))
    return _add_up_places(run, _DIGIT_SIGNS, _PLACES, _MYRIADS)


def _add_up_places(
    signs: Sequence[str], digits: Mapping[str, int], places: Mapping[str, int], scales: Mapping[str, int]
) -> int | None:
    """Return the number of signs in the order of its places; None where they make no number."""
    above = min(scales.values()) * 10
    total, section, digit, last = 0, 0, -1, above
    for sign in signs:
        if sign in digits:
            if digit > 0:
                return None
            digit = digits[sign]
        elif sign in places:
            if places[sign] >= last or (digit == 0 and section == 0 and total == 0):
                return None
            last = places[sign]
            section, digit = section + (1 if digit < 0 else digit or 1) * last, -1
        else:
            total = (
                (total + section + max(digit, 0) or 1) * scales[sign]
                if total < scales[sign]
                else (total + (section + max(digit, 0)) * scales[sign])
            )
            section, digit, last = 0, -1, above
    return total + section + max(digit, 0)


_SPOKEN: Final[dict[str, Any]] = load_word_lists("number_grammar")["unparted"]
"""Number words of Thai and Korean: digits, places, what multiplies all before it, and what numbers count."""


def _match_longest(words: Iterable[str]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


_THAI_SIGN: Final = re.compile(
    _match_longest(word for each in ("digits", "places", "scales") for word in _SPOKEN["th"][each])
)
_THAI_RUN: Final = re.compile(
    rf"(?<![\u0e40-\u0e44])(?<!หลาย)(?<!กี่)(?:{_THAI_SIGN.pattern})++(?![\u0e30-\u0e3a\u0e45\u0e47-\u0e4e])"
)
"""No vowel that is written first stands before it, and none or a tone behind: they belong to its letters then."""
_THAI_COUNTED: Final = re.compile(rf" ?(?:{_match_longest(_SPOKEN['th']['counters'].split())})")

_KOREAN_SIGN: Final = "".join(sign for each in ("digits", "places", "scales") for sign in _SPOKEN["ko"][each])
_KOREAN_SCALE: Final = "".join(_SPOKEN["ko"]["scales"])
_KOREAN_RUN: Final = re.compile(
    rf"(?<!\w)(?<![{_KOREAN_SCALE}] )(?=[{_KOREAN_SIGN}] ?[{_KOREAN_SIGN}]|[{''.join(_SPOKEN['ko']['places'])}만] )"
    rf"(?P<run>[{_KOREAN_SIGN}]{{1,40}}(?:(?<=[{_KOREAN_SCALE}]) [{_KOREAN_SIGN}]{{1,9}}){{0,3}})"
    rf"(?= ?(?:{_match_longest(_SPOKEN['ko']['counters'].split())})(?!째))"
)
"""Two signs or more, or a place alone and apart: one sign begins too many words."""
_NATIVE: Final = _SPOKEN["ko native"]
_KOREAN_NATIVE: Final = re.compile(
    rf"(?<![\w])(?:(?P<tens>{_match_longest(_NATIVE['tens'])})(?P<ones>{_match_longest(_NATIVE['digits'])})?"
    rf"|(?P<few>{_match_longest(word for word, amount in _NATIVE['digits'].items() if amount > 1)}))"
    rf"(?= ?(?:{_match_longest(_NATIVE['counters'].split())})(?!째))"
)


def _write_thai_numbers(text: str) -> str:
    """Write ยี่สิบ as 20, and a number of one word before what it counts: สามวัน. หนึ่ง there is mostly "a"."""
    return _THAI_RUN.sub(_write_thai_number, text)


def _write_thai_number(match: re.Match[str]) -> str:
    signs, spoken = _THAI_SIGN.findall(match[0]), _SPOKEN["th"]
    before = match.string[max(0, match.start() - 2) : match.start()].rstrip(" ")[-1:]
    if len(signs) > _LONGEST_HAN or match[0] in spoken["idioms"].split() or before.isdecimal():
        return match[0]
    is_counted = _THAI_COUNTED.match(match.string, match.end()) and (
        spoken["digits"].get(signs[0], 0) > 1 or signs == ["สิบ"]
    )
    if len(signs) == 1 and not is_counted:
        return match[0]
    amount = _add_up_places(signs, spoken["digits"], spoken["places"], spoken["scales"])
    return match[0] if amount is None else f"{amount}"


def _write_korean_numbers(text: str) -> str:
    """Write 이십 명 as 20 명, and 스물다섯 살 as 25 살: before what they count, such syllables are no words."""
    return _KOREAN_NATIVE.sub(_write_native_number, _KOREAN_RUN.sub(_write_korean_number, text))


def _write_korean_number(match: re.Match[str]) -> str:
    signs, spoken = match["run"].replace(" ", ""), _SPOKEN["ko"]
    if match["run"] in spoken["idioms"].split() or spoken["digits"].keys() >= set(signs):
        return match[0]
    amount = _add_up_places(signs, spoken["digits"], spoken["places"], spoken["scales"])
    is_full = match["run"].startswith("만 ") and amount is not None and amount < 11_000  # 만 이십 세: 20 years in full
    return match[0] if amount is None or is_full else f"{amount}"


def _write_native_number(match: re.Match[str]) -> str:
    ones = match["ones"] or match["few"]
    return f"{_NATIVE['tens'].get(match['tens'], 0) + _NATIVE['digits'].get(ones, 0)}"


def _write_han_date(match: re.Match[str]) -> str:
    if match[1]:
        day = "".join(f"-{int(part):02}" for part in (match[2], match[3]) if part)
        return f" {match[1]}{day} "
    month = int(match[4] or match[6])
    if not 1 <= month <= 12:
        return match[0]
    return f" {_MONTHS[month - 1]} {match[5]} " if match[5] else f" in {_MONTHS[month - 1]} "


def _write_han_clock_time(match: re.Match[str]) -> str:
    half, hour = match[1] or "", int(match[2])
    minute = "30" if match[4] else (match[3] or "0").zfill(2)
    if hour > 24 or not (half or match[3] or match[4]):
        return match[0]
    return f" {hour + 12 if half in _AFTERNOON and hour < 12 else hour:02}:{minute} "


@cache
def _list_unspaced_unit_names(language: str) -> frozenset[str]:
    """Every name that may stand right behind a number without a blank before the next word."""
    return frozenset(
        {
            *load_unit_names(language),
            *load_currency_names(language),
            *load_magnitude_words(language),
            *load_month_names(language),
            *"千百",
            *UNPARTED_NAMES,
        }
    )


def _part_unspaced_units(word: str, names: frozenset[str]) -> str:
    """Part the magnitudes and the unit with which a word begins: 万美元的 is 万, 美元 and the rest."""
    parts: list[str] = []
    at = 0
    while at < len(word) and len(parts) < 3:
        end = next((end for end in range(min(at + _LONGEST_NAME, len(word)), at, -1) if word[at:end] in names), at)
        if end == at:
            break
        parts.append(word[at:end])
        at = end
    return " ".join([*parts, word[at:]]) if parts else word

"""Numbers of other locales said otherwise: separators, Han numerals."""

from __future__ import annotations

import re
from random import Random

from rewrites.cardinals import another
from rewrites.kinds import Forms, Kind

_BARE_NUMBER = r"(?<![\w.,:/$€£–-])([1-9]\d{0,2})"


def _separated_forms(match: re.Match[str], random: Random) -> Forms:
    thousands, rest = match[1], match[2]
    number = int(thousands + rest)
    same = [
        match[0],
        f"{number:,}",
        str(number),
        f"{thousands}\u00a0{rest}",
        f"{thousands} {rest}",
        f"{thousands}.{rest}",
    ]
    other = [
        f"{number + 1:,}",
        f"{thousands}.{int(rest) + 1:03}" if rest != "999" else "7",
        str(number * 10),
        f"{number}0,5",
    ]
    return Forms(same, other=other)


SEPARATORS = tuple(
    Kind(
        f"separators_{code}",
        re.compile(rf"{_BARE_NUMBER}\.(\d{{3}})(?![\w.,/]| ?[–-] ?\d)(?! (?:Millionen|millones|Milliarden|mil))"),
        _separated_forms,
        lambda random, noun=noun: f"{random.randint(1, 999)}.{random.randint(0, 999):03} {noun}",  # type: ignore[misc]
        code,
    )
    for code, noun in (("de", "Besucher"), ("es", "visitantes"))
)


def _han_forms(match: re.Match[str], random: Random) -> Forms:
    number, measure = int(match[1]), match[2]

    def said(each: int) -> list[str]:
        return [f"{each}{measure}", f"{each} {measure}", f"{num2han(each)}{measure}"]

    return Forms(said(number), other=[*said(another(number, random)), *said(number * 10)])


def num2han(number: int) -> str:
    """A number below 10,000 in Han numerals."""
    digits, text, gap = "零一二三四五六七八九", "", False
    for place, unit in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit, number = divmod(number, place)
        if digit:
            text += ("零" if gap and text else "") + digits[digit] + unit
        gap = not digit
    return text.removeprefix("一") if text.startswith("一十") else text


HAN = Kind(
    "words_zh",
    re.compile(r"(?<![\d.,:/–-])(?<![\d.,:/–-] )([1-9]\d{1,2}) ?(公里|公斤|小时|分钟|天|个|人|次|名|位|岁|场|米)"),
    _han_forms,
    lambda random: f"{random.randint(11, 999)} {random.choice(['公里', '小时', '分钟', '个', '人', '次', '米'])}",
    "zh",
)


def _wan_forms(match: re.Match[str], random: Random) -> Forms | None:
    number, scale = match[1], match[2]
    power = {"万": 4, "亿": 8}[scale]
    whole, _, rest = number.partition(".")
    value = int(whole + rest) * 10 ** (power - len(rest))
    swapped = "亿" if scale == "万" else "万"
    same = [f"{value}{match[3]}", f"{value:,}{match[3]}", f"{number}{scale}{match[3]}"]
    return Forms(
        same,
        other=[
            f"{number}{swapped}{match[3]}",
            f"{value}0{match[3]}",
            f"{number}{match[3]}",
            f"{int(whole) + 1}{scale}{match[3]}",
        ],
    )


WAN = Kind(
    "magnitudes_zh",
    re.compile(r"(?<![\d.,:/–-])(?<![\d.,:/–-] )([1-9]\d{0,3}(?:\.\d)?) ?([万亿])(人|名|个)(?!\d)"),
    _wan_forms,
    lambda random: f"{random.randint(2, 99)}{random.choice('万亿')}{random.choice('人名个')}",
    "zh",
)
KINDS = (*SEPARATORS, HAN, WAN)

"""The same classes in other languages: months, number words, magnitudes, units, decades, year ranges, forms."""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random

from num2words import num2words

from rewrites.cardinals import alternatives, another
from rewrites.kinds import Forms, Kind
from rewrites.tongues import GENITIVES, TONGUES, Tongue


def _kinds(tongue: Tongue) -> Iterator[Kind]:
    yield _months(tongue)
    yield _dates(tongue)
    yield _words(tongue)
    yield _magnitudes(tongue)
    yield _units(tongue)
    yield _decades(tongue)
    yield _years(tongue)


def _months(tongue: Tongue) -> Kind:
    def forms(match: re.Match[str], random: Random) -> Forms:
        others = [f"{tongue.inside} {name}" for name in tongue.months if name != match[1]]
        return Forms([match[0]], other=random.sample(others, 4))

    return Kind(
        f"months_{tongue.code}",
        re.compile(rf"\b{tongue.inside} ({alternatives(tongue.months)})\b(?! \d)"),
        forms,
        lambda random: f"{tongue.inside} {random.choice(tongue.months)}",
        tongue.code,
    )


def _dates(tongue: Tongue) -> Kind:
    months = GENITIVES.get(tongue.code, tongue.months)
    day_shape, month_shape = r"(\d\d?)", f"({alternatives(months)})"
    shape = re.escape(tongue.date).replace(r"\{\}", day_shape, 1).replace(r"\{\}", month_shape)

    def forms(match: re.Match[str], random: Random) -> Forms | None:
        day, month = int(match[1]), [name.lower() for name in months].index(match[2].lower())
        if not 1 <= day <= 28:
            return None
        others = [tongue.date.format(day % 28 + 1, match[2]), tongue.date.format(day, months[month - 3])]
        return Forms([tongue.date.format(day, match[2]), f"({month + 1:02}-{day:02}) {match[0]}"[8:]], other=others)

    return Kind(
        f"dates_{tongue.code}",
        re.compile(rf"\b{shape}\b(?! (?:de )?\d)"),
        forms,
        lambda random: tongue.date.format(random.randint(1, 28), random.choice(months)),
        tongue.code,
    )


def _words(tongue: Tongue) -> Kind:
    def forms(match: re.Match[str], random: Random) -> Forms | None:
        number = int(match[1])
        if 1000 <= number < 2100:
            return None
        others = [another(number, random), number + 1]
        same = [f"{num2words(number, lang=tongue.code)} {match[2]}"]
        return Forms(
            same, other=[f"{say} {match[2]}" for each in others for say in (each, num2words(each, lang=tongue.code))]
        )

    return Kind(
        f"words_{tongue.code}",
        re.compile(rf"(?<![\w.,:/–-])([2-9]|[1-9]\d{{1,3}}) ({alternatives(tongue.nouns)})\b"),
        forms,
        lambda random: (
            f"{random.choice([random.randint(2, 99), random.randint(100, 999)])} {random.choice(tongue.nouns)}"
        ),
        tongue.code,
    )


def _magnitudes(tongue: Tongue) -> Kind:
    million, billion = tongue.millions

    def forms(match: re.Match[str], random: Random) -> Forms:
        whole, rest = int(match[1]), match[2] or ""
        tail = f",{rest}" if rest else ""
        value = whole * 10**6 + (int(rest) * 10 ** (6 - len(rest)) if rest else 0)
        plain = f"{value:,}".replace(",", {"de": ".", "es": "."}.get(tongue.code, "\u202f"))
        digits = f"{whole}.{rest} million" if rest else f"{whole} million"
        same = [match[0], plain, str(value), digits]
        return Forms(
            same, other=[f"{whole}{tail} {billion}", f"{whole + 1}{tail} {million}", f"{whole}{tail}", f"{value}0"]
        )

    return Kind(
        f"magnitudes_{tongue.code}",
        re.compile(
            rf"(?<![\w.,:/$€£–-])([2-9]|[1-9]\d)(?:,(\d))? {million}\b(?! (?:de )?(?:Euro|Dollar|US|d[oó]l|eur))", re.I
        ),
        forms,
        lambda random: f"{random.randint(2, 99)}{random.choice(['', f',{random.randint(1, 9)}'])} {million}",
        tongue.code,
    )


def _units(tongue: Tongue) -> Kind:
    english = dict(tongue.units)

    def forms(match: re.Match[str], random: Random) -> Forms:
        number, unit = match[1], match[2]
        others = [each for each in english if each != unit]
        other = [f"{number} {each}" for each in others] + [f"{another(int(number), random)} {unit}"]
        return Forms([match[0], f"{number} {english[unit]}"], [number], other)

    return Kind(
        f"units_{tongue.code}",
        re.compile(
            rf"(?<![\w.,:/–-])(?<![–-] )(?<!\d )(?<!\d (?:a|y|и|o|à) )(\d{{1,4}}) ({alternatives(english)})(?!\w)"
        ),
        forms,
        lambda random: f"{random.randint(2, 99)} {random.choice(list(english))}",
        tongue.code,
    )


def _decades(tongue: Tongue) -> Kind:
    full = [each for each in tongue.decades if "{}" in each]
    shape = "|".join(re.escape(each).replace(r"\{\}", r"(1[5-9]\d0)") for each in full)

    def forms(match: re.Match[str], random: Random) -> Forms | None:
        decade = next(int(each) for each in match.groups() if each)
        if decade % 100 < 20:
            return None

        def said(number: int) -> list[str]:
            return [each.replace("{}", str(number)) for each in full]

        after = decade + 10 if decade % 100 < 90 else decade - 10
        others = [each.replace("{}", str(decade - 100)) for each in full]
        if re.search(rf"{after // 10}\d", match.string):
            return None
        # "The 30s" are those of the last two centuries.
        brief = [each.replace("{short}", str(decade % 100)) for each in tongue.decades if each not in full]
        return Forms(
            [*said(decade), f"({decade}s)"], brief if decade > 1800 else [], [*said(after), *others, f"({after}s)"]
        )

    return Kind(
        f"decades_{tongue.code}",
        re.compile(shape, re.I),
        forms,
        lambda random: random.choice(full).replace("{}", f"1{random.randint(5, 9)}{random.randint(2, 9)}0"),
        tongue.code,
    )


def _years(tongue: Tongue) -> Kind:
    shape = "|".join(re.escape(each).replace(r"\{\}", r"(1\d\d\d|20\d\d)") for each in tongue.years)

    def forms(match: re.Match[str], random: Random) -> Forms | None:
        first, last = [int(each) for each in match.groups() if each]
        if not 2 < last - first < 90:
            return None
        same = [each.format(first, last) for each in tongue.years] + [f"({first}–{last})"]
        same += [f"{first}-{last % 100}"] if first // 100 == last // 100 and last % 100 > 9 else []
        wrong = [(first, last + 1), (first - 1, last)]
        other = [each.format(*years) for years in wrong for each in tongue.years]
        return Forms(same, [f"({first})", f"({last})"], [*other, f"({first + 1})"])

    return Kind(
        f"year_ranges_{tongue.code}",
        re.compile(rf"\b(?:{shape})(?![\w–-])"),
        forms,
        lambda random: random.choice(tongue.years[:2]).format(
            year := random.randint(1400, 2000), year + random.randint(3, 40)
        ),
        tongue.code,
    )


KINDS = tuple(kind for tongue in TONGUES for kind in _kinds(tongue))

"""The same classes in other languages: months, number words, magnitudes, units, decades, year ranges, forms."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from num2words import num2words

from rewrites.cardinals import alternatives, another
from rewrites.kinds import Forms, Kind


@dataclass(frozen=True)
class Tongue:
    """What the generators know of a language.

    Args:
        code: of the language, as in texts that are measured.
        months: as they stand after `inside`, January first.
        inside: "in" before a month.
        nouns: plurals that are counted.
        millions: the words for 10^6 and 10^9 after a decimal number.
        units: names of a unit after a number, with its English name.
        years: how a range of years is said.
        decades: how a decade is said, with `{}` for 1990 and `{short}` for 90.
        date: a day and a month.
    """

    code: str
    months: Sequence[str]
    inside: str
    nouns: Sequence[str]
    millions: tuple[str, str]
    units: Sequence[tuple[str, str]]
    years: Sequence[str]
    decades: Sequence[str]
    date: str


TONGUES = (
    Tongue(
        "de",
        [
            "Januar",
            "Februar",
            "März",
            "April",
            "Mai",
            "Juni",
            "Juli",
            "August",
            "September",
            "Oktober",
            "November",
            "Dezember",
        ],
        "im",
        ("Spieler", "Besucher", "Briefe", "Kirchen"),
        ("Millionen", "Milliarden"),
        (
            ("Kilometer", "km"),
            ("Stunden", "hours"),
            ("Minuten", "minutes"),
            ("Tage", "days"),
            ("Prozent", "%"),
            ("Euro", "EUR"),
        ),
        ("von {} bis {}", "zwischen {} und {}", "{}–{}"),
        ("in den {}er Jahren", "in den {}ern", "in den {short}er Jahren", "in den {}er-Jahren"),
        "am {}. {}",
    ),
    Tongue(
        "es",
        [
            "enero",
            "febrero",
            "marzo",
            "abril",
            "mayo",
            "junio",
            "julio",
            "agosto",
            "septiembre",
            "octubre",
            "noviembre",
            "diciembre",
        ],
        "en",
        ("jugadores", "visitantes", "cartas", "iglesias"),
        ("millones", "mil millones"),
        (
            ("kilómetros", "km"),
            ("horas", "hours"),
            ("minutos", "minutes"),
            ("días", "days"),
            ("por ciento", "%"),
            ("euros", "EUR"),
        ),
        ("de {} a {}", "entre {} y {}", "desde {} hasta {}", "{}–{}"),
        ("en los años {short}", "en la década de {}", "en la década de los {short}", "en los {}s"),
        "el {} de {}",
    ),
    Tongue(
        "fr",
        [
            "janvier",
            "février",
            "mars",
            "avril",
            "mai",
            "juin",
            "juillet",
            "août",
            "septembre",
            "octobre",
            "novembre",
            "décembre",
        ],
        "en",
        ("joueurs", "visiteurs", "lettres", "églises"),
        ("millions", "milliards"),
        (
            ("kilomètres", "km"),
            ("heures", "hours"),
            ("minutes", "minutes"),
            ("jours", "days"),
            ("pour cent", "%"),
            ("euros", "EUR"),
        ),
        ("de {} à {}", "entre {} et {}", "{}–{}"),
        ("dans les années {short}", "dans les années {}"),
        "le {} {}",
    ),
    Tongue(
        "ru",
        [
            "январе",
            "феврале",
            "марте",
            "апреле",
            "мае",
            "июне",
            "июле",
            "августе",
            "сентябре",
            "октябре",
            "ноябре",
            "декабре",
        ],
        "в",
        ("игроков", "посетителей", "писем", "церквей"),
        ("миллионов", "миллиардов"),
        (
            ("километров", "km"),
            ("часов", "hours"),
            ("минут", "minutes"),
            ("дней", "days"),
            ("процентов", "%"),
            ("рублей", "RUB"),
        ),
        ("с {} по {}", "от {} до {}", "{}–{}"),
        ("в {}-х годах", "в {short}-х годах", "в {}-е годы"),
        "{} {}",
    ),
    Tongue(
        "uk",
        [
            "січні",
            "лютому",
            "березні",
            "квітні",
            "травні",
            "червні",
            "липні",
            "серпні",
            "вересні",
            "жовтні",
            "листопаді",
            "грудні",
        ],
        "у",
        ("гравців", "відвідувачів", "листів", "церков"),
        ("мільйонів", "мільярдів"),
        (
            ("кілометрів", "km"),
            ("годин", "hours"),
            ("хвилин", "minutes"),
            ("днів", "days"),
            ("відсотків", "%"),
            ("гривень", "UAH"),
        ),
        ("з {} по {}", "від {} до {}", "{}–{}"),
        ("у {}-х роках", "у {short}-х роках"),
        "{} {}",
    ),
)
_GENITIVES = {
    "ru": [
        "января",
        "февраля",
        "марта",
        "апреля",
        "мая",
        "июня",
        "июля",
        "августа",
        "сентября",
        "октября",
        "ноября",
        "декабря",
    ],
    "uk": [
        "січня",
        "лютого",
        "березня",
        "квітня",
        "травня",
        "червня",
        "липня",
        "серпня",
        "вересня",
        "жовтня",
        "листопада",
        "грудня",
    ],
}


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
    months = _GENITIVES.get(tongue.code, tongue.months)
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
            # "The 30s" are those of the last two centuries.
            forms = tongue.decades if number > 1800 else full
            return [each.replace("{}", str(number)).replace("{short}", str(number % 100)) for each in forms]

        after = decade + 10 if decade % 100 < 90 else decade - 10
        others = [each.replace("{}", str(decade - 100)) for each in full]
        if re.search(rf"{after // 10}\d", match.string):
            return None
        return Forms([*said(decade), f"({decade}s)"], other=[*said(after), *others, f"({after}s)"])

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
        same += [f"{first}-{last % 100}"] if first // 100 == last // 100 else []
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
KINDS = (*(kind for tongue in TONGUES for kind in _kinds(tongue)), *SEPARATORS, HAN, WAN)

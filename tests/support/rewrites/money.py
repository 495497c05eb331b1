"""Currencies said otherwise."""

from __future__ import annotations

import re
from random import Random

from rewrites.cardinals import alternatives, another
from rewrites.kinds import Forms, Kind
from rewrites.measures import LEFT

CURRENCIES: dict[str, tuple[str, ...]] = {
    "USD": ("${}", "US${}", "{} dollars", "{} US dollars", "USD {}", "{} USD"),
    "EUR": ("€{}", "{} euros", "EUR {}", "{} €"),
    "GBP": ("£{}", "GBP {}", "{} pounds sterling", "{} British pounds"),
    "JPY": ("JPY {}", "{} yen", "{} Japanese yen"),
    "HKD": ("HK${}", "{} Hong Kong dollars", "HKD {}"),
    "CAD": ("C${}", "{} Canadian dollars", "CAD {}", "CA${}"),
    "AUD": ("A${}", "{} Australian dollars", "AUD {}"),
    "MXN": ("MX${}", "{} Mexican pesos", "MXN {}"),
    "INR": ("₹{}", "{} Indian rupees", "INR {}"),
    "RUB": ("₽{}", "{} Russian rubles", "RUB {}"),
    "KRW": ("₩{}", "KRW {}", "{} South Korean won"),
    "PLN": ("{} Polish zlotys", "PLN {}"),
    "SEK": ("{} Swedish kronor", "SEK {}"),
    "NZD": ("NZ${}", "NZD {}"),
    "BRL": ("R${}", "{} Brazilian reals"),
    "UAH": ("₴{}", "{} hryvnias", "UAH {}"),
}
_LOOSE = ("{} pesos", "{} rupees", "{} francs", "{} shillings", "{} kronor")
_BEFORE = r"(?<![\w$€£¥])(?P<sign>US\$|\$|€|£|₹|HK\$|C\$|A\$)"
_SIGNS = {"US$": "USD", "$": "USD", "€": "EUR", "£": "GBP", "₹": "INR", "HK$": "HKD", "C$": "CAD", "A$": "AUD"}
_WORDS = {"US dollars": "USD", "dollars": "USD", "euros": "EUR", "yen": "JPY", "Hong Kong dollars": "HKD"}


def _money_forms(match: re.Match[str], random: Random) -> Forms:
    number, code = match["number"] or match["count"], _SIGNS.get(match["sign"] or "") or _WORDS[match["word"]]
    others = [form for each, forms in CURRENCIES.items() if each != code for form in forms]
    foreign = [each for each in _LOOSE if not (code == "INR" and "rupees" in each)]
    same = [form.replace("{}", number) for form in CURRENCIES[code]]
    other = [form.replace("{}", number) for form in [*random.sample(others, 6), random.choice(foreign)]]
    digits = re.sub(r"\D.*", "", number)
    return Forms(same, other=[*other, same[0].replace(digits, str(another(int(digits), random)), 1), f"{number} hours"])


_MONEY_NUMBER = r"\d+(?:,\d{3})*(?:\.\d+)?(?: (?:million|billion|thousand|trillion))?"
MONEY = Kind(
    "currencies",
    re.compile(
        rf"{_BEFORE} ?(?P<number>{_MONEY_NUMBER})(?![\w%–-]|[,.]\d| (?:million|billion|[Mm]n|per|an?|to)\b| ?[–-] ?\d)"
        rf"|{LEFT}(?P<count>{_MONEY_NUMBER}) (?P<word>{alternatives(_WORDS)})\b(?! (?:per|an?)\b)"
    ),
    _money_forms,
    lambda random: (
        f"for {random.choice(list(_SIGNS))}{_cost(random)}"
        if random.random() < 0.7
        else f"for {_cost(random)} {random.choice(list(_WORDS))}"
    ),
)


def _cost(random: Random) -> str:
    return random.choice(
        [str(random.randint(2, 999)), f"{random.randint(1000, 99_999):,}", f"{random.randint(2, 99)} million", "7.50"]
    )


KINDS = (MONEY,)

"""Makes the table of each language of guardgraph/grounding from Babel (CLDR), Pint, num2words and stopwords-iso.

Run as a script, it renews the shipped files. Nothing in them is written by hand; see ``languages/hand`` for what is.
"""

import json
import re
from collections.abc import Iterable
from pathlib import Path

import pint
import stopwordsiso
from babel import Locale
from babel.core import get_global
from num2words import num2words

import guardgraph.grounding.languages

DATA = Path(guardgraph.grounding.languages.__file__).parent / "made"
LANGUAGES = guardgraph.grounding.languages.LANGUAGES
REGISTRY = pint.UnitRegistry()

CALENDAR = {"month": 1, "quarter": 3, "year": 12, "decade": 120, "century": 1200}
"""Months of what has no fixed length in seconds."""
OWN_MEASURES = {"percent": ("%", 1.0, 0.0), "permille": ("%", 0.1, 0.0), "night": ("night", 1.0, 0.0)}
OWN_MEASURES |= {"celsius": ("[temperature]", 1.0, 273.15), "fahrenheit": ("[temperature]", 5 / 9, 459.67 * 5 / 9)}
"""Units whose scale does not begin at nothing, or which no registry has."""
LEFT_OUT = ("angle", "graphics", "concentr-karat", "light", "force")
"""Kinds of CLDR's units whose names are other words as well."""
SYMBOLS = {
    "m": "kdcmμn", "g": "kmμ", "t": "", "l": "hdcmμ", "L": "hdcmμ", "s": "mμn", "h": "", "d": "", "A": "mμ", "V": "km",
    "W": "kMGm", "J": "kM", "N": "k", "Pa": "hkM", "Hz": "kMG", "Wh": "kMGT", "B": "kMGT",
}  # fmt: skip
"""Symbols of units that every language writes alike, with the prefixes that texts have (https://www.bipm.org/en/si)."""
TENDERS = ["USD", "EUR", "GBP", "JPY", "INR", "CNY", "CHF", "RUB", "UAH", "PLN", "BRL", "MXN"]
"""Currencies that "dollar", "euro" and "peso" alone mean, the first first."""
NOUN_LAST = ("en", "de", "nl", "sv")
"""Languages that say "US dollar", with the noun behind."""
LONGEST = 1000
"""Numbers whose words are kept; larger ones are made of these and of magnitudes."""
DOMAINS = frozenset("com con edu gov je mil net non nos org que un www".split())  # noqa: SIM905 - read as words
TWO_LETTERS = frozenset("am an as at be by do in is it me my no so to us".split())  # noqa: SIM905 - read as words
"""English words that are also codes of territories; the other codes in the list of stop words are none."""


def fold(text: str) -> str:
    return re.sub(r"\s+", " ", text.replace("\u2060", "")).strip().strip(".").lower()


def list_months_or_days(forms: dict[str, dict[str, dict[int, str]]]) -> dict[str, int]:
    found = {}
    for use in ("format", "stand-alone"):
        for width in ("abbreviated", "wide"):
            found |= {fold(name): n for n, name in forms[use][width].items() if not re.search(r"\d", name)}
    return found


def measure(unit: str) -> tuple[str, float, float] | None:
    """Return a unit's dimension, what of the base unit it is, and where its scale begins; None where Pint has none."""
    if unit in OWN_MEASURES:
        return OWN_MEASURES[unit]
    if unit in CALENDAR:
        return "calendar", float(CALENDAR[unit]), 0.0
    plain = unit.replace("-per-", "/").replace("-", "_")
    spelled = re.sub(r"(square|cubic)_(\w+)", lambda m: f"{m[2]}**{2 if m[1] == 'square' else 3}", plain)
    try:
        base = REGISTRY.Quantity(1, spelled).to_base_units()
    except (pint.UndefinedUnitError, pint.OffsetUnitCalculusError, ValueError):
        return None
    return str(base.units), float(base.magnitude), 0.0


def list_units(locale: Locale) -> dict[str, tuple[str, float, float]]:
    found: dict[str, tuple[str, float, float]] = {}
    for key, widths in locale._data["unit_patterns"].items():
        what = None if key.startswith(LEFT_OUT) else measure(key.partition("-")[2])
        if what is None or what[0] == "dimensionless":
            continue
        for width in ("long", "short", "narrow"):
            for form, pattern in widths.get(width, {}).items():
                if form in ("per", "gender", "case") or "{0}" not in str(pattern):
                    continue
                name = fold(str(pattern).replace("{0}", ""))
                if re.search(r"\w\w|[%°‰²³]|[^\x00-\u024f]", name):
                    found.setdefault(name, what)
    return found


def list_symbols() -> dict[str, tuple[str, float]]:
    """Return the units by their international symbols, in which capital letters count: MW and mW."""
    return {
        f"{prefix}{symbol}": (str(base.units), float(base.magnitude))
        for symbol, prefixes in SYMBOLS.items()
        for prefix in ("", *prefixes)
        for base in [REGISTRY.Quantity(1, f"{prefix}{symbol}").to_base_units()]
    }


def list_currencies(locale: Locale) -> dict[str, str]:
    found: dict[str, str] = {}
    for code, name in locale.currencies.items():
        found.setdefault(fold(name), code)
        found[code] = code
    for code, forms in locale._data["currency_names_plural"].items():
        for name in forms.values():
            found.setdefault(fold(name), code)
    found |= {sign: code for code, sign in locale.currency_symbols.items() if not sign.isalpha()}
    at = -1 if locale.language in NOUN_LAST else 0
    for code in TENDERS:
        for name in [name for name, meant in found.items() if meant == code and " " in name]:
            found.setdefault(name.split()[at], code)
    return found


def list_scales(language: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for name in (language, *(["en_GB"] if language == "en" else [])):
        for width in ("long", "short"):
            for pluralised in Locale.parse(name).compact_decimal_formats.get(width, {}).values():
                for power, pattern in pluralised.items():
                    word = fold(re.sub(r"[0'.,#]", "", str(pattern.pattern)))
                    if word and int(power) > 100:
                        found.setdefault(word, 10 ** (len(str(power)) - str(pattern.pattern).count("0")))
    try:
        hundred = num2words(200, lang=language).lower().removeprefix(num2words(2, lang=language).lower()).strip()
    except NotImplementedError:
        return found
    return {**found, hundred: 100} if hundred.isalpha() else found


def say_number(number: int, language: str, to: str) -> str | None:
    try:
        said = num2words(number, lang=language, to=to).lower()
    except (NotImplementedError, KeyError, IndexError, TypeError):
        return None
    return " ".join(re.findall(r"[^\W\d_]+", said)) or None


def list_numbers(language: str) -> tuple[dict[str, int], dict[str, int]]:
    if language in ("zh", "ja", "ko", "th", "hi", "el"):
        return {}, {}
    numbers: dict[str, int] = {}
    for number in range(LONGEST):
        if said := say_number(number, language, "cardinal"):
            numbers.setdefault(said, number)
            numbers.setdefault(said.replace(" and ", " "), number)
    ordinals: dict[str, int] = {}
    for number in range(1, 101):
        if (said := say_number(number, language, "ordinal")) and said not in numbers:
            ordinals.setdefault(said, number)
    return numbers, ordinals


def list_stop_words(language: str) -> list[str]:
    """Return the stop words; English is without the Internet domains and codes that its list has."""
    words = set(stopwordsiso.stopwords(language))
    if language == "en":
        codes = {code.lower() for code in (*Locale.parse("en").territories, *get_global("territory_aliases"))}
        words -= DOMAINS | (codes - TWO_LETTERS) | {word for word in words if len(word) == 1} - {"a", "i"}
    return sorted(words)


def list_territories(locale: Locale) -> dict[str, list[str]]:
    """Return for each territory its code and other codes that mean it, by its name: "united states": ["US", "USA"]."""
    aliases: dict[str, list[str]] = {}
    for alias, codes in get_global("territory_aliases").items():
        if len(codes) == 1 and alias.isalpha():
            aliases.setdefault(codes[0], []).append(alias)
    return {name: [code, *aliases.get(code, ())] for code, name in sorted(locale.territories.items()) if code.isalpha()}


def make_table(language: str) -> dict[str, object]:
    locale = Locale.parse(language)
    numbers, ordinals = list_numbers(language)
    return {
        "decimal": locale.number_symbols["latn"]["decimal"],
        "months": list_months_or_days(locale.months),
        "weekdays": list_months_or_days(locale.days),
        "units": {**(list_units(Locale.parse("en_GB")) if language == "en" else {}), **list_units(locale)},
        **({"symbols": list_symbols()} if language == "en" else {}),
        "currencies": list_currencies(locale),
        "scales": list_scales(language),
        "numbers": numbers,
        "ordinals": ordinals,
        "territories": list_territories(locale),
        "stop_words": list_stop_words(language),
    }


def write_table(table: dict[str, object]) -> str:
    lines = (
        f"{json.dumps(key)}:{json.dumps(value, ensure_ascii=False, separators=(',', ':'))}"
        for key, value in table.items()
    )
    return "{" + ",\n".join(lines) + "}\n"


def write_word_list(words: Iterable[str]) -> str:
    """Return the words that English writes in lower case, and the beginnings of contractions (isn't).

    A line holds what begins with the same two letters; "-" stands for these letters alone.
    """
    given = set(words)
    kept = {word for word in given if re.fullmatch("[a-z]{2,}", word)}
    kept |= {word.partition("'")[0] for word in given if re.fullmatch("[a-z]+n't", word)}
    heads: dict[str, list[str]] = {}
    for word in sorted(kept):
        heads.setdefault(word[:2], []).append(word[2:] or "-")
    return "".join(f"{head} {' '.join(rest)}\n" for head, rest in sorted(heads.items()))


if __name__ == "__main__":
    for name in LANGUAGES:
        text = write_table(make_table(name))
        (DATA / f"{name}.json").write_text(text, "utf-8")
        print(name, len(text.encode()))

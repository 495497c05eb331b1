"""Table of currencies: CLDR's codes, symbols and names by language."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import date

import stopwordsiso
from babel import Locale
from babel.core import get_global
from locale_places import locales_of

from guardgraph.languages.tables import LANGUAGES

MINOR = {
    "cent cents ¢": ("USD", "EUR"),
    "penny pence": ("GBP",),
    "kopeck kopecks копейка копейки копеек": ("RUB",),
    "копійка копійки копійок": ("UAH",),
    "centavo centavos": ("MXN", "BRL"),
    "céntimo céntimos centime centimes": ("EUR",),
}
"""Hundredths of a currency; CLDR has no names for them."""


def currencies() -> dict[str, object]:
    """Return by symbol and by language and name the codes of currencies, and the names of their hundredths."""
    symbols = _symbols()
    names = {language: _names(language, symbols) for language in LANGUAGES}
    minor = {name: list(codes) for words, codes in MINOR.items() for name in words.split()}
    return {"codes": " ".join(sorted(_in_use())), "symbols": symbols, "names": names, "hundredths": minor}


def _in_use() -> set[str]:
    spans = [span for spans in get_global("territory_currencies").values() for span in spans]
    # (code, begin, end, tender): the last end is open, or later than the tables.
    return {code for code, _, end, tender in spans if tender and (end is None or date(*end) > date(2026, 1, 1))}


def _symbols() -> dict[str, list[str]]:
    """Return what each symbol stands for: what English takes it for, and else all that use it."""
    used = _in_use()
    found: defaultdict[str, set[str]] = defaultdict(set)
    plain = {sign: {code} for code, sign in Locale.parse("en").currency_symbols.items() if code in used}
    for language in ("en", *LANGUAGES, "da", "nb", "hu"):
        for place in locales_of(language):
            for code, sign in place.currency_symbols.items():
                name = sign.strip(".\u200e\u200f\u200b").replace("\u00a0", "").replace("\u202f", "")
                if code in used and name != code and len(name) > name.isascii() * name.isalpha():
                    found[name].add(code)
    found |= plain
    found["¥"] |= {"CNY"}
    return {sign: sorted(codes) for sign, codes in sorted(found.items()) if sign not in used and sign != "US"}


def _names(language: str, symbols: dict[str, list[str]]) -> dict[str, str]:
    """Return names by their codes, and nouns alone: "dollars" are those whose symbol is a lone sign."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    alone: defaultdict[str, set[str]] = defaultdict(set)
    own = {codes[0] for sign, codes in symbols.items() if len(sign) == 1 and not sign.isalpha()}
    names = list(_full_names(language))
    of_word: defaultdict[str, set[str]] = defaultdict(set)
    for code, name in names:
        for word in name.replace("-", " ").split():
            of_word[word].add(code)
    for code, name in names:
        found[name].add(code)
        words = [word for word in name.replace("-", " ").split() if word not in stopwordsiso.stopwords(language)]
        # "US dollar", "dólar estadounidense": the kind is the word that many currencies share.
        noun = max(reversed(words) if language in LAST else words, key=lambda word: len(of_word[word]), default="")
        if len(noun) > 1 and language not in SYLLABIC:
            alone[noun].add(code)
    for code, noun in SYLLABIC.get(language, {}).items():
        alone[noun].add(code)
    for noun, codes in alone.items():
        found[noun] |= (codes & own) or codes
    by_codes: defaultdict[str, list[str]] = defaultdict(list)
    for name, codes in sorted(found.items()):
        by_codes[" ".join(sorted(codes))].append(name)
    return {codes: "|".join(each) for codes, each in sorted(by_codes.items())}


SYLLABIC = {"vi": {"USD": "đô la", "VND": "đồng", "CNY": "nhân dân tệ", "GBP": "bảng anh", "RUB": "rúp", "JPY": "yên"}}
"""Languages that put a blank between syllables, with the nouns of currencies: a syllable is no word."""

LAST = frozenset(["en", "de", "nl", "sv", "cs", "tr", "hi", "zh", "ja", "ko", "ru", "uk", "pl"])
"""Languages that name the kind of a currency behind its country."""


def _full_names(language: str) -> Iterator[tuple[str, str]]:
    locale, used = Locale.parse(language), _in_use()
    for code in sorted(used):
        forms = {locale.currencies.get(code, ""), *dict(locale._data["currency_names_plural"].get(code, {})).values()}
        for form in forms:
            if form and not form.isupper():
                yield code, form.lower()

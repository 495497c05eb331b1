"""Tables of places and their languages: separators of numbers, territories, stop words."""

from __future__ import annotations

import stopwordsiso
from babel import Locale, localedata
from babel.core import get_global

from guardgraph.locales.tables import LANGUAGES


def locales_of(language: str) -> list[Locale]:
    """Return CLDR's locales of a language in its own scripts, the language itself first."""
    identifiers = sorted(each for each in localedata.locale_identifiers() if each.split("_")[0] == language)
    return [place for place in map(Locale.parse, identifiers) if place.script in (None, "Hans", "Hant")]


def separators() -> dict[str, list[list[str]]]:
    """Return the decimal sign and the grouping sign of each language, as its places write them."""
    made: dict[str, list[list[str]]] = {}
    for language in LANGUAGES:
        symbols = [place.number_symbols["latn"] for place in locales_of(language)]
        found = {(each["decimal"], each["group"]) for each in symbols}
        made[language] = [list(each) for each in sorted(found)]
    return made


def territories() -> dict[str, dict[str, object]]:
    """Return the territories: alpha-3 codes, and by language names and the names of their own languages."""
    names: dict[str, object] = {}
    languages: dict[str, object] = {}
    alpha3 = {code[0]: alias for alias, code in get_global("territory_aliases").items() if _is_alpha3(alias, code)}
    for language in LANGUAGES:
        locale = Locale.parse(language)
        names[language] = dict(sorted(locale.territories.items()))
        spoken = {
            code: [locale.languages[each] for each in own if each in locale.languages] for code, own in OWN.items()
        }
        languages[language] = {code: found for code, found in spoken.items() if found}
    return {"alpha3": dict(sorted(alpha3.items())), "names": names, "languages": languages}


def _is_alpha3(alias: str, code: list[str]) -> bool:
    return len(alias) == 3 and alias.isalpha() and len(code) == 1


def _own_languages() -> dict[str, list[str]]:
    """Return the official languages of each territory that are spoken there most of all, the likeliest first."""
    likely = get_global("likely_subtags")
    own: dict[str, list[str]] = {}
    for territory, spoken in sorted(get_global("territory_languages").items()):
        for language, facts in spoken.items():
            at_home = likely.get(language, "").rpartition("_")[2] == territory
            if at_home and (facts["official_status"] or "").endswith("official"):
                own.setdefault(territory, []).append(language)
    return own


OWN = _own_languages()


NO_ENGLISH = frozenset({"com", "con", "edu", "gov", "je", "mil", "net", "non", "nos", "org", "que", "un", "www"})
TWO_LETTERS = frozenset(
    {"am", "an", "as", "at", "be", "by", "do", "in", "is", "it", "me", "my", "no", "so", "to", "us"}
)
"""English words that are also codes of territories."""


def stop_words() -> dict[str, str]:
    """Return the stop words of each language, parted by blanks.

    English is without the Internet domains that its list has: "de", "es" and "la" are no English words.
    """
    made = {language: set(stopwordsiso.stopwords(language)) for language in LANGUAGES}
    codes = {code.lower() for code in (*Locale.parse("en").territories, *get_global("territory_aliases"))}
    made["en"] -= NO_ENGLISH | (codes - TWO_LETTERS) | {word for word in made["en"] if len(word) == 1} - {"a", "i"}
    return {language: " ".join(sorted(words)) for language, words in made.items()}

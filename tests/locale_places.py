"""Tables of places and their languages: separators of numbers, territories, stop words."""

from __future__ import annotations

import stopwordsiso
from babel import Locale, localedata
from babel.core import get_global

from guardgraph.languages.tables import LANGUAGES


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
    """Return the territories: other codes, and by language names, the names of their own languages and adjectives."""
    names: dict[str, object] = {}
    languages: dict[str, object] = {}
    adjectives: dict[str, object] = {}
    codes: dict[str, list[str]] = {}
    for alias, meant in sorted(get_global("territory_aliases").items()):
        if alias.isalpha() and len(meant) == 1:
            codes.setdefault(meant[0], []).append(alias)
    for language in LANGUAGES:
        locale = Locale.parse(language)
        names[language] = dict(sorted(locale.territories.items()))
        spoken = {
            code: [locale.languages[each] for each in own if each in locale.languages] for code, own in OWN.items()
        }
        languages[language] = {code: found for code, found in spoken.items() if found}
        adjectives[language] = _adjectives(locale)
    return {"codes": dict(sorted(codes.items())), "names": names, "languages": languages, "adjectives": adjectives}


def _adjectives(locale: Locale) -> dict[str, list[str]]:
    """Return the adjectives of territories: "Polish" of the Polish zloty, "American" of American English.

    They stand in the names of currencies and of kinds of languages, or are the name of a language that has no such
    kinds. Of a currency, only a name of two words is read, since longer ones hold words of other kinds, and of these
    only a word that no other territory's currency has ("dollar") and that is no currency for itself ("Euro").
    """
    named = [(code[:2], name.lower().split()) for code, name in locale.currencies.items() if code[0] != "X"]
    for tag, name in locale.languages.items():
        language, _, place = tag.partition("_")
        if place.isupper():
            named.append((place, [word for word in name.lower().split() if word != locale.languages[language].lower()]))
    owners: dict[str, set[str]] = {}
    for code, words in named:
        for word in words:
            owners.setdefault(word, set()).add(code)
    whole = {name.lower() for name in locale.currencies.values()}
    short = [(code, word) for code, words in named if len(words) <= 2 for word in words]
    found = {(code, word) for code, word in short if len(owners[word]) == 1 and word not in whole}
    for code, own in OWN.items():
        found |= {(code, locale.languages[each].lower()) for each in own if each in {*locale.languages} - KINDS}
    made: dict[str, list[str]] = {}
    for code, word in sorted(found):
        if code in locale.territories and len(word) > 3 and word.isalpha():
            made.setdefault(code, []).append(word)
    return made


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
KINDS = {tag.partition("_")[0] for tag in Locale("en").languages if "_" in tag}
"""Languages of which several territories have kinds of their own."""


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

"""Tables of numbers in words: num2words' cardinals and ordinals, CLDR's magnitudes."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator

from babel import Locale
from num2words import num2words

from guardgraph.languages.numbers import NumberWords
from guardgraph.languages.tables import LANGUAGES

COMPOUNDING = frozenset({"de", "nl", "it", "sv", "tr"})
"""Languages that write a number in one word."""

JOINERS = {
    "en": "and ,",
    "de": "und",
    "fr": "et",
    "es": "y",
    "pt": "e",
    "it": "e ,",
    "nl": "en",
    "sv": "och",
    "ro": "și de",
    "ar": "و",
    "vi": "lẻ linh",
}
"""Words between the parts of a number."""

RUSSIAN = [{"case": case, "gender": gender} for case in "ngdaip" for gender in "mfn"]
UKRAINIAN = [
    {"case": case, "gender": gender}
    for case in ("nominative", "genitive", "dative", "accusative", "instrumental", "locative")
    for gender in ("masculine", "feminine")
]
FORMS: dict[str, list[dict[str, object]]] = {"ru": RUSSIAN, "uk": UKRAINIAN}
"""What num2words may be asked for beside the number."""

VARIANTS = {"en": ["en"], "fr": ["fr", "fr_BE", "fr_CH"], "pt": ["pt", "pt_BR"], "es": ["es"]}
"""Places whose number words differ."""

MORE = {
    "en": {"lakh": 10**5, "lakhs": 10**5, "crore": 10**7, "crores": 10**7, "mn": 10**6, "bn": 10**9, "dozen": 12},
    "de": {"mill": 10**6, "tsd": 1000},
    "es": {"millardo": 10**9, "millardos": 10**9},
    "pt": {"mil milhões": 10**9, "biliões": 10**12, "bilião": 10**12},
    "fr": {"milliers": 1000},
    "it": {"bilione": 10**12, "bilioni": 10**12},
    "zh": {"萬": 10**4, "億": 10**8},
}
"""Magnitudes that CLDR's compact numbers do not use."""

GENDERS = {
    "es": [
        (r"veintiuno$", "veintiún"),
        (r"uno$", "un"),
        (r"uno$", "una"),
        (r"cientos$", "cientas"),
        (r"quinientos$", "quinientas"),
    ],
    "pt": [(r"\bum$", "uma"), (r"dois$", "duas"), (r"entos$", "entas"), (r"zentos$", "zentas")],
    "fr": [(r"\bun$", "une"), (r"vingts$", "vingt"), (r"cents$", "cent")],
    "it": [(r"\buno$", "una"), (r"uno$", "un")],
    "de": [(r"^eins$", each) for each in ("ein", "eine", "einen", "einem", "einer", "zwo")] + [(r"zwei$", "zwo")],
    "nl": [("één", "een")],
    "ro": [("unu$", "una"), ("doi$", "două"), ("doisprezece", "douăsprezece")],
    "sv": [("ett$", "en")],
    "pl": [("dwa$", "dwie"), ("jeden$", "jedna")],
    "cs": [("dva$", "dvě"), ("jedna$", "jeden")],
}
"""How cardinals bend, where num2words says only one form."""

ENDINGS = {
    "de": [("e$", each) for each in ("e", "en", "er", "es", "em")] + [("siebte", "siebente")],
    "es": [("o$", each) for each in ("o", "a", "os", "as")] + [("primero$", "primer"), ("tercero$", "tercer")],
    "pt": [("o$", each) for each in ("o", "a", "os", "as")],
    "it": [("o$", each) for each in ("o", "a", "i", "e")],
    "fr": [("$", ""), ("$", "s"), ("premier$", "première"), ("deuxième$", "second"), ("deuxième$", "seconde")],
    "uk": [
        ("ий$", each) for each in ["ий", "а", "е", "ого", "ому", "им", "ім", "у", "ої", "ій", "ою", "і", "их", "ими"]
    ]
    + [("ій$", each) for each in ["ій", "я", "є", "ього", "ьому", "ім", "ю", "ьої", "ьою", "і", "іх", "іми"]],
    "pl": [("y$", each) for each in ["y", "a", "e", "ego", "emu", "ym", "ą", "ej"]],
}
"""How ordinals bend, where num2words says only one form. These are grammar: a closed class of endings."""

BELOW = [*range(100), *range(100, 1000, 100), 101]
ELIDED = [hundred + rest for hundred in range(100, 1000, 100) for rest in (1, 8, 11, 18, *range(80, 90))]
"""Numbers in which Italian leaves out a vowel: "trecentotto"."""

ORDINALS = frozenset({"en", "de", "es", "fr", "uk", "ru", "it", "pt", "nl", "pl"})
UNPARTED = frozenset({"th", "ja", "ko"})
"""Languages that write number words without blanks; those of Han characters are read as numerals."""


def number_words() -> dict[str, dict[str, dict[str, int]]]:
    """Return by language what a number is read from, each phrase left out that the others already add up to."""
    return {language: made for language in LANGUAGES if (made := _language(language))}


def _language(language: str) -> dict[str, dict[str, int]]:
    if language in UNPARTED or not list(_cardinals(language, [1])):
        return {}
    scales = magnitudes()[language]
    made: dict[str, dict[str, int]] = {"cardinals": {}, "hundred": {}, "ordinals": {}}
    made["joiners"] = dict.fromkeys(JOINERS.get(language, "").split(), 0)
    if language in COMPOUNDING:
        made |= {"compounds": {}, "joined": made["joiners"]}
    spaced = [words.split() for words, _ in _cardinals(language, [200])]
    made["hundred"] = {words[-1]: 100 for words in spaced if len(words) == 2}
    if language in COMPOUNDING:
        made["hundred"] = {HUNDREDS[language]: 100}
    thousand = [_spelled(value, language) for value in (100, 1000, 10**6, 10**9)]
    made["alone"] = {words: 0 for words in thousand if words and " " not in words}
    for words, value in _cardinals(language, [*BELOW, *(ELIDED if language == "it" else ())]):
        if value != 101:
            _keep(made, scales, "cardinals", words, value)
        elif not _read(made, scales, words, 101):
            made["cardinals"][words.split()[0]] = 100
    for thousand, value in _cardinals(language, [2000, 5000, 10**6, 2 * 10**6, 5 * 10**6, 2 * 10**9, 5 * 10**9]):
        last = thousand.split()[-1]
        if language not in COMPOUNDING and " " in thousand and last not in scales:
            made["hundred"][last] = 10 ** (len(str(value)) - 1)
    made["hundred"] |= THOUSANDS.get(language, {})
    for words, value in _ordinals(language) if language in ORDINALS else ():
        _keep(made, scales, "ordinals", words, value)
    return made


HUNDREDS = {"de": "hundert", "nl": "honderd", "it": "cento", "sv": "hundra", "tr": "yüz"}
THOUSANDS = {"it": {"mille": 1000, "mila": 1000}, "sv": {"tusen": 1000}, "tr": {"bin": 1000}}


def _keep(made: dict[str, dict[str, int]], scales: dict[str, int], kind: str, words: str, value: int) -> None:
    if len(words.split()) <= 4 and not _read(made, scales, words, value, ordinal=kind == "ordinals"):
        made[kind].setdefault(words, value)


def _read(
    made: dict[str, dict[str, int]], scales: dict[str, int], words: str, value: int, *, ordinal: bool = False
) -> bool:
    split = words.split()
    return NumberWords(made, scales).read_spelled_number(split, 0) == (value, ordinal, len(split))


def _cardinals(language: str, numbers: Iterable[int]) -> Iterator[tuple[str, int]]:
    for number, place, form in itertools.product(
        numbers, VARIANTS.get(language, [language]), FORMS.get(language, [{}])
    ):
        words = _spelled(number, place, **form)
        if words:
            yield words, number
            for pattern, by in GENDERS.get(language, ()):
                if re.search(pattern, words):
                    yield re.sub(pattern, by, words), number


def _ordinals(language: str) -> Iterator[tuple[str, int]]:
    for number in [*range(1, 101), 1000]:
        for form in FORMS.get(language, [{}]) if language != "uk" else [{}]:
            words = _spelled(number, language, to="ordinal", **form)
            if words and words != _spelled(number, language):
                yield words, number
                for pattern, by in ENDINGS.get(language, ()):
                    if re.search(pattern, words):
                        yield re.sub(pattern, by, words), number


def _spelled(number: int, place: str, **form: object) -> str:
    try:
        words = num2words(number, lang=place, **form)
    except (NotImplementedError, KeyError, IndexError, TypeError):
        return ""
    return re.sub(r"[\s,-]+", " ", words.lower().replace("'", "ʼ").replace("’", "ʼ")).strip()


def magnitudes() -> dict[str, dict[str, int]]:
    """Return by language what multiplies a number, from the patterns of compact numbers ("0 mil millones")."""
    made = {}
    for language in LANGUAGES:
        found = dict(MORE.get(language, {}))
        for width in Locale.parse(language)._data["compact_decimal_formats"].values():
            for patterns in width.values():
                for power, pattern in dict(patterns).items():
                    match = re.fullmatch(r"(0+)[\s\u00a0]*([^0]+)", str(getattr(pattern, "pattern", pattern)))
                    name = match[2].replace("'", "").strip(" .॰\u200f").lower() if match else ""
                    if match and (len(name) > 1 or (name > "\u2e80")):
                        found.setdefault(name.replace("\u00a0", " "), int(power) // 10 ** (len(match[1]) - 1))
        made[language] = dict(sorted(found.items()))
    return made

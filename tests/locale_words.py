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
    "hi": {"मिलियन": 10**6, "बिलियन": 10**9, "हजार": 1000, "सौ": 100},
    "zh": {"萬": 10**4, "億": 10**8},
}
"""Magnitudes that CLDR's compact numbers do not use."""

CARDINALS = {
    "hi": "शून्य=0 एक=1 दो=2 तीन=3 चार=4 पांच=5 पाँच=5 छह=6 छः=6 छे=6 सात=7 आठ=8 नौ=9 दस=10 ग्यारह=11 "
    "बारह=12 तेरह=13 चौदह=14 पंद्रह=15 पन्द्रह=15 सोलह=16 सत्रह=17 अठारह=18 उन्नीस=19 बीस=20 "
    "इक्कीस=21 बाईस=22 तेईस=23 चौबीस=24 पच्चीस=25 छब्बीस=26 सत्ताईस=27 अट्ठाईस=28 अठाईस=28 उनतीस=29 तीस=30 "
    "इकतीस=31 बत्तीस=32 तैंतीस=33 चौंतीस=34 पैंतीस=35 छत्तीस=36 सैंतीस=37 अड़तीस=38 उनतालीस=39 चालीस=40 "
    "इकतालीस=41 बयालीस=42 तैंतालीस=43 चौवालीस=44 चवालीस=44 पैंतालीस=45 छियालीस=46 सैंतालीस=47 अड़तालीस=48 "
    "उनचास=49 पचास=50 इक्यावन=51 बावन=52 तिरपन=53 चौवन=54 पचपन=55 छप्पन=56 सत्तावन=57 अट्ठावन=58 उनसठ=59 साठ=60 "
    "इकसठ=61 बासठ=62 तिरसठ=63 चौंसठ=64 पैंसठ=65 छियासठ=66 सड़सठ=67 अड़सठ=68 उनहत्तर=69 सत्तर=70 इकहत्तर=71 "
    "बहत्तर=72 तिहत्तर=73 चौहत्तर=74 पचहत्तर=75 छिहत्तर=76 सतहत्तर=77 अठहत्तर=78 उन्यासी=79 अस्सी=80 इक्यासी=81 "
    "बयासी=82 तिरासी=83 चौरासी=84 पचासी=85 छियासी=86 सत्तासी=87 अट्ठासी=88 नवासी=89 नब्बे=90 इक्यानवे=91 बानवे=92 "
    "तिरानवे=93 चौरानवे=94 पचानवे=95 छियानवे=96 सत्तानवे=97 अट्ठानवे=98 निन्यानवे=99",
    "el": "μηδέν=0 ένας=1 ένα=1 μία=1 μια=1 δύο=2 δυο=2 τρεις=3 τρία=3 τριών=3 τέσσερις=4 τέσσερα=4 "
    "τεσσάρων=4 πέντε=5 έξι=6 επτά=7 εφτά=7 οκτώ=8 οχτώ=8 εννέα=9 εννιά=9 δέκα=10 έντεκα=11 "
    "ένδεκα=11 δώδεκα=12 δεκατρία=13 δεκατρείς=13 δεκατέσσερα=14 δεκατέσσερις=14 δεκαπέντε=15 "
    "δεκαέξι=16 δεκαεπτά=17 δεκαοκτώ=18 δεκαεννέα=19 είκοσι=20 τριάντα=30 σαράντα=40 πενήντα=50 "
    "εξήντα=60 εβδομήντα=70 ογδόντα=80 ενενήντα=90 εκατό=100 εκατόν=100",
    "ar": "اثنين=2 اثنتان=2 اثنتين=2 ثلاث=3 أربع=4 خمس=5 ست=6 سبع=7 ثماني=8 ثمان=8 تسع=9 عشر=10 عشرين=20 "
    "ثلاثين=30 أربعين=40 خمسين=50 ستين=60 سبعين=70 ثمانين=80 تسعين=90 مئة=100 مائتين=200 مئتين=200",
}
"""Numbers in words that num2words does not say: languages that it lacks, and forms of gender and case."""

_ARABIC_ONES = (
    "واحد=1 واحدة=1 إحدى=1 أحد=1 اثنان=2 اثنين=2 اثنتان=2 اثنتين=2 ثلاثة=3 ثلاث=3 أربعة=4 أربع=4 خمسة=5 خمس=5 "
    "ستة=6 ست=6 سبعة=7 سبع=7 ثمانية=8 ثماني=8 ثمان=8 تسعة=9 تسع=9"
)
_ARABIC_TENS = "عشرون=20 ثلاثون=30 أربعون=40 خمسون=50 ستون=60 سبعون=70 ثمانون=80 تسعون=90"
_GREEK_HUNDREDS = (
    "διακόσι=200 τριακόσι=300 τετρακόσι=400 πεντακόσι=500 εξακόσι=600 επτακόσι=700 οκτακόσι=800 εννιακόσι=900"
)


def _more_cardinals(language: str) -> Iterator[tuple[str, int]]:
    """Yield what is written by a rule: Arabic joins "and" to the word behind it, Greek hundreds bend."""
    if language == "el":
        for stem, value in _pairs(_GREEK_HUNDREDS):
            yield from ((f"{stem}{ending}", value) for ending in ("α", "οι", "ες", "ους"))
    if language == "ar":
        tens = [(each, ten) for word, ten in _pairs(_ARABIC_TENS) for each in (word, f"{word[:-2]}ين")]
        ones = list(_pairs(_ARABIC_ONES))
        yield from ((f"{one} و{ten}", value + more) for one, value in ones for ten, more in tens)
        yield from ((f"و{word}", value) for word, value in (*ones, *tens))


def _pairs(given: str) -> Iterator[tuple[str, int]]:
    yield from ((words.replace("_", " "), int(value)) for words, value in (each.split("=") for each in given.split()))


PLACES = {
    "hi": "तीसर=3 चौथ=4 छठ=6",
    "ar": "ثاني=2 ثالث=3 رابع=4 خامس=5 سادس=6 سابع=7 ثامن=8 تاسع=9 عاشر=10",
    "el": "δεύτερ=2 τρίτ=3 τέταρτ=4 πέμπτ=5 έκτ=6 έβδομ=7 όγδο=8 ένατ=9 δέκατ=10 ενδέκατ=11 δωδέκατ=12",
    "vi": "thứ_tám=8 thứ_chín=9 thứ_mười=10",
}
"""Places in an order that num2words does not say, without their endings; those that are other words are left out: first
is read by itself, दूसरा is also another one, ثانية a second of time, thứ ba Tuesday."""


def _more_places(language: str, own: dict[str, int]) -> Iterator[tuple[str, int]]:
    places = list(_pairs(PLACES.get(language, "")))
    if language == "hi":
        yield from ((f"{stem}{ending}", place) for stem, place in places for ending in "ािीे" if ending != "ि")
        numbers = ((word, value) for word, value in own.items() if value == 5 or 7 <= value < 100)
        yield from ((f"{word}{end}", value) for word, value in numbers for end in ("वाँ", "वां", "वीं", "वें", "वी", "वे"))
    elif language == "ar":
        yield from ((f"ال{stem}{ending}", place) for stem, place in places for ending in ("", "ة"))
        yield from ((stem, place) for stem, place in places)
        teens = [("حادي", 1), *places[:-1]]
        yield from ((f"ال{stem} عشر", 10 + place) for stem, place in teens)
        yield from ((f"ال{stem}ة عشرة", 10 + place) for stem, place in teens)
    elif language == "el":
        endings = ("ος", "ου", "ον", "οι", "ης", "ες", "ους")
        yield from ((f"{stem}{ending}", place) for stem, place in places for ending in endings)
        yield from ((f"{stem}η", place) for stem, place in places if place not in (3, 5))  # Tuesday, Thursday
        yield from ((f"{stem}ο", place) for stem, place in places if place not in (3, 4))  # a third, a quarter
        for ending in ("ος", "ου", "η", "ης"):
            yield from ((f"δέκατ{ending} {stem}{ending}", 10 + place) for stem, place in places[1:8])
            yield f"εικοστ{ending.translate(str.maketrans('οη', 'όή'))}", 20
    else:
        yield from places


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
    own = {name: int(value) for name, value in (each.split("=") for each in CARDINALS.get(language, "").split())}
    if language in UNPARTED or not (own or list(_cardinals(language, [1]))):
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
    for words, value in (*own.items(), *_more_cardinals(language)):
        made["cardinals"].setdefault(words, value)
    for thousand, value in _cardinals(language, [2000, 5000, 10**6, 2 * 10**6, 5 * 10**6, 2 * 10**9, 5 * 10**9]):
        last = thousand.split()[-1]
        if language not in COMPOUNDING and " " in thousand and last not in scales:
            made["hundred"][last] = 10 ** (len(str(value)) - 1)
    made["hundred"] |= THOUSANDS.get(language, {})
    for words, value in _ordinals(language) if language in ORDINALS else ():
        _keep(made, scales, "ordinals", words, value)
    for words, value in _more_places(language, own):
        made["ordinals"].setdefault(words, value)
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

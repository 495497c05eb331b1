"""Which language a text is in, told by its script, its stop words and its letters."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Mapping
from functools import cache
from typing import Final

from guardgraph.languages.words import load_stop_words
from guardgraph.plain.letters import normalise_to_nfkc
from guardgraph.plain.memory import remember_by_text

_LONGEST_READ: Final = 500
"""Characters. A text that is longer tells its language in its beginning."""

_TELLING_SHARE: Final = 0.25
"""Of the letters. Names and codes in Latin letters stand in texts of every script, hardly ever the other way round."""

_LANGUAGES: Final = {
    "LATIN": ("en", "de", "es", "fr", "it", "pt", "nl", "pl", "cs", "ro", "sv", "tr", "vi"),
    "CYRILLIC": ("ru", "uk"),
    "GREEK": ("el",),
    "ARABIC": ("ar",),
    "DEVANAGARI": ("hi",),
    "THAI": ("th",),
    "CJK": ("zh",),
    "KANA": ("ja",),
    "HANGUL": ("ko",),
}
"""Languages by the first word of the Unicode names of their letters (kana: either of Japan's)."""

_KANA: Final = frozenset({"HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"})

_LETTERS: Final = {
    "de": "äöüß",
    "es": "áéíóúüñ",
    "fr": "éèêëàâçîïôûùœ",
    "it": "àèéìòù",
    "pt": "ãõáâàçéêíóôú",
    "nl": "ëïé",
    "pl": "ąćęłńóśźż",
    "cs": "áčďéěíňóřšťúůýž",
    "ro": "ăâîșşțţ",
    "sv": "åäö",
    "tr": "çğıöşü",
    "vi": "ăâđêôơưàáảãạằắẳẵặầấẩẫậèéẻẽẹềếểễệìíỉĩịòóỏõọồốổỗộờớởỡợùúủũụừứửữựỳýỷỹỵ",
    "ru": "ёъыэ",
    "uk": "ґєії",
}
"""The letters that a language is spelled with and that not all of its script have."""

_WORD: Final = re.compile(r"[^\W\d_]+")


def detect_language(text: str) -> str:
    """Tell which language a text is in.

    Where one language alone is written in a script, the script tells. Where several are, each word votes for
    the languages that list it as a stop word, and each letter for those that are spelled with it; a vote is
    shared among them.

    Args:
        text: any text; its first 500 characters are read.

    Returns:
        An ISO 639-1 code, or ``""`` where nothing tells: no letters, a script that none of these languages is
        written in, no votes, or as many for two of them.
    """
    return _detect_language_of_text(text[:_LONGEST_READ])


@remember_by_text(texts=1024, chars=_LONGEST_READ)
def _detect_language_of_text(text: str) -> str:
    text = normalise_to_nfkc(text).lower()
    languages = _LANGUAGES.get(_detect_script(text), ())
    if len(languages) <= 1:
        return "".join(languages)
    votes = Counter[str]()
    known = _load_language_signs(languages)
    for sign, times in Counter(_list_language_signs(text)).items():
        if sign in known:
            for language in known[sign]:
                votes[language] += times * (_WHOLE_VOTE // len(known[sign]))
    most = max(votes.values(), default=0)
    best = [language for language in votes if votes[language] == most]
    return best[0] if len(best) == 1 else ""


_WHOLE_VOTE: Final = 360_360
"""Divisible by every number up to 15, so that shares of votes are whole numbers and their sums exact."""


def _detect_script(text: str) -> str:
    if text.isascii():
        return "LATIN"
    scripts = Counter(map(_detect_letter_script, text))
    scripts.pop("", None)
    if scripts["KANA"] * 10 > scripts["CJK"]:  # Japanese is written in both, Chinese hardly ever in kana
        scripts["KANA"] += scripts.pop("CJK", 0)
    latin, letters = scripts.pop("LATIN", 0), scripts.total()
    best = max(scripts, key=lambda script: scripts[script], default="")
    return best if letters and letters >= _TELLING_SHARE * (latin + letters) else "LATIN"


@cache
def _detect_letter_script(character: str) -> str:
    if not character.isalpha():
        return ""
    script = unicodedata.name(character, "").partition(" ")[0]
    return "KANA" if script in _KANA else script


def _list_language_signs(text: str) -> list[str]:
    words = _WORD.findall(text)
    return words if text.isascii() else [*words, *(f"{letter}-" for letter in text if not letter.isascii())]


@cache
def _load_language_signs(languages: tuple[str, ...]) -> Mapping[str, tuple[str, ...]]:
    known: defaultdict[str, list[str]] = defaultdict(list)
    for language in languages:
        for word in load_stop_words(language):
            known[word].append(language)
        for letter in _LETTERS.get(language, ""):
            known[f"{letter}-"].append(language)
    return {sign: tuple(named) for sign, named in known.items()}

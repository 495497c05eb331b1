"""The words of a text: what is compared of each, and where it stands."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from guardgraph.grounding.words import detect_language
from guardgraph.plain.letters import normalise_to_nfkc
from guardgraph.plain.memory import remember_by_text

STEM_LETTERS: Final = 5
"""Letters at the beginning that the forms of one name share: Russia and Russian."""

TERRITORY_LETTERS: Final = 7
"""Letters that tell the name of a territory and its adjectives, in any case: Austria is not Australia."""

FEWEST_STEM_LETTERS: Final = 4
LONGEST_ENDING: Final = 6
"""Letters that are left of a name without an ending, at least, and of the ending, at most."""

_MARKS: Final = "\u0300-\u036f"
_WORD = re.compile(
    rf"(?<![^\W_])(?:([^\W\d_a-z])\1\.?[ ]?)([^\W\d_a-z])\2(?![^\W_])\.?"
    r"|(?<![^\W_])(?<![\W_][^\W\d_]\.)[^\W\d_](?:\.[^\W\d_])++(?![^\W_])\.?"
    rf"|[^\W_](?:[^\W_]|[{_MARKS}])*+"
)
"""Spanish initials of a plural (EE. UU.), initials with points (U.S.A.), or letters, digits and the marks upon them.

Initials are not looked for inside longer ones: where those end in a word, all of them do, and time would be squared.
"""

_ASCII_WORD = re.compile(
    r"(?<![A-Za-z0-9])(?:([A-Z])\1\.?[ ]?)([A-Z])\2(?![A-Za-z0-9])\.?"
    r"|(?<![A-Za-z0-9])(?<![^A-Za-z0-9][A-Za-z]\.)[A-Za-z](?:\.[A-Za-z])++(?![A-Za-z0-9])\.?"
    r"|[A-Za-z0-9]++"
)
"""The same in a text of ASCII characters alone."""

KNOWN_TEXTS: Final = 64
KNOWN_TEXT_CHARS: Final = 2000
"""How many texts are kept with their words, and how long each may be: 3 MB of ordinary texts."""

_ENDS_SENTENCE = re.compile(r"[.!?…][\"')\]»”’*_]*+[\s\[]")
"""The bracket is that of a reference: "It is so.[1] It is."""

_OPENS = re.compile(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029|•‣▪●◦¿¡。！？]|:(?:\*\*|__)|(?:\*\*|__):")
"""What a line, a cell of a table or a list item begins behind, a sentence with a sign in front, or one with a label."""

_ENUMERATES = re.compile(r"[.):\]]++[\"'“(*_]*+\s")
_APART = re.compile(r"[.;:!?()\[\]]")
_APOSTROPHES: Final = frozenset("'’ʼ`´")

_PLURAL = re.compile(r"(?<=..[^s])s")
_CASE_ENDING = re.compile("(?:ого|его|ому|ему|ами|ями|[аоеиыя][мх]|[аеиоуыэюяьєі]+)")
"""Endings of nouns and adjectives in Cyrillic, folded: cases change the few letters of a short name (Иран, Ирана)."""

_FEWEST_LETTERS: Final = 2
"""Letters that are left of a word without its ending, at least."""

_LONGEST: Final = 40
"""Letters. A longer word is compared as it is."""

_TITLES: Final = frozenset(
    {
        *("mr", "mister", "mrs", "ms", "miss", "mx", "sir", "dame", "lord", "lady", "madam", "jr", "sr"),
        *("dr", "doctor", "prof", "professor", "rev", "reverend", "hon", "st", "saint", "pres", "president"),
        *("capt", "captain", "col", "colonel", "gen", "general", "lt", "lieutenant", "sgt", "sergeant"),
        *("sen", "senator", "rep", "representative", "gov", "governor"),
        *("sra", "srta", "don", "dona", "senor", "senora", "dra", "doctora", "profesor", "profesora"),
        *("dott", "dottore", "sig", "signor", "signora", "professore", "doutor", "doutora"),
        *("mme", "mlle", "monsieur", "madame", "mademoiselle", "docteur", "professeur"),
    }
)
"""Words before names that are none, as letters."""


_HALVES: Final = frozenset({"am", "pm"})
"""Of the day: initials with points that often end a sentence ("until 6 p.m. Visitors ...")."""


class NameWord(NamedTuple):
    """A word of a text."""

    text: str
    letters: str
    """Without case, accents and points."""
    key: str
    """The letters without the s of a plural or, in Cyrillic, the ending of a case."""
    is_capitalised: bool
    """Whether it has a capital letter, first (Paris) or inside (iPhone)."""
    opens: bool
    """Whether it is the first of a sentence, a line, a list item, the cell of a table, or behind a bold label."""
    apart: bool
    """Whether a sign that ends or parts a phrase stands between it and the word before."""
    start: int
    """Where it begins in the text's NFKC form."""
    sign: str = ""
    """The sign before it, a blank between them aside: "°" of °F."""

    @property
    def name_stem(self) -> str:
        """What the names of a territory and its adjectives have in common."""
        return self.key[:TERRITORY_LETTERS]

    def list_forms(self, endings: Collection[str]) -> set[str]:
        """Return what forms of one name have in common: it, and what is left of it without an ending.

        An ending may belong to the name (Adam), so that it is also compared with its own.

        Args:
            endings: of names and their adjectives in a language; five letters tell a name where none are known.
        """
        if not endings:
            return {self.letters[:STEM_LETTERS], self.key[:STEM_LETTERS]}
        longest = min(LONGEST_ENDING, len(self.letters) - FEWEST_STEM_LETTERS)
        without = {
            self.letters[:-length]
            for length in range(1, longest + 1)
            if self.letters[-length:] in endings and not (self.letters[-length:] == "n" and self.letters[-2:] != "an")
        }
        return without | {self.letters, self.key}

    @property
    def is_acronym(self) -> bool:
        """Whether it begins and ends with a capital letter, the s of a plural aside: NASA, SLAs, DoD."""
        core = self.text.removesuffix("s").rstrip(".")
        return len(core) > 1 and core[0].isupper() and core[-1].isupper()

    @property
    def inner_capitals(self) -> str:
        """What it gives to an acronym, in lower case: the o, i and d of OpenID, the first letter of most words."""
        if self.text.isupper() or self.text[1:].islower():
            return self.letters[:1]
        return "".join(letter for letter in self.text if letter.isupper()).casefold() or self.letters[:1]

    @property
    def is_title(self) -> bool:
        """Whether a name follows: Mr, Dr."""
        return self.letters in _TITLES


@remember_by_text(texts=KNOWN_TEXTS, chars=KNOWN_TEXT_CHARS)
def split_name_words(text: str) -> tuple[NameWord, ...]:
    """Read a text as words.

    A possessive ending is left out; every other apostrophe and every hyphen stands between words.
    """
    plain = normalise_to_nfkc(text)
    found: list[NameWord] = []
    end, goes_on = 0, False
    for match in (_ASCII_WORD if plain.isascii() else _WORD).finditer(plain):
        (start, stop), word = match.span(), match[0]
        gap, end = plain[end:start], stop
        said = _normalise_short_name(word) if len(word) <= _LONGEST else _normalise_long_name(word)
        if goes_on and gap == " ":
            opens = found[-1].letters == "that" and _opens_note(found)
            found.append(NameWord(word, *said, opens, opens, start))
        elif found and gap in _APOSTROPHES and word in ("s", "S"):
            continue
        else:
            opens = not found or _is_sentence_opening(gap, found[-1])
            apart = opens or _APART.search(gap) is not None
            found.append(NameWord(word, *said, opens, apart, start, gap.rstrip()[-1:]))
        goes_on = word[-1] != "." or not _ends_time(found[-1])
    return tuple(found)


def tell_lowercase_language(found: Sequence[NameWord]) -> str:
    """Tell a text's language by its words in lower case, ``""`` where nothing tells. Names tell nothing of it."""
    return detect_language(join_lowercase_words(found))


def join_lowercase_words(found: Sequence[NameWord]) -> str:
    """Return the words of a text that are in lower case."""
    return " ".join(word.text for word in found if not word.is_capitalised)


def _is_sentence_opening(gap: str, before: NameWord) -> bool:
    """Say whether a sentence, line or label begins behind a gap."""
    if _OPENS.search(gap):
        return True
    if before.opens and (len(before.text) == 1 or before.text.isdecimal()) and _ENUMERATES.match(gap):
        return True
    if gap == " " and _ends_time(before):
        return True
    is_initial = len(before.letters) == 1 and not before.text.isdecimal()
    is_short = before.is_title or is_initial or "." in before.text
    return _ENDS_SENTENCE.search(gap) is not None and not (is_short and gap[0] in ". ")


def _opens_note(found: Sequence[NameWord]) -> bool:
    """Say whether words end with "Note that", behind which models begin a sentence with a capital."""
    return len(found) > 1 and found[-2].letters == "note" and (found[-2].opens or found[-2].is_capitalised)


def _ends_time(word: NameWord) -> bool:
    return word.letters in _HALVES and word.text[-1] == "."


def _normalise_long_name(word: str) -> tuple[str, str, bool]:
    return word.casefold(), word.casefold(), word != word.lower()


@lru_cache(maxsize=8192)
def _normalise_short_name(word: str) -> tuple[str, str, bool]:
    """Return the letters of a word, those without an ending, and whether one of them is a capital."""
    letters = "".join(filter(str.isalnum, word.casefold()))
    if not letters.isascii():
        letters = "".join(map(_strip_letter_accent, unicodedata.normalize("NFKD", word.casefold())))
    if word.isupper() and len(letters) > 2 and letters[::2] == letters[1::2]:
        letters = letters[::2]
    return letters, _strip_name_ending(letters), word != word.lower()


def _strip_name_ending(letters: str) -> str:
    for ending in (_PLURAL, _CASE_ENDING):
        for at in range(max(_FEWEST_LETTERS, len(letters) - 4), len(letters)):
            if ending.fullmatch(letters, at):
                return letters[:at]
    return letters


@lru_cache(maxsize=1024)
def _strip_letter_accent(letter: str) -> str:
    """Return the letter that an accented one is made of; marks and signs become nothing."""
    if not letter.isalnum():
        return ""
    base, accent, _ = unicodedata.name(letter, "").partition(" WITH ")
    if not accent:
        return letter
    try:
        return unicodedata.lookup(base)
    except KeyError:
        return letter

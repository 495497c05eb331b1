"""Words of a text in any language: how the retriever, the recorded search and the offline proposers read one."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import groupby
from typing import Final

from guardgraph.languages.language import detect_language, load_function_words
from guardgraph.plain.letters import is_unspaced_letter, normalise_to_nfkc

DEFAULT_LANGUAGE: Final = "en"
"""Of a text that does not tell its own."""

STOP_WORDS = frozenset(
    """
    a about above after again against all also am an and any anyone anything are as at be because been before
    being below between both but by can cannot could did do does doing done down during each either else ever
    every few for from further had has have having he her here hers him his how i if in into is it its itself
    many may me might mine more most much must my myself neither no nor not now of off often on once one only
    or other others our ours out over own same shall she should so some someone something such than that the
    their theirs them then there these they this those through to too under until up upon us very was we were
    what when where whether which while who whom whose why will with within without would yes yet you your
    yours

    appreciate appreciated cheers dear hello hey hi kindly regards sincerely sorry thank thanks wondering

    actually called come comes describe exactly explain fast find get gets getting give given gives go goes
    going got happen happened happens just know let like long made make makes making mean means need needs
    please quickly really said say show soon take taken takes taking tell took use used uses using want wants

    aren couldn d didn doesn don hadn hasn haven isn ll m mustn re s shouldn t ve wasn weren wouldn
    """.split()  # noqa: SIM905 - a list of words is read as words
)
"""English words that say nothing of what a text is about.

Function and question words; words with which one greets, thanks and asks; the halves of contractions.
"""

_ASCII_WORD: Final = re.compile(r"\d+(?:[.,]\d+)+|[^\W_]+", re.ASCII)
_WORD: Final = re.compile(r"d+(?:pd+)+|[wd][wdm]*|u[um]*")
"""A word in the letters of `_find_script_kind`: a mark belongs to its letter, points hold digits together."""

_UNSPACED_LETTER: Final = re.compile(r"um*")
_JOINERS: Final = "\u00ad\u200c\u200d\u2060"
"""Invisible and inside words: soft hyphens, joiners and their opposites."""

_STEMMERS: Final = {
    "ar": "arabic",
    "cs": "czech",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "fr": "french",
    "hi": "hindi",
    "it": "italian",
    "nl": "dutch",
    "pl": "polish",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sv": "swedish",
    "tr": "turkish",
}
"""The stemmers of Snowball, by language."""

_STEM_LETTERS: Final = 7
_UNSTEMMED_LETTERS: Final = 6
"""What counts of a stem, and of a word whose language has no stemmer; set on questions in five languages."""
_BEGINNING_LETTERS: Final = 4
_LONGEST_STEMMED: Final = 40
"""Characters. Longer than any word; a stemmer need not walk through what no dictionary holds."""


def read_terms(text: str, language: str = "") -> list[str]:
    """Read a text as index terms, in order, repetitions kept.

    Letters with their marks, and digits, make a word (so `on-call` is two and `P1` one), numbers keep their
    points (`99.95`), case and compatibility forms are unified. In scripts without blanks, and in Korean, which
    joins its particles to words, each pair of letters that follow each other is one (Lee and Ahn 1996), in Thai and
    its like, whose letters are sounds, each three; in Vietnamese each two syllables that follow each other. Function
    words are dropped, and what is left is stemmed (Porter, Snowball, 2001, https://snowballstem.org):
    `refunds` and `refunded` are both `refund`; an English noun is read as its verb, `response` as `respond`.

    Args:
        text: what is read.
        language: an ISO 639-1 code; by default the one that the text tells, or else English.
    """
    language = language or detect_language(text) or DEFAULT_LANGUAGE
    return stem_words(list_content_words(text, language), language)


def list_content_words(text: str, language: str = "", *, beside: str = "") -> list[str]:
    """Name the words that carry a text's meaning: lower case, else as spelled; in order, repetitions kept.

    Args:
        text: what is read.
        language: an ISO 639-1 code; by default the one that the text tells, or else English.
        beside: a language whose function words are left out too.
    """
    language = language or detect_language(text) or DEFAULT_LANGUAGE
    left_out = _load_left_out_words(language) | (_load_left_out_words(beside) if beside else frozenset())
    words = _split_term_words(text, _load_word_cuts(language))
    if language not in _SYLLABIC:
        return [word for word in words if word not in left_out]
    runs = (list(run) for is_left_out, run in groupby(words, key=left_out.__contains__) if not is_left_out)
    return [term for run in runs for term in _join_neighbours(run, _SIGNS_TOGETHER, " ")]


_SYLLABIC: Final = frozenset({"vi"})
"""Languages that put a blank between syllables: most of their words are two."""


def stem_words(words: Iterable[str], language: str) -> list[str]:
    """Return the stems of words in a language: at most their first seven letters, six where it has no stemmer.

    What is longer is mostly composed, and its first part tells what it is about (McNamee, Nicholas and Mayfield,
    Addressing Morphological Variation in Alphabetic Languages, 2009, index beginnings alone). Words with digits
    are names and stay whole.
    """
    return [word if len(word) > _LONGEST_STEMMED else _stem_word(word, language) for word in words]


def list_word_beginnings(words: Iterable[str]) -> list[str]:
    """Return the first four letters of each word: forms that no stemmer unites, and composed words, share them.

    Words with digits stay whole.
    """
    return [word if is_name_word(word) else word[:_BEGINNING_LETTERS] for word in words]


def is_name_word(word: str) -> bool:
    """Say whether a word has digits: it is a name then, and stays whole."""
    return not word.isalpha() and any(map(str.isdecimal, word))


def find_nearest_texts(
    said: Iterable[str],
    texts: Sequence[str],
    *,
    language: str,
    terms: Callable[[str, str], Collection[str]] = read_terms,
) -> list[list[int]]:
    """Return for each sentence the places of the texts that share the most of its words, none where none shares any.

    Args:
        said: sentences.
        texts: what they may rest on.
        language: an ISO 639-1 code.
        terms: reads a text in a language as terms.
    """
    read = [frozenset(terms(text, language)) for text in texts]
    found = list[list[int]]()
    for sentence in said:
        words = frozenset(terms(sentence, language))
        shared = [len(words & each) for each in read]
        most = max(shared, default=0)
        found.append([at for at, count in enumerate(shared) if count == most > 0])
    return found


@cache
def _load_left_out_words(language: str) -> frozenset[str]:
    return STOP_WORDS if language == "en" else load_function_words(language)


@cache
def _load_word_cuts(language: str) -> frozenset[str]:
    """Return what separates words in a script without blanks: longer function words, and particles."""
    return frozenset(word for word in _load_left_out_words(language) if len(word) > 1 or word in _PARTICLES)


_PARTICLES: Final = frozenset("的了是在有和与及于之吗呢吧被把谁哪几はがをにでともの")
"""Chinese and Japanese particles of one character that hardly any other word has in it."""


def _split_term_words(text: str, cuts: frozenset[str]) -> Iterable[str]:
    plain = normalise_to_nfkc(text).lower()
    return _ASCII_WORD.findall(plain) if plain.isascii() else _split_words_of_any_script(plain, cuts)


def _split_words_of_any_script(plain: str, cuts: frozenset[str]) -> Iterator[str]:
    for joiner in _JOINERS:
        plain = plain.replace(joiner, "")
    kinds = plain.translate(_KINDS)
    for start, end in (match.span() for match in _WORD.finditer(kinds)):
        if kinds[start] == "u":
            yield from _split_unspaced_words(plain[start:end], kinds[start:end], cuts)
        elif kinds[start] == "d":
            yield "".join(str(unicodedata.decimal(letter, letter)) for letter in plain[start:end])
        else:
            yield plain[start:end]


def _split_unspaced_words(run: str, kinds: str, cuts: frozenset[str]) -> Iterator[str]:
    letters = [run[match.start() : match.end()] for match in _UNSPACED_LETTER.finditer(kinds)]
    together = _SOUNDS_TOGETHER if _is_sound_letter(letters[0][0]) else _SIGNS_TOGETHER
    begin = at = 0
    while at < len(letters):
        length = _find_word_cut(letters, at, cuts)
        if length:
            yield from _join_neighbours(letters[begin:at], together)
            begin = at + length
        at += length or 1
    yield from _join_neighbours(letters[begin:], together)


_LONGEST_CUT: Final = 4
"""Letters of the longest function word that is looked for in a run of letters."""


def _find_word_cut(letters: Sequence[str], at: int, cuts: frozenset[str]) -> int:
    lengths = range(min(_LONGEST_CUT, len(letters) - at), 0, -1)
    return next((length for length in lengths if "".join(letters[at : at + length]) in cuts), 0)


_SIGNS_TOGETHER: Final = 2
_SOUNDS_TOGETHER: Final = 3
"""Letters that follow each other and make a term: signs of a syllable or a word each, and letters of a sound each, of
which every text has most pairs."""


def _join_neighbours(parts: Sequence[str], together: int, sign: str = "") -> Iterator[str]:
    """Yield each so many parts that follow each other as one; fewer are one."""
    if parts:
        yield from (sign.join(parts[at : at + together]) for at in range(max(len(parts) - together, 0) + 1))


@cache
def _is_sound_letter(letter: str) -> bool:
    return unicodedata.name(letter, "").partition(" ")[0] in _SOUND_SCRIPTS


_SOUND_SCRIPTS: Final = frozenset({"THAI", "LAO", "KHMER", "MYANMAR"})
"""Scripts without blanks whose letters are sounds."""


class _Kinds(dict[int, str]):
    """The kind of every character that was met, for `str.translate`."""

    def __missing__(self, code: int) -> str:
        kind = self[code] = _find_script_kind(chr(code))
        return kind


_KINDS: Final = _Kinds()


def _find_script_kind(letter: str) -> str:
    if letter.isalnum():
        is_pairwise = is_unspaced_letter(letter) or unicodedata.name(letter, "").startswith("HANGUL")
        return "u" if is_pairwise else "d" if letter.isdecimal() else "w"
    if letter in ".,":
        return "p"
    return "m" if unicodedata.category(letter)[0] == "M" else " "


@lru_cache(maxsize=65_536)
def _stem_word(word: str, language: str) -> str:
    if is_name_word(word) or language in _SYLLABIC:
        return word
    if language not in _STEMMERS:
        return word[:_UNSTEMMED_LETTERS]
    import snowballstemmer  # type: ignore[import-untyped]  # all its languages: too slow for an import of ours

    # A stemmer keeps the word it works on in itself, and graphs run in threads: one stemmer per word.
    stem = str(snowballstemmer.stemmer(_STEMMERS[language]).stemWord(word))
    return (find_verb_stem(stem) if language == "en" else stem)[:_STEM_LETTERS]


_LEAST_BEFORE: Final = 3
"""Letters before an ending: *sense* and *send*, *version* and *mission* are no derivations."""

_ENDINGS: Final = (
    ("ation", "at"),
    ("iss", "it"),
    ("ript", "rib"),
    ("olut", "olv"),
    ("umpt", "um"),
    ("orpt", "orb"),
    ("uct", "uc"),
    ("ifi", "if"),
    ("ns", "nd"),
    ("as", "ad"),
    ("is", "id"),
    ("os", "od"),
    ("us", "ud"),
)
"""Endings of stems, and the endings of the verb's stem that they are read as.

English has its nouns and adjectives in -ion and -ive from Latin participles, whose consonant differs from that of the
verb (Marchand, The Categories and Types of Present-Day English Word-Formation, 1969, 4.45): create and creation, permit
and permission, describe and description, resolve and resolution, consume and consumption, absorb and absorption, reduce
and reduction, notify and notification, respond and response, persuade, decide, explode, conclude. A stem that is none
of a participle, such as that of *status*, becomes no other word's, so it still stands for its own word alone.
"""


def find_verb_stem(stem: str) -> str:
    """Return the stem of the verb that an English stem may be derived from, or the stem itself.

    Args:
        stem: as Snowball's English stemmer has it, such as ``"respons"``.
    """
    for ending, verb in _ENDINGS:
        if stem.endswith(ending) and len(stem) >= _LEAST_BEFORE + len(ending):
            return stem.removesuffix(ending) + verb
    return stem

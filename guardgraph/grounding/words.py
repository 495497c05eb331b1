"""Words of a text in any language: the one tokenizer, stems, content words, and which language a text is in."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from hashlib import sha256
from itertools import groupby
from threading import local
from typing import Final, NamedTuple

from guardgraph.grounding.languages import (
    LANGUAGES,
    list_hand_words,
    load_hand_table,
    load_listed_words,
    load_made_table,
)
from guardgraph.plain.letters import is_unspaced_letter, normalise_to_nfkc
from guardgraph.plain.memory import remember_by_text

DEFAULT_LANGUAGE: Final = "en"  # of a text that does not tell its own
LISTED_LANGUAGES: Final = ("en",)  # languages whose words in lower case are listed

_APOSTROPHES: Final = "'’ʼ＇"
_ASCII_WORD: Final = re.compile(r"\w++(?:(?:'|(?<=\d)[.,](?=\d))\w++)*", re.ASCII)
_WORD: Final = re.compile(r"um*|[wd][wdm]*(?:(?:a|(?<=d)p(?=d))[wd][wdm]*)*")
"""A word in the letters of `_KINDS`: apostrophes hold words together, points only digits."""
_PARTED: Final = str.maketrans(f"{_APOSTROPHES}_", "     ")


class Word(NamedTuple):
    """A word of a text."""

    key: str  # what is compared: case, compatibility forms, apostrophes and invisible characters are gone
    start: int
    end: int


class _Kinds(dict[int, str]):
    """The kind of every character that was met, for `str.translate`."""

    def __missing__(self, code: int) -> str:
        kind = self[code] = _find_letter_kind(chr(code))
        return kind


def _find_letter_kind(letter: str) -> str:
    category = unicodedata.category(letter)
    if category[0] == "M" or category == "Cf":
        return "m"
    if letter in _APOSTROPHES:
        return "a"
    if letter in ".,":
        return "p"
    if letter.isdecimal():
        return "d"
    if not letter.isalnum() and letter != "_":
        return " "
    return "u" if is_unspaced_letter(letter) else "w"


_KINDS: Final = _Kinds()


class _Plain(dict[int, str]):
    """What each character is where words are read: apostrophes are one, and what stands between words is a blank."""

    def __missing__(self, code: int) -> str:
        kind = _KINDS[code]
        plain = self[code] = "'" if kind == "a" else " " if kind == " " and code > 127 else chr(code)
        return plain


_PLAIN: Final = _Plain()


def split_words(text: str) -> list[Word]:
    """Read a text as words; punctuation stands between them."""
    return list(_split_words_of_text(text))


@remember_by_text(texts=256, chars=2000)
def _split_words_of_text(text: str) -> tuple[Word, ...]:
    if text.isascii():
        found = [(match[0], *match.span()) for match in _ASCII_WORD.finditer(text.lower())]
        if "'" in text or "_" in text:
            found = [(word.replace("'", "").strip("_"), start, end) for word, start, end in found]
    else:
        spans = [match.span() for match in _WORD.finditer(text.translate(_KINDS))]
        found = [(_fold_word(text[start:end]), start, end) for start, end in spans]
    return tuple(Word(key, start, end) for key, start, end in found if key)


def _fold_word(word: str) -> str:
    if word.isascii():
        return word.replace("'", "").lower().strip("_")
    visible = (
        str(unicodedata.decimal(char, char))
        for char in normalise_to_nfkc(word)
        if char not in _APOSTROPHES and unicodedata.category(char) != "Cf"
    )
    return "".join(visible).casefold().strip("_")


def list_word_keys(text: str) -> list[str]:
    """Return what is compared of the words of a text, in order: the keys of `split_words`."""
    if not text.isascii() and not (text := text.translate(_PLAIN)).isascii():
        return [word.key for word in _split_words_of_text(text)]
    found = _ASCII_WORD.findall(text.lower())
    if "'" not in text and "_" not in text:
        return found
    return [key for word in found if (key := word if word.isalnum() else _fold_word(word))]


def has_phrase(text: str, phrase: str) -> bool:
    """Say whether the words of a phrase stand in a text, one after the other, as whole words."""
    return _join_word_keys(phrase) in _join_word_keys(text)


@remember_by_text(texts=64, chars=1000)
def _join_word_keys(text: str) -> str:
    # A key holds no line break, so line breaks can mark where words begin and end.
    return "".join([f"\n{word.key}\n" for word in _split_words_of_text(text)])


@remember_by_text(texts=64, chars=4000)
def normalise_spaces(text: str) -> str:
    """Return a text with every run of white space as one blank and none at its ends."""
    return " ".join(text.split())


@remember_by_text(texts=64, chars=4000)
def hash_normalised_text(text: str) -> str:
    """Return a text's identity: 12 hexadecimal digits of the SHA-256 of its normalised form."""
    return sha256(normalise_spaces(text).encode("utf-8", "surrogatepass")).hexdigest()[:12]


# ---- Content words and stems

_STEM_LETTERS: Final = 7
_UNSTEMMED_LETTERS: Final = 6
"""What counts of a stem, and of a word whose language has no stemmer; set on questions in five languages."""
_BEGINNING_LETTERS: Final = 4
_MOST_STEMS: Final = 65_536
_LONGEST_STEMMED: Final = 40
"""Characters. Longer than any word; a stemmer need not walk through what no dictionary holds."""
_SYLLABIC: Final = ("vi",)  # languages that put a blank between syllables: most of their words are two
_SIGNS_TOGETHER: Final = 2
_SOUNDS_TOGETHER: Final = 3
"""Letters that follow each other and make a term: signs of a syllable or a word each, and letters of a sound each, of
which every text has most pairs."""
_LONGEST_CUT: Final = 4  # letters of the longest function word that is looked for in a run of letters
_SOUND_SCRIPTS: Final = ("THAI", "LAO", "KHMER", "MYANMAR")  # scripts without blanks whose letters are sounds


@cache
def load_stop_words(language: str) -> frozenset[str]:
    """Return the stop words of a language as stopwords-iso, a collection of many lists, has them, in lower case."""
    return frozenset(load_made_table(language).get("stop_words", ()))


@cache
def load_function_words(language: str) -> frozenset[str]:
    """Return the words of a language that say nothing of what a text is about, case folded."""
    spoken = list_hand_words(language, "asking") | list_hand_words(language, "courtesy")
    return frozenset(normalise_to_nfkc(word).casefold() for word in load_stop_words(language) | spoken)


@cache
def load_negations() -> frozenset[str]:
    """Return the negations of all languages where they are known, case folded: a text may be in several."""
    return frozenset(word.casefold() for each in LANGUAGES for word in list_hand_words(each, "negating"))


def is_function_word(word: str, language: str = DEFAULT_LANGUAGE) -> bool:
    """Say whether a word, in lower case, only joins what a sentence says: an article, a pronoun, "is"."""
    return word in load_joining_words(language)


@cache
def load_joining_words(language: str) -> frozenset[str]:
    """Return the words of a language that only join what a sentence says; its stop words where no list is kept."""
    return list_hand_words(language, "function_words") or load_function_words(language)


def is_lowercase_word(word: str, language: str = DEFAULT_LANGUAGE) -> bool:
    """Say whether English has a word in lower case, as a list of 65,000 has it; no other language has a list."""
    lower = word.lower()
    if language != DEFAULT_LANGUAGE or len(lower) < 2:
        return False
    return f" {lower[2:] or '-'} " in load_listed_words().get(lower[:2], "")


@remember_by_text(texts=512, chars=4000)
def read_terms(text: str, language: str = "") -> tuple[str, ...]:
    """Read a text as index terms, in order, repetitions kept."""
    language = language or detect_language(text) or DEFAULT_LANGUAGE
    return tuple(stem_words(list_content_words(text, language), language))


@cache
def get_terms_reader(language: str) -> Callable[[str], tuple[str, ...]]:
    """Return what reads many texts of a language as `read_terms` reads one."""

    @remember_by_text(texts=512, chars=4000)
    def read_terms_of_language(text: str) -> tuple[str, ...]:
        return read_terms(text, language)

    return read_terms_of_language


@remember_by_text(texts=512, chars=4000)
def list_content_words(text: str, language: str = "", *, beside: str = "") -> tuple[str, ...]:
    """Name the words that carry a text's meaning: lower case, else as spelled; in order, repetitions kept."""
    language = language or detect_language(text) or DEFAULT_LANGUAGE
    left_out = _load_left_out_words(language) | (_load_left_out_words(beside) if beside else frozenset())
    words = _split_term_words(normalise_to_nfkc(text), _load_word_cuts(language))
    if language not in _SYLLABIC:
        return tuple(word for word in words if word not in left_out)
    runs = (list(run) for is_left_out, run in groupby(words, key=left_out.__contains__) if not is_left_out)
    return tuple(term for run in runs for term in _join_neighbours(run, _SIGNS_TOGETHER, " "))


@cache
def _load_left_out_words(language: str) -> frozenset[str]:
    return list_hand_words(language, "stop_words") or load_function_words(language)


@cache
def _load_word_cuts(language: str) -> frozenset[str]:
    """Return what separates words in a script without blanks: longer function words, and particles."""
    particles = frozenset(load_hand_table(language).get("particles", ""))
    return frozenset(word for word in _load_left_out_words(language) if len(word) > 1 or word in particles)


def _split_term_words(text: str, cuts: frozenset[str]) -> Iterator[str]:
    """Yield the parts of words that apostrophes join, and neighbours of letters that no blank parts."""
    words = _split_words_of_text(text.translate(_PARTED))
    if text.isascii() or not any(map(_begins_unspaced_word, set(text))):
        yield from [word.key for word in words]
        return
    for is_run, run in groupby(words, key=lambda word: _begins_unspaced_word(word.key[0])):
        if is_run:
            yield from _split_unspaced_words(run, cuts)
        else:
            yield from (word.key for word in run)


@lru_cache(maxsize=4096)
def _begins_unspaced_word(letter: str) -> bool:
    return is_unspaced_letter(letter) or unicodedata.name(letter, "").startswith("HANGUL")


def _split_unspaced_words(words: Iterable[Word], cuts: frozenset[str]) -> Iterator[str]:
    """Yield the terms of runs of letters that follow each other without a blank."""
    end, run = -1, list[str]()
    for word in words:
        if word.start != end:
            yield from _split_unspaced_run(run, cuts)
            run = []
        run += [word.key] if is_unspaced_letter(word.key[0]) else word.key
        end = word.end
    yield from _split_unspaced_run(run, cuts)


def _split_unspaced_run(letters: Sequence[str], cuts: frozenset[str]) -> Iterator[str]:
    if not letters:
        return
    together = _SOUNDS_TOGETHER if _is_sound_letter(letters[0][0]) else _SIGNS_TOGETHER
    begin = at = 0
    while at < len(letters):
        lengths = range(min(_LONGEST_CUT, len(letters) - at), 0, -1)
        length = next((length for length in lengths if "".join(letters[at : at + length]) in cuts), 0)
        if length:
            yield from _join_neighbours(letters[begin:at], together)
            begin = at + length
        at += length or 1
    yield from _join_neighbours(letters[begin:], together)


def _join_neighbours(parts: Sequence[str], together: int, sign: str = "") -> Iterator[str]:
    """Yield each so many parts that follow each other as one; fewer are one."""
    if parts:
        yield from (sign.join(parts[at : at + together]) for at in range(max(len(parts) - together, 0) + 1))


@cache
def _is_sound_letter(letter: str) -> bool:
    return unicodedata.name(letter, "").partition(" ")[0] in _SOUND_SCRIPTS


def stem_words(words: Iterable[str], language: str) -> list[str]:
    """Return the stems of words in a language: at most their first seven letters, six where it has no stemmer."""
    return [word if len(word) > _LONGEST_STEMMED else _stem_term(word, language) for word in words]


@lru_cache(maxsize=65_536)
def _stem_term(word: str, language: str) -> str:
    if is_name_word(word) or language in _SYLLABIC:
        return word
    if "stemmer" not in load_hand_table(language):
        return word[:_UNSTEMMED_LETTERS]
    return (find_verb_stem(stem(word)) if language == DEFAULT_LANGUAGE else stem(word, language))[:_STEM_LETTERS]


@lru_cache(maxsize=65_536)
def stem(word: str, language: str = DEFAULT_LANGUAGE) -> str:
    """Return what the forms of a word have in common, as Snowball's stemmer has it: "refund" of "refunds"."""
    if len(word) > _LONGEST_STEMMED or word.isdecimal():
        return word
    stemmers: dict[str, Callable[[str], str]] = _OF_THREAD.__dict__
    if language not in stemmers:
        stemmers[language] = _make_stemmer(language)
    return stemmers[language](word)


_OF_THREAD: Final = local()
"""Stemmers by language: each keeps the word that it works on in itself, and graphs run in threads."""


def _make_stemmer(language: str) -> Callable[[str], str]:
    name = load_hand_table(language).get("stemmer")
    if name is None:
        return str
    import Stemmer  # type: ignore[import-not-found]  # not before there is a word to stem

    stem_word: Callable[[str], str] = Stemmer.Stemmer(name, 0).stemWord  # without a memory of its own
    return stem_word


class _ContentStems(dict[str, str]):
    """The stem of each word of a language that says what a text is about; "" for one that only joins."""

    def __init__(self, language: str) -> None:
        self._language, self._joining = language, load_joining_words(language)

    def __missing__(self, word: str) -> str:
        says_nothing = word in self._joining or (len(word) < 2 and word.isascii())
        if len(self) >= _MOST_STEMS:
            self.clear()
        made = self[word] = "" if says_nothing else stem(word, self._language)
        return made


@cache
def _load_content_stems(language: str) -> _ContentStems:
    return _ContentStems(language)


def list_stems(text: str, language: str) -> frozenset[str]:
    """Return the stems of the words of a text that say what it is about, and its numbers."""
    return frozenset(filter(None, map(_load_content_stems(language).__getitem__, list_word_keys(text))))


def list_word_beginnings(words: Iterable[str]) -> list[str]:
    """Return the first four letters of each word: forms that no stemmer unites, and composed words, share them."""
    return [word if is_name_word(word) else word[:_BEGINNING_LETTERS] for word in words]


def is_name_word(word: str) -> bool:
    """Say whether a word has digits: it is a name then, and stays whole."""
    return not word.isalpha() and any(map(str.isdecimal, word))


_LEAST_BEFORE: Final = 3  # letters before an ending: *sense* and *send*, *version* and *mission* are no derivations


def find_verb_stem(stem: str) -> str:
    """Return the stem of the verb that an English stem may be derived from, or the stem itself."""
    for ending, verb in load_hand_table("en")["verb_endings"].items():
        if stem.endswith(ending) and len(stem) >= _LEAST_BEFORE + len(ending):
            return stem.removesuffix(ending) + str(verb)
    return stem


def find_nearest_texts(
    said: Iterable[str],
    texts: Sequence[str],
    *,
    language: str,
    terms: Callable[[str, str], Collection[str]] = read_terms,
) -> list[list[int]]:
    """Return for each sentence the places of the texts that share the most of its words, none where none shares any."""
    read = [frozenset(terms(text, language)) for text in texts]
    found = list[list[int]]()
    for sentence in said:
        words = frozenset(terms(sentence, language))
        shared = [len(words & each) for each in read]
        most = max(shared, default=0)
        found.append([at for at, count in enumerate(shared) if count == most > 0])
    return found


# ---- Which language a text is in

_LONGEST_READ: Final = 500  # characters. A text that is longer tells its language in its beginning.

_TELLING_SHARE: Final = 0.25
"""Of the letters. Names and codes in Latin letters stand in texts of every script, hardly ever the other way round."""


@cache
def _list_languages_of_scripts() -> Mapping[str, tuple[str, ...]]:
    """Return languages by the first word of the Unicode names of their letters (kana: either of Japan's)."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for language in LANGUAGES:
        found[load_hand_table(language)["script"]].append(language)
    return {script: tuple(named) for script, named in found.items()}


DETECTED_LANGUAGES: Final = LANGUAGES  # all that a text may tell

_KANA: Final = ("HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA")

_WITHOUT_SIGNS: Final = {code: " " for code in range(128) if not chr(code).isalpha()}
_NO_ASCII: Final = re.compile(r"[^\x00-\x7f]")
_VOTING_WORD: Final = re.compile(r"[^\W\d_]++")


def detect_language(text: str) -> str:
    """Tell which language a text is in."""
    return _detect_language_of_text(text[:_LONGEST_READ])


@remember_by_text(texts=1024, chars=_LONGEST_READ)
def _detect_language_of_text(text: str) -> str:
    votes = _count_language_votes(text)
    if len(votes) <= 1:
        return "".join(votes)
    most = max(votes.values())
    best = [language for language in votes if votes[language] == most]
    return best[0] if len(best) == 1 and most else ""


def _count_language_votes(text: str) -> dict[str, int]:
    """Return the votes for each language of a text's script, none where it is that of no language known."""
    text = normalise_to_nfkc(text).lower()
    languages = _list_languages_of_scripts().get(_detect_script(text), ())
    votes = dict.fromkeys(languages, 0)
    known = _load_language_signs(languages)
    for named, times in Counter(map(known.get, _list_language_signs(text))).items():
        share = times * (_WHOLE_VOTE // len(named)) if named else 0
        for language in named or ():
            votes[language] += share
    return votes


_WHOLE_VOTE: Final = 360_360
"""Divisible by every number up to 15, so that shares of votes are whole numbers and their sums exact."""


def _detect_script(text: str) -> str:
    if text.isascii():
        return "LATIN"
    scripts = Counter[str]()
    for letter, times in Counter(text).items():
        scripts[_detect_letter_script(letter)] += times
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
    if text.isascii():
        return text.translate(_WITHOUT_SIGNS).split()
    return [*_VOTING_WORD.findall(text), *(f"{letter}-" for letter in _NO_ASCII.findall(text))]


@cache
def _load_language_signs(languages: tuple[str, ...]) -> Mapping[str, tuple[str, ...]]:
    known: defaultdict[str, list[str]] = defaultdict(list)
    for language in languages:
        for word in load_stop_words(language):
            known[word].append(language)
        for letter in load_hand_table(language).get("letters", ""):
            known[f"{letter}-"].append(language)
    return {sign: tuple(named) for sign, named in known.items()}

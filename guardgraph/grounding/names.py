"""Names of a text that its sources do not have: capitalised words inside a sentence, and acronyms."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from typing import Final, NamedTuple

from guardgraph.grounding.languages import LANGUAGES, list_hand_words, load_hand_table, load_made_table
from guardgraph.grounding.sentences import find_sentence_spans, unwrap_text_lines
from guardgraph.grounding.words import (
    DEFAULT_LANGUAGE,
    LISTED_LANGUAGES,
    detect_language,
    is_lowercase_word,
    load_joining_words,
    stem,
)
from guardgraph.plain.memory import remember_by_text

_LETTER: Final = r"[^\W_\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u9fff]"
"""Of a script with blanks between words."""
_ASCII_TOKEN: Final = re.compile(r"[A-Za-z0-9]++(?:['.&-][A-Za-z0-9]++)*")
_PARTS: Final = re.compile(r"['’.&-]|(?<=[^\W\d])(?=\d)|(?<=\d)(?=[^\W\d])")
_JOINT: Final = re.compile(r"['’.&-]")
_OPENS: Final = re.compile(r"(?:^|[.!?:;\n]|[-–—*•#|>(]|[\"“”'‘«¿¡])[\s*_\"“'‘(\[]*$")
"""What stands before a word that has its capital from opening a sentence, an item or a quote."""
_UPPER: Final = "A-ZÀ-ÖØ-ÞА-ЯЁІЇЄҐ"
_CONTRACTED: Final = re.compile(r"['’](?:s|re|ll|ve|d|t|m)$")
_POSSESSIVE: Final = re.compile(r"['’]s?$")
_ENDED: Final = re.compile(r"[.!?][\"”)*]*\s*$")
_CELL: Final = re.compile(r"(?<=\|)[^|\n]{1,60}(?=\|)")
_LEAST_ROOT: Final = 4
_SHORT: Final = 5
_LONG: Final = 9  # letters of a name that one other letter, and two, may leave the same name: "Wellesey" of "Wellesley"
_LONGEST: Final = 16
_MOST_OTHER: Final = 4  # letters that one of two spellings has and the other has not: two of each
_MANY: Final = 256  # names after which the cuts of all words have been worth it
_MOST_HEADING_WORDS: Final = 11
_LOOKBACK: Final = 12
_LONGEST_RUN: Final = 12
_EXPLAINED_WITHIN: Final = 120


class Names(NamedTuple):
    """The words that texts have, as names are looked for."""

    words: frozenset[str] = frozenset()
    initials: frozenset[str] = frozenset()  # of the names of several words

    def has_name(self, word: str) -> bool:
        """Say whether texts have a name: itself, an inflected form, its parts, its initials, another code of it."""
        plain = fold_name(word)
        if plain in self.words or plain.rstrip("s") in self.words or f"{plain}s" in self.words:
            return True
        if stem(plain) in self.words or self._has_root(list_roots(plain)):
            return True
        if word.isupper() and (plain.rstrip("s") in self.initials or not self.words.isdisjoint(list_aliases(plain))):
            return True
        parts = [part for part in _JOINT.split(word) if part]
        return len(parts) > 1 and all(not part[0].isupper() or len(part) < 2 or self.has_name(part) for part in parts)

    def _has_root(self, roots: Collection[str]) -> bool:
        """Say whether a form of a name is among the words: one with another ending."""
        endings = ("", *list_hand_words(DEFAULT_LANGUAGE, "name_endings"))
        is_there = any(f"{root}{ending}" in self.words for root in roots if root.isascii() for ending in endings)
        return is_there or not _list_other_roots(self.words).isdisjoint(roots)


@cache
def _compile_token() -> re.Pattern[str]:
    return re.compile(rf"{_LETTER}+(?:['’.&-]{_LETTER}+)*")


def _choose_token(text: str) -> re.Pattern[str]:
    return _ASCII_TOKEN if text.isascii() else _compile_token()


@cache
def _compile_run() -> re.Pattern[str]:
    """Return what a name of several words looks like: "Health Organization", "Bank of the West"."""
    joins = "|".join(sorted({word for each in LANGUAGES for word in list_hand_words(each, "name_joins")}))
    word = rf"[{_UPPER}][^\W_]*+"
    begin = rf"[{_UPPER}](?<![^\W_].)[^\W_]*+"  # the letter first: what is before it is looked at only there
    return re.compile(rf"{begin}(?:[ -](?:(?:{joins}) ){{0,2}}{word})+")


@remember_by_text(texts=1024, chars=20_000)
def read_names(text: str) -> Names:
    """Return the words that a text has, as names are looked for."""
    words, initials = set[str](), set[str]()
    tokens = {*_choose_token(text).findall(text)}
    words.update(map(fold_name, tokens))
    for token in tokens:
        if not token.isalpha():
            words.update(map(fold_name, _PARTS.split(token)))
    for run in _compile_run().findall(text):
        initials |= list_initials(run)
    for cell in _CELL.findall(text) if "|" in text else ():  # a heading of a table has no capitals
        letters = "".join(word[0] for word in _choose_token(cell).findall(cell)).lower()
        initials |= {letters[:size] for size in range(2, len(letters) + 1)}
    words.discard("")
    return Names(frozenset(words), frozenset(initials))


@lru_cache(maxsize=64)
def _list_other_roots(words: frozenset[str]) -> frozenset[str]:
    """Return the roots of words of languages whose endings are not listed."""
    return frozenset(root for word in words if not word.isascii() for root in list_roots(word))


def _list_cuts(word: str) -> set[str]:
    """Return a word, and what is left of it without one letter, without two of a long one."""
    cuts = {word, *(word[:at] + word[at + 1 :] for at in range(len(word)))}
    return cuts if len(word) < _LONG else {cut[:at] + cut[at + 1 :] for cut in cuts for at in range(len(cut) + 1)}


def _mark_letters(word: str) -> int:
    """Return a bit for each letter that a word has; some letters share one."""
    return sum(1 << letter for letter in {ord(letter) % 32 for letter in word})


class _Spellings:
    """Words that names may be other spellings of."""

    def __init__(self, words: Iterable[str]) -> None:
        self.words = sorted((word for word in words if _SHORT <= len(word) <= _LONGEST), reverse=True)
        self.asked = 0

    @cached_property
    def _by_letters(self) -> Mapping[int, Mapping[int, list[str]]]:
        found = defaultdict[int, dict[int, list[str]]](dict)
        for word in self.words:
            found[len(word)].setdefault(_mark_letters(word), []).append(word)
        return found

    @cached_property
    def _by_cut(self) -> Mapping[str, str]:
        return {cut: word for word in self.words for cut in _list_cuts(word)}

    def find(self, name: str) -> str:
        """Return the word that shares the first cut with a name: of a few, it costs less to look for than to index."""
        self.asked += 1
        cuts, letters = _list_cuts(name), _mark_letters(name)
        if self.asked > _MANY:
            return next((self._by_cut[cut] for cut in sorted(cuts) if cut in self._by_cut), "")
        near = [
            words
            for length in range(len(name) - 2, len(name) + 3)
            for marks, words in self._by_letters.get(length, {}).items()
            if (letters ^ marks).bit_count() <= _MOST_OTHER
        ]
        alike = [word for words in near for word in words if not cuts.isdisjoint(_list_cuts(word))]
        return min(alike, key=lambda word: (min(cuts & _list_cuts(word)), word), default="")


@lru_cache(maxsize=16)
def _read_spellings(words: frozenset[str]) -> _Spellings:
    return _Spellings(words)


def find_spelled_alike(word: str, known: Names) -> str:
    """Return a word of texts that a name differs from in a letter or two, as two spellings of one do; "" for none."""
    plain = fold_name(word)
    return _read_spellings(known.words).find(plain) if _SHORT <= len(plain) <= _LONGEST else ""


def join_names(read: Iterable[Names]) -> Names:
    """Return what several texts have together."""
    read = list(read)
    return Names(*(frozenset().union(*parts) for parts in zip(*read, strict=True))) if read else Names()


def list_initials(run: str) -> set[str]:
    """Return the initials of a name of several words, with and without the small ones between."""
    parts = re.split(r"[ -]", run)[:_LONGEST_RUN]
    found = set[str]()
    for begin in range(len(parts) - 1):  # "Keller of the World Health Organization" has WHO in it
        if parts[begin][0].isupper() and (not begin or parts[begin - 1].islower()):
            letters = "".join(part[0] for part in parts[begin:])
            found |= {letters.lower(), "".join(letter for letter in letters if letter.isupper()).lower()}
    return found


@lru_cache(maxsize=65_536)
def list_roots(word: str) -> tuple[str, ...]:
    """Return what may be left of forms of one name: "Scottish" is of "Scotland", "Johnson" is not of "Johns"."""
    if not word.isascii():  # of a language whose endings are not listed: up to three letters
        return tuple(word[: len(word) - n] for n in range(4) if len(word) - n >= _LEAST_ROOT)
    endings = ("", *list_hand_words(DEFAULT_LANGUAGE, "name_endings"))
    return tuple(
        word[: len(word) - len(each)]
        for each in endings
        if word.endswith(each) and len(word) - len(each) >= _LEAST_ROOT
    )


@lru_cache(maxsize=65_536)
def fold_name(word: str) -> str:
    """Return a word as names are compared: lower case, without accents, points and the possessive."""
    plain = word.casefold()
    if not word.isascii():
        plain = "".join(c for c in unicodedata.normalize("NFKD", plain) if not unicodedata.combining(c))
    return _POSSESSIVE.sub("", plain).replace(".", "")


@lru_cache(maxsize=4096)
def list_aliases(code: str) -> frozenset[str]:
    """Return other codes of the territory that a code names: "uk", "gbr" and "gb" are one."""
    for codes in load_made_table(DEFAULT_LANGUAGE)["territories"].values():
        folded = {each.lower() for each in codes}
        if code in folded:
            return frozenset(folded)
    return frozenset()


@lru_cache(maxsize=65_536)
def is_ordinary_word(word: str) -> bool:
    """Say whether English writes a word in lower case: "Act" and "Games" are judged with the name they are part of."""
    plain = fold_name(_CONTRACTED.sub("", word))
    if plain in load_joining_words(DEFAULT_LANGUAGE) or is_lowercase_word(plain):
        return True
    known = list_hand_words(DEFAULT_LANGUAGE, "acronyms") | list_hand_words(DEFAULT_LANGUAGE, "prefixes")
    return plain in known


def is_heading(line: str) -> bool:
    """Say whether a line is a heading: few words, most with a capital, and no end of a sentence."""
    if _ENDED.search(line):
        return False
    joining = load_joining_words(DEFAULT_LANGUAGE)
    words = [word for word in _choose_token(line).findall(line) if word.lower() not in joining]
    if not 1 < len(words) <= _MOST_HEADING_WORDS:
        return False
    return bool(sum(word[0].isupper() for word in words) > 0.6 * len(words))


class FoundName(NamedTuple):
    """A word of a sentence that may be a name."""

    start: int
    end: int
    text: str
    is_ordinary: bool  # whether it is a word that is also written in lower case


def find_names(text: str, language: str = DEFAULT_LANGUAGE) -> Iterator[FoundName]:
    """Yield the words of a sentence that may be names: neither what opens it nor an acronym that it spells out."""
    own = {each for run in _compile_run().findall(text) for each in list_initials(run)}
    is_listed = language in LISTED_LANGUAGES
    acronyms = list_hand_words(DEFAULT_LANGUAGE, "acronyms")
    known_words = list_hand_words(DEFAULT_LANGUAGE, "frame_words") | list_hand_words(DEFAULT_LANGUAGE, "abbreviations")
    for match in _choose_token(text).finditer(text):
        word = match[0]
        if not word[0].isupper() or len(word) < 2 or any(map(str.isdigit, word)):
            continue
        start, end = match.span()
        if word.isupper() and fold_name(word) in own:
            continue
        if word.lower() in known_words or (word.isupper() and _is_explained(word, text[:start])):
            continue
        opens = _OPENS.search(text[max(0, start - _LOOKBACK) : start]) is not None
        if not is_listed:
            if word.isupper() or not (opens or load_hand_table(language).get("capitalises_nouns")):
                yield FoundName(start, end, word, is_ordinary=False)
            continue
        is_ordinary = all(map(is_ordinary_word, word.split("-"))) and (not word.isupper() or word.lower() in acronyms)
        is_plain = word.lower() in acronyms or word.lower() in load_joining_words(DEFAULT_LANGUAGE)
        if not is_ordinary or not (is_plain or opens):
            yield FoundName(start, end, word, is_ordinary)


def list_unknown_names(found: Iterable[FoundName], text: str, known: Names) -> list[FoundName]:
    """Return the names of a sentence that texts do not have, nor their initials."""
    runs = [match for match in _compile_run().finditer(text) if list_initials(match[0]) & known.words]
    return [
        name
        for name in found
        if not known.has_name(name.text) and not any(run.start() <= name.start < run.end() for run in runs)
    ]


def _is_explained(acronym: str, before: str) -> bool:
    """Say whether an acronym in brackets has the initials of the words before them: "interrupt-on-change (IOC)"."""
    if not before.endswith("("):
        return False
    words = re.findall(r"[^\W_]+", before[-_EXPLAINED_WITHIN:])[-len(acronym) :]
    return "".join(word[0] for word in words).upper() == acronym


def find_unsupported_names(text: str, texts: Sequence[str], known_names: Collection[str] = ()) -> list[str]:
    """Return the names of a text that no other text has, as they are written."""
    language = detect_language(text) or DEFAULT_LANGUAGE
    if not is_language_of(language, texts):
        return []
    known = join_names(map(read_names, (*texts, *known_names)))
    lines = unwrap_text_lines(text)
    spans = find_sentence_spans(lines)
    found = list[str]()
    for start, end in spans:
        sentence = lines[start:end]
        if len(spans) > 1 and is_heading(sentence):
            continue
        unknown = list_unknown_names(find_names(sentence, language), sentence, known)
        found += [each.text for each in unknown if not each.is_ordinary]
    return list(dict.fromkeys(found))


def is_language_of(language: str, texts: Iterable[str]) -> bool:
    """Say whether names of a text in a language can be looked for in other texts: one of them may be in it."""
    return language in LANGUAGES and any(detect_language(each) in ("", language) for each in texts)

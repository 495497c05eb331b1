"""Whether a sentence of an answer says the opposite of a sentence that it was taken from.

Two sentences are compared where nearly all words of the one stand in one stretch of the other, in their order. They
contradict each other if they differ there in an odd number of negations and opposites: *not*, *failed to*, *before* for
*after*, *rose* for *fell*, *may* for *will*. Roles that are swapped, and what a negation reaches, are told by no rule.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from itertools import pairwise, repeat
from typing import Final, NamedTuple

from guardgraph.grounding.languages import list_hand_words
from guardgraph.grounding.quotes import find_quotes
from guardgraph.grounding.sentences import split_sentences, unwrap_text_lines
from guardgraph.grounding.words import DEFAULT_LANGUAGE, detect_language, load_function_words, stem_words
from guardgraph.guards.facts.words import BEFORE, NUMBER_WORDS
from guardgraph.guards.stop import Stop
from guardgraph.guards.word_lists import load_word_lists
from guardgraph.plain.json import excerpt_value
from guardgraph.plain.letters import normalise_to_nfkc
from guardgraph.plain.memory import remember_by_text

LEAST_WORDS: Final = 4
"""Content words that two sentences share at least where they are compared."""
LEAST_WORDS_ALIKE: Final = 3
"""Content words that they share at least where neither has any other: short instructions have no more."""
LEAST_SHARE: Final = 0.75
"""Of the answer's content words that stand in the stretch, and of the stretch's that the answer has."""
_LONGEST: Final = 60
"""Words of a sentence that are read at a time; a longer one is read in parts."""
_MOST_COMPARED: Final = 8
"""Sentences of the sources that one of the answer is held against: those that share the most words."""
_MOST_LISTED: Final = 64
"""Sentences of the sources that are listed for one word."""

_TOKEN: Final = re.compile(r"\d+(?:[.,]\d+)*|[^\W_]+|[,;:()\[\]—–]")
_CONTRACTED: Final = re.compile(r"\b(?:(ca|wo|sha)|([a-z]+)) ?n['’]t\b", re.IGNORECASE)
_FULL: Final = {"ca": "can", "wo": "will", "sha": "shall"}
_SPACED_END: Final = re.compile(r"(?<=\s[.!?])\s+")
"""Where a sentence ends in a text of lower case whose marks stand alone, as corpora have them."""
_HEADING: Final = re.compile(r"\s*#.*|.*:\s*", re.DOTALL)
_NAMES: Final = frozenset({"May", "Will"})
"""Words that are verbs in lower case only, but where they open a sentence."""
_MARKS: Final = frozenset(",;:()[]—–")
_APOSTROPHES: Final = frozenset("'’")


_ENDED: Final = frozenset(["dropped", "ended", "removed", "discontinued", "retired", "ceased", "withdrawn"])
_SUPPORTED: Final = frozenset(["support", "supports", "supported"])


def _list_bounds() -> dict[str, list[tuple[tuple[str, ...], int]]]:
    found: dict[str, list[tuple[tuple[str, ...], int]]] = {}
    for said, bound in BEFORE.items():
        found.setdefault(said[0], []).append((said, 1 if bound == "least" else -1))
    return found


_BOUNDS: Final = _list_bounds()

_SHOWN: Final = 280
"""Characters of a sentence that a stop shows."""


class Turned(NamedTuple):
    """A sentence of an answer that turns one of its sources round."""

    sentence: str
    """Of the answer."""
    source_sentence: str
    """What it turns round."""


class _Word(NamedTuple):
    """A word of a sentence, as it is compared."""

    key: str
    """Its stem, or the name of the opposites that it is one of."""
    side: int
    """Which of the opposites it is, 1 or -1; 0 of a word without any."""
    is_content: bool


class _Denial(NamedTuple):
    """A negation of a sentence."""

    reach: tuple[int, ...]
    """The places of the words that it may deny, the nearest first."""
    needs: str
    """The kind of word without which the other sentence says the same in other words: ``waiting``, ``whole``, or none.

    *Not until May* is *in May*, *not all* is *some*."""


class _ReadSentence(NamedTuple):
    """What is compared of a sentence."""

    words: tuple[_Word, ...]
    denials: tuple[_Denial, ...]
    kinds: frozenset[str]
    """Of the words ``waiting``, ``whole`` and ``saying``: which the sentence has."""
    content: frozenset[str]
    """The keys of its content words."""


class _ComparedSentence:
    """A sentence as it is compared. Most are near to no other one, and are never read."""

    def __init__(self, text: str, tokens: Sequence[str], language: str, *, is_quoted: bool | None) -> None:
        self.text = text
        self._tokens, self._language, self._is_quoted = tokens, language, is_quoted
        signs = [(at, each) for at, each in enumerate(_list_tokens(tokens, language)) if each.is_sign]
        self.sides = frozenset((word.key, word.side) for _, (word, *_) in signs if word is not None and word.side)
        """Its opposites: the name of each, and the side."""
        self.may_deny = any(_match_phrase(tokens, at, each.phrases)[1] for at, each in signs if each.phrases)

    @cached_property
    def keys(self) -> frozenset[str]:
        """The keys of its words, and of those of its negations: more than what is compared."""
        known = _list_tokens(self._tokens, self._language)
        return frozenset(each.word.key for each in known if each.word is not None)

    @cached_property
    def bounds(self) -> frozenset[tuple[int, str]]:
        """What bounds an amount from below (1) or above (-1), and the word or digits behind it."""
        return frozenset(bound for at in range(len(self._tokens)) for bound in _list_bounds_at(self._tokens, at))

    @cached_property
    def says_end(self) -> bool:
        """Whether it says that something is no longer there, without a negation: *support was dropped*."""
        words = set(self._tokens)
        return not words.isdisjoint(_ENDED) and not words.isdisjoint(_SUPPORTED)

    @cached_property
    def deadline(self) -> int:
        """1 where it says what holds up to a time, -1 where what holds from then on, 0 where neither or both."""
        until, after = (not words.isdisjoint(self._tokens) for words in _load_lexicon(self._language).deadline)
        return until - after

    @property
    def is_within(self) -> bool:
        """Whether it says what lies between two bounds."""
        return "between" in self._tokens

    @property
    def is_beyond(self) -> bool:
        """Whether it says what lies below one bound and above another."""
        words = set(self._tokens)
        return not words.isdisjoint(("below", "under")) and not words.isdisjoint(("above", "over"))

    @cached_property
    def read(self) -> _ReadSentence:
        """Its words and negations."""
        read = _read_tokens(self._tokens, self._language)
        is_quoted = _is_mostly_quoted(self.text) if self._is_quoted is None else self._is_quoted
        return read._replace(kinds=read.kinds | {"saying"}) if is_quoted else read

    def can_contradict(self, other: _ComparedSentence) -> bool:
        """Say whether anything in one of two sentences can deny what the other says."""
        return self.may_deny or other.may_deny or _has_opposite(self, other.sides)


def check_turned_sentences(answer: str, sources: Iterable[str], *, question: str) -> None:
    """Refuse an answer with a sentence that says the opposite of a source sentence, almost in its words.

    Args:
        answer: the answer's text.
        sources: the texts that it cites.
        question: the user's question.

    Raises:
        Stop: ``invalid_answer:contradicts_source`` with `details` ``{sentence, source_sentence}``.
    """
    if found := find_turned_sentence(answer, sources, question=question):
        details = {key: excerpt_value(text, _SHOWN) for key, text in found._asdict().items()}
        raise Stop("invalid_answer:contradicts_source", details=details)


def find_turned_sentence(answer: str, sources: Iterable[str], *, question: str = "") -> Turned | None:
    """Find the first sentence of an answer that says the opposite of a source sentence.

    None is found where another sentence of the sources, or the question, says what the answer says. Questions,
    headings and reported speech are no source sentences.

    Args:
        answer: the answer's text.
        sources: the texts that it cites; what is in a language without a list of negations says nothing.
        question: the user's question. One that can be answered by yes or no says nothing.
    """
    sources = list(sources)
    by_language: dict[str, list[_ComparedSentence]] = defaultdict(list)
    for text in sources:
        language = detect_language(text) or DEFAULT_LANGUAGE
        if language in load_word_lists("opposites"):
            by_language[language] += _read_sentences(text, language)
    for language, read in by_language.items():
        asked = [item for item in _read_sentences(question, language) if _is_asked_of_fact(item.text, language)]
        silent = {text for text in {item.text for item in read} if _says_nothing(text)}
        said = [item for item in read if item.text not in silent]
        index = _SentenceIndex([*said, *asked])
        for sentence in _read_sentences(answer, language):
            if not sentence.text.endswith("?") and (found := _find_contradicted(sentence, index)):
                return Turned(sentence.text, found.text)
    return None


def _says_nothing(sentence: str) -> bool:
    """Say whether a source's sentence is a question or a heading."""
    return sentence.rstrip("\"'”’» ").endswith("?") or _HEADING.fullmatch(sentence) is not None


def _is_asked_of_fact(sentence: str, language: str) -> bool:
    """Say whether a sentence of a question takes for granted what it says: *why did it close?*, not *did it close?*."""
    if not sentence.endswith("?"):
        return True
    return not _load_lexicon(language).asking.isdisjoint(_split_tokens(sentence)[:3])


class _SentenceIndex:
    """The sentences that those of an answer are held against."""

    def __init__(self, sentences: Sequence[_ComparedSentence]) -> None:
        self.sentences = sentences
        self.sides = frozenset[tuple[str, int]]().union(*(sentence.sides for sentence in sentences))
        """The opposites of all sentences."""
        self.may_deny = any(sentence.may_deny for sentence in sentences)
        """Whether one of the sentences may have a negation."""

    @cached_property
    def places(self) -> Mapping[str, Sequence[int]]:
        """For each word the sentences that have it."""
        places: dict[str, list[int]] = defaultdict(list)
        for at, sentence in enumerate(self.sentences):
            for key in sentence.keys:
                if len(places[key]) < _MOST_LISTED:
                    places[key].append(at)
        return places


def _find_contradicted(sentence: _ComparedSentence, index: _SentenceIndex) -> _ComparedSentence | None:
    """Return the source sentence that a sentence turns round, None where one says the same."""
    if not (sentence.may_deny or index.may_deny or _has_opposite(sentence, index.sides)):
        return None  # nothing in which it could contradict any of them
    near = _find_near_sentences(sentence, index)
    contrary = {at for at in near if sentence.can_contradict(index.sentences[at])}
    one, turned = sentence.read, None
    # Those that may be contradicted come first: where none is, it does not matter which others say the same.
    for at in sorted(near, key=lambda at: at not in contrary):
        if turned is None and at not in contrary:
            return None
        other = index.sentences[at].read
        pairs = _align(one.words, other.words)
        if not _is_same_matter(one, other, pairs):
            continue
        is_turned = _is_turned(one, other, pairs)
        if is_turned is False:
            return None
        if is_turned and _is_said_otherwise(sentence, index.sentences[at]):
            continue
        is_reported = "saying" in other.kinds - one.kinds
        if is_turned and turned is None and not is_reported and not _is_of_another(one, at, pairs, index):
            turned = index.sentences[at]
    return turned


def _is_said_otherwise(one: _ComparedSentence, other: _ComparedSentence) -> bool:
    """Say whether two sentences differ in what a rule cannot count: *over 2 GB* and *up to 2 GB*, *dropped* and *no*.

    What can be done within 14 days cannot be done after them. Neither are *between 0 and 45* and *not below 0 or above
    45* opposites. A bound that is turned round is told by the check of numbers.
    """
    beyond = {(-side, number) for side, number in other.bounds}
    return (
        one.says_end != other.says_end
        or one.deadline * other.deadline < 0
        or not beyond.isdisjoint(one.bounds)
        or (one.is_within and other.is_beyond)
        or (one.is_beyond and other.is_within)
    )


def _has_opposite(sentence: _ComparedSentence, sides: Collection[tuple[str, int]]) -> bool:
    """Say whether the opposite of one of a sentence's words is among some."""
    return any((key, -side) in sides for key, side in sentence.sides)


def _find_near_sentences(sentence: _ComparedSentence, index: _SentenceIndex) -> list[int]:
    """Return the places of the sentences that share the most content words with one, the nearest first."""
    shared = Counter(at for key in sentence.keys for at in index.places.get(key, ()))
    if max(shared.values(), default=0) < LEAST_WORDS_ALIKE:
        return []
    wanted = sentence.read.content
    least = max(min(LEAST_WORDS, len(wanted)), LEAST_WORDS_ALIKE, LEAST_SHARE * len(wanted))
    # Of a few sentences all are listed for each of their words, so that they share no more than counted here.
    fewest = least if len(index.sentences) <= _MOST_LISTED else LEAST_WORDS_ALIKE
    places = sorted(at for at, count in shared.items() if count >= fewest)
    content = [(at, index.sentences[at].read.content) for at in places]
    compared = Counter(at for key in sorted(wanted) for at, its in content if key in its)
    return [at for at, count in compared.most_common(_MOST_COMPARED) if count >= least]


def _is_of_another(one: _ReadSentence, at: int, pairs: Sequence[tuple[int, int]], index: _SentenceIndex) -> bool:
    """Say whether a sentence names another thing where a source names its own: one that other sentences tell of.

    *Gold includes a lounge, Silver does not*: what is said of Gold contradicts nothing that is said of Silver.
    """
    other = index.sentences[at].read
    edges = [(max(-1, pairs[0][0] - 4), max(-1, pairs[0][1] - 4)), *pairs, (pairs[-1][0] + 4, pairs[-1][1] + 4)]
    for (here, there), (next_here, next_there) in pairwise(edges):
        named = {word.key for word in one.words[here + 1 : next_here] if word.is_content}
        replaced = {word.key for word in other.words[there + 1 : next_there] if word.is_content}
        if replaced and any(_tells_of(key, index, but=at) for key in named - other.content):
            return True
    return False


def _tells_of(key: str, index: _SentenceIndex, *, but: int) -> bool:
    """Say whether another sentence than one has a content word."""
    return any(at != but and key in index.sentences[at].read.content for at in index.places.get(key, ()))


def _is_same_matter(one: _ReadSentence, other: _ReadSentence, pairs: Sequence[tuple[int, int]]) -> bool:
    """Say whether three quarters of a sentence are three quarters of a stretch of the other."""
    met = sum(one.words[here].is_content for here, _ in pairs)
    if met < LEAST_WORDS_ALIKE:
        return False
    stretch = other.words[pairs[0][1] : pairs[-1][1] + 1]
    wanted = max(_count_content(one.words), _count_content(stretch))
    return met == wanted if met < LEAST_WORDS else met >= LEAST_SHARE * wanted


def _count_content(words: Iterable[_Word]) -> int:
    return sum(word.is_content for word in words)


def _is_turned(one: _ReadSentence, other: _ReadSentence, pairs: Sequence[tuple[int, int]]) -> bool | None:
    """Say whether sentences of one matter differ in an odd number of negations and opposites; None where in doubt."""
    opposites = [one.words[here].key for here, there in pairs if one.words[here].side * other.words[there].side < 0]
    if _waits(one, other) or _waits(other, one):  # what is not paid before it is checked is paid after it is
        opposites = [key for key in opposites if key != _BEFORE_AFTER]
    ours = _count_denials(one, other, [here for here, _ in pairs])
    theirs = _count_denials(other, one, [there for _, there in pairs])
    return None if ours is None or theirs is None else (len(opposites) + ours + theirs) % 2 == 1


_BEFORE_AFTER: Final = "=0"
"""The first pair of opposites of each language."""


def _waits(sentence: _ReadSentence, other: _ReadSentence) -> bool:
    """Say whether a sentence denies what is so up to a time, and the other one denies nothing."""
    return not other.denials and any(denial.needs == "waiting" for denial in sentence.denials)


def _count_denials(sentence: _ReadSentence, other: _ReadSentence, shared: Sequence[int]) -> int | None:
    """Count the negations of shared words; None where one in the stretch denies a word that the other has not."""
    count = 0
    for denial in sentence.denials:
        if denial.needs and denial.needs not in other.kinds and not other.denials:
            continue
        if not denial.reach or shared[0] <= denial.reach[0] <= shared[-1]:
            if set(shared).isdisjoint(denial.reach):
                return None
            count += 1
        elif 0 < denial.reach[0] - shared[-1] <= _BESIDE:
            return None  # "whole flats may not be let": what the stretch ends with is denied behind it
    return count


_BESIDE: Final = 2
"""Words from a stretch to the one behind it that a negation denies, at most."""


_SAME, _OPPOSITE, _LEFT_OUT, _ADDED = 8, 7, 1, 4
"""What a word counts that stands in both sentences, that is the opposite, and that only one of them has."""


def _align(one: Sequence[_Word], other: Sequence[_Word]) -> list[tuple[int, int]]:
    """Return the pairs of words that stand in both sentences in their order, close together.

    Source: T. F. Smith and M. S. Waterman, Identification of common molecular subsequences, 1981.
    """
    scores = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    best, end = 0, (0, 0)
    theirs = [(its.key, its.side) for its in other]
    for here, (key, side, _) in enumerate(one, 1):
        before, row, score = scores[here - 1], scores[here], 0
        for there, (its_key, its_side) in enumerate(theirs, 1):
            score = max(score - _ADDED, before[there] - _LEFT_OUT, 0)
            if key == its_key:
                score = max(score, before[there - 1] + (_OPPOSITE if side * its_side < 0 else _SAME))
            row[there] = score
            if score > best:
                best, end = score, (here, there)
    return _trace_pairs(scores, one, other, end)


def _trace_pairs(
    scores: list[list[int]], one: Sequence[_Word], other: Sequence[_Word], end: tuple[int, int]
) -> list[tuple[int, int]]:
    pairs, (here, there) = list[tuple[int, int]](), end
    while scores[here][there] > 0:
        word, its = one[here - 1], other[there - 1]
        gain = _OPPOSITE if word.side * its.side < 0 else _SAME
        if word.key == its.key and scores[here][there] == scores[here - 1][there - 1] + gain:
            here, there = here - 1, there - 1
            pairs.append((here, there))
        elif scores[here][there] == scores[here - 1][there] - _LEFT_OUT:
            here -= 1
        else:
            there -= 1
    return pairs[::-1]


# How a sentence is read


class _Lexicon(NamedTuple):
    """What a language says opposites with."""

    phrases: Mapping[str, Sequence[tuple[tuple[str, ...], bool]]]
    """By their first word, the longest first: phrases that deny (True), and that only look so."""
    opposites: Mapping[str, tuple[str, int]]
    """By words and stems: the name of the pair, and the side."""
    plain: frozenset[str]
    """Opposites that carry no content: *before*, *more*."""
    kinds: Mapping[str, str]
    deadline: tuple[frozenset[str], frozenset[str]]
    """Words before the end of a time, and before what begins there: *within*, *after*."""
    asking: frozenset[str]


_DENIED_TWICE: Final = frozenset({"es", "fr", "ru", "uk"})
"""Languages in which two negations of a clause are one: *no vino nadie*."""


@cache
def _load_lexicon(language: str) -> _Lexicon:
    lists = load_word_lists("opposites")[language]
    phrases: dict[str, list[tuple[tuple[str, ...], bool]]] = defaultdict(list)
    for name, denies in (("denials", True), ("idle", False)):
        for phrase in (said for line in lists[name] for said in line.split(" | ")):
            said = tuple(phrase.split())
            phrases[said[0]].append((said, denies))
    for found in phrases.values():
        found.sort(key=lambda item: -len(item[0]))
    kinds = {word: kind for kind in ("waiting", "whole", "saying") for word in " ".join(lists[kind]).split()}
    plain = frozenset(word for line in lists["exact"] for word in line.replace("|", " ").split())
    return _Lexicon(
        phrases=phrases,
        opposites=_index_opposites([*lists["exact"], *lists["stems"]], len(lists["exact"]), language),
        plain=plain,
        kinds=kinds,
        deadline=_read_deadline(lists["deadline"]),
        asking=frozenset(" ".join(lists["asking"]).split()),
    )


def _read_deadline(lines: Sequence[str]) -> tuple[frozenset[str], frozenset[str]]:
    until, after = " ".join(lines).split(" | ")
    return frozenset(until.split()), frozenset(after.split())


def _index_opposites(lines: Sequence[str], exact: int, language: str) -> dict[str, tuple[str, int]]:
    """Return opposites by the words that are listed, and behind the first `exact` lines by their stems, too."""
    found: dict[str, tuple[str, int]] = {}
    stems: dict[str, tuple[str, int]] = {}
    for number, line in enumerate(lines):
        for side, words in zip((1, -1), line.split(" | "), strict=True):
            for word, stem in zip(words.split(), stem_words(words.split(), language), strict=True):
                found.setdefault(word, (f"={number}", side))
                if number >= exact:
                    stems.setdefault(f"~{stem}", (f"={number}", side))
    return {**stems, **found}


@remember_by_text(texts=64, chars=4000)
def _read_sentences(text: str, language: str) -> tuple[_ComparedSentence, ...]:
    """Return the sentences of a text as they are compared; parts of one that is very long."""
    found = list[_ComparedSentence]()
    is_cased = text != text.lower()  # else a line that begins in lower case need not go on with the one before
    for whole in split_sentences(unwrap_text_lines(text) if is_cased else text):
        for sentence in _SPACED_END.split(whole):
            tokens = _split_tokens(sentence)
            starts = range(0, len(tokens), _LONGEST)
            # Of its parts each would look through all of a long sentence; most short ones never need to.
            is_quoted = _is_mostly_quoted(sentence) if len(starts) > 1 else None
            found += [
                _ComparedSentence(sentence, tokens[start : start + _LONGEST], language, is_quoted=is_quoted)
                for start in starts
            ]
    return tuple(found)


def _split_tokens(sentence: str) -> list[str]:
    """Return the words and marks of a sentence in lower case; the month and the name keep their capital."""
    plain = normalise_to_nfkc(sentence)
    if not _APOSTROPHES.isdisjoint(plain):
        plain = _CONTRACTED.sub(_spell_out_negation, plain)
    if plain.isascii() and not any(name in plain for name in _NAMES):
        return _TOKEN.findall(plain.lower())
    tokens = _TOKEN.findall(plain)
    return [token if at and token in _NAMES else token.lower() for at, token in enumerate(tokens)]


def _spell_out_negation(match: re.Match[str]) -> str:
    return f"{_FULL[match[1].lower()] if match[1] else match[2]} not"


def _read_tokens(tokens: Sequence[str], language: str) -> _ReadSentence:
    words, denials, kinds = list[_Word](), list[tuple[int, str]](), set[str]()
    stops, runs, at = set[int](), set[int](), 0
    while at < len(tokens):
        word, kind, phrases, is_mark, _ = _read_token(tokens[at], language)
        length, denies = _match_phrase(tokens, at, phrases) if phrases else (0, False)
        if length:
            follows = tokens[at + length] if at + length < len(tokens) else ""
            is_amount = (tokens[at] == "no" and follows[:1].isdigit()) or any(_list_bounds_at(tokens, at))
            if denies and not is_amount:  # "no more than 5" is a bound, which the check of numbers holds
                is_of_all = follows != "" and _read_token(follows, language).kind == "whole"
                denials.append((len(words), "whole" if is_of_all else ""))
            runs.add(len(words))
            at += length
            continue
        at += 1
        if kind:
            kinds.add(kind)
        if word is not None:
            words.append(word)
        else:
            (stops if is_mark else runs).add(len(words))
    if "waiting" in kinds:
        denials = [(place, needs or "waiting") for place, needs in denials]
    reached = _find_reaches(words, denials, stops, runs, is_twice=language in _DENIED_TWICE) if denials else ()
    content = frozenset(word.key for word in words if word.is_content)
    return _ReadSentence(tuple(words), tuple(reached), frozenset(kinds), content)


_LONGEST_KNOWN: Final = 40
"""Letters of a word of which it is kept what it is."""


def _list_tokens(tokens: Sequence[str], language: str) -> Iterable[_Token]:
    """Return what each token may be."""
    if max(map(len, tokens), default=0) <= _LONGEST_KNOWN:
        return map(_read_short_token, tokens, repeat(language))
    return (_read_token(token, language) for token in tokens)


def _read_token(token: str, language: str) -> _Token:
    read = _read_short_token if len(token) <= _LONGEST_KNOWN else _read_short_token.__wrapped__
    return read(token, language)


class _Token(NamedTuple):
    """What a word or mark may be, wherever it stands."""

    word: _Word | None
    """None of a mark and of a small word."""
    kind: str
    """One of the kinds of `_ReadSentence`, or none."""
    phrases: Sequence[tuple[tuple[str, ...], bool]]
    """The phrases that begin with it."""
    is_mark: bool
    is_sign: bool
    """Whether it may deny, or has an opposite."""


@lru_cache(maxsize=65_536)
def _read_short_token(token: str, language: str) -> _Token:
    lexicon, [stem] = _load_lexicon(language), stem_words([token], language)
    is_mark, word = token in _MARKS, None
    known = lexicon.opposites.get(token) or lexicon.opposites.get(f"~{stem}")
    if known is not None:
        word = _Word(*known, token not in lexicon.plain)
    elif token not in _load_plain_words(language) and not is_mark:
        word = _Word(stem, 0, is_content=True)
    phrases = lexicon.phrases.get(token, ())
    is_sign = bool(phrases) or (word is not None and word.side != 0)
    return _Token(word, lexicon.kinds.get(token, ""), phrases, is_mark, is_sign)


def _is_mostly_quoted(sentence: str) -> bool:
    """Say whether half of a sentence is what somebody says, or it begins or ends inside a quote."""
    quoted = sum(quote.end - quote.start for quote in find_quotes(sentence))
    return 2 * quoted > len(sentence) or (not quoted and sentence.count('"') % 2 == 1)


def _list_bounds_at(tokens: Sequence[str], at: int) -> Iterator[tuple[int, str]]:
    """Yield what bounds an amount from here on, and the word or digits behind it: "no more than 5"."""
    for phrase, side in _BOUNDS.get(tokens[at], ()):
        end = at + len(phrase)
        is_said = tuple(tokens[at:end]) == phrase and end < len(tokens)
        if is_said and (tokens[end][0].isdecimal() or tokens[end] in NUMBER_WORDS):
            yield side, tokens[end]


def _match_phrase(tokens: Sequence[str], at: int, phrases: Sequence[tuple[tuple[str, ...], bool]]) -> tuple[int, bool]:
    for phrase, denies in phrases:
        if tuple(tokens[at : at + len(phrase)]) == phrase:
            return len(phrase), denies
    return 0, False


def _find_reaches(
    words: Sequence[_Word], denials: Sequence[tuple[int, str]], stops: set[int], runs: set[int], *, is_twice: bool
) -> list[_Denial]:
    """Return what each negation may deny: the words behind it up to the next small word, else those before it."""
    found, clause = list[_Denial](), -1
    runs, ends = runs | stops, sorted(stops)
    for place, needs in denials:
        number = sum(end <= place for end in ends)
        if is_twice and number == clause:
            continue
        clause = number
        reach = list[int]()
        for at in range(place, len(words)):
            if at > place and (at in stops or (reach and at in runs)):
                break
            if words[at].is_content:
                reach.append(at)
        if not reach:
            reach = [at for at in range(place - 1, max(-1, place - 4), -1) if words[at].is_content][:2]
        found.append(_Denial(tuple(reach[:4]), needs))
    return found


@cache
def _load_plain_words(language: str) -> frozenset[str]:
    return list_hand_words("en", "stop_words") if language == DEFAULT_LANGUAGE else load_function_words(language)

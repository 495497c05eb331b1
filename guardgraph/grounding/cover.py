"""Sources, read once: their sentences, which of them are nearest to a sentence, and how much of its words they have."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache, cached_property, lru_cache
from itertools import accumulate
from operator import attrgetter
from typing import Final, NamedTuple

from guardgraph.grounding.languages import list_hand_words
from guardgraph.grounding.names import Names, join_names, read_names
from guardgraph.grounding.scanning import scan_text
from guardgraph.grounding.sentences import find_sentence_spans, unwrap_text_lines
from guardgraph.grounding.values import Value, ValueIndex
from guardgraph.grounding.words import DEFAULT_LANGUAGE, detect_language, list_stems, stem
from guardgraph.plain.memory import remember_by_text

LEAST_COVERED: Final = 3  # content words that a sentence has at least for its cover to say anything
_get_start = attrgetter("start")
_NEIGHBOURS: Final = 3  # source sentences that follow each other and may say together what one sentence says
_MOST_NEAR: Final = 3
_MOST_PLACES: Final = 256  # sentences in which a word is looked up: what more of them have tells none from another


class Evidence(NamedTuple):
    """A place of a source that is near to a sentence."""

    source: str
    start: int
    end: int
    share: float  # of the sentence's words, by how rare they are, which the place has


class ReadText:
    """A text, each part of which is read once, by whoever needs it first."""

    def __init__(self, text: str) -> None:
        self.text = unwrap_text_lines(text)
        """With the lines that were only broken to a width joined; of the same length."""
        self.language = detect_language(text) or DEFAULT_LANGUAGE

    @cached_property
    def values(self) -> tuple[Value, ...]:
        """The values that stand in it."""
        return scan_text(self.text, self.language)

    @cached_property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """Where its sentences stand."""
        return tuple(find_sentence_spans(self.text))

    @cached_property
    def stems(self) -> tuple[frozenset[str], ...]:
        """The stems of the content words of each sentence."""
        return tuple(list_stems(self.text[start:end], self.language) for start, end in self.spans)

    @cached_property
    def names(self) -> Names:
        """The names that stand in it."""
        return read_names(self.text)

    def list_values_between(self, start: int, end: int) -> tuple[Value, ...]:
        """Return the values of a sentence."""
        first = bisect_left(self.values, start, key=_get_start)
        return self.values[first : bisect_left(self.values, end, first, key=_get_start)]


@remember_by_text(texts=512, chars=50_000)
def read_text(text: str) -> ReadText:
    """Return a text as it is held against others."""
    return ReadText(text)


@cache
def load_frame_stems(language: str) -> frozenset[str]:
    """Return the stems of what a text says of itself and its sources: no source could have them."""
    return frozenset(stem(word, language) for word in list_hand_words(language, "frame_words"))


def _rank_place(scored: tuple[int, float]) -> tuple[float, int]:
    at, score = scored
    return -round(score, 9), at  # sums of the same weights in another order differ in their last digits


class Sources:
    """Texts that a text rests on, with what belongs to every sentence of each."""

    def __init__(self, ids: Sequence[str], texts: Sequence[str], abouts: Sequence[tuple[str, ...]]) -> None:
        self.ids = ids
        self.read = [read_text(text) for text in texts]
        about = [[read_text(said) for said in each] for each in abouts]
        self._parts, self._every = about, (*self.read, *(part for parts in about for part in parts))
        self.text = "\n".join(each.text for each in self._every)

    @cached_property
    def index(self) -> ValueIndex:
        """The values that stand in them."""
        return ValueIndex(value for each in self._every for value in each.values)

    @cached_property
    def names(self) -> Names:
        """The names that stand in them."""
        return join_names(each.names for each in self._every)

    @cached_property
    def _about(self) -> list[frozenset[str]]:
        return [frozenset().union(*(stems for part in parts for stems in part.stems)) for parts in self._parts]

    @cached_property
    def _begins(self) -> list[int]:
        return [0, *accumulate(len(each.spans) for each in self.read)]

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        """The sentences that have a stem, by their numbers."""
        places: defaultdict[str, list[int]] = defaultdict(list)
        for at, stems in enumerate(stems for each in self.read for stems in each.stems):
            for word in stems:
                known = places[word]
                if len(known) < _MOST_PLACES:
                    known.append(at)
        return places

    def find_place(self, at: int) -> tuple[int, int, int]:
        """Return which source has a sentence, by its number, and where it stands there."""
        source = bisect_right(self._begins, at) - 1
        return source, *self.read[source].spans[at - self._begins[source]]

    def find_nearest(self, stems: Iterable[str]) -> list[tuple[float, int]]:
        """Return the sentences that share most with a sentence's stems: the share by weight, and the number."""
        count, total = self._begins[-1], 0.0
        scores: defaultdict[int, float] = defaultdict(float)
        for word in stems:
            places = self._places.get(word, ())
            weight = math.log(1 + count / (1 + len(places))) + 0.1
            total += weight
            for at in places:
                scores[at] += weight
        best = sorted(scores.items(), key=_rank_place)[:_MOST_NEAR]
        return [(score / total, at) for at, score in best]

    def measure_cover(self, stems: frozenset[str], asked: frozenset[str], language: str) -> float:
        """Return the share of a sentence's words that neighbouring source sentences have; 1 where it has too few."""
        wanted = stems - load_frame_stems(language)
        own = wanted - asked
        if len(own) < LEAST_COVERED:
            return 1.0
        found: defaultdict[int, set[str]] = defaultdict(set)
        for word in own:
            for at in self._places.get(word, ()):
                for first in range(at - _NEIGHBOURS + 1, at + 1):
                    found[first].add(word)
        best = max(map(len, found.values()), default=0)
        for source, about in enumerate(self._about):
            begin, end = self._begins[source], self._begins[source + 1]
            more = own & about
            if not more:
                continue
            here = (found[at] for at in range(begin - _NEIGHBOURS + 1, end) if at in found)
            best = max(best, len(more), max((len(words | more) for words in here), default=0))
        return (best + len(wanted & asked)) / len(wanted)

    def show_evidence(self, near: Iterable[tuple[float, int]]) -> tuple[Evidence, ...]:
        """Return places of sources as they are shown."""
        return tuple(
            Evidence(self.ids[source], start, end, round(share, 3))
            for share, at in near
            for source, start, end in [self.find_place(at)]
        )


@lru_cache(maxsize=64)
def read_sources(ids: tuple[str, ...], texts: tuple[str, ...], abouts: tuple[tuple[str, ...], ...]) -> Sources:
    """Return sources, each read once."""
    return Sources(ids, texts, abouts)

"""The default retriever: BM25 over words, as a share of what the question asks for."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Final, TypeAlias

from guardgraph.locales.language import language_of
from guardgraph.state.errors import ConfigurationError
from guardgraph.state.instant import instant
from guardgraph.state.json import JsonObject
from guardgraph.state.rag import Candidate
from guardgraph.tools.knowledge_base import Document
from guardgraph.tools.terms import DEFAULT_LANGUAGE, content_words, stems, terms

__all__ = ["LexicalRetriever"]

_K1: Final = 1.6
_B: Final = 0.4
"""BM25's saturation and length constants, as usual: 1.2..2 and 0.5..0.8 (Robertson and Zaragoza 2009)."""

_OPEN: Final = 0.5
_CHANCE: Final = 0.8
_TRIES: Final = 3
_LARGEST_CHANCE: Final = 0.6
"""How much what is left open counts; the share of ln N that chance covers, and of how many passages; and at most.

They were set so that with 0.2 at most 2 % of the questions pass that a base has nothing to do with, on bases of 5 to
10,000 passages, and most of the others.
"""


_LARGEST_EXPONENT: Final = 500
"""From here on, 1 more or less makes no difference to the logarithm."""

_Postings: TypeAlias = dict[str, list[tuple[int, float]]]
"""For a term the documents that have it, each with the share of the term's weight that it covers."""


@instant
class LexicalRetriever:
    """Finds the documents that cover most of what a question says.

    What a question says is the weights of its terms, and a document covers a part of each that it has::

        whole   = sum over the question's terms of  q(t) * w(t)
        covered = sum over terms in both of  q(t) * w(t) * f(t) / (f(t) + k1 * (1 - b + b * length / average))

        w(t) = ln(1 + N / (n(t) + 0.5))         a term that n(t) of the N documents have
        w(t) = ln(1 + N / 1.5) + ln(T / T1)     a term that none has

    with f(t) the term's count in text, title and section, lengths in terms, and q(t) its count in the question,
    scaled so that the sum is the number of different terms. That is BM25 (Robertson and Zaragoza, The Probabilistic
    Relevance Framework, 2009) and its upper bound. A term that the base has never seen is evidence that the
    question is about something else: it weighs as much as a term that one document has, and more, the better the
    base knows its vocabulary. That is Good and Turing's estimate of how likely the next word is a new one, T1 / T:
    of T words of the base, T1 occur once (Good, Biometrika 40, 1953).

    Weights are information: a document that has terms by chance is one in e^(their weights), so the best of N
    covers a share of ln N of any question, the more, the more passages there are (Karlin and Altschul, Methods for
    assessing the statistical significance of molecular sequence features, 1990, on the best of many chance matches),
    of the words that the base knows. The score counts what is covered beyond chance, against what is left open::

        chance = min(0.8 * (1 - T1 / T) * ln(1 + N / 3), 0.6 * whole)
        beyond = ln(1 + (e^covered - 1) * e^-chance)
        score  = beyond / (beyond + (whole - covered) / 2)

    It is 0 where nothing is covered, 1 where all is, orders documents as BM25 does, and means the same on a small
    base and a large one. The weights come from the whole base, so a score does not depend on which sources are
    allowed.

    Each document is read in its language, and a question once for each language of the base, so both agree on the
    stem of a word. A document that does not tell its language is in the one that most of the base is in.

    Args:
        documents: the knowledge base; its order breaks ties.

    Raises:
        ConfigurationError: a document lacks a field, has one that is no string, or an id occurs twice.
    """

    documents: tuple[Document, ...]
    """The knowledge base, in its order."""
    sources: tuple[str, ...]
    """The names of its sources, sorted, each once: what a policy may list."""

    def __init__(self, documents: Sequence[Document]) -> None:
        _check(documents)
        self.documents = tuple(documents)
        self.sources = tuple(sorted({document["source"] for document in documents}))
        told = [language_of(document["text"]) for document in documents]
        self._language = _most_common(told)
        languages = [language or self._language for language in told]
        counts = [
            Counter(terms(_searched(document), language))
            for document, language in zip(documents, languages, strict=True)
        ]
        self._unseen_weight, self._chance = _unseen_weight(counts), _chance(counts)
        self._postings = _postings(counts, languages)

    def __repr__(self) -> str:
        return f"LexicalRetriever({len(self.documents)} documents, sources={list(self.sources)})"

    def __call__(self, request: JsonObject) -> list[Candidate]:
        """Find what answers a query.

        Args:
            request: ``{"query": str, "sources": list[str], "top_k": int}``; only these sources are searched.

        Returns:
            At most `top_k` candidates with a score above 0, best first, equal ones in the base's order.
        """
        allowed = frozenset(request["sources"])
        scores = self._scores(request["query"])
        found = [index for index in scores if self.documents[index]["source"] in allowed]
        found.sort(key=lambda index: (-scores[index], index))
        return [_candidate(self.documents[index], scores[index]) for index in found[: request["top_k"]]]

    def _scores(self, query: str) -> dict[int, float]:
        asked = self._asked(query)
        scale = len(asked) / max(asked.total(), 1)
        whole, covered = 0.0, defaultdict[int, float](float)
        for term, times in asked.items():
            found = [
                postings[stem] for postings, stem in zip(self._postings.values(), term, strict=True) if stem in postings
            ]
            weight = times * scale * self._weight(sum(map(len, found)))
            whole += weight
            for index, share in chain.from_iterable(found):
                covered[index] += weight * share
        rarity = math.exp(-min(self._chance, _LARGEST_CHANCE * whole))
        scores = {index: round(_score(weight, whole, rarity), 4) for index, weight in covered.items()}
        return {index: score for index, score in scores.items() if score > 0}

    def _asked(self, query: str) -> Counter[tuple[str, ...]]:
        """Count the terms of a query, each as its stems in the languages of the base."""
        told = language_of(query) or self._language
        # A short question may be told wrongly, and what the base leaves out of its documents can be in none.
        kept = frozenset(content_words(query, self._language))
        words = [word for word in content_words(query, told) if word in kept]
        return Counter(zip(*(stems(words, language) for language in self._postings), strict=True))

    def _weight(self, holders: int) -> float:
        return math.log(1 + len(self.documents) / (holders + 0.5)) if holders else self._unseen_weight


def _check(documents: Sequence[Document]) -> None:
    ids = Counter[str]()
    for position, document in enumerate(documents):
        if not isinstance(document, Mapping):
            raise ConfigurationError(f"document {position} is no dictionary but a {type(document).__name__}")
        for field in sorted(Document.__required_keys__):
            if not isinstance(document.get(field), str):
                raise ConfigurationError(f"document {position}: {field!r} is missing or no string")
        ids[document["id"]] += 1
    name, times = ids.most_common(1)[0] if ids else ("", 0)
    if times > 1:
        raise ConfigurationError(f"{times} documents have the id {name!r}; a citation must name exactly one")


def _searched(document: Document) -> str:
    return "\n".join((document["title"], document["section"], document["text"]))


def _most_common(told: Sequence[str]) -> str:
    counts = Counter(filter(None, told))
    return max(sorted(counts), key=lambda language: counts[language], default=DEFAULT_LANGUAGE)


def _score(covered: float, whole: float, rarity: float) -> float:
    # A question of hundreds of words may cover more than the exponential of a float can hold.
    beyond = math.log1p(math.expm1(min(covered, _LARGEST_EXPONENT)) * rarity) + max(covered - _LARGEST_EXPONENT, 0)
    return beyond / (beyond + _OPEN * (whole - covered))


def _words_and_single_ones(counts: Sequence[Counter[str]]) -> tuple[int, int]:
    """Count the words of a base, and those that occur once; 1 at least, for a base without such words."""
    totals: Counter[str] = Counter()
    for count in counts:
        totals.update(count)
    once = sum(1 for total in totals.values() if total == 1)
    return max(totals.total(), 1), max(once, 1)


def _unseen_weight(counts: Sequence[Counter[str]]) -> float:
    total, once = _words_and_single_ones(counts)
    return math.log(1 + len(counts) / 1.5) + math.log(total / once)


def _chance(counts: Sequence[Counter[str]]) -> float:
    total, once = _words_and_single_ones(counts)
    return _CHANCE * (1 - once / total) * math.log1p(len(counts) / _TRIES)


def _postings(counts: Sequence[Counter[str]], languages: Sequence[str]) -> dict[str, _Postings]:
    average = sum(count.total() for count in counts) / max(len(counts), 1)
    postings: dict[str, _Postings] = {language: defaultdict(list) for language in sorted(set(languages))}
    for index, (count, language) in enumerate(zip(counts, languages, strict=True)):
        damping = _K1 * (1 - _B + _B * count.total() / max(average, 1))
        for term, times in count.items():
            postings[language][term].append((index, times / (times + damping)))
    return postings


def _candidate(document: Document, score: float) -> Candidate:
    return Candidate(
        doc_id=document["id"],
        source=document["source"],
        title=document["title"],
        section=document["section"],
        updated_at=document["updated_at"],
        text=document["text"],
        score=score,
    )

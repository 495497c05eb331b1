"""The default retriever: BM25 over words, as a share of what the question asks for."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from guardgraph.state.errors import ConfigurationError
from guardgraph.state.instant import instant
from guardgraph.state.json import JsonObject
from guardgraph.state.rag import Candidate
from guardgraph.tools.knowledge_base import Document
from guardgraph.tools.terms import terms

__all__ = ["LexicalRetriever"]

_K1 = 1.5
_B = 0.4
"""BM25's saturation and length constants, near their usual 1.2..2 and 0.5..0.8 (Robertson and Zaragoza 2009).

They were set on the questions in tests/data, so that 0.2 parts what a base answers from what it does not.
"""


_Postings: TypeAlias = dict[str, list[tuple[int, float]]]
"""For a term the documents that have it, each with what the term adds to the numerator of its score."""


@instant
class LexicalRetriever:
    """Finds the documents that cover most of what a question says.

    The score of a document is the share of the question's information that the document covers::

        score = sum over terms in both of  w(t) * f(t) / (f(t) + k1 * (1 - b + b * length / average))
                ------------------------------------------------------------------------------------
                sum over the question's terms of  w(t)

        w(t) = ln(1 + N / (n(t) + 0.5))         a term that n(t) of the N documents have
        w(t) = ln(1 + N / 1.5) + ln(T / T1)     a term that none has

    with f(t) the term's count in text, title and section, and lengths in terms. The numerator is BM25
    (Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009), its denominator the upper bound,
    the same for every document: one number gives BM25's order and a relevance that a threshold can judge.

    A term counts once however often the question repeats it. A term that the base has never seen is evidence
    that the question is about something else: it weighs as much as a term that one document has, and more,
    the better the base knows its vocabulary. That is Good and Turing's estimate of how likely the next word
    is a new one, T1 / T: of T words of the base, T1 occur once (Good, Biometrika 40, 1953). The weights come
    from the whole base, so a score does not depend on which sources are allowed.

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
        counts = [Counter(terms(_searched(document))) for document in documents]
        self._weights = _weights(counts)
        self._unseen_weight = _unseen_weight(counts)
        self._postings = _postings(counts, self._weights)

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
        asked = dict.fromkeys(terms(query))
        covered: defaultdict[int, float] = defaultdict(float)
        for term in asked:
            for index, weight in self._postings.get(term, ()):
                covered[index] += weight
        whole = sum(self._weights.get(term, self._unseen_weight) for term in asked)
        scores = {index: round(weight / whole, 4) for index, weight in covered.items()}
        return {index: score for index, score in scores.items() if score > 0}


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


def _weights(counts: Sequence[Counter[str]]) -> dict[str, float]:
    holders = Counter(term for count in counts for term in count)
    return {term: math.log(1 + len(counts) / (held + 0.5)) for term, held in holders.items()}


def _unseen_weight(counts: Sequence[Counter[str]]) -> float:
    totals: Counter[str] = Counter()
    for count in counts:
        totals.update(count)
    once = sum(1 for total in totals.values() if total == 1)
    # A base without words, or without one that occurs once, would divide by zero: 1 is the least that counts.
    return math.log(1 + len(counts) / 1.5) + math.log(max(totals.total(), 1) / max(once, 1))


def _postings(counts: Sequence[Counter[str]], weights: Mapping[str, float]) -> _Postings:
    average = sum(count.total() for count in counts) / max(len(counts), 1)
    postings: _Postings = defaultdict(list)
    for index, count in enumerate(counts):
        damping = _K1 * (1 - _B + _B * count.total() / max(average, 1))
        for term, times in count.items():
            postings[term].append((index, weights[term] * times / (times + damping)))
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

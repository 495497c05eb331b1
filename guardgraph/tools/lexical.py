"""The default retriever: BM25 over words, as a share of what the question asks for."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Final, NamedTuple, TypeAlias, cast

from guardgraph.grounding.words import detect_language, list_content_words
from guardgraph.plain.errors import ConfigurationError, format_given_value
from guardgraph.plain.json import JsonObject
from guardgraph.state.rag import Candidate
from guardgraph.tools import relevance
from guardgraph.tools.knowledge_base import Document
from guardgraph.world.call import mark_as_instant

_ANY_LANGUAGE: Final = ""

_Postings: TypeAlias = dict[str, list[tuple[int, float]]]
"""For a term the documents that have it, each with the share of the term's weight that it covers."""


class _Index(NamedTuple):
    """One reading of the words of a base."""

    postings: dict[str, _Postings]  # by language, in which a reading may differ
    known: relevance.WordCounts


@mark_as_instant
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

    Each word is read three times, as its stem, as it is spelled and as its first four letters, and covers 0.7, 0.1
    and 0.2 of both sums: a document with the very form that was asked for is nearer than one with another form, and
    beginnings join what no stemmer does, `respond` and `response`, or the parts of composed words (McNamee and
    Mayfield, Character n-gram tokenization for European language text retrieval, 2004).

    Weights are information: a document that has terms by chance is one in e^(their weights), so the best of N
    covers a share of ln N of any question, the more, the more passages there are (Karlin and Altschul, Methods for
    assessing the statistical significance of molecular sequence features, 1990, on the best of many chance matches),
    of the words that the base knows, T - T1 of T, and less in short passages, which have a word only once. The score
    counts what is covered beyond chance, against what is left open::

        chance = min(0.53 * (T - T1) / (T + 6 * N) * ln(1 + N), 0.7 * whole)
        beyond = ln(1 + (e^covered - 1) * e^-chance)
        open   = 0.5 + 0.3 * N / (N + 60)
        score  = beyond / (beyond + open * (whole - covered))

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

    documents: tuple[Document, ...]  #: the knowledge base, in its order
    sources: tuple[str, ...]  #: the names of its sources, sorted, each once: what a policy may list
    unmeasured: tuple[str, ...]
    """Where most documents are in languages for which the default `min_chunk_score` was not measured: their codes."""

    def __init__(self, documents: Sequence[Document]) -> None:
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
        self.documents = tuple(documents)
        self.sources = tuple(sorted({document["source"] for document in documents}))
        told = [detect_language(document["text"]) for document in documents]
        self._language = relevance.find_main_language(Counter(told))
        self.unmeasured = relevance.list_unmeasured_languages(Counter(told))
        languages = [language or self._language for language in told]
        counts = [_count_document_words(*pair) for pair in zip(documents, languages, strict=True)]
        everywhere = [_ANY_LANGUAGE] * len(counts)
        spoken = (languages, everywhere, everywhere)
        self._indexes = [_index_documents([count[at] for count in counts], spoken[at]) for at in range(len(spoken))]

    def __repr__(self) -> str:
        return f"LexicalRetriever({len(self.documents)} documents, sources={list(self.sources)})"

    def __call__(self, request: JsonObject) -> list[Candidate]:
        """Find what answers a query."""
        query, allowed, top_k = SearchRequest.of(request)
        whole, covered = self._measure_coverage(query)
        found = [at for at, weight in enumerate(covered) if weight > 0 and self.documents[at]["source"] in allowed]
        ranked = relevance.rank_relevant_passages([covered[at] for at in found], whole, self._indexes[0].known, top_k)
        hits = ((self.documents[found[place]], score) for place, score in ranked)
        return [_make_lexical_candidate(document, score, self.unmeasured) for document, score in hits]

    def _measure_coverage(self, query: str) -> tuple[float, list[float]]:
        """Return what a query says, and how much of it each document covers."""
        whole, covered = 0.0, [0.0] * len(self.documents)
        if not covered:
            return whole, covered
        asked = relevance.find_asked_terms(query, self._language, tuple(self._indexes[0].postings))
        for reading, term, times in relevance.weigh_asked_terms(asked):
            postings, known = self._indexes[reading]
            found = [held[form] for held, form in zip(postings.values(), term, strict=True) if form in held]
            weight = known.weight(times, sum(map(len, found)))
            whole += weight
            for document, of_term in chain.from_iterable(found):
                covered[document] += weight * of_term
        return whole, covered


def _count_document_words(document: Document, language: str) -> tuple[Counter[str], ...]:
    text = relevance.join_searched_text(document["title"], document["section"], document["text"])
    return tuple(map(Counter, relevance.read_words_three_ways(list_content_words(text, language), language)))


def _index_documents(counts: Sequence[Counter[str]], languages: Sequence[str]) -> _Index:
    totals: Counter[str] = Counter()
    for count in counts:
        totals.update(count)
    once = sum(1 for total in totals.values() if total == 1)
    known = relevance.WordCounts(len(counts), totals.total(), once)
    postings: dict[str, _Postings] = {language: defaultdict(list) for language in sorted(set(languages))}
    for index, (count, language) in enumerate(zip(counts, languages, strict=True)):
        damped = relevance.measure_length_damping(count.total(), known.average)
        for term, times in count.items():
            postings[language][term].append((index, relevance.measure_term_share(times, damped)))
    return _Index(postings, known)


def _make_lexical_candidate(document: Document, score: float, unmeasured: Sequence[str]) -> Candidate:
    told = ("source", "title", "section", "updated_at", "text", "span")
    said = {key: document[key] for key in told if key in document}  # type: ignore[literal-required]
    more = {"unmeasured": list(unmeasured)} if unmeasured else {}
    return cast(Candidate, {"doc_id": document["id"], "score": score, **said, **more})


class SearchRequest(NamedTuple):
    """A request as it was read."""

    query: str
    sources: frozenset[str]
    top_k: int

    @classmethod
    def of(cls, request: object) -> SearchRequest:
        """Read a request."""
        if not isinstance(request, Mapping):
            raise ConfigurationError(f"request: a dictionary is required; given: {format_given_value(request)}")
        if missing := [name for name in cls._fields if name not in request]:
            raise ConfigurationError(f"request: {missing[0]} is missing; query, sources and top_k are required")
        query, sources, top_k = (request[name] for name in cls._fields)
        if not isinstance(query, str):
            raise _refuse_search_field("query", "a text", query)
        if not isinstance(sources, list | tuple | set | frozenset) or not {*map(type, sources)} <= {str}:
            raise _refuse_search_field("sources", "a list of texts", sources)
        if isinstance(top_k, bool) or not isinstance(top_k, int) or top_k < 1:
            raise _refuse_search_field("top_k", "a whole number from 1 on", top_k)
        return cls(query, frozenset(sources), top_k)


def _refuse_search_field(field: str, allowed: str, given: object) -> ConfigurationError:
    return ConfigurationError(f"request: {field}: {allowed} is required; given: {format_given_value(given)}")

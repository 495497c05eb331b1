"""Does the default retriever find the right text, and does it notice that nothing in the base answers a question?

Both are measured on the Cranfield collection, a file with docs {id: text}, queries {id: text} and qrels {query id: {doc
id: grade}}. nDCG at 10 has gains 2^grade - 1 and discounts log2(rank + 1), and is the mean over all queries (Järvelin
and Kekäläinen 2002; Burges 2005).
"""

from __future__ import annotations

import json
import math
import random
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from langchain_core.embeddings import Embeddings
from measure import Figure
from sections import Meaning, Section, run_alone

from guardgraph import Document, KnowledgeBase, LexicalRetriever
from guardgraph.grounding.words import read_terms
from guardgraph.knowledge.vectors import make_embedding_text
from guardgraph.state.rag import RagBudget

CUTOFF = 10

OFF_TOPIC = Path(__file__).parent.parent / "tests" / "data" / "off_topic_questions.txt"
ABSTRACTS, PASSAGES = (5, 240, 1_400), (3_000, 10_000)
SHORTEST = 40
"""Characters of a sentence that is a passage."""

Search = Callable[[str], list[str]]
Abstracts = dict[str, str]


class LsaEmbedding(Embeddings):
    """An embedding that needs no model: latent semantic analysis of the very texts that are searched.

    Documents are weighed by log-entropy's simpler kin, (1 + ln f) * idf, and projected on the largest singular vectors
    (Deerwester, Dumais, Furnas, Landauer and Harshman, Indexing by Latent Semantic Analysis, 1990). It is
    deterministic: the same texts give the same vectors.

    Args:
        texts: of the base.
        dimensions: of a vector.
    """

    def __init__(self, texts: Sequence[str], dimensions: int = 100) -> None:
        self.model = f"lsa-{dimensions}"
        counts = [Counter(read_terms(text)) for text in texts]
        holders = Counter(term for count in counts for term in count)
        self._place = {term: place for place, term in enumerate(sorted(holders))}
        self._idf = np.array([math.log(len(texts) / holders[term]) + 1 for term in sorted(holders)])
        matrix = np.stack([self._weigh(count) for count in counts])
        _, directions = np.linalg.eigh(matrix @ matrix.T)
        left = directions[:, ::-1][:, :dimensions]
        self._axes = matrix.T @ left
        self._axes /= np.linalg.norm(self._axes, axis=0)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return [float(number) for number in self._weigh(Counter(read_terms(text))) @ self._axes]

    def _weigh(self, count: Counter[str]) -> np.ndarray:
        row = np.zeros(len(self._place))
        for term, times in count.items():
            if (place := self._place.get(term)) is not None:
                row[place] = 1 + math.log(times)
        row *= self._idf
        return row / (np.linalg.norm(row) or 1)


def measure_ranking(path: Path) -> Iterator[Figure]:
    """Yield the nDCG of the default retriever, of plain BM25 and of words with vectors, and what the first costs."""
    collection = json.loads(path.read_text(encoding="utf-8"))
    docs, queries, qrels = collection["docs"], collection["queries"], collection["qrels"]
    start = time.perf_counter()
    search = search_with_retriever(docs)
    built = time.perf_counter()
    quality = measure_ndcg(search, queries, qrels)
    asked = time.perf_counter()
    yield "ndcg_at_10", quality
    yield "bm25_ndcg_at_10", measure_ndcg(search_with_bm25(docs), queries, qrels)
    with TemporaryDirectory() as folder:
        yield "hybrid_ndcg_at_10", measure_ndcg(search_with_vectors(docs, Path(folder)), queries, qrels)
    yield "index_seconds", built - start
    yield "query_milliseconds", (asked - built) / len(queries) * 1000


def make_document(name: str, text: str) -> Document:
    return Document(id=name, source="base", title="", section="", updated_at="", text=text)


def search_with_retriever(docs: Abstracts) -> Search:
    retrieve = LexicalRetriever(list(map(make_document, docs, docs.values())))

    def search(query: str) -> list[str]:
        request = {"query": query, "sources": ["base"], "top_k": CUTOFF}
        return [candidate["doc_id"] for candidate in retrieve(request)]

    return search


def search_with_vectors(docs: Abstracts, folder: Path) -> Search:
    """Return the search of a knowledge base that orders by words and by vectors, fitted on these very texts."""
    embedding = LsaEmbedding([make_embedding_text("", "", text) for text in docs.values()])
    base = KnowledgeBase(folder / "kb.sqlite", embedding=embedding)
    base.add(list(map(make_document, docs, docs.values())), readers=["public"])
    return lambda query: [candidate["doc_id"] for candidate in base.search(query, top_k=CUTOFF)]


def search_with_bm25(docs: Abstracts, k1: float = 1.2, b: float = 0.75) -> Search:
    """Return the search by BM25 as Lucene defines it, with its default constants, over the same terms."""
    counts = {name: Counter(read_terms(text)) for name, text in docs.items()}
    average = sum(count.total() for count in counts.values()) / len(counts)
    holders: defaultdict[str, list[str]] = defaultdict(list)
    for name, count in counts.items():
        for term in count:
            holders[term].append(name)

    def search(query: str) -> list[str]:
        scores: Counter[str] = Counter()
        for term in read_terms(query):
            held = holders.get(term, [])
            idf = math.log(1 + (len(docs) - len(held) + 0.5) / (len(held) + 0.5))
            for name in held:
                times, length = counts[name][term], counts[name].total()
                scores[name] += idf * times / (times + k1 * (1 - b + b * length / average))
        return [name for name, _ in scores.most_common(CUTOFF)]

    return search


def measure_ndcg(search: Search, queries: dict[str, str], qrels: dict[str, dict[str, int]]) -> float:
    values = []
    for name, query in queries.items():
        judged = qrels[name]
        best = _gain(sorted(judged.values(), reverse=True))
        values.append(_gain([judged.get(doc, 0) for doc in search(query)]) / best if best else 0.0)
    return sum(values) / len(values)


def _gain(grades: list[int]) -> float:
    return sum((2**grade - 1) / math.log2(rank + 1) for rank, grade in enumerate(grades[:CUTOFF], start=1))


def measure_relevance(path: Path) -> Iterator[Figure]:
    """Yield how many questions pass the default threshold, unrelated and related ones, by the size of the base.

    Related questions are Cranfield's that have a judged abstract in the base.
    """
    collection = json.loads(path.read_text(encoding="utf-8"))
    unrelated = [line for line in OFF_TOPIC.read_text(encoding="utf-8").splitlines() if line and line[0] != "#"]
    shares = []
    for size, names, passages in list_bases(collection["docs"]):
        judged = collection["qrels"]
        related = [query for name, query in collection["queries"].items() if set(names) & set(judged[name])]
        yield f"unrelated_passing_pct_{size}", count_passing(passages, unrelated)
        if related:
            shares.append(count_passing(passages, related))
            yield f"related_passing_pct_{size}", shares[-1]
    yield "related_passing_pct", sum(shares) / max(len(shares), 1)


def list_bases(abstracts: Abstracts) -> Iterator[tuple[int, list[str], list[str]]]:
    """Yield size, names of the abstracts and passages of each base: abstracts, the large ones with single sentences."""
    for size in ABSTRACTS:
        names = _sample(list(abstracts), size)
        yield size, names, [abstracts[name] for name in names]
    found = (sentence for text in abstracts.values() for sentence in re.split(r"\s\.\s", text))
    sentences = list(dict.fromkeys(sentence for sentence in found if len(sentence) >= SHORTEST))
    for size in PASSAGES:
        yield size, list(abstracts), [*abstracts.values(), *_sample(sentences, size - len(abstracts))]


def _sample(passages: Sequence[str], size: int) -> list[str]:
    """Draw passages, the same ones every time, so that figures can be compared."""
    return random.Random(size).sample(list(passages), max(min(size, len(passages)), 0))


def count_passing(passages: Sequence[str], questions: Sequence[str]) -> float:
    """Return the per cent of questions for which a passage reaches the default threshold."""
    retrieve = LexicalRetriever([make_document(str(at), text) for at, text in enumerate(passages)])
    least = RagBudget().min_chunk_score
    found = (retrieve({"query": question, "sources": ["base"], "top_k": 1}) for question in questions)
    return 100 * sum(bool(best) and best[0]["score"] >= least for best in found) / len(questions)


SECTIONS = (
    Section(
        "cranfield",
        "The retriever on the Cranfield collection",
        "How well the default retriever ranks abstracts for questions, beside plain BM25 over the same terms.",
        (
            Meaning("ndcg_at_10", "nDCG of the first ten, the mean over the questions.", at_least=0.366),
            Meaning("bm25_ndcg_at_10", "The same for plain BM25."),
            Meaning(
                "hybrid_ndcg_at_10",
                "The same for a knowledge base with vectors of latent semantic analysis of the abstracts.",
                at_least=0.385,
            ),
            Meaning("index_seconds", "Seconds for indexing the collection."),
            Meaning("query_milliseconds", "Milliseconds for one question."),
        ),
        data="cranfield",
        figures=measure_ranking,
    ),
    Section(
        "relevance",
        "One threshold on bases of every size",
        "How many questions pass the default threshold: Cranfield's on abstracts, and with sentences among them, and "
        "questions that have nothing to do with them.",
        (
            Meaning("unrelated_passing_pct_*", "Per cent of unrelated questions, by passages.", at_most=2),
            Meaning("related_passing_pct_*", "Per cent of questions with a judged abstract, by passages."),
            Meaning("related_passing_pct", "The mean of these.", at_least=80),
        ),
        data="cranfield",
        figures=measure_relevance,
    ),
)

if __name__ == "__main__":
    run_alone(SECTIONS)

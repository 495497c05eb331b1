"""Ranking quality of the default retriever on the Cranfield collection, beside plain BM25 and words with vectors.

    python benchmarks/cranfield.py cranfield.json

The file holds docs {id: text}, queries {id: text} and qrels {query id: {doc id: grade}}. The measure is nDCG
at 10 with gains 2^grade - 1 and discounts log2(rank + 1), the mean over all queries (Järvelin and Kekäläinen
2002; Burges 2005). Prints `name value` lines; ends with code 1 when the ranking is worse than BM25's or below
0.33.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from lsa import LsaEmbedding

from guardgraph import KnowledgeBase
from guardgraph.knowledge.vectors import make_embedding_text
from guardgraph.languages.terms import read_terms
from guardgraph.tools.knowledge_base import Document
from guardgraph.tools.lexical import LexicalRetriever

CUTOFF = 10
FLOOR = 0.33

Search = Callable[[str], list[str]]


def _document(name: str, text: str) -> Document:
    return Document(id=name, source="cranfield", title="", section="", updated_at="", text=text)


def retriever(docs: dict[str, str]) -> Search:
    retrieve = LexicalRetriever(list(map(_document, docs, docs.values())))

    def search(query: str) -> list[str]:
        request = {"query": query, "sources": ["cranfield"], "top_k": CUTOFF}
        return [candidate["doc_id"] for candidate in retrieve(request)]

    return search


def hybrid(docs: dict[str, str], folder: Path) -> Search:
    """Return the search of a knowledge base that orders by words and by vectors, fitted on these very texts."""
    names = list(docs)
    embedding = LsaEmbedding([make_embedding_text("", "", text) for text in docs.values()])
    base = KnowledgeBase(folder / "kb.sqlite", embedding=embedding)
    base.add(list(map(_document, names, docs.values())), readers=["public"])

    def search(query: str) -> list[str]:
        return [candidate["doc_id"] for candidate in base.search(query, top_k=CUTOFF)]

    return search


def plain_bm25(docs: dict[str, str], k1: float = 1.2, b: float = 0.75) -> Search:
    """The floor: BM25 as Lucene defines it, with its default constants, over the same terms."""
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


def gain(grades: list[int]) -> float:
    return sum((2**grade - 1) / math.log2(rank + 1) for rank, grade in enumerate(grades[:CUTOFF], start=1))


def ndcg(search: Search, queries: dict[str, str], qrels: dict[str, dict[str, int]]) -> float:
    values = []
    for name, query in queries.items():
        judged = qrels[name]
        best = gain(sorted(judged.values(), reverse=True))
        values.append(gain([judged.get(doc, 0) for doc in search(query)]) / best if best else 0.0)
    return sum(values) / len(values)


def main(path: str) -> int:
    collection = json.loads(Path(path).read_text(encoding="utf-8"))
    docs, queries, qrels = collection["docs"], collection["queries"], collection["qrels"]
    start = time.perf_counter()
    search = retriever(docs)
    built = time.perf_counter()
    quality = ndcg(search, queries, qrels)
    asked = time.perf_counter()
    floor = ndcg(plain_bm25(docs), queries, qrels)
    print(f"ndcg_at_10 {quality:.4f}")
    print(f"bm25_ndcg_at_10 {floor:.4f}")
    with TemporaryDirectory() as folder:
        print(f"hybrid_ndcg_at_10 {ndcg(hybrid(docs, Path(folder)), queries, qrels):.4f}")
    print(f"index_seconds {built - start:.2f}")
    print(f"query_milliseconds {(asked - built) / len(queries) * 1000:.2f}")
    return 0 if quality >= max(floor, FLOOR) else 1


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python benchmarks/cranfield.py PATH_OF_CRANFIELD_JSON")
    sys.exit(main(sys.argv[1]))

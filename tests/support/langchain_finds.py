"""Things of LangChain's that find documents: an embedding, stores, retrievers and tools without a network."""

import math
import re
from hashlib import blake2b
from typing import Any

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import InMemoryVectorStore

SIZE = 512
ROWS = [
    ("hotels", "travel", "Hotels are booked at most 30 days ahead."),
    ("trains", "travel", "Trains are booked in second class."),
    ("salaries", "pay", "Salaries are paid on the 25th of each month."),
    ("expenses", "pay", "Hotels and trains are paid back within 14 days."),
    ("badges", "office", "Visitors wear a badge."),
]
QUESTION = {"question": "How many days ahead are hotels booked?"}
SOURCES = ["office", "pay", "travel"]


class WordEmbedding(Embeddings):
    """Hashes each word to one place of a vector: texts are near as far as they share words."""

    def embed_query(self, text: str) -> list[float]:
        vector = [0.0] * SIZE
        for word in re.findall(r"[a-z0-9]+", text.lower()):
            vector[int.from_bytes(blake2b(word.encode(), digest_size=4).digest()) % SIZE] += 1.0
        length = math.sqrt(sum(part * part for part in vector)) or 1.0
        return [part / length for part in vector]

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]


def documents(rows=ROWS, **more: Any) -> list[Document]:
    return [Document(text, metadata={"id": name, "source": source, **more}) for name, source, text in rows]


def store(rows=ROWS, embedding: Embeddings | None = None, **more: Any) -> InMemoryVectorStore:
    return InMemoryVectorStore.from_documents(documents(rows, **more), embedding or WordEmbedding())


class ScoredStore(InMemoryVectorStore):
    """A store that tells relevance itself: the scores it is given, in the order of its documents."""

    scores: list[Any]
    asked: list[int]

    def similarity_search_with_relevance_scores(self, query, k=4, **kwargs):
        self.asked.append(k)
        found = [Document(item["text"], metadata=item["metadata"]) for item in self.store.values()]
        return list(zip(found, self.scores, strict=False))[:k]

    async def asimilarity_search_with_relevance_scores(self, query, k=4, **kwargs):
        return self.similarity_search_with_relevance_scores(query, k, **kwargs)


def scored_store(*scores: Any, rows=ROWS) -> ScoredStore:
    """Return a store that gives its first documents these scores."""
    made = ScoredStore(WordEmbedding())
    made.add_documents(documents(rows))
    made.scores, made.asked = list(scores), []
    return made


class ListRetriever(BaseRetriever):
    """Finds the documents that it was made of, whatever it is asked."""

    found: list[Document]

    def _get_relevant_documents(self, query, *, run_manager):
        return self.found

"""A test embedding that needs no model: latent semantic analysis of the very texts that are searched.

Documents are weighed by log-entropy's simpler kin, (1 + ln f) * idf, and projected on the largest singular vectors
(Deerwester, Dumais, Furnas, Landauer and Harshman, Indexing by Latent Semantic Analysis, 1990). It is deterministic:
the same texts give the same vectors.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
from langchain_core.embeddings import Embeddings

from guardgraph.languages.terms import read_terms


class LsaEmbedding(Embeddings):
    """Fitted on the texts of a base.

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
        matrix = np.stack([self._weighed(count) for count in counts])
        _, directions = np.linalg.eigh(matrix @ matrix.T)
        left = directions[:, ::-1][:, :dimensions]
        self._axes = matrix.T @ left
        self._axes /= np.linalg.norm(self._axes, axis=0)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return [float(number) for number in self._weighed(Counter(read_terms(text))) @ self._axes]

    def _weighed(self, count: Counter[str]) -> np.ndarray:
        row = np.zeros(len(self._place))
        for term, times in count.items():
            if (place := self._place.get(term)) is not None:
                row[place] = 1 + math.log(times)
        row *= self._idf
        return row / (np.linalg.norm(row) or 1)

"""Fusion: one order of two, that of the words and that of the vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from guardgraph.knowledge.index.nearness import Near
from guardgraph.knowledge.index.ranking import Ranked

POOL: Final = 100
"""Chunks of each order that count."""

_SMOOTHING: Final = 60
"""By how much a rank is raised before its reciprocal is taken (Cormack, Clarke and Büttcher, Reciprocal Rank Fusion
outperforms Condorcet and individual Rank Learning Methods, 2009)."""


def fused(
    words: Sequence[Ranked], near: Sequence[Near], *, top_k: int, min_similarity: float | None = None
) -> list[Ranked]:
    """Return chunks in the order of the sum of their reciprocal ranks, best first.

    The score of each is that of its words: how near its vector is says nothing of relevance. So vectors order anew what
    words found and find nothing alone; with `min_similarity` they do, and the score of what they found is the cosine.

    Args:
        words: by words, best first.
        near: by vectors, best first.
        top_k: how many at most.
        min_similarity: the cosine from which on a vector finds a chunk that no word does; None for never.
    """
    scores = {hit.chunk: hit.score for hit in words}
    if min_similarity is not None:
        scores = {hit.chunk: hit.similarity for hit in near if hit.similarity >= max(min_similarity, 0.0)} | scores
    by_words = {hit.chunk: rank for rank, hit in enumerate(words, 1)}
    by_vectors = {hit.chunk: rank for rank, hit in enumerate(near, 1)}

    def worth(chunk: int) -> float:
        ranks = (order[chunk] for order in (by_words, by_vectors) if chunk in order)
        return sum(1 / (_SMOOTHING + rank) for rank in ranks)

    # Of two that are worth the same, the one that words put first stands first.
    chunks = sorted(scores, key=lambda chunk: (-worth(chunk), by_words.get(chunk, POOL + by_vectors.get(chunk, 0))))
    return [Ranked(chunk, scores[chunk]) for chunk in chunks if scores[chunk] > 0][:top_k]

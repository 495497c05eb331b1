"""Scores that mean relevance, and how a vector store's become one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from numbers import Real
from typing import TYPE_CHECKING, Any

from guardgraph.plain.conversion import Unreturnable
from guardgraph.plain.errors import ConfigurationError
from guardgraph.tools.langchain.asking import AsksStore
from guardgraph.tools.langchain.documents import is_langchain

if TYPE_CHECKING:
    from langchain_core.vectorstores import VectorStore

__all__ = ["RELEVANCE", "WAY_OUT", "asks_for_relevance", "check_ranks", "relevance_of", "shown_score"]

RELEVANCE = "a relevance, which is a number from 0 to 1, 1 the most"
"""What a score has to be, in the words of a refusal."""

WAY_OUT = "LangChainRetriever(store, relevance=...) makes one of a store's own score"
"""What to do about a store whose scores are something else."""

ROUNDING = 1e-4
"""How far beyond 0 and 1 a relevance may be: cosines of 32-bit vectors with a thousand numbers are off by less."""

SURE_RISE = 3
"""From so many scores on, each higher than the one before, they are taken for distances: a reranker that leaves the
scores as they were gives two documents in that order every second time."""

_SCORED = "similarity_search_with_score"
_RELEVANT = "similarity_search_with_relevance_scores"
_ITS_OWN = (_RELEVANT, f"_{_RELEVANT}", "_select_relevance_score_fn")
"""What a class of stores overrides, one of them, to tell relevance."""


def asks_for_relevance(
    slot: str, store: VectorStore, relevance: Callable[[float], float] | None
) -> tuple[AsksStore, Callable[[Any], float] | None]:
    """Return who asks a store for scores, and what makes a relevance of one; None where the store does it.

    Raises:
        ConfigurationError: neither is there a function nor does the store tell relevance.
    """
    if relevance is None and not _tells_relevance(store) and is_langchain(store, "vectorstores", "InMemoryVectorStore"):
        relevance = _of_cosine
    if relevance is not None:
        return AsksStore(store, _SCORED), relevance
    if not _tells_relevance(store):
        allowed = "LangChainRetriever(store, relevance=...), which makes a relevance from 0 to 1 of a score,"
        given = f"{type(store).__name__}, which has no {_RELEVANT}"
        raise ConfigurationError(f"{slot}: {allowed} is required; given: {given}")
    return AsksStore(store, _RELEVANT), None


def _tells_relevance(store: VectorStore) -> bool:
    from langchain_core.vectorstores import VectorStore

    return any(getattr(type(store), name, None) is not getattr(VectorStore, name, None) for name in _ITS_OWN)


def _of_cosine(similarity: float) -> float:
    """Make a relevance of a cosine: vectors that lead apart have nothing to do with each other."""
    return max(similarity, 0.0)


def relevance_of(given: object) -> float | None:
    """Return a score as a relevance, None where it is none."""
    if isinstance(given, bool) or not isinstance(given, Real):
        return None
    score = float(given)
    if not math.isfinite(score) or not -ROUNDING <= score <= 1 + ROUNDING:
        return None
    return min(max(score, 0.0), 1.0)


def shown_score(given: object) -> str:
    """Return a score as a message shows it."""
    if isinstance(given, Real) and not isinstance(given, bool):
        return f"{float(given):.4g}"
    return f"{given!r:.80}"


def check_ranks(scores: Sequence[float], *, is_sorted: bool) -> None:
    """Refuse scores that rise from the best document on.

    Args:
        scores: of the documents, best first.
        is_sorted: whether the order is that of the scores, as it is for a vector store; it may be a reranker's, which
            left the scores as they were.

    Raises:
        Unreturnable: one is higher than the one before; where the order may be another's, all of `SURE_RISE` or more.
    """
    rises = [after > before + ROUNDING for before, after in pairwise(scores)]
    if any(rises) if is_sorted else len(scores) >= SURE_RISE and all(rises):
        given = "scores that rise from the best document on, as distances do: " + ", ".join(
            f"{at:.3g}" for at in scores
        )
        raise Unreturnable(f"{given:.200}", place=("found", "score"), allowed=f"{RELEVANCE}, best first; {WAY_OUT}")

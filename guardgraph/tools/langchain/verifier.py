"""A cross-encoder of LangChain's as a verifier: it scores how far an evidence bears out a claim."""

from __future__ import annotations

import math
from numbers import Real
from typing import TYPE_CHECKING, Any, TypeGuard

from langchain_core.runnables import Runnable, RunnableConfig

from guardgraph.plain.conversion import Unreturnable
from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.json import JsonObject

if TYPE_CHECKING:
    from langchain_core.cross_encoders import BaseCrossEncoder


def is_cross_encoder(given: object) -> TypeGuard[BaseCrossEncoder]:
    """Say whether something is a cross-encoder; LangChain's packages have more than one class of that name."""
    bases = {f"{base.__module__.partition('.')[0]}.{base.__name__}" for base in type(given).__mro__}
    return any(name.startswith("langchain") and name.endswith(".BaseCrossEncoder") for name in bases)


class LangChainVerifier(Runnable[JsonObject, JsonObject]):
    """Judges claims by a cross-encoder; the factories' `verifier=` makes one of what it is given.

    The encoder has to be trained for what follows from a text (natural language inference, factual consistency), and
    is given pairs of evidence and claim. One that was trained for relevance says how near they are, not what follows.

    Args:
        encoder: the cross-encoder, all of whose pairs are scored in one call.
        min_score: the score from which on a claim is supported.

    Raises:
        ConfigurationError: it is no cross-encoder of LangChain's, or the score no number.
    """

    asks_model = False  # that writes, and so uses up tokens

    def __init__(self, encoder: BaseCrossEncoder, *, min_score: float = 0.5) -> None:
        if not is_cross_encoder(encoder):
            raise ConfigurationError(f"encoder: a BaseCrossEncoder of LangChain's; given: {type(encoder).__name__}")
        if not isinstance(min_score, int | float) or isinstance(min_score, bool) or not math.isfinite(min_score):
            raise ConfigurationError(f"min_score: a number is required; given: {min_score!r:.80}")
        self.name = type(encoder).__name__
        self._encoder = encoder
        self._min_score = min_score

    def __repr__(self) -> str:
        return f"LangChainVerifier({self.name})"

    def invoke(self, input: JsonObject, config: RunnableConfig | None = None, **kwargs: Any) -> JsonObject:
        """Judge claims.

        Args:
            input: ``{"claims": [{number, claim, evidence}]}``.
            config: not used.
            kwargs: not used.

        Returns:
            ``{"claims": [{number, supported}]}``.

        Raises:
            Unreturnable: the scores are not as many numbers as there are claims.
        """
        claims = input["claims"]
        scores = self._encoder.score([(item["evidence"], item["claim"]) for item in claims])
        given = [scores[at] for at in range(len(scores))] if hasattr(scores, "__len__") else []
        if len(given) != len(claims) or not all(isinstance(item, Real) and not math.isnan(item) for item in given):
            raise Unreturnable(f"{scores!r:.80}", allowed=f"{len(claims)} scores, one number for each claim")
        supported = [bool(score >= self._min_score) for score in given]
        return {"claims": [{"number": at, "supported": is_so} for at, is_so in enumerate(supported, 1)]}

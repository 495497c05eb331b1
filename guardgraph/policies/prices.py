"""Prices of models, read once from a library that is kept up to date, for the table of a budget."""

# What a run costs is computed from that table alone: it stands in the settings and in every recording, so a library
# that changes its numbers changes no decision.

from __future__ import annotations

from typing import Any

from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.extras import explain_extra
from guardgraph.state.spending import PRICED_TOKENS, Price

_SIZES = (1_000, PRICED_TOKENS)
"""Tokens of the requests that are priced: of some models, long requests cost more for each token."""


def library_prices(*models: str) -> dict[str, Price]:
    """Return what models cost, in US dollars for a million tokens, as genai-prices (Pydantic's) has it.

    Of a model whose long requests cost more, the higher price counts.

    Args:
        models: as history names them, such as ``"gpt-4.1-mini"``; of ``"PROVIDER:NAME"`` the price stands under NAME.

    Returns:
        A table for a budget: ``RagBudget(prices=library_prices("gpt-4.1-mini"))``.

    Raises:
        ConfigurationError: the library does not know a model, or the extra ``prices`` is not installed.
    """
    if wrong := [model for model in models if not isinstance(model, str)]:
        raise ConfigurationError(f"prices: names of models are required; given: {wrong[0]!r:.80}")
    return {model.rpartition(":")[2]: _look_up_price(model) for model in models}


def _look_up_price(model: str) -> Price:
    try:
        from genai_prices import Usage, calc_price
    except ImportError as error:
        raise ConfigurationError(f"prices: {explain_extra('prices')} ({error})") from error
    provider, _, name = model.rpartition(":")

    def price(**tokens: int) -> float:
        [size] = tokens.values()
        usage: Any = Usage(**tokens)
        total = calc_price(usage, model_ref=name, provider_id=provider or None).total_price
        return float(total * PRICED_TOKENS / size)

    try:
        return Price(
            input=max(price(input_tokens=size) for size in _SIZES),
            output=max(price(output_tokens=size) for size in _SIZES),
        )
    except LookupError as error:
        raise ConfigurationError(f"prices: a model that genai-prices knows is required; {error}"[:300]) from None

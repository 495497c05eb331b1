"""Whether a sentence has what a question wants: a duration, a time, a name, a number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guardgraph.nodes.offline.questions import Wanted

if TYPE_CHECKING:
    from guardgraph.guards.facts.values import Number

__all__ = ["fit"]

_LASTS = frozenset({"time", "calendar"})
"""Dimensions of durations: of seconds, and of months, whose length differs."""
_TIMES = frozenset({"date", "clock", "weekday", "decade"})


def fit(text: str, kind: Wanted, question: str) -> int:
    """Say how well a sentence fits a question, by what it says and the question does not.

    Args:
        text: the sentence.
        kind: what the question wants.
        question: the question.

    Returns:
        2 for a sentence that has what is wanted, 1 for one with a number of another kind, else 0. A duration tells
        when ("within 14 days"), and a time how long something lasts.
    """
    if kind == "name":
        return 2 if _names(text, question) else 0
    new = _numbers(text) - _numbers(question) if kind else frozenset()
    if not new:
        return 0
    return 2 if kind == "number" or any(map(_tells_time, new)) else 1


def _numbers(text: str) -> frozenset[Number]:
    from guardgraph.guards.facts import facts_in_text  # the largest part of an import

    return facts_in_text(text).numbers


def _names(text: str, question: str) -> list[str]:
    from guardgraph.guards.names import unsupported_names  # reads tables of languages

    return unsupported_names(text, cited=[question])


def _tells_time(number: Number) -> bool:
    from guardgraph.guards.facts.values import Quantity

    return any(
        reading.unit.dimension in _LASTS if isinstance(reading, Quantity) else getattr(reading, "kind", "") in _TIMES
        for reading in number.readings
    )

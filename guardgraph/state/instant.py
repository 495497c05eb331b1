"""Who answers at once: our own rules, recordings and retriever, which wait for nobody and so need no deadline.

They are called where the run is, without a thread. Whatever is not ours may hang, and is never taken for one of them.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any, TypeVar

__all__ = ["instant", "is_instant"]

_MARK = "__guardgraph_instant__"
_Ours = TypeVar("_Ours")


def instant(ours: _Ours) -> _Ours:
    """Mark a function or a class of ours whose calls answer at once.

    The mark names what it was made for: a wrapper that takes over a function's attributes and a subclass have none.
    """
    setattr(ours, _MARK, ours.__code__ if isinstance(ours, FunctionType) else ours)
    return ours


def is_instant(target: Any) -> bool:
    """Say whether a call of a target answers at once."""
    if isinstance(target, FunctionType):
        return target.__dict__.get(_MARK) is target.__code__
    return type(target).__dict__.get(_MARK) is type(target)

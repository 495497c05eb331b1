"""Rewrites of sentences by class: what keeps the meaning, and what changes it."""

from rewrites import amounts, clocks, dates, languages, marks, measures, money, numbers, separators
from rewrites.kinds import Kind, Rewrite

__all__ = ["KINDS", "Kind", "Rewrite"]

_ENGLISH = (numbers, amounts, dates, clocks, measures, money, marks)

KINDS = tuple(kind for module in (*_ENGLISH, languages, separators) for kind in module.KINDS)
"""Every class, of English first."""

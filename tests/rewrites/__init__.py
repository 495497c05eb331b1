"""Rewrites of sentences by class: what keeps the meaning, and what changes it."""

from rewrites import languages, marks, measures, numbers, times
from rewrites.kinds import Kind, Rewrite

__all__ = ["KINDS", "Kind", "Rewrite"]

KINDS = (*numbers.KINDS, *times.KINDS, *measures.KINDS, *marks.KINDS, *languages.KINDS)
"""Every class, of English first."""

"""The catalogues of the three patterns, by pattern."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from guardgraph.state.catalogue import Catalogue
from guardgraph.state.rag import RAG_REASONS
from guardgraph.state.research import RESEARCH_REASONS
from guardgraph.state.self_critique import SELF_CRITIQUE_REASONS

__all__ = ["CATALOGUES"]

CATALOGUES: Mapping[str, Catalogue] = MappingProxyType(
    {item.pattern: item for item in (RAG_REASONS, RESEARCH_REASONS, SELF_CRITIQUE_REASONS)}
)
"""Every reason why a run of ours can stop."""

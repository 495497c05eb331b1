"""The three agents as a good engineer writes them by hand in plain LangGraph: what ours are held against."""

from __future__ import annotations

from by_hand_agents.rag import rag_by_hand
from by_hand_agents.research import research_by_hand
from by_hand_agents.self_critique import self_critique_by_hand

__all__ = ["BY_HAND"]

BY_HAND = {"rag": rag_by_hand, "research": research_by_hand, "self_critique": self_critique_by_hand}
"""By pattern: what makes its agent, of a policy, a budget, proposers and tools."""

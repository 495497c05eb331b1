"""The limits that our prompts tell a model: every default budget's."""

from guardgraph import RagBudget, ResearchBudget, SelfCritiqueBudget

LIMITS = {**dict(RagBudget()), **dict(ResearchBudget()), **dict(SelfCritiqueBudget())}

"""The patterns and their good endings, as a person reads them."""

from __future__ import annotations

__all__ = ["OUTCOMES", "TITLES"]

TITLES = {"rag": "RAG", "research": "Research", "self_critique": "Self-critique"}
"""The patterns as a person reads them."""

OUTCOMES = {
    "grounded_answer": "every citation and every number was held against the context",
    "clarify": "nothing relevant was found, so no answer was written",
    "grounded_research_answer": "every note was held against its page, every fact against the notes",
    "approved_direct": "the critic approved the draft as it was",
    "revised_once": "the draft was revised within bounds, and the change audited",
}
"""What the business result of an ok run means."""

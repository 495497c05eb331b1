"""The RAG agent's offline condenser: a question that follows others, in the user's own words."""

from __future__ import annotations

import re
from functools import reduce
from typing import Any, Final

from guardgraph.grounding.words import DEFAULT_LANGUAGE, detect_language, list_word_keys, read_terms
from guardgraph.guards.word_lists import load_word_lists
from guardgraph.plain.json import JsonObject
from guardgraph.world.call import mark_as_instant

_ENDS: Final = " \t\n?!.,;:¿¡？！。"
_EXPLETIVE: Final = re.compile(r"\bit\b[^?.]*\bto\s+\w", re.IGNORECASE)
"""English alone: "it" that stands for what follows ("How long does it take to get a refund?")."""
_FEWEST_TERMS: Final = 2
"""Terms that a question has which stands alone, in a language without a list of words that ask."""


@mark_as_instant
def condense_offline_question(view: JsonObject) -> JsonObject:
    """Propose the question so that it is understood without the conversation."""
    turns = [turn["content"] for turn in view["history"] if turn["role"] == "user"]
    return {"question": reduce(_follow_question, [*turns, view["question"]])}


def _follow_question(before: str, question: str) -> str:
    language = detect_language(f"{before}\n{question}") or DEFAULT_LANGUAGE
    words: dict[str, Any] | None = load_word_lists("follow_ups").get(language)
    whole = f"{question.rstrip(_ENDS)} ({before.strip(_ENDS)})?"
    if words is None:
        return question if len(read_terms(question, language)) >= _FEWEST_TERMS else whole
    rest = question.strip(_ENDS)
    lead = next((lead for lead in words["lead_ins"] if rest.lower().startswith(f"{lead} ")), "")
    rest = rest[len(lead) :].strip()
    said = list_word_keys(rest)
    if said[:1] and said[0] in words["prepositions"].split() and len(said) > 1:
        return f"{before.rstrip(_ENDS)} {rest}?"
    refers = not set(words["pronouns"].split()).isdisjoint(said) and not _EXPLETIVE.search(rest)
    return whole if refers or set(words["asking"].split()).isdisjoint(said) else question

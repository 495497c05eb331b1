"""What the RAG agent's guards decide: the intent, its context, an answer's citations, numbers and names."""

from guardgraph.guards.rag.access import access_refusal, check_access, is_uncontrolled
from guardgraph.guards.rag.answer import abstains, check_names, check_numbers, cited, parse_citations
from guardgraph.guards.rag.duplicates import collapse
from guardgraph.guards.rag.evidence import with_spans
from guardgraph.guards.rag.intent import (
    DEFAULT_TOP_K,
    check_execution,
    check_sources,
    parse_intent,
    parse_rag_request,
)
from guardgraph.guards.rag.marks import Mark, read_marks
from guardgraph.guards.rag.passages import best_passage, shown_passages
from guardgraph.guards.rag.ranking import parse_ranking
from guardgraph.guards.rag.retrieval import pack, parse_candidates
from guardgraph.guards.rag.sentences import Sentence, check_sentences, likely_sentences, marked_sentences

__all__ = [
    "DEFAULT_TOP_K",
    "Mark",
    "Sentence",
    "abstains",
    "access_refusal",
    "best_passage",
    "check_access",
    "check_execution",
    "check_names",
    "check_numbers",
    "check_sentences",
    "check_sources",
    "cited",
    "collapse",
    "is_uncontrolled",
    "likely_sentences",
    "marked_sentences",
    "pack",
    "parse_candidates",
    "parse_citations",
    "parse_intent",
    "parse_rag_request",
    "parse_ranking",
    "read_marks",
    "shown_passages",
    "with_spans",
]

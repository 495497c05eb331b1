"""What the RAG agent's guards decide: the intent, its context, an answer's citations and sentences."""

from guardgraph.guards.rag.answer import (
    ReadAnswer,
    check_answer_sentences,
    check_citations,
    is_abstaining_answer,
    make_source,
    parse_citations,
    read_answer,
)
from guardgraph.guards.rag.follow_ups import (
    check_standalone_question,
    parse_rag_request,
    read_standalone_question,
    read_user_words,
)
from guardgraph.guards.rag.intent import (
    DEFAULT_TOP_K,
    check_allowed_sources,
    check_denied_sources,
    check_intent_execution,
    parse_intent,
    parse_source_names,
)
from guardgraph.guards.rag.passages import add_citation_spans, cut_to_best_passages, find_best_passage
from guardgraph.guards.rag.retrieval import (
    check_candidate_access,
    drop_duplicates,
    explain_access_refusal,
    is_uncontrolled_access,
    list_queries,
    merge_found,
    pack_context,
    parse_candidates,
    parse_ranking,
)

__all__ = [
    "DEFAULT_TOP_K",
    "ReadAnswer",
    "add_citation_spans",
    "check_allowed_sources",
    "check_answer_sentences",
    "check_candidate_access",
    "check_citations",
    "check_denied_sources",
    "check_intent_execution",
    "check_standalone_question",
    "cut_to_best_passages",
    "drop_duplicates",
    "explain_access_refusal",
    "find_best_passage",
    "is_abstaining_answer",
    "is_uncontrolled_access",
    "list_queries",
    "make_source",
    "merge_found",
    "pack_context",
    "parse_candidates",
    "parse_citations",
    "parse_intent",
    "parse_rag_request",
    "parse_ranking",
    "parse_source_names",
    "read_answer",
    "read_standalone_question",
    "read_user_words",
]

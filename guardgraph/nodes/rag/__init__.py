"""The RAG agent's nodes, in the order of its diagram: the request, the intent, the retrieval, the answer."""

from guardgraph.nodes.rag.answer import answered, check_answer, generate
from guardgraph.nodes.rag.clarification import clarified
from guardgraph.nodes.rag.intent import check_execution, check_policy, plan
from guardgraph.nodes.rag.request import check_request
from guardgraph.nodes.rag.reranking import check_candidates, pack_reranked, rerank
from guardgraph.nodes.rag.retrieval import pack_context, retrieve

__all__ = [
    "answered",
    "check_answer",
    "check_candidates",
    "check_execution",
    "check_policy",
    "check_request",
    "clarified",
    "generate",
    "pack_context",
    "pack_reranked",
    "plan",
    "rerank",
    "retrieve",
]

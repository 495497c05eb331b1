"""The request: where every run of the RAG agent begins."""

from __future__ import annotations

from guardgraph.guards import rag as guards
from guardgraph.nodes.body import Pass, Run, declares
from guardgraph.state.json import JsonObject
from guardgraph.state.rag import RagBudget, RagPolicy

__all__ = ["RagRun", "check_request"]

RagRun = Run[RagPolicy, RagBudget]


@declares(writes=["task"])
def check_request(state: JsonObject, run: RagRun) -> Pass:
    """Parse the input."""
    return Pass({"task": guards.parse_rag_request(state.get("question"))})

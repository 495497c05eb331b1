"""The request: where every run begins, and what it may do at this moment."""

from __future__ import annotations

from guardgraph.guards import rag as guards
from guardgraph.guards.stop import evidence
from guardgraph.nodes.body import Pass, Run, declares
from guardgraph.plain.json import JsonObject
from guardgraph.state.rag import Candidate, Intent, RagBudget, RagPolicy

__all__ = ["RagRun", "check_chunks", "check_request", "usable_sources"]

RagRun = Run[RagPolicy, RagBudget]


@declares(writes=["task"])
def check_request(state: JsonObject, run: RagRun) -> Pass:
    """Parse the input."""
    return Pass({"task": guards.parse_rag_request(state.get("question"))})


def usable_sources(intent: Intent, run: RagRun) -> list[str]:
    """Return the sources that an intent may read at this moment; the lists may have changed since it was judged."""
    with evidence(intent=intent):
        return guards.check_execution(
            intent,
            policy=run.policy.allowed_sources_policy,
            execution=run.policy.allowed_sources_execution,
            max_query_chars=run.budget.max_query_chars,
        )


def check_chunks(chunks: list[Candidate], run: RagRun) -> None:
    """Stop a run that holds a chunk which whoever asks now may not read, or of a source that has been switched off."""
    guards.check_access(chunks, caller=run.caller, required=run.policy.require_access)
    allowed = set(run.policy.allowed_sources_policy) & set(run.policy.allowed_sources_execution)
    guards.check_sources({chunk["source"] for chunk in chunks}, allowed=allowed)

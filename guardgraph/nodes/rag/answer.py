"""The answer: written from the context alone, held against it, and returned."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from guardgraph.guards import rag as guards
from guardgraph.guards.proposals import Proposal, check_text, proposed_object
from guardgraph.guards.stop import Stop
from guardgraph.nodes.body import Body, Pass, Step, Steps, declares
from guardgraph.nodes.rag.clarification import asked_to_clarify
from guardgraph.nodes.rag.request import RagRun
from guardgraph.state.outcome import Outcome
from guardgraph.state.plain import excerpt
from guardgraph.state.rag import Candidate, Passage, RagState
from guardgraph.world.proposers import Proposer

__all__ = ["answered", "check_answer", "generate"]

HISTORY_CHARS = 280
"""Characters of an answer that history keeps."""

RESULT = ("outcome", "answer", "citations", "citation_details", "passages")
"""What the answered ending returns."""


def generate(answerer: Proposer) -> Body:
    """Ask for an answer from the context alone."""

    @declares(phase="generate", reads=["task", "accepted_context"], writes=["proposed_answer"])
    def body(state: RagState, run: RagRun) -> Steps:
        _check_access(state, run)
        keys = ("doc_id", "title", "section", "updated_at", "text")
        shown = [{key: chunk[key] for key in keys} for chunk in _usable_chunks(state, run)]  # type: ignore[literal-required]
        outcome = yield answerer.call({"question": state["task"]["question"], "context_chunks": shown})
        return {"proposed_answer": _kept(outcome)}

    return body


def _kept(outcome: Outcome) -> str:
    """Return an outcome as the state keeps it: of an abstention nothing that the model wrote beside it."""
    packed = outcome.packed()
    with suppress(Stop):  # what is no proposal is the guard's to judge
        if guards.abstains(proposed_object(packed).value):
            return Outcome("value", {"insufficient": True}, outcome.about).packed()
    return packed


def check_answer(clarification: str) -> Body:
    """Hold the answer against its context: citations first, then numbers, then names; or clarify without one."""

    @declares(
        phase="generate",
        reads=["task", "accepted_context", "nearest_score", "proposed_answer"],
        writes=["accepted_answer", "accepted_clarification"],
        stops=["access_revoked", "source_denied", "llm", "invalid_answer"],
    )
    def body(state: RagState, run: RagRun) -> Pass:
        _check_access(state, run)
        given = proposed_object(state["proposed_answer"])
        if guards.abstains(given.value):
            nearest = state["nearest_score"]
            return asked_to_clarify(clarification, "answerer_abstained", nearest, about=given.about)
        return _checked(given, state, run)

    return body


def _checked(given: Proposal, state: RagState, run: RagRun) -> Pass:
    check_text(given.value, "answer", ("citations",))
    answer, chunks = given.value["answer"].strip(), _usable_chunks(state, run)
    details = guards.cited(given.value["citations"], chunks)
    citations = [item["doc_id"] for item in details]
    used = [chunk for doc_id in citations for chunk in chunks if chunk["doc_id"] == doc_id]
    if run.policy.check_numbers:
        guards.check_numbers(answer, question=state["task"]["question"], chunks=used)
    if run.policy.check_names:
        known = run.policy.known_names
        guards.check_names(answer, question=state["task"]["question"], chunks=used, packed=chunks, known_names=known)
    passages = [Passage(doc_id=chunk["doc_id"], text=chunk["text"]) for chunk in used]
    history = {"action": "compose_grounded_answer", "answer": excerpt(answer, HISTORY_CHARS), "citations": citations}
    step = Step({"phase": "generate", "citation_count": len(citations)}, {**history, **given.about})
    accepted = {"answer": answer, "citations": citations, "citation_details": details, "passages": passages}
    return Pass({"accepted_answer": accepted}, "answered", (step,))


def _check_access(state: RagState, run: RagRun) -> None:
    """Stop a run that somebody resumed who may not read its context."""
    guards.check_access(state["accepted_context"]["chunks"], caller=run.caller, required=run.policy.require_access)


def _usable_chunks(state: RagState, run: RagRun) -> list[Candidate]:
    """Return the context, unless one of its sources has been switched off since it was packed."""
    chunks = state["accepted_context"]["chunks"]
    allowed = set(run.policy.allowed_sources_policy) & set(run.policy.allowed_sources_execution)
    guards.check_sources({chunk["source"] for chunk in chunks}, allowed=allowed)
    return chunks


@declares(phase="generate", reads=["accepted_answer"], writes=RESULT)
def answered(state: RagState, run: RagRun) -> dict[str, Any]:
    """End with a grounded answer."""
    return {"outcome": "grounded_answer", **state["accepted_answer"]}

"""The answer: written from the context alone, held against it, and returned."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from guardgraph.guards import rag as guards
from guardgraph.guards.proposals import Proposal, check_text, proposed_object
from guardgraph.guards.stop import Stop
from guardgraph.languages.terms import terms
from guardgraph.nodes.body import Body, Pass, Step, Steps, declares
from guardgraph.nodes.rag.clarification import asked_to_clarify
from guardgraph.nodes.rag.request import RagRun, check_chunks
from guardgraph.plain.json import JsonObject, excerpt
from guardgraph.state.outcome import Outcome
from guardgraph.state.rag import Candidate, CitationDetail, Passage, RagPolicy, RagState, SpansBy
from guardgraph.world.proposers import Proposer

__all__ = ["answered", "check_answer", "generate"]

HISTORY_CHARS = 280
"""Characters of an answer that history keeps."""

RESULT = ("outcome", "answer", "citations", "citation_details", "passages")
"""What the answered ending returns."""


def generate(answerer: Proposer, marking: Proposer) -> Body:
    """Ask for an answer from the context alone, with a mark behind every sentence where the policy requires it."""

    @declares(phase="generate", reads=["task", "accepted_context"], writes=["proposed_answer"])
    def body(state: RagState, run: RagRun) -> Steps:
        keys = ("doc_id", "title", "section", "updated_at", "text")
        shown = [{key: chunk[key] for key in keys} for chunk in _usable_chunks(state, run)]  # type: ignore[literal-required]
        view: JsonObject = {"question": state["task"]["question"], "context_chunks": shown}
        if run.policy.require_sentence_citations:
            outcome = yield marking.call({**view, "sentence_citations": True})
        else:
            outcome = yield answerer.call(view)
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
        chunks = state["accepted_context"]["chunks"]
        guards.check_access(chunks, caller=run.caller, required=run.policy.require_access)
        given = proposed_object(state["proposed_answer"])
        if guards.abstains(given.value):
            nearest = state["nearest_score"]
            return asked_to_clarify(clarification, "answerer_abstained", nearest, about=given.about)
        return _checked(given, state, run)

    return body


class _Read(NamedTuple):
    """An answer as it was read: its sentences cite what is cited."""

    text: str
    sentences: Sequence[guards.Sentence]
    details: list[CitationDetail]
    used: list[Candidate]


def _checked(given: Proposal, state: RagState, run: RagRun) -> Pass:
    check_text(given.value, "answer", ("citations",))
    question, chunks, policy = state["task"]["question"], _usable_chunks(state, run), run.policy
    read = _read(given.value, chunks, marked=policy.require_sentence_citations)
    _hold(read, question, chunks, policy)
    citations = [item["doc_id"] for item in read.details]
    by: SpansBy = "cited" if policy.require_sentence_citations or len(citations) == 1 else "words"
    details = guards.with_spans(
        read.details, read.used, answer=read.text, sentences=read.sentences, spans_by=by, terms=terms
    )
    passages = [Passage(doc_id=chunk["doc_id"], text=chunk["text"]) for chunk in read.used]
    accepted = {"answer": read.text, "citations": citations, "citation_details": details, "passages": passages}
    history = {"action": "compose_grounded_answer", "answer": excerpt(read.text, HISTORY_CHARS), "citations": citations}
    step = Step({"phase": "generate", "citation_count": len(citations)}, {**history, **given.about})
    return Pass({"accepted_answer": accepted}, "answered", (step,))


def _read(proposed: JsonObject, chunks: list[Candidate], *, marked: bool) -> _Read:
    """Read what an answer cites: by its list, and where sentences must cite, by its marks too."""
    text, citations = proposed["answer"].strip(), proposed["citations"]
    marks = list[guards.Mark]()
    if marked:
        text, marks = guards.read_marks(text, chunks)
        citations = [*citations, *(name for mark in marks for name in mark.ids)]
    details = guards.cited(citations, chunks)
    used = [chunk for item in details for chunk in chunks if chunk["doc_id"] == item["doc_id"]]
    if marked:
        return _Read(text, guards.marked_sentences(text, marks, [item["doc_id"] for item in details]), details, used)
    return _Read(text, guards.likely_sentences(text, used, terms=terms), details, used)


def _hold(read: _Read, question: str, chunks: list[Candidate], policy: RagPolicy) -> None:
    """Hold an answer against what it cites: where sentences must cite, one by one, and then as a whole."""
    if policy.require_sentence_citations:
        guards.check_sentences(read.text, read.sentences, question=question, chunks=chunks, policy=policy)
    if policy.check_numbers:
        guards.check_numbers(read.text, question=question, chunks=read.used)
    if policy.check_names:
        known = policy.known_names
        guards.check_names(read.text, question=question, chunks=read.used, packed=chunks, known_names=known)


def _usable_chunks(state: RagState, run: RagRun) -> list[Candidate]:
    """Return the context, unless one of its sources has been switched off since it was packed."""
    chunks = state["accepted_context"]["chunks"]
    check_chunks(chunks, run)
    return chunks


@declares(phase="generate", reads=["accepted_context", "accepted_answer"], writes=RESULT)
def answered(state: RagState, run: RagRun) -> dict[str, Any]:
    """End with a grounded answer, unless the run was resumed here by somebody who may not read what it is made of."""
    chunks = state["accepted_context"]["chunks"]
    guards.check_access(chunks, caller=run.caller, required=run.policy.require_access)
    return {"outcome": "grounded_answer", **state["accepted_answer"]}

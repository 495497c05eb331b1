"""The RAG agent's nodes, in the order of its diagram.

The request, the intent, the retrieval, the reranking, the answer, and the request for clarification.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final, NamedTuple

from guardgraph.guards import rag as guards
from guardgraph.guards.proposals import Proposal, check_proposed_text, found, proposal, proposed_object
from guardgraph.guards.stop import Stop, evidence
from guardgraph.languages.terms import terms
from guardgraph.nodes.body import Body, Pass, Run, Step, Steps, declares
from guardgraph.plain.json import JsonObject, JsonValue, excerpt
from guardgraph.state.outcome import Outcome
from guardgraph.state.rag import (
    Candidate,
    CitationDetail,
    Clarification,
    ClarifyReason,
    Found,
    Intent,
    Passage,
    RagBudget,
    RagPolicy,
    RagState,
    Retrieval,
    RetrievalRequest,
    SpansBy,
)
from guardgraph.world.call import Call, Outside
from guardgraph.world.proposers import Proposer

__all__ = [
    "RagRun",
    "answered",
    "asked_to_clarify",
    "check_answer",
    "check_candidates",
    "check_chunks",
    "check_execution",
    "check_policy",
    "check_request",
    "clarified",
    "found_candidates",
    "generate",
    "pack_context",
    "pack_reranked",
    "packed_or_clarified",
    "plan",
    "rerank",
    "retrieve",
    "usable_sources",
]

RagRun = Run[RagPolicy, RagBudget]


@declares(writes=["task"])
def check_request(state: JsonObject, run: RagRun) -> Pass:
    """Parse the input."""
    return Pass({"task": guards.parse_rag_request(state.get("question"))})


def usable_sources(intent: Intent, run: RagRun) -> list[str]:
    """Return the sources that an intent may read at this moment; the lists may have changed since it was judged."""
    with evidence(intent=intent):
        return guards.check_intent_execution(
            intent,
            policy=run.policy.allowed_sources_policy,
            execution=run.policy.allowed_sources_execution,
            max_query_chars=run.budget.max_query_chars,
        )


def check_chunks(chunks: list[Candidate], run: RagRun) -> None:
    """Stop a run that holds a chunk which whoever asks now may not read, or of a source that has been switched off."""
    guards.check_candidate_access(chunks, caller=run.caller, required=run.policy.require_access)
    allowed = set(run.policy.allowed_sources_policy) & set(run.policy.allowed_sources_execution)
    guards.check_allowed_sources({chunk["source"] for chunk in chunks}, allowed=allowed)


def plan(planner: Proposer) -> Body:
    """Ask for a retrieval intent."""

    @declares(phase="plan", reads=["task"], writes=["proposed_intent"])
    def body(state: RagState, run: RagRun) -> Steps:
        view = {
            "question": state["task"]["question"],
            "available_sources": sorted(run.policy.allowed_sources_policy),
        }
        budget = run.budget
        top_k = max(min(budget.max_top_k, budget.max_context_chunks), 1)
        outcome = yield planner.call(view, top_k=top_k, max_query_chars=budget.max_query_chars)
        return {"proposed_intent": outcome.packed()}

    return body


@declares(
    phase="plan",
    reads=["proposed_intent"],
    writes=["accepted_intent", "planned_by"],
    stops=["llm", "invalid_intent"],
)
def check_policy(state: RagState, run: RagRun) -> Pass:
    """Hold the intent against what the model may ask for."""
    given = proposal(state["proposed_intent"])
    with evidence(raw_intent=given.raw):
        if given.unreadable:
            raise Stop("invalid_intent:kind")
        intent = guards.parse_intent(
            given.value, allowed_sources=run.policy.allowed_sources_policy, max_top_k=run.budget.max_top_k
        )
    return Pass({"accepted_intent": intent, "planned_by": given.about})


@declares(phase="retrieve", reads=["accepted_intent"], stops=["invalid_intent", "source_denied"])
def check_execution(state: RagState, run: RagRun) -> Pass:
    """Hold the intent against what the runtime will do now."""
    usable_sources(state["accepted_intent"], run)
    return Pass()


TRACED: dict[ClarifyReason, str] = {
    "nothing_relevant": "no_grounded_context",
    "answerer_abstained": "answerer_abstained",
}
"""What the trace calls each reason."""

CLARIFIED = ("outcome", "answer", "citations", "citation_details", "passages", "clarify_reason", "best_score")
"""What the ending returns."""


def asked_to_clarify(
    text: str,
    reason: ClarifyReason,
    best_score: float,
    *,
    before: tuple[Step, ...] = (),
    about: JsonObject | None = None,
) -> Pass:
    """Return a guard's way to the request for clarification.

    Args:
        text: the deployment's.
        reason: why there is no answer.
        best_score: the highest score among the candidates.
        before: the steps that the guard completes before.
        about: who abstained, as history names a proposer.
    """
    step = Step(
        {"phase": "fallback", "reason": TRACED[reason]}, {"action": "fallback", "answer": text, **(about or {})}
    )
    accepted = Clarification(answer=text, clarify_reason=reason, best_score=best_score)
    return Pass({"accepted_clarification": accepted}, "clarified", (*before, step))


@declares(phase="generate", reads=["accepted_clarification"], writes=CLARIFIED)
def clarified(state: RagState, run: RagRun) -> dict[str, Any]:
    """End with an honest request for clarification."""
    empty: JsonObject = {"citations": [], "citation_details": [], "passages": []}
    return {"outcome": "clarify", **state["accepted_clarification"], **empty}


def retrieve(retriever: Outside) -> Body:
    """Read the sources that are switched on at this moment."""

    @declares(phase="retrieve", reads=["accepted_intent"], writes=["asked_retrieval", "found_candidates"])
    def body(state: RagState, run: RagRun) -> Steps:
        intent = state["accepted_intent"]
        request: JsonObject = {
            "query": intent["query"],
            "sources": usable_sources(intent, run),
            "top_k": min(intent["top_k"], run.budget.max_top_k),
        }
        if run.caller is not None:  # a request without one keeps the hash that it was recorded with
            request["caller"] = {**run.caller.model_dump(mode="json"), "groups": sorted(run.caller.groups)}
        nothing = Outcome("value", [])
        outcome = (yield _call(retriever, request, run)) if request["sources"] else nothing
        return {"asked_retrieval": request, "found_candidates": outcome.packed()}

    return body


def _call(retriever: Outside, request: JsonObject, run: RagRun) -> Call:
    """Return the call to a retriever; nothing of a document that the caller may not read is even kept."""
    required = run.policy.require_access

    def holds(recorded: JsonValue) -> str | None:
        is_refusal = isinstance(recorded, dict) and guards.is_uncontrolled_access(recorded.get("details"))
        return "what it found had no readers, and was not kept" if is_refusal and not required else None

    refuse = partial(guards.explain_access_refusal, caller=run.caller, required=required)
    return Call("tool", retriever, request, refuse=refuse, holds=holds)


def pack_context(clarification: str) -> Body:
    """Choose the context; with nothing left, clarify instead of asking a model."""

    @declares(
        phase="retrieve",
        reads=["accepted_intent", "planned_by", "asked_retrieval", "found_candidates"],
        writes=["accepted_context", "nearest_score", "accepted_clarification"],
        stops=["invalid_intent", "source_denied", "tool", "access_revoked"],
    )
    def body(state: RagState, run: RagRun) -> Pass:
        asked, candidates = found_candidates(state, run)
        return packed_or_clarified(state, run, Found(asked=asked, candidates=candidates), clarification)

    return body


def found_candidates(state: RagState, run: RagRun) -> tuple[RetrievalRequest, list[Candidate]]:
    """Return what a retriever was asked, and what it returned, held against it."""
    asked = state["asked_retrieval"]
    returned = found(state["found_candidates"], "retrieve")
    guards.check_candidate_access(returned, caller=run.caller, required=run.policy.require_access)
    return asked, guards.parse_candidates(returned, allowed_sources=asked["sources"], top_k=asked["top_k"])


def packed_or_clarified(
    state: RagState, run: RagRun, given: Found, clarification: str, *, ranked: list[Candidate] | None = None
) -> Pass:
    """Return the way on with a context, or without one.

    Args:
        state: the channels.
        run: the run.
        given: what was found.
        clarification: what a run says without a context.
        ranked: the candidates in the order of a reranker, where there is one.
    """
    candidates = given["candidates"]
    packed = _packed(given["asked"]["query"], candidates if ranked is None else ranked, run.budget)
    nearest = max((item["score"] for item in candidates), default=0.0)
    step = _retrieved(state, given, packed, ranked)
    if packed["chunks"]:
        return Pass({"accepted_context": packed, "nearest_score": nearest}, "generate", (step,))
    return asked_to_clarify(clarification, "nothing_relevant", nearest, before=(step,))


def _packed(query: str, candidates: list[Candidate], budget: RagBudget) -> Retrieval:
    """Leave out near-duplicates, cut what is longer than the whole context to its best passage, then pack."""
    relevant, chunks, chars = budget.min_chunk_score, budget.max_context_chunks, budget.max_context_chars
    once = guards.drop_near_duplicates(candidates, min_score=relevant)
    shown = guards.cut_to_best_passages(
        once, query=query, terms=terms, min_score=relevant, max_chunks=chunks, max_chars=chars
    )
    return guards.pack_context(shown, min_score=relevant, max_chunks=chunks, max_chars=chars)


def _retrieved(state: RagState, given: Found, packed: Retrieval, ranked: list[Candidate] | None) -> Step:
    asked, candidates, chunks = given["asked"], given["candidates"], packed["chunks"]
    trace: JsonObject = {
        "phase": "retrieve",
        "query": asked["query"],
        "requested_sources": asked["sources"],
        "candidates": len(candidates),
        "context_chunks": len(chunks),
        "rejected_low_score": packed["rejected_low_score"],
    }
    shown = [{key: item[key] for key in ("doc_id", "source", "score")} for item in candidates]
    retrieval: JsonObject = {"candidates": shown, "context_chunks": [chunk["doc_id"] for chunk in chunks]}
    if ranked is not None:
        trace["reranked"] = retrieval["reranked"] = [item["doc_id"] for item in ranked]
    if left_out := [name for chunk in chunks for name in chunk.get("duplicates", [])]:
        trace["duplicates"] = retrieval["duplicates"] = left_out
    return Step(trace, {"intent": state["accepted_intent"], "retrieval": retrieval, **state["planned_by"]})


SHOWN: Final = ("doc_id", "source", "title", "section", "updated_at", "text", "score")
"""What a reranker sees of a candidate."""


@declares(
    phase="retrieve",
    reads=["asked_retrieval", "found_candidates"],
    writes=["accepted_candidates"],
    stops=["invalid_intent", "source_denied", "tool", "access_revoked"],
)
def check_candidates(state: RagState, run: RagRun) -> Pass:
    """Hold what was found against what was asked for, before anybody else sees it."""
    asked, candidates = found_candidates(state, run)
    return Pass({"accepted_candidates": {"asked": asked, "candidates": candidates}})


def rerank(reranker: Outside) -> Body:
    """Show the candidates to a reranker; where there are none, it is not asked."""

    @declares(phase="retrieve", reads=["accepted_candidates"], writes=["found_ranking"])
    def body(state: RagState, run: RagRun) -> Steps:
        accepted = state["accepted_candidates"]
        check_chunks(accepted["candidates"], run)
        shown = [{key: item[key] for key in SHOWN} for item in accepted["candidates"]]
        request: JsonObject = {"query": accepted["asked"]["query"], "candidates": shown}
        outcome = (yield Call("tool", reranker, request)) if shown else Outcome("value", [])
        return {"found_ranking": outcome.packed()}

    return body


def pack_reranked(clarification: str) -> Body:
    """Choose the context in the reranker's order; with nothing left, clarify instead of asking a model."""

    @declares(
        phase="retrieve",
        reads=["accepted_intent", "planned_by", "accepted_candidates", "found_ranking"],
        writes=["accepted_context", "nearest_score", "accepted_clarification"],
        stops=["source_denied", "tool", "access_revoked"],
    )
    def body(state: RagState, run: RagRun) -> Pass:
        accepted = state["accepted_candidates"]
        check_chunks(accepted["candidates"], run)
        returned = found(state["found_ranking"], "rerank")
        ranked = guards.parse_ranking(returned, candidates=accepted["candidates"])
        return packed_or_clarified(state, run, accepted, clarification, ranked=ranked)

    return body


HISTORY_CHARS = 280
"""Characters of an answer that history keeps."""

ANSWERED = ("outcome", "answer", "citations", "citation_details", "passages")
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
        if guards.is_abstaining_answer(proposed_object(packed).value):
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
        guards.check_candidate_access(chunks, caller=run.caller, required=run.policy.require_access)
        given = proposed_object(state["proposed_answer"])
        if guards.is_abstaining_answer(given.value):
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
    check_proposed_text(given.value, "answer", ("citations",))
    question, chunks, policy = state["task"]["question"], _usable_chunks(state, run), run.policy
    read = _read(given.value, chunks, marked=policy.require_sentence_citations)
    _hold(read, question, chunks, policy)
    citations = [item["doc_id"] for item in read.details]
    by: SpansBy = "cited" if policy.require_sentence_citations or len(citations) == 1 else "words"
    details = guards.add_citation_spans(
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
        text, marks = guards.read_citation_marks(text, chunks)
        citations = [*citations, *(name for mark in marks for name in mark.ids)]
    details = guards.check_citations(citations, chunks)
    used = [chunk for item in details for chunk in chunks if chunk["doc_id"] == item["doc_id"]]
    if marked:
        return _Read(
            text, guards.read_marked_sentences(text, marks, [item["doc_id"] for item in details]), details, used
        )
    return _Read(text, guards.match_sentences_to_chunks(text, used, terms=terms), details, used)


def _hold(read: _Read, question: str, chunks: list[Candidate], policy: RagPolicy) -> None:
    """Hold an answer against what it cites: where sentences must cite, one by one, and then as a whole."""
    if policy.require_sentence_citations:
        guards.check_cited_sentences(read.text, read.sentences, question=question, chunks=chunks, policy=policy)
    if policy.check_numbers:
        guards.check_cited_numbers(read.text, question=question, chunks=read.used)
    if policy.check_names:
        known = policy.known_names
        guards.check_cited_names(read.text, question=question, chunks=read.used, packed=chunks, known_names=known)


def _usable_chunks(state: RagState, run: RagRun) -> list[Candidate]:
    """Return the context, unless one of its sources has been switched off since it was packed."""
    chunks = state["accepted_context"]["chunks"]
    check_chunks(chunks, run)
    return chunks


@declares(phase="generate", reads=["accepted_context", "accepted_answer"], writes=ANSWERED)
def answered(state: RagState, run: RagRun) -> dict[str, Any]:
    """End with a grounded answer, unless the run was resumed here by somebody who may not read what it is made of."""
    chunks = state["accepted_context"]["chunks"]
    guards.check_candidate_access(chunks, caller=run.caller, required=run.policy.require_access)
    return {"outcome": "grounded_answer", **state["accepted_answer"]}

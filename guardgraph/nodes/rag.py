"""The RAG agent's nodes, in the order of its diagram.

The request, its follow-ups, the intent, the retrieval, the reranking, the answer, and the request for clarification.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final, NamedTuple

from guardgraph.grounding.words import read_terms
from guardgraph.guards.answers import Judged, check_text_is_said, is_partial, judge_answer, read_workings
from guardgraph.guards.numbering import proposed_answer
from guardgraph.guards.proposals import Proposal, check_proposed_text, found, proposal, proposed_text
from guardgraph.guards.rag import answer as answer_guards
from guardgraph.guards.rag import intent as intent_guards
from guardgraph.guards.rag import passages as passage_guards
from guardgraph.guards.rag import retrieval as retrieval_guards
from guardgraph.guards.stop import Stop, evidence
from guardgraph.guards.support import Claim, list_answer_claims
from guardgraph.nodes.body import Body, Pass, Run, Step, Steps, declares, make_asking_node
from guardgraph.nodes.own_guards import GuardedAnswer, refuse_judged_answer
from guardgraph.plain.json import JsonObject, JsonValue, excerpt_value
from guardgraph.state.outcome import Outcome
from guardgraph.state.rag import (
    Candidate,
    CitationDetail,
    Clarification,
    ClarifyReason,
    FoundCandidates,
    Passage,
    RagBudget,
    RagPolicy,
    RagState,
    RagTask,
    Retrieval,
)
from guardgraph.state.run import AskedQuestion
from guardgraph.tools.candidates import read_found_values
from guardgraph.world.call import Call, Outside
from guardgraph.world.prompts import list_prompt_texts
from guardgraph.world.proposers import Proposer

RagRun = Run[RagPolicy, RagBudget]

LISTED: Final = ("accepted_sources",)
"""The channels from which nodes of an agent with a live base read what its lists hold."""


class SourceLists(NamedTuple):
    """The lists, as they hold in a run."""

    policy: Sequence[str]  # sources that the model may ask for
    execution: Sequence[str]  # sources that the runtime will read now
    denied: Sequence[str]  # sources that are never read, whatever the others say


def read_source_lists(state: JsonObject | RagState, run: RagRun) -> SourceLists:
    """Return the lists of the policy; of a live base what of those that allow the caller may read."""
    readable: list[str] | None = state.get("accepted_sources")
    policy = run.policy
    given = SourceLists(policy.allowed_sources_policy, policy.allowed_sources_execution, policy.denied_sources)
    if readable is None:
        return given
    allowed, read = (
        readable if policy.is_open(name) else [source for source in readable if source in listed]
        for name, listed in zip(RagPolicy.filled, given[:2], strict=True)
    )
    return SourceLists(allowed, read, given.denied)


def describe_asking_caller(run: RagRun) -> JsonObject:
    """Return the part of a request that says who asks; none without a caller."""
    if run.caller is None:
        return {}
    return {"caller": {**run.caller.model_dump(mode="json"), "groups": sorted(run.caller.groups)}}


def make_list_sources_node(lister: Outside) -> Body:
    """Ask a knowledge base of which sources the caller may read something."""

    @declares(phase="retrieve", reads=["task"], writes=["found_sources"])
    def run_list_sources_node(state: RagState, run: RagRun) -> Steps:
        outcome = yield Call("tool", lister, describe_asking_caller(run))
        return {"found_sources": outcome.packed()}

    return run_list_sources_node


def make_request_guard_node(*, is_live: bool) -> Body:
    """Parse the input; a live base is asked for its sources, then a question that follows a conversation rewritten."""

    @declares(writes=["task"])
    def run_request_guard_node(state: JsonObject, run: RagRun) -> Pass:
        limits = {"max_turns": run.budget.max_history_turns, "max_chars": run.budget.max_history_chars}
        task = intent_guards.parse_rag_request(state.get("question"), state.get("given_history"), **limits)
        to = "list_sources" if is_live else _name_planning_node(task)
        return Pass({"task": task}, to, asked=AskedQuestion(own=task["question"]))

    return run_request_guard_node


def _name_planning_node(task: RagTask) -> str:
    return "condense" if "history" in task else "plan"


@declares(phase="retrieve", reads=["task", "found_sources"], writes=["accepted_sources"], stops=["tool"])
def run_sources_guard_node(state: RagState, run: RagRun) -> Pass:
    """Hold what a knowledge base listed against what names of sources are."""
    sources = intent_guards.parse_source_names(found(state["found_sources"], "retrieve"))
    return Pass({"accepted_sources": sources}, _name_planning_node(state["task"]))


def make_condense_node(condenser: Proposer) -> Body:
    """Ask for a question that is understood without the conversation before it."""

    def show_conversation(state: RagState, run: RagRun) -> JsonObject:
        return {"question": state["task"]["question"], "history": [*map(dict, state["task"]["history"])]}

    return make_asking_node(condenser, show_conversation, phase="condense", reads=["task"], writes="proposed_question")


@declares(phase="condense", reads=["task", "proposed_question"], writes=["task"], stops=["llm", "invalid_question"])
def run_question_guard_node(state: RagState, run: RagRun) -> Pass:
    """Hold the standalone question against the conversation."""
    given = proposed_text(state["proposed_question"], "question")
    task, text = state["task"], given.value["question"].strip()
    with evidence(details={"question": excerpt_value(text)}):
        intent_guards.check_standalone_question(text, task=task, policy=run.policy)
    trace = {"phase": "condense", "turns": len(task["history"]), "turns_left_out": task.get("turns_left_out", 0)}
    history = {"action": "condense_question", "question": task["question"], "standalone_question": text}
    asked = AskedQuestion(own=task["question"], standalone=text)
    return Pass({"task": {**task, "standalone": text}}, steps=(Step(trace, {**history, **given.about}),), asked=asked)


def list_usable_sources(state: RagState, run: RagRun) -> list[str]:
    """Return the sources that an intent may read at this moment; the lists may have changed since it was judged."""
    intent, lists = state["accepted_intent"], read_source_lists(state, run)
    with evidence(intent=intent):
        return intent_guards.check_intent_execution(
            intent, **lists._asdict(), max_query_chars=run.budget.max_query_chars
        )


def check_context_chunks(chunks: list[Candidate], run: RagRun) -> None:
    """Stop a run that holds a chunk which whoever asks now may not read, or of a source that has been switched off."""
    retrieval_guards.check_candidate_access(chunks, caller=run.caller, required=run.policy.require_access)
    intent_guards.check_sources_switched_on({chunk["source"] for chunk in chunks}, run.policy)


def make_plan_node(planner: Proposer, listed: Sequence[str] = ()) -> Body:
    """Ask for a retrieval intent."""

    @declares(phase="plan", reads=["task", *listed], writes=["proposed_intent"], calls=[planner])
    def run_plan_node(state: RagState, run: RagRun) -> Steps:
        sources, budget = read_source_lists(state, run).policy, run.budget
        question = intent_guards.read_standalone_question(state["task"])
        view: JsonObject = {"question": question, "available_sources": sorted(sources)}
        top_k = max(min(budget.max_top_k, budget.max_context_chunks), 1)
        outcome = yield planner.call(view, top_k=top_k, max_query_chars=budget.max_query_chars)
        return {"proposed_intent": outcome.packed()}

    return run_plan_node


def make_policy_guard_node(listed: Sequence[str] = ()) -> Body:
    """Hold the intent against what the model may ask for."""

    @declares(
        phase="plan",
        reads=["proposed_intent", *listed],
        writes=["accepted_intent", "planned_by"],
        stops=["llm", "invalid_intent"],
    )
    def run_policy_guard_node(state: RagState, run: RagRun) -> Pass:
        lists, given = read_source_lists(state, run), proposal(state["proposed_intent"])
        with evidence(raw_intent=given.raw):
            if given.unreadable:
                raise Stop("invalid_intent:kind", details={"problem": given.problem})
            others = {*lists.execution, *lists.denied}
            intent = intent_guards.parse_intent(
                given.value, allowed_sources=lists.policy, max_top_k=run.budget.max_top_k, other_sources=others
            )
        return Pass({"accepted_intent": intent, "planned_by": given.about})

    return run_policy_guard_node


def make_execution_guard_node(listed: Sequence[str] = ()) -> Body:
    """Hold the intent against what the runtime will do now."""

    @declares(phase="retrieve", reads=["accepted_intent", *listed], stops=["invalid_intent", "source_denied"])
    def run_execution_guard_node(state: RagState, run: RagRun) -> Pass:
        list_usable_sources(state, run)
        return Pass()

    return run_execution_guard_node


TRACED: dict[ClarifyReason, str] = {
    "nothing_relevant": "no_grounded_context",
    "answerer_abstained": "answerer_abstained",
}
"""What the trace calls each reason."""

CLARIFIED = ("outcome", "answer", "citations", "citation_details", "passages", "clarify_reason", "best_score")
"""What the ending returns."""


def pass_to_clarified_node(
    text: str,
    reason: ClarifyReason,
    best_score: float,
    *,
    before: tuple[Step, ...] = (),
    about: JsonObject | None = None,
) -> Pass:
    """Return a guard's way to the request for clarification."""
    told: JsonObject = {"action": "fallback", "answer": text, **(about or {})}
    step = Step({"phase": "fallback", "reason": TRACED[reason]}, told)
    accepted = Clarification(answer=text, clarify_reason=reason, best_score=best_score)
    return Pass({"accepted_clarification": accepted}, "clarified", (*before, step))


@declares(phase="generate", reads=["accepted_clarification"], writes=CLARIFIED)
def run_clarified_node(state: RagState, run: RagRun) -> dict[str, Any]:
    """End with an honest request for clarification."""
    empty: JsonObject = {"citations": [], "citation_details": [], "passages": []}
    return {"outcome": "clarify", **state["accepted_clarification"], **empty}


def make_retrieve_node(retriever: Outside, listed: Sequence[str] = ()) -> Body:
    """Read the sources that are switched on at this moment: by the intent's query, and by the question alone."""

    @declares(
        phase="retrieve", reads=["task", "accepted_intent", *listed], writes=["asked_retrieval", "found_candidates"]
    )
    def run_retrieve_node(state: RagState, run: RagRun) -> Steps:
        intent = state["accepted_intent"]
        request: JsonObject = {
            "query": intent["query"],
            "sources": list_usable_sources(state, run),
            "top_k": min(intent["top_k"], run.budget.max_top_k),
            **describe_asking_caller(run),
        }
        queries = retrieval_guards.list_queries(intent["query"], intent_guards.read_standalone_question(state["task"]))
        asked = [{**request, "query": query} for query in queries if request["sources"]]
        calls = [_make_retriever_call(retriever, item, run) for item in asked]
        outcomes = (yield calls) if calls else ()  # where nothing is asked, no clock is read
        return {"asked_retrieval": request, "found_candidates": _merge_found(outcomes, request["top_k"]).packed()}

    return run_retrieve_node


def _merge_found(outcomes: Sequence[Outcome], top_k: int) -> Outcome:
    """Return what several queries found as one list, or what one of them brought in place of a list."""
    if len(outcomes) == 1:
        return outcomes[0]
    other = next((item for item in outcomes if item.form != "value" or not isinstance(item.content, list)), None)
    return other or Outcome("value", retrieval_guards.merge_found([item.content for item in outcomes], top_k))


def _make_retriever_call(retriever: Outside, request: JsonObject, run: RagRun) -> Call:
    """Return the call to a retriever; nothing of a document that the caller may not read is even kept."""
    required = run.policy.require_access

    def explain_unkept_candidates(recorded: JsonValue) -> str | None:
        is_refusal = isinstance(recorded, dict) and retrieval_guards.is_uncontrolled_access(recorded.get("details"))
        return "what it found had no readers, and was not kept" if is_refusal and not required else None

    refuse = partial(retrieval_guards.explain_access_refusal, caller=run.caller, required=required)
    read = partial(read_found_values, query=request["query"])
    return Call("tool", retriever, request, read=read, refuse=refuse, holds=explain_unkept_candidates)


def make_context_guard_node(clarification: str) -> Body:
    """Choose the context; with nothing left, clarify instead of asking a model."""

    @declares(
        phase="retrieve",
        reads=["accepted_intent", "planned_by", "asked_retrieval", "found_candidates"],
        writes=["accepted_context", "nearest_score", "accepted_clarification"],
        stops=["invalid_intent", "source_denied", "tool", "access_revoked"],
    )
    def run_context_guard_node(state: RagState, run: RagRun) -> Pass:
        return pack_or_clarify(state, run, read_found_candidates(state, run), clarification)

    return run_context_guard_node


def read_found_candidates(state: RagState, run: RagRun) -> FoundCandidates:
    """Return what a retriever was asked, and what it returned, held against it."""
    asked = state["asked_retrieval"]
    returned = found(state["found_candidates"], "retrieve")
    retrieval_guards.check_candidate_access(returned, caller=run.caller, required=run.policy.require_access)
    parsed = retrieval_guards.parse_candidates(returned, allowed_sources=asked["sources"], top_k=asked["top_k"])
    found_now = FoundCandidates(asked=asked, candidates=parsed.candidates)
    return {**found_now, "left_out": parsed.left_out} if parsed.left_out else found_now


def pack_or_clarify(
    state: RagState, run: RagRun, given: FoundCandidates, clarification: str, *, ranked: list[Candidate] | None = None
) -> Pass:
    """Return the way on with a context, or without one."""
    candidates = given["candidates"]
    packed = _pack_candidates(given["asked"]["query"], candidates if ranked is None else ranked, run.budget)
    nearest = max((item["score"] for item in candidates), default=0.0)
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
    if unusable := given.get("left_out"):
        trace["left_out"], retrieval["left_out"] = len(unusable), unusable[:LEFT_OUT]
    # A deployment that has set a threshold of its own has measured it.
    is_default = run.budget.min_chunk_score == RagBudget.model_fields["min_chunk_score"].default
    if is_default and (codes := sorted({code for item in candidates for code in item.get("unmeasured", [])})):
        trace["unmeasured"] = [*codes]
    step = Step(trace, {"intent": state["accepted_intent"], "retrieval": retrieval, **state["planned_by"]})
    if packed["chunks"]:
        return Pass({"accepted_context": packed, "nearest_score": nearest}, "generate", (step,))
    return pass_to_clarified_node(clarification, "nothing_relevant", nearest, before=(step,))


def _pack_candidates(query: str, candidates: list[Candidate], budget: RagBudget) -> Retrieval:
    """Leave out copies, cut what is longer than the whole context to its best passage, then pack."""
    relevant, chunks, chars = budget.min_chunk_score, budget.max_context_chunks, budget.max_context_chars
    once = retrieval_guards.drop_duplicates(candidates, min_score=relevant)
    shown = passage_guards.cut_to_best_passages(
        once, query=query, terms=read_terms, min_score=relevant, max_chunks=chunks, max_chars=chars
    )
    return retrieval_guards.pack_context(shown, min_score=relevant, max_chunks=chunks, max_chars=chars)


LEFT_OUT: Final = 20  # candidates that history names, of those that could not be used


SHOWN: Final = ("doc_id", "source", "title", "section", "updated_at", "text", "score")
"""What a reranker sees of a candidate."""


@declares(
    phase="retrieve",
    reads=["asked_retrieval", "found_candidates"],
    writes=["accepted_candidates"],
    stops=["invalid_intent", "source_denied", "tool", "access_revoked"],
)
def run_candidates_guard_node(state: RagState, run: RagRun) -> Pass:
    """Hold what was found against what was asked for, before anybody else sees it."""
    return Pass({"accepted_candidates": read_found_candidates(state, run)})


def make_rerank_node(reranker: Outside) -> Body:
    """Show the candidates to a reranker; where there are none, it is not asked."""

    @declares(phase="retrieve", reads=["accepted_candidates"], writes=["found_ranking"])
    def run_rerank_node(state: RagState, run: RagRun) -> Steps:
        accepted = state["accepted_candidates"]
        check_context_chunks(accepted["candidates"], run)
        shown = [{key: item[key] for key in SHOWN} for item in accepted["candidates"]]
        request: JsonObject = {"query": accepted["asked"]["query"], "candidates": shown}
        outcome = (yield Call("tool", reranker, request)) if shown else Outcome("value", [])
        return {"found_ranking": outcome.packed()}

    return run_rerank_node


def make_reranked_guard_node(clarification: str) -> Body:
    """Choose the context in the reranker's order; with nothing left, clarify instead of asking a model."""

    @declares(
        phase="retrieve",
        reads=["accepted_intent", "planned_by", "accepted_candidates", "found_ranking"],
        writes=["accepted_context", "nearest_score", "accepted_clarification"],
        stops=["source_denied", "tool", "access_revoked"],
    )
    def run_reranked_guard_node(state: RagState, run: RagRun) -> Pass:
        accepted = state["accepted_candidates"]
        check_context_chunks(accepted["candidates"], run)
        returned = found(state["found_ranking"], "rerank")
        ranked = retrieval_guards.parse_ranking(returned, candidates=accepted["candidates"])
        return pack_or_clarify(state, run, accepted, clarification, ranked=ranked)

    return run_reranked_guard_node


HISTORY_CHARS = 280  # characters of an answer that history keeps

ANSWERED = ("outcome", "answer", "citations", "citation_details", "passages", "unverified")
"""What the answered ending returns, the last where there is any."""


def make_answerer_view(state: RagState, run: RagRun) -> JsonObject:
    """Return what an answerer is shown; it stops where whoever asks now may not see it."""
    keys = ("doc_id", "title", "section", "updated_at", "text")
    shown = [{key: chunk[key] for key in keys} for chunk in _list_usable_chunks(state, run)]  # type: ignore[literal-required]
    return {"question": intent_guards.read_standalone_question(state["task"]), "context_chunks": shown}


def make_generate_node(answerer: Proposer) -> Body:
    """Ask for an answer from the context alone, with a mark behind every sentence where the policy requires it."""

    @declares(phase="generate", reads=["task", "accepted_context"], writes=["proposed_answer"], calls=[answerer])
    def run_generate_node(state: RagState, run: RagRun) -> Steps:
        view = make_answerer_view(state, run)
        outcome = yield answerer.call(
            {**view, "sentence_citations": True} if run.policy.require_sentence_citations else view
        )
        return {"proposed_answer": _pack_proposed_answer(outcome)}

    return run_generate_node


def _pack_proposed_answer(outcome: Outcome) -> str:
    """Return an outcome as the state keeps it: of an abstention nothing that the model wrote beside it."""
    with suppress(Stop):  # what is no proposal is the guard's to judge
        given = outcome.content if outcome.form == "value" else proposed_answer(outcome.packed(), {}).value
        if answer_guards.is_abstaining_answer(given):
            return Outcome("value", {"insufficient": True}, outcome.about).packed()
    return outcome.packed()


def make_answer_guard_node(clarification: str) -> Body:
    """Hold the answer against its context: citations, links, then each sentence; or clarify without one."""

    @declares(
        phase="generate",
        reads=["task", "accepted_context", "nearest_score", "proposed_answer"],
        writes=["accepted_answer", "accepted_clarification"],
        stops=["access_revoked", "source_denied", "llm", "invalid_answer"],
    )
    def run_answer_guard_node(state: RagState, run: RagRun) -> Pass:
        chunks = state["accepted_context"]["chunks"]
        retrieval_guards.check_candidate_access(chunks, caller=run.caller, required=run.policy.require_access)
        shown = {chunk["doc_id"]: chunk["text"] for chunk in chunks}
        given = proposed_answer(state["proposed_answer"], shown)
        if answer_guards.is_abstaining_answer(given.value):
            nearest = state["nearest_score"]
            return pass_to_clarified_node(clarification, "answerer_abstained", nearest, about=given.about)
        check_proposed_text(given.value, "answer", ("citations",))
        workings = read_workings(given.value)
        task, policy, chunks = state["task"], run.policy, _list_usable_chunks(state, run)
        must_cite = policy.require_sentence_citations
        read = answer_guards.read_answer(given.value["answer"], given.value["citations"], chunks, must_cite=must_cite)
        asked = intent_guards.read_user_words(task)
        echoes = [asked, *(chunk[key] for chunk in chunks for key in ("doc_id", "source"))]
        check_text_is_said(read.text, "invalid_answer:empty", echoes=echoes, told=list_prompt_texts())
        checked = answer_guards.check_answer_sentences(read, task=task, workings=workings, policy=policy)
        judged = judge_answer(checked, policy, read.text)
        accepted = _accept_answer(read, passage_guards.add_citation_spans(read, checked), judged, given)
        return accepted if judged.refusal is None else refuse_judged_answer(judged, judged.refusal, accepted)

    return run_answer_guard_node


def _accept_answer(
    read: answer_guards.ReadAnswer, details: list[CitationDetail], judged: Judged, given: Proposal
) -> Pass:
    citations = [item["doc_id"] for item in details]
    accepted: JsonObject = {
        "answer": read.text,
        "citations": citations,
        "citation_details": details,
        "passages": [Passage(doc_id=chunk["doc_id"], text=chunk["text"]) for chunk in read.used],
    }
    shown = excerpt_value(read.text, HISTORY_CHARS)
    history: JsonObject = {"action": "compose_grounded_answer", "answer": shown, "citations": citations}
    trace: JsonObject = {"phase": "generate", "citation_count": len(citations)}
    if judged.unverified:
        accepted["unverified"] = judged.unverified
        history["unverified"] = [item["text"] for item in judged.unverified]
        trace["unverified"] = len(judged.unverified)
    return Pass({"accepted_answer": accepted}, "answered", (Step(trace, {**history, **given.about}),))


def _list_usable_chunks(state: RagState, run: RagRun) -> list[Candidate]:
    """Return the context, unless one of its sources has been switched off since it was packed."""
    chunks = state["accepted_context"]["chunks"]
    check_context_chunks(chunks, run)
    return chunks


def show_accepted_answer(state: RagState, run: RagRun) -> tuple[JsonObject, JsonObject]:
    """Return the accepted answer, and what the answerer was shown."""
    view = make_answerer_view(state, run)
    return {**state["accepted_answer"]}, view


def list_accepted_claims(state: RagState, run: RagRun) -> list[Claim]:
    """Return the sentences of the accepted answer, each with its evidence."""
    check_context_chunks(state["accepted_context"]["chunks"], run)
    return list_answer_claims(state["accepted_answer"])


GUARDED_ANSWER = GuardedAnswer(
    phase="generate",
    proposer="generate",
    reads=("task", "accepted_context", "accepted_answer"),
    show=show_accepted_answer,
    ends=("answered",),
    stops=("access_revoked", "source_denied"),
    list_claims=list_accepted_claims,
)
"""What an application adds guards and a verifier to."""


@declares(phase="generate", reads=["accepted_context", "accepted_answer"], writes=ANSWERED)
def run_answered_node(state: RagState, run: RagRun) -> dict[str, Any]:
    """End with a grounded answer, unless who resumed the run may not read what it is made of, or it is switched off."""
    chunks = state["accepted_context"]["chunks"]
    check_context_chunks(chunks, run)
    answer = state["accepted_answer"]
    return {"outcome": "grounded_partial" if is_partial(answer.get("unverified", ())) else "grounded_answer", **answer}

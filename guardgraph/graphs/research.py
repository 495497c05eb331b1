"""The Research agent: plan, search, dedupe, read what both lists allow, verify the notes, search again, cite them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal, Unpack

from guardgraph.graphs.grammar import Deployment, Pattern
from guardgraph.graphs.own_guards import Verifier, choose_verifier, declare_answer_guard
from guardgraph.graphs.running.door import GuardedGraph
from guardgraph.nodes.body import Body
from guardgraph.nodes.offline import research as offline
from guardgraph.nodes.offline.research import take_offline_notes as offline_notes
from guardgraph.nodes.own_guards import AnswerGuard, extend_catalogue
from guardgraph.nodes.research import answering, notes, searching
from guardgraph.state.research import (
    RESEARCH_REASONS,
    ResearchBudget,
    ResearchContext,
    ResearchInput,
    ResearchPolicy,
    ResearchResult,
    ResearchState,
)
from guardgraph.state.settings import choose_settings
from guardgraph.tools.langchain.asking import is_from_langchain, is_langchain_tool, unwrap_runnable
from guardgraph.tools.langchain.search import LangChainReader, LangChainSearch
from guardgraph.tools.recordings import make_recorded_extractor, make_recorded_reader, make_recorded_search
from guardgraph.world.call import Outside
from guardgraph.world.chat_models import ChatModel
from guardgraph.world.prompts import PromptFiles, read_own_prompts
from guardgraph.world.proposers import Proposer, choose_proposer, validate_call_target

if TYPE_CHECKING:
    from langchain_core.vectorstores import VectorStore


def create_research_agent(
    model: ChatModel | str | None = None,
    *,
    planner: Outside | Literal["rules"] | None = None,
    gaps: Outside | Literal["rules"] | None = None,
    outline: Outside | Literal["rules"] | None = None,
    writer: Outside | Literal["rules"] | None = None,
    search: Outside | VectorStore | None = None,
    reader: Outside | None = None,
    extractor: Outside | None = None,
    instructions: str | None = None,
    prompts: PromptFiles | None = None,
    guards: Sequence[AnswerGuard] = (),
    verifier: Verifier | None = None,
    policy: ResearchPolicy | None = None,
    budget: ResearchBudget | None = None,
    checkpointer: Any = None,
    name: str | None = None,
    **deployment: Unpack[Deployment],
) -> GuardedGraph[ResearchInput, ResearchContext, ResearchResult]:
    """Return the Research agent as a compiled LangGraph graph.

    It is given ``{"goal": str, "request": {"request": {question, …}, "policy_hints": {…}}}`` and returns a
    `ResearchResult`. The default tools replay recordings of the demo; they need no network.

    Args:
        model: who plans and writes: a chat model, plain or wrapped, ``"openai"``, ``"PROVIDER:NAME"``, or None for
            the offline rules.
        planner: replaces the planner; given ``{goal, request}``, it returns ``{steps}``.
        gaps: replaces who says, behind each search of a run that may make several (`max_queries`), what is still
            missing; given ``{goal, question, queries, notes, unread_urls}``, it returns ``{open, queries}``.
        outline: replaces who proposes the titles of an answer in sections (`max_sections`); given ``{goal, question,
            notes, max_sections}``, it returns ``{sections: [title]}``.
        writer: replaces the writer; given ``{goal, question, notes, max_answer_chars}``, it returns
            ``{answer, citations}``. With ``require_sentence_citations`` it is given ``sentence_citations: true``
            beside, and marks every sentence with ids of notes in square brackets behind it. An answer in sections is
            marked, too: given ``sections: [title]``, it returns ``{sections: [{title, text}], citations}``.
        search: replaces the search; given ``{query, max_results}``, it returns hits, each with a ``url``. One that says
            ``takes_hosts = True`` is given the ``hosts`` that both lists allow too. A tool, a retriever or a vector
            store of LangChain's is asked by a `LangChainSearch`.
        reader: replaces the reader; given ``{url, hosts, limits}``, it returns ``{title, published_at, body}``, and
            what else a page may have, or raises; a `ReadFailure` is one of the listed reasons why a page cannot be
            read. A tool of LangChain's, which is given the URL alone, may return the text alone, or documents.
        extractor: replaces the note extractor; given ``{goal, question, pages, max_notes}``, it returns notes
            ``{claim, quote, url, title, published_at}``. With a `reader` and no extractor, a model proposes the notes;
            where there is no model, they are the sentences that share most with the question.
        instructions: tone, language and house rules of briefs; as for `create_rag_agent`.
        prompts: in place of ours; as for `create_rag_agent`.
        guards: of your own, in their order, behind the answer guard; each sees the answer and its citations, with the
            question and the notes that the writer saw.
        verifier: who judges, behind every other check, whether its evidence bears out each note and each sentence, and
            may only refuse; as for `create_rag_agent`. None by default.
        policy: the two domain lists and the checks.
        budget: the limits of one run; a request may hint at four of them.
        checkpointer: LangGraph's.
        name: the graph's name; ``"research"`` when None, and on LangGraph's server the id in langgraph.json.
        **deployment: world, recorder, reviewers, shadow, forks and live, as for `Pattern.compile`.

    Raises:
        ConfigurationError: an argument is wrong; the message names it.
    """
    limits = choose_settings(ResearchBudget(), budget, "budget")
    rules = choose_settings(ResearchPolicy(), policy, "policy")
    choose = partial(choose_proposer, model=model, budget=limits, prompts=read_own_prompts(prompts, "research"))
    writing = partial(choose, "writer", writer, offline=offline.write_offline_brief, instructions=instructions)
    plan = choose("planner", planner, prompt="research_plan", offline=offline.plan_offline_research)
    ask_gaps = choose("gaps", gaps, prompt="research_gaps", offline=offline.find_offline_gaps)
    entitle = choose("outline", outline, prompt="research_outline", offline=offline.outline_offline_report)
    extract = _choose_note_extractor(extractor, choose, own_reader=reader is not None, by_model=model is not None)
    verify = choose_verifier(verifier)
    p = Pattern(
        extend_catalogue(RESEARCH_REASONS, guards, answering.GUARDED_ANSWER.phase),
        state=ResearchState,
        input=ResearchInput,
        output=ResearchResult,
        policy=rules,
        budget=limits,
        so_far={"notes": "verified_notes", "answer": "accepted_answer.answer"},
        answers={"synthesize": "answer"},
    )
    p.entry("request_guard", searching.run_request_guard_node, to="plan")
    p.propose("plan", searching.make_plan_node(plan), to="plan_guard")
    p.guard("plan_guard", searching.run_plan_guard_node, to="query_guard", again="plan")
    p.guard("query_guard", searching.run_query_guard_node, to="search", again="plan")
    p.act("search", searching.make_search_node(_choose_research_search(search)), to="hits_guard")
    p.guard("hits_guard", searching.run_hits_guard_node, to=["dedupe_guard", "searches_guard"])
    p.guard("dedupe_guard", searching.run_dedupe_guard_node, to=["source_guard", "searches_guard"])
    p.guard("source_guard", searching.run_source_guard_node, to=["read", "searches_guard"])
    p.act("read", searching.make_read_node(_choose_page_reader(reader)), to="pages_guard")
    p.guard("pages_guard", searching.run_pages_guard_node, to=["extract", "searches_guard"])
    answering_ways = ["outline", "synthesize"] if limits.max_sections else ["synthesize"]
    written = [*answering_ways, notes.AGREEMENT_GUARD]
    taken, verified = ["verify_guard", "searches_guard"], [*written, "searches_guard"]
    if verify is None:
        verify_guard, behind = notes.lead_to_agreement(notes.make_verify_guard("synthesize")), verified
    else:
        verify_guard, behind = notes.make_verify_guard("verify_notes"), ["verify_notes"]
    if isinstance(extract, Proposer):
        p.propose("extract", notes.make_propose_notes_node(extract), to="notes_guard")
        p.guard("notes_guard", notes.run_proposed_notes_guard_node, to=taken, again="extract")
        p.guard("verify_guard", verify_guard, to=behind, again="extract")
    else:
        p.act("extract", notes.make_extract_node(extract), to="notes_guard")
        p.guard("notes_guard", notes.run_notes_guard_node, to=taken)
        p.guard("verify_guard", verify_guard, to=behind)
    if verify is not None:
        p.propose("verify_notes", notes.make_verify_notes_node(verify), to="note_support_guard")
        supported = notes.lead_to_agreement(notes.run_note_support_guard_node)
        p.guard("note_support_guard", supported, to=verified, again="verify_notes")
    searched = notes.lead_to_agreement(searching.run_searches_guard_node)
    p.guard("searches_guard", searched, to=["gaps", "search", *written])
    p.propose("gaps", searching.make_gaps_node(ask_gaps), to="gaps_guard")
    closed = notes.lead_to_agreement(searching.run_gaps_guard_node)
    p.guard("gaps_guard", closed, to=["search", *written], again="gaps")
    p.guard(notes.AGREEMENT_GUARD, notes.run_agreement_guard_node, to=answering_ways)
    if rules.on_limit == "partial":
        last = notes.lead_to_agreement(answering.run_limit_guard_node)
        p.limit("limit_guard", last, to=["synthesize", notes.AGREEMENT_GUARD])
    _declare_answer(
        p,
        synthesize=answering.make_synthesize_node(
            writing(prompt="research_answer"), writing(prompt="research_answer_sections")
        ),
        outline=entitle if limits.max_sections else None,
        asks_person=rules.asks_person(),
        guards=guards,
        verifier=verify,
    )
    return p.compile(name=name, checkpointer=checkpointer, **deployment)


def _declare_answer(
    p: Pattern[Any, Any, Any],
    *,
    synthesize: Body,
    outline: Proposer | None,
    asks_person: bool,
    guards: Sequence[AnswerGuard],
    verifier: Proposer | None,
) -> None:
    """Declare how an answer is written, in the sections of an outline where there may be any, and guarded."""
    answer_guard: Body = answering.run_answer_guard_node
    ask_reviewer = answering.make_ask_reviewer_node(answering.check_edited_brief)
    if outline is not None:
        p.propose("outline", answering.make_outline_node(outline), to="outline_guard")
        p.guard("outline_guard", answering.run_outline_guard_node, to="synthesize", again="outline")
        synthesize, answer_guard, ask_reviewer = map(answering.show_outline, (synthesize, answer_guard, ask_reviewer))
    p.propose("synthesize", synthesize, to="answer_guard")
    ending = answering.RISK_GUARD if asks_person else "answered"
    declare_answer_guard(
        p,
        "answer_guard",
        answer_guard,
        replace(answering.GUARDED_ANSWER, ends=(ending,)),
        to=[ending],
        again=["synthesize"],
        guards=guards,
        verifier=verifier,
    )
    if asks_person:
        p.guard(answering.RISK_GUARD, answering.run_risk_guard_node, to=["answered", "ask_reviewer"])
        p.review("ask_reviewer", ask_reviewer, to="brief_review_guard")
        p.guard("brief_review_guard", answering.run_brief_review_guard_node, to=[answering.RISK_GUARD, "edit_brief"])
        p.propose("edit_brief", answering.run_edit_brief_node, to="answer_guard")
        body = answering.tell_approval(answering.run_answered_node)
        p.terminal("answered", body, behind=["answer_guard", answering.RISK_GUARD], held=_HELD)
    else:
        p.terminal("answered", answering.run_answered_node, behind="answer_guard", held=_HELD)


_HELD: Final[Mapping[str, str | tuple[str, ...]]] = {
    "answer": "accepted_answer.answer",
    "citations": "accepted_answer.citations",
    "outcome": ("grounded_research_answer", "grounded_partial"),
}
"""What of the ending is what the answer guard accepted."""


def _choose_note_extractor(
    own: Outside | None, choose: Callable[..., Proposer], *, own_reader: bool, by_model: bool
) -> Outside | Proposer:
    """Return who takes notes; notes were recorded of the demo's pages alone."""
    if own is not None:
        return validate_call_target("extractor", own)
    if not own_reader:
        return make_recorded_extractor()
    return choose("extractor", None, prompt="research_notes", offline=offline_notes) if by_model else offline_notes


def _choose_research_search(own: Outside | VectorStore | None) -> Outside:
    if own is None:
        return make_recorded_search()
    return LangChainSearch(own) if is_from_langchain(own) else validate_call_target("search", own)


def _choose_page_reader(own: Outside | None) -> Outside:
    if own is None:
        return make_recorded_reader()
    return LangChainReader(own) if is_langchain_tool(unwrap_runnable(own)) else validate_call_target("reader", own)

"""The RAG agent: plan a retrieval, hold it against both lists, retrieve, answer with citations or clarify.

A question that follows a conversation is rewritten first, to be understood without it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Unpack

from guardgraph.graphs.grammar import Deployment, Pattern
from guardgraph.graphs.own_guards import Verifier, choose_verifier, declare_answer_guard
from guardgraph.graphs.running.door import GuardedGraph
from guardgraph.nodes import rag as nodes
from guardgraph.nodes.offline import rag as offline
from guardgraph.nodes.offline.rag import condense_offline_question
from guardgraph.nodes.own_guards import AnswerGuard, extend_catalogue
from guardgraph.nodes.rag import LISTED, make_list_sources_node
from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.urls import is_server_url
from guardgraph.state.rag import (
    PASSAGE_CHARS,
    RAG_REASONS,
    RagBudget,
    RagContext,
    RagInput,
    RagPolicy,
    RagResult,
    RagState,
)
from guardgraph.state.settings import choose_settings
from guardgraph.state.tightening import explain_unknown_name
from guardgraph.tools.knowledge_base import demo_documents, load_folder
from guardgraph.tools.langchain.asking import is_from_langchain
from guardgraph.tools.langchain.judges import LangChainReranker, is_document_compressor
from guardgraph.tools.langchain.retriever import LangChainRetriever
from guardgraph.tools.lexical import LexicalRetriever
from guardgraph.tools.tool import choose_retriever_sources
from guardgraph.world.call import Outside
from guardgraph.world.chat_models import ChatModel
from guardgraph.world.prompts import PromptFiles, read_own_prompts
from guardgraph.world.proposers import choose_proposer, validate_call_target

if TYPE_CHECKING:
    from langchain_core.documents.compressor import BaseDocumentCompressor
    from langchain_core.vectorstores import VectorStore

    from guardgraph.knowledge.base import AnyKnowledgeBase


CLARIFICATION = (
    "I found nothing in the knowledge base that answers this. "
    "Please name the product, plan or policy that you mean, or ask about something that it covers."
)
"""What a run says when nothing relevant was found, or the answerer abstained."""

DEMO_SOURCES = ("support_policy", "security_policy", "billing_policy")
"""The demo base's sources that are on both lists; operations_notes is on neither."""


def create_rag_agent(
    model: ChatModel | str | None = None,
    *,
    condenser: Outside | Literal["rules"] | None = None,
    planner: Outside | Literal["rules"] | None = None,
    answerer: Outside | Literal["rules"] | None = None,
    knowledge_base: str | Path | AnyKnowledgeBase | None = None,
    retriever: Outside | VectorStore | None = None,
    reranker: Outside | BaseDocumentCompressor | None = None,
    sources: Sequence[str] | None = None,
    policy: RagPolicy | None = None,
    budget: RagBudget | None = None,
    clarification: str = CLARIFICATION,
    instructions: str | None = None,
    prompts: PromptFiles | None = None,
    guards: Sequence[AnswerGuard] = (),
    verifier: Verifier | None = None,
    checkpointer: Any = None,
    name: str | None = None,
    **deployment: Unpack[Deployment],
) -> GuardedGraph[RagInput, RagContext, RagResult]:
    """Return the RAG agent as a compiled LangGraph graph.

    It is given ``{"question": str}``, with the conversation before it as ``{"history": [{"role", "content"}]}`` beside,
    and returns a `RagResult`.

    Args:
        model: who rewrites, plans and answers: a chat model, plain or wrapped, ``"openai"``, ``"PROVIDER:NAME"``, or
            None for the offline rules.
        condenser: replaces who rewrites a question with a history; given ``{question, history}``, it returns
            ``{question}``, which is understood without the history. Nobody is asked where there is none.
        planner: replaces the planner; given ``{question, available_sources}``, it returns an intent. For this and the
            other proposers, ``"rules"`` stands for the offline rule, whatever model the others have.
        answerer: replaces the answerer; given ``{question, context_chunks}``, it returns ``{answer, citations}``, or
            ``{"insufficient": true}`` where the context does not answer the question. With
            ``require_sentence_citations`` it is given ``sentence_citations: true`` beside, and marks every sentence
            with ids in square brackets behind it.
        knowledge_base: a folder of `.md`, `.rst`, `.html` and `.txt` files, as `load_folder` reads it; a
            `KnowledgeBase`, or its file; a `PostgresKnowledgeBase`, or its URL; the demo base when neither it nor a
            retriever is given.
        retriever: replaces the retriever; given ``{query, sources, top_k}`` and, of a run that has one, the ``caller``,
            it returns candidates, best first. A vector store, a retriever or a tool of LangChain's is asked by a
            `LangChainRetriever`.
        reranker: orders what was found anew, or leaves some of it out, before the context is chosen; given ``{query,
            candidates}``, it returns candidates of these, best first. A document compressor of LangChain's fits. None
            by default.
        sources: the names of the sources that the retriever has, if it does not say so by its attribute `sources`.
        policy: the two source lists and the checks. A list that it leaves out holds the knowledge base's sources; of a
            `KnowledgeBase`, those of which the run's caller may read something, as each run finds them. Where nobody
            says what a retriever has, it names both.
        budget: the limits of one run.
        clarification: what a run says when nothing relevant was found, or the answerer abstained.
        instructions: tone, language and house rules, told to the models that write answers, behind the prompt and
            within its rules; guards decide as they do without. The offline rules and proposers of your own are not told
            them.
        prompts: in place of ours, a folder of files ``NAME.md`` or their texts by name, with the same fields;
            ``guardgraph prompts`` writes ours out.
        guards: of your own, in their order, behind the answer guard; each sees the answer and its citations, with the
            question and the context that the answerer saw.
        verifier: who judges, behind every other check, whether its evidence bears out each sentence, and may only
            refuse: a chat model or its name, a cross-encoder of LangChain's, or a Runnable or function that is given
            ``{claims: [{number, claim, evidence}]}`` and returns ``{claims: [{number, supported}]}``. None by default.
        checkpointer: LangGraph's.
        name: the graph's name; ``"rag"`` when None, and on LangGraph's server the id in langgraph.json.
        **deployment: world, recorder, reviewers, shadow, forks and live, as for `Pattern.compile`.

    Raises:
        ConfigurationError: an argument is wrong, or a list of the policy names a source that the knowledge base or a
            retriever with `sources` does not have; the message names it.
    """
    limits = choose_settings(RagBudget(), budget, "budget")
    rules = choose_settings(RagPolicy(), policy, "policy")
    chosen = _choose_retriever(retriever, knowledge_base, sources, limits)
    if not isinstance(clarification, str) or not clarification.strip():
        raise ConfigurationError(f"clarification: a text that is not blank; given: {clarification!r:.80}")
    choose = partial(choose_proposer, model=model, budget=limits, prompts=read_own_prompts(prompts, "rag"))
    condense = choose("condenser", condenser, prompt="rag_condense", offline=condense_offline_question)
    plan = choose("planner", planner, prompt="rag_plan", offline=offline.plan_offline_retrieval)
    answering = partial(choose, "answerer", answerer, offline=offline.write_offline_answer, instructions=instructions)
    answer = answering(prompt="rag_answer")
    if is_document_compressor(reranker):
        reranker = LangChainReranker(reranker)
    elif reranker is not None:
        reranker = validate_call_target("reranker", reranker)
    p = Pattern(
        extend_catalogue(RAG_REASONS, guards, nodes.GUARDED_ANSWER.phase),
        state=RagState,
        input=RagInput,
        output=RagResult,
        policy=_fill_rag_policy(rules, chosen),
        budget=limits,
        so_far={"passages": "accepted_context.chunks", "answer": "accepted_answer.answer"},
        answers={"generate": "answer"},
    )
    listed = () if chosen.live is None else LISTED
    if chosen.live is None:
        p.entry("request_guard", nodes.make_request_guard_node(is_live=False), to=["plan", "condense"])
    else:
        p.entry("request_guard", nodes.make_request_guard_node(is_live=True), to=["list_sources"])
        p.act("list_sources", make_list_sources_node(chosen.live), to="sources_guard")
        p.guard("sources_guard", nodes.run_sources_guard_node, to=["plan", "condense"])
    p.propose("condense", nodes.make_condense_node(condense), to="question_guard")
    p.guard("question_guard", nodes.run_question_guard_node, to="plan", again="condense")
    p.propose("plan", nodes.make_plan_node(plan, listed), to="policy_guard")
    p.guard("policy_guard", nodes.make_policy_guard_node(listed), to="execution_guard", again="plan")
    p.guard("execution_guard", nodes.make_execution_guard_node(listed), to="retrieve", again="plan")
    if reranker is None:
        p.act("retrieve", nodes.make_retrieve_node(chosen.retriever, listed), to="context_guard")
        pack = nodes.make_context_guard_node(clarification)
    else:
        p.act("retrieve", nodes.make_retrieve_node(chosen.retriever, listed), to="candidates_guard")
        p.guard("candidates_guard", nodes.run_candidates_guard_node, to="rerank")
        p.act("rerank", nodes.make_rerank_node(reranker), to="context_guard")
        pack = nodes.make_reranked_guard_node(clarification)
    p.guard("context_guard", pack, to=["generate", "clarified"])
    p.propose("generate", nodes.make_generate_node(answer), to="answer_guard")
    declare_answer_guard(
        p,
        "answer_guard",
        nodes.make_answer_guard_node(clarification),
        nodes.GUARDED_ANSWER,
        to=["answered", "clarified"],
        again=["generate"],
        guards=guards,
        verifier=choose_verifier(verifier),
    )
    of_answer = ("answer", "citations", "citation_details")
    held: dict[str, str | tuple[str, ...]] = {key: f"accepted_answer.{key}" for key in of_answer}
    outcomes = ("grounded_answer", "grounded_partial")
    p.terminal("answered", nodes.run_answered_node, held={**held, "outcome": outcomes})
    asked: dict[str, str | tuple[str, ...]] = {"answer": "accepted_clarification.answer", "outcome": ("clarify",)}
    p.terminal("clarified", nodes.run_clarified_node, held=asked)
    return p.compile(name=name, checkpointer=checkpointer, **deployment)


class _ChosenRetriever(NamedTuple):
    retriever: Outside
    listed: tuple[str, ...] | None = None  # those that lists hold which are left out; None where nobody knows
    there_are: tuple[str, ...] | None = None  # all of them; None where nobody knows, or they come and go
    live: Outside | None = None  # of a live base, whose sources each run asks for: what lists them


def _choose_retriever(
    own: Outside | VectorStore | None,
    base: str | Path | AnyKnowledgeBase | None,
    sources: Sequence[str] | None,
    budget: RagBudget,
) -> _ChosenRetriever:
    if own is not None and base is not None:
        raise ConfigurationError("retriever, knowledge_base: give one of them, not both")
    if own is None and sources is not None:
        given = "the demo base" if base is None else "a knowledge_base"
        raise ConfigurationError(f"sources: they name what a retriever has; given: {given}, which says it itself")
    if own is not None:
        known = choose_retriever_sources(own, sources)
        retriever = (
            LangChainRetriever(own, sources=sources)
            if is_from_langchain(own)
            else validate_call_target("retriever", own)
        )
        return _ChosenRetriever(retriever, known, known)
    if base is None:
        demo = LexicalRetriever(demo_documents())
        return _ChosenRetriever(demo, DEMO_SOURCES, demo.sources)
    if not isinstance(base, str | Path) or is_server_url(base) or os.path.isfile(base):
        from guardgraph.knowledge.base import AnyKnowledgeBase, open_knowledge_base

        if isinstance(base, str | Path):
            index = open_knowledge_base(base)
        else:
            if not isinstance(base, AnyKnowledgeBase):
                raise ConfigurationError(
                    f"knowledge_base: a folder, a knowledge base, its file or its URL is required; given: {base!r:.80}"
                )
            index = base
        return _ChosenRetriever(index, live=index.list_sources)
    loaded = LexicalRetriever(load_folder(base, max_chars=max(min(PASSAGE_CHARS, budget.max_context_chars), 1)))
    return _ChosenRetriever(loaded, loaded.sources, loaded.sources)


def _fill_rag_policy(policy: RagPolicy, chosen: _ChosenRetriever) -> RagPolicy:
    """Return a policy whose lists name sources that there are; those that a live base's runs fill stay open."""
    left_out = [name for name in RagPolicy.filled if policy.is_open(name)]
    if chosen.live is not None:
        return policy
    if left_out and chosen.listed is None:
        raise ConfigurationError(
            f"sources: the names of what the retriever has are required, or a policy with {' and '.join(left_out)}"
        )
    if chosen.there_are is not None:
        unknown = partial(explain_unknown_name, names=chosen.there_are)
        policy.check_listed("policy", dict.fromkeys((*RagPolicy.filled, "denied_sources"), unknown))
    return policy.model_copy(update=dict.fromkeys(left_out, chosen.listed))

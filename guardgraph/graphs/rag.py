"""The RAG agent: plan a retrieval, hold it against both lists, retrieve, answer with citations or clarify."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from guardgraph.graphs.grammar import Pattern
from guardgraph.graphs.running.door import GuardedGraph
from guardgraph.nodes import rag as nodes
from guardgraph.nodes.offline import rag as offline
from guardgraph.plain.errors import ConfigurationError
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
from guardgraph.state.recording import Recorder
from guardgraph.state.settings import choose_settings
from guardgraph.state.tightening import explain_unknown_name
from guardgraph.tools.knowledge_base import demo_documents, load_folder
from guardgraph.tools.langchain.asking import is_from_langchain
from guardgraph.tools.langchain.reranker import LangChainReranker, is_document_compressor
from guardgraph.tools.langchain.retriever import LangChainRetriever
from guardgraph.tools.lexical import LexicalRetriever
from guardgraph.tools.tool import choose_retriever_sources
from guardgraph.world.call import Outside, World
from guardgraph.world.proposers import Proposer, choose_proposer, validate_call_target
from guardgraph.world.wrapped import ChatModel

if TYPE_CHECKING:
    from langchain_core.documents.compressor import BaseDocumentCompressor
    from langchain_core.vectorstores import VectorStore

    from guardgraph.knowledge.base import KnowledgeBase


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
    planner: Outside | None = None,
    answerer: Outside | None = None,
    knowledge_base: str | Path | KnowledgeBase | None = None,
    retriever: Outside | VectorStore | None = None,
    reranker: Outside | BaseDocumentCompressor | None = None,
    sources: Sequence[str] | None = None,
    policy: RagPolicy | None = None,
    budget: RagBudget | None = None,
    clarification: str = CLARIFICATION,
    checkpointer: Any = None,
    name: str | None = None,
    world: World | None = None,
    recorder: Recorder | None = None,
    shadow: Mapping[str, GuardedGraph] | None = None,
) -> GuardedGraph[RagInput, RagContext, RagResult]:
    """Return the RAG agent as a compiled LangGraph graph.

    It is given ``{"question": str}`` and returns a `RagResult`.

    Args:
        model: who plans and answers: a chat model, plain or wrapped, ``"openai"``, ``"PROVIDER:NAME"``, or None for
            the offline rules.
        planner: replaces the planner; given ``{question, available_sources}``, it returns an intent.
        answerer: replaces the answerer; given ``{question, context_chunks}``, it returns ``{answer, citations}``, or
            ``{"insufficient": true}`` where the context does not answer the question. With
            ``require_sentence_citations`` it is given ``sentence_citations: true`` beside, and marks every sentence
            with ids in square brackets behind it.
        knowledge_base: a folder of `.md`, `.rst`, `.html` and `.txt` files, as `load_folder` reads it; a
            `KnowledgeBase`, or its file; the demo base when neither it nor a retriever is given.
        retriever: replaces the retriever; given ``{query, sources, top_k}`` and, of a run that has one, the ``caller``,
            it returns candidates, best first. A vector store, a retriever or a tool of LangChain's is asked by a
            `LangChainRetriever`.
        reranker: orders what was found anew, or leaves some of it out, before the context is chosen; given ``{query,
            candidates}``, it returns candidates of these, best first. A document compressor of LangChain's fits. None
            by default.
        sources: the names of the sources that the retriever has, if it does not say so by its attribute `sources`.
        policy: the two source lists and the checks. A list that it leaves out holds the knowledge base's sources (those
            that a `KnowledgeBase` has now); where nobody says what a retriever has, and where a `KnowledgeBase` has
            documents of several tenants or none at all, it names both.
        budget: the limits of one run.
        clarification: what a run says when nothing relevant was found, or the answerer abstained.
        checkpointer: LangGraph's.
        name: the graph's name; ``"rag"`` when None, and on LangGraph's server the id in langgraph.json.
        world: what the graph reaches outside through; the live one when None.
        recorder: who is given the recording of every run that ends.
        shadow: agents of this pattern by name, who judge every recorded run once more; see `Pattern.compile`.

    Raises:
        ConfigurationError: an argument is wrong, or a list of the policy names a source that the knowledge base or a
            retriever with `sources` does not have; the message names it.
    """
    limits = choose_settings(RagBudget(), budget, "budget")
    rules = choose_settings(RagPolicy(), policy, "policy")
    found, listed, there_are = _choose_retriever(retriever, knowledge_base, sources, rules, limits)
    if not isinstance(clarification, str) or not clarification.strip():
        raise ConfigurationError(f"clarification: a text that is not blank; given: {clarification!r:.80}")
    choose = partial(choose_proposer, model=model, budget=limits)
    answering = partial(choose, "answerer", answerer, offline=offline.write_offline_answer)
    return rag_pattern(
        planner=choose("planner", planner, prompt="rag_plan", offline=offline.plan_offline_retrieval),
        answerer=answering(prompt="rag_answer"),
        marking_answerer=answering(prompt="rag_answer_marked"),
        retriever=found,
        reranker=None if reranker is None else _choose_reranker(reranker),
        policy=_fill_rag_policy(rules, listed, there_are),
        budget=limits,
        clarification=clarification,
    ).compile(name=name, checkpointer=checkpointer, world=world, recorder=recorder, shadow=shadow)


def rag_pattern(
    *,
    planner: Proposer,
    answerer: Proposer,
    marking_answerer: Proposer,
    retriever: Outside,
    reranker: Outside | None,
    policy: RagPolicy,
    budget: RagBudget,
    clarification: str,
) -> Pattern[RagInput, RagContext, RagResult]:
    """Return the RAG agent's diagram."""
    p = Pattern(RAG_REASONS, state=RagState, input=RagInput, output=RagResult, policy=policy, budget=budget)
    p.entry("request_guard", nodes.run_request_guard_node, to="plan")
    p.propose("plan", nodes.make_plan_node(planner), to="policy_guard")
    p.guard("policy_guard", nodes.run_policy_guard_node, to="execution_guard", again="plan")
    p.guard("execution_guard", nodes.run_execution_guard_node, to="retrieve", again="plan")
    if reranker is None:
        p.act("retrieve", nodes.make_retrieve_node(retriever), to="context_guard")
        pack = nodes.make_context_guard_node(clarification)
    else:
        p.act("retrieve", nodes.make_retrieve_node(retriever), to="candidates_guard")
        p.guard("candidates_guard", nodes.run_candidates_guard_node, to="rerank")
        p.act("rerank", nodes.make_rerank_node(reranker), to="context_guard")
        pack = nodes.make_reranked_guard_node(clarification)
    p.guard("context_guard", pack, to=["generate", "clarified"])
    p.propose("generate", nodes.make_generate_node(answerer, marking_answerer), to="answer_guard")
    judge = nodes.make_answer_guard_node(clarification)
    p.guard("answer_guard", judge, to=["answered", "clarified"], again="generate")
    p.terminal("answered", nodes.run_answered_node)
    p.terminal("clarified", nodes.run_clarified_node)
    return p


def _choose_retriever(
    own: Outside | VectorStore | None,
    base: str | Path | KnowledgeBase | None,
    sources: Sequence[str] | None,
    policy: RagPolicy,
    budget: RagBudget,
) -> tuple[Outside, tuple[str, ...] | None, tuple[str, ...] | None]:
    """Return the retriever, the sources that lists hold which are left out, and all that it has; None if unknown."""
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
        return retriever, known, known
    if base is None:
        demo = LexicalRetriever(demo_documents())
        return demo, DEMO_SOURCES, demo.sources
    if not isinstance(base, str | Path) or os.path.isfile(base):
        index = _open_rag_index(base)
        return index, _list_live_sources(index, policy), None
    loaded = LexicalRetriever(load_folder(base, max_chars=max(min(PASSAGE_CHARS, budget.max_context_chars), 1)))
    return loaded, loaded.sources, loaded.sources


def _open_rag_index(base: object) -> KnowledgeBase:
    from guardgraph.knowledge.base import KnowledgeBase

    if isinstance(base, str | Path):
        return KnowledgeBase(base)
    if not isinstance(base, KnowledgeBase):
        raise ConfigurationError(f"knowledge_base: a folder, a KnowledgeBase or its file; given: {base!r:.80}")
    return base


def _list_live_sources(index: KnowledgeBase, policy: RagPolicy) -> tuple[str, ...]:
    """Return the sources that a live base has now, if one tenant's planner may be shown all their names.

    Raises:
        ConfigurationError: there are several tenants or no sources, and the policy leaves a list out.
    """
    tenants = index.tenants()
    left_out = [name for name in RagPolicy.filled if policy.is_open(name)]
    if left_out and len(tenants) != 1:
        given = f"{len(tenants)} tenants, and a planner is shown the names" if tenants else "no documents yet"
        raise ConfigurationError(f"policy: required with {index.path}, which has {given}: {' and '.join(left_out)}")
    return index.source_names()


def _choose_reranker(given: Outside | BaseDocumentCompressor) -> Outside:
    return LangChainReranker(given) if is_document_compressor(given) else validate_call_target("reranker", given)


def _fill_rag_policy(
    policy: RagPolicy, sources: tuple[str, ...] | None, there_are: tuple[str, ...] | None
) -> RagPolicy:
    left_out = [name for name in RagPolicy.filled if policy.is_open(name)]
    if left_out and sources is None:
        raise ConfigurationError(
            f"sources: the names of what the retriever has are required, or a policy with {' and '.join(left_out)}"
        )
    if there_are is not None:
        policy.check_listed(
            "policy", {name: partial(explain_unknown_name, names=there_are) for name in RagPolicy.filled}
        )
    return policy.model_copy(update=dict.fromkeys(left_out, sources))

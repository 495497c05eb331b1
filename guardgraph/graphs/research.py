"""The Research agent: plan, search, dedupe, read what both lists allow, verify the notes, cite them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from guardgraph.graphs.door import GuardedGraph
from guardgraph.graphs.grammar import Pattern
from guardgraph.nodes import research as nodes
from guardgraph.nodes.offline import research as offline
from guardgraph.state.recording import Recorder
from guardgraph.state.research import (
    RESEARCH_REASONS,
    ResearchBudget,
    ResearchInput,
    ResearchPolicy,
    ResearchResult,
    ResearchState,
)
from guardgraph.state.settings import settings_or
from guardgraph.tools.recordings import recorded_notes, recorded_reader, recorded_search
from guardgraph.world.call import Outside
from guardgraph.world.proposers import Proposer, choose_proposer, outside
from guardgraph.world.world import World

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

__all__ = ["create_research_agent", "research_pattern"]


def create_research_agent(
    model: BaseChatModel | str | None = None,
    *,
    planner: Outside | None = None,
    writer: Outside | None = None,
    search: Outside | None = None,
    reader: Outside | None = None,
    extractor: Outside | None = None,
    policy: ResearchPolicy | None = None,
    budget: ResearchBudget | None = None,
    checkpointer: Any = None,
    name: str = "research_agent",
    world: World | None = None,
    recorder: Recorder | None = None,
) -> GuardedGraph:
    """Return the Research agent as a compiled LangGraph graph.

    It is given ``{"goal": str, "request": {"request": {question, …}, "policy_hints": {…}}}`` and returns a
    `ResearchResult`. The default tools replay recordings of the demo; they need no network.

    Args:
        model: who plans and writes: a chat model, ``"openai"``, ``"openai:NAME"``, or None for the offline rules.
        planner: replaces the planner; given ``{goal, request}``, it returns ``{steps}``.
        writer: replaces the writer; given ``{goal, question, notes, max_answer_chars}``, it returns
            ``{answer, citations}``.
        search: replaces the search; given ``{query, max_results}``, it returns hits, each with a ``url``.
        reader: replaces the reader; given ``{url}``, it returns ``{title, published_at, body}`` or raises.
        extractor: replaces the note extractor; given ``{goal, question, pages, max_notes}``, it returns notes
            ``{claim, quote, url, title, published_at}``.
        policy: the two domain lists and the checks.
        budget: the limits of one run; a request may hint at four of them.
        checkpointer: LangGraph's.
        name: the graph's name.
        world: what the graph reaches outside through; the live one when None.
        recorder: who is given the recording of every run that ends.

    Raises:
        ConfigurationError: an argument is wrong; the message names it.
    """
    limits = settings_or(ResearchBudget(), budget, "budget")
    choose = partial(choose_proposer, model=model, budget=limits)
    return research_pattern(
        planner=choose("planner", planner, prompt="research_plan", offline=offline.plan),
        writer=choose("writer", writer, prompt="research_answer", offline=offline.answer),
        search=outside("search", recorded_search() if search is None else search),
        reader=outside("reader", recorded_reader() if reader is None else reader),
        extractor=outside("extractor", recorded_notes() if extractor is None else extractor),
        policy=settings_or(ResearchPolicy(), policy, "policy"),
        budget=limits,
    ).compile(name=name, checkpointer=checkpointer, world=world, recorder=recorder)


def research_pattern(
    *,
    planner: Proposer,
    writer: Proposer,
    search: Outside,
    reader: Outside,
    extractor: Outside,
    policy: ResearchPolicy,
    budget: ResearchBudget,
) -> Pattern:
    """Return the Research agent's diagram."""
    p = Pattern(
        RESEARCH_REASONS,
        state=ResearchState,
        input=ResearchInput,
        output=ResearchResult,
        policy=policy,
        budget=budget,
    )
    p.entry("request_guard", nodes.check_request, writes=["task"], to="plan")
    _plan(p, planner)
    _search(p, search)
    _read(p, reader)
    _take_notes(p, extractor)
    _write(p, writer)
    return p


def _plan(p: Pattern, planner: Proposer) -> None:
    p.propose("plan", nodes.plan(planner), phase="plan", reads=["task"], writes=["proposed_plan"], to="plan_guard")
    p.guard(
        "plan_guard",
        nodes.check_plan,
        phase="plan",
        reads=["proposed_plan"],
        writes=["accepted_plan"],
        to="query_guard",
        stops=["llm", "invalid_plan"],
    )
    p.guard(
        "query_guard",
        nodes.check_query,
        phase="search",
        reads=["accepted_plan"],
        writes=["accepted_query"],
        to="search",
        stops=["invalid_search"],
    )


def _search(p: Pattern, search: Outside) -> None:
    p.act(
        "search",
        nodes.search(search),
        phase="search",
        reads=["task", "accepted_query"],
        writes=["found_hits"],
        to="hits_guard",
    )
    p.guard(
        "hits_guard",
        nodes.check_hits,
        phase="search",
        reads=["task", "accepted_query", "found_hits"],
        writes=["accepted_hits"],
        to="dedupe_guard",
        stops=["tool", "budget"],
    )
    p.guard(
        "dedupe_guard",
        nodes.dedupe,
        phase="dedupe",
        reads=["task", "accepted_hits"],
        writes=["accepted_sources"],
        to="source_guard",
        stops=["no_sources"],
    )


def _read(p: Pattern, reader: Outside) -> None:
    p.guard(
        "source_guard",
        nodes.check_sources,
        phase="read_extract",
        reads=["task", "accepted_sources"],
        writes=["accepted_sources"],
        to="read",
        stops=["no_sources"],
    )
    p.act(
        "read",
        nodes.read(reader),
        phase="read_extract",
        reads=["task", "accepted_sources"],
        writes=["found_pages"],
        to="pages_guard",
    )
    p.guard(
        "pages_guard",
        nodes.check_pages,
        phase="read_extract",
        reads=["task", "accepted_sources", "found_pages"],
        writes=["accepted_pages", "accepted_sources"],
        to="extract",
        stops=["tool", "no_sources"],
    )


def _take_notes(p: Pattern, extractor: Outside) -> None:
    p.act(
        "extract",
        nodes.extract(extractor),
        phase="read_extract",
        reads=["task", "accepted_sources", "accepted_pages"],
        writes=["found_notes"],
        to="notes_guard",
    )
    p.guard(
        "notes_guard",
        nodes.check_notes,
        phase="read_extract",
        reads=["task", "accepted_sources", "accepted_pages", "found_notes"],
        writes=["accepted_notes", "accepted_sources"],
        to="verify_guard",
        stops=["tool", "no_sources", "invalid_notes", "budget"],
    )
    p.guard(
        "verify_guard",
        nodes.verify,
        phase="verify",
        reads=["accepted_pages", "accepted_notes"],
        to="synthesize",
        stops=["tool", "verification_failed"],
    )


def _write(p: Pattern, writer: Proposer) -> None:
    p.propose(
        "synthesize",
        nodes.synthesize(writer),
        phase="synthesize",
        reads=["task", "accepted_sources", "accepted_notes"],
        writes=["proposed_answer"],
        to="answer_guard",
    )
    p.guard(
        "answer_guard",
        nodes.check_answer,
        phase="synthesize",
        reads=["task", "accepted_sources", "accepted_notes", "proposed_answer"],
        writes=["accepted_answer", "accepted_sources"],
        to="answered",
        stops=["llm", "no_sources", "invalid_answer"],
    )
    found = ["accepted_query", "accepted_hits", "accepted_sources", "accepted_pages", "accepted_notes"]
    brief = ["outcome", "answer", "citations", "citation_details", "passages", "aggregate"]
    p.terminal(
        "answered",
        nodes.answered,
        phase="synthesize",
        reads=[*found, "accepted_answer"],
        writes=[*brief, "dropped_urls", "failed_sources"],
    )

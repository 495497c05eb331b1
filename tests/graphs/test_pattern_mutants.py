"""Mutants of the guards of the RAG, the Research and the Self-critique agent: nothing comes of what they forget.

A mutant judges by other settings than the run's: it forgets a list, a budget, who asks. (The tool agent's, which also
forget support, the question and the approval, are in test_tool_mutants.py; these three ask no person.) Each is named,
with what refuses the run in its place, or why it is harmless. What was done is counted at the tools and the proposers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import pytest
import self_critique_cases as critique_cases
from langgraph.checkpoint.memory import InMemorySaver
from rag_agents import CANDIDATE, NAMED, QUESTION, SOURCES
from rag_agents import agent as rag_agent
from research_cases import QUESTION as RESEARCHED
from research_cases import REGULATOR_HOST, SLA_HOST, STEPS, asked, hits, quotes, reads, vendor

from guardgraph import RagBudget, RagPolicy, ResearchBudget, ResearchPolicy, create_research_agent, verify
from guardgraph.nodes import rag, self_critique
from guardgraph.nodes.body import declares, read_body_declaration
from guardgraph.nodes.research import answering, notes, searching
from guardgraph.state.context import Caller
from guardgraph.testing import scripted_tool

pytestmark = pytest.mark.unreplayable(reason="the mutant is gone when the run is decided again")

THREAD = {"configurable": {"thread_id": "1"}}
BOTH_LISTS = ("policy", "execution")
OWN_SOURCE = {**CANDIDATE, "doc_id": "b", "source": "billing_policy", "text": "P1 within 15 minutes, too."}
WITHHELD = {**CANDIDATE, "readers": ["group:lawyers"]}
ADA, LAWYER = {"user": "ada", "groups": []}, Caller(user="eve", groups=("lawyers",))
ELSEWHERE = f"https://{REGULATOR_HOST}/a"
MOVED = {"title": "a", "published_at": "", "body": "This is what the page a says.", "final_url": ELSEWHERE}


RESEARCH = (searching, notes, answering)


@dataclass(frozen=True)
class Mutant:
    """A guard that forgets something, a run of it, and what becomes of that."""

    nodes: tuple[str, ...]
    """The bodies, or the functions that make them, by their names in the modules of the pattern's nodes."""
    forgets: dict[str, Any]
    """By what it judges instead: settings of the policy and the budget, another ``caller``, other channels."""
    refused: str | None = None
    """The reason for which the run stops all the same; None where the mutant is harmless, for what its name says."""
    phase: str | None = None
    given: dict[str, Any] = field(default_factory=dict)
    """What the agent is made of."""
    done: Any = ()
    """What was asked of the tools, or proposed, in the end."""


def forget(body: Any, forgotten: dict[str, Any]) -> Any:
    """Return the body of a guard that judges by other settings than the run's."""
    changes = forgotten.get("channels", {})

    def mutant(state: Any, run: Any) -> Any:
        policy = run.policy.model_copy(update=forgotten.get("policy", {}))
        budget = run.budget.model_copy(update=forgotten.get("budget", {}))
        run = run._replace(policy=policy, budget=budget, caller=forgotten.get("caller", run.caller))
        return body({**state, **{name: change(state.get(name)) for name, change in changes.items()}}, run)

    said = read_body_declaration(body)
    return declares(**{item.name: getattr(said, item.name) for item in fields(said)})(mutant)


def mutate(monkeypatch: pytest.MonkeyPatch, modules: Any, mutant: Mutant) -> None:
    """Put mutants in the place of guards, in the module of a pattern's nodes, or in those of several that has them."""
    for name in mutant.nodes:
        several = modules if isinstance(modules, tuple) else (modules,)
        module = next(each for each in several if hasattr(each, name))
        honest = getattr(module, name)
        is_made = name.startswith("make_")
        by = (
            (lambda *given, of=honest: forget(of(*given), mutant.forgets))
            if is_made
            else forget(honest, mutant.forgets)
        )
        monkeypatch.setattr(module, name, by)


def check_ending(result: Any, mutant: Mutant) -> None:
    """Check that a run was refused for the reason that another part of the graph has, or ended well."""
    if mutant.refused is None:
        assert result["status"] == "ok", result["stop_reason"]
    else:
        assert (result["stop_reason"], result["phase"]) == (mutant.refused, mutant.phase)


def rag_lists(**lists: Sequence[str]) -> RagPolicy:
    """Return a policy with both lists, full where nothing is said."""
    given = {f"allowed_sources_{name}": lists.get(name, SOURCES) for name in BOTH_LISTS}
    return RagPolicy(**given)


EVERY_SOURCE = {f"allowed_sources_{name}": tuple(SOURCES) for name in BOTH_LISTS}
ASKED = {"query": NAMED["query"], "sources": NAMED["sources"], "top_k": 4}
SEARCHES = [ASKED, {**ASKED, "query": QUESTION["question"]}]
"""The question is searched beside the query, under the same lists and limits."""

RAG_MUTANTS: dict[str, Mutant] = {
    "the policy guard forgets allowed_sources_policy: the execution guard holds an intent against both": Mutant(
        ("make_policy_guard_node",),
        {"policy": EVERY_SOURCE},
        "source_denied:support_policy",
        "retrieve",
        {"policy": rag_lists(policy=["billing_policy"])},
    ),
    "both guards of the intent forget both lists: the act node asks them again": Mutant(
        ("make_policy_guard_node", "make_execution_guard_node"),
        {"policy": EVERY_SOURCE},
        "source_denied:support_policy",
        "retrieve",
        {"policy": rag_lists(policy=["billing_policy"])},
    ),
    "the execution guard forgets allowed_sources_execution: the act node asks it again": Mutant(
        ("make_execution_guard_node",),
        {"policy": EVERY_SOURCE},
        "source_denied:support_policy",
        "retrieve",
        {"policy": rag_lists(execution=["billing_policy"])},
    ),
    "the execution guard forgets max_query_chars: the act node asks it again": Mutant(
        ("make_execution_guard_node",),
        {"budget": {"max_query_chars": 9999}},
        "invalid_intent:query_too_long",
        "retrieve",
        {"budget": RagBudget(max_query_chars=10)},
    ),
    "the policy guard forgets max_top_k: harmless, the retriever is asked for no more": Mutant(
        ("make_policy_guard_node",),
        {"budget": {"max_top_k": 50}},
        given={"planner": scripted_tool({**NAMED, "top_k": 50}, loop=True), "budget": RagBudget(max_top_k=4)},
        done=SEARCHES,
    ),
    "the context guard forgets which sources were asked: no model is shown one that is not on both lists": Mutant(
        ("make_context_guard_node",),
        {"channels": {"asked_retrieval": lambda asked: {**asked, "sources": SOURCES}}},
        "source_denied:billing_policy",
        "generate",
        {
            "policy": rag_lists(policy=["support_policy"]),
            "retriever": scripted_tool([CANDIDATE, OWN_SOURCE], loop=True),
        },
        done=SEARCHES,
    ),
    "the context guard forgets who asks: what they may not read is not even kept": Mutant(
        ("make_context_guard_node",),
        {"caller": LAWYER},
        "tool_invalid_output:retrieve",
        "retrieve",
        {"retriever": scripted_tool([CANDIDATE, WITHHELD], loop=True)},
        done=[{**each, "caller": {"tenant": None, **ADA}} for each in SEARCHES],
    ),
    "the context guard forgets max_context_chunks: harmless, more is shown of what may be read": Mutant(
        ("make_context_guard_node",),
        {"budget": {"max_context_chunks": 99}},
        given={"budget": RagBudget(max_context_chunks=1)},
        done=SEARCHES,
    ),
    "the answer guard forgets both lists: harmless, what it judges was shown under them": Mutant(
        ("make_answer_guard_node",),
        {"policy": EVERY_SOURCE},
        given={"policy": rag_lists(policy=["support_policy"])},
        done=SEARCHES,
    ),
}


def run_rag(mutant: Mutant) -> tuple[Any, Any, Any]:
    """Return the result of a run, and the retriever and answerer that count."""
    retriever = mutant.given.get("retriever") or scripted_tool([CANDIDATE], loop=True)
    answerer = scripted_tool({"answer": "P1 within 15 minutes.", "citations": ["a"]}, loop=True)
    graph = rag_agent(NAMED, **{"policy": rag_lists(), "answerer": answerer, **mutant.given, "retriever": retriever})
    assert verify(graph) == []
    return graph.invoke(QUESTION, context={"caller": ADA} if "caller" in mutant.forgets else None), retriever, answerer


@pytest.mark.parametrize("name", RAG_MUTANTS)
def test_what_a_guard_of_the_rag_agent_forgets_comes_to_nothing(name, monkeypatch):
    """No source is read, and none shown, that is not on both lists, nor a document that the caller may not read."""
    mutant = RAG_MUTANTS[name]
    mutate(monkeypatch, rag, mutant)
    before = len(mutant.given["retriever"].calls) if "retriever" in mutant.given else 0
    result, retriever, answerer = run_rag(mutant)
    check_ending(result, mutant)
    assert sorted(retriever.calls[before:], key=str) == sorted(mutant.done, key=str)  # they are made side by side
    assert len(answerer.calls) == (mutant.refused is None)


HOSTS = (SLA_HOST, REGULATOR_HOST)
EVERY_HOST = {f"allowed_domains_{name}": HOSTS for name in BOTH_LISTS}
SLA_ALONE = ResearchPolicy(allowed_domains_policy=HOSTS, allowed_domains_execution=[SLA_HOST])
ONE_NOTE = {"answer": "It says something.", "citations": ["n1"]}
URL_GUARDS = ("run_hits_guard_node", "run_dedupe_guard_node", "run_source_guard_node")


RESEARCH_MUTANTS: dict[str, Mutant] = {
    "the guards of the hits forget both lists: the source guard judges every URL": Mutant(
        URL_GUARDS[:2], {"policy": EVERY_HOST}, given={"search": hits(ELSEWHERE, *vendor("b"))}, done=vendor("b")
    ),
    "all guards before the reading forget both lists: the act node asks them again": Mutant(
        URL_GUARDS, {"policy": EVERY_HOST}, "no_reliable_sources", "read_extract", {"search": hits(ELSEWHERE)}
    ),
    "the pages guard forgets both lists: no extractor is shown a page that led elsewhere": Mutant(
        ("run_pages_guard_node",),
        {"policy": EVERY_HOST},
        "no_reliable_sources",
        "read_extract",
        {"search": hits(*vendor("a")), "reader": reads(a=MOVED)},
        done=vendor("a"),
    ),
    "the pages and the notes guard forget both lists: no extractor is shown a page that led elsewhere": Mutant(
        ("run_pages_guard_node", "run_notes_guard_node"),
        {"policy": EVERY_HOST},
        "no_reliable_sources",
        "read_extract",
        {"search": hits(*vendor("a")), "reader": reads(a=MOVED)},
        done=vendor("a"),
    ),
    "the dedupe guard forgets max_urls: the source guard cuts what is read": Mutant(
        ("run_dedupe_guard_node",),
        {"budget": {"max_urls": 99}},
        given={"search": hits(*vendor("a", "b", "c")), "budget": ResearchBudget(max_urls=1)},
        done=vendor("a"),
    ),
    "the guards of the URLs forget max_urls: harmless, no more than max_read_pages are read": Mutant(
        URL_GUARDS,
        {"budget": {"max_urls": 99}},
        given={"search": hits(*vendor("a", "b", "c")), "budget": ResearchBudget(max_urls=1, max_read_pages=1)},
        done=vendor("a"),
    ),
    "the notes guard forgets max_notes: harmless, each is held against a page that was read": Mutant(
        ("run_notes_guard_node",),
        {"budget": {"max_notes": 99}},
        given={"search": hits(*vendor("a", "b")), "budget": ResearchBudget(max_notes=1)},
        done=vendor("a", "b"),
    ),
    "the plan guard forgets max_steps: harmless, a plan has the five steps of every run": Mutant(
        ("run_plan_guard_node",),
        {"budget": {"max_steps": 99}},
        given={"search": hits(*vendor("a")), "budget": ResearchBudget(max_steps=5)},
        done=vendor("a"),
    ),
    "the answer guard forgets both lists: harmless, the writer is shown no note of another host": Mutant(
        ("run_answer_guard_node",), {"policy": EVERY_HOST}, given={"search": hits(*vendor("a"))}, done=vendor("a")
    ),
    "the request guard forgets the hints: harmless, the lists hold, which hints can only narrow": Mutant(
        ("run_request_guard_node",),
        {"channels": {"request": lambda request: {**request, "policy_hints": {}}}},
        given={"search": hits(ELSEWHERE, *vendor("b"))},
        done=vendor("b"),
    ),
}


def run_research(mutant: Mutant) -> tuple[Any, Any, Any]:
    """Return the result of a run, and the reader and extractor that count."""
    reader, extractor = mutant.given.get("reader") or reads(), quotes()
    parts = {"planner": scripted_tool({"steps": STEPS}, loop=True), "policy": SLA_ALONE, "extractor": extractor}
    graph = create_research_agent(**{**parts, "writer": lambda view: ONE_NOTE, **mutant.given, "reader": reader})
    assert verify(graph) == []
    return graph.invoke(asked(RESEARCHED)), reader, extractor


@pytest.mark.parametrize("name", RESEARCH_MUTANTS)
def test_what_a_guard_of_the_research_agent_forgets_comes_to_nothing(name, monkeypatch):
    """No page is read, and none shown, of a host that is not on both lists, nor more pages than the budget has."""
    mutant = RESEARCH_MUTANTS[name]
    mutate(monkeypatch, RESEARCH, mutant)
    before = len(mutant.given["reader"].calls) if "reader" in mutant.given else 0
    result, reader, extractor = run_research(mutant)
    check_ending(result, mutant)
    assert sorted(call["url"] for call in reader.calls[before:]) == list(mutant.done)
    shown = [url for call in extractor.calls for url in call["pages"]]
    assert shown == ([] if mutant.refused else list(mutant.done))


EVERY_DECISION = {f"allowed_decisions_{name}": ("approve", "revise", "escalate") for name in BOTH_LISTS}
NOTHING = {"allowed_decisions_execution": []}


SWITCHED_OFF: dict[str, Any] = {
    "the answer guard of the RAG agent, and the source": (
        (rag, "make_answer_guard_node", EVERY_SOURCE, "answer_guard"),
        lambda saver: rag_agent(
            NAMED,
            policy=rag_lists(),
            retriever=scripted_tool([CANDIDATE], loop=True),
            answerer=scripted_tool({"answer": "P1 within 15 minutes.", "citations": ["a"]}, loop=True),
            checkpointer=saver,
        ),
        QUESTION,
        {"allowed_sources_execution": ["billing_policy"]},
        "source_denied",
    ),
    "the answer guard of the research agent, and the host": (
        (RESEARCH, "run_answer_guard_node", EVERY_HOST, "answer_guard"),
        lambda saver: create_research_agent(
            planner=scripted_tool({"steps": STEPS}, loop=True),
            policy=ResearchPolicy(allowed_domains_policy=HOSTS, allowed_domains_execution=HOSTS),
            search=hits(*vendor("a")),
            reader=reads(),
            extractor=quotes(),
            writer=lambda view: ONE_NOTE,
            checkpointer=saver,
        ),
        asked(RESEARCHED),
        {"allowed_domains_execution": [REGULATOR_HOST]},
        "no_reliable_sources",
    ),
    "the final guard of the self-critique agent, and the decision": (
        (self_critique, "run_final_guard_node", EVERY_DECISION, "final_guard"),
        lambda saver: critique_cases.agent(checkpointer=saver),
        critique_cases.GIVEN,
        NOTHING,
        "critique_decision_denied_execution",
    ),
}
"""A last guard that forgets its lists, and what is switched off while a run waits right before it."""


@pytest.mark.parametrize("forgets", [True, False], ids=["mutant", "honest guard, at the ending"])
@pytest.mark.parametrize("name", SWITCHED_OFF)
def test_what_is_switched_off_before_the_last_guard_or_the_ending_is_not_returned(name, forgets, monkeypatch):
    """The ending asks the lists once more: it returns no text, and says what was switched off."""
    (module, node, everything, guard), make, given, off, reason = SWITCHED_OFF[name]
    if forgets:
        mutate(monkeypatch, module, Mutant((node,), {"policy": everything}))
    graph = make(InMemorySaver())
    assert verify(graph) == []
    ending = {"answer_guard": "answered", "final_guard": "approved"}[guard]
    graph.invoke(given, THREAD, interrupt_before=[guard if forgets else ending])
    result = graph.invoke(None, THREAD, context={"policy": off})
    assert (result["status"], result["stop_reason"]) == ("stopped", f"guard_error:{ending}")
    assert reason in result["details"]["message"]
    assert "answer" not in result
    again = graph.invoke(given, {"configurable": {"thread_id": "2"}})
    assert again["status"] == "ok"

"""The Research agent as an engineer writes it by hand; see nodes.py."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import uuid4

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from measured import Outside

from by_hand_agents.nodes import (
    Ending,
    Update,
    Way,
    add_nodes,
    attempt,
    ended,
    failure,
    on,
    passed_or_stopped,
    returned,
    router,
    step,
    stops_in,
)
from guardgraph import ResearchBudget, ResearchPolicy
from guardgraph.guards import urls
from guardgraph.guards.answers import judge_answer
from guardgraph.guards.research import answer as answers
from guardgraph.guards.research import notes as noted
from guardgraph.guards.research import pages as brought
from guardgraph.guards.research import request as plans
from guardgraph.guards.research import request as requests
from guardgraph.guards.research import sources as judged
from guardgraph.guards.stop import Stop, evidence
from guardgraph.state.research import Note, PlanStep, ResearchSources, ResearchTask, SourcePage


class State(Ending, total=False):
    goal: str
    request: Any
    task: ResearchTask
    limits: dict[str, int]
    domains: dict[str, list[str]]
    proposed_plan: Any
    steps: list[PlanStep]
    query: str
    found: Any
    hits: list[Any]
    sources: ResearchSources
    found_pages: list[tuple[str, Any]]
    pages: dict[str, SourcePage]
    found_notes: Any
    notes: list[Note]
    proposed_answer: Any
    answer: str
    citations: list[str]
    citation_details: list[Update]
    passages: list[Update]
    aggregate: Update
    unverified: list[Any]
    dropped_urls: list[str]
    failed_sources: list[Update]


@dataclass(frozen=True)
class ResearchNodes:
    """The nodes, in the order of the run."""

    planner: Outside
    writer: Outside
    search: Outside
    reader: Outside
    extractor: Outside
    policy: ResearchPolicy
    budget: ResearchBudget

    @stops_in("plan")
    def check_request(self, state: State) -> Update:
        task = requests.parse_research_request(state.get("goal"), state.get("request"))
        hints, policy = task["policy_hints"], self.policy
        domains = {
            "policy": requests.narrow_research_domains(hints, "allowed_domains_policy", policy.allowed_domains_policy),
            "execution": requests.narrow_research_domains(
                hints, "allowed_domains_execution", policy.allowed_domains_execution
            ),
        }
        limits = {
            name: requests.tighten_research_limit(name, hints.get(name), allowed=getattr(self.budget, name))
            for name in requests.HINTED_LIMITS
        }
        return {"run_id": str(uuid4()), "task": task, "domains": domains, "limits": limits}

    def ask_for_plan(self, state: State) -> Update:
        task: Any = state["task"]
        request = {key: task[key] for key in ("question", "report_date", "region") if key in task}
        return {"proposed_plan": self.planner({"goal": task["goal"], "request": request})}

    @stops_in("plan")
    def check_plan(self, state: State) -> Update:
        raw = state["proposed_plan"]
        with evidence(raw_plan=raw):
            steps = plans.parse_research_plan(
                raw.get("steps") if isinstance(raw, dict) else None, max_steps=self.budget.max_steps
            )
        told = {"action": "propose_research_plan", "step_ids": [item["id"] for item in steps]}
        return {"steps": steps, **step(state, told)}

    @stops_in("search")
    def check_query(self, state: State) -> Update:
        with evidence(raw_plan={"steps": state["steps"]}):
            return {"query": plans.read_plan_query(state["steps"])}

    def find(self, state: State) -> Update:
        request = {"query": state["query"], "max_results": 2 * state["limits"]["max_urls"]}
        return {"found": attempt(self.search, request)}

    @stops_in("search")
    def check_hits(self, state: State) -> Update:
        found = plans.read_found_urls(returned(state["found"], "search_sources"))
        most, is_counted = 2 * state["limits"]["max_urls"], partial(urls.is_url_allowed, **state["domains"])
        hits = urls.cut_found_urls(found, max_hits=most, is_counted=is_counted)
        told = {"action": "search_sources", "query": state["query"], "candidates": len(hits)}
        return {"hits": hits, **step(state, told)}

    @stops_in("dedupe")
    def dedupe(self, state: State) -> Update:
        most, is_counted = state["limits"]["max_urls"], partial(urls.is_url_allowed, **state["domains"])
        spellings, dropped = urls.dedupe_found_urls(state["hits"], max_urls=most, is_counted=is_counted)
        if not spellings:
            raise Stop("no_sources_after_dedupe", **({"dropped_urls": dropped} if dropped else {}))
        sources = judged.start_research_sources(spellings, dropped)
        return {"sources": sources, **step(state, {"action": "dedupe_urls", "urls_after_dedupe": len(spellings)})}

    @stops_in("read_extract")
    def check_sources(self, state: State) -> Update:
        usable, sources = judged.select_usable_sources(state["sources"]["urls"], state["sources"], **state["domains"])
        return {"sources": {**sources, "allowed_urls": usable[: state["limits"]["max_urls"]]}}

    def enough(self, found: list[tuple[str, Any]], state: State) -> bool:
        count = sum(brought.is_usable_page(page, **state["domains"]) for _, page in found)
        return count >= state["limits"]["max_read_pages"]

    def read(self, state: State) -> Update:
        found: list[tuple[str, Any]] = []
        for url in state["sources"]["allowed_urls"]:
            if self.enough(found, state):
                break
            found.append((url, attempt(self.reader, {"url": judged.find_source_spelling(url, state["sources"])})))
        return {"found_pages": found}

    async def aread(self, state: State) -> Update:
        found: list[tuple[str, Any]] = []
        for url in state["sources"]["allowed_urls"]:
            if self.enough(found, state):
                break
            found.append((url, await attempt(self.reader, {"url": judged.find_source_spelling(url, state["sources"])})))
        return {"found_pages": found}

    @stops_in("read_extract")
    def check_pages(self, state: State) -> Update:
        pages: dict[str, SourcePage] = {}
        failed: list[Update] = []
        for url, raw in state["found_pages"]:
            if raised := failure(raw):
                failed.append({"url": url, "reason": "read_failed", "details": raised})
            elif (page := brought.parse_source_page(raw)) is None:
                failed.append({"url": url, "reason": "empty_page"})
            else:
                pages[url] = page
        sources: ResearchSources = {**state["sources"], "failed_sources": failed}
        if not pages:
            raise judged.build_sources_stop(sources)
        return {"pages": pages, "sources": sources}

    def extract(self, state: State) -> Update:
        task, most = state["task"], state["limits"]["max_notes"]
        request = {"goal": task["goal"], "question": task["question"], "pages": state["pages"], "max_notes": most}
        return {"found_notes": attempt(self.extractor, request)}

    @stops_in("read_extract")
    def check_notes(self, state: State) -> Update:
        raw = noted.number_notes(returned(state["found_notes"], "extract_notes"))
        if not raw:
            raise judged.build_sources_stop(state["sources"])
        notes = noted.place_notes(noted.parse_notes(raw, max_notes=state["limits"]["max_notes"]), pages=state["pages"])
        noted.check_note_links(notes, question=state["task"]["question"], pages=state["pages"], policy=self.policy)
        denied = state["sources"]["denied_sources"]
        told = {"action": "read_extract_notes", "pages_read": len(state["pages"]), "denied_sources": denied}
        return {"notes": notes, **step(state, told)}

    @stops_in("verify")
    def verify(self, state: State) -> Update:
        verification = noted.verify_notes(
            state["notes"],
            pages=state["pages"],
            check_values=self.policy.check_values,
            check_quotes=self.policy.check_quotes,
        )
        return step(state, {"action": "verify_notes", "checked_notes": verification["checked_notes"]})

    def synthesize(self, state: State) -> Update:
        task, most = state["task"], state["limits"]["max_answer_chars"]
        shown = list(map(noted.show_note, state["notes"]))
        view = {"goal": task["goal"], "question": task["question"], "notes": shown, "max_answer_chars": most}
        return {"proposed_answer": self.writer(view)}

    @stops_in("synthesize")
    def check_answer(self, state: State) -> Update:
        task, proposed, notes = state["task"], state["proposed_answer"], state["notes"]
        fields = proposed if isinstance(proposed, dict) else {}
        most = state["limits"]["max_answer_chars"]
        answer = answers.parse_brief(
            fields, outline=[], max_sections=0, must_cite=False, notes=notes, max_answer_chars=most
        )
        checked = answers.check_answer_sentences(
            answer, question=task["question"], notes=notes, pages=state["pages"], policy=self.policy
        )
        verdict = judge_answer(checked, self.policy)
        if verdict.stops and verdict.refusal is not None:
            raise verdict.refusal
        marked = {"unverified": [item["text"] for item in verdict.unverified]} if verdict.unverified else {}
        cited: list[Any] = answers.select_cited_notes(notes, answer["citations"])
        pages = state["pages"]
        return {
            **answer,
            **({"unverified": verdict.unverified} if verdict.unverified else {}),
            "citation_details": [
                answers.describe_citation(note, pages.get(judged.find_note_url(note))) for note in cited
            ],
            "passages": [{key: note[key] for key in ("id", "claim", "quote")} for note in cited],
            **aggregated(state, answer["citations"]),
            **ended("grounded_research_answer"),
            **step(state, {"action": "synthesize_answer", "citations": answer["citations"], **marked}),
        }


def aggregated(state: State, citations: list[str]) -> Update:
    sources: Any = state["sources"]
    extra = {name: sources[name] for name in ("dropped_urls", "failed_sources") if sources[name]}
    aggregate = {
        "query": state["query"],
        "urls_found": len(state["hits"]),
        "urls_after_dedupe": len(sources["urls"]),
        "pages_read": len(state["pages"]),
        "notes_count": len(state["notes"]),
        "citations_count": len(citations),
        "denied_sources": sources["denied_sources"],
        "verified_notes": len(state["notes"]),
        **extra,
    }
    return {"aggregate": aggregate, **extra}


def research_by_hand(
    *, policy: ResearchPolicy | None = None, budget: ResearchBudget | None = None, way: Way = "sync", **parts: Outside
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Return the Research agent, written by hand; `parts` are its proposers and tools, named as for the factory."""
    do = ResearchNodes(**parts, policy=policy or ResearchPolicy(), budget=budget or ResearchBudget())
    graph, passing = StateGraph(State), router(passed_or_stopped, way)
    _add_nodes(graph, do, way)
    graph.add_edge(START, "check_request")
    graph.add_conditional_edges("check_request", passing, on("plan"))
    graph.add_edge("plan", "check_plan")
    graph.add_conditional_edges("check_plan", passing, on("check_query"))
    graph.add_conditional_edges("check_query", passing, on("search"))
    graph.add_edge("search", "check_hits")
    graph.add_conditional_edges("check_hits", passing, on("dedupe"))
    graph.add_conditional_edges("dedupe", passing, on("check_sources"))
    graph.add_conditional_edges("check_sources", passing, on("read"))
    graph.add_edge("read", "check_pages")
    graph.add_conditional_edges("check_pages", passing, on("extract"))
    graph.add_edge("extract", "check_notes")
    graph.add_conditional_edges("check_notes", passing, on("verify"))
    graph.add_conditional_edges("verify", passing, on("synthesize"))
    graph.add_edge("synthesize", "check_answer")
    graph.add_edge("check_answer", END)
    return graph.compile()


def _add_nodes(graph: StateGraph[Any], do: ResearchNodes, way: Way) -> None:
    asks = {
        "plan": do.ask_for_plan,
        "search": do.find,
        "read": do.aread if way == "coroutines" else do.read,
        "extract": do.extract,
        "synthesize": do.synthesize,
    }
    checks = {
        "check_request": do.check_request,
        "check_plan": do.check_plan,
        "check_query": do.check_query,
        "check_hits": do.check_hits,
        "dedupe": do.dedupe,
        "check_sources": do.check_sources,
        "check_pages": do.check_pages,
        "check_notes": do.check_notes,
        "verify": do.verify,
        "check_answer": do.check_answer,
    }
    add_nodes(graph, asks=asks, checks=checks, way=way)

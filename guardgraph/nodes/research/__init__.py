"""The Research agent's nodes, in the order of its diagram."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from guardgraph.guards import urls
from guardgraph.guards.facts import DEFAULT_REGIONS
from guardgraph.guards.proposals import found, proposed_object, proposed_text
from guardgraph.guards.research import answer as answers
from guardgraph.guards.research import notes as noted
from guardgraph.guards.research import plan as plans
from guardgraph.guards.research import request as requests
from guardgraph.guards.research import sources as judged
from guardgraph.guards.stop import Stop, evidence
from guardgraph.nodes.body import Body, Pass, Run, Step, Steps
from guardgraph.state.json import JsonObject
from guardgraph.state.outcome import Outcome
from guardgraph.state.plain import json_text
from guardgraph.state.research import (
    Note,
    ResearchBudget,
    ResearchPolicy,
    ResearchState,
    ResearchTask,
    Sources,
)
from guardgraph.world.call import Call, Outside
from guardgraph.world.proposers import Proposer

__all__ = [
    "answered",
    "check_answer",
    "check_hits",
    "check_notes",
    "check_pages",
    "check_plan",
    "check_query",
    "check_request",
    "check_sources",
    "dedupe",
    "extract",
    "plan",
    "read",
    "search",
    "synthesize",
    "verify",
]

ResearchRun = Run[ResearchPolicy, ResearchBudget]


def check_request(state: JsonObject, run: ResearchRun) -> Pass:
    """Parse the input; its hints must be readable before anything is run."""
    task = requests.parse_research_request(state.get("goal"), state.get("request"))
    _lists(task, run)
    return Pass({"task": task})


def _lists(task: ResearchTask, run: ResearchRun) -> dict[str, list[str]]:
    """Return both domain lists as they are at this moment, narrowed by the request's hints."""
    hints, policy = task["policy_hints"], run.policy
    narrowed = requests.narrowed_domains
    return {
        "policy": narrowed(hints, "allowed_domains_policy", policy.allowed_domains_policy),
        "execution": narrowed(hints, "allowed_domains_execution", policy.allowed_domains_execution),
    }


def _usable(names: Iterable[str], state: ResearchState, run: ResearchRun) -> tuple[list[str], Sources]:
    return judged.usable_sources(names, state["accepted_sources"], **_lists(state["task"], run))


def _limit(name: str, task: ResearchTask, run: ResearchRun) -> int:
    """Return one of the limits that a request's hints may tighten."""
    return requests.research_limit(name, task["policy_hints"].get(name), allowed=getattr(run.budget, name))


def _regions(run: ResearchRun) -> tuple[str, ...]:
    return (*DEFAULT_REGIONS, *run.policy.known_regions)


def plan(planner: Proposer) -> Body:
    """Ask for a research plan."""

    def body(state: ResearchState, run: ResearchRun) -> Steps:
        task = state["task"]
        request = {key: task[key] for key in ("question", "report_date", "region") if key in task}
        outcome = yield planner.call({"goal": task["goal"], "request": request})
        return {"proposed_plan": outcome.packed()}

    return body


def check_plan(state: ResearchState, run: ResearchRun) -> Pass:
    """Hold the plan against the five steps of every run."""
    given = proposed_object(state["proposed_plan"])
    with evidence(raw_plan=given.raw):
        raw = given.value.get("steps") if isinstance(given.value, dict) else None
        steps = plans.parse_plan(raw, max_steps=run.budget.max_steps)
    history = {"action": "propose_research_plan", "step_ids": [step["id"] for step in steps], **given.about}
    return Pass({"accepted_plan": steps}, steps=(Step({"phase": "plan", "steps": len(steps)}, history),))


def check_query(state: ResearchState, run: ResearchRun) -> Pass:
    """Take the query out of the plan."""
    with evidence(raw_plan={"steps": state["accepted_plan"]}):
        return Pass({"accepted_query": plans.plan_query(state["accepted_plan"])})


def search(tool: Outside) -> Body:
    """Search; twice as many hits as URLs may survive, since some are the same page."""

    def body(state: ResearchState, run: ResearchRun) -> Steps:
        most = 2 * _limit("max_urls", state["task"], run)
        outcome = yield Call("tool", tool, {"query": state["accepted_query"], "max_results": most})
        return {"found_hits": outcome.packed()}

    return body


def check_hits(state: ResearchState, run: ResearchRun) -> Pass:
    """Read what the search returned."""
    most = 2 * _limit("max_urls", state["task"], run)
    hits = plans.found_urls(found(state["found_hits"], "search_sources"))[:most]
    counted = {"query": state["accepted_query"], "candidates": len(hits)}
    step = Step({"phase": "search", **counted}, {"action": "search_sources", **counted})
    return Pass({"accepted_hits": hits}, steps=(step,))


def dedupe(state: ResearchState, run: ResearchRun) -> Pass:
    """Keep every URL once."""
    kept, dropped = urls.dedupe(state["accepted_hits"], max_urls=_limit("max_urls", state["task"], run))
    if not kept:
        raise Stop("no_sources_after_dedupe", **({"dropped_urls": dropped} if dropped else {}))
    sources = Sources(urls=kept, dropped_urls=dropped, allowed_urls=[], denied_sources=[], failed_sources=[])
    counted = {"urls_after_dedupe": len(kept)}
    step = Step({"phase": "dedupe", **counted}, {"action": "dedupe_urls", **counted})
    return Pass({"accepted_sources": sources}, steps=(step,))


def check_sources(state: ResearchState, run: ResearchRun) -> Pass:
    """Judge every URL before anything is read."""
    usable, sources = _usable(state["accepted_sources"]["urls"], state, run)
    return Pass({"accepted_sources": {**sources, "allowed_urls": usable}})


def read(reader: Outside) -> Body:
    """Read pages until there are enough; what cannot be read does not count."""

    def body(state: ResearchState, run: ResearchRun) -> Steps:
        usable, _ = _usable(state["accepted_sources"]["allowed_urls"], state, run)
        most = _limit("max_read_pages", state["task"], run)
        brought: list[list[str]] = []
        pages = 0
        for url in usable:
            if pages >= most:
                break
            outcome: Outcome = yield Call("tool", reader, {"url": url})
            packed = outcome.packed()
            brought.append([url, packed])
            pages += noted.is_readable(Outcome.unpacked(packed).content)
        return {"found_pages": json_text(brought)}

    return body


def check_pages(state: ResearchState, run: ResearchRun) -> Pass:
    """Sort what the reader brought into pages and failures."""
    usable, sources = _usable(state["accepted_sources"]["allowed_urls"], state, run)
    pages, sources = judged.read_pages(state["found_pages"], sources, usable=usable)
    return Pass({"accepted_pages": pages, "accepted_sources": sources})


def extract(extractor: Outside) -> Body:
    """Take notes from the pages that were read."""

    def body(state: ResearchState, run: ResearchRun) -> Steps:
        task, pages = state["task"], state["accepted_pages"]
        usable, _ = _usable(pages, state, run)
        request = {
            "goal": task["goal"],
            "question": task["question"],
            "pages": {url: pages[url] for url in usable},
            "max_notes": _limit("max_notes", task, run),
        }
        outcome = yield Call("tool", extractor, request)
        return {"found_notes": outcome.packed()}

    return body


def check_notes(state: ResearchState, run: ResearchRun) -> Pass:
    """Read the notes."""
    _, sources = _usable(state["accepted_pages"], state, run)
    raw = noted.number_notes(found(state["found_notes"], "extract_notes"))
    if not raw:
        raise judged.no_reliable_sources(sources)
    notes = noted.parse_notes(raw, max_notes=_limit("max_notes", state["task"], run))
    read_pages, denied = len(state["accepted_pages"]), sources["denied_sources"]
    trace = {"phase": "read_extract", "pages_read": read_pages, "notes": len(notes), "denied_sources": len(denied)}
    history = {"action": "read_extract_notes", "pages_read": read_pages, "denied_sources": denied}
    return Pass({"accepted_notes": notes, "accepted_sources": sources}, steps=(Step(trace, history),))


def verify(state: ResearchState, run: ResearchRun) -> Pass:
    """Hold every note against the page that it names."""
    verification = noted.verify_notes(
        state["accepted_notes"],
        pages=state["accepted_pages"],
        check_numbers=run.policy.check_numbers,
        check_quotes=run.policy.check_quotes,
        regions=_regions(run),
    )
    checked = verification["checked_notes"]
    trace = {"phase": "verify", "checked_notes": checked, "issues": len(verification["issues"])}
    return Pass(steps=(Step(trace, {"action": "verify_notes", "checked_notes": checked}),))


def _usable_notes(state: ResearchState, run: ResearchRun) -> tuple[list[Note], Sources]:
    notes = state["accepted_notes"]
    usable, sources = _usable([note["url"] for note in notes], state, run)
    return [note for note in notes if note["url"] in usable], sources


def synthesize(writer: Proposer) -> Body:
    """Ask for an answer from the notes alone."""

    def body(state: ResearchState, run: ResearchRun) -> Steps:
        task = state["task"]
        notes, _ = _usable_notes(state, run)
        view = {
            "goal": task["goal"],
            "question": task["question"],
            "notes": notes,
            "max_answer_chars": _limit("max_answer_chars", task, run),
        }
        outcome = yield writer.call(view)
        return {"proposed_answer": outcome.packed()}

    return body


def check_answer(state: ResearchState, run: ResearchRun) -> Pass:
    """Hold the answer against the notes that it cites."""
    given = proposed_text(state["proposed_answer"], "answer", ("citations",))
    fields = given.value if isinstance(given.value, dict) else {}
    notes, sources = _usable_notes(state, run)
    answer = answers.parse_research_answer(
        fields.get("answer"),
        fields.get("citations"),
        notes=notes,
        max_answer_chars=_limit("max_answer_chars", state["task"], run),
    )
    if run.policy.check_numbers:
        answers.check_answer_facts(answer, notes=notes, regions=_regions(run))
    trace = {"phase": "synthesize", "answer_chars": len(answer["answer"]), "citations": len(answer["citations"])}
    history = {"action": "synthesize_answer", "citations": answer["citations"], **given.about}
    return Pass({"accepted_answer": answer, "accepted_sources": sources}, steps=(Step(trace, history),))


def answered(state: ResearchState, run: ResearchRun) -> dict[str, Any]:
    """End with a cited brief."""
    answer, sources, notes = state["accepted_answer"], state["accepted_sources"], state["accepted_notes"]
    cited = answers.cited_notes(notes, answer["citations"])
    extra = {key: sources[key] for key in ("dropped_urls", "failed_sources") if sources[key]}
    aggregate = {
        "query": state["accepted_query"],
        "urls_found": len(state["accepted_hits"]),
        "urls_after_dedupe": len(sources["urls"]),
        "pages_read": len(state["accepted_pages"]),
        "notes_count": len(notes),
        "citations_count": len(answer["citations"]),
        "denied_sources": sources["denied_sources"],
        "verified_notes": len(notes),
        **extra,
    }
    details, passages = (
        [{key: note[key] for key in keys} for note in cited]
        for keys in (("id", "url", "title", "published_at"), ("id", "claim", "quote"))
    )
    return {
        "outcome": "grounded_research_answer",
        **answer,
        "citation_details": details,
        "passages": passages,
        "aggregate": aggregate,
        **extra,
    }

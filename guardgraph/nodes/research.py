"""The Research agent's nodes, in the order of its diagram."""

from __future__ import annotations

from typing import Any

from guardgraph.guards import research_answer, research_notes, research_plan, research_request, urls
from guardgraph.guards.facts import DEFAULT_REGIONS
from guardgraph.guards.plain import json_text, parse_json
from guardgraph.guards.proposals import Outcome, found, proposed_object, proposed_text
from guardgraph.guards.stop import Stop, evidence
from guardgraph.nodes.body import Body, Call, Outside, Pass, Run, Step, Steps
from guardgraph.nodes.proposers import Proposer
from guardgraph.state.json import JsonObject
from guardgraph.state.research import (
    Note,
    Page,
    ResearchBudget,
    ResearchPolicy,
    ResearchState,
    ResearchTask,
    Sources,
)

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
    task = research_request.parse_research_request(state.get("goal"), state.get("request"))
    _lists(task, run)
    return Pass({"task": task})


def _lists(task: ResearchTask, run: ResearchRun) -> dict[str, list[str]]:
    """Return both domain lists as they are at this moment, narrowed by the request's hints."""
    hints, policy = task["policy_hints"], run.policy
    narrowed = research_request.narrowed_domains
    return {
        "policy": narrowed(hints, "allowed_domains_policy", policy.allowed_domains_policy),
        "execution": narrowed(hints, "allowed_domains_execution", policy.allowed_domains_execution),
    }


def _limit(name: str, task: ResearchTask, run: ResearchRun) -> int:
    """Return one of the limits that a request may hint at, never above what the run's context allows."""
    given = run.context_budget.model_dump(exclude_unset=True) if run.context_budget is not None else {}
    deployment = {hinted: getattr(run.budget, hinted) for hinted in research_request.HINTED_LIMITS}
    return research_request.research_limits(task["policy_hints"], deployment=deployment, ceiling=given)[name]


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
        steps = research_plan.parse_plan(raw, max_steps=run.budget.max_steps)
    history = {"action": "propose_research_plan", "step_ids": [step["id"] for step in steps], **given.about}
    return Pass({"accepted_plan": steps}, steps=(Step({"phase": "plan", "steps": len(steps)}, history),))


def check_query(state: ResearchState, run: ResearchRun) -> Pass:
    """Take the query out of the plan."""
    with evidence(raw_plan={"steps": state["accepted_plan"]}):
        return Pass({"accepted_query": research_plan.plan_query(state["accepted_plan"])})


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
    hits = research_plan.found_urls(found(state["found_hits"], "search_sources"))[:most]
    counted = {"query": state["accepted_query"], "candidates": len(hits)}
    step = Step({"phase": "search", **counted}, {"action": "search_sources", **counted})
    return Pass({"accepted_hits": hits}, steps=(step,))


def dedupe(state: ResearchState, run: ResearchRun) -> Pass:
    """Keep every URL once."""
    kept, dropped = urls.dedupe(state["accepted_hits"], max_urls=_limit("max_urls", state["task"], run))
    if not kept:
        raise Stop("no_sources_after_dedupe", dropped_urls=dropped)
    sources = Sources(urls=kept, dropped_urls=dropped, allowed_urls=[], denied_sources=[], failed_sources=[])
    counted = {"urls_after_dedupe": len(kept)}
    step = Step({"phase": "dedupe", **counted}, {"action": "dedupe_urls", **counted})
    return Pass({"accepted_sources": sources}, steps=(step,))


def check_sources(state: ResearchState, run: ResearchRun) -> Pass:
    """Judge every URL before anything is read."""
    sources, lists = state["accepted_sources"], _lists(state["task"], run)
    judged = [(url, urls.denial(url, **lists)) for url in sources["urls"]]
    denied = [{"url": url, "reason": reason} for url, reason in judged if reason is not None]
    allowed = [url for url, reason in judged if reason is None]
    if not allowed:
        raise Stop("no_reliable_sources", denied_sources=denied, failed_sources=[])
    return Pass({"accepted_sources": {**sources, "allowed_urls": allowed, "denied_sources": denied}})


def read(reader: Outside) -> Body:
    """Read pages until there are enough; every URL is held against both lists once more before it is read."""

    def body(state: ResearchState, run: ResearchRun) -> Steps:
        lists, most = _lists(state["task"], run), _limit("max_read_pages", state["task"], run)
        outcomes: list[list[str]] = []
        pages = 0
        for url in state["accepted_sources"]["allowed_urls"]:
            if pages >= most:
                break
            if (denied := urls.denial(url, **lists)) is not None:
                outcomes.append([url, denied, ""])
                continue
            outcome: Outcome = yield Call("tool", reader, {"url": url})
            outcomes.append([url, "", outcome.packed()])
            pages += outcome.form == "value" and research_notes.is_readable(outcome.content)
        return {"found_pages": json_text(outcomes)}

    return body


def check_pages(state: ResearchState, run: ResearchRun) -> Pass:
    """Sort what the reader brought into pages, failures and late denials."""
    sources = state["accepted_sources"]
    denied, failed = [*sources["denied_sources"]], [*sources["failed_sources"]]
    pages: dict[str, Page] = {}
    for url, denial, packed in parse_json(state["found_pages"]):
        if denial:
            denied.append({"url": url, "reason": denial})
            continue
        outcome = Outcome.unpacked(packed)
        if outcome.form == "failure":
            failed.append({"url": url, "reason": "read_failed", "details": outcome.content["details"]})
        elif (page := research_notes.parse_page(outcome.content)) is None:
            failed.append({"url": url, "reason": "empty_page"})
        else:
            pages[url] = page
    if not pages:
        raise Stop("no_reliable_sources", denied_sources=denied, failed_sources=failed)
    kept = {**sources, "denied_sources": denied, "failed_sources": failed}
    return Pass({"accepted_pages": pages, "accepted_sources": kept})


def extract(extractor: Outside) -> Body:
    """Take notes from the pages that were read."""

    def body(state: ResearchState, run: ResearchRun) -> Steps:
        task = state["task"]
        request = {
            "goal": task["goal"],
            "question": task["question"],
            "pages": state["accepted_pages"],
            "max_notes": _limit("max_notes", task, run),
        }
        outcome = yield Call("tool", extractor, request)
        return {"found_notes": outcome.packed()}

    return body


def check_notes(state: ResearchState, run: ResearchRun) -> Pass:
    """Read the notes."""
    sources = state["accepted_sources"]
    raw = research_notes.number_notes(found(state["found_notes"], "extract_notes"))
    if raw == []:
        shown = {key: sources[key] for key in ("denied_sources", "failed_sources")}
        raise Stop("no_reliable_sources", **shown)
    notes = research_notes.parse_notes(raw, max_notes=_limit("max_notes", state["task"], run))
    read_pages, denied = len(state["accepted_pages"]), sources["denied_sources"]
    trace = {"phase": "read_extract", "pages_read": read_pages, "notes": len(notes), "denied_sources": len(denied)}
    history = {"action": "read_extract_notes", "pages_read": read_pages, "denied_sources": denied}
    return Pass({"accepted_notes": notes}, steps=(Step(trace, history),))


def verify(state: ResearchState, run: ResearchRun) -> Pass:
    """Hold every note against the page that it names."""
    verification = research_notes.verify_notes(
        state["accepted_notes"],
        pages=state["accepted_pages"],
        check_numbers=run.policy.check_numbers,
        check_quotes=run.policy.check_quotes,
        regions=_regions(run),
    )
    checked = verification["checked_notes"]
    trace = {"phase": "verify", "checked_notes": checked, "issues": len(verification["issues"])}
    return Pass(steps=(Step(trace, {"action": "verify_notes", "checked_notes": checked}),))


def _usable_notes(state: ResearchState, run: ResearchRun) -> list[Note]:
    """Return the notes whose source is still switched on: a run may have been resumed under a tighter context."""
    lists = _lists(state["task"], run)
    judged = [(note, urls.denial(note["url"], **lists)) for note in state["accepted_notes"]]
    usable = [note for note, denied in judged if denied is None]
    if not usable:
        denied = [{"url": note["url"], "reason": reason} for note, reason in judged]
        raise Stop("no_reliable_sources", denied_sources=denied, failed_sources=[])
    return usable


def synthesize(writer: Proposer) -> Body:
    """Ask for an answer from the notes alone."""

    def body(state: ResearchState, run: ResearchRun) -> Steps:
        task = state["task"]
        view = {
            "goal": task["goal"],
            "question": task["question"],
            "notes": _usable_notes(state, run),
            "max_answer_chars": _limit("max_answer_chars", task, run),
        }
        outcome = yield writer.call(view)
        return {"proposed_answer": outcome.packed()}

    return body


def check_answer(state: ResearchState, run: ResearchRun) -> Pass:
    """Hold the answer against the notes that it cites."""
    given = proposed_text(state["proposed_answer"], "answer", ("citations",))
    fields = given.value if isinstance(given.value, dict) else {}
    notes = _usable_notes(state, run)
    answer = research_answer.parse_research_answer(
        fields.get("answer"),
        fields.get("citations"),
        notes=notes,
        max_answer_chars=_limit("max_answer_chars", state["task"], run),
    )
    if run.policy.check_numbers:
        research_answer.check_answer_facts(answer, notes=notes, regions=_regions(run))
    trace = {"phase": "synthesize", "answer_chars": len(answer["answer"]), "citations": len(answer["citations"])}
    history = {"action": "synthesize_answer", "citations": answer["citations"], **given.about}
    return Pass({"accepted_answer": answer}, steps=(Step(trace, history),))


def answered(state: ResearchState, run: ResearchRun) -> dict[str, Any]:
    """End with a cited brief."""
    answer, sources, notes = state["accepted_answer"], state["accepted_sources"], state["accepted_notes"]
    cited = research_answer.cited_notes(notes, answer["citations"])
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
    keys = ("id", "url", "title", "published_at")
    details = [{key: note[key] for key in keys} for note in cited]  # type: ignore[literal-required]
    return {
        "outcome": "grounded_research_answer",
        **answer,
        "citation_details": details,
        "aggregate": aggregate,
        **extra,
    }

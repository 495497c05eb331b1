"""The notes: proposed by a model or taken by an extractor, and each held against the page that it names."""

from __future__ import annotations

from guardgraph.guards import research as guards
from guardgraph.guards.proposals import found, proposed_object
from guardgraph.nodes.body import Body, Pass, Step, Steps, declares
from guardgraph.nodes.research.request import ResearchRun, limit, regions, usable_sources
from guardgraph.plain.json import JsonObject, JsonValue
from guardgraph.state.research import ResearchState
from guardgraph.world.call import Call, Outside
from guardgraph.world.proposers import Proposer

__all__ = ["check_notes", "check_proposed_notes", "extract", "propose_notes", "verify"]


def extract(extractor: Outside) -> Body:
    """Take notes from the pages that were read."""

    @declares(phase="read_extract", reads=["task", "accepted_sources", "accepted_pages"], writes=["found_notes"])
    def body(state: ResearchState, run: ResearchRun) -> Steps:
        pages = state["accepted_pages"]
        usable, _ = usable_sources(pages, state, run, led_to=guards.final_urls(pages))
        outcome = yield Call("tool", extractor, _view(state, run, pages={url: pages[url] for url in usable}))
        return {"found_notes": outcome.packed()}

    return body


def propose_notes(extractor: Proposer) -> Body:
    """Ask for notes from the pages that were read; their texts are data, cut to what a model is shown of a page."""

    @declares(phase="read_extract", reads=["task", "accepted_sources", "accepted_pages"], writes=["proposed_notes"])
    def body(state: ResearchState, run: ResearchRun) -> Steps:
        pages = state["accepted_pages"]
        usable, _ = usable_sources(pages, state, run, led_to=guards.final_urls(pages))
        shown = [guards.page_shown(url, pages[url], max_chars=run.budget.max_page_chars) for url in usable]
        outcome = yield extractor.call(_view(state, run, pages=shown))
        return {"proposed_notes": outcome.packed()}

    return body


def _view(state: ResearchState, run: ResearchRun, *, pages: JsonValue) -> JsonObject:
    task = state["task"]
    asked = {"goal": task["goal"], "question": task["question"]}
    return {**asked, "pages": pages, "max_notes": limit("max_notes", task, run)}


@declares(
    phase="read_extract",
    reads=["task", "accepted_sources", "accepted_pages", "found_notes"],
    writes=["accepted_notes", "accepted_sources"],
    stops=["tool", "no_sources", "invalid_notes", "budget"],
)
def check_notes(state: ResearchState, run: ResearchRun) -> Pass:
    """Read the notes that an extractor took."""
    return _accepted(guards.number_notes(found(state["found_notes"], "extract_notes")), state, run, {})


@declares(
    phase="read_extract",
    reads=["task", "accepted_sources", "accepted_pages", "proposed_notes"],
    writes=["accepted_notes", "accepted_sources"],
    stops=["llm", "no_sources", "invalid_notes", "budget"],
)
def check_proposed_notes(state: ResearchState, run: ResearchRun) -> Pass:
    """Read the notes that a model proposed."""
    given = proposed_object(state["proposed_notes"])
    return _accepted(guards.number_notes(guards.proposed_notes(given.value)), state, run, given.about)


def _accepted(raw: list[JsonValue], state: ResearchState, run: ResearchRun, about: JsonObject) -> Pass:
    pages = state["accepted_pages"]
    _, sources = usable_sources(pages, state, run, led_to=guards.final_urls(pages))
    if not raw:
        raise guards.no_reliable_sources(sources)
    notes = guards.place_notes(guards.parse_notes(raw, max_notes=limit("max_notes", state["task"], run)), pages=pages)
    read_pages, denied = len(pages), sources["denied_sources"]
    trace = {"phase": "read_extract", "pages_read": read_pages, "notes": len(notes), "denied_sources": len(denied)}
    history = {"action": "read_extract_notes", "pages_read": read_pages, "denied_sources": denied, **about}
    return Pass({"accepted_notes": notes, "accepted_sources": sources}, steps=(Step(trace, history),))


@declares(phase="verify", reads=["accepted_pages", "accepted_notes"], stops=["tool", "verification_failed"])
def verify(state: ResearchState, run: ResearchRun) -> Pass:
    """Hold every note against the page that it names."""
    verification = guards.verify_notes(
        state["accepted_notes"],
        pages=state["accepted_pages"],
        check_numbers=run.policy.check_numbers,
        check_quotes=run.policy.check_quotes,
        regions=regions(run),
    )
    checked = verification["checked_notes"]
    trace = {"phase": "verify", "checked_notes": checked, "issues": len(verification["issues"])}
    return Pass(steps=(Step(trace, {"action": "verify_notes", "checked_notes": checked}),))

"""The notes: taken from the pages, and each held against the page that it names."""

from __future__ import annotations

from guardgraph.guards import research as guards
from guardgraph.guards.proposals import found
from guardgraph.nodes.body import Body, Pass, Step, Steps, declares
from guardgraph.nodes.research.request import ResearchRun, limit, regions, usable_sources
from guardgraph.state.research import ResearchState
from guardgraph.world.call import Call, Outside

__all__ = ["check_notes", "extract", "verify"]


def extract(extractor: Outside) -> Body:
    """Take notes from the pages that were read."""

    @declares(phase="read_extract", reads=["task", "accepted_sources", "accepted_pages"], writes=["found_notes"])
    def body(state: ResearchState, run: ResearchRun) -> Steps:
        task, pages = state["task"], state["accepted_pages"]
        usable, _ = usable_sources(pages, state, run, led_to=guards.final_urls(pages))
        request = {
            "goal": task["goal"],
            "question": task["question"],
            "pages": {url: pages[url] for url in usable},
            "max_notes": limit("max_notes", task, run),
        }
        outcome = yield Call("tool", extractor, request)
        return {"found_notes": outcome.packed()}

    return body


@declares(
    phase="read_extract",
    reads=["task", "accepted_sources", "accepted_pages", "found_notes"],
    writes=["accepted_notes", "accepted_sources"],
    stops=["tool", "no_sources", "invalid_notes", "budget"],
)
def check_notes(state: ResearchState, run: ResearchRun) -> Pass:
    """Read the notes."""
    pages = state["accepted_pages"]
    _, sources = usable_sources(pages, state, run, led_to=guards.final_urls(pages))
    raw = guards.number_notes(found(state["found_notes"], "extract_notes"))
    if not raw:
        raise guards.no_reliable_sources(sources)
    notes = guards.place_notes(guards.parse_notes(raw, max_notes=limit("max_notes", state["task"], run)), pages=pages)
    read_pages, denied = len(pages), sources["denied_sources"]
    trace = {"phase": "read_extract", "pages_read": read_pages, "notes": len(notes), "denied_sources": len(denied)}
    history = {"action": "read_extract_notes", "pages_read": read_pages, "denied_sources": denied}
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

"""The brief: written from the notes alone, held against those that it cites, and returned."""

from __future__ import annotations

from typing import Any

from guardgraph.guards import research as guards
from guardgraph.guards.proposals import proposed_text
from guardgraph.nodes.body import Body, Pass, Step, Steps, declares
from guardgraph.nodes.research.request import ResearchRun, limit, regions, usable_sources
from guardgraph.state.research import Note, ResearchState, Sources
from guardgraph.world.proposers import Proposer

__all__ = ["answered", "check_answer", "synthesize"]

FOUND = ("accepted_query", "accepted_hits", "accepted_sources", "accepted_pages", "accepted_notes")
"""What the run found out before its answer."""

RESULT = (
    "outcome",
    "answer",
    "citations",
    "citation_details",
    "passages",
    "aggregate",
    "dropped_urls",
    "failed_sources",
)
"""What the good ending returns, the last two where there are any."""


def synthesize(writer: Proposer) -> Body:
    """Ask for an answer from the notes alone."""

    @declares(phase="synthesize", reads=["task", "accepted_sources", "accepted_notes"], writes=["proposed_answer"])
    def body(state: ResearchState, run: ResearchRun) -> Steps:
        task = state["task"]
        notes, _ = _usable_notes(state, run)
        view = {
            "goal": task["goal"],
            "question": task["question"],
            "notes": list(map(guards.note_shown, notes)),
            "max_answer_chars": limit("max_answer_chars", task, run),
        }
        outcome = yield writer.call(view)
        return {"proposed_answer": outcome.packed()}

    return body


@declares(
    phase="synthesize",
    reads=["task", "accepted_sources", "accepted_pages", "accepted_notes", "proposed_answer"],
    writes=["accepted_answer", "accepted_sources"],
    stops=["llm", "no_sources", "invalid_answer"],
)
def check_answer(state: ResearchState, run: ResearchRun) -> Pass:
    """Hold the answer against the notes that it cites."""
    given = proposed_text(state["proposed_answer"], "answer", ("citations",))
    fields = given.value if isinstance(given.value, dict) else {}
    notes, sources = _usable_notes(state, run)
    answer = guards.parse_research_answer(
        fields.get("answer"),
        fields.get("citations"),
        notes=notes,
        max_answer_chars=limit("max_answer_chars", state["task"], run),
    )
    if run.policy.check_numbers:
        guards.check_answer_facts(answer, notes=notes, regions=regions(run))
    if run.policy.check_names:
        asked, pages, known = state["task"]["question"], state["accepted_pages"], run.policy.known_names
        guards.check_answer_names(answer, question=asked, notes=notes, pages=pages, known_names=known)
    trace = {"phase": "synthesize", "answer_chars": len(answer["answer"]), "citations": len(answer["citations"])}
    history = {"action": "synthesize_answer", "citations": answer["citations"], **given.about}
    return Pass({"accepted_answer": answer, "accepted_sources": sources}, steps=(Step(trace, history),))


def _usable_notes(state: ResearchState, run: ResearchRun) -> tuple[list[Note], Sources]:
    notes = state["accepted_notes"]
    led_to = {guards.asked_url(note): note["url"] for note in notes}
    usable, sources = usable_sources(led_to, state, run, led_to=led_to)
    return [note for note in notes if guards.asked_url(note) in usable], sources


@declares(phase="synthesize", reads=(*FOUND, "accepted_answer"), writes=RESULT)
def answered(state: ResearchState, run: ResearchRun) -> dict[str, Any]:
    """End with a cited brief."""
    answer, sources, notes = state["accepted_answer"], state["accepted_sources"], state["accepted_notes"]
    pages = state["accepted_pages"]
    cited = guards.cited_notes(notes, answer["citations"])
    extra = {key: sources[key] for key in ("dropped_urls", "failed_sources") if sources[key]}
    aggregate = {
        "query": state["accepted_query"],
        "urls_found": len(state["accepted_hits"]),
        "urls_after_dedupe": len(sources["urls"]),
        "pages_read": len(pages),
        "notes_count": len(notes),
        "citations_count": len(answer["citations"]),
        "denied_sources": sources["denied_sources"],
        "verified_notes": len(notes),
        **extra,
    }
    return {
        "outcome": "grounded_research_answer",
        **answer,
        "citation_details": [guards.citation(note, pages.get(guards.asked_url(note))) for note in cited],
        "passages": [{key: note[key] for key in ("id", "claim", "quote")} for note in cited],
        "aggregate": aggregate,
        **extra,
    }

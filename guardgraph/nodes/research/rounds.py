"""The Research agent's searches, one after another: what each may take, when they end, and which query is next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from guardgraph.guards import research as guards
from guardgraph.guards.proposals import proposed_object
from guardgraph.guards.stop import Stop, evidence
from guardgraph.nodes.body import Body, Pass, Step, Steps, declares
from guardgraph.nodes.research.scope import ResearchRun, list_usable_notes, read_task_limit
from guardgraph.plain.json import JsonObject
from guardgraph.state.research import Note, ResearchState, Searches, SearchesEnd, SourcePage
from guardgraph.world.proposers import Proposer

NOTES_BEFORE = ("accepted_notes", "unverified_notes", "accepted_searches")
"""What says which notes were taken by searches before."""


SEARCHED = ("accepted_query", "accepted_hits", "accepted_sources", "accepted_pages", *NOTES_BEFORE)
"""What all searches brought so far."""


def read_searches(state: ResearchState, run: ResearchRun) -> Searches | None:
    """Return how far a run has come that may search several times, None of one that searches once."""
    if (searches := state.get("accepted_searches")) is not None:
        return searches
    if run.budget.max_queries == 1:
        return None
    sources = state.get("accepted_sources")
    urls = sources["allowed_urls"] if sources else []
    return guards.start_searches(state["accepted_query"], hits=len(state.get("accepted_hits") or []), urls=urls)


def read_search_limit(name: str, used: int, state: ResearchState, run: ResearchRun) -> int:
    """Return what the search of now may take of a limit of the whole run: an even share of what is left."""
    left = guards.count_searches_left(state.get("accepted_searches"), max_queries=run.budget.max_queries)
    return guards.share_limit(read_task_limit(name, state["task"], run), used=used, searches_left=left)


def read_url_limit(state: ResearchState, run: ResearchRun) -> int:
    """Return how many URLs the search of now may keep."""
    searches = state.get("accepted_searches")
    return read_search_limit("max_urls", len(searches["urls"]) if searches else 0, state, run)


def read_note_limit(state: ResearchState, run: ResearchRun) -> int:
    """Return how many notes may be taken of what the search of now found."""
    dropped = state.get("unverified_notes") or []
    return read_search_limit("max_notes", len(list_notes_before(state)) + len(dropped), state, run)


def list_notes_before(state: ResearchState) -> list[Note]:
    """Return the notes that were verified before the search of now."""
    searches = state.get("accepted_searches")
    return (state.get("accepted_notes") or [])[: searches["notes"]] if searches else []


def list_new_notes(state: ResearchState) -> list[Note]:
    """Return the notes of the search of now."""
    notes, before = state["accepted_notes"], list_notes_before(state)
    return notes[len(before) :] if before else notes


def list_new_pages(state: ResearchState) -> dict[str, SourcePage]:
    """Return the pages of the search of now."""
    pages, asked = state["accepted_pages"], state["accepted_sources"]["allowed_urls"]
    return {url: page for url, page in pages.items() if url in asked}


def leave_search(
    refused: Stop, state: ResearchState, run: ResearchRun, *, families: Sequence[str] = ("no_",), **writes: Any
) -> Pass:
    """Go on without what a search should have brought, where the run may search several times."""
    searches = read_searches(state, run)
    if searches is None or not refused.reason.startswith(tuple(families)):
        raise refused
    kept: JsonObject = {"accepted_searches": guards.list_failed_query(searches, refused.reason), **writes}
    if (sources := state.get("accepted_sources")) is not None and "denied_sources" in refused.evidence:
        said = {name: refused.evidence[name] for name in ("denied_sources", "failed_sources")}
        kept["accepted_sources"] = {**sources, **said}
    return Pass(kept, "searches_guard")


def choose_way_behind_notes(following: str, state: ResearchState, run: ResearchRun) -> str:
    """Return where verified notes lead: to the next node, or to what says whether the run searches again."""
    several = run.budget.max_queries > 1 or state.get("accepted_searches") is not None
    return "searches_guard" if several and following == "synthesize" else following


@declares(phase="gaps", reads=["task", *SEARCHED], writes=["accepted_searches", "accepted_query"], stops=["no_sources"])
def run_searches_guard_node(state: ResearchState, run: ResearchRun) -> Pass:
    """Search for the query that waits longest, ask what is still missing, or let the answer be written."""
    searches = _read_several_searches(state, run)
    notes, dropped = state.get("accepted_notes") or [], state.get("unverified_notes") or []

    def count_used(name: str, used: int) -> tuple[int, int]:
        return used, read_task_limit(name, state["task"], run)

    because = guards.find_searches_end(
        searches,
        max_queries=run.budget.max_queries,
        used={
            "max_urls": count_used("max_urls", len(searches["urls"])),
            "max_read_pages": count_used("max_read_pages", len(state.get("accepted_pages") or {})),
            "max_notes": count_used("max_notes", len(notes) + len(dropped)),
        },
        spent=run.spent_seconds,
        seconds=run.budget.max_seconds,
    )
    if because is not None:
        return _end_searches(searches, because, state)
    known = [state["task"]["goal"], state["task"]["question"]]
    searches = guards.drop_denied_queries(searches, denied=_list_denied_terms(run), known=known)
    if not searches["waiting"]:
        return Pass({"accepted_searches": searches}, "gaps")
    return _begin_search(searches, state, run)


def _list_denied_terms(run: ResearchRun) -> list[str]:
    """Return what no query may say in this session: terms of the policy, and what is known of who asks."""
    return [*run.policy.denied_query_terms, *list_caller_values(run)]


def list_caller_values(run: ResearchRun) -> list[str]:
    """Return what is known of who asks, which no query may say."""
    if (caller := run.caller) is None:
        return []
    return [value for value in (caller.tenant, caller.user, *caller.groups) if value]


def _read_several_searches(state: ResearchState, run: ResearchRun) -> Searches:
    """Return how far a run has come that may search several times, or might when it came here."""
    return read_searches(state, run) or guards.start_searches(state["accepted_query"])


def _begin_search(searches: Searches, state: ResearchState, run: ResearchRun, *steps: Step) -> Pass:
    began = guards.begin_next_search(searches, notes=len(state.get("accepted_notes") or []), spent=run.spent_seconds)
    return Pass({"accepted_searches": began, "accepted_query": began["queries"][-1]}, "search", steps)


def _end_searches(searches: Searches, because: SearchesEnd, state: ResearchState, *steps: Step) -> Pass:
    """Let the answer be written."""
    if not state.get("accepted_notes"):
        failed = {"failed_queries": searches["failed_queries"]} if searches["failed_queries"] else {}
        sources = state.get("accepted_sources")
        if sources is None or not sources["urls"]:
            dropped = {"dropped_urls": sources["dropped_urls"]} if sources and sources["dropped_urls"] else {}
            raise Stop("no_sources_after_dedupe", phase="dedupe", **dropped, **failed)
        with evidence(phase="read_extract", **failed):
            raise guards.build_sources_stop(sources)
    return Pass({"accepted_searches": {**searches, "stopped_because": because}}, "synthesize", steps)


def make_gaps_node(proposer: Proposer) -> Body:
    """Ask what is still missing; nothing is shown of limits and lists."""

    @declares(phase="gaps", reads=["task", *SEARCHED], writes=["proposed_gaps"], calls=[proposer])
    def run_gaps_node(state: ResearchState, run: ResearchRun) -> Steps:
        task, searches = state["task"], _read_several_searches(state, run)
        notes = _list_notes_of_now(state, run)
        tried = {*(state.get("accepted_pages") or {}), *(item["url"] for item in _list_failed_sources(state))}
        outcome = yield proposer.call(
            {
                "goal": task["goal"],
                "question": task["question"],
                "queries": searches["queries"],
                "notes": [{key: note[key] for key in ("id", "claim", "url")} for note in notes],
                "unread_urls": [url for url in searches["urls"] if url not in tried],
            }
        )
        return {"proposed_gaps": outcome.packed()}

    return run_gaps_node


def _list_notes_of_now(state: ResearchState, run: ResearchRun) -> list[Note]:
    """Return the verified notes that may be used now; none where every host of them was switched off meanwhile."""
    try:
        return list_usable_notes(state, run)[0] if state.get("accepted_notes") else []
    except Stop:
        return []


def _list_failed_sources(state: ResearchState) -> list[JsonObject]:
    sources = state.get("accepted_sources")
    return sources["failed_sources"] if sources else []


@declares(
    phase="gaps",
    reads=["task", *SEARCHED, "proposed_gaps"],
    writes=["accepted_searches", "accepted_query"],
    stops=["invalid_gaps", "no_sources"],
)
def run_gaps_guard_node(state: ResearchState, run: ResearchRun) -> Pass:
    """Judge what is proposed to close gaps; a proposal that fails ends the searches, and not the run."""
    task, searches = state["task"], _read_several_searches(state, run)
    try:
        given = proposed_object(state["proposed_gaps"])
    except Stop as failed:
        return _end_searches(searches, "gaps_failed", state, _tell_failed_gaps(failed))
    gaps = guards.parse_gaps(
        given.value,
        asked=searches["queries"],
        max_queries=run.budget.max_queries,
        denied=_list_denied_terms(run),
        known=[task["goal"], task["question"]],
    )
    notes = _list_notes_of_now(state, run)
    guards.check_gap_links(gaps, question=task["question"], notes=notes, policy=run.policy)
    trace = {"phase": "gaps", "open": len(gaps.open), "queries": len(gaps.queries)}
    step = Step(trace, {"action": "propose_gaps", "open": gaps.open, "queries": gaps.queries, **given.about})
    said: Searches = {**searches, "open": gaps.open}
    if not gaps.queries:
        return _end_searches(said, "enough", state, step)
    return _begin_search({**said, "waiting": gaps.queries, "rounds": searches["rounds"] + 1}, state, run, step)


def _tell_failed_gaps(failed: Stop) -> Step:
    return Step({"phase": "gaps", "failed": failed.reason}, {"action": "propose_gaps", "failed": failed.reason})


def describe_searches(searches: Searches) -> JsonObject:
    """Return what a result says of several searches."""
    failed: JsonObject = {"failed_queries": searches["failed_queries"]} if searches["failed_queries"] else {}
    said = ("queries", "rounds", "open", "stopped_because")
    return {**failed, **{key: searches[key] for key in said if key in searches}}  # type: ignore[literal-required]


def find_ending_limit(searches: Searches | None, run: ResearchRun) -> str | None:
    """Return the limit of time or pages that ended several searches, where the policy has such runs say so."""
    ended = None if searches is None or run.policy.on_limit != "partial" else searches.get("stopped_because")
    return _ENDING_LIMITS.get(ended) if ended is not None else None


_ENDING_LIMITS: Final = {"time": "max_seconds", **{name: name for name in ("max_urls", "max_read_pages", "max_notes")}}

"""The Research agent's nodes for one search: its hits, each URL once, and those that may be read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from guardgraph.guards import urls
from guardgraph.guards.proposals import found, proposed_object
from guardgraph.guards.research import pages as page_guards
from guardgraph.guards.research import request as request_guards
from guardgraph.guards.research import searches as search_guards
from guardgraph.guards.research import sources as source_guards
from guardgraph.guards.research.trust import choose_reference_day
from guardgraph.guards.stop import Stop, evidence
from guardgraph.nodes.body import Body, Pass, Step, Steps, declares, make_asking_node
from guardgraph.nodes.research.scope import (
    ResearchRun,
    deny_distrusted_pages,
    explain_distrust,
    list_usable_notes,
    list_usable_urls,
    make_reader_scope,
    narrow_domain_lists,
    order_urls,
    read_task_limit,
)
from guardgraph.plain.json import JsonObject, format_json_text
from guardgraph.plain.scopes import EVERYWHERE
from guardgraph.plain.urls import identify_url
from guardgraph.state.research import Note, ResearchState, Searches, SearchesEnd, SourcePage
from guardgraph.world.call import Call, Outside, is_said_of_target
from guardgraph.world.proposers import Proposer


@declares(writes=["task"])
def run_request_guard_node(state: JsonObject, run: ResearchRun) -> Pass:
    """Parse the input; its hints must be readable before anything is run."""
    task = request_guards.parse_research_request(state.get("goal"), state.get("request"))
    narrow_domain_lists(task, run)
    if run.policy.trust:
        task["as_of"] = choose_reference_day(task.get("report_date"), run.started_at)
    return Pass({"task": task})


def make_plan_node(planner: Proposer) -> Body:
    """Ask for a research plan."""

    def show_request(state: ResearchState, run: ResearchRun) -> JsonObject:
        task = state["task"]
        request = {key: task[key] for key in ("question", "report_date", "region") if key in task}
        return {"goal": task["goal"], "request": request}

    return make_asking_node(planner, show_request, phase="plan", reads=["task"], writes="proposed_plan")


@declares(phase="plan", reads=["proposed_plan"], writes=["accepted_plan"], stops=["llm", "invalid_plan"])
def run_plan_guard_node(state: ResearchState, run: ResearchRun) -> Pass:
    """Hold the plan against the five steps of every run."""
    given = proposed_object(state["proposed_plan"])
    with evidence(raw_plan=given.raw):
        raw = request_guards.read_plan_steps(given.value)
        steps = request_guards.parse_research_plan(raw, max_steps=run.budget.max_steps)
    history = {"action": "propose_research_plan", "step_ids": [step["id"] for step in steps], **given.about}
    return Pass({"accepted_plan": steps}, steps=(Step({"phase": "plan", "steps": len(steps)}, history),))


@declares(phase="search", reads=["accepted_plan"], writes=["accepted_query"], stops=["invalid_search"])
def run_query_guard_node(state: ResearchState, run: ResearchRun) -> Pass:
    """Take the query out of the plan."""
    with evidence(raw_plan={"steps": state["accepted_plan"]}):
        return Pass({"accepted_query": request_guards.read_plan_query(state["accepted_plan"])})


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
    return search_guards.start_searches(state["accepted_query"], hits=len(state.get("accepted_hits") or []), urls=urls)


def read_search_limit(name: str, used: int, state: ResearchState, run: ResearchRun) -> int:
    """Return what the search of now may take of a limit of the whole run: an even share of what is left."""
    left = search_guards.count_searches_left(state.get("accepted_searches"), max_queries=run.budget.max_queries)
    return search_guards.share_limit(read_task_limit(name, state["task"], run), used=used, searches_left=left)


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
    kept: JsonObject = {"accepted_searches": search_guards.list_failed_query(searches, refused.reason), **writes}
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

    because = search_guards.find_searches_end(
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
    searches = search_guards.drop_denied_queries(searches, denied=_list_denied_terms(run), known=known)
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
    return read_searches(state, run) or search_guards.start_searches(state["accepted_query"])


def _begin_search(searches: Searches, state: ResearchState, run: ResearchRun, *steps: Step) -> Pass:
    began = search_guards.begin_next_search(
        searches, notes=len(state.get("accepted_notes") or []), spent=run.spent_seconds
    )
    return Pass({"accepted_searches": began, "accepted_query": began["queries"][-1]}, "search", steps)


def _end_searches(searches: Searches, because: SearchesEnd, state: ResearchState, *steps: Step) -> Pass:
    if not state.get("accepted_notes"):
        failed = {"failed_queries": searches["failed_queries"]} if searches["failed_queries"] else {}
        sources = state.get("accepted_sources")
        if sources is None or not sources["urls"]:
            dropped = {"dropped_urls": sources["dropped_urls"]} if sources and sources["dropped_urls"] else {}
            raise Stop("no_sources_after_dedupe", phase="dedupe", **dropped, **failed)
        with evidence(phase="read_extract", **failed):
            raise source_guards.build_sources_stop(sources)
    return Pass({"accepted_searches": {**searches, "stopped_because": because}}, "synthesize", steps)


def make_gaps_node(proposer: Proposer) -> Body:
    """Ask what is still missing; nothing is shown of limits and lists."""

    def show_open_question(state: ResearchState, run: ResearchRun) -> JsonObject:
        task, searches = state["task"], _read_several_searches(state, run)
        notes = _list_notes_of_now(state, run)
        tried = {*(state.get("accepted_pages") or {}), *(item["url"] for item in _list_failed_sources(state))}
        return {
            "goal": task["goal"],
            "question": task["question"],
            "queries": searches["queries"],
            "notes": [{key: note[key] for key in ("id", "claim", "url")} for note in notes],
            "unread_urls": [url for url in searches["urls"] if url not in tried],
        }

    return make_asking_node(
        proposer, show_open_question, phase="gaps", reads=["task", *SEARCHED], writes="proposed_gaps"
    )


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
        told = {"failed": failed.reason}
        return _end_searches(
            searches, "gaps_failed", state, Step({"phase": "gaps", **told}, {"action": "propose_gaps", **told})
        )
    gaps = search_guards.parse_gaps(
        given.value,
        asked=searches["queries"],
        max_queries=run.budget.max_queries,
        denied=_list_denied_terms(run),
        known=[task["goal"], task["question"]],
    )
    notes = _list_notes_of_now(state, run)
    search_guards.check_gap_links(gaps, question=task["question"], notes=notes, policy=run.policy)
    trace = {"phase": "gaps", "open": len(gaps.open), "queries": len(gaps.queries)}
    step = Step(trace, {"action": "propose_gaps", "open": gaps.open, "queries": gaps.queries, **given.about})
    said: Searches = {**searches, "open": gaps.open}
    if not gaps.queries:
        return _end_searches(said, "enough", state, step)
    return _begin_search({**said, "waiting": gaps.queries, "rounds": searches["rounds"] + 1}, state, run, step)


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


def choose_hits_that_count(state: ResearchState, run: ResearchRun) -> Callable[[object], bool]:
    """Return what says whether a hit takes a place: a new one that both lists allow."""
    lists, searches = narrow_domain_lists(state["task"], run), state.get("accepted_searches")
    kept, distrust = {*(searches or {}).get("urls", [])}, explain_distrust(run)

    def counts(url: object) -> bool:
        return isinstance(url, str) and urls.is_url_allowed(url, **lists) and distrust(url) is None

    return (lambda url: counts(url) and identify_url(str(url)) not in kept) if searches else counts


def count_wanted_hits(state: ResearchState, run: ResearchRun) -> int:
    """Return how many hits to ask for: twice as many as may be kept, and those that are known already."""
    searches = state.get("accepted_searches")
    return 2 * read_url_limit(state, run) + (len(searches["urls"]) if searches else 0)


def make_search_node(tool: Outside) -> Body:
    """Search; twice as many hits as URLs may survive, since some are the same page."""
    is_told_hosts = is_said_of_target(tool, "takes_hosts")

    @declares(phase="search", reads=["task", "accepted_query", "accepted_searches"], writes=["found_hits"])
    def run_search_node(state: ResearchState, run: ResearchRun) -> Steps:
        task = state["task"]
        request = {"query": state["accepted_query"], "max_results": count_wanted_hits(state, run)}
        allowed = urls.list_allowed_hosts(**narrow_domain_lists(task, run)) if is_told_hosts else [EVERYWHERE]
        hosts = {} if EVERYWHERE in allowed else {"hosts": allowed}
        outcome = yield Call("tool", tool, request, scope=hosts)
        return {"found_hits": outcome.packed()}

    return run_search_node


@declares(
    phase="search",
    reads=["task", "accepted_query", "accepted_searches", "found_hits"],
    writes=["accepted_hits", "accepted_searches"],
    stops=["tool", "budget"],
)
def run_hits_guard_node(state: ResearchState, run: ResearchRun) -> Pass:
    """Read what the search returned; a hit that a list denies takes no place of the others."""
    searches = read_searches(state, run)
    try:
        raw = request_guards.read_found_urls(found(state["found_hits"], "search_sources"))
    except Stop as failed:
        if searches is None or len(searches["queries"]) == 1:
            raise
        return leave_search(failed, state, run, families=("tool_",))
    hits = urls.cut_found_urls(
        raw, max_hits=count_wanted_hits(state, run), is_counted=choose_hits_that_count(state, run)
    )
    counted = {"query": state["accepted_query"], "candidates": len(hits)}
    step = Step({"phase": "search", **counted}, {"action": "search_sources", **counted})
    several = {} if searches is None else {"accepted_searches": {**searches, "hits": searches["hits"] + len(hits)}}
    return Pass({"accepted_hits": hits, **several}, "dedupe_guard", steps=(step,))


@declares(
    phase="dedupe",
    reads=["task", "accepted_query", "accepted_hits", "accepted_sources", "accepted_pages", "accepted_searches"],
    writes=["accepted_sources", "accepted_searches"],
    stops=["no_sources"],
)
def run_dedupe_guard_node(state: ResearchState, run: ResearchRun) -> Pass:
    """Keep every URL once, and no more than max_urls that both lists allow; the denied are kept to be listed."""
    before = state.get("accepted_sources")
    spellings, dropped = urls.dedupe_found_urls(
        state["accepted_hits"], max_urls=read_url_limit(state, run), is_counted=choose_hits_that_count(state, run)
    )
    tried = {*(state.get("accepted_pages") or {}), *(item["url"] for item in (before or {}).get("failed_sources", []))}
    spellings = {url: spelling for url, spelling in spellings.items() if url not in tried}
    sources = source_guards.merge_found_sources(before, spellings, dropped)
    if not spellings:
        stop = Stop("no_sources_after_dedupe", **({"dropped_urls": dropped} if dropped else {}))
        return leave_search(stop, state, run, accepted_sources=sources)
    counted = {"urls_after_dedupe": len(spellings)}
    step = Step({"phase": "dedupe", **counted}, {"action": "dedupe_urls", **counted})
    return Pass({"accepted_sources": sources}, "source_guard", steps=(step,))


@declares(
    phase="read_extract",
    reads=["task", "accepted_query", "accepted_sources", "accepted_searches"],
    writes=["accepted_sources", "accepted_searches"],
    stops=["no_sources"],
)
def run_source_guard_node(state: ResearchState, run: ResearchRun) -> Pass:
    """Judge every URL before anything is read."""
    searches = state.get("accepted_searches")
    asked = state["accepted_sources"]["allowed_urls" if searches else "urls"]
    try:
        usable, sources = list_usable_urls(asked, state, run)
    except Stop as refused:
        return leave_search(refused, state, run)
    # A resume may bring wider lists than those by which the hits were counted.
    usable = order_urls(usable, run)
    most = read_url_limit(state, run)
    if searches is None:
        return Pass({"accepted_sources": {**sources, "allowed_urls": usable[:most]}}, "read")
    known = searches["urls"]
    kept = [*known, *[url for url in usable if url not in known][:most]]
    allowed = [url for url in usable if url in kept]
    several: Searches = {**searches, "urls": kept}
    return Pass({"accepted_sources": {**sources, "allowed_urls": allowed}, "accepted_searches": several}, "read")


def make_read_node(reader: Outside) -> Body:
    """Read pages side by side until there are enough; what cannot be read does not count."""

    @declares(
        phase="read_extract",
        reads=["task", "accepted_sources", "accepted_pages", "accepted_searches"],
        writes=["found_pages"],
        rounds="any",
    )
    def run_read_node(state: ResearchState, run: ResearchRun) -> Steps:
        task, sources = state["task"], state["accepted_sources"]
        usable, _ = list_usable_urls(sources["allowed_urls"], state, run)
        most, scope, allowed = (
            read_search_limit("max_read_pages", len(state.get("accepted_pages") or {}), state, run),
            make_reader_scope(task, run),
            narrow_domain_lists(task, run),
        )
        ask = partial(Call, "tool", reader, scope=scope, holds=partial(page_guards.explain_page_difference, **scope))
        brought: list[list[str]] = []
        pages = 0
        while pages < most and (wanted := usable[len(brought) : len(brought) + most - pages]):
            outcomes = yield [ask({"url": source_guards.find_source_spelling(url, sources)}) for url in wanted]
            brought += [[url, outcome.packed()] for url, outcome in zip(wanted, outcomes, strict=True)]
            pages += sum(
                page_guards.is_usable_page(outcome.content, **allowed, unsure_text=run.policy.unsure_text)
                for outcome in outcomes
            )
        return {"found_pages": format_json_text(brought)}

    return run_read_node


@declares(
    phase="read_extract",
    reads=["task", "accepted_query", "accepted_sources", "accepted_pages", "accepted_searches", "found_pages"],
    writes=["accepted_pages", "accepted_sources", "accepted_searches"],
    stops=["tool", "no_sources"],
)
def run_pages_guard_node(state: ResearchState, run: ResearchRun) -> Pass:
    """Sort what the reader brought into pages and failures; pages of searches before stay."""
    try:
        usable, sources = list_usable_urls(state["accepted_sources"]["allowed_urls"], state, run)
        pages, sources = source_guards.sort_read_pages(
            state["found_pages"], sources, usable=usable, unsure_text=run.policy.unsure_text
        )
        used, sources = list_usable_urls(
            pages, {**state, "accepted_sources": sources}, run, led_to=source_guards.map_final_page_urls(pages)
        )
        kept, sources = deny_distrusted_pages({url: pages[url] for url in used}, sources, state["task"], run)
    except Stop as refused:
        return leave_search(refused, state, run)
    read = {**(state.get("accepted_pages") or {}), **kept}
    return Pass({"accepted_pages": read, "accepted_sources": sources}, "extract")

"""The Research agent's nodes, in the order of its diagram: request, query, sources, pages, notes, brief."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from guardgraph.guards import removal, urls
from guardgraph.guards import research as guards
from guardgraph.guards.facts import DEFAULT_REGIONS
from guardgraph.guards.proposals import found, proposed_object, proposed_text
from guardgraph.guards.research.trust import choose_reference_day
from guardgraph.guards.stop import Stop, evidence
from guardgraph.guards.support import (
    Claim,
    check_note_support,
    list_brief_claims,
    list_note_claims,
    read_unsupported_claims,
)
from guardgraph.guards.turned import check_turned_sentences
from guardgraph.guards.urls import list_allowed_hosts, make_host_scope
from guardgraph.nodes import research_trust as trusted
from guardgraph.nodes.added import GuardedAnswer, ask_verifier
from guardgraph.nodes.body import Body, PartialRefusal, Pass, Run, Step, Steps, declares
from guardgraph.plain.json import JsonObject, JsonValue, format_json_text
from guardgraph.plain.urls import identify_url
from guardgraph.state.research import (
    DroppedNote,
    Note,
    NotesVerification,
    ResearchAnswer,
    ResearchBudget,
    ResearchPolicy,
    ResearchState,
    ResearchTask,
    Searches,
    SearchesEnd,
    SourcePage,
    Sources,
)
from guardgraph.world.call import Call, Outside, is_said_of_target
from guardgraph.world.proposers import Proposer

ResearchRun = Run[ResearchPolicy, ResearchBudget]

PAGE_LIMITS = ("max_page_seconds", "max_wire_bytes", "max_page_bytes")
"""What a reader is told of the budget."""


@declares(writes=["task"])
def run_request_guard_node(state: JsonObject, run: ResearchRun) -> Pass:
    """Parse the input; its hints must be readable before anything is run."""
    task = guards.parse_research_request(state.get("goal"), state.get("request"))
    narrow_domain_lists(task, run)
    if run.policy.trust:
        task["as_of"] = choose_reference_day(task.get("report_date"), run.started_at)
    return Pass({"task": task})


def list_usable_urls(
    names: Iterable[str], state: ResearchState, run: ResearchRun, *, led_to: Mapping[str, str] | None = None
) -> tuple[list[str], Sources]:
    """Return the URLs that may be used now, also where their pages were in the end; and what became of the sources."""
    return guards.select_usable_sources(
        names,
        state["accepted_sources"],
        **narrow_domain_lists(state["task"], run),
        led_to=led_to or {},
        distrust=trusted.explain_distrust(run),
    )


def make_reader_scope(task: ResearchTask, run: ResearchRun) -> JsonObject:
    """Return where a reader may go at this moment: the hosts on both lists, and the caps of a page."""
    return {
        **make_host_scope(**narrow_domain_lists(task, run)),
        "limits": {name: getattr(run.budget, name) for name in PAGE_LIMITS},
    }


def read_task_limit(name: str, task: ResearchTask, run: ResearchRun) -> int:
    """Return one of the limits that a request's hints may tighten."""
    hint, allowed = task["policy_hints"].get(name), getattr(run.budget, name)
    return guards.tighten_research_limit(name, hint, allowed=allowed, is_wide=run.policy_of("wide_hints") is not None)


def read_search_limit(name: str, used: int, state: ResearchState, run: ResearchRun) -> int:
    """Return what the search of now may take of a limit of the whole run: an even share of what is left.

    Args:
        name: of the limit.
        used: of it, by the searches before.
        state: says how many searches were made.
        run: its budget says how many may be.
    """
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


def read_searches(state: ResearchState, run: ResearchRun) -> Searches | None:
    """Return how far a run has come that may search several times, None of one that searches once."""
    if (searches := state.get("accepted_searches")) is not None:
        return searches
    if run.budget.max_queries == 1:
        return None
    sources = state.get("accepted_sources")
    urls = sources["allowed_urls"] if sources else []
    return guards.start_searches(state["accepted_query"], hits=len(state.get("accepted_hits") or []), urls=urls)


def leave_search(
    refused: Stop, state: ResearchState, run: ResearchRun, *, families: Sequence[str] = ("no_",), **writes: Any
) -> Pass:
    """Go on without what a search should have brought, where the run may search several times.

    Args:
        refused: the stop of a run that searches once.
        state: of the guard.
        run: of the guard.
        families: beginnings of the reasons without which a run can go on.
        writes: what the guard writes beside.

    Raises:
        Stop: the run searches once, or the reason is another one.
    """
    searches = read_searches(state, run)
    if searches is None or not refused.reason.startswith(tuple(families)):
        raise refused
    kept: JsonObject = {"accepted_searches": guards.list_failed_query(searches, refused.reason), **writes}
    if (sources := state.get("accepted_sources")) is not None and "denied_sources" in refused.evidence:
        said = {name: refused.evidence[name] for name in ("denied_sources", "failed_sources")}
        kept["accepted_sources"] = {**sources, **said}
    return Pass(kept, "searches_guard")


def list_fact_regions(run: ResearchRun) -> tuple[str, ...]:
    """Return the regions that count as facts."""
    return (*DEFAULT_REGIONS, *run.policy.known_regions)


def narrow_domain_lists(task: ResearchTask, run: ResearchRun) -> dict[str, list[str]]:
    """Return the domain lists as they are at this moment; those that allow are narrowed by the request's hints."""
    hints, policy = task["policy_hints"], run.policy
    narrowed = guards.narrow_research_domains
    return {
        "policy": narrowed(hints, "allowed_domains_policy", policy.allowed_domains_policy),
        "execution": narrowed(hints, "allowed_domains_execution", policy.allowed_domains_execution),
        "denied": [*policy.denied_domains],
    }


def choose_hits_that_count(state: ResearchState, run: ResearchRun) -> Callable[[object], bool]:
    """Return what says whether a hit takes a place: a new one that both lists allow; any, where these came later."""
    if run.policy_of("lists_first") is None:
        return urls.count_every_hit
    lists, searches = narrow_domain_lists(state["task"], run), state.get("accepted_searches")
    kept, distrust = {*(searches or {}).get("urls", [])}, trusted.explain_distrust(run)

    def counts(url: object) -> bool:
        return isinstance(url, str) and urls.is_url_allowed(url, **lists) and distrust(url) is None

    return (lambda url: counts(url) and identify_url(str(url)) not in kept) if searches else counts


def make_plan_node(planner: Proposer) -> Body:
    """Ask for a research plan."""

    @declares(phase="plan", reads=["task"], writes=["proposed_plan"], calls=[planner])
    def run_plan_node(state: ResearchState, run: ResearchRun) -> Steps:
        task = state["task"]
        request = {key: task[key] for key in ("question", "report_date", "region") if key in task}
        outcome = yield planner.call({"goal": task["goal"], "request": request})
        return {"proposed_plan": outcome.packed()}

    return run_plan_node


@declares(phase="plan", reads=["proposed_plan"], writes=["accepted_plan"], stops=["llm", "invalid_plan"])
def run_plan_guard_node(state: ResearchState, run: ResearchRun) -> Pass:
    """Hold the plan against the five steps of every run."""
    given = proposed_object(state["proposed_plan"])
    with evidence(raw_plan=given.raw):
        raw = given.value.get("steps") if isinstance(given.value, dict) else None
        steps = guards.parse_research_plan(raw, max_steps=run.budget.max_steps)
    history = {"action": "propose_research_plan", "step_ids": [step["id"] for step in steps], **given.about}
    return Pass({"accepted_plan": steps}, steps=(Step({"phase": "plan", "steps": len(steps)}, history),))


@declares(phase="search", reads=["accepted_plan"], writes=["accepted_query"], stops=["invalid_search"])
def run_query_guard_node(state: ResearchState, run: ResearchRun) -> Pass:
    """Take the query out of the plan."""
    with evidence(raw_plan={"steps": state["accepted_plan"]}):
        return Pass({"accepted_query": guards.read_plan_query(state["accepted_plan"])})


def count_wanted_hits(state: ResearchState, run: ResearchRun) -> int:
    """Return how many hits to ask for: twice as many as may be kept, and those that are known already."""
    searches = state.get("accepted_searches")
    return 2 * read_url_limit(state, run) + (len(searches["urls"]) if searches else 0)


def make_search_node(tool: Outside) -> Body:
    """Search; twice as many hits as URLs may survive, since some are the same page.

    A search that says that it can use them (``takes_hosts``) is told the hosts on both lists at this moment.
    """
    is_told_hosts = is_said_of_target(tool, "takes_hosts")

    @declares(
        phase="search",
        reads=["task", "accepted_query", "accepted_searches"],
        writes=["found_hits"],
        later=["accepted_searches"],
    )
    def run_search_node(state: ResearchState, run: ResearchRun) -> Steps:
        task = state["task"]
        request = {"query": state["accepted_query"], "max_results": count_wanted_hits(state, run)}
        hosts = {"hosts": list_allowed_hosts(**narrow_domain_lists(task, run))} if is_told_hosts else {}
        outcome = yield Call("tool", tool, request, scope=hosts)
        return {"found_hits": outcome.packed()}

    return run_search_node


@declares(
    phase="search",
    reads=["task", "accepted_query", "accepted_searches", "found_hits"],
    writes=["accepted_hits", "accepted_searches"],
    stops=["tool", "budget"],
    later=["accepted_searches"],
    later_writes=["accepted_searches"],
)
def run_hits_guard_node(state: ResearchState, run: ResearchRun) -> Pass:
    """Read what the search returned; a hit that a list denies takes no place of the others.

    A search that fails ends a run that has searched for nothing else.
    """
    searches = read_searches(state, run)
    try:
        raw = guards.read_found_urls(found(state["found_hits"], "search_sources"))
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
    later=["accepted_query", "accepted_sources", "accepted_pages", "accepted_searches"],
    later_writes=["accepted_searches"],
)
def run_dedupe_guard_node(state: ResearchState, run: ResearchRun) -> Pass:
    """Keep every URL once, and no more than max_urls that both lists allow; the denied are kept to be listed.

    What a search before has read, or could not read, is not read again.
    """
    before = state.get("accepted_sources")
    spellings, dropped = urls.dedupe_found_urls(
        state["accepted_hits"], max_urls=read_url_limit(state, run), is_counted=choose_hits_that_count(state, run)
    )
    tried = {*(state.get("accepted_pages") or {}), *(item["url"] for item in (before or {}).get("failed_sources", []))}
    spellings = {url: spelling for url, spelling in spellings.items() if url not in tried}
    sources = guards.merge_found_sources(before, spellings, dropped)
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
    later=["accepted_query", "accepted_searches"],
    later_writes=["accepted_searches"],
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
    usable = trusted.order_urls(usable, run)
    most = None if run.policy_of("lists_first") is None else read_url_limit(state, run)
    if searches is None:
        return Pass({"accepted_sources": {**sources, "allowed_urls": usable[:most]}}, "read")
    known = searches["urls"]
    kept = [*known, *[url for url in usable if url not in known][:most]]
    allowed = [url for url in usable if url in kept]
    several: Searches = {**searches, "urls": kept}
    return Pass({"accepted_sources": {**sources, "allowed_urls": allowed}, "accepted_searches": several}, "read")


def make_read_node(reader: Outside) -> Body:
    """Read pages side by side until there are enough; what cannot be read does not count.

    The reader is given a URL as it was found, and told where it may go at this moment.
    """

    @declares(
        phase="read_extract",
        reads=["task", "accepted_sources", "accepted_pages", "accepted_searches"],
        writes=["found_pages"],
        rounds="any",
        later=["accepted_pages", "accepted_searches"],
    )
    def run_read_node(state: ResearchState, run: ResearchRun) -> Steps:
        task, sources = state["task"], state["accepted_sources"]
        usable, _ = list_usable_urls(sources["allowed_urls"], state, run)
        most, scope, allowed = (
            read_search_limit("max_read_pages", len(state.get("accepted_pages") or {}), state, run),
            make_reader_scope(task, run),
            narrow_domain_lists(task, run),
        )
        ask = partial(Call, "tool", reader, scope=scope, holds=partial(guards.explain_page_difference, **scope))
        brought: list[list[str]] = []
        pages = 0
        while pages < most and (wanted := usable[len(brought) : len(brought) + most - pages]):
            outcomes = yield [ask({"url": guards.find_source_spelling(url, sources)}) for url in wanted]
            brought += [[url, outcome.packed()] for url, outcome in zip(wanted, outcomes, strict=True)]
            pages += sum(
                guards.is_usable_page(outcome.content, **allowed, unsure_text=run.policy.unsure_text)
                for outcome in outcomes
            )
        return {"found_pages": format_json_text(brought)}

    return run_read_node


@declares(
    phase="read_extract",
    reads=["task", "accepted_query", "accepted_sources", "accepted_pages", "accepted_searches", "found_pages"],
    writes=["accepted_pages", "accepted_sources", "accepted_searches"],
    stops=["tool", "no_sources"],
    later=["accepted_query", "accepted_pages", "accepted_searches"],
    later_writes=["accepted_searches"],
)
def run_pages_guard_node(state: ResearchState, run: ResearchRun) -> Pass:
    """Sort what the reader brought into pages and failures; pages of searches before stay."""
    try:
        usable, sources = list_usable_urls(state["accepted_sources"]["allowed_urls"], state, run)
        pages, sources = guards.sort_read_pages(
            state["found_pages"], sources, usable=usable, unsure_text=run.policy.unsure_text
        )
        used, sources = list_usable_urls(
            pages, {**state, "accepted_sources": sources}, run, led_to=guards.map_final_page_urls(pages)
        )
        kept, sources = trusted.deny_distrusted_pages({url: pages[url] for url in used}, sources, state["task"], run)
    except Stop as refused:
        return leave_search(refused, state, run)
    read = {**(state.get("accepted_pages") or {}), **kept}
    return Pass({"accepted_pages": read, "accepted_sources": sources}, "extract")


NOTES_BEFORE = ("accepted_notes", "unverified_notes", "accepted_searches")
"""What says which notes were taken by searches before."""


def make_extract_node(extractor: Outside) -> Body:
    """Take notes from the pages that were read."""

    @declares(
        phase="read_extract",
        reads=["task", "accepted_sources", "accepted_pages", *NOTES_BEFORE],
        writes=["found_notes"],
        later=NOTES_BEFORE,
    )
    def run_extract_node(state: ResearchState, run: ResearchRun) -> Steps:
        pages = list_new_pages(state)
        usable, _ = list_usable_urls(pages, state, run, led_to=guards.map_final_page_urls(pages))
        outcome = yield Call(
            "tool", extractor, _make_extractor_view(state, run, pages={url: pages[url] for url in usable})
        )
        return {"found_notes": outcome.packed()}

    return run_extract_node


def make_propose_notes_node(extractor: Proposer) -> Body:
    """Ask for notes from the pages that were read; their texts are data, cut to what a model is shown of a page."""

    @declares(
        phase="read_extract",
        reads=["task", "accepted_sources", "accepted_pages", *NOTES_BEFORE],
        writes=["proposed_notes"],
        calls=[extractor],
        later=NOTES_BEFORE,
    )
    def run_propose_notes_node(state: ResearchState, run: ResearchRun) -> Steps:
        pages = list_new_pages(state)
        usable, _ = list_usable_urls(pages, state, run, led_to=guards.map_final_page_urls(pages))
        shown = [guards.show_source_page(url, pages[url], max_chars=run.budget.max_page_chars) for url in usable]
        outcome = yield extractor.call(_make_extractor_view(state, run, pages=shown))
        return {"proposed_notes": outcome.packed()}

    return run_propose_notes_node


def _make_extractor_view(state: ResearchState, run: ResearchRun, *, pages: JsonValue) -> JsonObject:
    task = state["task"]
    asked = {"goal": task["goal"], "question": task["question"]}
    return {**asked, "pages": pages, "max_notes": read_note_limit(state, run)}


@declares(
    phase="read_extract",
    reads=["task", "accepted_query", "accepted_sources", "accepted_pages", *NOTES_BEFORE, "found_notes"],
    writes=["accepted_notes", "accepted_sources", "accepted_searches"],
    stops=["tool", "no_sources", "invalid_notes", "budget"],
    later=["accepted_query", *NOTES_BEFORE],
    later_writes=["accepted_searches"],
)
def run_notes_guard_node(state: ResearchState, run: ResearchRun) -> Pass:
    """Read the notes that an extractor took."""
    return _accept_notes(found(state["found_notes"], "extract_notes"), state, run, {})


@declares(
    phase="read_extract",
    reads=["task", "accepted_query", "accepted_sources", "accepted_pages", *NOTES_BEFORE, "proposed_notes"],
    writes=["accepted_notes", "accepted_sources", "accepted_searches"],
    stops=["llm", "no_sources", "invalid_notes", "budget"],
    later=["accepted_query", *NOTES_BEFORE],
    later_writes=["accepted_searches"],
)
def run_proposed_notes_guard_node(state: ResearchState, run: ResearchRun) -> Pass:
    """Read the notes that a model proposed."""
    given = proposed_object(state["proposed_notes"])
    return _accept_notes(guards.read_proposed_notes(given.value), state, run, given.about)


def _accept_notes(taken: JsonValue, state: ResearchState, run: ResearchRun, about: JsonObject) -> Pass:
    pages, new, before = state["accepted_pages"], list_new_pages(state), list_notes_before(state)
    ids = {*(note["id"] for note in before), *(note["id"] for note in state.get("unverified_notes") or [])}
    raw = guards.number_notes(taken, before=ids)
    try:
        _, sources = list_usable_urls(new, state, run, led_to=guards.map_final_page_urls(new))
        if not raw:
            raise guards.build_sources_stop(sources)
    except Stop as refused:  # notes that were refused and asked again for are no longer among those accepted
        return leave_search(refused, state, run, accepted_notes=before)
    notes = guards.place_notes(guards.parse_notes(raw, max_notes=read_note_limit(state, run)), pages=pages)
    notes = trusted.order_notes(notes, state["task"], run)
    read_pages, denied = len(new), sources["denied_sources"]
    guards.check_note_links(notes, question=state["task"]["question"], pages=pages, policy=run.policy_of("links"))
    trace = {"phase": "read_extract", "pages_read": read_pages, "notes": len(notes), "denied_sources": len(denied)}
    history = {"action": "read_extract_notes", "pages_read": read_pages, "denied_sources": denied, **about}
    writes = {"accepted_notes": [*before, *notes], "accepted_sources": sources}
    return Pass(writes, "verify_guard", steps=(Step(trace, history),))


def make_verify_guard(following: str) -> Body:
    """Hold every note against the page that it names; the policy may have the run go on without those that fail.

    Args:
        following: the node behind it, where the run searches once or a verifier is asked.
    """

    @declares(
        phase="verify",
        reads=["accepted_pages", *NOTES_BEFORE],
        writes=["accepted_notes", "unverified_notes"],
        stops=["tool", "verification_failed"],
        later=["unverified_notes", "accepted_searches"],
        later_writes=["accepted_notes", "unverified_notes"],
    )
    def run_verify_guard_node(state: ResearchState, run: ResearchRun) -> Pass:
        notes = list_new_notes(state)
        way = choose_way_behind_notes(following, state, run)
        try:
            verification = guards.verify_notes(
                notes,
                pages=state["accepted_pages"],
                check_numbers=run.policy.check_numbers,
                check_quotes=run.policy.check_quotes,
                regions=list_fact_regions(run),
            )
        except Stop as refused:
            failed = refused.evidence.get("verification")
            if run.policy.unsupported != "drop" or failed is None:
                raise
            raise _drop_failed_notes(refused, notes, state, way) from None
        return Pass({}, way, (_tell_verification(verification, []),))

    return run_verify_guard_node


def choose_way_behind_notes(following: str, state: ResearchState, run: ResearchRun) -> str:
    """Return where verified notes lead: to the next node, and where the run may search several times, to what says so.

    Args:
        following: the node behind; only the last one before the answer gives way.
        state: says whether the run has searched several times.
        run: its budget says whether it may.
    """
    several = run.budget.max_queries > 1 or state.get("accepted_searches") is not None
    return "searches_guard" if several and following == "synthesize" else following


def _drop_failed_notes(
    refused: Stop, notes: list[Note], state: ResearchState, way: str, about: JsonObject | None = None
) -> PartialRefusal:
    """Return the refusal of notes with what the run goes on with, if that is anything.

    Raises:
        Stop: no note would be left.
    """
    before = list_notes_before(state)
    kept, dropped = guards.drop_unverified_notes(notes, refused.evidence["verification"])
    if not kept and not before:
        raise refused
    writes = {
        "accepted_notes": [*before, *kept],
        "unverified_notes": [*(state.get("unverified_notes") or []), *dropped],
    }
    told = _tell_verification(refused.evidence["verification"], dropped, about)
    return PartialRefusal(refused, Pass(writes, way, (told,)))


def _tell_verification(
    verification: NotesVerification, dropped: list[DroppedNote], about: JsonObject | None = None
) -> Step:
    """Tell what a verification found, and of a verifier who it is."""
    checked = {"checked_notes": verification["checked_notes"]}
    told = {"dropped_notes": [{"id": note["id"], "reason": note["reason"]} for note in dropped]} if dropped else {}
    issues = len(verification["issues"])
    said = {"action": "verify_notes", **checked, **told, **(about or {})}
    return Step({"phase": "verify", **checked, "issues": issues}, said)


def make_verify_notes_node(verifier: Proposer) -> Body:
    """Show the claims of the notes to a verifier, each with its quote; all in one call."""

    @declares(
        phase="verify",
        reads=["task", "accepted_sources", "accepted_notes", "accepted_searches"],
        writes=["proposed_support"],
        calls=[verifier],
        later=["accepted_searches"],
    )
    def run_verify_notes_node(state: ResearchState, run: ResearchRun) -> Steps:
        notes, _ = _list_usable_notes({**state, "accepted_notes": list_new_notes(state)}, run)
        return {"proposed_support": (yield from ask_verifier(verifier, list_note_claims(notes)))}

    return run_verify_notes_node


@declares(
    phase="verify",
    reads=["task", "accepted_sources", *NOTES_BEFORE, "proposed_support"],
    writes=["accepted_notes", "unverified_notes"],
    stops=["llm", "no_sources", "verification_failed"],
    later=["accepted_searches"],
)
def run_note_support_guard_node(state: ResearchState, run: ResearchRun) -> Pass:
    """Refuse notes that a verifier finds unsupported; the policy may have the run go on without them."""
    notes, _ = _list_usable_notes({**state, "accepted_notes": list_new_notes(state)}, run)
    unsupported, about = read_unsupported_claims(state["proposed_support"], list_note_claims(notes))
    way = choose_way_behind_notes("synthesize", state, run)
    try:
        verification = check_note_support(unsupported, notes)
    except Stop as refused:
        if run.policy.unsupported != "drop":
            raise
        raise _drop_failed_notes(refused, notes, state, way, about) from None
    return Pass({}, way, (_tell_verification(verification, [], about),))


SEARCHED = ("accepted_query", "accepted_hits", "accepted_sources", "accepted_pages", *NOTES_BEFORE)
"""What all searches brought so far."""


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


def _read_several_searches(state: ResearchState, run: ResearchRun) -> Searches:
    """Return how far a run has come that may search several times, or might when it came here."""
    return read_searches(state, run) or guards.start_searches(state["accepted_query"])


def _begin_search(searches: Searches, state: ResearchState, run: ResearchRun, *steps: Step) -> Pass:
    began = guards.begin_next_search(searches, notes=len(state.get("accepted_notes") or []), spent=run.spent_seconds)
    return Pass({"accepted_searches": began, "accepted_query": began["queries"][-1]}, "search", steps)


def _end_searches(searches: Searches, because: SearchesEnd, state: ResearchState, *steps: Step) -> Pass:
    """Let the answer be written.

    Raises:
        Stop: there is no note to write it from: ``no_sources_after_dedupe``, ``no_reliable_sources``.
    """
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
        return _list_usable_notes(state, run)[0] if state.get("accepted_notes") else []
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


def list_caller_values(run: ResearchRun) -> list[str]:
    """Return what is known of who asks, which no query may say."""
    if (caller := run.caller) is None:
        return []
    return [value for value in (caller.tenant, caller.user, *caller.groups) if value]


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
    "dropped_notes",
    "removed",
    "agreement",
    "approved_by",
    "failed_queries",
    "queries",
    "rounds",
    "open",
    "stopped_because",
)
"""What the good ending returns: what was left out where there is any, of the searches where there may be several."""


def make_writer_view(state: ResearchState, run: ResearchRun) -> JsonObject:
    """Return what a writer is shown: of the notes those that may be used now."""
    task = state["task"]
    notes, _ = _list_usable_notes(state, run)
    return {
        "goal": task["goal"],
        "question": task["question"],
        "notes": list(map(guards.show_note, trusted.order_notes(notes, task, run))),
        "max_answer_chars": read_task_limit("max_answer_chars", task, run),
    }


def make_synthesize_node(writer: Proposer) -> Body:
    """Ask for an answer from the notes alone."""

    @declares(
        phase="synthesize",
        reads=["task", "accepted_sources", "accepted_notes"],
        writes=["proposed_answer"],
        calls=[writer],
    )
    def run_synthesize_node(state: ResearchState, run: ResearchRun) -> Steps:
        outcome = yield writer.call(make_writer_view(state, run))
        return {"proposed_answer": outcome.packed()}

    return run_synthesize_node


@declares(
    phase="synthesize",
    reads=["task", "accepted_sources", "accepted_pages", "accepted_notes", "proposed_answer"],
    writes=["accepted_answer", "accepted_sources"],
    stops=["llm", "no_sources", "invalid_answer"],
)
def run_answer_guard_node(state: ResearchState, run: ResearchRun) -> Pass:
    """Hold the answer against the notes that it cites."""
    given = proposed_text(state["proposed_answer"], "answer", ("citations",))
    fields = given.value if isinstance(given.value, dict) else {}
    notes, sources = _list_usable_notes(state, run)
    answer = guards.parse_research_answer(
        fields.get("answer"),
        fields.get("citations"),
        notes=notes,
        max_answer_chars=read_task_limit("max_answer_chars", state["task"], run),
    )
    guards.check_answer_links(answer, question=state["task"]["question"], notes=notes, policy=run.policy_of("links"))
    try:
        _check_answer_support(answer, notes, state, run)
        _check_answer_turned(answer, notes, state, run)
    except Stop as refused:
        # A recording of before has the setting for notes alone.
        if run.policy.unsupported != "drop" or run.policy_of("partial_answers") is None:
            raise
        left = _remove_refused_sentences(answer, refused, notes, state, run)
        raise PartialRefusal(refused, _accept_answer(left, sources, given.about)) from None
    return _accept_answer(answer, sources, given.about)


def check_edited_brief(brief: JsonObject, state: ResearchState, run: ResearchRun) -> None:
    """Hold a brief in a person's words against the notes that it cites, as any answer.

    Raises:
        Stop: as the answer guard, of a sentence too that it would take out of a proposal.
    """
    notes, _ = _list_usable_notes(state, run)
    most = read_task_limit("max_answer_chars", state["task"], run)
    answer = guards.parse_research_answer(brief["answer"], brief["citations"], notes=notes, max_answer_chars=most)
    guards.check_answer_links(answer, question=state["task"]["question"], notes=notes, policy=run.policy_of("links"))
    _check_answer_support(answer, notes, state, run)
    _check_answer_turned(answer, notes, state, run)


def _accept_answer(answer: ResearchAnswer, sources: Sources, about: JsonObject) -> Pass:
    trace: JsonObject = {
        "phase": "synthesize",
        "answer_chars": len(answer["answer"]),
        "citations": len(answer["citations"]),
    }
    history: JsonObject = {"action": "synthesize_answer", "citations": answer["citations"]}
    if removed := answer.get("removed"):
        trace["removed"], history["removed"] = len(removed), removal.describe_removed(removed)
    step = Step(trace, {**history, **about})
    return Pass({"accepted_answer": answer, "accepted_sources": sources}, steps=(step,))


def _check_answer_support(
    answer: ResearchAnswer, notes: list[Note], state: ResearchState, run: ResearchRun, *, within: str = ""
) -> None:
    if run.policy.check_numbers:
        may_derive = run.policy.derived == "allow"
        guards.check_answer_facts(answer, notes=notes, regions=list_fact_regions(run), derive=may_derive)
    if run.policy.check_names:
        asked, pages, known = state["task"]["question"], state["accepted_pages"], run.policy.known_names
        guards.check_answer_names(answer, question=asked, notes=notes, pages=pages, known_names=known, within=within)


def _check_answer_turned(answer: ResearchAnswer, notes: list[Note], state: ResearchState, run: ResearchRun) -> None:
    if run.policy.check_turned:
        quotes = [note["quote"] for note in guards.select_cited_notes(notes, answer["citations"])]
        check_turned_sentences(answer["answer"], quotes, question=state["task"]["question"])


def _remove_refused_sentences(
    answer: ResearchAnswer, refused: Stop, notes: list[Note], state: ResearchState, run: ResearchRun
) -> ResearchAnswer:
    """Return an answer without what it is refused for, or stop where nothing can be taken out of it."""
    whole, cited = answer["answer"], answer["citations"]

    def check(start: int, end: int) -> Stop | None:
        said = ResearchAnswer(answer=whole[start:end], citations=cited)
        try:
            _check_answer_support(said, notes, state, run, within=whole)
        except Stop as stop:
            return stop
        return None

    def judge(rest: removal.Rest, citations: Sequence[str]) -> None:
        left = ResearchAnswer(answer=rest.text, citations=list(citations))
        _check_answer_support(left, notes, state, run)
        _check_answer_turned(left, notes, state, run)

    rest, citations = removal.remove_refused(
        whole,
        refused,
        check=check,
        contradict=lambda: _check_answer_turned(answer, notes, state, run),
        judge=judge,
        support=lambda rest: guards.find_supporting_notes(
            [rest.text[at : at + end - start] for start, end, at in rest.kept], guards.select_cited_notes(notes, cited)
        ),
        citations=cited,
        beside=state["task"]["question"],
        cited=[note["quote"] for note in guards.select_cited_notes(notes, cited)],
    )
    return ResearchAnswer(answer=rest.text, citations=citations, removed=rest.removed)


def _list_usable_notes(state: ResearchState, run: ResearchRun) -> tuple[list[Note], Sources]:
    notes = state["accepted_notes"]
    led_to = {guards.find_note_url(note): note["url"] for note in notes}
    usable, sources = list_usable_urls(led_to, state, run, led_to=led_to)
    least, rate = run.policy.min_trust, partial(trusted.rate_note, state["task"], run)
    kept = [note for note in notes if guards.find_note_url(note) in usable and rate(note) >= least]
    if not kept:
        raise guards.build_sources_stop(sources)
    return kept, sources


def show_accepted_brief(state: ResearchState, run: ResearchRun) -> tuple[JsonObject, JsonObject]:
    """Return the accepted answer, and what the writer was shown."""
    return {**state["accepted_answer"]}, make_writer_view(state, run)


def list_accepted_claims(state: ResearchState, run: ResearchRun) -> list[Claim]:
    """Return the sentences of the accepted answer, each with the notes that the answer cites."""
    answer, (notes, _) = state["accepted_answer"], _list_usable_notes(state, run)
    return list_brief_claims(answer["answer"], guards.select_cited_notes(notes, answer["citations"]))


GUARDED_ANSWER = GuardedAnswer(
    phase="synthesize",
    proposer="synthesize",
    reads=("task", "accepted_sources", "accepted_notes", "accepted_answer"),
    show=show_accepted_brief,
    ends=("answered",),
    stops=("no_sources",),
    list_claims=list_accepted_claims,
)
"""What an application adds guards and a verifier to."""


@declares(
    phase="synthesize",
    reads=(*FOUND, "task", "unverified_notes", "accepted_answer", "accepted_agreement", "accepted_searches"),
    writes=RESULT,
    later=["task", "unverified_notes", "accepted_agreement", "accepted_searches"],
    later_writes=[
        *("dropped_notes", "removed", "failed_queries", "queries", "rounds", "open", "stopped_because"),
        *("agreement", "approved_by"),
    ],
)
def run_answered_node(state: ResearchState, run: ResearchRun) -> dict[str, Any]:
    """End with a cited brief, unless a host that it cites was switched off since it was judged."""
    answer, sources, notes = state["accepted_answer"], state["accepted_sources"], state["accepted_notes"]
    pages, dropped = state["accepted_pages"], state.get("unverified_notes") or []
    cited = guards.select_cited_notes(notes, answer["citations"])
    if run.policy_of("lists_at_the_end") is not None:
        usable, _ = _list_usable_notes(state, run)
        if gone := [note["id"] for note in cited if note not in usable]:
            raise Stop("no_reliable_sources", details={"switched_off": gone})
    extra = {key: sources[key] for key in ("dropped_urls", "failed_sources") if sources[key]}
    searches = state.get("accepted_searches")
    aggregate = {
        "query": searches["queries"][0] if searches else state["accepted_query"],
        "urls_found": searches["hits"] if searches else len(state["accepted_hits"]),
        "urls_after_dedupe": len(sources["urls"]),
        "pages_read": len(pages),
        "notes_count": len(notes) + len(dropped),
        "citations_count": len(answer["citations"]),
        "denied_sources": sources["denied_sources"],
        "verified_notes": len(notes),
        **extra,
    }
    return {
        "outcome": "grounded_partial" if "removed" in answer else "grounded_research_answer",
        **answer,
        "citation_details": [
            {
                **guards.describe_citation(note, pages.get(guards.find_note_url(note))),
                **trusted.describe_note_trust(note, state["task"], run),
            }
            for note in cited
        ],
        "passages": [{key: note[key] for key in ("id", "claim", "quote")} for note in cited],
        "aggregate": aggregate,
        **extra,
        **({"dropped_notes": dropped} if dropped else {}),
        **({"agreement": state["accepted_agreement"]} if state.get("accepted_agreement") else {}),
        **({} if searches is None else describe_searches(searches)),
    }


def describe_searches(searches: Searches) -> JsonObject:
    """Return what a result says of several searches."""
    failed: JsonObject = {"failed_queries": searches["failed_queries"]} if searches["failed_queries"] else {}
    return {**failed, **{key: searches[key] for key in ("queries", "rounds", "open", "stopped_because")}}

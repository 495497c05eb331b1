"""The Research agent's nodes, in the order of its diagram: request, query, sources, pages, notes, brief."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from guardgraph.guards import removal, urls
from guardgraph.guards import research as guards
from guardgraph.guards.facts import DEFAULT_REGIONS
from guardgraph.guards.proposals import found, proposed_object, proposed_text
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
from guardgraph.nodes.added import GuardedAnswer, ask_verifier
from guardgraph.nodes.body import Body, PartialRefusal, Pass, Run, Step, Steps, declares
from guardgraph.plain.json import JsonObject, JsonValue, format_json_text
from guardgraph.state.research import (
    DroppedNote,
    Note,
    NotesVerification,
    ResearchAnswer,
    ResearchBudget,
    ResearchPolicy,
    ResearchState,
    ResearchTask,
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
    return Pass({"task": task})


def list_usable_urls(
    names: Iterable[str], state: ResearchState, run: ResearchRun, *, led_to: Mapping[str, str] | None = None
) -> tuple[list[str], Sources]:
    """Return the URLs that may be used now, also where their pages were in the end; and what became of the sources."""
    return guards.select_usable_sources(
        names, state["accepted_sources"], **narrow_domain_lists(state["task"], run), led_to=led_to or {}
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


def choose_hits_that_count(task: ResearchTask, run: ResearchRun) -> Callable[[object], bool]:
    """Return what says whether a hit takes a place: one that both lists allow; any, where these were asked later."""
    if run.policy_of("lists_first") is None:
        return urls.count_every_hit
    return partial(urls.is_url_allowed, **narrow_domain_lists(task, run))


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


def make_search_node(tool: Outside) -> Body:
    """Search; twice as many hits as URLs may survive, since some are the same page.

    A search that says that it can use them (``takes_hosts``) is told the hosts on both lists at this moment.
    """
    is_told_hosts = is_said_of_target(tool, "takes_hosts")

    @declares(phase="search", reads=["task", "accepted_query"], writes=["found_hits"])
    def run_search_node(state: ResearchState, run: ResearchRun) -> Steps:
        task = state["task"]
        request = {"query": state["accepted_query"], "max_results": 2 * read_task_limit("max_urls", task, run)}
        hosts = {"hosts": list_allowed_hosts(**narrow_domain_lists(task, run))} if is_told_hosts else {}
        outcome = yield Call("tool", tool, request, scope=hosts)
        return {"found_hits": outcome.packed()}

    return run_search_node


@declares(
    phase="search", reads=["task", "accepted_query", "found_hits"], writes=["accepted_hits"], stops=["tool", "budget"]
)
def run_hits_guard_node(state: ResearchState, run: ResearchRun) -> Pass:
    """Read what the search returned; a hit that a list denies takes no place of the others."""
    task = state["task"]
    hits = urls.cut_found_urls(
        guards.read_found_urls(found(state["found_hits"], "search_sources")),
        max_hits=2 * read_task_limit("max_urls", task, run),
        is_counted=choose_hits_that_count(task, run),
    )
    counted = {"query": state["accepted_query"], "candidates": len(hits)}
    step = Step({"phase": "search", **counted}, {"action": "search_sources", **counted})
    return Pass({"accepted_hits": hits}, steps=(step,))


@declares(phase="dedupe", reads=["task", "accepted_hits"], writes=["accepted_sources"], stops=["no_sources"])
def run_dedupe_guard_node(state: ResearchState, run: ResearchRun) -> Pass:
    """Keep every URL once, and no more than max_urls that both lists allow; the denied are kept to be listed."""
    task = state["task"]
    spellings, dropped = urls.dedupe_found_urls(
        state["accepted_hits"],
        max_urls=read_task_limit("max_urls", task, run),
        is_counted=choose_hits_that_count(task, run),
    )
    if not spellings:
        raise Stop("no_sources_after_dedupe", **({"dropped_urls": dropped} if dropped else {}))
    sources = guards.start_research_sources(spellings, dropped)
    counted = {"urls_after_dedupe": len(spellings)}
    step = Step({"phase": "dedupe", **counted}, {"action": "dedupe_urls", **counted})
    return Pass({"accepted_sources": sources}, steps=(step,))


@declares(phase="read_extract", reads=["task", "accepted_sources"], writes=["accepted_sources"], stops=["no_sources"])
def run_source_guard_node(state: ResearchState, run: ResearchRun) -> Pass:
    """Judge every URL before anything is read."""
    usable, sources = list_usable_urls(state["accepted_sources"]["urls"], state, run)
    # A resume may bring wider lists than those by which the hits were counted.
    most = None if run.policy_of("lists_first") is None else read_task_limit("max_urls", state["task"], run)
    return Pass({"accepted_sources": {**sources, "allowed_urls": usable[:most]}})


def make_read_node(reader: Outside) -> Body:
    """Read pages side by side until there are enough; what cannot be read does not count.

    The reader is given a URL as it was found, and told where it may go at this moment.
    """

    @declares(phase="read_extract", reads=["task", "accepted_sources"], writes=["found_pages"], rounds="any")
    def run_read_node(state: ResearchState, run: ResearchRun) -> Steps:
        task, sources = state["task"], state["accepted_sources"]
        usable, _ = list_usable_urls(sources["allowed_urls"], state, run)
        most, scope, allowed = (
            read_task_limit("max_read_pages", task, run),
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
    reads=["task", "accepted_sources", "found_pages"],
    writes=["accepted_pages", "accepted_sources"],
    stops=["tool", "no_sources"],
)
def run_pages_guard_node(state: ResearchState, run: ResearchRun) -> Pass:
    """Sort what the reader brought into pages and failures."""
    usable, sources = list_usable_urls(state["accepted_sources"]["allowed_urls"], state, run)
    pages, sources = guards.sort_read_pages(
        state["found_pages"], sources, usable=usable, unsure_text=run.policy.unsure_text
    )
    used, sources = list_usable_urls(
        pages, {**state, "accepted_sources": sources}, run, led_to=guards.map_final_page_urls(pages)
    )
    return Pass({"accepted_pages": {url: pages[url] for url in used}, "accepted_sources": sources})


def make_extract_node(extractor: Outside) -> Body:
    """Take notes from the pages that were read."""

    @declares(phase="read_extract", reads=["task", "accepted_sources", "accepted_pages"], writes=["found_notes"])
    def run_extract_node(state: ResearchState, run: ResearchRun) -> Steps:
        pages = state["accepted_pages"]
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
        reads=["task", "accepted_sources", "accepted_pages"],
        writes=["proposed_notes"],
        calls=[extractor],
    )
    def run_propose_notes_node(state: ResearchState, run: ResearchRun) -> Steps:
        pages = state["accepted_pages"]
        usable, _ = list_usable_urls(pages, state, run, led_to=guards.map_final_page_urls(pages))
        shown = [guards.show_source_page(url, pages[url], max_chars=run.budget.max_page_chars) for url in usable]
        outcome = yield extractor.call(_make_extractor_view(state, run, pages=shown))
        return {"proposed_notes": outcome.packed()}

    return run_propose_notes_node


def _make_extractor_view(state: ResearchState, run: ResearchRun, *, pages: JsonValue) -> JsonObject:
    task = state["task"]
    asked = {"goal": task["goal"], "question": task["question"]}
    return {**asked, "pages": pages, "max_notes": read_task_limit("max_notes", task, run)}


@declares(
    phase="read_extract",
    reads=["task", "accepted_sources", "accepted_pages", "found_notes"],
    writes=["accepted_notes", "accepted_sources"],
    stops=["tool", "no_sources", "invalid_notes", "budget"],
)
def run_notes_guard_node(state: ResearchState, run: ResearchRun) -> Pass:
    """Read the notes that an extractor took."""
    return _accept_notes(guards.number_notes(found(state["found_notes"], "extract_notes")), state, run, {})


@declares(
    phase="read_extract",
    reads=["task", "accepted_sources", "accepted_pages", "proposed_notes"],
    writes=["accepted_notes", "accepted_sources"],
    stops=["llm", "no_sources", "invalid_notes", "budget"],
)
def run_proposed_notes_guard_node(state: ResearchState, run: ResearchRun) -> Pass:
    """Read the notes that a model proposed."""
    given = proposed_object(state["proposed_notes"])
    return _accept_notes(guards.number_notes(guards.read_proposed_notes(given.value)), state, run, given.about)


def _accept_notes(raw: list[JsonValue], state: ResearchState, run: ResearchRun, about: JsonObject) -> Pass:
    pages = state["accepted_pages"]
    _, sources = list_usable_urls(pages, state, run, led_to=guards.map_final_page_urls(pages))
    if not raw:
        raise guards.build_sources_stop(sources)
    notes = guards.place_notes(
        guards.parse_notes(raw, max_notes=read_task_limit("max_notes", state["task"], run)), pages=pages
    )
    read_pages, denied = len(pages), sources["denied_sources"]
    guards.check_note_links(notes, question=state["task"]["question"], pages=pages, policy=run.policy_of("links"))
    trace = {"phase": "read_extract", "pages_read": read_pages, "notes": len(notes), "denied_sources": len(denied)}
    history = {"action": "read_extract_notes", "pages_read": read_pages, "denied_sources": denied, **about}
    return Pass({"accepted_notes": notes, "accepted_sources": sources}, steps=(Step(trace, history),))


@declares(
    phase="verify",
    reads=["accepted_pages", "accepted_notes"],
    writes=["accepted_notes", "unverified_notes"],
    stops=["tool", "verification_failed"],
    later_writes=["accepted_notes", "unverified_notes"],
)
def run_verify_guard_node(state: ResearchState, run: ResearchRun) -> Pass:
    """Hold every note against the page that it names; the policy may have the run go on without those that fail."""
    notes = state["accepted_notes"]
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
        kept, dropped = guards.drop_unverified_notes(notes, failed)
        if not kept:
            raise
        rest = Pass({"accepted_notes": kept, "unverified_notes": dropped}, steps=(_tell_verification(failed, dropped),))
        raise PartialRefusal(refused, rest) from None
    return Pass(steps=(_tell_verification(verification, []),))


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
        reads=["task", "accepted_sources", "accepted_notes"],
        writes=["proposed_support"],
        calls=[verifier],
    )
    def run_verify_notes_node(state: ResearchState, run: ResearchRun) -> Steps:
        notes, _ = _list_usable_notes(state, run)
        return {"proposed_support": (yield from ask_verifier(verifier, list_note_claims(notes)))}

    return run_verify_notes_node


@declares(
    phase="verify",
    reads=["task", "accepted_sources", "accepted_notes", "unverified_notes", "proposed_support"],
    writes=["accepted_notes", "unverified_notes"],
    stops=["llm", "no_sources", "verification_failed"],
)
def run_note_support_guard_node(state: ResearchState, run: ResearchRun) -> Pass:
    """Refuse notes that a verifier finds unsupported; the policy may have the run go on without them."""
    notes, _ = _list_usable_notes(state, run)
    unsupported, about = read_unsupported_claims(state["proposed_support"], list_note_claims(notes))
    try:
        verification = check_note_support(unsupported, notes)
    except Stop as refused:
        failed = refused.evidence["verification"]
        kept, dropped = guards.drop_unverified_notes(notes, failed)
        if run.policy.unsupported != "drop" or not kept:
            raise
        writes = {"accepted_notes": kept, "unverified_notes": [*(state.get("unverified_notes") or []), *dropped]}
        rest = Pass(writes, steps=(_tell_verification(failed, dropped, about),))
        raise PartialRefusal(refused, rest) from None
    return Pass(steps=(_tell_verification(verification, [], about),))


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
)
"""What the good ending returns, the last four where there are any."""


def make_writer_view(state: ResearchState, run: ResearchRun) -> JsonObject:
    """Return what a writer is shown: of the notes those that may be used now."""
    task = state["task"]
    notes, _ = _list_usable_notes(state, run)
    return {
        "goal": task["goal"],
        "question": task["question"],
        "notes": list(map(guards.show_note, notes)),
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
    return [note for note in notes if guards.find_note_url(note) in usable], sources


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
    reads=(*FOUND, "unverified_notes", "accepted_answer"),
    writes=RESULT,
    later=["unverified_notes"],
    later_writes=["dropped_notes", "removed"],
)
def run_answered_node(state: ResearchState, run: ResearchRun) -> dict[str, Any]:
    """End with a cited brief."""
    answer, sources, notes = state["accepted_answer"], state["accepted_sources"], state["accepted_notes"]
    pages, dropped = state["accepted_pages"], state.get("unverified_notes") or []
    cited = guards.select_cited_notes(notes, answer["citations"])
    extra = {key: sources[key] for key in ("dropped_urls", "failed_sources") if sources[key]}
    aggregate = {
        "query": state["accepted_query"],
        "urls_found": len(state["accepted_hits"]),
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
        "citation_details": [guards.describe_citation(note, pages.get(guards.find_note_url(note))) for note in cited],
        "passages": [{key: note[key] for key in ("id", "claim", "quote")} for note in cited],
        "aggregate": aggregate,
        **extra,
        **({"dropped_notes": dropped} if dropped else {}),
    }

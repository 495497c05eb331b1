"""The Research agent's nodes for notes: they are taken from pages, and held against them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from guardgraph.guards.answers import check_text_is_said
from guardgraph.guards.numbering import is_by_number, name_numbered_pages
from guardgraph.guards.proposals import found, proposed_object
from guardgraph.guards.research import agreement as agreed
from guardgraph.guards.research import notes as note_guards
from guardgraph.guards.research import pages as page_guards
from guardgraph.guards.research import sources as source_guards
from guardgraph.guards.research import trust
from guardgraph.guards.stop import Stop
from guardgraph.guards.support import check_note_support, list_note_claims, read_unsupported_claims
from guardgraph.nodes.body import Body, PartialRefusal, Pass, Step, Steps, declares, make_asking_node, redirect_guard
from guardgraph.nodes.own_guards import ask_verifier
from guardgraph.nodes.research import searching
from guardgraph.nodes.research.scope import ResearchRun, list_usable_notes, list_usable_urls, order_notes
from guardgraph.plain.json import JsonObject, JsonValue
from guardgraph.plain.urls import parse_url_target
from guardgraph.state.research import DroppedNote, Note, NoteAgreement, NotesVerification, ResearchState, SourcePage
from guardgraph.world.call import Call, Outside
from guardgraph.world.prompts import list_prompt_texts
from guardgraph.world.proposers import Proposer

PAGE_READS = ("task", "accepted_sources", "accepted_pages", *searching.NOTES_BEFORE)  # where notes are taken from


def make_extract_node(extractor: Outside) -> Body:
    """Take notes from the pages that were read."""

    @declares(phase="read_extract", reads=PAGE_READS, writes=["found_notes"])
    def run_extract_node(state: ResearchState, run: ResearchRun) -> Steps:
        pages = searching.list_new_pages(state)
        shown = {url: pages[url] for url in _list_usable_pages(pages, state, run)}
        outcome = yield Call("tool", extractor, _make_extractor_view(state, run, pages=shown))
        return {"found_notes": outcome.packed()}

    return run_extract_node


def make_propose_notes_node(extractor: Proposer) -> Body:
    """Ask for notes from the pages that were read; their texts are data, cut to what a model is shown of a page."""

    def show_read_pages(state: ResearchState, run: ResearchRun) -> JsonObject:
        pages = searching.list_new_pages(state)
        usable = _list_usable_pages(pages, state, run)
        shown = [page_guards.show_source_page(url, pages[url], max_chars=run.budget.max_page_chars) for url in usable]
        return _make_extractor_view(state, run, pages=shown)

    return make_asking_node(extractor, show_read_pages, phase="read_extract", reads=PAGE_READS, writes="proposed_notes")


def _list_usable_pages(pages: dict[str, SourcePage], state: ResearchState, run: ResearchRun) -> list[str]:
    usable, _ = list_usable_urls(pages, state, run, led_to=source_guards.map_final_page_urls(pages))
    return usable


def _make_extractor_view(state: ResearchState, run: ResearchRun, *, pages: JsonValue) -> JsonObject:
    task = state["task"]
    asked = {"goal": task["goal"], "question": task["question"]}
    return {**asked, "pages": pages, "max_notes": searching.read_note_limit(state, run)}


@declares(
    phase="read_extract",
    reads=[*PAGE_READS, "accepted_query", "found_notes"],
    writes=["accepted_notes", "accepted_sources", "accepted_searches"],
    stops=["tool", "no_sources", "invalid_notes", "budget"],
)
def run_notes_guard_node(state: ResearchState, run: ResearchRun) -> Pass:
    """Read the notes that an extractor took."""
    return _accept_notes(found(state["found_notes"], "extract_notes"), state, run, {})


@declares(
    phase="read_extract",
    reads=[*PAGE_READS, "accepted_query", "proposed_notes"],
    writes=["accepted_notes", "accepted_sources", "accepted_searches"],
    stops=["llm", "no_sources", "invalid_notes", "budget"],
)
def run_proposed_notes_guard_node(state: ResearchState, run: ResearchRun) -> Pass:
    """Read the notes that a model proposed."""
    pages = searching.list_new_pages(state)
    usable = _list_usable_pages(pages, state, run)
    bodies, most = {url: pages[url]["body"] for url in usable}, searching.read_note_limit(state, run)
    given = proposed_object(state["proposed_notes"], partial(note_guards.read_text_notes, pages=bodies, most=most))
    value = name_numbered_pages(given.value, usable) if is_by_number(given) else given.value
    return _accept_notes(note_guards.read_proposed_notes(value), state, run, given.about)


def _accept_notes(taken: JsonValue, state: ResearchState, run: ResearchRun, about: JsonObject) -> Pass:
    pages, new, before = state["accepted_pages"], searching.list_new_pages(state), searching.list_notes_before(state)
    ids = {*(note["id"] for note in before), *(note["id"] for note in state.get("unverified_notes") or [])}
    raw = note_guards.number_notes(taken, before=ids)
    try:
        _, sources = list_usable_urls(new, state, run, led_to=source_guards.map_final_page_urls(new))
        if not raw:
            raise source_guards.build_sources_stop(sources)
    except Stop as refused:  # notes that were refused and asked again for are no longer among those accepted
        return searching.leave_search(refused, state, run, accepted_notes=before)
    notes = note_guards.place_notes(
        note_guards.parse_notes(raw, max_notes=searching.read_note_limit(state, run)), pages=pages
    )
    notes = order_notes(notes, state["task"], run)
    for note in notes:
        echoes = [state["task"]["question"], note["url"]]
        check_text_is_said(note["claim"], "invalid_notes:claim", echoes=echoes, told=list_prompt_texts())
    read_pages, denied = len(new), sources["denied_sources"]
    note_guards.check_note_links(notes, question=state["task"]["question"], pages=pages, policy=run.policy)
    trace = {"phase": "read_extract", "pages_read": read_pages, "notes": len(notes), "denied_sources": len(denied)}
    history = {"action": "read_extract_notes", "pages_read": read_pages, "denied_sources": denied, **about}
    writes = {"accepted_notes": [*before, *notes], "accepted_sources": sources}
    return Pass(writes, "verify_guard", steps=(Step(trace, history),))


def make_verify_guard(following: str) -> Body:
    """Hold every note against the page that it names; the policy may have the run go on without those that fail."""
    is_last = following == "synthesize"

    @declares(
        phase="verify",
        reads=["accepted_pages", *searching.NOTES_BEFORE],
        writes=["accepted_notes", "unverified_notes", "verified_notes"],
        stops=["tool", "verification_failed"],
    )
    def run_verify_guard_node(state: ResearchState, run: ResearchRun) -> Pass:
        notes = searching.list_new_notes(state)
        way = searching.choose_way_behind_notes(following, state, run)
        try:
            verification = note_guards.verify_notes(
                notes,
                pages=state["accepted_pages"],
                check_values=run.policy.check_values,
                check_quotes=run.policy.check_quotes,
            )
        except Stop as refused:
            failed = refused.evidence.get("verification")
            if run.policy.on_unsupported != "mark" or failed is None:
                raise
            raise _drop_failed_notes(refused, notes, state, way, is_last=is_last) from None
        verified = {"verified_notes": state["accepted_notes"]} if is_last else {}
        return Pass(verified, way, (_tell_verification(verification, []),))

    return run_verify_guard_node


def _drop_failed_notes(
    refused: Stop,
    notes: list[Note],
    state: ResearchState,
    way: str,
    about: JsonObject | None = None,
    *,
    is_last: bool = True,
) -> PartialRefusal:
    before = searching.list_notes_before(state)
    kept, dropped = note_guards.drop_unverified_notes(notes, refused.evidence["verification"])
    if not kept and not before:
        raise refused
    writes = {
        "accepted_notes": [*before, *kept],
        **({"verified_notes": [*before, *kept]} if is_last else {}),
        "unverified_notes": [*(state.get("unverified_notes") or []), *dropped],
    }
    told = _tell_verification(refused.evidence["verification"], dropped, about)
    return PartialRefusal(refused, Pass(writes, way, (told,)))


def _tell_verification(
    verification: NotesVerification, dropped: list[DroppedNote], about: JsonObject | None = None
) -> Step:
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
    )
    def run_verify_notes_node(state: ResearchState, run: ResearchRun) -> Steps:
        notes, _ = list_usable_notes({**state, "accepted_notes": searching.list_new_notes(state)}, run)
        return {"proposed_support": (yield from ask_verifier(verifier, list_note_claims(notes)))}

    return run_verify_notes_node


@declares(
    phase="verify",
    reads=["task", "accepted_sources", *searching.NOTES_BEFORE, "proposed_support"],
    writes=["accepted_notes", "unverified_notes", "verified_notes"],
    stops=["llm", "no_sources", "verification_failed"],
)
def run_note_support_guard_node(state: ResearchState, run: ResearchRun) -> Pass:
    """Refuse notes that a verifier finds unsupported; the policy may have the run go on without them."""
    notes, _ = list_usable_notes({**state, "accepted_notes": searching.list_new_notes(state)}, run)
    unsupported, about = read_unsupported_claims(state["proposed_support"], list_note_claims(notes))
    way = searching.choose_way_behind_notes("synthesize", state, run)
    try:
        verification = check_note_support(unsupported, notes)
    except Stop as refused:
        if run.policy.on_unsupported != "mark":
            raise
        raise _drop_failed_notes(refused, notes, state, way, about) from None
    return Pass({"verified_notes": state["accepted_notes"]}, way, (_tell_verification(verification, [], about),))


AGREEMENT_GUARD = "agreement_guard"  # the guard that compares notes


def choose_way_to_answer(run: ResearchRun) -> str:
    """Return the node that begins an answer: what proposes an outline where it has sections, else what writes it."""
    return "outline" if run.budget.max_sections and run.ended_by is None else "synthesize"


def lead_to_agreement(body: Body) -> Body:
    """Return a guard's body that leads to the answer, and before to the comparison of notes where the policy has it."""

    def lead(passed: Pass, run: ResearchRun) -> Pass:
        if passed.to not in (None, "synthesize"):
            return passed
        return passed._replace(to=choose_way_to_answer(run) if run.policy.corroboration == "none" else AGREEMENT_GUARD)

    return redirect_guard(body, lead)


@declares(
    phase="verify",
    reads=["task", "accepted_pages", "accepted_notes", "unverified_notes"],
    writes=["accepted_agreement", "accepted_notes", "verified_notes", "unverified_notes"],
    stops=["agreement"],
)
def run_agreement_guard_node(state: ResearchState, run: ResearchRun) -> Pass:
    """Hold the notes of all pages against each other; the policy may require that several sources say each."""
    notes = state["accepted_notes"]
    agreement, way = agreed.compare_notes(notes, describe_note_sources(state, run)), choose_way_to_answer(run)
    if run.policy.corroboration != "require":
        return Pass({"accepted_agreement": agreement}, way, steps=(_tell_agreement(agreement),))
    least = run.policy.min_independent
    try:
        agreed.check_agreement(agreement, notes, min_independent=least)
    except Stop as refused:
        kept = [note for note, said in zip(notes, agreement, strict=True) if said["independent"] >= least]
        # A conflict is never dropped: nobody would know which of the two was left out.
        if run.policy.on_unsupported != "mark" or not kept or refused.reason == "conflicting_sources":
            raise
        few = [note for note in notes if note not in kept]
        before = state.get("unverified_notes") or []
        dropped = [*before, *(note_guards.drop_note(note, refused.reason) for note in few)]
        writes = {"accepted_agreement": agreement, "unverified_notes": dropped}
        writes |= {"accepted_notes": kept, "verified_notes": kept}
        return Pass(writes, way, steps=(_tell_agreement(agreement, few),))
    return Pass({"accepted_agreement": agreement}, way, steps=(_tell_agreement(agreement),))


def describe_note_sources(state: ResearchState, run: ResearchRun) -> dict[str, agreed.SourceText]:
    """Return what is known of the pages of notes, by the URLs of the notes."""
    table, found = trust.TrustTable(run.policy.trust), dict[str, agreed.SourceText]()
    for note in state["accepted_notes"]:
        page, known = state["accepted_pages"].get(source_guards.find_note_url(note)), parse_url_target(note["url"])
        if page is None or known is None:
            continue
        entry = table.find_source_trust(note["url"]).entry
        owner = " ".join(entry.get("owner", "").casefold().split()) if entry is not None else ""
        linked = page.get("linked_hosts")
        found[note["url"]] = agreed.SourceText(
            note["url"], known.host, owner, page["body"], None if linked is None else frozenset(linked)
        )
    return found


def _tell_agreement(agreement: Sequence[NoteAgreement], dropped: Sequence[Note] = ()) -> Step:
    counted = {name: sum(said["standing"] == name for said in agreement) for name in _STANDINGS}
    told = {"dropped_notes": [note["id"] for note in dropped]} if dropped else {}
    history = {"action": "compare_notes", "agreement": list(agreement), **told}
    return Step({"phase": "verify", "compared_notes": len(agreement), **counted}, history)


_STANDINGS = ("agreed", "single_source", "conflict")

"""The Research agent's nodes for trust, agreement and a person: what sources are worth, and what they say together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import partial

from guardgraph.guards.proposals import read_reviewer, reviewed
from guardgraph.guards.research import agreement as agreed
from guardgraph.guards.research import risk, trust
from guardgraph.guards.research.answer import select_cited_notes
from guardgraph.guards.research.sources import build_sources_stop, find_note_url
from guardgraph.guards.stop import Stop
from guardgraph.nodes.body import Body, PartialRefusal, Pass, Run, Step, Steps, declares, read_body_declaration
from guardgraph.plain.json import JsonObject, JsonValue
from guardgraph.plain.urls import parse_url_target
from guardgraph.state.outcome import Outcome
from guardgraph.state.research import (
    BriefReview,
    DroppedNote,
    Note,
    NoteAgreement,
    ResearchBudget,
    ResearchPolicy,
    ResearchState,
    ResearchTask,
    SourcePage,
    Sources,
)
from guardgraph.world.call import ask_person
from guardgraph.world.reviews import EDIT, EDITED

ResearchRun = Run[ResearchPolicy, ResearchBudget]

AGREEMENT_GUARD, RISK_GUARD = "agreement_guard", "risk_guard"
"""The guards that compare notes, and that have a person asked."""


def explain_distrust(run: ResearchRun) -> Callable[[str], str | None]:
    """Return what says whether a URL's host is trusted too little, whatever its page says."""
    table, least = trust.TrustTable(run.policy.trust), run.policy.min_trust
    return lambda url: trust.explain_trust_denial(table.find_source_trust(url).worth, least)


def rate_dated_page(url: str, dated: str, task: ResearchTask, run: ResearchRun) -> float:
    """Return how far a page is trusted, 0 to 1."""
    worth = trust.TrustTable(run.policy.trust).find_source_trust(url).worth
    return trust.rate_page(worth, dated, task.get("as_of", ""))


def rate_note(task: ResearchTask, run: ResearchRun, note: Note) -> float:
    """Return how far the page of a note is trusted, 0 to 1."""
    return rate_dated_page(note["url"], note["published_at"], task, run)


def order_urls(urls: Sequence[str], run: ResearchRun) -> list[str]:
    """Return URLs with those of the most trusted hosts first; as they are where no trust is declared."""
    table = trust.TrustTable(run.policy.trust)
    return trust.order_by_trust(urls, lambda url: table.find_source_trust(url).worth) if table else list(urls)


def order_notes(notes: Sequence[Note], task: ResearchTask, run: ResearchRun) -> list[Note]:
    """Return notes with those of the most trusted pages first; as they are where no trust is declared."""
    return trust.order_by_trust(notes, partial(rate_note, task, run)) if run.policy.trust else list(notes)


def deny_distrusted_pages(
    pages: Mapping[str, SourcePage], sources: Sources, task: ResearchTask, run: ResearchRun
) -> tuple[dict[str, SourcePage], Sources]:
    """Return the pages that are trusted enough, now that they are dated, and the sources with denials of the others.

    Raises:
        Stop: ``no_reliable_sources`` when none is.
    """
    kept: dict[str, SourcePage] = {}
    denied: list[JsonObject] = []
    for url, page in pages.items():
        dated = page.get("declared_date", page["published_at"])
        number = rate_dated_page(page.get("final_url", url), dated, task, run)
        if (reason := trust.explain_trust_denial(number, run.policy.min_trust)) is None:
            kept[url] = page
        else:
            denied.append({"url": url, "reason": reason, "trust": number})
    judged: Sources = {**sources, "denied_sources": [*sources["denied_sources"], *denied]}
    if not kept:
        raise build_sources_stop(judged)
    return kept, judged


def describe_note_trust(note: Note, task: ResearchTask, run: ResearchRun) -> JsonObject:
    """Return what a citation says of the trust of its page; nothing where no trust is declared."""
    if not run.policy.trust:
        return {}
    found = trust.TrustTable(run.policy.trust).find_source_trust(note["url"])
    return {**trust.describe_source_trust(found, rate_note(task, run, note))}


def lead_to_agreement(body: Body, way: str = "synthesize") -> Body:
    """Return a guard's body that leads to the comparison of notes first, where the policy has them compared.

    Args:
        body: the guard's.
        way: the node that stands behind the comparison.
    """

    def lead(passed: Pass, run: ResearchRun) -> Pass:
        if passed.to not in (None, way):
            return passed
        return passed._replace(to=way if run.policy.corroboration == "none" else AGREEMENT_GUARD)

    def run_compared_guard_node(state: ResearchState, run: ResearchRun) -> Pass:
        try:
            return lead(body(state, run), run)
        except PartialRefusal as refused:
            raise PartialRefusal(Stop(refused.reason, **refused.evidence), lead(refused.rest, run)) from None

    said = read_body_declaration(body)
    return declares(**{item.name: getattr(said, item.name) for item in fields(said)})(run_compared_guard_node)


@declares(
    phase="verify",
    reads=["task", "accepted_pages", "accepted_notes", "unverified_notes"],
    writes=["accepted_agreement", "accepted_notes", "unverified_notes"],
    stops=["agreement"],
)
def run_agreement_guard_node(state: ResearchState, run: ResearchRun) -> Pass:
    """Hold the notes of all pages against each other; the policy may require that several sources say each."""
    notes = state["accepted_notes"]
    agreement = agreed.compare_notes(notes, _describe_sources(state, run))
    if run.policy.corroboration != "require":
        return Pass({"accepted_agreement": agreement}, steps=(_tell_agreement(agreement),))
    least = run.policy.min_independent
    try:
        agreed.check_agreement(agreement, notes, min_independent=least)
    except Stop as refused:
        kept = [note for note, said in zip(notes, agreement, strict=True) if said["independent"] >= least]
        # A conflict is never dropped: nobody would know which of the two was left out.
        if run.policy.unsupported != "drop" or not kept or refused.reason == "conflicting_sources":
            raise
        few = [note for note in notes if note not in kept]
        dropped = [*(state.get("unverified_notes") or []), *(_drop_note(note, refused.reason) for note in few)]
        writes = {"accepted_agreement": agreement, "accepted_notes": kept, "unverified_notes": dropped}
        return Pass(writes, steps=(_tell_agreement(agreement, few),))
    return Pass({"accepted_agreement": agreement}, steps=(_tell_agreement(agreement),))


def _drop_note(note: Note, reason: str) -> DroppedNote:
    return DroppedNote(id=note["id"], claim=note["claim"], quote=note["quote"], url=note["url"], reason=reason)


def _describe_sources(state: ResearchState, run: ResearchRun) -> dict[str, agreed.SourceText]:
    """Return what is known of the pages of notes, by the URLs of the notes."""
    table, found = trust.TrustTable(run.policy.trust), dict[str, agreed.SourceText]()
    for note in state["accepted_notes"]:
        page, known = state["accepted_pages"].get(find_note_url(note)), parse_url_target(note["url"])
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


@declares(
    phase="synthesize",
    reads=["task", "accepted_notes", "accepted_answer", "accepted_brief_review"],
    writes=[],
    stops=[],
)
def run_risk_guard_node(state: ResearchState, run: ResearchRun) -> Pass:
    """Let an answer end the run that is of no high risk, or that a person let through in just these words."""
    answer, allowed = state["accepted_answer"], state.get("accepted_brief_review")
    if allowed and allowed["sha256"] == risk.hash_brief(answer["answer"], answer["citations"]):
        return Pass(to="answered")
    return Pass(to="ask_reviewer" if _list_high_risks(state, run) else "answered")


def _list_high_risks(state: ResearchState, run: ResearchRun) -> list[JsonObject]:
    task, answer, policy = state["task"], state["accepted_answer"], run.policy
    table = trust.TrustTable(policy.trust)
    urls = [note["url"] for note in select_cited_notes(state["accepted_notes"], answer["citations"])]
    return risk.find_high_risks(
        [task["question"], task["goal"], answer["answer"]],
        urls,
        {url: table.find_source_trust(url).tier for url in urls},
        risky_terms=policy.high_risk_terms,
        risky_scopes=policy.high_risk_scopes,
        risky_tiers=policy.high_risk_tiers,
    )


def make_ask_reviewer_node(check_brief: Callable[[JsonObject, ResearchState, ResearchRun], object]) -> Body:
    """Show a person the brief, each claim with its quote, what conflicts with it, and why they are asked.

    Args:
        check_brief: holds a brief in their own words against the notes, as the answer guard does; it stops where that
            would, and the run goes on waiting.
    """

    @declares(
        phase="synthesize",
        reads=["task", "accepted_sources", "accepted_pages", "accepted_notes", "accepted_answer"],
        writes=["raw_brief_review"],
    )
    def run_ask_reviewer_node(state: ResearchState, run: ResearchRun) -> Steps:
        def refuse_edit(edited: JsonValue) -> JsonObject | None:
            try:
                check_brief(risk.parse_edited_brief(edited), state, run)
            except Stop as refused:
                return {"reason": refused.reason, **refused.evidence}
            return None

        outcome = yield ask_person(_make_brief_question(state, run), edits=["brief"], refuse_edit=refuse_edit)
        return {"raw_brief_review": outcome.packed()}

    return run_ask_reviewer_node


def _make_brief_question(state: ResearchState, run: ResearchRun) -> JsonObject:
    answer, notes = state["accepted_answer"], state["accepted_notes"]
    agreement = agreed.compare_notes(notes, _describe_sources(state, run))
    cited = select_cited_notes(notes, answer["citations"])
    named = {note["id"] for note in cited}
    against = {item["id"] for said in agreement if said["id"] in named for item in said["conflicts_with"]} - named
    return {
        "question": state["task"]["question"],
        "high_risk": _list_high_risks(state, run),
        "brief": {"answer": answer["answer"], "citations": answer["citations"]},
        "claims": risk.show_brief_claims(cited, agreement),
        "conflicts": risk.show_brief_claims([note for note in notes if note["id"] in against], agreement),
    }


@declares(
    phase="synthesize",
    reads=["accepted_answer", "raw_brief_review"],
    writes=["accepted_brief_review"],
    stops=["review"],
)
def run_brief_review_guard_node(state: ResearchState, run: ResearchRun) -> Pass:
    """Let the answer through that a person approved; one in their own words is guarded like any answer."""
    answered, who = reviewed(state["raw_brief_review"]), read_reviewer(state["raw_brief_review"])
    is_edit = answered["decision"] == EDIT
    text = risk.parse_edited_brief(answered[EDITED]) if is_edit else state["accepted_answer"]
    approved_by = str(who.get("name", who["status"]))
    review = BriefReview(approved_by=approved_by, sha256=risk.hash_brief(text["answer"], text["citations"]))
    if is_edit:
        review["edit"] = {**text}
    history = {"action": "review_brief", "approved_by": approved_by, "edited": is_edit}
    step = Step({"phase": "synthesize", "reviewed": True, "edited": is_edit}, history)
    return Pass({"accepted_brief_review": review}, "edit_brief" if is_edit else RISK_GUARD, steps=(step,))


@declares(phase="synthesize", reads=["accepted_brief_review"], writes=["proposed_answer"])
def run_edit_brief_node(state: ResearchState, run: ResearchRun) -> JsonObject:
    """Propose the answer in the person's words."""
    review = state["accepted_brief_review"]
    about = {"proposer": review["approved_by"]}
    return {"proposed_answer": Outcome("value", review["edit"], about).packed()}


def tell_approval(body: Body) -> Body:
    """Return the body of a good ending that also says who let the answer through, where somebody had to.

    Args:
        body: the ending's.
    """

    def run_reviewed_ending_node(state: ResearchState, run: ResearchRun) -> JsonObject:
        allowed = state.get("accepted_brief_review")
        return {**body(state, run), **({"approved_by": allowed["approved_by"]} if allowed else {})}

    said = read_body_declaration(body)
    own = {item.name: getattr(said, item.name) for item in fields(said)}
    own["reads"] = (*(said.reads or ()), "accepted_brief_review")
    return declares(**own)(run_reviewed_ending_node)

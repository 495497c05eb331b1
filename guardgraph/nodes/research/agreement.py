"""The Research agent's comparison of notes: which agree, which stand alone, which conflict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from guardgraph.guards.research import agreement as agreed
from guardgraph.guards.research import trust
from guardgraph.guards.research.sources import find_note_url
from guardgraph.guards.stop import Stop
from guardgraph.nodes.body import Body, PartialRefusal, Pass, Step, declares, read_body_declaration
from guardgraph.nodes.research.scope import ResearchRun
from guardgraph.plain.urls import parse_url_target
from guardgraph.state.research import DroppedNote, Note, NoteAgreement, ResearchState

AGREEMENT_GUARD = "agreement_guard"
"""The guard that compares notes."""


def choose_way_to_answer(run: ResearchRun) -> str:
    """Return the node that begins an answer: what proposes an outline where it has sections, else what writes it."""
    return "outline" if run.budget.max_sections and run.ended_by is None else "synthesize"


def lead_to_agreement(body: Body) -> Body:
    """Return a guard's body that leads to the answer, and before to the comparison of notes where the policy has it."""

    def lead(passed: Pass, run: ResearchRun) -> Pass:
        if passed.to not in (None, "synthesize"):
            return passed
        return passed._replace(to=choose_way_to_answer(run) if run.policy.corroboration == "none" else AGREEMENT_GUARD)

    def run_compared_guard_node(state: ResearchState, run: ResearchRun) -> Pass:
        try:
            return lead(body(state, run), run)
        except PartialRefusal as refused:
            raise refused.going_on(lead(refused.rest, run)) from None

    said = read_body_declaration(body)
    return declares(**{item.name: getattr(said, item.name) for item in fields(said)})(run_compared_guard_node)


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
        dropped = [*(state.get("unverified_notes") or []), *(_drop_note(note, refused.reason) for note in few)]
        writes = {"accepted_agreement": agreement, "unverified_notes": dropped}
        return Pass(
            {**writes, "accepted_notes": kept, "verified_notes": kept}, way, steps=(_tell_agreement(agreement, few),)
        )
    return Pass({"accepted_agreement": agreement}, way, steps=(_tell_agreement(agreement),))


def _drop_note(note: Note, reason: str) -> DroppedNote:
    return DroppedNote(id=note["id"], claim=note["claim"], quote=note["quote"], url=note["url"], reason=reason)


def describe_note_sources(state: ResearchState, run: ResearchRun) -> dict[str, agreed.SourceText]:
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

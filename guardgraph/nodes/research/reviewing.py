"""The Research agent's nodes for a person: who sees a brief on a topic of high risk before it ends the run."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields

from guardgraph.guards.proposals import read_reviewer, reviewed
from guardgraph.guards.research import agreement as agreed
from guardgraph.guards.research import risk, trust
from guardgraph.guards.research.answer import list_section_titles, parse_brief, select_cited_notes, show_marked_answer
from guardgraph.guards.stop import Stop
from guardgraph.nodes.body import Body, Pass, Step, Steps, declares, read_body_declaration
from guardgraph.nodes.research.agreement import describe_note_sources
from guardgraph.nodes.research.scope import ResearchRun
from guardgraph.plain.hashing import canonical_json
from guardgraph.plain.json import JsonObject, JsonValue
from guardgraph.state.outcome import Outcome
from guardgraph.state.research import BriefReview, Note, ResearchAnswer, ResearchState
from guardgraph.world.call import ask_person
from guardgraph.world.reviews import EDIT, EDITED

RISK_GUARD = "risk_guard"
"""The guard that has a person asked."""


@declares(
    phase="synthesize",
    reads=["task", "accepted_notes", "accepted_answer", "accepted_brief_review"],
    writes=[],
    stops=[],
)
def run_risk_guard_node(state: ResearchState, run: ResearchRun) -> Pass:
    """Let an answer end the run that is of no high risk, or that a person let through in just these words."""
    answer, allowed = state["accepted_answer"], state.get("accepted_brief_review")
    if allowed and _is_let_through(answer, allowed, state["accepted_notes"]):
        return Pass(to="answered")
    return Pass(to="ask_reviewer" if _list_high_risks(state, run) else "answered")


def _is_let_through(answer: ResearchAnswer, allowed: BriefReview, notes: list[Note]) -> bool:
    """Say whether these are the words that a person let through; marks of an edit may stand before a full stop, too."""
    if allowed["sha256"] == risk.hash_brief(show_marked_answer(answer)):
        return True
    if "edit" not in allowed or "sentences" not in answer:
        return False
    with suppress(Stop):
        titles, most = list_section_titles(answer), len(canonical_json(allowed["edit"]))
        read = parse_brief(
            allowed["edit"],
            outline=titles,
            max_sections=len(titles),
            must_cite=True,
            notes=notes,
            max_answer_chars=most,
        )
        return show_marked_answer(read) == show_marked_answer(answer)
    return False


def _list_high_risks(state: ResearchState, run: ResearchRun) -> list[JsonObject]:
    task, answer, policy = state["task"], state["accepted_answer"], run.policy
    table = trust.TrustTable(policy.trust)
    urls = [note["url"] for note in select_cited_notes(state["accepted_notes"], answer["citations"])]
    return risk.find_high_risks(
        [task["question"], task["goal"], answer["answer"], *list_section_titles(answer)],
        urls,
        {url: table.find_source_trust(url).tier for url in urls},
        risky_terms=policy.high_risk_terms,
        risky_scopes=policy.high_risk_scopes,
        risky_tiers=policy.high_risk_tiers,
    )


def make_ask_reviewer_node(check_brief: Callable[[JsonObject, ResearchState, ResearchRun], object]) -> Body:
    """Show a person the brief, each claim with its quote, what conflicts with it, and why they are asked."""

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
    agreement = agreed.compare_notes(notes, describe_note_sources(state, run))
    cited = select_cited_notes(notes, answer["citations"])
    named = {note["id"] for note in cited}
    against = {item["id"] for said in agreement if said["id"] in named for item in said["conflicts_with"]} - named
    return {
        "question": state["task"]["question"],
        "high_risk": _list_high_risks(state, run),
        "brief": show_marked_answer(answer),
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
    text = risk.parse_edited_brief(answered[EDITED]) if is_edit else show_marked_answer(state["accepted_answer"])
    approved_by = str(who.get("name", who["status"]))
    review = BriefReview(approved_by=approved_by, sha256=risk.hash_brief(text))
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
    """Return the body of a good ending that also says who let the answer through, where somebody had to."""

    def run_reviewed_ending_node(state: ResearchState, run: ResearchRun) -> JsonObject:
        allowed = state.get("accepted_brief_review")
        return {**body(state, run), **({"approved_by": allowed["approved_by"]} if allowed else {})}

    said = read_body_declaration(body)
    own = {item.name: getattr(said, item.name) for item in fields(said)}
    own["reads"] = (*(said.reads or ()), "accepted_brief_review")
    return declares(**own)(run_reviewed_ending_node)

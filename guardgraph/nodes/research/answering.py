"""The Research agent's nodes for the answer: it is written from notes, guarded, and ends the run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from guardgraph.guards.answers import Judged, check_text_is_said, is_partial, judge_answer
from guardgraph.guards.numbering import proposed_answer
from guardgraph.guards.proposals import check_proposed_text, proposed_object, read_reviewer, reviewed
from guardgraph.guards.research import agreement as agreed
from guardgraph.guards.research import answer as answer_guards
from guardgraph.guards.research import notes as note_guards
from guardgraph.guards.research import risk, trust
from guardgraph.guards.research import sources as source_guards
from guardgraph.guards.research.outline import check_outline, parse_outline
from guardgraph.guards.stop import Stop
from guardgraph.guards.support import Claim, list_brief_claims
from guardgraph.nodes.body import Body, Pass, Step, Steps, ask_for_edit, declare_like, declares, make_asking_node
from guardgraph.nodes.own_guards import GuardedAnswer, refuse_judged_answer
from guardgraph.nodes.research.notes import describe_note_sources
from guardgraph.nodes.research.scope import (
    ResearchRun,
    describe_note_trust,
    list_usable_notes,
    order_notes,
    read_task_limit,
)
from guardgraph.nodes.research.searching import describe_searches, find_ending_limit
from guardgraph.plain.hashing import canonical_json
from guardgraph.plain.json import JsonObject, JsonValue
from guardgraph.state.outcome import Outcome
from guardgraph.state.research import BriefReview, Note, ResearchAnswer, ResearchState
from guardgraph.state.review import name_reviewer
from guardgraph.world.prompts import list_prompt_texts
from guardgraph.world.proposers import Proposer
from guardgraph.world.reviews import EDIT, EDITED

OUTLINE = "accepted_outline"  # the channel of the titles that were accepted


def make_outline_node(proposer: Proposer) -> Body:
    """Ask for the titles of sections, from the notes that may be used now."""

    def show_outliner_notes(state: ResearchState, run: ResearchRun) -> JsonObject:
        task, (notes, _) = state["task"], list_usable_notes(state, run)
        shown = [{key: note[key] for key in ("id", "claim", "title")} for note in order_notes(notes, task, run)]
        asked = {"goal": task["goal"], "question": task["question"]}
        return {**asked, "notes": shown, "max_sections": run.budget.max_sections}

    reads = ["task", "accepted_sources", "accepted_notes"]
    return make_asking_node(proposer, show_outliner_notes, phase="outline", reads=reads, writes="proposed_outline")


@declares(
    phase="outline",
    reads=["task", "accepted_sources", "accepted_notes", "proposed_outline"],
    writes=["accepted_outline"],
    stops=["llm", "no_sources", "invalid_outline"],
)
def run_outline_guard_node(state: ResearchState, run: ResearchRun) -> Pass:
    """Hold the titles against the budget, and what they say against the notes and the question."""
    given, (notes, _) = proposed_object(state["proposed_outline"]), list_usable_notes(state, run)
    titles = parse_outline(given.value, max_sections=run.budget.max_sections)
    check_outline(titles, question=state["task"]["question"], notes=notes, policy=run.policy)
    history = {"action": "propose_outline", "sections": titles, **given.about}
    return Pass({"accepted_outline": titles}, steps=(Step({"phase": "outline", "sections": len(titles)}, history),))


def show_outline(body: Body) -> Body:
    """Return the body of a node that is shown the outline, too; an agent without sections has none to show."""

    @declare_like(body, reads=[OUTLINE])
    def run_outlined_node(state: ResearchState, run: ResearchRun) -> Any:
        return body(state, run)

    return run_outlined_node


@declares(phase="synthesize", reads=["verified_notes"], writes=["accepted_notes"])
def run_limit_guard_node(state: ResearchState, run: ResearchRun) -> Pass:
    """Have a last answer written from the notes that were verified; where there are none, the limit ends the run."""
    if not (notes := state.get("verified_notes")):
        raise Stop(str(run.ended_by))
    return Pass({"accepted_notes": notes}, "synthesize")


FOUND = ("accepted_query", "accepted_hits", "accepted_sources", "accepted_pages", "accepted_notes")
"""What the run found out before its answer."""


RESULT = (
    *("outcome", "answer", "sections", "citations", "citation_details", "passages", "aggregate", "dropped_urls"),
    *("failed_sources", "dropped_notes", "unverified", "ended_by", "agreement", "approved_by"),
    *("failed_queries", "queries", "rounds", "open", "stopped_because"),
)
"""What the good ending returns: what was left out where there is any, of the searches where there may be several."""


def make_writer_view(state: ResearchState, run: ResearchRun, outline: Sequence[str] = ()) -> JsonObject:
    """Return what a writer is shown: of the notes those that may be used now."""
    task = state["task"]
    notes, _ = list_usable_notes(state, run)
    return {
        "goal": task["goal"],
        "question": task["question"],
        "notes": list(map(note_guards.show_note, order_notes(notes, task, run))),
        "max_answer_chars": read_task_limit("max_answer_chars", task, run),
        **({"sentence_citations": True} if outline or run.policy.require_sentence_citations else {}),
        **({"sections": [*outline]} if outline else {}),
    }


def make_synthesize_node(writer: Proposer, sectioning: Proposer) -> Body:
    """Ask for an answer from the notes alone, in the sections of the outline where there is one."""

    @declares(
        phase="synthesize",
        reads=["task", "accepted_sources", "accepted_notes"],
        writes=["proposed_answer"],
        calls=[writer, sectioning],
    )
    def run_synthesize_node(state: ResearchState, run: ResearchRun) -> Steps:
        outline = read_outline(state)
        outcome = yield (sectioning if outline else writer).call(make_writer_view(state, run, outline))
        return {"proposed_answer": outcome.packed()}

    return run_synthesize_node


def read_outline(state: ResearchState) -> list[str]:
    """Return the titles of the sections that an answer has, none where it has none."""
    return state.get("accepted_outline") or []


@declares(
    phase="synthesize",
    reads=["task", "accepted_sources", "accepted_pages", "accepted_notes", "proposed_answer"],
    writes=["accepted_answer", "accepted_sources"],
    stops=["llm", "no_sources", "invalid_answer"],
)
def run_answer_guard_node(state: ResearchState, run: ResearchRun) -> Pass:
    """Hold the answer against the notes that it cites."""
    notes, sources = list_usable_notes(state, run)
    shown = {note["id"]: f"{note['claim']}\n{note['quote']}" for note in order_notes(notes, state["task"], run)}
    given = proposed_answer(state["proposed_answer"], shown)
    if given.text is not None and not read_outline(state):
        check_proposed_text(given.value, "answer", ("citations",))
    fields = given.value if isinstance(given.value, dict) else {}
    answer = _parse_answer(fields, notes, state, run)
    echoes = [state["task"]["question"], *(note[key] for note in notes for key in ("id", "url"))]
    check_text_is_said(answer["answer"], "invalid_answer:empty", echoes=echoes, told=list_prompt_texts())
    judged = _judge_answer(answer, notes, state, run)
    trace: JsonObject = {"phase": "synthesize", "answer_chars": len(answer["answer"])}
    trace["citations"] = len(answer["citations"])
    history: JsonObject = {"action": "synthesize_answer", "citations": answer["citations"]}
    if marked := judged.unverified:
        answer = ResearchAnswer(**answer, unverified=marked)
        trace["unverified"], history["unverified"] = len(marked), [item["text"] for item in marked]
    step = Step(trace, {**history, **given.about})
    accepted = Pass({"accepted_answer": answer, "accepted_sources": sources}, steps=(step,))
    return accepted if judged.refusal is None else refuse_judged_answer(judged, judged.refusal, accepted)


def _judge_answer(answer: ResearchAnswer, notes: list[Note], state: ResearchState, run: ResearchRun) -> Judged:
    question = state["task"]["question"]
    checked = answer_guards.check_answer_sentences(
        answer, question=question, notes=notes, pages=state["accepted_pages"], policy=run.policy
    )
    return judge_answer(checked, run.policy, answer["answer"])


def check_edited_brief(brief: JsonObject, state: ResearchState, run: ResearchRun) -> None:
    """Hold a brief in a person's words against the notes that it cites, as any answer."""
    notes, _ = list_usable_notes(state, run)
    answer = _parse_answer(brief, notes, state, run)
    judged = _judge_answer(answer, notes, state, run)
    if judged.refusal is not None and (judged.stops or is_partial(judged.unverified)):
        raise judged.refusal  # a doubt is the person's to judge


def _parse_answer(fields: JsonObject, notes: list[Note], state: ResearchState, run: ResearchRun) -> ResearchAnswer:
    most, must_cite = read_task_limit("max_answer_chars", state["task"], run), run.policy.require_sentence_citations
    return answer_guards.parse_brief(
        fields,
        outline=read_outline(state),
        max_sections=run.budget.max_sections,
        must_cite=must_cite,
        notes=notes,
        max_answer_chars=most,
    )


def show_accepted_brief(state: ResearchState, run: ResearchRun) -> tuple[JsonObject, JsonObject]:
    """Return the accepted answer, and what the writer was shown."""
    answer = state["accepted_answer"]
    return {**answer}, make_writer_view(state, run, answer_guards.list_section_titles(answer))


def list_accepted_claims(state: ResearchState, run: ResearchRun) -> list[Claim]:
    """Return the claims of the accepted answer, each with the notes that it or else the answer cites."""
    answer, (notes, _) = state["accepted_answer"], list_usable_notes(state, run)
    cited = [
        (item.start, item.end, answer_guards.select_cited_notes(notes, item.ids))
        for item in answer_guards.list_sentences(answer)
    ]
    return list_brief_claims(answer["answer"], cited, answer.get("unverified", ()))


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
)
def run_answered_node(state: ResearchState, run: ResearchRun) -> dict[str, Any]:
    """End with a cited brief, unless a host that it cites was switched off since it was judged."""
    answer, sources, notes = state["accepted_answer"], state["accepted_sources"], state["accepted_notes"]
    pages, dropped = state["accepted_pages"], state.get("unverified_notes") or []
    cited = answer_guards.select_cited_notes(notes, answer["citations"])
    usable, _ = list_usable_notes(state, run)
    if gone := [note["id"] for note in cited if note not in usable]:
        raise Stop("no_reliable_sources", details={"switched_off": gone})
    extra = {key: sources[key] for key in ("dropped_urls", "failed_sources") if sources[key]}
    searches = state.get("accepted_searches")
    ended = run.ended_by or find_ending_limit(searches, run)
    is_whole = ended is None and not is_partial(answer.get("unverified", ()))
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
        "outcome": "grounded_research_answer" if is_whole else "grounded_partial",
        **{key: value for key, value in answer.items() if key not in ("sentences", "workings")},
        **({} if ended is None else {"ended_by": ended}),
        "citation_details": [
            {
                **answer_guards.describe_citation(note, pages.get(source_guards.find_note_url(note))),
                **answer_guards.describe_cited_spans(note, answer),
                **describe_note_trust(note, state["task"], run),
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


RISK_GUARD = "risk_guard"  # the guard that has a person asked


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
    if allowed["sha256"] == risk.hash_brief(answer_guards.show_marked_answer(answer)):
        return True
    if "edit" not in allowed or "sentences" not in answer:
        return False
    with suppress(Stop):
        titles, most = answer_guards.list_section_titles(answer), len(canonical_json(allowed["edit"]))
        read = answer_guards.parse_brief(
            allowed["edit"],
            outline=titles,
            max_sections=len(titles),
            must_cite=True,
            notes=notes,
            max_answer_chars=most,
        )
        return answer_guards.show_marked_answer(read) == answer_guards.show_marked_answer(answer)
    return False


def _list_high_risks(state: ResearchState, run: ResearchRun) -> list[JsonObject]:
    task, answer, policy = state["task"], state["accepted_answer"], run.policy
    table = trust.TrustTable(policy.trust)
    urls = [note["url"] for note in answer_guards.select_cited_notes(state["accepted_notes"], answer["citations"])]
    return risk.find_high_risks(
        [task["question"], task["goal"], answer["answer"], *answer_guards.list_section_titles(answer)],
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
        def check_edit(edited: JsonValue) -> None:
            check_brief(risk.parse_edited_brief(edited), state, run)

        outcome = yield ask_for_edit(_make_brief_question(state, run), ["brief"], check_edit)
        return {"raw_brief_review": outcome.packed()}

    return run_ask_reviewer_node


def _make_brief_question(state: ResearchState, run: ResearchRun) -> JsonObject:
    answer, notes = state["accepted_answer"], state["accepted_notes"]
    agreement = agreed.compare_notes(notes, describe_note_sources(state, run))
    cited = answer_guards.select_cited_notes(notes, answer["citations"])
    named = {note["id"] for note in cited}
    against = {item["id"] for said in agreement if said["id"] in named for item in said["conflicts_with"]} - named
    return {
        "question": state["task"]["question"],
        "high_risk": _list_high_risks(state, run),
        "brief": answer_guards.show_marked_answer(answer),
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
    shown = answer_guards.show_marked_answer
    text = risk.parse_edited_brief(answered[EDITED]) if is_edit else shown(state["accepted_answer"])
    approved_by = name_reviewer(who)
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

    @declare_like(body, reads=["accepted_brief_review"])
    def run_reviewed_ending_node(state: ResearchState, run: ResearchRun) -> JsonObject:
        allowed = state.get("accepted_brief_review")
        return {**body(state, run), **({"approved_by": allowed["approved_by"]} if allowed else {})}

    return run_reviewed_ending_node

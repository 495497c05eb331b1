"""The Research agent's nodes for the answer: it is written from notes, guarded, and ends the run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from guardgraph.guards import research as guards
from guardgraph.guards.answers import Judged, is_partial, judge_answer
from guardgraph.guards.empty import check_text_is_said
from guardgraph.guards.numbering import proposed_answer
from guardgraph.guards.proposals import check_proposed_text
from guardgraph.guards.stop import Stop
from guardgraph.guards.support import Claim, list_brief_claims
from guardgraph.nodes.added import GuardedAnswer, pass_judged_answer
from guardgraph.nodes.body import Body, Pass, Step, Steps, declares
from guardgraph.nodes.research.rounds import describe_searches, find_ending_limit
from guardgraph.nodes.research.scope import (
    ResearchRun,
    describe_note_trust,
    list_usable_notes,
    order_notes,
    read_task_limit,
)
from guardgraph.plain.json import JsonObject
from guardgraph.state.research import Note, ResearchAnswer, ResearchState, Sources
from guardgraph.world.prompts import list_prompt_texts
from guardgraph.world.proposers import Proposer


@declares(phase="synthesize", reads=["verified_notes"], writes=["accepted_notes"])
def run_limit_guard_node(state: ResearchState, run: ResearchRun) -> Pass:
    """Have a last answer written from the notes that were verified; where there are none, the limit ends the run."""
    if not (notes := state.get("verified_notes")):
        raise Stop(str(run.ended_by))
    return Pass({"accepted_notes": notes}, "synthesize")


FOUND = ("accepted_query", "accepted_hits", "accepted_sources", "accepted_pages", "accepted_notes")
"""What the run found out before its answer."""


RESULT = (
    "outcome",
    "answer",
    "sections",
    "citations",
    "citation_details",
    "passages",
    "aggregate",
    "dropped_urls",
    "failed_sources",
    "dropped_notes",
    "unverified",
    "ended_by",
    "agreement",
    "approved_by",
    "failed_queries",
    "queries",
    "rounds",
    "open",
    "stopped_because",
)
"""What the good ending returns: what was left out where there is any, of the searches where there may be several."""


def make_writer_view(state: ResearchState, run: ResearchRun, outline: Sequence[str] = ()) -> JsonObject:
    """Return what a writer is shown: of the notes those that may be used now."""
    task = state["task"]
    notes, _ = list_usable_notes(state, run)
    return {
        "goal": task["goal"],
        "question": task["question"],
        "notes": list(map(guards.show_note, order_notes(notes, task, run))),
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
    return pass_judged_answer(judged, _accept_answer(answer, judged, sources, given.about))


def _judge_answer(answer: ResearchAnswer, notes: list[Note], state: ResearchState, run: ResearchRun) -> Judged:
    question = state["task"]["question"]
    checked = guards.check_answer_sentences(
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
    return guards.parse_brief(
        fields,
        outline=read_outline(state),
        max_sections=run.budget.max_sections,
        must_cite=must_cite,
        notes=notes,
        max_answer_chars=most,
    )


def _accept_answer(answer: ResearchAnswer, judged: Judged, sources: Sources, about: JsonObject) -> Pass:
    trace: JsonObject = {
        "phase": "synthesize",
        "answer_chars": len(answer["answer"]),
        "citations": len(answer["citations"]),
    }
    history: JsonObject = {"action": "synthesize_answer", "citations": answer["citations"]}
    if marked := judged.unverified:
        answer = ResearchAnswer(**answer, unverified=marked)
        trace["unverified"], history["unverified"] = len(marked), [item["text"] for item in marked]
    step = Step(trace, {**history, **about})
    return Pass({"accepted_answer": answer, "accepted_sources": sources}, steps=(step,))


def show_accepted_brief(state: ResearchState, run: ResearchRun) -> tuple[JsonObject, JsonObject]:
    """Return the accepted answer, and what the writer was shown."""
    answer = state["accepted_answer"]
    return {**answer}, make_writer_view(state, run, guards.list_section_titles(answer))


def list_accepted_claims(state: ResearchState, run: ResearchRun) -> list[Claim]:
    """Return the claims of the accepted answer, each with the notes that it or else the answer cites."""
    answer, (notes, _) = state["accepted_answer"], list_usable_notes(state, run)
    cited = [
        (item.start, item.end, guards.select_cited_notes(notes, item.ids)) for item in guards.list_sentences(answer)
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
    cited = guards.select_cited_notes(notes, answer["citations"])
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
                **guards.describe_citation(note, pages.get(guards.find_note_url(note))),
                **guards.describe_cited_spans(note, answer),
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

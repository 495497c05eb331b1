"""The Research agent's nodes for the answer: it is written from notes, guarded, and ends the run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from guardgraph.grounding.sentences import find_sentence_spans
from guardgraph.guards import removal
from guardgraph.guards import research as guards
from guardgraph.guards.empty import check_text_is_said
from guardgraph.guards.numbering import proposed_answer
from guardgraph.guards.proposals import check_proposed_text
from guardgraph.guards.stop import Stop
from guardgraph.guards.support import Claim, list_brief_claims
from guardgraph.guards.turned import check_turned_sentences
from guardgraph.nodes.added import GuardedAnswer
from guardgraph.nodes.body import Body, PartialRefusal, Pass, Step, Steps, declares
from guardgraph.nodes.research.rounds import describe_searches
from guardgraph.nodes.research.scope import (
    ResearchRun,
    describe_note_trust,
    list_fact_regions,
    list_usable_notes,
    order_notes,
    read_task_limit,
)
from guardgraph.plain.json import JsonObject
from guardgraph.state.research import Note, ResearchAnswer, ResearchState, Sources
from guardgraph.world.prompts import list_prompt_texts
from guardgraph.world.proposers import Proposer

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


def make_writer_view(state: ResearchState, run: ResearchRun, outline: Sequence[str] = ()) -> JsonObject:
    """Return what a writer is shown: of the notes those that may be used now.

    Args:
        state: the channels.
        run: the run.
        outline: the titles of the sections that it writes, none where it writes none.
    """
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
    """Ask for an answer from the notes alone, in the sections of the outline where there is one.

    Args:
        writer: who is asked.
        sectioning: the same, told to write sections.
    """

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
    given = proposed_answer(state["proposed_answer"], shown, marked=run.policy.require_sentence_citations)
    if given.text is not None and not read_outline(state):
        check_proposed_text(given.value, "answer", ("citations",))
    fields = given.value if isinstance(given.value, dict) else {}
    answer = _parse_answer(fields, notes, state, run)
    echoes = [state["task"]["question"], *(note[key] for note in notes for key in ("id", "url"))]
    check_text_is_said(answer["answer"], "invalid_answer:empty", echoes=echoes, told=list_prompt_texts())
    guards.check_answer_links(answer, question=state["task"]["question"], notes=notes, policy=run.policy)
    try:
        _check_answer_support(answer, notes, state, run)
        _check_answer_turned(answer, notes, state, run)
    except Stop as refused:
        if run.policy.unsupported != "drop":
            raise
        left = _remove_refused_sentences(answer, refused, notes, state, run)
        raise PartialRefusal(refused, _accept_answer(left, sources, given.about)) from None
    return _accept_answer(answer, sources, given.about)


def check_edited_brief(brief: JsonObject, state: ResearchState, run: ResearchRun) -> None:
    """Hold a brief in a person's words against the notes that it cites, as any answer.

    Raises:
        Stop: as the answer guard, of a sentence too that it would take out of a proposal.
    """
    notes, _ = list_usable_notes(state, run)
    answer = _parse_answer(brief, notes, state, run)
    guards.check_answer_links(answer, question=state["task"]["question"], notes=notes, policy=run.policy)
    _check_answer_support(answer, notes, state, run)
    _check_answer_turned(answer, notes, state, run)


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
    """Hold an answer against the notes that it cites: where sentences must cite, one by one, and then as a whole."""
    if "sentences" in answer:
        whole = answer["answer"]
        guards.check_cited_sentences(
            answer, notes=notes, check=lambda said: _check_answer_support(said, notes, state, run, within=whole)
        )
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
        if own := [item for item in guards.list_sentences(answer) if start <= item.start < end]:
            alike = [item for item in own if item.ids == own[-1].ids]
            text = "\n".join(whole[item.start : item.end] for item in alike)
            said = ResearchAnswer(answer=text, citations=[*own[-1].ids])
        try:
            _check_answer_support(said, notes, state, run, within=whole)
        except Stop as stop:
            return stop
        return None

    def judge(rest: removal.Rest, citations: Sequence[str]) -> None:
        left = guards.keep_sentences_of_rest(answer, rest, citations)
        _check_answer_support(left, notes, state, run)
        _check_answer_turned(left, notes, state, run)

    def find_support(rest: removal.Rest) -> set[str]:
        if "sentences" in answer:
            left = guards.list_sentences(guards.keep_sentences_of_rest(answer, rest, cited))
            return {name for item in left for name in item.ids}
        said = [rest.text[at : at + end - start] for start, end, at in rest.kept]
        return guards.find_supporting_notes(said, guards.select_cited_notes(notes, cited))

    rest, citations = removal.remove_refused(
        whole,
        refused,
        check=check,
        contradict=lambda: _check_answer_turned(answer, notes, state, run),
        judge=judge,
        support=find_support,
        citations=cited,
        beside=state["task"]["question"],
        cited=[note["quote"] for note in guards.select_cited_notes(notes, cited)],
    )
    return ResearchAnswer(**guards.keep_sentences_of_rest(answer, rest, citations), removed=rest.removed)


def show_accepted_brief(state: ResearchState, run: ResearchRun) -> tuple[JsonObject, JsonObject]:
    """Return the accepted answer, and what the writer was shown."""
    answer = state["accepted_answer"]
    return {**answer}, make_writer_view(state, run, guards.list_section_titles(answer))


def list_accepted_claims(state: ResearchState, run: ResearchRun) -> list[Claim]:
    """Return the claims of the accepted answer, each with the notes that it or else the answer cites."""
    answer, (notes, _) = state["accepted_answer"], list_usable_notes(state, run)
    text = answer["answer"]
    if "sentences" in answer:
        spans = [(item.start, item.end, item.ids) for item in guards.list_sentences(answer)]
    else:
        spans = [(start, end, tuple(answer["citations"])) for start, end in find_sentence_spans(text)]
    return list_brief_claims(text, [(start, end, guards.select_cited_notes(notes, ids)) for start, end, ids in spans])


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
        **{key: value for key, value in answer.items() if key != "sentences"},
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

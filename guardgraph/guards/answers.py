"""What becomes of an answer held against its sources: refused, marked or let through; one without a word is refused."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, cast

from guardgraph.grounding.check import CheckedSentence, CheckedText, Checks, Finding, Source, check_text, decide
from guardgraph.grounding.empty import is_empty_text
from guardgraph.grounding.marks import CitingSentence, Mark, find_answer_sentences
from guardgraph.grounding.quotes import find_quotes, is_quote_in_text
from guardgraph.guards.stop import Stop, shown_name
from guardgraph.plain.json import JsonValue, excerpt_value
from guardgraph.state.grounding import AnswerPolicy, FoundIssue, GroundedPolicy, UnverifiedSentence, Verdict

SENTENCE_CHARS: Final = 280  # characters of a refused sentence that a stop shows
MOST_SHOWN: Final = 50  # findings that a stop shows


class Judged(NamedTuple):
    """What follows from the verdicts on an answer's sentences."""

    refusal: Stop | None  # what its proposer is asked again for, or the run stops for; None where nothing is refused
    stops: bool  # whether the run stops where nobody is asked again; else the answer goes on with its marks
    unverified: list[UnverifiedSentence]  # the sentences that are marked then


def is_partial(unverified: Iterable[Mapping[str, Any]]) -> bool:
    """Say whether one of the marked sentences is more than doubtful."""
    return any(item["verdict"] != "doubtful" for item in unverified)


def read_workings(proposed: JsonValue) -> list[str]:
    """Return how an answer comes to what it works out; none where the proposal has no ``workings``."""
    given = proposed.get("workings") if isinstance(proposed, dict) else None
    if given is None:
        return []
    if not isinstance(given, list) or not all(isinstance(item, str) for item in given):
        raise Stop("llm_invalid_schema", details={"fields": ["workings"], "given": excerpt_value(given)})
    return [str(item) for item in given]


def assign_marks(text: str, marks: Sequence[Mark], cited: Sequence[str], *, must_cite: bool) -> list[CitingSentence]:
    """Return the sentences of an answer, each with what it cites."""
    alone = tuple(cited) if not must_cite or (not marks and len(cited) == 1) else ()
    places, found, before = [mark.at for mark in marks], list[CitingSentence](), alone
    for start, end, upto, ends_paragraph in find_answer_sentences(text):
        own = marks[bisect_right(places, start) : bisect_right(places, upto)]
        ids = tuple(dict.fromkeys(name for mark in own for name in mark.ids)) or before
        if not ids:
            raise Stop("invalid_answer:uncited_sentence", sentence=excerpt_value(text[start:end], SENTENCE_CHARS))
        found.append(CitingSentence(start, end, ids))
        before = ids if must_cite and not ends_paragraph else alone
    return found


def check_answer(
    text: str,
    sources: Sequence[Source],
    sentences: Sequence[CitingSentence],
    *,
    policy: GroundedPolicy,
    question: str,
    turns: Sequence[str] = (),
    workings: Sequence[str] = (),
    known_names: Collection[str] = (),
) -> CheckedText:
    """Hold every sentence of an answer against the sources that it cites."""
    return check_text(
        text,
        sources,
        question=question,
        turns=turns,
        known_names=[*policy.known_names, *known_names],
        workings=workings,
        checks=Checks(
            values=policy.check_values,
            names=policy.check_names,
            opposites=policy.check_opposites,
            cover=policy.check_cover,
            min_cover=policy.min_cover,
            known_links=tuple(policy.known_links),
            markup=tuple(policy.markup),
            label_patterns=tuple(policy.label_patterns),
        ),
        sentences=sentences,
    )


def judge_answer(checked: CheckedText, policy: AnswerPolicy, text: str = "") -> Judged:
    """Say what follows from the verdicts on an answer's sentences."""
    decision = decide(checked, on_unsupported=policy.on_unsupported, on_doubt=policy.on_doubt)
    if not decision.reason:
        return Judged(None, False, [])
    if decision.findings[0].rule == "link":
        return Judged(Stop(f"invalid_answer:{decision.reason}", unsupported=[*decision.unsupported]), True, [])
    findings = list(map(describe_finding, decision.findings[:MOST_SHOWN]))
    shown = dict.fromkeys(map(shown_name, decision.unsupported))
    refusal = Stop(f"invalid_answer:{decision.reason}", unsupported=[*shown], findings=findings)
    told = ("contradicted", "unsupported", *(() if policy.on_doubt == "ignore" else ("doubtful",)))
    marked: list[JsonValue] = [{**_describe_sentence(item, told)} for item in checked.sentences if item.verdict in told]
    refusal.answer = {"text": text, "unverified": marked} if text else None
    return Judged(refusal, decision.stops, [_describe_sentence(item, told) for item in decision.marked])


def _describe_sentence(item: CheckedSentence, told: Sequence[str]) -> UnverifiedSentence:
    return UnverifiedSentence(
        start=item.start,
        end=item.end,
        text=item.text,
        verdict=cast(Verdict, item.verdict),
        findings=[describe_finding(found) for found in item.findings if found.verdict in told],
    )


def describe_finding(finding: Finding) -> FoundIssue:
    """Return a finding as plain JSON, what the source says only where it says something."""
    issue = FoundIssue(
        rule=finding.rule,
        verdict=cast(Verdict, finding.verdict),
        text=finding.text,
        start=finding.start,
        end=finding.end,
    )
    if finding.source:
        issue |= {"source": finding.source, "source_start": finding.source_start, "source_end": finding.source_end}
    if finding.told and finding.rule != "cover":
        issue["told"] = finding.told
    return issue


def check_sentence_quotes(text: str, sentences: Sequence[CitingSentence], sources: Mapping[str, Sequence[str]]) -> None:
    """Refuse a quote that stands, word for word, in nothing that its sentence cites."""
    starts = [item.start for item in sentences]
    for quote in find_quotes(text):
        if (at := bisect_right(starts, quote.start) - 1) < 0:
            continue
        own = [said for name in sentences[at].ids for said in sources.get(name, ())]
        if not any(is_quote_in_text(quote.text, said) for said in own):
            said = text[sentences[at].start : sentences[at].end]
            shown = {"unsupported": [excerpt_value(quote.text)], "sentence": excerpt_value(said, SENTENCE_CHARS)}
            raise Stop("invalid_answer:quote_not_in_source", **shown)


def check_text_is_said(
    text: str, reason: str, *, echoes: Iterable[str] = (), told: Iterable[str] = (), results: Iterable[str] = ()
) -> None:
    """Refuse a text that says nothing; see `is_empty_text`."""
    if is_empty_text(text, echoes=echoes, told=told, results=results):
        raise Stop(reason, details={"text": excerpt_value(text)})

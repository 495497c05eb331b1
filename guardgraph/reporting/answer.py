"""What a run answered: the text, its sources and their evidence, the critique, what a revision changed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import count, pairwise
from typing import TypeGuard

from guardgraph.grounding.sentences import unwrap_text_lines
from guardgraph.plain.json import JsonObject, JsonValue
from guardgraph.reporting.document import Child, Html, make_tag
from guardgraph.reporting.reading import RunReading
from guardgraph.reporting.values import (
    LONG,
    UNVERIFIED,
    Marked,
    Marks,
    explain_unverified_sentence,
    is_unverified_sentence,
    render_inline,
    render_link,
    render_measures,
    render_passage,
    render_value,
)
from guardgraph.state.run import AUDITED

BY = {"cited": "cited by the answer", "words": "by shared words, a guess"}
"""How it is known which sentences rest on a source."""


def mark_cited_sentences(answer: str, sources: Sequence[JsonObject]) -> Marks:
    """Return what marks the sentences of an answer with the numbers of the sources that they rest on."""
    numbers: dict[tuple[int, int], list[str]] = {}
    for number, source in enumerate(sources, 1):
        given = source.get("answer_spans")
        for item in given if isinstance(given, list) else ():
            if (span := _parse_source_span(item, len(answer))) is None:
                return None
            numbers.setdefault(span, []).append(str(number))
    spans, end = sorted(numbers), 0
    for first, last in spans:
        if first < end:
            return None
        end = last
    marked = [Marked(first, last, "cited", sources=tuple(numbers[first, last])) for first, last in spans]
    return (lambda text: marked) if marked else None


def _add_unverified_sentences(marks: Marks, text: str, left: JsonObject) -> Marks:
    """Take the unverified sentences of an answer out of what is left, to be marked in it, with the reason."""
    unverified, marked = left.get("unverified"), [*marks(text)] if marks else []
    if not is_object_list(unverified) or not all(is_unverified_sentence(item, len(text)) for item in unverified):
        return marks
    sources = {(item.start, item.end): item.sources for item in marked}
    spans = [(item["start"], item["end"]) for item in unverified]
    every = sorted({*sources, *spans})
    if any(first[1] > second[0] for first, second in pairwise(every)):  # no sentences of this answer
        return marks
    del left["unverified"]
    told = dict(zip(spans, map(explain_unverified_sentence, unverified), strict=True))
    whole = [
        Marked(*span, UNVERIFIED if span in told else "cited", told.get(span), sources.get(span, ())) for span in every
    ]
    return lambda text: whole


def mark_source_evidence(source: JsonObject, text: str) -> Marks:
    """Return what marks the evidence in a source's passage; None where it does not say where that stands."""
    passage, evidence = source.get("passage_span"), source.get("document_span")
    whole = _parse_source_span(passage)
    if whole is None or whole[1] - whole[0] != len(text) or not isinstance(evidence, list):
        return None
    span = _parse_source_span([place - whole[0] for place in evidence if isinstance(place, int)], len(text))
    return (lambda text: [Marked(*span, "evidence")]) if span else None


def format_source_places(source: JsonObject) -> tuple[JsonObject, list[tuple[str, str]]]:
    """Take out of a source what it says of places, and return what is left, and the same in words."""
    span, by, spans = (
        _parse_source_span(source.get("document_span")),
        source.get("spans_by"),
        source.get("answer_spans"),
    )
    said = {
        "document_span": [("evidence", f"characters {span[0]:,} to {span[1]:,} of the document")] if span else None,
        "spans_by": [("sentences", BY[by])] if isinstance(by, str) and by in BY else None,
        "passage_span": [] if _parse_source_span(source.get("passage_span")) else None,
        "answer_spans": [] if isinstance(spans, list) and all(map(_parse_source_span, spans)) else None,
    }
    left = {key: item for key, item in source.items() if said.get(key) is None}
    return left, [pair for pairs in said.values() for pair in pairs or ()]


def _parse_source_span(given: JsonValue, length: int | None = None) -> tuple[int, int] | None:
    match given:
        case [int(start), int(end)] if type(start) is int and 0 <= start < end and (length is None or end <= length):
            return start, end
    return None


COMPARED = 1000  # words up to which two texts are compared word by word: a second, however they repeat themselves

WORD = re.compile(r"\s*\S+|\s+")


def render_revision(reading: RunReading) -> Html | None:
    """Return the change that a run made to its draft, None for a run without an audit of it."""
    whole = reading.run.get("audit")
    audit = {key: item for key, item in whole.items() if key not in AUDITED} if isinstance(whole, dict) else {}
    if not audit:
        return None
    measures = {key: item for key, item in audit.items() if key != "diff_excerpt"}
    lines = audit.get("diff_excerpt")
    shown = isinstance(lines, list) and all(isinstance(line, str) for line in lines)
    return make_tag(
        "div",
        _render_draft_and_final(reading),
        make_tag(
            "ul",
            (make_tag("li", make_tag("bdi", line), class_="gone" if line[:1] == "-" else "come") for line in lines),
            class_="diff",
        )
        if shown and lines
        else None,
        render_measures((measures if shown else audit).items()),
        class_="card",
    )


def _render_draft_and_final(reading: RunReading) -> Child:
    drafts = [step["draft"] for step in reading.list_result_steps("history") if isinstance(step.get("draft"), str)]
    answer = reading.run.get("answer")
    if not drafts or not isinstance(answer, str) or drafts[-1] == answer:
        return None
    both = zip(("Draft", "Final text"), render_text_differences(drafts[-1], answer), strict=True)
    sides = (make_tag("div", make_tag("h3", name), text) for name, text in both)
    return make_tag("div", *sides, class_="sides")


def render_text_differences(before: str, after: str) -> tuple[Html, Html]:
    """Return two texts with what only one of them has in ``del`` and ``ins``; very long ones come unmarked."""
    old, new = WORD.findall(before), WORD.findall(after)
    if max(len(old), len(new)) > COMPARED:
        return render_passage(before), render_passage(after)
    went: list[Child] = []
    came: list[Child] = []
    for how, start, end, first, last in SequenceMatcher(None, old, new).get_opcodes():
        gone, come = "".join(old[start:end]), "".join(new[first:last])
        went.append(gone if how == "equal" or not gone else make_tag("del", gone))
        came.append(come if how == "equal" or not come else make_tag("ins", come))
    return make_tag("div", went, class_="text", dir="auto"), make_tag("div", came, class_="text", dir="auto")


IDS = ("doc_id", "id")  # what a source and the passage behind it share
TITLES = ("title", *IDS)  # what a source is called by, the first of them that it has
WORDS = ("quote", "text")  # what a source says
LEFT_OUT = {"denied_sources": "denied", "failed_sources": "failed", "dropped_urls": "dropped"}
"""Sources that the answer does not rest on, as results name them and as a person does."""


def render_answer_sections(reading: RunReading) -> Iterator[tuple[str, Html]]:
    """Yield sections with their titles; of a stopped run, whose evidence stands at its guard, what was accepted."""
    if not reading.taken.is_ok_way:
        if so_far := reading.run.get("so_far"):
            yield "So far", make_tag("div", render_value(so_far), class_="card")
        return
    left = dict(reading.result_content)
    cited = _take_cited_sources(left)
    if isinstance(text := left.get("answer"), str):
        del left["answer"]
        marks = _add_unverified_sentences(mark_cited_sentences(text, cited), text, left)
        yield "Answer", make_tag("div", _render_answer_text(text, marks, left), class_="card")
    if cited:
        look = "sources numbered" if any("answer_spans" in item for item in cited) else "sources"
        yield "Sources", make_tag("ol", map(_render_cited_source, cited, count(1)), class_=look)
    if without := list(_render_left_out_sources(left)):
        yield "Left out", make_tag("ul", without, class_="card left")
    if (changed := render_revision(reading)) is not None:
        if receipt := {key: item for key, item in left.pop("audit").items() if key in AUDITED}:
            left["audit"] = receipt
        yield "Change", changed
    if left:
        yield "Also in the result", make_tag("div", render_value(left), class_="card")


def _render_answer_text(text: str, marks: Marks, left: JsonObject) -> Child:
    """Return an answer, with the titles of its sections where it has any; they are taken out of what is left."""
    sections = left.get("sections")
    if not is_object_list(sections) or not are_answer_sections(sections, text):
        return render_passage(text, "text answer", marks=marks)
    del left["sections"]
    starts = [*(item["start"] for item in sections), len(text) + 1]
    shown: list[Child] = []
    for item, (first, behind) in zip(sections, pairwise(starts), strict=True):
        own = _move_section_marks(text, marks, first, behind, item["end"])
        shown.append(make_tag("h3", make_tag("bdi", item["title"])))
        shown.append(render_passage(text[first : item["end"]], "text answer", marks=own))
    return shown


def are_answer_sections(sections: Sequence[JsonObject], text: str) -> bool:
    """Say whether sections stand one behind the other, and hold the whole text but for blanks between them."""
    at = 0
    for item in sections:
        start, end = item.get("start"), item.get("end")
        if item.keys() != {"title", "start", "end"} or not isinstance(item["title"], str):
            return False
        if type(start) is not int or type(end) is not int or not at <= start < end <= len(text):
            return False
        if text[at:start].strip():
            return False
        at = end
    return not text[at:].strip()


def _move_section_marks(text: str, marks: Marks, first: int, behind: int, last: int) -> Marks:
    """Return what is marked of a section: what begins in it, or between it and the one behind it."""
    own = [item for item in marks(text) if first <= item.start < behind] if marks else []
    moved = [item._replace(start=min(item.start, last) - first, end=min(item.end, last) - first) for item in own]
    return lambda part: moved


def _take_cited_sources(left: JsonObject) -> list[JsonObject]:
    """Take the sources out of what is left, with the passages behind them; what is no list of objects stays."""
    details, cited = left.get("citation_details"), left.get("citations")
    if not is_object_list(details):
        return []
    del left["citation_details"]
    if isinstance(cited, list) and all(any(name in item.values() for item in details) for name in cited):
        del left["citations"]
    passages = left.get("passages")
    if not is_object_list(passages):
        return list(details)
    joined = []
    for item in details:  # a source, together with the passage that has its id
        same = (each for each in passages for key in IDS if key in each and each[key] == item.get(key))
        joined.append({**next(same, {}), **item})
    if all(any(words.items() <= item.items() for item in joined) for words in passages):
        del left["passages"]
    return joined


def is_object_list(items: JsonValue) -> TypeGuard[list[JsonObject]]:
    """Say whether a value is a list of objects that is not empty."""
    return isinstance(items, list) and bool(items) and all(isinstance(item, dict) for item in items)


def _render_cited_source(item: JsonObject, number: int) -> Html:
    rest, places = format_source_places(item)
    called = next((key for key in TITLES if isinstance(rest.get(key), str) and rest[key]), None)
    heading = make_tag("h3", render_inline(rest.pop(called))) if called else None
    address = rest.pop("url") if isinstance(rest.get("url"), str) else None
    page, place = (address or "").partition("#")[0], None
    if page and str(rest.get("link")).partition("#")[0] == page:  # a place on another page is no place of this one
        place = rest.pop("link")
    says = [_render_source_words(rest.pop(key), item) for key in WORDS if isinstance(rest.get(key), str)]
    claim: list[Child] = []
    if isinstance(rest.get("claim"), str):
        before, behind = (make_tag("p", words, class_="label") for words in ("Claim", "Borne out by"))
        claim = [before, render_passage(unwrap_text_lines(rest.pop("claim"))), behind]
    return make_tag(
        "li",
        heading,
        make_tag("p", render_link(address, place)) if address else None,
        claim,
        says,
        render_measures([*((key, inner) for key, inner in rest.items() if inner != ""), *places]),
        class_="card source",
        id=f"source-{number}",
    )


def _render_source_words(text: str, source: JsonObject) -> Html:
    """Return what a source says, its evidence marked; of a long text that stands folded, the evidence before it."""
    marks = mark_source_evidence(source, text)
    shown = [render_passage(unwrap_text_lines(text), marks=marks)]
    if marks and len(text) > LONG:
        shown = [
            render_passage(
                unwrap_text_lines(text[item.start : item.end]), marks=lambda part: [Marked(0, len(part), "evidence")]
            )
            for item in marks(text)
        ] + shown
    return make_tag("blockquote", shown)


def _render_left_out_sources(left: JsonObject) -> Iterator[Html]:
    """Take the sources that were left out; in research they stand in the aggregate."""
    holders = [left]
    if isinstance(left.get("aggregate"), dict):
        left["aggregate"] = dict(left["aggregate"])
        holders.insert(0, left["aggregate"])
    for holder in holders:
        for key, how in LEFT_OUT.items():
            items = holder.get(key)
            listed = items if isinstance(items, list) else []
            named = [{"url": item} if isinstance(item, str) else item for item in listed]
            if not named or not all(isinstance(item, dict) and isinstance(item.get("url"), str) for item in named):
                continue
            del holder[key]
            for item in named:
                rest = {name: inner for name, inner in item.items() if name != "url"}
                why: Child = render_value(rest) if rest else None
                if rest.keys() == {"reason"}:
                    why = [": ", render_inline(rest["reason"])]
                yield make_tag("li", render_link(item["url"]), make_tag("small", how, why))

"""Every proposal beside the verdicts of the guards behind it, each with its evidence and the refused words marked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import pairwise
from typing import get_args

from langgraph.graph import START

from guardgraph.drawing.diagram import Diagram, Edge, Node, Taken, find_main_way
from guardgraph.drawing.style import DrawnKind
from guardgraph.drawing.svg import draw_svg
from guardgraph.graphs.declaring import CALLING
from guardgraph.guards.stop import NAME_LIMIT
from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.json import JsonObject, JsonValue
from guardgraph.reporting.document import Child, Html, make_tag
from guardgraph.reporting.reading import RunReading, TimelineRow
from guardgraph.reporting.values import (
    Marked,
    Marks,
    format_duration,
    render_bar,
    render_facts,
    render_inline,
    render_measures,
    render_name,
    render_value,
)
from guardgraph.state.run import Kind


def make_way_diagram(taken: Taken, kinds: Mapping[str, Kind]) -> Diagram:
    """Return the way of a run as a graph of its own, which runs straight down where the run never went back."""
    visits = Counter(taken.path)
    nodes = [Node(START, "start", "the run began here", visits=1)]
    for name, often in visits.items():
        kind: DrawnKind = kinds.get(name) or "plain"  # type: ignore[assignment]  # a terminal is drawn by its ending
        if kinds.get(name) == "terminal":  # one that failed leads to a stop
            kind = "stop" if not taken.is_ok_way and name == taken.path[-1] else "ok"
        nodes.append(Node(name, kind, f"{name}: {kinds[name]}" if name in kinds else name, visits=often))
    steps = dict.fromkeys(pairwise((START, *taken.path)))
    edges = tuple(Edge(start, end, taken=True) for start, end in steps)
    return Diagram("the run", tuple(nodes), edges, (), find_main_way([node.name for node in nodes], steps), taken)


LEAST = 0.8  # of a hundred parts of a bar, so that what took no time is seen too


def render_timeline(reading: RunReading) -> Html:
    """Return a table with a row for each node."""
    columns = make_tag("tr", (make_tag("th", column, scope="col") for column in ("node", "decision", "time")))
    said = make_tag("td", format_duration(reading.total_active_ms))
    total = make_tag("tr", make_tag("th", "active time", scope="row", colspan=2), said)
    rows = make_tag("tbody", _render_timeline_rows(reading))
    return make_tag("table", make_tag("thead", columns), rows, make_tag("tfoot", total), class_="card timeline")


def _render_timeline_rows(reading: RunReading) -> Iterator[Html]:
    whole = sum(entry.elapsed_ms or 0.0 for entry in reading.entries) or 1.0
    begun, ending = 0.0, "ok" if reading.taken.is_ok_way else "stop"
    for entry in reading.entries:
        took = entry.elapsed_ms
        about = ", ".join(filter(None, (entry.kind, entry.phase)))
        beside = make_tag("small", make_tag("bdi", about)) if about else None
        node = make_tag("th", render_name(entry.node), beside, scope="row")
        kind = ending if entry.kind == "terminal" else entry.kind or "plain"
        width = max(100 * ((took or 0.0) / whole), LEAST)
        left = min(100 * (begun / whole), 100 - width)
        bar = render_bar(width, left, kind)
        time = "–" if took is None else make_tag("div", bar, make_tag("span", format_duration(took)), class_="time")
        yield make_tag("tr", node, make_tag("td", render_decision_word(entry)), make_tag("td", time), class_=kind)
        begun += took or 0.0


def render_decision_word(entry: TimelineRow) -> Child:
    """Return in a word what was decided: a guard's verdict, a person's decision, that a proposer proposed or failed."""
    told = entry.told
    if "verdict" in told:
        stopped = told["verdict"] == "stop"
        return make_tag("span", render_inline(told["verdict"]), class_="verdict stop" if stopped else "verdict pass")
    if "failure" in told:
        return make_tag("span", "failed", class_="verdict stop")
    if entry.kind == "review" and isinstance(answer := told.get("answer"), dict):
        decision = answer.get("decision")
        rejected = decision == "reject"
        return make_tag("span", render_inline(decision), class_="verdict stop" if rejected else "verdict pass")
    return "proposed" if "proposal" in told else None


DRAWN = 150  # different steps from node to node up to which a way is drawn; nobody can read a longer one


def render_way_picture(reading: RunReading) -> Html:
    """Return the nodes that ran, as a picture that fits beside the text and on a phone."""
    kinds: dict[str, Kind] = {entry.node: entry.kind for entry in reading.entries if entry.kind is not None}
    if reading.pending_request is not None:  # it has no timeline yet
        drawn = reading.graph.nodes if reading.graph else ()
        kinds |= {node.name: kind for node in drawn for kind in get_args(Kind) if kind == node.kind}
        kinds.setdefault(reading.taken.path[-1], "review")
    if len(set(pairwise(reading.taken.path))) > DRAWN:
        return make_tag("p", "The way of this run is too long to be drawn; the timeline has all of it.", class_="none")
    return _render_picture(make_way_diagram(reading.taken, kinds), headed=False)


def render_whole_graph(reading: RunReading) -> Html | None:
    """Return the whole graph with the way of the run, None if it is not known."""
    return None if reading.graph is None else make_tag("div", _render_picture(reading.graph), class_="whole")


def _render_picture(diagram: Diagram, *, headed: bool = True) -> Html:
    try:
        drawn = Html(draw_svg(diagram, narrow=True, headed=headed))  # a picture escapes what it shows
        return make_tag("figure", drawn)
    except ConfigurationError as error:
        return make_tag("p", str(error), class_="none")


WORDS = frozenset({"unsupported", "invalid_citations", "claims", "not_enforceable", "given"})
"""Keys of evidence that hold words of the proposal itself."""
NOT_ABOUT_IT = frozenset({"budget", "guard_error"})  # families of stops that say nothing of what was proposed
MOST = 40  # words that are marked; evidence with more is a whole text, or hostile


def find_stopping_entries(reading: RunReading) -> tuple[TimelineRow | None, TimelineRow | None]:
    """Return the guard that stopped the run, and whose proposal or result it judged; None where nobody says."""
    asked: TimelineRow | None = None
    for entry in reading.entries:
        if entry.told.get("verdict") == "stop":
            return entry, asked
        if entry.kind in CALLING:
            asked = entry
    return None, None


def render_refused_proposal(reading: RunReading) -> Html | None:
    """Return the proposal that the stopping guard refused; None if it refused none."""
    _, asked = find_stopping_entries(reading)
    family = reading.stop_reason_entry.family if reading.stop_reason_entry else None
    if asked is None or "proposal" not in asked.told or family in NOT_ABOUT_IT:
        return None
    return render_value(asked.told["proposal"], marks=mark_refused_words(reading))


def mark_refused_words(reading: RunReading) -> Marks:
    """Return what finds the words for which the run was stopped, as the evidence and the reason name them."""
    words = {word.strip() for word in _list_evidence_words(reading.result_content, listed=False)}
    if reading.stop_reason_entry and (stem := reading.stop_reason_entry.stem) is not None:
        words.add(reading.taken.reason.removeprefix(stem).strip())  # such as the source in ``source_denied:wiki``
    longest_first = sorted(filter(None, words), key=lambda word: (-len(word), word))[:MOST]
    if not longest_first:
        return None
    pattern = re.compile("|".join(map(_make_word_pattern, longest_first)), re.IGNORECASE)
    return lambda text: (Marked(*match.span()) for match in pattern.finditer(text))


def _list_evidence_words(item: JsonValue, *, listed: bool) -> Iterator[str]:
    if isinstance(item, dict):
        for key, inner in item.items():
            yield from _list_evidence_words(inner, listed=listed or key in WORDS)
    elif isinstance(item, list):
        for inner in item:
            yield from _list_evidence_words(inner, listed=listed)
    elif listed and isinstance(item, str) and len(item) <= 2 * NAME_LIMIT:
        yield item


def _make_word_pattern(word: str) -> str:
    """Return a pattern for a word of evidence, which may be cut, and in which points may be left out: *9:30 pm*."""
    body = r"[\s.]{0,3}".join(map(_escape_pattern_letters, word.split()))
    begin = r"(?<!\w)(?<!\d[.,])" if word[0].isalnum() else ""
    end = r"(?!\w)(?![.,]\d)" if word[-1].isalnum() and len(word) < NAME_LIMIT else ""
    return begin + body + end


def _escape_pattern_letters(letters: str) -> str:
    pointed = (r"\.?" if not (one.isdigit() and other.isdigit()) else "" for one, other in pairwise(letters))
    return "".join(map("".join, zip(map(re.escape, letters), [*pointed, ""], strict=True)))


HEADS = {"propose": "proposes", "act": "acts", "review": "asks a person", "guard": "guard", "terminal": "ending"}
COUNTED = frozenset({"step", "phase", "elapsed_ms", "ok"})  # what a step says of its place, which the timeline shows


def render_decision_cards(reading: RunReading) -> Iterator[Html]:
    """Yield a card for each proposal, or act, with the guards that judged what came of it."""
    if "timeline" in reading.run:
        for asked, judged in _group_entries_by_call(reading.entries):
            beside, left = "card", None
            if asked:
                marks = mark_refused_words(reading) if any(map(_is_stop_verdict, judged)) else None
                brought = _render_brought_value(asked, marks)
                left = make_tag("div", _render_card_heading(asked), brought, class_="proposal")
                beside = "card exchange" if brought and judged else "card exchange alone"
            cards = [_render_verdict_card(reading, entry) for entry in judged]
            yield make_tag("article", left, make_tag("div", cards, class_="verdicts") if cards else None, class_=beside)
    if reading.taken.way_status == "stopped" and not any(map(_is_stop_verdict, reading.entries)):
        said = _render_stop_verdict(reading, {})
        yield make_tag("article", make_tag("h3", "stopped"), said, class_="card", id="stop")


def _group_entries_by_call(entries: tuple[TimelineRow, ...]) -> Iterator[tuple[TimelineRow | None, list[TimelineRow]]]:
    asked: TimelineRow | None = None
    judged: list[TimelineRow] = []
    for entry in entries:
        if entry.kind in CALLING:
            if asked or judged:
                yield asked, judged
            asked, judged = entry, []
        elif entry.kind != "terminal" or render_decision_word(entry) is not None:
            judged.append(entry)
    if asked or judged:
        yield asked, judged


def _render_card_heading(entry: TimelineRow) -> Html:
    took = "" if entry.elapsed_ms is None else format_duration(entry.elapsed_ms)
    about = ", ".join(filter(None, (HEADS.get(entry.kind or "", ""), entry.phase, took)))
    mark = make_tag("span", class_=f"mark {entry.kind or 'plain'}", aria_hidden="true")
    by = entry.told.get("proposer")
    named_by = [", by ", render_inline(by)] if by is not None else None
    return make_tag("h3", mark, make_tag("bdi", entry.node), " ", make_tag("small", make_tag("bdi", about), named_by))


def _render_brought_value(entry: TimelineRow, marks: Marks) -> list[Child]:
    """Return what a proposer or a person brought; what a tool found stands in the steps of the guard behind it."""
    told = {key: item for key, item in entry.told.items() if key != "proposer"}
    shown: list[Child] = []
    if "proposal" in told:
        shown.append(render_value(told.pop("proposal"), marks=marks))
    if "failure" in told:
        shown += [make_tag("p", render_decision_word(entry)), render_value(told.pop("failure"))]
    if entry.kind == "review" and "answer" in told:
        shown += [make_tag("p", render_decision_word(entry)), render_value(told.pop("answer"))]
    if told:
        shown.append(render_measures(told.items()))
    return shown


def _render_verdict_card(reading: RunReading, entry: TimelineRow) -> Html:
    told = dict(entry.told)
    verdict, way, numbers = render_decision_word(entry), told.pop("to", None), told.pop("steps", [])
    told.pop("verdict", None)
    stops = _is_stop_verdict(entry)
    to = [" → ", render_inline(way)] if way is not None else None
    return make_tag(
        "section",
        _render_card_heading(entry),
        make_tag("p", verdict, to),
        _render_stop_verdict(reading, told) if stops else None,
        _render_attempt_evidence(reading, entry),
        render_measures(told.items()) if told else None,
        map(partial(_render_completed_step, reading), numbers) if isinstance(numbers, list) else render_value(numbers),
        class_="judged",
        id="stop" if stops else None,
    )


def _render_attempt_evidence(reading: RunReading, entry: TimelineRow) -> Html | None:
    """Return why a proposal was sent back, of a guard that has its proposer asked again."""
    again = [each for each in reading.entries if each.told.get("verdict") == "again"]
    attempts = reading.run.get("attempts")
    place = next((at for at, each in enumerate(again) if each is entry), None)
    if place is None or not isinstance(attempts, list) or place >= len(attempts):
        return None
    evidence = attempts[place].get("evidence") if isinstance(attempts[place], dict) else None
    if not isinstance(evidence, dict) or not evidence:
        return None
    return render_facts((key, render_value(item)) for key, item in evidence.items())


def _is_stop_verdict(entry: TimelineRow) -> bool:
    return entry.told.get("verdict") == "stop"


def _render_stop_verdict(reading: RunReading, told: JsonObject) -> Child:
    reason = told.pop("reason", reading.taken.reason)
    known, evidence = reading.stop_reason_entry, reading.result_content
    return [
        make_tag("p", make_tag("code", render_inline(reason))),
        make_tag("p", known.meaning) if known else None,
        render_facts((key, render_value(item)) for key, item in evidence.items()) if evidence else None,
    ]


def _render_completed_step(reading: RunReading, number: object) -> Child:
    """Return what a guard completed: its measures open, its record folded."""
    measures = {key: item for key, item in reading.find_result_step("trace", number).items() if key not in COUNTED}
    kept = {key: item for key, item in reading.find_result_step("history", number).items() if key not in COUNTED}
    return [
        render_measures(measures.items()) if measures else None,
        make_tag("details", make_tag("summary", "Kept for audit"), render_value(kept)) if kept else None,
    ]

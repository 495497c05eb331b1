"""Every proposal beside the verdicts of the guards behind it, each with its evidence and the refused words marked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from guardgraph.graphs.declaring.kinds import CALLING
from guardgraph.guards.stop import NAME_LIMIT
from guardgraph.plain.json import JsonObject, JsonValue
from guardgraph.reporting.document import Child, Html, tag
from guardgraph.reporting.reading import Entry, Reading
from guardgraph.reporting.values import Marked, Marks, duration, facts, named, value
from guardgraph.reporting.way import decided

__all__ = ["decisions", "refused", "refused_words", "stopping"]

WORDS = frozenset({"unsupported", "invalid_citations", "claims", "not_enforceable", "given"})
"""Keys of evidence that hold words of the proposal itself."""
NOT_ABOUT_IT = frozenset({"budget", "guard_error"})
"""Families of stops that say nothing of what was proposed."""
MOST = 40
"""Words that are marked; evidence with more is a whole text, or hostile."""


def stopping(reading: Reading) -> tuple[Entry | None, Entry | None]:
    """Return the guard that stopped the run, and whose proposal or result it judged; None where nobody says."""
    asked: Entry | None = None
    for entry in reading.entries:
        if entry.told.get("verdict") == "stop":
            return entry, asked
        if entry.kind in CALLING:
            asked = entry
    return None, None


def refused(reading: Reading) -> Html | None:
    """Return the proposal that the stopping guard refused; None if it refused none."""
    _, asked = stopping(reading)
    family = reading.reason.family if reading.reason else None
    if asked is None or "proposal" not in asked.told or family in NOT_ABOUT_IT:
        return None
    return value(asked.told["proposal"], marks=refused_words(reading))


def refused_words(reading: Reading) -> Marks:
    """Return what finds the words for which the run was stopped, as the evidence and the reason name them."""
    words = {word.strip() for word in [*_named(reading), *_words(reading.content, listed=False)]}
    longest_first = sorted(filter(None, words), key=lambda word: (-len(word), word))[:MOST]
    if not longest_first:
        return None
    pattern = re.compile("|".join(map(_pattern, longest_first)), re.IGNORECASE)
    return lambda text: (Marked(*match.span()) for match in pattern.finditer(text))


def _named(reading: Reading) -> Iterator[str]:
    """Yield what a stop reason ends with, such as the source in ``source_denied:wiki``."""
    stem = reading.reason.stem if reading.reason else None
    if stem is not None:
        yield reading.taken.reason.removeprefix(stem)


def _words(item: JsonValue, *, listed: bool) -> Iterator[str]:
    if isinstance(item, dict):
        for key, inner in item.items():
            yield from _words(inner, listed=listed or key in WORDS)
    elif isinstance(item, list):
        for inner in item:
            yield from _words(inner, listed=listed)
    elif listed and isinstance(item, str) and len(item) <= 2 * NAME_LIMIT:
        yield item


def _pattern(word: str) -> str:
    """Return a pattern for a word of evidence, which may be cut, and in which points may be left out: *9:30 pm*."""
    body = r"[\s.]{0,3}".join(map(_parts, word.split()))
    begin = r"(?<!\w)(?<!\d[.,])" if word[0].isalnum() else ""
    end = r"(?!\w)(?![.,]\d)" if word[-1].isalnum() and len(word) < NAME_LIMIT else ""
    return begin + body + end


def _parts(letters: str) -> str:
    pointed = (r"\.?" if not (one.isdigit() and other.isdigit()) else "" for one, other in pairwise(letters))
    return "".join(map("".join, zip(map(re.escape, letters), [*pointed, ""], strict=True)))


HEADS = {
    "propose": "proposes",
    "act": "acts",
    "review": "asks a person",
    "guard": "guard",
    "terminal": "ending",
}
COUNTED = frozenset({"step", "phase", "elapsed_ms", "ok"})
"""What a step says of its place, which the timeline shows."""


def decisions(reading: Reading) -> Iterator[Html]:
    """Yield a card for each proposal, or act, with the guards that judged what came of it.

    A result without a timeline has a card for each completed step.
    """
    if "timeline" not in reading.run:
        for step in reading.steps("trace"):
            phase = tag("h3", named(step.get("phase", "step")))
            yield tag("article", phase, _step(reading, step.get("step")), class_="card")
    else:
        for asked, judged in _exchanges(reading.entries):
            brought = _brought(asked, refused_words(reading) if any(map(_stops, judged)) else None) if asked else None
            left = tag("div", _head(asked), brought, class_="proposal") if asked else None
            right = tag("div", (_judged(reading, entry) for entry in judged), class_="verdicts") if judged else None
            beside = "card exchange" if brought and judged else "card exchange alone" if asked else "card"
            yield tag("article", left, right, class_=beside)
    if reading.taken.status == "stopped" and not any(map(_stops, reading.entries)):
        yield tag("article", tag("h3", "stopped"), _stopped(reading, {}), class_="card", id="stop")


def _exchanges(entries: tuple[Entry, ...]) -> Iterator[tuple[Entry | None, list[Entry]]]:
    asked: Entry | None = None
    judged: list[Entry] = []
    for entry in entries:
        if entry.kind in CALLING:
            if asked or judged:
                yield asked, judged
            asked, judged = entry, []
        elif entry.kind != "terminal" or decided(entry) is not None:
            judged.append(entry)
    if asked or judged:
        yield asked, judged


def _head(entry: Entry) -> Html:
    took = "" if entry.elapsed_ms is None else duration(entry.elapsed_ms)
    about = ", ".join(filter(None, (HEADS.get(entry.kind or "", ""), entry.phase, took)))
    mark = tag("span", class_=f"mark {entry.kind or 'plain'}", aria_hidden="true")
    by = entry.told.get("proposer")
    named_by = [", by ", named(by)] if by is not None else None
    return tag("h3", mark, tag("bdi", entry.node), " ", tag("small", tag("bdi", about), named_by))


def _brought(entry: Entry, marks: Marks) -> list[Child]:
    """Return what a proposer or a person brought; what a tool found stands in the steps of the guard behind it."""
    told = {key: item for key, item in entry.told.items() if key != "proposer"}
    shown: list[Child] = []
    if "proposal" in told:
        shown.append(value(told.pop("proposal"), marks=marks))
    if "failure" in told:
        shown += [tag("p", decided(entry)), value(told.pop("failure"))]
    if entry.kind == "review" and "answer" in told:
        shown += [tag("p", decided(entry)), value(told.pop("answer"))]
    if told:
        shown.append(facts(((key, named(item)) for key, item in told.items()), "facts inline"))
    return shown


def _judged(reading: Reading, entry: Entry) -> Html:
    told = dict(entry.told)
    verdict, way, numbers = decided(entry), told.pop("to", None), told.pop("steps", [])
    told.pop("verdict", None)
    stops = _stops(entry)
    to = [" → ", named(way)] if way is not None else None
    return tag(
        "section",
        _head(entry),
        tag("p", verdict, to),
        _stopped(reading, told) if stops else None,
        facts(((key, named(item)) for key, item in told.items()), "facts inline") if told else None,
        [_step(reading, number) for number in numbers] if isinstance(numbers, list) else value(numbers),
        class_="judged",
        id="stop" if stops else None,
    )


def _stops(entry: Entry) -> bool:
    return entry.told.get("verdict") == "stop"


def _stopped(reading: Reading, told: JsonObject) -> Child:
    reason = told.pop("reason", reading.taken.reason)
    known = reading.reason
    return [
        tag("p", tag("code", named(reason))),
        tag("p", known.meaning) if known else None,
        facts((key, value(item)) for key, item in reading.content.items()) if reading.content else None,
    ]


def _step(reading: Reading, number: object) -> Child:
    """Return what a guard completed: its measures open, its record folded."""
    measures = {key: item for key, item in reading.step("trace", number).items() if key not in COUNTED}
    kept = {key: item for key, item in reading.step("history", number).items() if key not in COUNTED}
    return [
        facts(((key, named(item)) for key, item in measures.items()), "facts inline") if measures else None,
        tag("details", tag("summary", "Kept for audit"), value(kept)) if kept else None,
    ]

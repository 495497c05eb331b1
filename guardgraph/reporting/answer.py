"""What a run answered: the text with its sources, the critique, and whatever else a result has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeGuard

from guardgraph.languages.sentences import unwrapped
from guardgraph.plain.json import JsonObject, JsonValue
from guardgraph.reporting.elements import Html, tag
from guardgraph.reporting.reading import Reading
from guardgraph.reporting.revision import revision
from guardgraph.reporting.spans import answer_marks, evidence_marks, laid_out
from guardgraph.reporting.values import LONG, Marked, facts, link, named, passage, value
from guardgraph.state.run import AUDITED

__all__ = ["answer"]

IDS = ("doc_id", "id")
"""What a source and the passage behind it share."""
TITLES = ("title", *IDS)
"""What a source is called by, the first of them that it has."""
WORDS = ("quote", "text")
"""What a source says."""
LEFT_OUT = {
    "denied_sources": "denied",
    "failed_sources": "failed",
    "dropped_urls": "dropped",
}
"""Sources that the answer does not rest on, as results name them and as a person does."""


def answer(reading: Reading) -> Iterator[tuple[str, Html]]:
    """Yield sections with their titles; a stopped run has none, its evidence stands at the guard that stopped it."""
    if not reading.taken.ok:
        return
    left = dict(reading.content)
    cited = _cited(left)
    if isinstance(text := left.get("answer"), str):
        del left["answer"]
        marks = answer_marks(text, cited)
        yield "Answer", tag("div", passage(text, "text answer", marks=marks), class_="card")
    if cited:
        numbered = any("answer_spans" in item for item in cited)
        yield "Sources", tag("ol", map(_source, cited), class_="sources numbered" if numbered else "sources")
    if without := list(_left_out(left)):
        yield "Left out", tag("ul", without, class_="card left")
    if (changed := revision(reading)) is not None:
        if receipt := {key: item for key, item in left.pop("audit").items() if key in AUDITED}:
            left["audit"] = receipt
        yield "Change", changed
    if left:
        yield "Also in the result", tag("div", value(left), class_="card")


def _cited(left: JsonObject) -> list[JsonObject]:
    """Take the sources out of what is left, with the passages behind them; what is no list of objects stays."""
    details, cited = left.get("citation_details"), left.get("citations")
    if not _objects(details):
        return []
    del left["citation_details"]
    if isinstance(cited, list) and all(any(name in item.values() for item in details) for name in cited):
        del left["citations"]
    passages = left.get("passages")
    if not _objects(passages):
        return list(details)
    joined = [_joined(item, passages) for item in details]
    if all(any(_holds(item, words) for item in joined) for words in passages):
        del left["passages"]
    return joined


def _objects(items: JsonValue) -> TypeGuard[list[JsonObject]]:
    return isinstance(items, list) and bool(items) and all(isinstance(item, dict) for item in items)


def _joined(detail: JsonObject, passages: list[JsonObject]) -> JsonObject:
    """Return a source together with the passage that has its id."""
    same = (item for item in passages for key in IDS if key in item and item[key] == detail.get(key))
    return {**next(same, {}), **detail}


def _holds(item: JsonObject, words: JsonObject) -> bool:
    return all(key in item and item[key] == inner for key, inner in words.items())


def _source(item: JsonObject) -> Html:
    rest, places = laid_out(item)
    called = next((key for key in TITLES if isinstance(rest.get(key), str) and rest[key]), None)
    heading = tag("h3", named(rest.pop(called))) if called else None
    address = rest.pop("url") if isinstance(rest.get("url"), str) else None
    place = rest.pop("link") if address and isinstance(rest.get("link"), str) else None
    says = [_says(rest.pop(key), item) for key in WORDS if isinstance(rest.get(key), str)]
    claimed = isinstance(rest.get("claim"), str)
    claim = [_label("Claim"), passage(unwrapped(rest.pop("claim"))), _label("Borne out by")] if claimed else None
    return tag(
        "li",
        heading,
        tag("p", link(address, place)) if address else None,
        claim,
        says,
        facts([*((key, named(inner)) for key, inner in rest.items() if inner != ""), *places], "facts inline"),
        class_="card source",
    )


def _all(text: str) -> list[Marked]:
    return [Marked(0, len(text), "evidence")]


def _says(text: str, source: JsonObject) -> Html:
    """Return what a source says, its evidence marked; of a long text that stands folded, the evidence before it."""
    marks = evidence_marks(source, text)
    shown = [passage(unwrapped(text), marks=marks)]
    if marks and len(text) > LONG:
        shown = [passage(unwrapped(text[item.start : item.end]), marks=_all) for item in marks(text)] + shown
    return tag("blockquote", shown)


def _label(words: str) -> Html:
    return tag("p", words, class_="label")


def _left_out(left: JsonObject) -> Iterator[Html]:
    """Take the sources that were left out; in research they stand in the aggregate."""
    holders = [left]
    if isinstance(left.get("aggregate"), dict):
        left["aggregate"] = dict(left["aggregate"])
        holders.insert(0, left["aggregate"])
    for holder in holders:
        for key, how in LEFT_OUT.items():
            items = holder.get(key)
            if isinstance(items, list) and items and all(map(_is_named, items)):
                del holder[key]
                yield from (_unused(how, item) for item in items)


def _is_named(item: JsonValue) -> bool:
    return isinstance(item, str) or (isinstance(item, dict) and isinstance(item.get("url"), str))


def _unused(how: str, item: JsonValue) -> Html:
    if isinstance(item, str):
        return tag("li", link(item), tag("small", how))
    rest = {key: inner for key, inner in item.items() if key != "url"}
    why = [how, ": ", named(rest["reason"])] if rest.keys() == {"reason"} else [how, value(rest) if rest else None]
    return tag("li", link(item["url"]), tag("small", why))

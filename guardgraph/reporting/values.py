"""Any JSON value as HTML, and entries of a result as a table: nothing is lost, and the page stays easy to read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

from ada_url import URL

from guardgraph.plain.errors import InputError
from guardgraph.plain.json import JsonObject, JsonValue
from guardgraph.plain.letters import is_odd_letter
from guardgraph.reporting.document import Child, Html, join_html, make_tag, render_footer


class Marked(NamedTuple):
    """A part of a text that is marked."""

    start: int
    end: int
    kind: str | None = None  # what it is marked for; None for what was refused
    of: str | None = None  # what stands small behind it
    sources: tuple[str, ...] = ()  # numbers of the sources that it rests on; they stand small behind it, and lead there


Marks: TypeAlias = "Callable[[str], Iterable[Marked]] | None"
"""What finds the parts of a text that are marked, in order; None marks nothing."""

UNVERIFIED = "unverified"
"""What a sentence is marked for that its sources do not bear out; why stands in words behind it."""
LONG = 1600  # characters of a text that stands open; a longer one is folded
LINE = 60  # characters of a text that stands beside its name on a phone; a longer one stands below
SHOWN = 140  # characters of a folded text that stand in its head
MANY = 40  # items of a list, or keys of an object, that stand open
DEEP = 4  # levels of nesting that are laid out; what is deeper stands as JSON


def is_unverified_sentence(item: JsonValue, length: int) -> bool:
    """Say whether a value is a sentence of ``unverified``, as results of ours have them, in a text of a length."""
    if not isinstance(item, dict) or not isinstance(item.get("verdict"), str):
        return False
    start, end, found = item.get("start"), item.get("end"), item.get("findings")
    placed = type(start) is int and type(end) is int and 0 <= start < end <= length
    return placed and isinstance(found, list) and all(isinstance(each, dict) for each in found)


def explain_unverified_sentence(item: JsonObject) -> str:
    """Say in words why a sentence is unverified, and what the sources say instead."""
    said = dict.fromkeys(filter(None, map(_explain_finding, item["findings"])))
    return "; ".join([f"unverified, {item['verdict']}", *said])


def _explain_finding(found: JsonObject) -> str:
    if found.get("rule") == "cover":
        return "its words are not what the sources speak of"
    told = f"the source says {told}" if isinstance(told := found.get("told"), str) and told else ""
    if found.get("rule") == "opposite":
        return told
    return f"{found.get('text')}: {told or 'in no source'}"


def format_duration(milliseconds: float) -> str:
    """Return a duration in the unit that reads best."""
    if milliseconds >= 10_000:
        return f"{milliseconds / 1000:,.1f} s"
    return f"{milliseconds:,.0f} ms" if milliseconds >= 100 else f"{milliseconds:.{1 if milliseconds >= 10 else 2}f} ms"


def render_value(item: JsonValue, depth: int = 0, *, marks: Marks = None) -> Html:
    """Return a value, laid out as lists of names and values where that reads well, else as JSON."""
    if isinstance(item, str):
        return render_passage(item, marks=marks) if item else make_tag("span", "empty text", class_="none")
    if not isinstance(item, dict | list):
        return make_tag("code", json.dumps(item))
    if not item:
        return make_tag("span", "none", class_="none")
    if depth == DEEP or len(item) > MANY:
        text = format_readable_json(item)
        if len(text) > SHOWN:
            return render_folded_text(text, "JSON, ", code=True)
        return make_tag("code", " ".join(text.split()))
    if isinstance(item, dict):
        return render_facts((key, render_value(inner, depth + 1, marks=marks)) for key, inner in item.items())
    objects = all(isinstance(inner, dict) for inner in item)
    inside = (make_tag("li", render_value(inner, depth + 1, marks=marks)) for inner in item)
    return make_tag("ul", inside, class_="items" if objects else "values")


def render_facts(pairs: Iterable[tuple[str, Child]], kind: str = "facts") -> Html:
    """Return names with what belongs to each; names are keys of JSON, or ours."""
    facts = (make_tag("div", make_tag("dt", render_name(key)), make_tag("dd", inner)) for key, inner in pairs)
    return make_tag("dl", facts, class_=kind)


def render_table(columns: Iterable[str], rows: Iterable[Sequence[Child]], kind: str = "unknown") -> Html:
    """Return a table; the first cell of each row is what the row is about."""
    head = make_tag("tr", (make_tag("th", column, scope="col") for column in columns))
    lines = (
        make_tag("tr", make_tag("th", first, scope="row"), (make_tag("td", cell) for cell in rest))
        for first, *rest in rows
    )
    return make_tag("table", make_tag("thead", head), make_tag("tbody", lines), class_=f"card {kind}")


def render_overview(
    kicker: Child, title: str, facts: Iterable[tuple[str, Child]], *, look: str, sections: Child, made_of: str
) -> Html:
    """Return the content of a page about many things: a head with facts, and sections."""
    told = (make_tag("p", kicker, class_="kicker"), make_tag("h1", title), render_facts(facts))
    head = make_tag("header", *told, class_=f"ended {look}")
    return join_html(head, make_tag("main", sections), render_footer(made_of))


def render_bar(width: float, left: float = 0.0, kind: str | None = None) -> Html:
    """Return a bar, in hundredths of its room."""
    rect = make_tag("rect", class_=kind, x=f"{left:.2f}", width=f"{width:.2f}", height=1)
    return make_tag("svg", rect, viewBox="0 0 100 1", preserveAspectRatio="none", aria_hidden="true", class_="bar")


def render_measures(pairs: Iterable[tuple[str, JsonValue]]) -> Html:
    """Return names and short values that stand beside each other."""
    return render_facts(((key, render_inline(item)) for key, item in pairs), "facts inline")


def render_inline(item: JsonValue) -> Child:
    """Return a value in running text: a short text as it is, anything else as `render_value` has it."""
    return make_tag("bdi", item) if isinstance(item, str) and 0 < len(item) <= SHOWN else render_value(item)


def render_name(words: str) -> Html:
    """Return a name made of parts, such as ``stop_invalid_answer``, which breaks between them where it must."""
    parts = re.findall(r"[^_:.-]+[_:.-]*|[_:.-]+", words)
    return make_tag("bdi", ([part, make_tag("wbr")] for part in parts[:-1]), parts[-1:])


def render_passage(text: str, kind: str = "text", *, marks: Marks = None) -> Html:
    """Return a text in a direction of its own, folded if it is long; an address in it is no link: who wrote it?"""
    if len(text) > LONG:
        return render_folded_text(text, marks=marks)
    look = f"{kind} long" if len(text) > LINE else kind
    return make_tag("div", _render_marked_text(text, marks), class_=look, dir="auto")


def _render_marked_text(text: str, marks: Marks) -> Iterator[Child]:
    """Yield a text with what is found in it in ``mark``."""
    at = 0
    for item in marks(text) if marks else ():
        yield text[at : item.start]
        told = item.of if item.kind == UNVERIFIED else None
        beside = None if item.sources or told else item.of
        yield make_tag("mark", text[item.start : item.end], class_=item.kind, data_of=beside)
        if item.sources:
            # A number is no text, so that a text that is copied is the answer alone.
            numbers = [(f"#source-{number}", f"source {number}", number) for number in item.sources]
            yield make_tag("sup", [make_tag("a", href=to, data_of=of, aria_label=said) for to, said, of in numbers])
        if told:
            yield make_tag("small", f" ({told}) ")
        at = item.end
    yield text[at:]


def render_folded_text(text: str, head: str = "", *, code: bool = False, marks: Marks = None) -> Html:
    """Return a text under a head that tells its length and how it begins."""
    begins = make_tag("bdi", " ".join(text[:SHOWN].split()), "…" if len(text) > SHOWN else None)
    summary = make_tag("summary", f"{head}{len(text):,} characters: ", make_tag("span", begins, class_="begins"))
    whole = make_tag("pre", text, class_="json")
    if not code:
        whole = make_tag("div", _render_marked_text(text, marks), class_="text", dir="auto")
    return make_tag("details", summary, whole, class_="folded")


def render_link(address: str, place: str | None = None) -> Html:
    """Return an address as a link if it is one of the web; anything else stays text, such as ``javascript:``."""
    text, target = address if place is None else place, None
    if text.lower().startswith(("http://", "https://")) and text.isprintable() and " " not in text:
        with suppress(ValueError):
            target = URL(text).href  # where it leads, as browsers read it
    if target is None:
        return make_tag("bdi", address, class_="address")
    away = "noopener noreferrer nofollow"
    return make_tag("a", make_tag("bdi", address), href=target, rel=away, target="_blank", class_="address")


def format_readable_json(item: JsonValue) -> str:
    """Return a value as JSON that a person can read; letters that could steer or hide are JSON's own escapes."""
    text = json.dumps(item, ensure_ascii=False, indent=2)
    if text.isascii() and "\x7f" not in text:
        return text
    return "".join(_escape_json_letter(letter) if is_odd_letter(letter) else letter for letter in text)


def _escape_json_letter(letter: str) -> str:
    return json.dumps(letter)[1:-1] if letter > "\x7f" else f"\\u{ord(letter):04x}"


LEFT_OUT = "elapsed_ms"  # the times: they differ from run to run


class EntryTable:
    """Entries as rows. A notebook shows it."""

    def __init__(self, columns: tuple[str, ...], rows: tuple[tuple[str, ...], ...]) -> None:
        self.columns = columns
        self.rows = rows

    @cached_property
    def html(self) -> str:
        """The table as HTML; whatever stands in an entry is only ever text."""
        lines = [("th", self.columns), *(("td", row) for row in self.rows)]
        return make_tag(
            "table",
            (make_tag("tr", (make_tag(name, cell, style="text-align: left") for cell in row)) for name, row in lines),
        )

    def _repr_html_(self) -> str:
        return self.html

    def __repr__(self) -> str:
        return f"<Table: {len(self.rows)} rows of {', '.join(self.columns)}>"


def table(entries: Iterable[Mapping[str, Any]], *keys: str) -> EntryTable:
    """Show entries of a result, such as its timeline or sources, as a table with a row for each.

    The keys are the first columns; all else that an entry has stands in a last one, but for times, which differ from
    run to run.
    """
    rows = list[tuple[str, ...]]()
    for entry in entries:
        if not isinstance(entry, Mapping):
            raise InputError(f"entries: dictionaries are required; given: {type(entry).__name__}")
        rest = [f"{key}: {item}" for key, item in entry.items() if key not in (*keys, LEFT_OUT)]
        rows.append((*(str(entry.get(key, "")) for key in keys), ", ".join(rest)))
    if rows and not any(row[-1] for row in rows):
        return EntryTable(keys, tuple(row[:-1] for row in rows))
    return EntryTable((*keys, "…"), tuple(rows))

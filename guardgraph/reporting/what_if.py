"""The page of a what-if: how many runs of which ending end otherwise, and both ways of those that do."""

from __future__ import annotations

from collections.abc import Iterator

from guardgraph.drawing.picture import draw
from guardgraph.drawing.svg import svg
from guardgraph.evidence.judged import Row, WhatIf
from guardgraph.graphs.replay.whatif import AgainKind, Ending
from guardgraph.plain.errors import ConfigurationError, InputError
from guardgraph.reporting.document import Child, Html, foot, fragment, section, tag
from guardgraph.reporting.values import facts, name, value

__all__ = ["content", "title"]

DRAWN = 10
"""Changes of different kinds whose two ways are drawn; the table has all of them."""
LISTED = 200
"""Runs of which a line is shown each."""
MEANINGS = {
    "same": "end as they did, with the same result",
    "changed": "would end otherwise, or with another result",
    "unknown": "would ask somebody something that was not recorded, so nobody knows",
    "unreplayable": "cannot be judged",
    "other_pattern": "are runs of another pattern",
}


def title(judged: WhatIf) -> str:
    """Return what a browser shows of the page in its tabs."""
    return f"What if, {judged.graph.get_name()}: {judged.counts['changed']} of {len(judged.rows)} runs changed"


def content(judged: WhatIf) -> Html:
    """Return the page."""
    return fragment(_head(judged), tag("main", _sections(judged)), foot("recorded runs; nothing was called"))


def _head(judged: WhatIf) -> Html:
    runs, changed = len(judged.rows), judged.counts["changed"]
    counted = ((kind, f"{count:,} {MEANINGS[kind]}{_why(judged, kind)}") for kind, count in judged.counts.items())
    others = judged.other_declarations
    named = f"{others:,} were made by a graph with other declarations" if others else None
    return tag(
        "header",
        tag("p", "What if ", name(judged.graph.get_name()), " had decided these runs?", class_="kicker"),
        tag("h1", f"{changed:,} of {runs:,} runs changed"),
        facts(counted),
        tag("p", named, class_="label") if named else None,
        class_=f"ended {'wait' if changed else 'ok'}",
    )


def _why(judged: WhatIf, kind: AgainKind) -> str:
    """Say why runs cannot be judged; what the other classes are has its own words."""
    told = (f"{count:,} {why}" for why, count in judged.reasons(kind).items() if kind == "unreplayable")
    return f": {said}" if (said := ", ".join(told)) else ""


def _sections(judged: WhatIf) -> Iterator[Html]:
    if judged.flows:
        yield section("From ending to ending", _flows(judged))
    drawn = _first_of_each(judged)
    if drawn:
        shown = [_change(judged, row) for row in drawn[:DRAWN]]
        yield section("Where the ways part", *shown)
    if unknown := [row for row in judged.rows if row.kind == "unknown"]:
        yield section("Unknown", _unknown(unknown))


def _flows(judged: WhatIf) -> Html:
    most = max(judged.flows.values())
    columns = tag("tr", (tag("th", column, scope="col") for column in ("old ending", "new ending", "runs")))
    rows = (
        tag("tr", tag("th", _named(old), scope="row"), tag("td", _new(old, new, differs)), tag("td", _bar(count, most)))
        for (old, new, differs), count in judged.flows.items()
    )
    return tag("table", tag("thead", columns), tag("tbody", rows), class_="card flows")


def _new(old: Ending, new: Ending, differs: bool) -> Child:
    if not differs:
        return tag("span", "same", class_="none")
    return [_named(new), tag("small", "another result") if old == new else None]


def _named(ending: Ending) -> Html:
    look = "pass" if ending.status == "ok" else "stop"
    words = ending.outcome if ending.status == "ok" else ending.stop_reason
    return fragment(tag("span", ending.status, class_=f"verdict {look}"), " ", name(words or ""))


def _bar(count: int, most: int) -> Html:
    rect = tag("rect", x=0, width=f"{100 * count / most:.2f}", height=1)
    bar = tag("svg", rect, viewBox="0 0 100 1", preserveAspectRatio="none", aria_hidden="true", class_="bar")
    return tag("div", bar, tag("span", f"{count:,}"), class_="time")


def _first_of_each(judged: WhatIf) -> list[Row]:
    """Return the first run of each kind of change: by its endings, and by who decides otherwise."""
    found: dict[tuple[Ending | None, Ending | None, str | None], Row] = {}
    for row in judged.rows:
        if row.kind == "changed":
            found.setdefault((row.old, row.new, row.guard), row)
    return list(found.values())


def _change(judged: WhatIf, row: Row) -> Html:
    said = [
        ("run", tag("code", name(row.run_id))),
        ("was", _named(row.old) if row.old else None),
        ("would be", _named(row.new) if row.new else None),
        ("decided by", tag("code", name(row.guard)) if row.guard else None),
        ("differs in", ", ".join(row.differs)),
        *((key, value(item)) for key, item in row.evidence.items()),
    ]
    told = tag("div", facts((key, item) for key, item in said if item), class_="card")
    return tag("article", told, _picture(judged, row), class_="change")


def _picture(judged: WhatIf, row: Row) -> Html | None:
    if row.ways is None:
        return None
    then, now = row.ways
    try:
        diagram = draw(judged.graph, now.run, earlier=then.run).diagram
        drawn = Html(svg(diagram))  # a picture escapes what it shows
    except (ConfigurationError, InputError) as error:  # the old way may be one of a graph with other nodes
        return tag("p", str(error), class_="none")
    return tag("div", tag("figure", drawn), class_="whole", tabindex=0, role="region", aria_label="Both ways")


def _unknown(rows: list[Row]) -> Html:
    columns = tag("tr", (tag("th", column, scope="col") for column in ("run", "node", "what differs")))
    lines = (
        tag("tr", tag("th", name(row.run_id), scope="row"), tag("td", name(row.call.node)), tag("td", _differs(row)))
        for row in rows[:LISTED]
        if row.call is not None
    )
    left = tag("p", f"and {len(rows) - LISTED:,} more", class_="label") if len(rows) > LISTED else None
    return fragment(tag("table", tag("thead", columns), tag("tbody", lines), class_="card unknown"), left)


def _differs(row: Row) -> Child:
    difference = row.call.difference if row.call is not None else ""
    assumed = f"as an assumption: {row.assumed}" if row.assumed is not None else None
    return [tag("bdi", difference), tag("small", tag("bdi", assumed)) if assumed else None]

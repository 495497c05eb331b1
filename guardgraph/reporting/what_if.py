"""The page of a what-if: how many runs of which ending end otherwise, and both ways of those that do."""

from __future__ import annotations

from collections.abc import Iterator

from guardgraph.drawing.picture import draw
from guardgraph.drawing.svg import draw_svg
from guardgraph.evidence.evaluation import Evaluation, EvaluationRow
from guardgraph.evidence.what_if import JudgedRun, WhatIf
from guardgraph.graphs.shadows import AgainKind, Ending
from guardgraph.plain.errors import ConfigurationError, InputError
from guardgraph.reporting.document import Child, Html, join_html, make_tag, render_footer, render_section
from guardgraph.reporting.values import render_facts, render_folded_text, render_name, render_value

RATES = {
    "answered": "of all rows ended well",
    "ending": "of those that expect an ending ended so",
    "facts": "of those that expect facts have all of them",
    "citations": "of those that expect citations have all of them",
    "passed": "of all rows passed",
}


def make_evaluation_title(evaluation: Evaluation) -> str:
    """Return what a browser shows of the page in its tabs."""
    return f"Evaluation, {evaluation.pattern}: {_count_passed(evaluation)} of {len(evaluation.rows)} rows passed"


def render_evaluation_page(evaluation: Evaluation) -> Html:
    """Return the page; rows that did not pass stand first."""
    missed = [row for row in evaluation.rows if not row.passed]
    shown = {"Missed": missed, "Passed": [row for row in evaluation.rows if row.passed]}
    sections = [render_section(name, _render_rows(rows)) for name, rows in shown.items() if rows]
    rates = [(name, f"{rate:.1%} {RATES[name]}") for name, rate in evaluation.rates.items()]
    head = make_tag(
        "header",
        make_tag("p", "Evaluation of ", render_name(evaluation.pattern), class_="kicker"),
        make_tag("h1", f"{_count_passed(evaluation):,} of {len(evaluation.rows):,} rows passed"),
        render_facts(rates),
        class_=f"ended {'wait' if missed else 'ok'}",
    )
    return join_html(head, make_tag("main", sections), render_footer("a dataset"))


def _count_passed(evaluation: Evaluation) -> int:
    return sum(row.passed for row in evaluation.rows)


def _render_rows(rows: list[EvaluationRow]) -> Html:
    columns = make_tag(
        "tr", (make_tag("th", name, scope="col") for name in ("row", "ended", "what is wrong", "answer"))
    )
    lines = (
        make_tag(
            "tr",
            make_tag("th", render_name(row.id), scope="row"),
            make_tag("td", render_name(row.ended)),
            make_tag("td", make_tag("bdi", row.why)),
            make_tag("td", render_folded_text(row.answer)),
        )
        for row in rows
    )
    return make_tag("table", make_tag("thead", columns), make_tag("tbody", lines), class_="card unknown")


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


def make_what_if_title(judged: WhatIf) -> str:
    """Return what a browser shows of the page in its tabs."""
    return f"What if, {judged.graph.get_name()}: {judged.counts['changed']} of {len(judged.rows)} runs changed"


def render_what_if_page(judged: WhatIf) -> Html:
    """Return the page."""
    return join_html(
        _render_what_if_head(judged),
        make_tag("main", _render_what_if_sections(judged)),
        render_footer("recorded runs; nothing was called"),
    )


def _render_what_if_head(judged: WhatIf) -> Html:
    runs, changed = len(judged.rows), judged.counts["changed"]
    counted = (
        (kind, f"{count:,} {MEANINGS[kind]}{_explain_unjudged_runs(judged, kind)}")
        for kind, count in judged.counts.items()
    )
    others = judged.other_declarations
    named = f"{others:,} were made by a graph with other declarations" if others else None
    return make_tag(
        "header",
        make_tag("p", "What if ", render_name(judged.graph.get_name()), " had decided these runs?", class_="kicker"),
        make_tag("h1", f"{changed:,} of {runs:,} runs changed"),
        render_facts(counted),
        make_tag("p", named, class_="label") if named else None,
        class_=f"ended {'wait' if changed else 'ok'}",
    )


def _explain_unjudged_runs(judged: WhatIf, kind: AgainKind) -> str:
    """Say why runs cannot be judged; what the other classes are has its own words."""
    told = (f"{count:,} {why}" for why, count in judged.reasons(kind).items() if kind == "unreplayable")
    return f": {said}" if (said := ", ".join(told)) else ""


def _render_what_if_sections(judged: WhatIf) -> Iterator[Html]:
    if judged.flows:
        yield render_section("From ending to ending", _render_ending_flows(judged))
    drawn = _pick_first_changes(judged)
    if drawn:
        shown = [_render_changed_run(judged, row) for row in drawn[:DRAWN]]
        yield render_section("Where the ways part", *shown)
    if unknown := [row for row in judged.rows if row.kind == "unknown"]:
        yield render_section("Unknown", _render_unknown_runs(unknown))


def _render_ending_flows(judged: WhatIf) -> Html:
    most = max(judged.flows.values())
    columns = make_tag("tr", (make_tag("th", column, scope="col") for column in ("old ending", "new ending", "runs")))
    rows = (
        make_tag(
            "tr",
            make_tag("th", _render_ending_name(old), scope="row"),
            make_tag("td", _render_new_ending(old, new, differs)),
            make_tag("td", _render_count_bar(count, most)),
        )
        for (old, new, differs), count in judged.flows.items()
    )
    return make_tag("table", make_tag("thead", columns), make_tag("tbody", rows), class_="card flows")


def _render_new_ending(old: Ending, new: Ending, differs: bool) -> Child:
    if not differs:
        return make_tag("span", "same", class_="none")
    return [_render_ending_name(new), make_tag("small", "another result") if old == new else None]


def _render_ending_name(ending: Ending) -> Html:
    look = "pass" if ending.status == "ok" else "stop"
    words = ending.outcome if ending.status == "ok" else ending.stop_reason
    return join_html(make_tag("span", ending.status, class_=f"verdict {look}"), " ", render_name(words or ""))


def _render_count_bar(count: int, most: int) -> Html:
    rect = make_tag("rect", x=0, width=f"{100 * count / most:.2f}", height=1)
    bar = make_tag("svg", rect, viewBox="0 0 100 1", preserveAspectRatio="none", aria_hidden="true", class_="bar")
    return make_tag("div", bar, make_tag("span", f"{count:,}"), class_="time")


def _pick_first_changes(judged: WhatIf) -> list[JudgedRun]:
    """Return the first run of each kind of change: by its endings, and by who decides otherwise."""
    found: dict[tuple[Ending | None, Ending | None, str | None], JudgedRun] = {}
    for row in judged.rows:
        if row.kind == "changed":
            found.setdefault((row.old, row.new, row.guard), row)
    return list(found.values())


def _render_changed_run(judged: WhatIf, row: JudgedRun) -> Html:
    said = [
        ("run", make_tag("code", render_name(row.run_id))),
        ("was", _render_ending_name(row.old) if row.old else None),
        ("would be", _render_ending_name(row.new) if row.new else None),
        ("ways part at", make_tag("code", render_name(row.parted_at)) if row.parted_at else None),
        ("decided by", make_tag("code", render_name(row.guard)) if row.guard else None),
        ("differs in", ", ".join(row.differs)),
        *((key, render_value(item)) for key, item in row.evidence.items()),
    ]
    told = make_tag("div", render_facts((key, item) for key, item in said if item), class_="card")
    return make_tag("article", told, _render_both_ways(judged, row), class_="change")


def _render_both_ways(judged: WhatIf, row: JudgedRun) -> Html | None:
    if row.ways is None:
        return None
    then, now = row.ways
    try:
        diagram = draw(judged.graph, now.run, earlier=then.run).diagram
        drawn = Html(draw_svg(diagram))  # a picture escapes what it shows
    except (ConfigurationError, InputError) as error:  # the old way may be one of a graph with other nodes
        return make_tag("p", str(error), class_="none")
    return make_tag("div", make_tag("figure", drawn), class_="whole", tabindex=0, role="region", aria_label="Both ways")


def _render_unknown_runs(rows: list[JudgedRun]) -> Html:
    columns = make_tag("tr", (make_tag("th", column, scope="col") for column in ("run", "node", "what differs")))
    lines = (
        make_tag(
            "tr",
            make_tag("th", render_name(row.run_id), scope="row"),
            make_tag("td", render_name(row.call.node)),
            make_tag("td", _render_difference(row)),
        )
        for row in rows[:LISTED]
        if row.call is not None
    )
    left = make_tag("p", f"and {len(rows) - LISTED:,} more", class_="label") if len(rows) > LISTED else None
    return join_html(
        make_tag("table", make_tag("thead", columns), make_tag("tbody", lines), class_="card unknown"), left
    )


def _render_difference(row: JudgedRun) -> Child:
    difference = row.call.difference if row.call is not None else ""
    assumed = f"as an assumption: {row.assumed}" if row.assumed is not None else None
    return [make_tag("bdi", difference), make_tag("small", make_tag("bdi", assumed)) if assumed else None]

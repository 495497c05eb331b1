"""The page of a what-if: how many runs of which ending end otherwise, and both ways of those that do."""

from __future__ import annotations

from collections.abc import Iterator

from guardgraph.drawing.picture import draw
from guardgraph.drawing.svg import draw_svg
from guardgraph.evidence.evaluation import Evaluation
from guardgraph.evidence.what_if import JudgedRun, WhatIf
from guardgraph.graphs.shadows import Ending
from guardgraph.plain.errors import ConfigurationError, InputError
from guardgraph.reporting.document import Child, Html, join_html, make_tag, render_section
from guardgraph.reporting.values import (
    render_bar,
    render_facts,
    render_folded_text,
    render_name,
    render_overview,
    render_table,
    render_value,
)

RATES = {
    "answered": "of all rows ended well",
    "ending": "of those that expect an ending ended so",
    "facts": "of those that expect facts have all of them",
    "citations": "of those that expect citations have all of them",
    "passed": "of all rows passed",
}


def render_evaluation_page(evaluation: Evaluation) -> Html:
    """Return the page; rows that did not pass stand first."""
    missed = [row for row in evaluation.rows if not row.passed]
    shown = {"Missed": missed, "Passed": [row for row in evaluation.rows if row.passed]}
    columns = ("row", "ended", "what is wrong", "answer")
    sections = []
    for name, rows in shown.items():
        cells = (
            (render_name(row.id), render_name(row.ended), make_tag("bdi", row.why), render_folded_text(row.answer))
            for row in rows
        )
        sections += [render_section(name, render_table(columns, cells))] if rows else []
    rates = [(name, f"{rate:.1%} {RATES[name]}") for name, rate in evaluation.rates.items()]
    kicker, look = ["Evaluation of ", render_name(evaluation.pattern)], "wait" if missed else "ok"
    title = f"{len(shown['Passed']):,} of {len(evaluation.rows):,} rows passed"
    return render_overview(kicker, title, rates, look=look, sections=sections, made_of="a dataset")


DRAWN = 10  # changes of different kinds whose two ways are drawn; the table has all of them
LISTED = 200  # runs of which a line is shown each
MEANINGS = {
    "same": "end as they did, with the same result",
    "changed": "would end otherwise, or with another result",
    "unknown": "would ask somebody something that was not recorded, so nobody knows",
    "unreplayable": "cannot be judged",
    "other_pattern": "are runs of another pattern",
}


def render_what_if_page(judged: WhatIf) -> Html:
    """Return the page."""
    runs, changed, name = len(judged.rows), judged.counts["changed"], judged.graph.get_name()
    counted: dict[str, str] = {kind: f"{count:,} {MEANINGS[kind]}" for kind, count in judged.counts.items()}
    if why := ", ".join(f"{count:,} {reason}" for reason, count in judged.reasons("unreplayable").items()):
        counted["unreplayable"] += f": {why}"
    if others := judged.other_declarations:
        counted["other_declarations"] = f"{others:,} were made by a graph with other declarations"
    kicker, look = ["What if ", render_name(name), " had decided these runs?"], "wait" if changed else "ok"
    title, made_of = f"{changed:,} of {runs:,} runs changed", "recorded runs; nothing was called"
    sections = _render_what_if_sections(judged)
    return render_overview(kicker, title, counted.items(), look=look, sections=sections, made_of=made_of)


def _render_what_if_sections(judged: WhatIf) -> Iterator[Html]:
    flows: list[tuple[Child, ...]] = []
    most = max(judged.flows.values(), default=1)
    for (old, new, differs), count in judged.flows.items():
        ending: Child = make_tag("span", "same", class_="none")
        if differs:
            ending = [_render_ending_name(new), make_tag("small", "another result") if old == new else None]
        often = make_tag("div", render_bar(100 * count / most), make_tag("span", f"{count:,}"), class_="time")
        flows.append((_render_ending_name(old), ending, often))
    if flows:
        table = render_table(("old ending", "new ending", "runs"), flows, "flows")
        yield render_section("From ending to ending", table)
    found: dict[tuple[Ending | None, Ending | None, str | None], JudgedRun] = {}
    for row in judged.rows:
        if row.kind == "changed":
            found.setdefault((row.old, row.new, row.guard), row)
    drawn = list(found.values())
    if drawn:
        shown = [_render_changed_run(judged, row) for row in drawn[:DRAWN]]
        yield render_section("Where the ways part", *shown)
    unknown = [(row, row.call) for row in judged.rows if row.kind == "unknown" and row.call is not None]
    cells: list[tuple[Child, ...]] = []
    for row, call in unknown[:LISTED]:
        assumed = None
        if row.assumed is not None:
            assumed = make_tag("small", make_tag("bdi", f"as an assumption: {row.assumed}"))
        cells.append((render_name(row.run_id), render_name(call.node), [make_tag("bdi", call.difference), assumed]))
    if cells:
        left = len(unknown) - len(cells)
        more = make_tag("p", f"and {left:,} more", class_="label") if left else None
        yield render_section("Unknown", render_table(("run", "node", "what differs"), cells), more)


def _render_ending_name(ending: Ending) -> Html:
    look = "pass" if ending.status == "ok" else "stop"
    words = ending.outcome if ending.status == "ok" else ending.stop_reason
    return join_html(make_tag("span", ending.status, class_=f"verdict {look}"), " ", render_name(words or ""))


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

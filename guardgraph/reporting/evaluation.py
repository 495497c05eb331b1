"""The page of an evaluation: the rates, and every row with what it lacks."""

from __future__ import annotations

from guardgraph.evidence.evaluation import Evaluation, EvaluationRow
from guardgraph.reporting.document import Html, join_html, make_tag, render_footer, render_section
from guardgraph.reporting.values import render_facts, render_folded_text, render_name

MEANINGS = {
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
    rates = [(name, f"{rate:.1%} {MEANINGS[name]}") for name, rate in evaluation.rates.items()]
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

"""The review of a policy for whoever decides on it: as Markdown for a comment, and as a page."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from guardgraph.plain.markdown import escape_markdown_line
from guardgraph.policies.comparison import Difference
from guardgraph.policies.review import PolicyReview
from guardgraph.policies.subsumption import Widening
from guardgraph.reporting.document import Html, make_tag, render_section
from guardgraph.reporting.values import render_overview, render_table

VERDICTS: Final = {
    "at_most": "The new policy allows at most what the old one allows.",
    "wider": "The new policy allows more than the old one.",
    "unknown": "Nobody knows whether the new policy allows more than the old one: see the settings below.",
}
CHANGES: Final = {
    "newly_allowed": "newly allowed",
    "newly_refused": "newly refused",
    "newly_asked": "would wait for a person",
    "otherwise": "end another way",
}
_MOST_ROWS: Final = 12  # rows of a table in a comment, so that four tables and their heads stay below 60 lines
_CELL: Final = 160

_Table = tuple[str, tuple[str, ...], list[Sequence[Any]]]


def describe_review(review: PolicyReview) -> str:
    """Return how many kept runs come to what, in one sentence."""
    if not review.runs:
        return "No kept runs were looked at."
    said = [f"{review.same:,} end the same"]
    said += [f"{count:,} {words}" for change, words in CHANGES.items() if (count := review.count_runs(change))]  # type: ignore[arg-type]
    if review.unjudged:
        why = ", ".join(f"{name} {count:,}" for name, count in review.unjudged.items())
        said.append(f"{sum(review.unjudged.values()):,} not judged ({why})")
    told = f"Of {review.runs:,} kept runs {', '.join(said)}."
    for name, count in review.unknown.items():
        told += f" {count:,} could not be judged: {name} would be asked something that was not recorded."
    return told


def list_review_tables(review: PolicyReview) -> Iterator[_Table]:
    """Yield the tables of a review that have rows: a title, the columns, the rows."""
    found, told = review.subsumption, dict[str, tuple[tuple[str, ...], list[Any]]]()
    rows: list[Any] = [(_name_setting(each), each.example, each.old, each.new) for each in found.widenings]
    told["What it allows beyond the old one"] = ("setting", "example", "old policy", "new policy"), rows
    rows = [(run.runs, CHANGES[run.change], run.old, run.new, run.guard or "", run.run_id) for run in review.parted]
    told["Kept runs that part"] = ("runs", "change", "old ending", "new ending", "decided by", "look at"), rows
    rows = [(_name_setting(each), each.old, each.new) for each in found.undecided]
    told["Undecided settings"] = ("setting", "old", "new"), rows
    rows = [(_name_setting(each), each.compared, each.old, each.new) for each in review.changed]
    told["All differences"] = ("setting", "is", "old", "new"), rows
    return ((title, *table) for title, table in told.items() if table[1])


def format_review(review: PolicyReview) -> str:
    """Return a review as Markdown of at most 60 lines, for the comment of a pull request."""
    verdict = review.subsumption.verdict
    parts = [f"### Policy review, {escape_markdown_line(review.pattern)}: {verdict.replace('_', ' ')}", ""]
    parts += [f"**{VERDICTS[verdict]}** {escape_markdown_line(describe_review(review))}"]
    for title, columns, rows in list_review_tables(review):
        told = [f"| {' | '.join(columns)} |", f"|{' --- |' * len(columns)}"]
        told += [
            f"| {' | '.join(escape_markdown_line(_show_review_cell(cell)) for cell in row)} |"
            for row in rows[:_MOST_ROWS]
        ]
        left = len(rows) - _MOST_ROWS
        more = f" (the first {_MOST_ROWS} of {len(rows)})" if left > 0 else ""
        if title in ("Undecided settings", "All differences"):
            parts += [
                "",
                f"<details><summary>{title}: {len(rows)}{more}</summary>",
                "",
                *told[: 2 + _MOST_ROWS // 2],
                "",
                "</details>",
            ]
        else:
            parts += ["", f"**{title}**{more}", "", *told]
    return "\n".join(parts) + "\n"


def _name_setting(each: Difference | Widening) -> str:
    return each.field if each.tenant is None else f"{each.tenant}: {each.field}"


def _show_review_cell(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _CELL else f"{text[: _CELL - 1]}…"


def render_review_page(review: PolicyReview) -> Html:
    """Return the page."""
    verdict = review.subsumption.verdict
    sections = []
    for title, columns, rows in list_review_tables(review):
        cells = ([make_tag("bdi", _show_review_cell(cell)) for cell in row] for row in rows)
        sections.append(render_section(title, render_table(columns, cells)))
    facts, look = [("kept runs", describe_review(review))], "ok" if verdict == "at_most" else "wait"
    made_of = "two policies and kept runs; nothing was called"
    named = f"Policy review, {review.pattern}"
    return render_overview(named, VERDICTS[verdict], facts, look=look, sections=sections, made_of=made_of)

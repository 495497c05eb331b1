"""The page of a run: one file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, partial
from html import escape
from pathlib import Path
from typing import Any

from langgraph.graph.state import CompiledStateGraph

from guardgraph.evidence.evaluation import Evaluation
from guardgraph.evidence.judged import WhatIf
from guardgraph.evidence.store import StoredRun
from guardgraph.plain.errors import ConfigurationError, InputError
from guardgraph.policies.review import PolicyReview
from guardgraph.reporting.answer import render_answer_sections
from guardgraph.reporting.decisions import render_decision_cards
from guardgraph.reporting.document import (
    Child,
    Html,
    join_html,
    make_tag,
    render_footer,
    render_html_document,
    render_section,
)
from guardgraph.reporting.evaluation import make_evaluation_title, render_evaluation_page
from guardgraph.reporting.head import make_page_title, render_page_head, render_waiting_sections
from guardgraph.reporting.reading import RunReading, read_reported_run
from guardgraph.reporting.review import make_review_title, render_review_page
from guardgraph.reporting.values import format_readable_json, render_folded_text
from guardgraph.reporting.way import render_timeline, render_way_picture
from guardgraph.reporting.way import render_whole_graph as whole_graph
from guardgraph.reporting.what_if import make_what_if_title as what_if_title
from guardgraph.reporting.what_if import render_what_if_page as what_if_content

CELL_HEIGHT = 720
"""CSS pixels of a page in a notebook; its lower corner makes it higher."""


class Page:
    """A run, or what a what-if made of many, as a page. A notebook shows it; `save` writes it to a file.

    It is one HTML file without scripts, links to other files or fonts of its own. Nothing is asked of any network,
    neither to make it nor to show it.
    """

    def __init__(self, described: str, content: Callable[[], Child]) -> None:
        self.described = described
        """What is to be read, in a few words."""
        self._content = content

    @cached_property
    def html(self) -> str:
        """The page; the same run gives the same text."""
        return render_html_document(self.described, self._content())

    def save(self, path: str | Path) -> None:
        """Write the page to a file.

        Raises:
            ConfigurationError: its name does not end in .html.
            OSError: the file cannot be written.
        """
        file = Path(path)
        if file.suffix.lower() not in (".html", ".htm"):
            raise ConfigurationError(f"file: a name that ends in .html; given: {str(path)!r:.200}")
        file.write_bytes(self.html.encode())

    def _repr_html_(self) -> str:
        """Return what notebooks show: the page in a frame of its own, where neither can change how the other looks."""
        allowed = "allow-popups allow-popups-to-escape-sandbox"  # for links, which open elsewhere
        style = f"width:100%;height:{CELL_HEIGHT}px;border:0;resize:vertical"
        return f'<iframe sandbox="{allowed}" style="{style}" srcdoc="{escape(self.html)}"></iframe>'

    def __repr__(self) -> str:
        return f"<Page: {self.described}>"


def report(run: object, graph: CompiledStateGraph[Any, Any, Any, Any] | None = None, *, asked: object = None) -> Page:
    """Make a page of a run: how it ended, what came of it, every proposal beside its verdict, the path.

    Of a run that waits for a person it says what that person is shown, and how the run goes on.

    Args:
        run: the result of a run, such as `invoke` returned or ``--json`` printed; or a run as a store has it, whose
            page says what it was given and where it stands in the chain; or what `what_if` returned, whose page shows
            how many runs of which ending would end otherwise, and the two ways of those that do; or what `evaluate`
            returned, whose page shows the rates and what each row lacks; or what `review_policies` returned.
        graph: the graph that it is a run of; not needed for the shipped patterns, whose results name them. Without it,
            a run of any other graph has a picture of the nodes that ran.
        asked: what the run was given, a text or the dictionary, to be shown in the head; a result does not repeat it.

    Raises:
        InputError: it is no result of a finished or waiting run, or no run of this graph; or it was erased.
    """
    if isinstance(run, WhatIf):
        return Page(what_if_title(run), partial(what_if_content, run))
    if isinstance(run, PolicyReview):
        return Page(make_review_title(run), partial(render_review_page, run))
    if isinstance(run, Evaluation):
        return Page(make_evaluation_title(run), partial(render_evaluation_page, run))
    if not isinstance(run, StoredRun):
        return _make_page(read_reported_run(run, graph, asked))
    if run.recording is None:
        raise InputError(f"run: one that was not erased is required; given: {run.run_id}")
    given = run.recording["input"] if asked is None else asked
    return _make_page(read_reported_run(run.recording["result"], graph, given, run.position))


def _make_page(reading: RunReading) -> Page:
    return Page(make_page_title(reading), partial(_render_page_content, reading))


def _render_page_content(reading: RunReading) -> Html:
    return join_html(
        render_page_head(reading),
        make_tag("main", _render_page_sections(reading)),
        render_footer("the result of the run"),
    )


def _render_page_sections(reading: RunReading) -> Iterator[Html]:
    answered = [
        render_section(name, content)
        for name, content in (*render_waiting_sections(reading), *render_answer_sections(reading))
    ]
    times = render_section("Timeline", render_timeline(reading)) if reading.pending_request is None else None
    path = make_tag("aside", make_tag("h2", "Path"), render_way_picture(reading))
    yield make_tag("div", make_tag("div", answered, times, class_="column"), path, class_="columns")
    if cards := list(render_decision_cards(reading)):
        yield render_section("Proposals and verdicts", *cards)
    if (drawn := whole_graph(reading)) is not None:
        yield render_section("The whole graph", drawn)
    yield render_section(
        "Record",
        make_tag(
            "div",
            render_folded_text(format_readable_json(reading.run), "The whole result as JSON, ", code=True),
            class_="card",
        ),
    )

"""The page of a run: one file, which asks nothing of a network and runs no script."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator
from functools import cached_property
from hashlib import sha256
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

from langgraph.graph.state import CompiledStateGraph

from guardgraph.drawing.style import MONO, SANS, variables
from guardgraph.evidence.store import StoredRun
from guardgraph.reporting.answer import answer
from guardgraph.reporting.decisions import decisions
from guardgraph.reporting.elements import Html, fragment, legible, tag
from guardgraph.reporting.head import head, title
from guardgraph.reporting.reading import Reading, read
from guardgraph.reporting.timeline import timeline
from guardgraph.reporting.values import folded, json_text
from guardgraph.reporting.waiting import waiting
from guardgraph.reporting.way import graph as whole_graph
from guardgraph.reporting.way import way
from guardgraph.state.errors import ConfigurationError, InputError
from guardgraph.state.version import version

__all__ = ["Page", "report"]

CELL_HEIGHT = 720
"""CSS pixels of a page in a notebook; its lower corner makes it higher."""


class Page:
    """A run as a page. A notebook shows it; `save` writes it to a file.

    It is one HTML file without scripts, links to other files or fonts of its own. Nothing is asked of any network,
    neither to make it nor to show it.
    """

    def __init__(self, reading: Reading) -> None:
        self.reading = reading

    @cached_property
    def html(self) -> str:
        """The page; the same run gives the same text."""
        return _page(self.reading)

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

    @property
    def described(self) -> str:
        """What is to be read, in a few words."""
        return title(self.reading)

    def __repr__(self) -> str:
        return f"<Page: {self.described}>"


def report(run: object, graph: CompiledStateGraph[Any, Any, Any, Any] | None = None, *, asked: object = None) -> Page:
    """Make a page of a run: how it ended, what came of it, every proposal beside its verdict, the path.

    Of a run that waits for a person it says what that person is shown, and how the run goes on.

    Args:
        run: the result of a run, such as `invoke` returned or ``--json`` printed; or a run as a store has it, whose
            page says what it was given and where it stands in the chain.
        graph: the graph that it is a run of; not needed for the shipped patterns, whose results name them. Without it,
            a run of any other graph has a picture of the nodes that ran.
        asked: what the run was given, a text or the dictionary, to be shown in the head; a result does not repeat it.

    Raises:
        InputError: it is no result of a finished or waiting run, or no run of this graph; or it was erased.
    """
    if not isinstance(run, StoredRun):
        return Page(read(run, graph, asked))
    if run.recording is None:
        raise InputError(f"run: one that was not erased is required; given: {run.run_id}")
    given = run.recording["input"] if asked is None else asked
    return Page(read(run.recording["result"], graph, given, run.position))


def _page(reading: Reading) -> str:
    body = fragment(head(reading), tag("main", _sections(reading)), _foot())
    style = _style()
    styles = [style, *re.findall(r"(?<=<style>).*?(?=</style>)", body, re.DOTALL)]
    allowed = " ".join(dict.fromkeys(f"'sha256-{_digest(text)}'" for text in styles))
    policy = f"default-src 'none'; style-src {allowed}; base-uri 'none'; form-action 'none'"
    document = tag(
        "html",
        tag(
            "head",
            tag("meta", charset="utf-8"),
            tag("meta", http_equiv="Content-Security-Policy", content=policy),
            tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
            tag("meta", name="referrer", content="no-referrer"),
            tag("meta", name="color-scheme", content="light dark"),
            tag("title", legible(title(reading))),
            tag("style", Html(style)),
        ),
        tag("body", body),
        lang="en",
    )
    return f"<!doctype html>\n{document}\n"


def _sections(reading: Reading) -> Iterator[Html]:
    answered = [_section(name, content) for name, content in (*waiting(reading), *answer(reading))]
    times = _section("Timeline", timeline(reading)) if reading.waiting_for is None else None
    path = tag("aside", tag("h2", "Path"), way(reading))
    yield tag("div", tag("div", answered, times, class_="column"), path, class_="columns")
    if cards := list(decisions(reading)):
        yield _section("Proposals and verdicts", *cards)
    if (drawn := whole_graph(reading)) is not None:
        yield _section("The whole graph", drawn)
    yield _section(
        "Record", tag("div", folded(json_text(reading.run), "The whole result as JSON, ", code=True), class_="card")
    )


def _section(name: str, *content: Html) -> Html:
    return tag("section", tag("h2", name), *content)


def _foot() -> Html:
    return tag("footer", tag("p", f"Made by guardgraph {version()} from the result of the run."))


def _style() -> str:
    sheet = (resources.files("guardgraph.reporting") / "page.css").read_text(encoding="utf-8")
    light, dark = (_variables(dark=dark) for dark in (False, True))
    night = f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}"  # paper is never dark
    return f":root {{ --sans: {SANS}; --mono: {MONO}; {light} }}\n{night}\n{sheet}"


def _variables(*, dark: bool) -> str:
    return " ".join(f"--{name}: {colour};" for name, colour in variables(dark=dark).items())


def _digest(text: str) -> str:
    return b64encode(sha256(text.encode()).digest()).decode()

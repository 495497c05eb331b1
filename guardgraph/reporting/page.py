"""The page of a run: one file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, partial
from html import escape
from pathlib import Path
from typing import Any

from langgraph.graph.state import CompiledStateGraph

from guardgraph.evidence.evaluation import Evaluation
from guardgraph.evidence.store import StoredRun
from guardgraph.evidence.what_if import WhatIf
from guardgraph.plain.errors import ConfigurationError, InputError
from guardgraph.plain.files import rewrite_file
from guardgraph.plain.json import JsonObject
from guardgraph.policies.review import PolicyReview
from guardgraph.reporting import decisions
from guardgraph.reporting.answer import render_answer_sections
from guardgraph.reporting.document import (
    Child,
    Html,
    join_html,
    make_tag,
    render_footer,
    render_html_document,
    render_section,
)
from guardgraph.reporting.reading import RunReading, read_reported_run
from guardgraph.reporting.review import render_review_page
from guardgraph.reporting.values import (
    format_duration,
    format_readable_json,
    render_facts,
    render_folded_text,
    render_inline,
    render_name,
    render_value,
)
from guardgraph.reporting.what_if import render_evaluation_page, render_what_if_page


def render_waiting_sections(reading: RunReading) -> Iterator[tuple[str, Html]]:
    """Yield sections with their titles, for a run that waits."""
    asked = reading.pending_request
    if asked is None:
        return
    yield "Shown to the person", make_tag("div", render_value(asked.get("shown")), class_="card")
    yield "How to go on", make_tag("div", render_facts(_list_waiting_facts(asked)), class_="card")


def _list_waiting_facts(asked: JsonObject) -> Iterator[tuple[str, Child]]:
    if "problem" in asked:
        yield "last answer", render_inline(asked["problem"])
    yield "asked by", make_tag("code", render_inline(asked.get("node")))
    yield "hash", make_tag("code", render_inline(asked.get("hash")))
    for key, label in (
        ("changed", "not as before"),
        ("expires_at", "stands until"),
        ("licence", "licence of the call"),
        ("licences", "licences of the calls"),
    ):
        if key in asked:
            yield label, render_inline(asked[key])
    answer = make_tag("code", '{"hash": …, "decision": "approve" | "reject"}')
    yield "answer", make_tag("p", "Resume the run on its thread with the hash and a decision: ", answer)


NAME_CHARS = 80  # characters of a name in a title
REFUSED = "Proposed and refused; none of it was used:"
BADGES = {"ok": ("ok", "✓ ok"), "stopped": ("stop", "✕ stopped"), "waiting": ("wait", "… waiting")}
"""How a run stands, as a class of the style sheet and as a person reads it."""


def describe_kind_of_run(reading: RunReading) -> str:
    """Return what was run, as a person says it."""
    if reading.matching_pattern is not None:
        return f"{reading.matching_pattern.title} run"
    called = reading.graph.name if reading.graph else reading.pattern_name
    return f"Run of {called[:NAME_CHARS]}" if called else "Run"


def render_page_head(reading: RunReading) -> Html:
    """Return the head."""
    look, words = BADGES[reading.taken.way_status]
    asked = list(_list_question_facts(reading))
    return make_tag(
        "header",
        make_tag("p", describe_kind_of_run(reading), class_="kicker"),
        make_tag("h1", make_tag("span", words, class_=f"badge {look}"), " ", render_name(reading.taken.ending_label)),
        _render_ending_meaning(reading),
        _render_stop_explanation(reading) if reading.taken.way_status == "stopped" else None,
        render_facts(asked, "facts asked") if asked else None,
        render_facts(_list_head_facts(reading), "facts told"),
        class_=f"ended {look}",
    )


def _render_ending_meaning(reading: RunReading) -> Child:
    if reading.pending_request is not None:
        return make_tag("p", "The run waits until a person has decided on what it shows.", class_="lead")
    if reading.taken.is_ok_way:
        known = reading.matching_pattern.explain_outcome(reading.run) if reading.matching_pattern else None
        return make_tag("p", f"{known[0].upper()}{known[1:]}.", class_="lead") if known else None
    reason = reading.stop_reason_entry
    if reason is None:
        return None
    link = make_tag("a", "See it in the run", href="#stop")
    return [
        make_tag("p", reason.meaning, class_="lead"),
        make_tag("p", make_tag("strong", "What to do: "), reason.advice, " ", link),
    ]


def _render_stop_explanation(reading: RunReading) -> Html:
    """Return who stopped the run, the evidence, and what was refused with the words marked that were the reason."""
    guard, asked = decisions.find_stopping_entries(reading)
    by = None
    if guard is not None:
        where = f", in the phase {guard.phase}." if guard.phase else "."
        by = make_tag("p", "Stopped by ", make_tag("span", render_name(guard.node), class_="node"), where)
    proposal = decisions.render_refused_proposal(reading)
    said_twice = asked.told["proposal"] if proposal and asked else None
    evidence = {key: item for key, item in reading.result_content.items() if said_twice is None or item != said_twice}
    return make_tag(
        "div",
        by,
        render_facts((key, render_value(item)) for key, item in evidence.items()) if evidence else None,
        make_tag("div", make_tag("p", REFUSED, class_="label"), proposal, class_="refused") if proposal else None,
        class_="why",
    )


def _list_question_facts(reading: RunReading) -> Iterator[tuple[str, Child]]:
    told = reading.run.get("asked_question")
    if isinstance(told, dict) and isinstance(told.get("own"), str):
        yield "asked", render_inline(told["own"])
        if isinstance(told.get("standalone"), str):
            yield "read as", render_inline(told["standalone"])
        if reading.asked is not None and reading.asked not in (told["own"], {"question": told["own"]}):
            yield "given", render_value(reading.asked)
    elif reading.asked is not None:
        yield "asked", render_value(reading.asked)
    else:  # the result does not say what was asked
        queries = (step.get("query") for step in reading.list_result_steps("trace"))
        if (query := next((each for each in queries if isinstance(each, str) and each), None)) is not None:
            yield "searched for", render_inline(query)


def _list_head_facts(reading: RunReading) -> Iterator[tuple[str, Child]]:
    run = reading.run
    for key in ("stop_reason", "phase", "outcome"):
        if key in run:
            yield key, make_tag("code", render_name(run[key]) if isinstance(run[key], str) else render_value(run[key]))
    if reading.pending_request is None:  # which has no times yet
        yield "active time", format_duration(reading.total_active_ms)
    told = [entry.told for entry in reading.entries] + reading.list_result_steps("history")
    if proposers := list(dict.fromkeys(who for item in told if isinstance(who := item.get("proposer"), str))):
        yield "proposed by", render_inline(", ".join(proposers))
    yield from _list_usage_facts(reading)
    if "run_id" in run:
        yield "run_id", make_tag("code", render_inline(run["run_id"]))
    if (place := reading.position) is not None:
        yield "in the chain", make_tag("code", f"{place.seq}:{place.hash}")
        yield "recorded at", place.at


def _list_usage_facts(reading: RunReading) -> Iterator[tuple[str, Child]]:
    """Yield what the calls of a run used up: as its result says it, else the tokens that its models said."""
    told = reading.run.get("usage")
    said = (entry.told.get("usage") for entry in reading.entries)
    totals = [each.get("total_tokens") for each in said if isinstance(each, dict)]
    usage = told if isinstance(told, dict) else {"tokens": sum(total for total in totals if isinstance(total, int))}
    for key, label in (("calls", "calls of models"), ("tool_calls", "calls of tools"), ("tokens", "tokens")):
        if isinstance(count := usage.get(key), int) and count:
            is_estimate = key == "tokens" and usage.get("estimated")
            yield label, f"{count:,}{' (partly estimated)' if is_estimate else ''}"
    if isinstance(cost := usage.get("cost"), int | float) and cost:
        yield "cost", f"{cost:.9f}".rstrip("0").rstrip(".")


CELL_HEIGHT = 720  # CSS pixels of a page in a notebook; its lower corner makes it higher


class Page:
    """A run, or what a what-if made of many, as a page. A notebook shows it; `save` writes it to a file.

    It is one HTML file without scripts, links to other files or fonts of its own. Nothing is asked of any network,
    neither to make it nor to show it.
    """

    def __init__(self, described: str, content: Callable[[], Child]) -> None:
        self.described = described  # what is to be read, in a few words
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
        rewrite_file(file, self.html)

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
            page says what it was given and where it stands in the chain; or what `what_if`, `evaluate` or
            `review_policies` returned.
        graph: the graph that it is a run of; not needed for the shipped patterns, whose results name them. Without it,
            a run of any other graph has a picture of the nodes that ran.
        asked: what the run was given, a text or the dictionary, to be shown in the head; a result does not repeat it.

    Raises:
        InputError: it is no result of a finished or waiting run, or no run of this graph; or it was erased.
    """
    if isinstance(run, WhatIf):
        named = f"What if, {run.graph.get_name()}: {run.counts['changed']} of {len(run.rows)} runs changed"
        return Page(named, partial(render_what_if_page, run))
    if isinstance(run, PolicyReview):
        named = f"Policy review, {run.pattern}: {run.subsumption.verdict.replace('_', ' ')}"
        return Page(named, partial(render_review_page, run))
    if isinstance(run, Evaluation):
        passed = sum(row.passed for row in run.rows)
        named = f"Evaluation, {run.pattern}: {passed} of {len(run.rows)} rows passed"
        return Page(named, partial(render_evaluation_page, run))
    if not isinstance(run, StoredRun):
        reading = read_reported_run(run, graph, asked)
    elif run.recording is None:
        raise InputError(f"run: one that was not erased is required; given: {run.run_id}")
    else:
        given = run.recording["input"] if asked is None else asked
        reading = read_reported_run(run.recording["result"], graph, given, run.position)
    named = f"{describe_kind_of_run(reading)}, {reading.taken.way_status}: {reading.taken.ending_label[:NAME_CHARS]}"
    return Page(named, partial(_render_page_content, reading))


def _render_page_content(reading: RunReading) -> Html:
    named = (*render_waiting_sections(reading), *render_answer_sections(reading))
    answered = [render_section(name, content) for name, content in named]
    times = render_section("Timeline", decisions.render_timeline(reading)) if reading.pending_request is None else None
    path = make_tag("aside", make_tag("h2", "Path"), decisions.render_way_picture(reading))
    parts = [make_tag("div", make_tag("div", answered, times, class_="column"), path, class_="columns")]
    if cards := list(decisions.render_decision_cards(reading)):
        parts.append(render_section("Proposals and verdicts", *cards))
    if (drawn := decisions.render_whole_graph(reading)) is not None:
        parts.append(render_section("The whole graph", drawn))
    whole = render_folded_text(format_readable_json(reading.run), "The whole result as JSON, ", code=True)
    parts.append(render_section("Record", make_tag("div", whole, class_="card")))
    return join_html(render_page_head(reading), make_tag("main", parts), render_footer("the result of the run"))

"""`guardgraph what-if`: recorded runs judged again by another agent, for a person and for CI."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import guardgraph
from guardgraph.cli import graphs, inputs
from guardgraph.cli.audit import select_store_runs
from guardgraph.cli.folders import show_run_counter
from guardgraph.cli.policies import load_candidate_policy_option
from guardgraph.cli.screen import Screen
from guardgraph.cli.shell import OK, STOPPED
from guardgraph.plain.errors import ConfigurationError, explain_unread_file
from guardgraph.plain.json import RESULT_DEPTH, NotJson, parse_json

if TYPE_CHECKING:
    from guardgraph.evidence.judged import FailOn


LINES = ".jsonl"
"""How the name of a file ends that has a recording a line."""


def what_if(
    candidate: Annotated[
        str, typer.Argument(metavar="MODULE:FACTORY", help="Makes the other agent.", show_default=False)
    ],
    *,
    store: Annotated[
        str | None,
        typer.Option(
            "--store",
            metavar="URL|FILE",
            help="The store, or a .jsonl file with a recording a line; GUARDGRAPH_AUDIT if left out.",
            show_default=False,
        ),
    ] = None,
    pattern: Annotated[
        str | None, typer.Option("--pattern", metavar="NAME", help="Runs of this pattern.", show_default=False)
    ] = None,
    tenant: Annotated[
        str | None,
        typer.Option(
            "--tenant", metavar="TENANT", help="Runs of this tenant, by its overlay in --policy.", show_default=False
        ),
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option("--policy", metavar="FILE", help="What the factory is given: YAML or TOML.", show_default=False),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option("--since", metavar="WHEN", help="Recorded then or later: ISO 8601, UTC.", show_default=False),
    ] = None,
    assume: Annotated[
        bool, typer.Option("--assume", help="Show too how unknown runs might end; it counts nowhere.")
    ] = False,
    ignore_live: Annotated[
        bool, typer.Option("--ignore-live", help="As if nobody had switched anything off by a live policy.")
    ] = False,
    fail_on: Annotated[
        list[str] | None,
        typer.Option("--fail-on", metavar="LIMIT", help="Such as stopped>ok:0; more than once.", show_default=False),
    ] = None,
    out: Annotated[
        str | None, typer.Option("--out", "-o", metavar="FILE", help="A page, ends in .html.", show_default=False)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document, run by run.")] = False,
) -> None:
    """Judge the runs of a store again by another agent: what would it have made of them?

    Nothing is called. A run is unknown if somebody would have been asked something else than was recorded.

    LIMIT is OLD>NEW:MOST or CLASS:MOST; more than MOST such runs end with exit code 3. OLD and NEW are ok, stopped,
    refused, ok:OUTCOME, stopped:REASON, or * for any; CLASS is same, changed, unknown, unreplayable or other_pattern,
    or why a run is unreplayable: unreplayable:erased, :redacted, :changed, :version or :damaged. MOST is a number or a
    percentage of all runs: stopped>ok:0, ok>ok:clarify:5, unknown:10%, unreplayable:changed:0.
    """
    from guardgraph.evidence.judged import parse_fail_on
    from guardgraph.evidence.what_if import load_candidate_agent

    inputs.load_dotenv_file()
    graph = load_candidate_agent(
        candidate, **({} if policy is None else load_candidate_policy_option(candidate, policy, tenant))
    )
    ours = graph.frame.catalogue.pattern
    if pattern not in (None, ours):  # no run would be judged, and no limit exceeded
        raise ConfigurationError(f"--pattern: {ours}, which the candidate judges, is required; given: {pattern!r:.80}")
    limits = [parse_fail_on(text, graph.frame.catalogue) for text in fail_on or ()]
    runs = read_store_option(store, pattern=pattern, tenant=tenant, since=since)
    with show_run_counter() as progress:
        judged = guardgraph.what_if(graph, runs, assume=assume, ignore_live=ignore_live, progress=progress)
    exceeded = [limit for limit in limits if limit.is_exceeded(judged)]
    if out is not None:
        graphs.save_out_option(guardgraph.report(judged), out)
    if as_json:
        failed = [{"limit": limit.text, "found": limit.count_what_if_runs(judged)} for limit in exceeded]
        print(json.dumps({**judged.plain(), "exceeded": failed}, indent=2), flush=True)
    else:
        _print_what_if(Screen(), judged, exceeded)
    raise typer.Exit(STOPPED if exceeded else OK)


def read_store_option(
    store: str | None,
    *,
    pattern: str | None = None,
    tenant: str | None = None,
    since: str | None = None,
    option: str = "--store",
) -> Iterable[Any]:
    """Return the runs of a store, or the recordings in a file, a line each."""
    if store is None or not store.endswith(LINES):
        return select_store_runs(store, pattern=pattern, tenant=tenant, since=since)
    for name, value in {"pattern": pattern, "tenant": tenant, "since": since}.items():
        if value is not None:
            raise ConfigurationError(f"--{name}: for a store; a {LINES} file is judged whole")
    return _read_recording_lines(option, store)


def _read_recording_lines(option: str, file: str) -> Iterator[Any]:
    """Yield the recordings in a file, a line each."""
    try:
        with Path(file).open(encoding="utf-8-sig") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield _parse_recording_line(f"{option} {file!r:.200}", number, line)
    except (OSError, ValueError) as error:
        if isinstance(error, ConfigurationError):
            raise
        raise ConfigurationError(f"{option} {file!r:.200}: {explain_unread_file(error)}") from error


def _parse_recording_line(file: str, number: int, line: str) -> Any:
    try:
        value = parse_json(line, RESULT_DEPTH, keys_once=True)
    except NotJson as error:
        raise ConfigurationError(f"{file}, line {number}: not JSON: {error}") from error
    if not isinstance(value, dict):
        raise ConfigurationError(f"{file}, line {number}: a recording is required")
    return value


def _print_what_if(screen: Screen, judged: guardgraph.WhatIf, exceeded: list[FailOn]) -> None:
    for line in judged.table().splitlines():
        screen.print_text(line, indent=0)
    for row in judged.rows:
        if row.assumed is not None:
            screen.print_text(
                f"assumed: {row.run_id}  {row.old} -> {row.assumed}, which nobody proposed", indent=0, hang=2
            )
    for limit in exceeded:
        screen.print_text((f"--fail-on {limit.text}: {limit.count_what_if_runs(judged)} runs", "red"), indent=0)

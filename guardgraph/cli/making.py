"""How commands make their runs: the options that several have, what is printed, and the exit code."""

from __future__ import annotations

from typing import Annotated, NoReturn

import typer

from guardgraph.cli import runs, views
from guardgraph.cli.shell import (
    STOPPED,
    WAITING,
    Screen,
    exit_with_status,
    is_stderr_watched,
    print_json,
    print_on_stderr,
)
from guardgraph.plain.json import JsonObject

Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="PROVIDER:NAME",
        help='Who proposes, such as "openai:gpt-4.1-mini"; offline rules if left out.',
    ),
]
Policy = Annotated[str | None, typer.Option("--policy", metavar="FILE", help="Policy and budget: YAML.")]
Tenant = Annotated[str | None, typer.Option("--tenant", metavar="TENANT", help="Whose overlay in --policy.")]
Live = Annotated[
    str | None,
    typer.Option(
        "--live",
        metavar="FILE",
        help="A live policy, such as `policy switch` writes; it is read again before each guard and call.",
    ),
]
World = Annotated[
    str | None,
    typer.Option(
        "--world",
        metavar="MODULE:FACTORY",
        help="Makes what performs the calls, such as a ResilientWorld, a TenantWorld or a TelemetryWorld.",
    ),
]
Prompts = Annotated[
    str | None,
    typer.Option("--prompts", metavar="FOLDER", help="What models are told: as `guardgraph prompts` writes it."),
]
Goal = Annotated[str | None, typer.Option("--goal", help="What the text is for; the demo's if left out.")]


def run_and_exit(run: runs.PlannedRun, as_json: bool, as_markdown: bool = False) -> NoReturn:
    """Make a run, print it, and exit as it ended."""
    if as_json:
        result = runs.follow_run_on_screen(run)
        print_json(result)
    elif as_markdown:
        result = runs.follow_run_on_screen(run, _print_step_on_stderr if is_stderr_watched() else None)
        _print_brief(run, result)
    else:
        screen = Screen()
        result = views.print_followed_run(screen, run)
        views.print_next_commands(screen, run, result)
    exit_after_runs(result)


def _print_step_on_stderr(node: str, declared: JsonObject, writes: JsonObject) -> None:
    print_on_stderr(f"{node}: {views.describe_printed_step(declared, writes)}")


def _print_brief(run: runs.PlannedRun, result: JsonObject) -> None:
    from guardgraph.reporting.brief import format_brief

    if runs.is_waiting_result(result):
        print_on_stderr("there is no brief: the run waits for a person")
    elif not runs.is_ok_result(result):
        print_on_stderr(f"there is no brief: the run was stopped, {result['stop_reason']} in {result['phase']}")
    else:
        print(format_brief(result, asked=run.request), end="", flush=True)


def exit_after_runs(*results: JsonObject) -> NoReturn:
    """Exit as runs ended; one that was stopped counts more than one that waits."""
    if not any(map(runs.is_waiting_result, results)):
        exit_with_status(all(map(runs.is_ok_result, results)))
    raise typer.Exit(
        WAITING if all(runs.is_waiting_result(result) or runs.is_ok_result(result) for result in results) else STOPPED
    )

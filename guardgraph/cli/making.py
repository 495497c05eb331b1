"""How commands make their runs, and how they end: what is printed, and the exit code."""

from __future__ import annotations

import json
from typing import Any, NoReturn

import typer

from guardgraph.cli import runs, views
from guardgraph.cli.screen import Screen
from guardgraph.cli.shell import OK, STOPPED, WAITING
from guardgraph.plain.json import JsonObject, named

__all__ = ["exit_after", "exit_with", "make", "print_json"]


def make(run: runs.PlannedRun, as_json: bool) -> NoReturn:
    """Make a run, print it, and exit as it ended."""
    if as_json:
        result = runs.follow(run)
        print_json(result)
    else:
        screen = Screen()
        result = views.show_run(screen, run)
        views.show_next(screen, run, result)
    exit_after(result)


def print_json(document: Any) -> None:
    """Print one JSON document."""
    print(json.dumps(named(document), indent=2, allow_nan=False), flush=True)


def exit_with(ok: bool) -> NoReturn:
    """Exit as something turned out that is either well or not."""
    raise typer.Exit(OK if ok else STOPPED)


def exit_after(*results: JsonObject) -> NoReturn:
    """Exit as runs ended; one that was stopped counts more than one that waits."""
    if not any(map(runs.is_waiting, results)):
        exit_with(all(map(runs.is_ok, results)))
    raise typer.Exit(WAITING if all(runs.is_waiting(result) or runs.is_ok(result) for result in results) else STOPPED)

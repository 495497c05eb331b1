"""How commands make their runs: the options that several have, what is printed, and the exit code."""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import wraps
from typing import Annotated, Any, NoReturn, TypeVar, get_type_hints

import typer

from guardgraph.cli import policies, runs, views
from guardgraph.cli.options import option
from guardgraph.cli.shell import (
    STOPPED,
    WAITING,
    Screen,
    exit_with_status,
    is_stderr_watched,
    print_json,
    print_on_stderr,
)
from guardgraph.graphs.loading import load_named_world
from guardgraph.plain.json import JsonObject

Model = Annotated[
    str | None,
    option("--model PROVIDER:NAME", 'Who proposes, such as "openai:gpt-4.1-mini"; offline rules if left out.'),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """The options under which all commands that make runs make them."""

    model: Model = None
    policy: Annotated[str | None, option("--policy FILE", "Policy and budget: YAML.")] = None
    live: Annotated[str | None, option("--live FILE", "A live policy, as of `policy switch`; it is read anew.")] = None
    tenant: Annotated[str | None, option("--tenant TENANT", "Whose overlay in --policy.")] = None
    world: Annotated[str | None, option("--world MODULE:FACTORY", "Makes what performs the calls.")] = None
    prompts: Annotated[str | None, option("--prompts FOLDER", "As `guardgraph prompts` writes it.")] = None

    def load_settings(self, pattern: str, *, is_caller: bool = False) -> dict[str, Any]:
        """Return what the factory of a shipped pattern is given by them, beside the model."""
        settings = policies.load_policy_option(pattern, self.policy, self.tenant, is_caller=is_caller)
        return settings | self.load_around()

    def load_around(self) -> dict[str, Any]:
        """Return what it is given beside model, policy and budget."""
        own = {} if self.prompts is None else {"prompts": self.prompts}
        world = {} if self.world is None else {"world": load_named_world(self.world, "--world")}
        return policies.load_live_option(self.live) | world | own

    def format_options(self) -> str:
        """Return those that were given, as a shell reads them."""
        given = {each.name: getattr(self, each.name) for each in fields(RunOptions)}
        return shlex.join([text for name, value in given.items() if value is not None for text in (f"--{name}", value)])


Made = TypeVar("Made")


def spread_options(command: Callable[..., Made]) -> Callable[..., Made]:
    """Return a command that takes the fields of its dataclasses as options, so that commands share them."""
    own = inspect.signature(command, eval_str=True)
    kinds: dict[str, Any] = {name: each.annotation for name, each in own.parameters.items()}
    shared: dict[str, Any] = {name: kind for name, kind in kinds.items() if is_dataclass(kind)}
    parameters = [each for name, each in own.parameters.items() if name not in shared]
    for kind in shared.values():
        hints = get_type_hints(kind, include_extras=True)
        for each in fields(kind):
            default = inspect.Parameter.empty if each.default is MISSING else each.default
            way = inspect.Parameter.KEYWORD_ONLY
            parameters.append(inspect.Parameter(each.name, way, default=default, annotation=hints[each.name]))

    @wraps(command)
    def run(**given: Any) -> Made:
        for name, kind in shared.items():
            given[name] = kind(**{each.name: given.pop(each.name) for each in fields(kind)})
        return command(**given)

    run.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]  # which typer reads
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    return run


Goal = Annotated[str | None, option("--goal", "What the text is for; the demo's if left out.")]


def run_and_exit(run: runs.PlannedRun, as_json: bool, as_markdown: bool = False) -> NoReturn:
    """Make a run, print it, and exit as it ended."""
    if as_json:
        result = runs.follow_run_on_screen(run)
        print_json(result)
    elif as_markdown:
        from guardgraph.reporting.brief import format_brief

        def print_step_on_stderr(node: str, declared: JsonObject, writes: JsonObject) -> None:
            print_on_stderr(f"{node}: {views.describe_printed_step(declared, writes)}")

        result = runs.follow_run_on_screen(run, print_step_on_stderr if is_stderr_watched() else None)
        if runs.is_waiting_result(result):
            print_on_stderr("there is no brief: the run waits for a person")
        elif not runs.is_ok_result(result):
            print_on_stderr(f"there is no brief: the run was stopped, {result['stop_reason']} in {result['phase']}")
        else:
            print(format_brief(result, asked=run.request), end="", flush=True)
    else:
        screen = Screen()
        result = views.print_followed_run(screen, run)
        views.print_next_commands(screen, run, result)
    exit_after_runs(result)


def exit_after_runs(*results: JsonObject) -> NoReturn:
    """Exit as runs ended; one that was stopped counts more than one that waits."""
    if not any(map(runs.is_waiting_result, results)):
        exit_with_status(all(map(runs.is_ok_result, results)))
    is_stopped = any(not runs.is_waiting_result(result) and not runs.is_ok_result(result) for result in results)
    raise typer.Exit(STOPPED if is_stopped else WAITING)

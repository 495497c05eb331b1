"""The commands. They name the parts of `guardgraph`, which loads a part when it is first used: help is quick."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

import guardgraph
from guardgraph.cli import audit, graphs, inputs, knowledge, policies, review, runs, views, waiting
from guardgraph.cli.attack import attack
from guardgraph.cli.check import check
from guardgraph.cli.making import Goal, Model, RunOptions, exit_after_runs, run_and_exit, spread_options
from guardgraph.cli.options import COMMAND, Json, argument, option
from guardgraph.cli.research import research
from guardgraph.cli.shell import HELP, OK, Screen, Shell, print_json
from guardgraph.cli.what_if import evaluate, what_if
from guardgraph.graphs.patterns import COMMANDS, PATTERNS, find_shipped_pattern
from guardgraph.plain.json import JsonObject
from guardgraph.tools.demo import CRITIQUE_GOAL, load_demo_incident

app = typer.Typer(
    cls=Shell, no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None, context_settings=HELP
)

app.add_typer(audit.app, name="audit")
app.add_typer(knowledge.app, name="kb")
app.add_typer(policies.app, name="policy")
app.add_typer(review.app, name="review")
app.command(name="what-if")(what_if)
app.command()(attack)
app.command()(check)
app.command()(evaluate)

Question = Annotated[str, argument("QUESTION", "What you want to know.")]


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"guardgraph {guardgraph.__version__}", flush=True)
        raise typer.Exit(OK)


@app.callback()
def guardgraph_(
    version: Annotated[
        bool, option("--version", "Print the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """LangGraph agents in which a model only proposes and deterministic guards decide.

    Exit codes: 0 ok, 3 stopped by a guard, 4 waits for a person, 2 wrong usage or configuration.
    """
    inputs.load_dotenv_file()


@app.command()
@spread_options
def rag(
    question: Question,
    *,
    kb: Annotated[
        str | None, option("--kb FOLDER|FILE|URL", "Files, or a base of `guardgraph kb`; the demo's if left out.")
    ] = None,
    history: Annotated[
        str | None, option("--history FILE", 'The turns before, {"role": "user", "content": TEXT} in each line.')
    ] = None,
    options: RunOptions,
    user: knowledge.User = None,
    group: knowledge.Group = None,
    as_json: Json = False,
) -> None:
    """Answer a question from a knowledge base, with citations, or ask for clarification.

    With a FILE, --tenant, --user and --group say who asks: documents that they may not read are not there for them.
    """
    caller = knowledge.read_caller_options(kb, options.tenant, user, group)
    settings = options.load_settings("rag", is_caller=caller is not None)
    turns = {} if history is None else {"history": inputs.load_history_option(history)}
    found = {} if kb is None else inputs.open_kb_option(kb)
    run = runs.plan_run("rag", {"question": question, **turns}, options.model, **found, **settings)
    if "knowledge_base" in found:
        who = "this caller" if caller else "anybody (no --tenant, --user or --group is given)"
        run = replace(run, remarks={"documents": f"only those that {who} may read; see `guardgraph kb search`"})
    if caller is not None:
        run = replace(run, context={"caller": caller.model_dump()})
    run_and_exit(run, as_json)


app.command()(research)


@app.command()
@spread_options
def critique(
    *,
    context: Annotated[str | None, option("--context FILE", "The incident, JSON; the demo's if left out.")] = None,
    goal: Goal = None,
    options: RunOptions,
    kept: waiting.KeepingOptions,
    as_json: Json = False,
) -> None:
    """Draft an incident update, criticise it, revise it within bounds and audit the change."""
    incident = load_demo_incident() if context is None else inputs.read_json_option("--context", context)
    request = {"goal": CRITIQUE_GOAL if goal is None else goal, "incident_context": incident}
    run_and_exit(waiting.plan_waiting_run("self_critique", request, options, kept), as_json)


@app.command()
@spread_options
def tools(
    task: Annotated[str | None, argument("TASK", "What is to be done; the demo's if left out.")] = None,
    *,
    options: RunOptions,
    kept: waiting.KeepingOptions,
    as_json: Json = False,
) -> None:
    """Do a task with tools, of which none is called without a licence; one of the demo's files is poisoned.

    Without --policy nobody is asked about a call that the task does not support: it is refused.
    """
    request = PATTERNS["tools"].demo() if task is None else {"task": task}
    run_and_exit(waiting.plan_waiting_run("tools", request, options, kept), as_json)


@app.command()
def demo(model: Model = None, as_json: Json = False) -> None:
    """Make the demo run of each of the patterns."""
    planned = [runs.plan_run(name, pattern.demo(), model) for name, pattern in PATTERNS.items()]
    if as_json:
        results = {run.pattern.name: runs.follow_run_on_screen(run) for run in planned}
        print_json(results)
    else:
        screen = Screen()
        results = {run.pattern.name: views.print_followed_run(screen, run) for run in planned}
        views.print_commands_after_demo(screen)
    exit_after_runs(*results.values())


app.command()(graphs.verify)
app.command()(graphs.draw)
app.command()(graphs.report)


@app.command(name="reasons")
def list_reasons(
    pattern: Annotated[str | None, argument(COMMAND, "All if left out.")] = None,
    as_json: Json = False,
    markdown: Annotated[bool, option("--markdown", "Print the table of the docs.")] = False,
) -> None:
    """List every reason why a run can stop, and what to do about it."""
    if markdown and (as_json or pattern):
        raise guardgraph.ConfigurationError("--markdown: the whole table; give neither a pattern nor --json with it")
    chosen = [*PATTERNS.values()] if pattern is None else [find_shipped_pattern(pattern)]
    if None in chosen:
        allowed = f"{', '.join(COMMANDS)} or nothing"
        raise guardgraph.ConfigurationError(f"reasons: {allowed} is required; given: {pattern!r}")
    if markdown:
        from guardgraph.graphs.catalogues import catalogue_markdown  # loads Pydantic, for which help need not wait

        print(catalogue_markdown(), end="", flush=True)
        return
    found, screen = list[JsonObject](), Screen()
    for catalogue in (each.catalogue for each in chosen if each is not None):
        rows = []
        for item in catalogue:
            row: JsonObject = {"pattern": catalogue.pattern, "reason": item.reason, "family": item.family}
            row |= {"phases": [*item.phases], "meaning": item.meaning, "advice": item.advice}
            found.append({**row, "defensive": item.defensive, "asked_again": item.again})
            mark, again = " (defensive)" if item.defensive else "", "; asked again" if item.again else ""
            rows.append((f"{item.reason}{mark}\n  {', '.join(item.phases)}{again}", f"{item.meaning}\n{item.advice}"))
        if not as_json:
            screen.print_heading(f"{catalogue.pattern}: {len(catalogue.reasons)} reasons")
            screen.print_table(("Reason, and where", "Meaning, and what to do"), rows)
    if as_json:
        print_json(found)


@app.command()
def prompts(
    to: Annotated[str, option("--to FOLDER", "Where they are written.")],
    pattern: Annotated[str, option(f"--pattern {COMMAND}", "Whose.")] = "rag",
) -> None:
    """Write out what the models of an agent are told, to be changed and given to its factory as `prompts`."""
    from guardgraph.world.prompts import write_prompts  # loads LangChain, for which help need not wait

    if pattern not in COMMANDS:
        raise guardgraph.ConfigurationError(f"--pattern: {', '.join(COMMANDS)} is required; given: {pattern!r}")
    for path in write_prompts(Path(inputs.check_path_option("--to", to)), pattern):
        Screen().print_text(str(path), indent=0)

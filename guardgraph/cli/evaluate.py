"""`guardgraph evaluate`: an agent is asked the questions of a dataset, for a person and for CI."""

from __future__ import annotations

import json
from typing import Annotated

import typer

import guardgraph
from guardgraph.cli import graphs, inputs
from guardgraph.cli.policies import load_candidate_policy_option
from guardgraph.cli.screen import Screen
from guardgraph.cli.shell import OK, STOPPED
from guardgraph.cli.what_if import read_store_option
from guardgraph.plain.errors import ConfigurationError


def evaluate(
    agent: Annotated[str, typer.Argument(metavar="MODULE:FACTORY", help="Makes the agent.", show_default=False)],
    dataset: Annotated[
        str, typer.Argument(metavar="FILE", help="A .jsonl file with an object a line.", show_default=False)
    ],
    *,
    policy: Annotated[
        str | None,
        typer.Option("--policy", metavar="FILE", help="What the factory is given: YAML or TOML.", show_default=False),
    ] = None,
    recordings: Annotated[
        str | None,
        typer.Option(
            "--recordings",
            metavar="URL|FILE",
            help="A store, or a .jsonl file with a recording a line: decide these again and call nothing.",
            show_default=False,
        ),
    ] = None,
    fail_under: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-under", metavar="RATE=SHARE", help="Such as answered=0.9; more than once.", show_default=False
        ),
    ] = None,
    at_once: Annotated[int, typer.Option("--at-once", metavar="N", min=1, help="Runs at work at once.")] = 4,
    out: Annotated[
        str | None, typer.Option("--out", "-o", metavar="FILE", help="A page, ends in .html.", show_default=False)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document, row by row.")] = False,
) -> None:
    """Ask an agent every row of a dataset, and hold what it answers against what the row expects.

    A row has the agent's input fields, such as question, and what is expected: ending (ok, ok:clarify,
    stopped:source_denied), facts, citations; and an id.

    RATE is answered, ending, facts, citations or passed, SHARE from 0 to 1; a lower rate ends with exit code 3.
    """
    from guardgraph.evidence.what_if import load_candidate_agent

    inputs.load_dotenv_file()
    least = dict(_parse_fail_under(text) for text in fail_under or ())
    graph = load_candidate_agent(agent, **({} if policy is None else load_candidate_policy_option(agent, policy, None)))
    runs = None if recordings is None else read_store_option(recordings, option="--recordings")
    evaluation = guardgraph.evaluate(graph, dataset, recordings=runs, max_concurrency=at_once)
    low = evaluation.find_low_rates(least)
    if out is not None:
        graphs.save_out_option(guardgraph.report(evaluation), out)
    if as_json:
        print(json.dumps({**evaluation.plain(), "low": low}, indent=2), flush=True)
    else:
        screen = Screen()
        for line in evaluation.table().splitlines():
            screen.print_text(line, indent=0)
        for name, rate in low.items():
            screen.print_text((f"--fail-under {name}={least[name]:g}: {rate:.1%}", "red"), indent=0)
    raise typer.Exit(STOPPED if low else OK)


def _parse_fail_under(text: str) -> tuple[str, float]:
    from guardgraph.evidence.evaluation import RATES

    name, _, share = text.partition("=")
    try:
        least = float(share)
    except ValueError:
        least = -1.0
    if name not in RATES or not 0 <= least <= 1:
        raise ConfigurationError(
            f"--fail-under: {', '.join(RATES)} with a share from 0 to 1 is required, such as answered=0.9;"
            f" given: {text!r:.80}"
        )
    return name, least

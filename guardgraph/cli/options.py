"""How options and arguments of commands are declared, and those that several commands have."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from guardgraph.graphs.patterns import COMMANDS

VARIABLE = "GUARDGRAPH_AUDIT"  # the variable of the environment that names a store where no option does
COMMAND = "|".join(COMMANDS)
GRAPH = f"{COMMAND}|MODULE:FACTORY"  # a graph of ours, or one that a user's factory makes


def option(names: str, help: str, **how: Any) -> Any:
    """Declare an option by its names and what stands for its value, such as ``--out -o FILE``."""
    parts = names.split()
    metavar = "".join(part for part in parts if not part.startswith("-")) or None
    return typer.Option(*(part for part in parts if part.startswith("-")), metavar=metavar, help=help, **how)


def argument(metavar: str, help: str) -> Any:
    """Declare an argument by what stands for it in the usage line."""
    return typer.Argument(metavar=metavar, help=help)


Json = Annotated[bool, option("--json", "Print one JSON document and nothing else.")]
Run = Annotated[str, argument("RUN", "The run's id.")]
Store = Annotated[str | None, option("--store URL", f"The store; {VARIABLE} if left out.")]
KeptRuns = Annotated[
    str | None,
    option("--store URL|FILE", f"Kept runs: a store, or a .jsonl file with one a line; {VARIABLE} if left out."),
]
Pattern = Annotated[str | None, option("--pattern NAME", "Runs of this pattern.")]
Since = Annotated[str | None, option("--since WHEN", "Recorded since then: 30d, 12h or ISO 8601, UTC.")]
GivenPolicy = Annotated[str | None, option("--policy FILE", "What the factory is given: YAML.")]
PageFile = Annotated[str | None, option("--out -o FILE", "A page, ends in .html.")]

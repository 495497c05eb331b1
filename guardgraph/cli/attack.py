"""`guardgraph attack`: hostile runs of an agent, what came of them, and which mutants its tests let through."""

from __future__ import annotations

from typing import Annotated, Any

from guardgraph.cli import inputs
from guardgraph.cli.options import Json, argument, option
from guardgraph.cli.shell import Screen, exit_with_status, print_json
from guardgraph.plain.errors import ConfigurationError


def attack(
    target: Annotated[str, argument("MODULE:FACTORY", "Makes the agent for an attacker.")],
    *,
    runs: Annotated[int, option("--runs N", "How many runs, up to 100,000.")] = 2000,
    seed: Annotated[int, option("--seed N", "The same seed makes the same runs.")] = 0,
    tests: Annotated[str | None, option("--tests COMMAND", "Of pytest: run with each mutant of the guards.")] = None,
    write: Annotated[str | None, option("--write FILE", "A .py file: a test for pytest of each finding.")] = None,
    as_json: Json = False,
) -> None:
    """Attack an agent: hostile models, poisoned results, cut streams; exit code 3 if something came of it.

    FACTORY takes `attacker` and returns the compiled graph and a request: attacker.model is the agent's model,
    attacker.tools([...]) are its tools. Nothing leaves this machine.
    """
    # loads LangGraph, for which help need not wait
    from guardgraph.testing.attack.attack import attack_agent, format_test_file
    from guardgraph.testing.attack.mutants import MUTANTS, try_mutants

    if write is not None and not inputs.check_path_option("--write", write).endswith(".py"):
        raise ConfigurationError(f"--write: a file that ends in .py is required; given: {write!r:.200}")
    with inputs.show_run_counter() as progress:
        report = attack_agent(target, runs=runs, seed=seed, progress=progress)
    mutants = None if tests is None else try_mutants(tests)
    if write is not None and report.found:
        inputs.write_option_file("--write", write, format_test_file(report).encode(errors="backslashreplace"))
    is_ok = not report.found and "unnoticed" not in (mutants or {}).values()
    if as_json:
        print_json({**report.plain(), **({} if mutants is None else {"mutants": mutants})})
        exit_with_status(is_ok)
    screen = Screen()
    screen.print_text(f"{report.target}: {report.runs} runs, seed {report.seed}, {report.seconds:.0f} s", indent=0)
    screen.print_heading("Endings")
    for name, count in report.endings.most_common():
        screen.print_columns(f"{count}", name, at=8)
    if report.never:
        screen.print_text(f"never reached: {', '.join(report.never)}", hang=2)
    if report.unruled:
        counted = ", ".join(f"{name} {count}" for name, count in report.unruled.most_common())
        screen.print_text(f"performed, and named by no rule: {counted}", hang=2)
    if report.refused_hosts:
        screen.print_text(f"refused the network: {', '.join(report.refused_hosts)}", hang=2)
    screen.print_heading("Findings")
    for found in report.found.values():
        said: list[Any] = [(found.kind, "red"), f": {found.said}"]
        screen.print_text(*said, f" ({found.runs} runs, {len(found.smallest['moves'])} moves at least)", hang=2)
    if not report.found:
        screen.print_text(("none", "green"))
    if mutants is not None:
        screen.print_heading("Mutants")
        for name, verdict in mutants.items():
            style = "red" if verdict == "unnoticed" else "dim" if verdict == "unused" else "green"
            screen.print_columns((f"{name}: {verdict}", style), MUTANTS[name], at=24)
    exit_with_status(is_ok)

"""Findings as tests: a file for pytest that makes the smallest run of each finding again."""

from __future__ import annotations

import pprint
import re

from guardgraph.plain.errors import InputError
from guardgraph.plain.json import JsonObject
from guardgraph.testing.attack.attack import AttackReport, build_attacked_agent, isolate

_WIDTH = 120


def assert_withstands(target: str, run: JsonObject) -> None:
    """Make a run of an attack again, without a network, and check that nothing comes of it that must not.

    Args:
        target: ``module:factory`` of the agent; see `Attacker`.
        run: ``request``, ``moves`` (what the model, the caller and the person did) and ``results`` (what tools
            brought), as ``guardgraph attack --write`` wrote it.

    Raises:
        AssertionError: something does; it says what.
        InputError: the run is none.
        ConfigurationError: there is no such factory.
    """
    if not isinstance(run, dict) or not {"request", "moves", "results"} <= run.keys():
        raise InputError(f"run: request, moves and results are required; given: {run!r:.80}")
    with isolate([]):
        found = build_attacked_agent(target, "assert_withstands").repeat_run(run)
    if found:
        raise AssertionError("; ".join(f"{each.kind}: {each.said}" for each in found))


def format_test_file(report: AttackReport) -> str:
    """Return the text of a file of tests, one for each finding; they fail as long as the finding stands."""
    lines = [f'"""What an attack on {report.target} found; each test fails as long as the finding stands."""\n']
    lines += ["from guardgraph.testing import assert_withstands\n"]
    for number, found in enumerate(report.found.values(), 1):
        name = re.sub(r"\W+", "_", f"{found.kind}_{found.at}").strip("_").lower()
        said = found.said.replace("\\", "/").replace('"', "'")
        shown = pprint.pformat(found.smallest, width=_WIDTH - 8, sort_dicts=False)
        body = "\n".join(f"    {line}" for line in f"run = {shown}".splitlines())
        asserted = f"    assert_withstands({report.target!r}, run)\n"
        lines.append(f'\ndef test_{number}_{name}():\n    """{said[:400]}"""\n{body}\n{asserted}')
    return "\n".join(lines)

"""The registry of shipped patterns: an entry says all that the rest of the package knows of a pattern."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from cli_runs import run

import guardgraph
from guardgraph.graphs.patterns import COMMANDS, PATTERNS

EVERY_PATTERN = pytest.mark.parametrize("pattern", PATTERNS.values(), ids=lambda item: item.name)


@EVERY_PATTERN
def test_the_demo_of_a_pattern_ends_well(pattern):
    """The factory of an entry makes its agent, whose demo ends with an outcome that the entry explains."""
    agent = pattern.create_agent()
    assert guardgraph.verify(agent) == []
    given = pattern.demo()
    result = agent.invoke(given)
    assert (result["status"], result["outcome"] in pattern.outcomes) == ("ok", True)
    assert pattern.read_request(given).strip()


@EVERY_PATTERN
def test_an_entry_has_its_catalogue(pattern):
    """The catalogue has the name of the entry, and the public catalogues are those of the entries, in order."""
    assert pattern.catalogue.pattern == pattern.name
    assert guardgraph.CATALOGUES[pattern.name] is pattern.catalogue
    assert list(guardgraph.CATALOGUES) == list(PATTERNS)


@EVERY_PATTERN
def test_the_command_line_knows_every_pattern(pattern):
    """Help names the command of an entry wherever a pattern is asked for, and lists its reasons by either name."""
    assert re.search(f"Usage: .* {pattern.command} ", run(pattern.command, "--help").stdout)
    for command in ("draw", "report", "reasons"):
        assert "|".join(COMMANDS) in run(command, "--help").stdout
    assert run("reasons", pattern.name).stdout == run("reasons", pattern.command).stdout


def test_the_registry_is_read_at_no_cost():
    """Names and commands are known without LangGraph, Pydantic or any pattern's own modules."""
    code = "import sys, guardgraph.graphs.patterns; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300)
    loaded = done.stdout.split()
    assert not {"langgraph", "langchain_core", "pydantic", "guardgraph.state.rag"} & {*loaded}

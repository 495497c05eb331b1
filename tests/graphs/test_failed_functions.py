"""A function of a user's that fails: the result names its file, line and name, and the log has the traceback."""

from __future__ import annotations

import argparse
import json
import logging
from pathlib import Path

import pytest
from langchain_core.runnables import RunnableLambda
from rag_agents import QUESTION, agent
from runs import BOTH, run
from ticket_pattern import TICKET, triage

from guardgraph import ConfigurationError
from guardgraph.grammar import Call
from guardgraph.plain.log import locate_failure, log_failure

HERE = Path(__file__)
SECRET = "password=hunter2"


def raises(request):
    """Fail inside of a library."""
    return json.loads("{" + SECRET)  # FAILS HERE


def line_of(mark):
    """Return the number of the line of this file that ends with a mark."""
    return next(at for at, line in enumerate(HERE.read_text("utf-8").splitlines(), 1) if line.endswith(f"# {mark}"))


AT = {"file": HERE.name, "line": line_of("FAILS HERE"), "function": "raises"}


async def araises(request):
    """Fail as an async function does."""
    raises(request)


class Raises:
    """A tool that is an object."""

    def __call__(self, request):
        """Fail."""
        raises(request)


FUNCTIONS = {
    "a function": raises,
    "an async function": araises,
    "an object": Raises(),
    "a Runnable": RunnableLambda(raises),
}


@pytest.mark.paired
@pytest.mark.parametrize("mode", BOTH)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_tool_that_fails_is_named_by_its_own_line(name, mode, caplog):
    """Not by the line of the library that it called; the log has the way there."""
    tool = FUNCTIONS[name]
    if name == "an async function" and mode not in ("ainvoke", "astream"):
        pytest.skip("an async function of a sync run is run as one")
    result = run(triage(tool=tool), TICKET, mode)
    assert (result["stop_reason"], result["details"]["at"]) == ("tool_invalid_output:lookup", AT)
    [record] = [record for record in caplog.records if record.name == "guardgraph"]
    assert (record.levelno, "decoder.py" in record.getMessage()) == (logging.WARNING, True)


def fails_in_guard(state, run):
    """Fail in a body that calls nobody."""
    return raises(state)


def fails_in_act(state, run):
    """Fail after a call."""
    yield Call("tool", lambda request: "Ada", {})
    raises(state)


@pytest.mark.parametrize(
    ("node", "body"),
    [("label_guard", fails_in_guard), ("lookup", fails_in_act), ("routed", fails_in_guard), ("lookup", fails_in_guard)],
)
def test_a_body_that_fails_is_named(node, body, caplog):
    """In a guard, a node that calls and an ending."""
    result = triage(bodies={node: body}).invoke(TICKET)
    assert (result["stop_reason"], result["details"]["at"]) == (f"guard_error:{node}", AT)
    assert [record.guardgraph_node for record in caplog.records] == [node]


def test_the_log_has_no_credentials_and_the_result_no_folders(caplog):
    """Messages, lines of code and causes are masked in the log; a place is the end of a path."""
    try:
        try:
            raise ValueError("password=hunter2")
        except ValueError as error:
            raise RuntimeError("after that") from error
    except RuntimeError as error:
        log_failure("it failed", error)
        place = locate_failure(error)
    assert caplog.text.count("password=[key]") >= 2
    assert ("hunter2" in caplog.text, place["file"]) == (False, HERE.name)


def test_a_log_that_fails_changes_no_run():
    """Whatever a filter of somebody's does."""

    def broken(record):
        raise ConfigurationError("no")

    logger = logging.getLogger("guardgraph")
    logger.addFilter(broken)
    try:
        result = triage(tool=raises).invoke(TICKET)
    finally:
        logger.removeFilter(broken)
    assert result["stop_reason"] == "tool_invalid_output:lookup"


class Leaving(BaseException):
    """Something of a library's own that is below `BaseException`."""


def leaves(request):
    """End the process, as argparse does for a value that it does not know."""
    argparse.ArgumentParser(prog="tool").parse_args(["--what-a-model-said"])


def raises_leaving(request):
    """Raise what no `except Exception` catches."""
    raise Leaving("gone")


async def aleaves(request):
    """End the process as an async function does."""
    leaves(request)


LEAVING = {
    "an exit": (leaves, "SystemExit"),
    "a class of its own": (raises_leaving, "Leaving"),
    "an async exit": (aleaves, "SystemExit"),
}


@pytest.mark.paired
@pytest.mark.parametrize("mode", BOTH)
@pytest.mark.parametrize("name", LEAVING)
def test_a_tool_that_would_end_the_process_has_failed(name, mode):
    """A server has other runs: `SystemExit` of a tool, a proposer or a guard is its own failure."""
    called, raised = LEAVING[name]
    result = run(triage(tool=called), TICKET, mode)
    assert (result["stop_reason"], result["details"]["type"]) == ("tool_invalid_output:lookup", raised)
    result = run(agent(called, None), QUESTION, mode)
    assert (result["status"], result["phase"], result["details"]["type"]) == ("stopped", "plan", raised)
    if called is not aleaves:
        result = run(triage(bodies={"label_guard": lambda state, run: called(state)}), TICKET, mode)
        assert result["stop_reason"] == "guard_error:label_guard"


@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
def test_whoever_stops_the_process_by_hand_stops_it(mode):
    """Ctrl-C is nobody's failure."""

    def interrupted(request):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(triage(tool=interrupted), TICKET, mode)

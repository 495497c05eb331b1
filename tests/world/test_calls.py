"""Calls to the outside: under a deadline, sync and async, and whatever happens comes back as an outcome."""

import asyncio
import time
from datetime import date

import pytest
from hanging import PROMPTLY, async_hang, hang, released
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda
from langgraph.errors import GraphInterrupt, ParentCommand
from langgraph.types import Command
from pydantic import BaseModel

from guardgraph import InputError
from guardgraph.plain.conversion import parse_expected_failure
from guardgraph.plain.errors import ExpectedFailure
from guardgraph.world.call import Call
from guardgraph.world.live import aperform_call, perform_call

nobody_hangs_on = pytest.fixture(autouse=True)(released)


def outcome(target, mode, kind="proposer", seconds=5.0, request=None, about=None):
    call = Call(kind, target, request or {}, about or {})
    return perform_call(call, seconds) if mode == "sync" else asyncio.run(aperform_call(call, seconds))


def raising(error):
    def target(request):
        raise error

    return target


async def answer(request):
    await asyncio.sleep(0)
    return {"label": "bug"}


MODES = pytest.mark.parametrize("mode", ["sync", "async"])
TARGETS = {
    "function": lambda request: {"label": "bug"},
    "coroutine function": answer,
    "coroutine of a function": lambda request: answer(dict(request)),
    "Runnable of both": RunnableLambda(lambda request: {"label": "bug"}, afunc=answer),
}


@pytest.mark.paired
@MODES
@pytest.mark.parametrize("name", TARGETS)
def test_functions_coroutines_and_runnables_are_all_called(name, mode):
    """A function, a coroutine function, a function that returns a coroutine, a Runnable: each in both worlds."""
    came = outcome(TARGETS[name], mode)
    assert (came.form, came.content) == ("value", {"label": "bug"})


class Label(BaseModel):
    """A Pydantic form of a proposal."""

    label: str


@pytest.mark.paired
@MODES
@pytest.mark.parametrize(
    ("returned", "form", "content"),
    [
        (AIMessage('{"label": "bug"}'), "text", '{"label": "bug"}'),
        (AIMessage([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]), "text", "ab"),
        ({"raw": AIMessage("x"), "parsed": None, "parsing_error": ValueError()}, "text", "x"),
        (Label(label="bug"), "value", {"label": "bug"}),
        (None, "value", None),
    ],
)
def test_what_a_call_returns_becomes_a_text_or_a_value(returned, form, content, mode):
    """A message is a model's text; everything else is the value of a Runnable."""
    came = outcome(lambda request: returned, mode, about={"proposer": "p"})
    assert (came.form, came.content, came.about) == (form, content, {"proposer": "p"})


@MODES
def test_the_other_side_cannot_change_the_state_through_its_request(mode):
    """A request is a copy: what a tool does to it stays with the tool."""
    request = {"sources": ["a"]}
    outcome(lambda given: given["sources"].append("b"), mode, request=request)
    assert request == {"sources": ["a"]}


ERRORS = [ValueError("no"), StopIteration(), asyncio.CancelledError(), RecursionError(), OSError(5, "io"), KeyError()]


@pytest.mark.paired
@MODES
@pytest.mark.parametrize("error", ERRORS, ids=repr)
def test_whatever_a_tool_raises_is_a_failure_of_the_tool(error, mode):
    """No exception of a tool escapes, not even those that mean something else to asyncio."""
    target = raising(error)

    async def async_target(request):
        raise error

    for called in (target, async_target, RunnableLambda(target, afunc=async_target)):
        came = outcome(called, mode, "tool")
        assert (came.form, came.content["reason"]) == ("failure", "tool_error")


@pytest.mark.paired
@MODES
@pytest.mark.parametrize("error", [AssertionError("no"), MemoryError(), InputError("x"), ParentCommand(Command())])
def test_what_no_server_can_cause_is_a_tool_s_failure_but_no_model_s(error, mode):
    """A tool may fail in any way; a proposer that fails so is a defect, which its node turns into guard_error."""
    assert outcome(raising(error), mode, "tool").content["details"]["type"] == type(error).__name__
    with pytest.raises(type(error)):
        outcome(raising(error), mode, "proposer")


@MODES
@pytest.mark.parametrize("kind", ["proposer", "tool"])
@pytest.mark.parametrize("error", [GraphInterrupt(()), KeyboardInterrupt()], ids=repr)
def test_interrupts_pass_through(error, kind, mode):
    with pytest.raises(type(error)):
        outcome(raising(error), mode, kind)


@MODES
@pytest.mark.parametrize("target", [hang, async_hang, RunnableLambda(hang, afunc=async_hang)])
@pytest.mark.parametrize(("kind", "reason"), [("proposer", "llm_timeout"), ("tool", "max_seconds")])
def test_a_call_that_outlasts_the_deadline_is_left_behind(target, kind, reason, mode):
    started = time.perf_counter()
    came = outcome(target, mode, kind, seconds=0.1)
    assert time.perf_counter() - started < PROMPTLY
    details = {"cause": "timeout", "limit": "max_seconds", "seconds": 0.1}
    assert (came.form, came.content) == ("failure", {"reason": reason, "details": details})


@MODES
def test_without_time_nothing_is_called(mode):
    called = []
    for seconds in (0.0, -3.0):
        came = outcome(called.append, mode, "tool", seconds=seconds)
        assert (came.content["details"]["seconds"], called) == (0.0, [])


@MODES
def test_a_failure_that_was_to_be_expected_keeps_its_reason(mode):
    """A tool's error, raised or returned, has reason and details beside type and message; a proposer's ends the run."""
    failure = ExpectedFailure("away", {"since": date(2026, 1, 1)})
    said = {"reason": "away", "details": {"since": "2026-01-01"}}
    for fails in (lambda request: failure, raising(failure)):
        came = outcome(fails, mode, kind="tool").content
        message = "away (since: 2026-01-01)"
        assert came["details"] == {"type": "ExpectedFailure", "message": message, "expected": said}
        assert parse_expected_failure(came) == ("away", {"since": "2026-01-01"})
        with pytest.raises(ExpectedFailure):
            outcome(fails, mode)

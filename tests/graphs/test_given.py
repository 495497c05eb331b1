"""A world, a recorder and settings are held to their form when a graph is made, not in the middle of a run."""

from __future__ import annotations

import functools

import pytest
from recorded_runs import Kept
from ticket_pattern import Policy, triage

from guardgraph import ConfigurationError, LiveWorld, create_rag_agent


class Async:
    """A recorder that would have to be awaited."""

    async def record(self, run):
        """Keep nothing."""


class Calling:
    """A function that would have to be awaited, as an object."""

    async def __call__(self, run):
        """Keep nothing."""


class Holding:
    """A recorder with a record of somebody else's."""

    def __init__(self, record):
        self.record = record


class Wrapper:
    """A world that hands on to the live one."""

    def __init__(self, **own):
        self.inner = LiveWorld()
        vars(self).update(own)

    def __getattr__(self, name):
        return getattr(self.inner, name)


async def awaited(asked, seconds):
    """Bring nothing."""
    return []


def waited_for(asked, seconds):
    """Bring nothing."""
    return []


PLAIN = "a plain function is required; given: "
WRONG = {
    "an async recorder": ({"recorder": Async()}, f"recorder.record: {PLAIN}Async.record is async"),
    "an async callable": ({"recorder": Holding(Calling())}, f"recorder.record: {PLAIN}Holding.record is async"),
    "an async partial": (
        {"recorder": Holding(functools.partial(Async.record, None))},
        f"recorder.record: {PLAIN}Holding.record is async",
    ),
    "the class of a recorder": ({"recorder": Kept}, "recorder: an object is required, not its class; given: Kept"),
    "the class of a world": ({"world": LiveWorld}, "world: an object is required, not its class; given: LiveWorld"),
    "an async perform": ({"world": Wrapper(perform=awaited)}, f"world.perform: {PLAIN}Wrapper.perform is async"),
    "an async clock": ({"world": Wrapper(clock=awaited)}, f"world.clock: {PLAIN}Wrapper.clock is async"),
    "a plain aperform": (
        {"world": Wrapper(aperform=waited_for)},
        "world.aperform: a coroutine function is required; given: Wrapper.aperform is not async",
    ),
}


@pytest.mark.paired
@pytest.mark.parametrize("make", [triage, create_rag_agent])
@pytest.mark.parametrize("name", WRONG)
def test_what_could_not_work_is_refused_when_the_graph_is_made(name, make):
    """The error names the argument, the method, what is required and what was given."""
    given, message = WRONG[name]
    with pytest.raises(ConfigurationError) as raised:
        make(**given)
    assert str(raised.value) == message


@pytest.mark.parametrize("recorder", [None, Kept()], ids=["", "recorded"])
def test_settings_that_no_recording_could_hold_are_refused(recorder):
    """A policy that nobody validated is no reason to lose a recording at the end of a run without a word."""
    policy = Policy.model_construct(labels=("bug",), desks=("bug", object()))
    with pytest.raises(ConfigurationError, match=r"^policy: values that can be written as JSON are required; given: "):
        triage(policy=policy, recorder=recorder)

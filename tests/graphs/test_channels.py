"""What a pattern may call its channels and nodes, and what it may say of a channel."""

from __future__ import annotations

import operator
from typing import Annotated, NotRequired

import pytest
from langgraph.channels import BinaryOperatorAggregate, Topic
from ticket_pattern import REASONS, In, Out, Policy, State
from typing_extensions import TypedDict, get_type_hints

from guardgraph import GrammarError
from guardgraph.grammar import Budget, Pattern

SCHEMAS = {"state": State, "input": In, "output": Out}


def empty(**changed):
    """Return a pattern without nodes."""
    return Pattern(REASONS, **{**SCHEMAS, "policy": Policy(), "budget": Budget(), **changed})


def with_channel(field, name, hint):
    """Return a schema of the pattern with one channel more, by its field."""
    return {field: TypedDict("Wider", {**get_type_hints(SCHEMAS[field], include_extras=True), name: hint})}


def end(state, run):
    """End."""
    return {"outcome": "done"}


NAMES = ["branch:to:done", "__start__", "__pregel_tasks", "a:b"]


@pytest.mark.paired
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("field", ["state", "input", "output"])
def test_a_channel_has_no_name_of_langgraphs_own(field, name):
    """What is written to `branch:to:<node>` starts that node, so no state, input or output may have such a channel."""
    with pytest.raises(GrammarError, match=rf"^{field}: a name without ':' .+ for a channel; given: '{name}'$"):
        empty(**with_channel(field, name, NotRequired[str]))


@pytest.mark.parametrize("name", [*NAMES, 7])
def test_a_node_has_no_name_of_langgraphs_own(name):
    """A node's name stands in the names of channels, so it is a plain one."""
    with pytest.raises(GrammarError, match=rf"^node {name!r}: a name without ':' that does not begin with '__' is "):
        empty().terminal(name, end, phase="lookup", reads=[], writes=["outcome"])


UNWRITABLE = ["", " ", "a\x00b", "a\nb", "\x1b[31m", "a\x85", "a\ud800"]


@pytest.mark.paired
@pytest.mark.parametrize("name", UNWRITABLE)
@pytest.mark.parametrize("field", ["state", "input", "output"])
def test_a_channel_has_a_name_that_can_be_written(field, name):
    """A recording, a log and a page show the name, so it is neither blank nor has it control characters."""
    with pytest.raises(GrammarError) as raised:
        empty(**with_channel(field, name, NotRequired[str]))
    allowed = "a name that is not blank and has no control characters is required for a channel"
    assert str(raised.value) == f"{field}: {allowed}; given: {name!r}"


@pytest.mark.parametrize("name", UNWRITABLE)
def test_a_node_has_a_name_that_can_be_written(name):
    """A node's name stands in every result."""
    with pytest.raises(GrammarError) as raised:
        empty().terminal(name, end, phase="lookup", reads=[], writes=["outcome"])
    assert str(raised.value) == f"node {name!r}: a name that is not blank and has no control characters is required"


REDUCERS = [
    (Annotated[list, operator.add], "add"),
    (NotRequired[Annotated[list, operator.add]], "add"),
    (Annotated[NotRequired[Annotated[list, operator.add]], "with a comment"], "add"),
    (Annotated[list, Topic(str)], "Topic"),
    (Annotated[int, BinaryOperatorAggregate(int, operator.add)], "BinaryOperatorAggregate"),
]


@pytest.mark.paired
@pytest.mark.parametrize(("hint", "shown"), REDUCERS)
@pytest.mark.parametrize("field", ["state", "input", "output"])
def test_a_reducer_is_refused_wherever_it_is_declared(field, hint, shown):
    """A reducer never vanishes silently, not even on a raw channel, an input or an output: the channel is named."""
    with pytest.raises(GrammarError, match=rf"the channel seen has a reducer.+; {field}: a plain type .+: {shown}$"):
        empty(**with_channel(field, "seen", hint))

"""What a node body is: a function of the state and the run that returns what to write.

A body that needs something from outside yields a `Call` and is sent back the `Outcome`; how the call is made, under
which deadline, sync or async, is none of its business. A guard's body returns a `Pass` or raises a `Stop`; any other
body returns a dictionary of channels. A propose or act body that may not go on raises a `Stop` too: the guard behind
it carries it out.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeAlias

from guardgraph.state.context import Caller
from guardgraph.state.json import JsonObject
from guardgraph.state.outcome import Outcome
from guardgraph.state.settings import BudgetT, PolicyT
from guardgraph.world.call import Call

__all__ = ["Body", "Pass", "Run", "Step", "Steps", "Writes"]

Writes: TypeAlias = "Mapping[str, Any]"
"""Channels and their new values."""


@dataclass(frozen=True, slots=True)
class Run(Generic[PolicyT, BudgetT]):
    """What a body knows of the run beside the state, read anew at every node, so that a resume is judged anew."""

    policy: PolicyT
    """The deployment's policy, tightened by the run's context."""
    budget: BudgetT
    """The deployment's budget, tightened by the run's context."""
    spent_seconds: float = 0.0
    """Active time of the run before this node."""
    caller: Caller | None = None
    """Who asks, as the run's context says."""


@dataclass(frozen=True, slots=True)
class Step:
    """A completed step of the run, as monitoring and audit see it; the grammar numbers and times it."""

    trace: JsonObject
    """Numbers and names, `phase` first."""
    history: JsonObject
    """Content."""


@dataclass(frozen=True, slots=True)
class Pass:
    """A guard lets the run go on."""

    writes: Writes = field(default_factory=dict)
    to: str | None = None
    """The next node; needed when the guard has more than one way on."""
    steps: tuple[Step, ...] = ()
    """The steps that this guard completes."""


Body: TypeAlias = Callable[[Any, Run[Any, Any]], Any]
"""``(state, run) -> Writes | Pass``, or a generator that yields `Call` and returns one of them."""

Steps: TypeAlias = Generator[Call, Outcome, Any]
"""A body at work."""

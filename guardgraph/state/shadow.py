"""What a recording says of a shadow: how another agent of the pattern would have ended the same run."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypeAlias

from pydantic import Field, with_config
from typing_extensions import TypedDict

from guardgraph.state.opening import CLOSED

__all__ = ["JudgedBy", "Sha256", "Shadow", "ShadowCall", "ShadowEnding", "ShadowError"]

Sha256: TypeAlias = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
"""A hash, 64 hex digits."""


@with_config(CLOSED)
class JudgedBy(TypedDict):
    """SHA-256 of what a shadow judges by, as in `Fingerprints`."""

    policy: Sha256
    """Of its policy."""
    budget: Sha256
    """Of its budget."""
    declarations: Sha256
    """Of its nodes and its catalogue."""


@with_config(CLOSED)
class ShadowEnding(TypedDict):
    """How a shadow would have ended the run."""

    status: str
    """``ok`` or ``stopped``, or ``refused`` where it would not have let in the run's context."""
    stop_reason: str
    """Why it would have stopped; ``success`` of a good ending."""
    outcome: NotRequired[str]
    """Of a good ending: what came of it."""
    phase: NotRequired[str]
    """Of a stop: where the run was."""


@with_config(CLOSED)
class ShadowCall(TypedDict):
    """The first call of a shadow that the run did not make, or made otherwise."""

    node: str
    """The node that would call."""
    visit: NotRequired[int]
    """Which visit of the node, from 1 on; absent where no single visit is meant."""
    number: NotRequired[int]
    """Which call of the visit, from 1 on; absent where no single call is meant."""
    difference: str
    """What is not as it was recorded."""


@with_config(CLOSED)
class ShadowError(TypedDict):
    """Why a shadow did not judge."""

    type: str
    """Of what it raised."""
    message: str
    """Of what it raised, its beginning."""


@with_config(CLOSED)
class Shadow(TypedDict):
    """What another agent of the pattern makes of the same outcomes."""

    kind: Literal["same", "changed", "unknown", "unreplayable", "failed"]
    """Whether its result is that of the run, or another; whether it would have called otherwise, so that nobody knows;
    whether the recording could not be read; or whether it failed."""
    fingerprints: NotRequired[JudgedBy]
    """What it judges by, as hashes; absent where it failed before it could say."""
    ending: NotRequired[ShadowEnding]
    """Of a shadow that is same or changed: how it ends."""
    guard: NotRequired[str]
    """Of one that is changed: the guard that stops the run, or that no longer does."""
    call: NotRequired[ShadowCall]
    """Of one that is unknown: the call that differs."""
    error: NotRequired[ShadowError]
    """Of one that is unreplayable or failed: why."""

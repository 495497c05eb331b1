"""What every pattern's state and result share."""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from guardgraph.state.json import JsonObject, JsonValue

__all__ = ["Kind", "LogEntry", "Proposed", "Result", "TimelineEntry", "Verdict"]

Kind = Literal["propose", "act", "guard", "terminal"]
"""What a node is, for the grammar."""


class LogEntry(TypedDict):
    """One node that ran. A guard adds its verdict and, when it completes steps, what goes to trace and history."""

    node: str
    kind: Kind
    phase: str
    elapsed_ms: float
    verdict: NotRequired[Literal["pass", "stop"]]
    to: NotRequired[str]
    reason: NotRequired[str]
    steps: NotRequired[list[tuple[JsonObject, JsonObject]]]


class Proposed(TypedDict):
    """What a propose node wrote, kept for the record; only terminals can read it."""

    at: int
    """Place in the log."""
    channels: dict[str, str]


class TimelineEntry(TypedDict):
    """One node that ran, as results show it. Keys that do not belong to its kind are absent."""

    node: str
    kind: Kind
    phase: str
    elapsed_ms: float
    proposal: NotRequired[JsonValue]
    """Of a propose node: what it proposed, before anybody judged it; a model's text where it is no JSON."""
    failure: NotRequired[JsonObject]
    """Of a propose node that got no proposal: reason and details."""
    proposer: NotRequired[str]
    prompt: NotRequired[str]
    usage: NotRequired[JsonObject]
    verdict: NotRequired[Literal["pass", "stop"]]
    """Of a guard."""
    to: NotRequired[str]
    """Of a guard: the node that it sent the run to."""
    reason: NotRequired[str]
    """Of a guard that stopped the run: the stop reason."""
    steps: NotRequired[list[int]]
    """Of a guard: numbers of the steps in trace and history that it completed."""


class Verdict(TypedDict):
    """A stop on its way from a guard to its terminal."""

    reason: str
    phase: str
    evidence: JsonObject


class Result(TypedDict):
    """What every run returns. Keys that do not belong to the ending are absent."""

    run_id: str
    status: Literal["ok", "stopped"]
    stop_reason: str
    trace: list[JsonObject]
    history: list[JsonObject]
    path: list[str]
    timeline: list[TimelineEntry]
    phase: NotRequired[str]
    outcome: NotRequired[str]
    details: NotRequired[dict[str, Any] | JsonValue]

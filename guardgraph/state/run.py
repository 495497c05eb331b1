"""What every pattern's state and result share."""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from guardgraph.state.json import JsonObject, JsonValue

__all__ = ["Kind", "LogEntry", "Result", "Verdict"]

Kind = Literal["propose", "act", "guard", "terminal"]
"""What a node is, for the grammar."""


class LogEntry(TypedDict):
    """One node that ran. A guard that completes steps adds what goes to trace and history."""

    node: str
    kind: Kind
    elapsed_ms: float
    steps: NotRequired[list[tuple[JsonObject, JsonObject]]]


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
    phase: NotRequired[str]
    outcome: NotRequired[str]
    details: NotRequired[dict[str, Any] | JsonValue]

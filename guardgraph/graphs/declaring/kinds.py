"""The kinds of nodes, one row for each: what the grammar knows of a kind, it knows from here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from guardgraph.state.recording import CallKind
from guardgraph.state.run import Kind

RECORD_PREFIX = "calls:"
"""Before the name of a node: the channel that keeps what it called. No channel of a pattern may have a colon."""


@dataclass(frozen=True, slots=True)
class NodeKind:
    """What holds for every node of a kind."""

    calls: CallKind | None  # whom it may call; None for nobody
    at_once: bool  # whether it may make several calls, side by side or one after another
    reads: tuple[str, ...]  # channels of the grammar's own that it reads; no body sees them
    writes_raw: bool  # whether nobody has judged what it writes, which then lives for one step
    says: tuple[str, ...] = ("phase", "reads", "writes")
    """What has to be said of it, beside its body or in the pattern."""
    is_text: bool = False  # whether all that it writes is JSON text


KINDS: Mapping[Kind, NodeKind] = MappingProxyType(
    {
        "propose": NodeKind("proposer", False, ("run", "log"), True, is_text=True),
        "act": NodeKind("tool", True, ("run", "log"), True),
        "review": NodeKind("person", False, ("run", "log"), True),
        "guard": NodeKind(None, False, ("run", "log", "route", "refusal"), False, ("phase", "reads")),
        "terminal": NodeKind(None, False, ("run", "log", "given", "verdict", "route"), False),
    }
)
"""Every kind of node."""

CALLING = tuple(kind for kind, row in KINDS.items() if row.calls is not None)
"""Kinds of nodes that call out, and so spend the run's time."""


def name_record_channel(node: str) -> str:
    """Return the channel that keeps what a node called."""
    return f"{RECORD_PREFIX}{node}"

"""The opening of a session: since when it lasts, under which context, and who asks.

The first node that runs in it writes it into the log, so it is part of what is recorded.
"""

from __future__ import annotations

from typing import NotRequired

from pydantic import with_config
from typing_extensions import TypedDict

from guardgraph.plain.json import JsonValue
from guardgraph.state.forms import CLOSED, Moment


@with_config(CLOSED)
class Asking(TypedDict):
    """Who asks, as plain JSON; see `guardgraph.state.context.Caller`."""

    tenant: str | None
    """The organisation for which the user asks."""
    user: str | None
    """The user's identity."""
    groups: list[str]
    """The groups that the user belongs to."""


@with_config(CLOSED)
class Opening(TypedDict):
    """What holds from here on, until a run is resumed: written by the first node that runs in a process."""

    started_at: Moment
    """UTC, ISO 8601."""
    context: JsonValue
    """The context as it was given, None for none."""
    caller: Asking | None
    """Who asked, where LangGraph's server says it; else the context does."""
    carried: float
    """Seconds that an attempt took which was cancelled or interrupted before it could write anything."""
    resumable: bool
    """Whether a checkpointer keeps the run."""
    refused: NotRequired[str]
    """What a context that cannot be read raised, as a packed outcome; every node was closed by it."""

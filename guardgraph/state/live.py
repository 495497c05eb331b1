"""What a run read of a live policy, who changed that last, and why it could not be read."""

from __future__ import annotations

from typing import NotRequired

from pydantic import with_config
from typing_extensions import TypedDict

from guardgraph.plain.json import JsonObject
from guardgraph.state.forms import CLOSED, Sha256


@with_config(CLOSED)
class Unreadable(TypedDict):
    """Why a live policy could not be read."""

    type: str
    """Of what was raised."""
    message: str
    """Of what was raised, its beginning."""


@with_config(CLOSED)
class Switch(TypedDict):
    """Who changed a live policy last."""

    by: str
    """Who it was, in their own words."""
    why: str
    """Why, in theirs."""
    at: NotRequired[str]
    """When, as ISO 8601."""


@with_config(CLOSED)
class LiveReading(TypedDict):
    """What a node read of the live policy: it tightens the policy as long as the node is at work."""

    version: NotRequired[Sha256]
    """SHA-256 of what it says, as canonical JSON; absent where it has never been read."""
    policy: NotRequired[JsonObject]
    """The fields that it sets; absent where the reading before in the run has the same version."""
    switched: NotRequired[Switch]
    """Who changed it last, where it says so; absent as `policy` is."""
    unreadable: NotRequired[Unreadable]
    """Why it could not be read this time; with `version`, what was read before still counts."""

"""The record of a run: what was asked, what came back, what the clock said, and what was decided on it.

`FORMAT` is the version of its form. Everything in it is plain JSON, so that it can be kept anywhere;
`docs/recording.md` explains it field by field.
"""

from __future__ import annotations

from typing import Literal, NotRequired, Protocol, TypeAlias

from typing_extensions import TypedDict

from guardgraph.state.json import JsonObject, JsonValue
from guardgraph.state.run import Kind, Opening

__all__ = ["FORMAT", "CallKind", "CallRecord", "Fingerprints", "RecordedVisit", "Recorder", "Recording", "VisitRecord"]

FORMAT = 1
"""The version of the form of a recording."""

CallKind: TypeAlias = Literal["proposer", "tool", "person"]
"""Who is called."""


class CallRecord(TypedDict):
    """One call, and what came back."""

    number: int
    """Which call of the visit, from 1 on."""
    kind: CallKind
    request: str
    """SHA-256 of the request as canonical JSON, together with the proposer's name and the hash of its prompt."""
    proposer: NotRequired[str]
    prompt: NotRequired[str]
    """The prompt's name and hash, ``name@hash``."""
    outcome: str
    """The packed outcome: JSON text of ``[form, content, about]``; failures and timeouts too."""
    seconds: float


class VisitRecord(TypedDict):
    """What a node called when it was visited; kept in a channel that only terminals read."""

    at: int
    """Place in the log."""
    calls: list[CallRecord]
    answers: NotRequired[list[JsonValue]]
    """What a body was answered that interrupted the run by itself, instead of calling a person."""
    wrote: NotRequired[dict[str, str | int]]
    """Of a propose node: its raw channels, each a text or the number of the call whose outcome it holds."""


class RecordedCall(CallRecord):
    """A call in a recording."""

    node: str
    visit: int
    """Which visit of the node, from 1 on."""


class RecordedVisit(TypedDict):
    """A node that ran."""

    node: str
    kind: Kind
    clock: list[float]
    """Readings of the clock, in seconds: the one that time counts from, the node's first, others, its last."""
    opening: NotRequired[Opening]
    answers: NotRequired[list[JsonValue]]
    """What a body was answered that interrupted the run by itself."""


class Fingerprints(TypedDict):
    """SHA-256 of what a run was judged by."""

    policy: str
    budget: str
    declarations: str
    prompts: str


class Recording(TypedDict):
    """A finished run, with all that is needed to decide it again."""

    format: int
    guardgraph: str
    """The version that made it."""
    pattern: str
    graph: str
    """The graph's name."""
    run_id: str
    input: JsonObject
    """As the door let it in."""
    policy: JsonObject
    """The deployment's, not yet tightened by the context."""
    budget: JsonObject
    fingerprints: Fingerprints
    visits: list[RecordedVisit]
    calls: list[RecordedCall]
    result: JsonObject


class Recorder(Protocol):
    """Whoever keeps finished runs."""

    def record(self, run: Recording) -> JsonValue:
        """Keep a run that has ended; it is called in the terminal's step, before the result is returned.

        Returns:
            A receipt, or None.
        """

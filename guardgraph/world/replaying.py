"""The replaying world: it gives back what a recording holds, and reaches nothing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from guardgraph.state.errors import InputError, NotRecorded
from guardgraph.state.json import JsonValue
from guardgraph.state.outcome import Outcome
from guardgraph.state.plain import NotJson
from guardgraph.state.recording import RecordedCall, Recording
from guardgraph.world.call import Asked, Performed
from guardgraph.world.raised import RAISED, reraised

__all__ = ["ReplayingWorld"]


class ReplayingWorld:
    """The world of one recorded run.

    It never calls a target, so it cannot connect to anything.

    Args:
        recording: of a run.

    Raises:
        InputError: what a call brought back cannot be read.
    """

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._calls = {
            (call["node"], call["visit"], call["number"]): (call, _performed(at, call))
            for at, call in enumerate(recording["calls"])
        }
        self._readings: Sequence[float] = ()
        self._read = 0

    def turn_to(self, readings: Sequence[float]) -> None:
        """Let the clock say what it said while a node was at work."""
        self._readings, self._read = readings, 0

    def clock(self) -> float:
        """Return the next recorded reading; the last one again where there are no more."""
        at = min(self._read, len(self._readings) - 1)
        self._read += 1
        return self._readings[at]

    def calendar(self) -> datetime:
        """Return when the recorded run began."""
        for visit in self._recording["visits"]:
            if "opening" in visit:
                return datetime.fromisoformat(visit["opening"]["started_at"])
        return datetime.fromtimestamp(0, UTC)

    def new_run(self) -> str:
        """Return the recorded run's id."""
        return self._recording["run_id"]

    def perform(self, asked: Sequence[Asked], seconds: float) -> list[Performed]:
        """Return what the same calls brought in the recorded run.

        Raises:
            NotRecorded: a call was not made there, or asked for something else.
        """
        found = [self._found(item) for item in asked]
        for performed in found:
            if (error := reraised(performed.outcome)) is not None:
                raise error
        return found

    async def aperform(self, asked: Sequence[Asked], seconds: float) -> list[Performed]:
        """Return what the same calls brought in the recorded run; see `perform`."""
        return self.perform(asked, seconds)

    def _found(self, asked: Asked) -> Performed:
        if (found := self._calls.get((asked.node, asked.visit, asked.number))) is None:
            raise NotRecorded(asked.node, f"visit {asked.visit}, call {asked.number} was not made")
        recorded, performed = found
        if recorded["request"] != asked.request or recorded["kind"] != asked.call.kind:
            raise NotRecorded(asked.node, f"visit {asked.visit}, call {asked.number}: {_difference(recorded, asked)}")
        return performed


def _performed(at: int, call: RecordedCall) -> Performed:
    """Return what a recorded call brought back."""
    try:
        outcome = Outcome.unpacked(call["outcome"])
    except NotJson as error:
        raise _wrong(at, f"JSON text of [form, content, about] is required, {error}") from None
    if outcome.form == "failure" and not _is_failure(outcome.content):
        raise _wrong(at, "a failure has a reason and details")
    return Performed(outcome, call["seconds"], call["outcome"])


def _is_failure(content: JsonValue) -> bool:
    match content:
        case {"reason": str(reason), "details": dict(details)}:
            return reason != RAISED or all(isinstance(details.get(name), str) for name in ("type", "message"))
    return False


def _wrong(at: int, why: str) -> InputError:
    return InputError(f"recording.calls.{at}.outcome: {why}")


def _difference(recorded: RecordedCall, asked: Asked) -> str:
    """Say what of a call is not as it was recorded."""
    pairs = [
        ("kind", recorded["kind"], asked.call.kind),
        ("proposer", recorded.get("proposer"), asked.call.about.get("proposer")),
        ("prompt", recorded.get("prompt"), asked.call.about.get("prompt")),
    ]
    said = [f"its {what} was {before!r:.80}, and is {now!r:.80}" for what, before, now in pairs if before != now]
    return "; ".join(said) or f"its request was {recorded['request'][:12]}, and is {asked.request[:12]} (SHA-256)"

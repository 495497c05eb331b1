"""The replaying world: it gives back what a recording holds, and reaches nothing.

A recorded outcome counts only where it is what would have come back: for an identical request, within the time that
the run has, and as long as it may be. Whatever else a run asks for is `NotRecorded`. Time goes by visit by visit, as it
did then.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import accumulate
from math import inf
from typing import Any, NamedTuple

from guardgraph.plain.errors import InputError, NotRecorded
from guardgraph.plain.json import JsonObject, NotJson
from guardgraph.state.outcome import Outcome
from guardgraph.state.recording import RecordedCall, Recording
from guardgraph.state.spending import LIMITS
from guardgraph.world import live
from guardgraph.world.call import Asked, Performed
from guardgraph.world.failures import RAISED, restore_raised_exception
from guardgraph.world.spending import read_told_usage, refuse_attempt, reserve_call


class Spell(NamedTuple):
    """The time of one visit of a recorded run."""

    readings: Sequence[float]  # of the clock, in seconds; time counts from the first
    spent: float = 0.0  # seconds for which the recorded run had been active at the first
    most: float = 0.0  # seconds for which it might be active
    reply: float = inf  # bytes that a reply might have
    in_turn: bool = False  # whether calls that were made at once were made one after another


def read_visit_spells(recording: Recording) -> Iterator[Spell]:
    """Yield the time of every visit of a recorded run, in their order."""
    active, most, reply = 0.0, 0.0, inf
    for visit in recording["visits"]:
        carried = 0.0
        if (opening := visit.get("opening")) is not None:
            carried = opening["carried"]
            context = opening["context"] if isinstance(opening["context"], dict) else {}
            limits = [item for item in (recording["budget"], context.get("budget")) if isinstance(item, dict)]
            most = _get_smallest_limit(limits, "max_seconds", 0.0)
            reply = _get_smallest_limit(limits, "max_reply_bytes", inf)
        readings = visit["clock"]
        spell = Spell(readings, active + carried, most - visit.get("reserved", 0.0), reply, bool(visit.get("answers")))
        yield spell
        active = spell.spent + (readings[-1] - readings[0])


def _get_smallest_limit(limits: list[Any], name: str, default: float) -> float:
    """Return what holds of a limit that the deployment and the context may both name: the smaller one."""
    given = [limit for item in limits if isinstance(limit := item.get(name), int | float)]
    return min(given, default=default)


class ReplayingWorld:
    """The world of one recorded run."""

    def __init__(self, recording: Recording, *, assume: bool = False, alike: bool = True) -> None:
        self._recording, self._assume, self._alike = recording, assume, alike
        self._calls = {
            (call["node"], call["visit"], call["number"]): (call, _read_recorded_call(at, call))
            for at, call in enumerate(recording["calls"])
        }
        self.recorded_calls = {place: call for place, (call, _) in self._calls.items()}
        """The calls of the run, by node, visit and number."""
        self.unasked = [call for call in recording["calls"] if call.get("unasked")]
        """Writes that no node asks for, since they were made before the run was resumed."""
        self.forked_from = recording.get("forked_from")  # of a fork: from which run it went on
        self._spell = Spell(())
        self._read = 0
        self._saved = 0.0  # seconds by which calls of this visit were over earlier than in the recorded run

    def turn_to_spell(self, spell: Spell) -> None:
        """Let the clock say what it said while a node was at work."""
        self._spell, self._read, self._saved = spell, 0, 0.0

    def clock(self) -> float:
        """Return the next recorded reading; the last one again where there are no more."""
        at, readings = self._read, self._spell.readings
        self._read = at + 1
        return (readings[at] if at < len(readings) else readings[-1]) - self._saved

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
        """Return what the same calls brought in the recorded run, as far as the run has the time for it."""
        found = [self._check_reply_size(item, self._find_recorded_call(item)) for item in asked]
        found = self._check_call_seconds(asked, found, seconds)
        for performed in found:
            if (error := restore_raised_exception(performed.outcome)) is not None:
                raise error
        return found

    async def aperform(self, asked: Sequence[Asked], seconds: float) -> list[Performed]:
        """Return what the same calls brought in the recorded run; see `perform`."""
        return self.perform(asked, seconds)

    def _get_clock_reading(self, at: int) -> float:
        readings = self._spell.readings
        return readings[min(at, len(readings) - 1)]

    def _find_recorded_call(self, asked: Asked) -> Performed:
        if (found := self._calls.get((asked.node, asked.visit, asked.number))) is None:
            raise _make_call_not_recorded(asked, "was not made")
        recorded, performed = found
        if recorded["request"] == asked.request and recorded["kind"] == asked.call.kind:
            if performed.at_once != asked.at_once:  # the clock tells how long all of them took
                counts = (performed.at_once or 1, asked.at_once)
                then, now = ("alone" if count == 1 else f"at once with {count - 1} more" for count in counts)
                raise _make_call_not_recorded(asked, f"it was made {then}, and is made {now}")
            if (why := _explain_other_outcome(recorded, performed, asked, alike=self._alike)) is not None:
                raise _make_call_not_recorded(asked, why)
            return performed if self._alike else _check_attempts_room(asked, performed)
        is_proposer = recorded["kind"] == asked.call.kind == "proposer"
        if self._assume and is_proposer and recorded.get("proposer") == asked.call.about.get("proposer"):
            return performed  # the same proposer, whatever it is shown now
        pairs = [
            ("kind", recorded["kind"], asked.call.kind),
            ("proposer", recorded.get("proposer"), asked.call.about.get("proposer")),
            ("prompt", recorded.get("prompt"), asked.call.about.get("prompt")),
        ]
        said = [f"its {what} was {before!r:.80}, and is {now!r:.80}" for what, before, now in pairs if before != now]
        request = f"its request was {recorded['request'][:12]}, and is {asked.request[:12]} (SHA-256)"
        raise _make_call_not_recorded(asked, "; ".join(said) or request)

    def _check_reply_size(self, asked: Asked, found: Performed) -> Performed:
        most, refused = asked.max_reply_bytes, live.read_refused_reply_limit(found.outcome)
        if most == self._spell.reply:
            return found
        if refused is not None and most > refused:
            raise _make_call_not_recorded(asked, f"its reply was larger than {refused} bytes, and may have {most}")
        came, is_smaller = found.reply_bytes, most < self._spell.reply
        if is_smaller and came is None:
            why = f"whether its reply was larger than {most} bytes as it came is not known"
            raise _make_call_not_recorded(asked, why)
        if is_smaller and came is not None and came > most:
            raise _make_call_not_recorded(asked, f"its reply had {came} bytes as it came, and may have {most}")
        if not is_smaller and refused is None and came is None:
            raise _make_call_not_recorded(asked, f"whether it had brought more with {most} bytes is not known")
        if refused is None:
            return found
        # Nobody but the run itself looked at the size, and it refuses the same reply in the same words.
        return found._replace(outcome=live.build_too_large_outcome(asked.call, found.outcome.about, most), packed=None)

    def _check_call_seconds(self, asked: Sequence[Asked], found: list[Performed], seconds: float) -> list[Performed]:
        """Hold what calls brought against the seconds that they share; a person has as long as it takes."""
        spell = self._spell
        at = min(self._read, len(spell.readings)) - 1
        had = spell.most - (spell.spent + (spell.readings[at] - spell.readings[0]))  # left in the recorded run
        if seconds == had or asked[0].call.kind == "person":
            return found
        if seconds < had:
            return self._cut_off_late_calls(asked, found, seconds)
        for item, performed in zip(asked, found, strict=True):
            if any(attempt.get("no_time") for attempt in performed.attempts):
                raise _make_call_not_recorded(item, "it was not tried again for want of time, and now it has more")
            if live.is_cut_off_outcome(performed.outcome):
                why = f"it was cut off after {max(had, 0.0):.3f} s, and has {seconds:.3f} s"
                raise _make_call_not_recorded(item, why)
        return found

    def _cut_off_late_calls(self, asked: Sequence[Asked], found: list[Performed], seconds: float) -> list[Performed]:
        """Return what calls bring that have less time than they had; what would have come too late is cut off."""
        taken = self._get_clock_reading(self._read) - self._get_clock_reading(self._read - 1)
        in_turn = self._spell.in_turn
        began, ended = _compute_call_times(found, taken, in_turn=in_turn)
        late_ends = [seconds <= 0 or end > seconds for end in ended]
        is_late = [ends or live.is_cut_off_outcome(it.outcome) for it, ends in zip(found, late_ends, strict=True)]
        if not any(is_late) and taken <= seconds:
            return found
        is_each_told = (in_turn or len(found) <= live.MAX_AT_ONCE) and not any(map(_is_raised_call, found))
        is_end_known = len(found) == 1 or is_each_told
        if not any(is_late) or (seconds > 0 and not is_end_known):
            raise _make_call_not_recorded(asked[0], f"whether it is over in {seconds:.3f} s is not known")
        for item, performed, late in zip(asked, found, is_late, strict=True):
            if late and performed.attempts and seconds > 0:  # with less time it might not have been tried again
                raise _make_call_not_recorded(item, f"what its attempts bring in {seconds:.3f} s is not known")
        self._saved += max(0.0, max(ended) - max(seconds, 0.0))
        late_or_not = zip(asked, found, is_late, began, strict=True)
        return [
            Performed(live.build_late_outcome(item.call, seconds - start), max(seconds - start, 0.0))
            if late
            else performed
            for item, performed, late, start in late_or_not
        ]


def _check_attempts_room(asked: Asked, found: Performed) -> Performed:
    """Hold the further attempts of a call against the run's budget, which may leave room for more or fewer of them."""
    for at, attempt in enumerate(found.attempts[1:], 1):
        named: JsonObject = {"proposer": attempt["model"]} if "model" in attempt else {}
        call = replace(asked.call, about={**asked.call.about, **named})
        reserved = reserve_call(call, asked.max_output_tokens, asked.prices, asked.recorded)
        refusal, was_refused = refuse_attempt(asked, found.attempts[:at], reserved), attempt.get("reason") in LIMITS
        if was_refused != (refusal is not None):
            had = "no room" if was_refused else "room"
            why = f"the budget had {had} for its attempt {at + 1}, and now it is otherwise"
            raise _make_call_not_recorded(asked, why)
        if refusal is not None and at == len(found.attempts) - 1:
            reason, details = refusal
            outcome = Outcome("failure", {"reason": reason, "details": details}, found.outcome.about)
            found = found._replace(outcome=outcome, packed=None)
    return found


def _explain_other_outcome(recorded: RecordedCall, performed: Performed, asked: Asked, *, alike: bool) -> str | None:
    """Say why what came back need not have come back under the scope and the settings of now, None where it would."""
    is_same, holds = recorded.get("scope") == asked.scope, asked.call.holds
    is_lost = not alike and live.is_refused_outcome(asked.call, performed.outcome)
    if (why := _explain_other_bound(recorded, performed.outcome, asked)) is not None:
        return why
    if holds is not None:
        is_settled = is_same and asked.scope is not None and not is_lost
        return None if is_settled else holds(performed.outcome.content)
    if not is_same:
        return "where it may go was not the same (its scope)"
    return "what it brought was refused under other settings, and not kept" if is_lost else None


def _explain_other_bound(recorded: RecordedCall, outcome: Outcome, asked: Asked) -> str | None:
    """Say why a model need not have replied so with another bound of what it may write, None where it would have."""
    was, now = recorded.get("usage", {}).get("bound"), asked.max_output_tokens
    if was == now or not asked.reserved.llm_calls:
        return None
    told = read_told_usage(outcome)
    if outcome.form != "failure" and (now is None or (told is not None and told[1] < now)):
        return None
    return f"it might write {was if was is not None else 'any number of'} tokens, and may write {now or 'any number'}"


def _compute_call_times(found: list[Performed], taken: float, *, in_turn: bool) -> tuple[list[float], list[float]]:
    """Return when calls that were made at once began and ended in the recorded run, in seconds from the first on."""
    lasted = [taken if _is_raised_call(item) else item.seconds for item in found]
    if not in_turn:
        return [0.0] * len(lasted), lasted
    ended = list(accumulate(lasted))
    return [0.0, *ended[:-1]], ended


def _is_raised_call(performed: Performed) -> bool:
    return restore_raised_exception(performed.outcome) is not None


def _read_recorded_call(at: int, call: RecordedCall) -> Performed:
    try:
        outcome = Outcome.unpacked(call["outcome"])
    except NotJson as error:
        raise _make_recorded_call_error(at, f"JSON text of [form, content, about] is required, {error}") from None
    if outcome.form == "failure":
        match outcome.content:
            case {"reason": str(reason), "details": dict(details)}:
                is_told = reason != RAISED or all(isinstance(details.get(name), str) for name in ("type", "message"))
            case _:
                is_told = False
        if not is_told:
            raise _make_recorded_call_error(at, "a failure has a reason and details")
    key, askable, at_once = call.get("key"), call.get("askable", False), call.get("at_once", 1)
    known = Performed(outcome, call["seconds"], call["outcome"], call.get("reply_bytes"), key, askable, at_once)
    return known._replace(attempts=tuple(call.get("attempts", ())))


def _make_recorded_call_error(at: int, why: str) -> InputError:
    return InputError(f"recording.calls.{at}.outcome: {why}")


def _make_call_not_recorded(asked: Asked, how: str) -> NotRecorded:
    colon = "" if how == "was not made" else ":"
    difference = f"visit {asked.visit}, call {asked.number}{colon} {how}"
    return NotRecorded(asked.node, difference, visit=asked.visit, number=asked.number)

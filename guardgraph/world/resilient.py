"""A world that does not give up at once: it tries again, asks other models, and leaves alone who keeps failing.

It is a wrapper: each attempt is a call of the world inside, which keeps deadlines, sizes and records as ever. What is
worth another attempt is the other side's trouble and passes: a lost connection, 429, 5xx, no answer in time. All
attempts of a call share the seconds that the run has left, and stand in the record of the call.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any, Final
from weakref import WeakKeyDictionary

import stamina
from stamina.instrumentation import RetryDetails, get_on_retry_hooks, set_on_retry_hooks

from guardgraph.plain.conversion import parse_expected_failure
from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.json import JsonObject
from guardgraph.plain.urls import parse_url_target
from guardgraph.state.outcome import Outcome
from guardgraph.state.recording import RecordedAttempt
from guardgraph.world.call import Asked, Call, Performed, World, is_instant_target, is_said_of_target
from guardgraph.world.chat_models import ChatModel
from guardgraph.world.live import AroundWorld, identify_target, is_cut_off_outcome
from guardgraph.world.named_models import chat_model
from guardgraph.world.proposers import ModelProposer
from guardgraph.world.spending import is_unmade_call, refuse_attempt, reserve_call

MAX_CIRCUITS: Final = 4096
"""Circuits that are kept: hosts of pages are named by whoever is read, and there is no end of them."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a call does not go through."""

    failures: int  # in a row
    retry_in: float  # seconds until a probe may go through; 0 while one is out


class Breaker:
    """The circuit of one model, tool or host."""

    def __init__(self, failures: int, open_seconds: float) -> None:
        self._most, self._open_seconds = failures, open_seconds
        self._lock = Lock()
        self._failed = 0
        self._opened_at: float | None = None
        self._period = 0
        """Counts openings and probes: what a call of an earlier period brings says nothing about this one."""
        self._is_probing = False

    @property
    def is_well(self) -> bool:
        """Whether it is closed, and the last call went well: forgotten, it would be the same."""
        return self._opened_at is None and not self._failed

    def admit(self) -> int | Refusal:
        """Let a call through, or refuse it."""
        with self._lock:
            if self._opened_at is None:
                return self._period
            left = self._opened_at + self._open_seconds - time.monotonic()
            if left > 0 or self._is_probing:
                return Refusal(self._failed, max(left, 0.0))
            self._is_probing = True
            self._period += 1
            return self._period

    def settle(self, period: int, *, failed: bool | None) -> None:
        """Count what a call brought."""
        with self._lock:
            if period != self._period:
                return
            if failed is None:
                self._is_probing = False
                return
            self._failed = self._failed + 1 if failed else 0
            if self._is_probing or self._failed >= self._most:
                self._opened_at = time.monotonic() if failed else None
                self._is_probing = False
                self._period += 1


class Breakers:
    """The circuits of a process, one for each model, tool and host.

    Args:
        failures: in a row, 1 at least, after which a circuit opens; anything else is a ConfigurationError.
        open_seconds: above 0, for which it stays open before one call is let through as a probe.
    """

    def __init__(self, *, failures: int = 5, open_seconds: float = 30.0) -> None:
        if isinstance(failures, bool) or not isinstance(failures, int) or failures < 1:
            raise ConfigurationError(f"failures: a whole number from 1 on is required; given: {failures!r:.80}")
        is_number = isinstance(open_seconds, int | float) and not isinstance(open_seconds, bool)
        if not (is_number and 0 < open_seconds < float("inf")):
            raise ConfigurationError(f"open_seconds: a number above 0 is required; given: {open_seconds!r:.80}")
        self.failures, self.open_seconds = failures, open_seconds
        self._lock = Lock()
        self._circuits: dict[Hashable, Breaker] = {}

    def __repr__(self) -> str:
        return f"<Breakers after {self.failures} failures, for {self.open_seconds:g} s>"

    def get_breaker(self, of: Hashable) -> Breaker:
        """Return the circuit of a model, a tool or a host; of too many, a well one is forgotten, else the oldest."""
        with self._lock:
            if (found := self._circuits.pop(of, None)) is None:
                while len(self._circuits) >= MAX_CIRCUITS:
                    well = (name for name, circuit in self._circuits.items() if circuit.is_well)
                    del self._circuits[next(well, None) or next(iter(self._circuits))]
                found = Breaker(self.failures, self.open_seconds)
            self._circuits[of] = found  # behind all others
            return found


LOGGER = logging.getLogger("guardgraph")
PASSING_STATUSES: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Statuses of HTTP after which the same request may succeed (RFC 9110, RFC 6585, RFC 8470)."""
_PASSING_REASONS: Final = ("llm_timeout", "llm_rate_limited", "llm_unavailable")
_PASSING_CAUSES: Final = ("timeout", "connection")
_NOT_ADMITTED: Final = ("max_abandoned", "max_abandoned_each")  # causes of calls that the world inside did not make
_NOT_PASSING: Final = (*_NOT_ADMITTED, "quota")  # causes that another attempt does not remove
_ATTEMPT = "attempt_seconds"
_KEPT = ("status", "cause")  # of the details of a failed attempt, what its record says


class _AnotherAttempt(Exception):
    def __init__(self, what: str, wait: float | None) -> None:
        super().__init__(what)
        self.wait = wait


@dataclass
class _Task:
    asked: Asked
    candidates: list[tuple[str | None, Call]]  # whom it asks in turn, each with its name where there are several
    attempts: list[RecordedAttempt] = field(default_factory=list)
    done: Performed | None = None  # what its last attempt brought
    is_over: bool = False
    began: float = 0.0
    ended: float = 0.0
    periods: list[tuple[Any, int]] = field(default_factory=list)
    """Circuits that an attempt passed, and in which period of theirs."""

    def keep_back(self, reason: str, details: JsonObject) -> None:
        """Make no attempt with whom it asks now, and keep why."""
        name, call = self.candidates[0]
        outcome = Outcome("failure", {"reason": reason, "details": details}, call.about)
        self.done = Performed(outcome, 0.0, reply_bytes=0)
        self.attempts.append(_record_attempt(outcome, name, 0.0, 0.0))

    def build_attempt(self) -> Asked:
        """Return the call of the next attempt; what is reserved for it is that of the model that it asks."""
        asked, (name, call) = self.asked, self.candidates[0]
        if name is None:
            return asked
        return replace(asked, call=call, reserved=reserve_call(call, asked.max_output_tokens, asked.prices))

    def has_room(self) -> bool:
        """Say whether the run's budget has room for another attempt; where it has none, that is what comes of it."""
        if (refusal := refuse_attempt(self.asked, self.attempts, self.build_attempt().reserved)) is not None:
            self.keep_back(*refusal)
        return refusal is None

    def turn_to_next_candidate(self) -> bool:
        """Ask the next model for which the run has room from now on; say whether there is one."""
        while len(self.candidates) > 1:
            del self.candidates[0]
            if self.has_room():
                return True
        return False


class ResilientWorld(AroundWorld):
    """A world that tries again what is worth it, falls back on other models, and has circuit breakers.

    A read is tried again; a write only if its tool is idempotent and is given the key of the write, which stays the
    same; a person is never asked twice. The server's ``Retry-After`` is honoured. Where the run has no time left for a
    wait, the failure is returned at once.

    Args:
        world: what makes each attempt; the live one when None.
        attempts: attempts for one call with one model or tool, the first included.
        attempt_seconds: for which one attempt is waited for; None for as long as the run has.
        wait: seconds before the second attempt; they double with each further one, with jitter.
        max_wait: seconds that are waited at most, if no server asks for more.
        fallbacks: models that are asked in this order when the one of a proposer fails: chat models or their names.
            They are told the same prompt.
        breakers: the circuits of models, tools and hosts; None for none. They may be shared by several worlds.

    Raises:
        ConfigurationError: an argument is something else, or a fallback cannot be opened.
    """

    def __init__(
        self,
        world: World | None = None,
        *,
        attempts: int = 3,
        attempt_seconds: float | None = None,
        wait: float = 0.5,
        max_wait: float = 30.0,
        fallbacks: Sequence[ChatModel | str] = (),
        breakers: Breakers | None = None,
    ) -> None:
        if isinstance(attempts, bool) or not isinstance(attempts, int) or attempts < 1:
            raise ConfigurationError(f"attempts: a whole number from 1 on is required; given: {attempts!r:.80}")
        for name, given in {_ATTEMPT: attempt_seconds, "wait": wait, "max_wait": max_wait}.items():
            is_number = isinstance(given, int | float) and not isinstance(given, bool)
            if not (given is None and name == _ATTEMPT) and not (is_number and 0 < given < float("inf")):  # type: ignore[operator]
                raise ConfigurationError(f"{name}: seconds above 0 are required; given: {given!r:.80}")
        if isinstance(fallbacks, str) or not isinstance(fallbacks, Sequence):
            raise ConfigurationError(f"fallbacks: a list of models is required; given: {fallbacks!r:.80}")
        if not isinstance(breakers, Breakers | None):
            raise ConfigurationError(f"breakers: Breakers are required; given: {type(breakers).__name__}")
        super().__init__(world)
        self._attempts, self._attempt_seconds = attempts, attempt_seconds
        self._first_wait, self._max_wait = wait, max_wait
        self._fallbacks: list[ChatModel] = []
        for at, model in enumerate(fallbacks):
            try:
                self._fallbacks.append(chat_model(model))
            except ConfigurationError as error:
                raise ConfigurationError(f"fallbacks.{at}: {str(error).removeprefix('model: ')}") from None
        self._breakers = breakers
        self._proposers = WeakKeyDictionary[ModelProposer, list[ModelProposer]]()
        hooks = get_on_retry_hooks()
        if _log_our_retry not in hooks:  # stamina tells our logger of our retries, once in a process
            set_on_retry_hooks([_log_our_retry, *map(_OtherLines, hooks)])

    def __repr__(self) -> str:
        return f"<ResilientWorld {self._attempts} attempts around {self._world!r}>"

    def perform(self, asked: Sequence[Asked], seconds: float) -> list[Performed]:
        """Make calls, with further attempts; see `World.perform`."""
        if _is_left_alone(asked):
            return self._world.perform(asked, seconds)
        tasks = [self._begin_task(item) for item in asked]
        ends = time.monotonic() + seconds
        while _list_open_tasks(tasks):
            for attempt in self._list_attempts():
                with attempt:
                    with _leave_circuits(tasks):
                        making, seconds, limit, began = self._begin_round(tasks, ends)
                        if making:
                            came = self._world.perform([task.build_attempt() for task in making], seconds)
                            self._end_round(making, came, began, limit)
                    self._plan_another_attempt(making, ends, attempt)
            self._turn_to_fallbacks(tasks)
        return [_conclude_task(task) for task in tasks]

    async def aperform(self, asked: Sequence[Asked], seconds: float) -> list[Performed]:
        """Make calls like `perform`, without blocking the event loop."""
        if _is_left_alone(asked):
            return await self._world.aperform(asked, seconds)
        tasks = [self._begin_task(item) for item in asked]
        ends = time.monotonic() + seconds
        while _list_open_tasks(tasks):
            async for attempt in self._list_attempts():
                with attempt:
                    with _leave_circuits(tasks):
                        making, seconds, limit, began = self._begin_round(tasks, ends)
                        if making:
                            came = await self._world.aperform([task.build_attempt() for task in making], seconds)
                            self._end_round(making, came, began, limit)
                    self._plan_another_attempt(making, ends, attempt)
            self._turn_to_fallbacks(tasks)
        return [_conclude_task(task) for task in tasks]

    def _list_attempts(self) -> Any:
        """Return stamina's attempts, one after another with its waits between them, sync and async."""

        def choose_wait(error: Exception) -> bool | float:
            if not isinstance(error, _AnotherAttempt):
                return False
            return True if error.wait is None else error.wait

        return stamina.retry_context(
            on=choose_wait,
            attempts=None,  # how many, and whether there is time, `_plan_another_attempt` says
            timeout=None,
            wait_initial=self._first_wait,
            wait_max=self._max_wait,
            wait_jitter=self._first_wait,
        )

    def _begin_task(self, asked: Asked) -> _Task:
        call, now = asked.call, self.clock()
        candidates: list[tuple[str | None, Call]] = [(None, call)]
        if isinstance(call.target, ModelProposer) and self._fallbacks:
            if (known := self._proposers.get(call.target)) is None:
                known = self._proposers[call.target] = [call.target.on_model(model) for model in self._fallbacks]
            for other in known:
                name = other.get_name()
                candidates.append((name, replace(call, target=other, about={**call.about, "proposer": name})))
        return _Task(asked, candidates, began=now, ended=now)

    def _begin_round(self, tasks: list[_Task], ends: float) -> tuple[list[_Task], float, float | None, float]:
        """Return the calls that are made now, their seconds, the seconds of one attempt, and when they begin."""
        making = [task for task in _list_open_tasks(tasks) if self._pass_circuits(task)]
        left = ends - time.monotonic()
        most = left if self._attempt_seconds is None else min(left, self._attempt_seconds)
        return making, most, most if most < left else None, self.clock()

    def _end_round(self, making: list[_Task], came: list[Performed], began: float, limit: float | None) -> None:
        for task, performed in zip(making, came, strict=True):
            outcome = performed.outcome
            if limit is not None and is_cut_off_outcome(outcome) and task.asked.call.effect != "write":
                outcome = _build_slow_attempt(task.asked.call, limit)
            if (name := task.candidates[0][0]) is not None:
                outcome = replace(outcome, about={**outcome.about, "proposer": name})
            waited = began - task.ended
            task.ended = began + performed.seconds
            task.done = performed._replace(outcome=outcome, packed=None)
            _settle_circuits(task, failed=_judge_attempt(task.done))
            task.attempts.append(_record_attempt(outcome, name, waited, performed.seconds))
            task.is_over = not (is_passing_failure(outcome) and may_be_repeated(task.asked))

    def _plan_another_attempt(self, made: list[_Task], ends: float, attempt: stamina.Attempt) -> None:
        """Let stamina make another attempt of the calls that are worth it, if there are some and there is time."""
        again = [task for task in made if not task.is_over and attempt.num < self._attempts and task.has_room()]
        if not again:
            return
        left = ends - time.monotonic()
        asked_for = [wait for task in again if (wait := _find_wait_asked_for(task)) is not None]
        wait = max(asked_for) + random.uniform(0, self._first_wait) if asked_for else None
        if (attempt.next_wait + self._first_wait if wait is None else wait) >= left:
            for task in again:
                task.attempts[-1]["no_time"] = True
            return
        lines = list[str]()
        for task in again:
            last, asked = task.attempts[-1], task.asked
            told = {"reason": last.get("reason"), **last.get("details", {})}
            said = ", ".join(f"{name} {value}" for name, value in told.items())
            place = f"{asked.node}, visit {asked.visit}, call {asked.number}, run {asked.run}"
            lines.append(f"{place}: attempt {attempt.num}: {said}")
        raise _AnotherAttempt("; ".join(lines), wait)

    def _turn_to_fallbacks(self, tasks: list[_Task]) -> None:
        """Let the calls that failed with one model ask the next; those that have none, or no time, are over."""
        for task in _list_open_tasks(tasks):
            task.is_over = bool(task.attempts[-1].get("no_time")) or not task.turn_to_next_candidate()

    def _pass_circuits(self, task: _Task) -> bool:
        """Say whether a call passes its circuit; one that does not has failed with that, as far as its models go."""
        if self._breakers is None:
            return True
        call = task.candidates[0][1]
        name, of = name_circuit(call)
        breaker = self._breakers.get_breaker(of)
        admitted = breaker.admit()
        if not isinstance(admitted, Refusal):
            task.periods.append((breaker, admitted))
            return True
        reason = "tool_circuit_open" if call.kind == "tool" else "llm_circuit_open"
        details = {"circuit": name, "failures": admitted.failures, "retry_in": round(admitted.retry_in, 3)}
        task.keep_back(reason, details)
        return False


def _is_left_alone(asked: Sequence[Asked]) -> bool:
    """Say whether calls are made as they are: of a person, by turns with answers, or of what waits for nobody."""
    is_apart = any(item.call.kind == "person" or item.in_turn for item in asked)
    return is_apart or all(is_instant_target(item.call.target) for item in asked)


def _list_open_tasks(tasks: list[_Task]) -> list[_Task]:
    return [task for task in tasks if not task.is_over]


@contextmanager
def _leave_circuits(tasks: list[_Task]) -> Iterator[None]:
    """Leave the circuits of a round that is broken off: nobody knows who was at fault."""
    try:
        yield
    finally:
        for task in tasks:
            _settle_circuits(task, failed=None)


def may_be_repeated(asked: Asked) -> bool:
    """Say whether a call may be made once more: a read, or a write that its tool does once for the key it is given."""
    if is_said_of_target(asked.call.target, "made_once"):
        return False
    return asked.call.effect != "write" or (asked.call.idempotent and asked.key is not None)


def is_passing_failure(outcome: Outcome) -> bool:
    """Say whether a call failed by the other side's trouble, which passes."""
    if outcome.form != "failure":
        return False
    reason, details = outcome.content["reason"], _get_details(outcome)
    if details.get("cause") in _NOT_PASSING or details.get("limit") == "max_seconds":
        return False
    if reason in _PASSING_REASONS:
        return True
    if (expected := parse_expected_failure(outcome.content)) is not None:  # of a page that could not be read
        why, known = expected
        return why in _PASSING_CAUSES or (why == "http_status" and known.get("status") in PASSING_STATUSES)
    if reason != "tool_error":
        return False
    return details.get("status") in PASSING_STATUSES or details.get("cause") in _PASSING_CAUSES


def _get_details(outcome: Outcome) -> JsonObject:
    details = outcome.content["details"] if outcome.form == "failure" else {}
    return details if isinstance(details, dict) else {}


def _find_wait_asked_for(task: _Task) -> float | None:
    if task.done is None:
        return None
    expected = parse_expected_failure(task.done.outcome.content)
    told = (_get_details(task.done.outcome) if expected is None else expected[1]).get("retry_after")
    return float(told) if isinstance(told, int | float) else None


def _build_slow_attempt(call: Call, seconds: float) -> Outcome:
    """Return the outcome of an attempt that took longer than one may, where the run has time left."""
    details: JsonObject = {"cause": "timeout", "limit": _ATTEMPT, "seconds": round(seconds, 3)}
    if call.kind != "tool":
        return Outcome("failure", {"reason": "llm_timeout", "details": details}, call.about)
    said = {"type": "TimeoutError", "message": f"no answer within {seconds:g} seconds"}
    return Outcome("failure", {"reason": "tool_error", "details": {**said, **details}}, call.about)


def _record_attempt(outcome: Outcome, name: str | None, waited: float, seconds: float) -> RecordedAttempt:
    made = RecordedAttempt(waited=round(max(waited, 0.0), 6), seconds=seconds)
    model = name or outcome.about.get("model") or outcome.about.get("proposer")
    if isinstance(model, str):
        made["model"] = model
    details = _get_details(outcome)
    if outcome.form == "failure":
        made["reason"] = outcome.content["reason"]
        if kept := {key: details[key] for key in _KEPT if key in details}:
            made["details"] = kept
    usage = outcome.about.get("usage") or details.get("usage")
    if isinstance(usage, dict):
        made["usage"] = usage
    return made


def _judge_attempt(performed: Performed) -> bool | None:
    """Say whether whom a call asked was at fault; None where nobody knows, since it was not made or had no time."""
    outcome = performed.outcome
    details = _get_details(outcome)
    if is_unmade_call(performed) or details.get("limit") == "max_seconds" or details.get("cause") in _NOT_ADMITTED:
        return None
    return is_passing_failure(outcome) and details.get("status") != 429


def _settle_circuits(task: _Task, *, failed: bool | None) -> None:
    for breaker, period in task.periods:
        breaker.settle(period, failed=failed)
    task.periods.clear()


def _conclude_task(task: _Task) -> Performed:
    """Return what a call brought in the end, with all of its attempts; one that went well at once has none."""
    assert task.done is not None  # a task is over when an attempt was made or refused
    if len(task.attempts) == 1 and not task.attempts[0].get("no_time"):
        return task.done
    seconds = max(task.ended - task.began, task.done.seconds)
    return task.done._replace(seconds=seconds, attempts=tuple(task.attempts))


def name_circuit(call: Call) -> tuple[str, object]:
    """Return the name of the circuit that a call has to pass, and what tells it from others."""
    if call.kind != "tool":
        target = call.target
        name = target.get_name() if isinstance(target, ModelProposer) else str(call.about.get("proposer", "model"))
        return f"model {name}", ("model", name)
    url = call.request.get("url") if isinstance(call.request, dict) else None
    if isinstance(url, str) and (known := parse_url_target(url)) is not None:
        return f"host {known.host}", ("host", known.host)
    if call.tool:
        return f"tool {call.tool}", ("tool", call.tool)
    named = getattr(call.target, "name", None) or getattr(call.target, "__name__", type(call.target).__name__)
    return f"tool {named}", ("tool", identify_target(call.target))


class _OtherLines:
    """A hook of stamina's that hears of all retries but ours."""

    def __init__(self, hook: Any) -> None:
        self._hook = hook

    def __call__(self, details: RetryDetails) -> Any:
        return None if isinstance(details.caused_by, _AnotherAttempt) else self._hook(details)


def _log_our_retry(details: RetryDetails) -> None:
    if isinstance(details.caused_by, _AnotherAttempt):
        LOGGER.warning("%s; another attempt in %.3f s", details.caused_by, details.wait_for)

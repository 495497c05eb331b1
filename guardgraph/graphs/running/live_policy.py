"""The live policy: an overlay that only tightens, read again while runs go on.

Its operator switches agents, sources, hosts, decisions and tools off by it, and denies them. A node reads it before a
guard judges, before a node calls out, and before each call that needs a licence; what it read stands in its line of the
log, so that a replay reads the same. It is no part of what an approval binds: a switch off and on ends no waiting run.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, Protocol, cast

from pydantic import ValidationError

from guardgraph.graphs.running.frame import describe_run_error
from guardgraph.plain.errors import ConfigurationError, make_configuration_error
from guardgraph.plain.hashing import digest
from guardgraph.plain.json import JsonObject, copy_json, find_json_problem
from guardgraph.plain.secrets import format_error_message
from guardgraph.state.run import LiveReading, LogEntry, Switch
from guardgraph.state.settings import Settings
from guardgraph.state.tightening import explain_unknown_name
from guardgraph.world.deadline import ThreadWork, run_in_call_thread, start_thread_work

LOGGER = logging.getLogger("guardgraph")

SWITCHED = "switched"  # key of what a live policy says of who changed it last
ENDINGS = (".yaml", ".yml")
LONGEST_SAID = 1000  # characters of who changed a live policy, why, and when


class PolicyLook(NamedTuple):
    """One look at a live policy."""

    reading: LiveReading
    """What is recorded of it; with `unreadable` and without `version` it says nothing, and the run stops."""
    overlay: Settings | None  # what tightens the policy


class PolicySource(Protocol):
    """Where nodes read a live policy: as it is now, or as it was recorded."""

    def read(self, policy: Settings) -> PolicyLook:
        """Return what it says to a graph with this policy."""


class LivePolicy:
    """A live policy; `live_policy` makes one. It is read once for all agents that it is given to."""

    def __init__(
        self, source: Path | Callable[[], Mapping[str, Any]], *, every: float, stale_for: float, timeout: float
    ) -> None:
        self.every, self.stale_for, self.timeout = every, stale_for, timeout
        self._source = source
        self._lock = Lock()
        self._reading: ThreadWork | None = None
        """The last reading of the source, which may have been left behind."""
        self._given: Any = None
        self._error: BaseException | None = None
        self._read_at = -float("inf")
        self._parsed: dict[type[Settings], tuple[object, PolicyLook]] = {}
        self._last_good: dict[type[Settings], tuple[PolicyLook, float]] = {}

    def __repr__(self) -> str:
        source = str(self._source) if isinstance(self._source, Path) else "a function"
        return f"<LivePolicy {source} every {self.every:g} s>"

    def read(self, policy: Settings) -> PolicyLook:
        """Return what it says to a graph with this policy, read again where the last reading is `every` seconds old."""
        with self._lock:
            now = time.monotonic()
            if self._is_reading_due(now):
                given, error = self._await_policy_source()
                if error is None:
                    self._given = given
                else:
                    LOGGER.warning("%r cannot be read: %s: %s", self, type(error).__name__, format_error_message(error))
                self._error, self._read_at = error, time.monotonic()
            kind, error = type(policy), self._error
            if error is None:
                try:
                    known = self._parsed.get(kind)
                    if known is None or known[0] is not self._given:
                        known = self._parsed[kind] = (self._given, parse_live_policy(self._given, policy))
                    self._last_good[kind] = (known[1], self._read_at)
                    return known[1]
                except ConfigurationError as wrong:
                    error = wrong
            said = describe_run_error(error)
            look, read_at = self._last_good.get(kind, (None, 0.0))
            if look is not None and now - read_at < self.stale_for:
                return PolicyLook({**look.reading, "unreadable": cast(Any, said)}, look.overlay)
            return PolicyLook({"unreadable": cast(Any, said)}, None)

    async def aread(self, policy: Settings) -> PolicyLook:
        """Return what it says, like `read`; where it is read again, a thread does it."""
        if self._is_reading_due(time.monotonic()):
            return await asyncio.wrap_future(run_in_call_thread(partial(self.read, policy)))
        return self.read(policy)

    def _is_reading_due(self, now: float) -> bool:
        return now - self._read_at >= self.every

    def _await_policy_source(self) -> tuple[Any, BaseException | None]:
        if self._reading is not None and not self._reading.done():
            return None, TimeoutError("an earlier reading, which outlasted its time, is still going on")
        self._reading = start_thread_work(self._load_policy_source)
        came = self._reading.wait(self.timeout)
        return (None, TimeoutError(f"not read within {self.timeout:g} seconds")) if came is None else came

    def _load_policy_source(self) -> JsonObject:
        if isinstance(self._source, Path):
            from guardgraph.formats.yaml import parse_yaml, read_settings_text  # for files alone

            if not (text := read_settings_text(self._source)).strip():  # one that is written in place is empty at first
                raise ConfigurationError("a file that says something is required; given: an empty one")
            given, _ = parse_yaml(text)
        else:
            given = self._source()
        if not isinstance(given, Mapping):
            raise ConfigurationError(f"a mapping of fields is required; given: {type(given).__name__}")
        if (problem := find_json_problem(dict(given))) is not None:
            raise ConfigurationError(f"plain JSON is required, not {problem}")
        copied: JsonObject = copy_json(dict(given))
        return copied


def live_policy(
    source: str | Path | Callable[[], Mapping[str, Any]],
    *,
    every: float = 5.0,
    stale_for: float = 0.0,
    timeout: float = 5.0,
) -> LivePolicy:
    """Return a live policy: an overlay that only tightens, read again while runs go on.

    It may set ``enabled``, the execution list and the denied list of its agent, and say by ``switched``
    ``{by, why, at}`` who changed it last. A factory is given it as `live`.

    Args:
        source: a file that ends in .yaml or .yml, or a plain function that returns a mapping. Nothing is read
            before a run.
        every: seconds after which it is read again, in each process; 0 for every time that it counts.
        stale_for: seconds for which what was read last still counts when it cannot be read.
        timeout: seconds after which a reading that has not come counts as failed.

    Raises:
        ConfigurationError: an argument is something else.
    """
    if isinstance(source, str | Path):
        if Path(source).suffix.lower() not in ENDINGS:
            raise ConfigurationError(f"source: a file that ends in .yaml or .yml; given: {str(source)!r:.200}")
        source = Path(source)
    elif not callable(source) or asyncio.iscoroutinefunction(source):
        raise ConfigurationError(f"source: a file's name or a plain function is required; given: {source!r:.80}")
    for name, given in {"every": every, "stale_for": stale_for, "timeout": timeout}.items():
        if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given < float("inf"):
            raise ConfigurationError(f"{name}: seconds from 0 on are required; given: {given!r:.80}")
    if timeout == 0:
        raise ConfigurationError("timeout: seconds above 0 are required, or nothing is ever read; given: 0")
    return LivePolicy(source, every=every, stale_for=stale_for, timeout=timeout)


def parse_live_policy(given: JsonObject, policy: Settings) -> PolicyLook:
    """Return what a live policy says to a graph."""
    fields = {name: value for name, value in given.items() if name != SWITCHED}
    known = [*type(policy).list_live_fields(), SWITCHED]
    if lines := [f"{name}: {problem}" for name in given if (problem := explain_unknown_name(name, known))]:
        raise ConfigurationError("\n".join(f"live policy.{line:.400}" for line in lines[:20]))
    try:
        overlay = type(policy).model_validate(fields)
    except ValidationError as error:
        raise make_configuration_error("live policy", error) from None
    policy.check_overlay(overlay, "live policy")
    said = overlay.model_dump(mode="json", exclude_unset=True)
    if given.get(SWITCHED) is None:
        return PolicyLook(LiveReading(version=digest({"policy": said}), policy=said), overlay)
    switched = _parse_policy_switch(given[SWITCHED])
    version = digest({"policy": said, SWITCHED: switched})
    return PolicyLook(LiveReading(version=version, policy=said, switched=switched), overlay)


def _parse_policy_switch(given: object) -> Switch:
    names = ("by", "why", "at")
    is_right = isinstance(given, dict) and {"by", "why"} <= given.keys() <= {*names}
    if not is_right or not all(isinstance(text, str) and len(text) <= LONGEST_SAID for text in given.values()):  # type: ignore[attr-defined]
        raise ConfigurationError(
            f"live policy.{SWITCHED}: texts as by, why and at are required, of at most {LONGEST_SAID} characters; "
            f"given: {given!r:.200}"
        )
    return cast(Switch, given)


class RecordedLive:
    """What a node of a recorded run read of its live policy: the same again, and the last one for any further look."""

    def __init__(self, readings: list[LiveReading]) -> None:
        self._readings, self._at = readings, 0

    def read(self, policy: Settings) -> PolicyLook:
        """Return the next reading."""
        reading = self._readings[min(self._at, len(self._readings) - 1)]
        self._at += 1
        if "policy" not in reading:
            return PolicyLook(reading, None)
        said = {SWITCHED: dict(reading["switched"])} if "switched" in reading else {}
        look = parse_live_policy({**reading["policy"], **said}, policy)
        return PolicyLook(reading, look.overlay)


def shorten_reading(reading: LiveReading, noted: list[LiveReading], log: list[LogEntry]) -> LiveReading:
    """Return a reading as the log keeps it: without what the reading before says that has the same version."""
    lines = (reversed(line["live"]) for line in reversed(log) if "live" in line)
    earlier = (item["version"] for items in (reversed(noted), *lines) for item in items if "version" in item)
    if "version" not in reading or reading["version"] != next(earlier, None):
        return reading
    return cast(LiveReading, {name: reading[name] for name in ("version", "unreadable") if name in reading})


def restore_readings(kept: list[list[LiveReading]]) -> list[list[LiveReading]]:
    """Return readings as they were before they were shortened."""
    content: JsonObject = {}
    restored: list[list[LiveReading]] = []
    for readings in kept:
        restored.append([])
        for reading in readings:
            if "policy" in reading:
                content = {name: reading[name] for name in ("policy", "switched") if name in reading}
            restored[-1].append(cast(LiveReading, {**content, **reading} if "version" in reading else reading))
    return restored

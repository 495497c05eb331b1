"""What a store of runs is, for those of this library and for one of your own."""

# A store is a recorder that keeps what it is given in a chain: each entry has a number, the hash of the entry before
# and its own. One that is an `OpenRunStore` keeps runs from their beginning on, and knows which are open: a run is open
# from its beginning until its ending is recorded, or until it is closed, by somebody or by a run that begins on its
# thread. `guardgraph.testing.check_store` holds a store of your own against what is said here.

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol, TypedDict

from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.json import JsonObject
from guardgraph.state.recording import BegunRun, Recording, RunNote

if TYPE_CHECKING:
    from opentelemetry.metrics import CallbackOptions, MeterProvider, Observation


class Receipt(TypedDict):
    """What says that a run was kept, as plain JSON."""

    seq: int  #: the number of its entry in the chain, from 1 on
    hash: str  #: the hash of its entry, 64 hex digits


@dataclass(frozen=True, slots=True)
class Position:
    """A place in the chain."""

    seq: int  #: the entry's number, from 1 on
    hash: str  #: the entry's hash, 64 hex digits
    previous: str  #: the hash of the entry before; 64 zeros of the first. Nothing where the entry was changed
    at: str  #: when it was written: UTC, ISO 8601

    @property
    def receipt(self) -> Receipt:
        """What `RunStore.record` returns of an entry that stands here."""
        return {"seq": self.seq, "hash": self.hash}

    def is_before(self, moment: datetime) -> bool:
        """Say whether the entry was written before a moment; where its time was changed to no time, nobody knows."""
        try:
            return datetime.fromisoformat(self.at) < moment
        except (ValueError, TypeError):  # a time without a zone is none of a store's either
            return False


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run as a store has it."""

    run_id: str
    position: Position  #: where it stands in the chain
    recording: Recording | None  #: None: it was erased or changed
    entry: str  #: the text of its entry, of which ``position.hash`` is the SHA-256
    salt: str | None  #: what its content was hashed with, 64 hex digits; None: it was erased or changed
    changed: str | None = None  #: what is not as it was recorded, in words; None: nothing is
    earlier: tuple[int, ...] = ()
    """Numbers of the entries of earlier records with the same id, where a store says them: it was executed again, or
    recorded again with other content."""


@dataclass(frozen=True, slots=True)
class OpenRun:
    """A run that began, and has no ending."""

    run_id: str
    position: Position  #: where its beginning stands in the chain, or its first note where that was not kept
    begun: BegunRun | None  #: None: it was erased or changed, or was not kept
    intents: int  #: how often it was about to act, as it was noted
    receipts: int  #: how often it is known what came of that
    waiting: bool  #: whether it waits for a person: nothing was noted since but that somebody is about to answer
    changed: str | None = None  #: what is not as it was written, in words; None: nothing is


def count_notes(notes: Sequence[str]) -> JsonObject:
    """Return what an open run's notes tell of it, by their kinds in order: `intents`, `receipts` and `waiting`."""
    return {
        "intents": notes.count("intent"),
        "receipts": notes.count("receipt"),
        "waiting": [kind for kind in notes if kind != "decision"][-1:] == ["waiting"],
    }


class Runs(Protocol):
    """Runs of a store, read when they are iterated over, as often as wanted."""

    def __iter__(self) -> Iterator[StoredRun]:
        """Yield each run once, by its latest record, in order of the chain.

        One that is not as it was recorded says so (`StoredRun.changed`) and has no recording: the others are there.
        """


class RunStore(Protocol):
    """Whoever keeps finished runs in a chain and gives them back; a `guardgraph.Recorder` too.

    One that also keeps runs that have not ended is an `OpenRunStore`.
    """

    def record(self, run: Recording) -> Receipt:
        """Append a run; once this returns, it is kept.

        A run that is given again with the same content gets the receipt that it has; with other content it gets an
        entry of its own, and the earlier one stays.
        """

    def read(self, run_id: str) -> StoredRun:
        """Return the latest record of a run.

        Raises:
            InputError: there is no such run.
            StoreError: it is not as it was recorded.
        """

    def head(self) -> Position | None:
        """Return the last place of the chain, None where there is none yet."""

    def runs(self, *, pattern: str | None = None, tenant: str | None = None, since: datetime | None = None) -> Runs:
        """Return the runs, erased ones too where no filter asks for what was erased with them.

        Args:
            pattern: of runs of this pattern only, as their catalogue names it.
            tenant: of runs only that somebody of this tenant began or resumed.
            since: of runs only that were recorded then or later; a date and time with its zone.
        """


class OpenRunStore(RunStore, Protocol):
    """A store that keeps runs from their beginning on; a `guardgraph.state.recording.OpenRecorder` too."""

    def begin(self, run: BegunRun) -> Receipt:
        """Append that a run began; once this returns, it is kept.

        The run that began last on the same thread, of a graph of this name and for the same tenant (without one, the
        same user), is closed if it is open, in an entry of its own before. A run that is given again with the same
        content gets the receipt that it has.

        Raises:
            StoreError: the run has ended already, or it could not be kept.
        """

    def note(self, note: RunNote) -> Receipt:
        """Append a note of a run; once this returns, it is kept."""

    def notes(self, request: str) -> list[RunNote]:
        """Return what was noted of a request, of all its runs, in its order; what was erased is not there.

        Raises:
            StoreError: a note is not as it was noted.
        """

    def open_runs(self) -> list[OpenRun]:
        """Return the runs that are open, in the order in which they began."""

    def entries(self, run_id: str) -> list[str]:
        """Return the texts of all entries of a run, in order of the chain: beginning, notes, records, close."""

    def close_run(self, run_id: str, *, by: str, why: str) -> Receipt:
        """Append that a run that is open is lost, who says so, and why: nobody will end it.

        Raises:
            InputError: there is no such run, or it is not open.
        """


def measure_open_runs(store: OpenRunStore, *, meter_provider: MeterProvider | None = None) -> None:
    """Have a gauge of a store's open runs: it reads the store whenever the application collects metrics.

    A store that cannot be read has no figure then. The meter is the process's own where no provider is given.

    Raises:
        ConfigurationError: the extra ``otel`` is not installed, or the store knows no open runs.
    """
    if not callable(getattr(store, "open_runs", None)):
        raise ConfigurationError(f"store: one with open_runs is required; given: {store!r:.80}")
    from guardgraph.world.telemetry import METRICS, Mishaps, load_meter

    metric, mishaps = next(each for each in METRICS if each.name == "guardgraph.runs.open"), Mishaps()

    def observe_open_runs(options: CallbackOptions) -> Iterable[Observation]:
        from opentelemetry.metrics import Observation

        with mishaps.contain():
            waiting = [run.waiting for run in store.open_runs()]
            counts = {"waiting": sum(waiting), "going": len(waiting) - sum(waiting)}
            return [Observation(count, {"guardgraph.state": state}) for state, count in counts.items()]
        return []

    load_meter(meter_provider).create_observable_gauge(metric.name, [observe_open_runs], metric.unit, metric.meaning)

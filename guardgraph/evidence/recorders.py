"""Several recorders at once, by one rule: a run is recorded when every one of them has kept it."""

# All are told, side by side, whatever becomes of the others. The receipt is that of the first in their order that gives
# one. If one fails or is late, the recording failed, and the message names it: with `audit_required` the run ends for
# it.

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from functools import partial
from threading import TIMEOUT_MAX
from typing import Any

from guardgraph.plain.errors import ConfigurationError, StoreError
from guardgraph.plain.json import copy_json
from guardgraph.plain.secrets import format_error_message
from guardgraph.state.recording import Recorder
from guardgraph.world.deadline import run_in_call_thread


class Recorders:
    """Several recorders as one; each is waited for as long as its own `timeout` says, if it has one.

    It has `begin` and `note` where one of them has; those that have not are left out. It has the `notes` of the first
    that has them, and the receipts of its notes are that one's.

    Args:
        recorders: at least one.

    Raises:
        ConfigurationError: there is none, or one has no `record`.
    """

    def __init__(self, *recorders: Recorder) -> None:
        if not recorders:
            raise ConfigurationError("recorders: one at least is required; given: none")
        for at, recorder in enumerate(recorders):
            if not callable(getattr(recorder, "record", None)):
                raise ConfigurationError(f"recorders.{at}: one with record is required; given: {recorder!r:.80}")
        self._recorders = recorders
        remembering = [recorder for recorder in recorders if callable(getattr(recorder, "notes", None))]
        for method in ("begin", "note"):
            told = [recorder for recorder in recorders if callable(getattr(recorder, method, None))]
            if told:
                first = remembering[:1] if method == "note" else []
                setattr(
                    self, method, partial(_tell_all, [*first, *(item for item in told if item not in first)], method)
                )
        if remembering:
            self.notes: Any = remembering[0].notes  # type: ignore[attr-defined]

    def __repr__(self) -> str:
        return f"<Recorders {', '.join(map(repr, self._recorders))}>"

    def record(self, run: Any) -> Any:
        """Give a run that ended to all, and return the first receipt.

        Raises:
            StoreError: one of them did not keep it; the message says which, and why.
        """
        return _tell_all(self._recorders, "record", run)


def _tell_all(recorders: Sequence[Any], method: str, content: Any) -> Any:
    """Tell all recorders the same, side by side, and return the first receipt."""
    telling = [_start_telling(getattr(recorder, method), content) for recorder in recorders]
    began, came, failed = time.monotonic(), [], list[str]()
    for recorder, done in zip(recorders, telling, strict=True):
        seconds = getattr(recorder, "timeout", None)
        left = None if seconds is None else min(max(began + seconds - time.monotonic(), 0.0), TIMEOUT_MAX)
        wait([done], left)
        if not done.done():
            failed.append(f"{recorder!r:.80}: it did not return within its timeout of {seconds:g} seconds")
        elif (error := done.exception()) is not None:
            failed.append(f"{recorder!r:.80}: {type(error).__name__}: {format_error_message(error)}")
        else:
            came.append(done.result())
    if failed:
        raise StoreError(f"{len(failed)} of {len(recorders)} recorders failed: {'; '.join(failed)}")
    return next((receipt for receipt in came if receipt is not None), None)


def _start_telling(tell: Callable[[Any], Any], content: Any) -> Future[Any]:
    given = copy_json(content)  # what one of them does to it is nothing to the others
    return run_in_call_thread(partial(_tell_one, tell, given))


def _tell_one(tell: Callable[[Any], Any], given: Any) -> Any:
    if inspect.isawaitable(came := tell(given)):
        if inspect.iscoroutine(came):
            came.close()
        raise TypeError(f"it returned a {type(came).__name__}, which nobody awaits; a plain function is required")
    return came

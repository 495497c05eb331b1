"""What-if: recorded runs are judged again by a candidate, here or by the workers of an executor."""

from __future__ import annotations

import pickle
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from functools import lru_cache, partial
from itertools import islice
from typing import Any, TypeAlias

from guardgraph.evidence.judged import Row, Way, WhatIf, build_what_if_row
from guardgraph.evidence.store import StoredRun
from guardgraph.graphs.loading import load_named_graph
from guardgraph.graphs.replay.whatif import Again, judge_recording_again
from guardgraph.graphs.running.door import GuardedGraph
from guardgraph.graphs.running.frame import Frame
from guardgraph.plain.errors import ConfigurationError, InputError
from guardgraph.plain.version import find_format_problem, parse_version, read_package_version
from guardgraph.state.recording import Recording, validate_recording
from guardgraph.state.settings import Budget, Settings

PARTS = 64
"""Into how many parts a store's runs are divided; a worker that is lost costs one."""
PART_SIZE = 64
"""Runs of one part, where they are handed over one by one."""
AT_WORK = 32
"""Parts that an executor has at the same time; what it brings back waits for its turn."""

Work: TypeAlias = "Callable[[Iterable[Any]], list[Row]]"


def what_if(
    candidate: GuardedGraph[Any, Any, Any] | str,
    runs: Iterable[StoredRun | Recording],
    *,
    executor: Executor | None = None,
    assume: bool = False,
    ignore_live: bool = False,
    policy: Settings | None = None,
    budget: Budget | None = None,
    progress: Callable[[int], object] | None = None,
) -> WhatIf:
    """Judge recorded runs again: what would the candidate have made of them?

    Nothing is called and nothing is guessed. A run is `same` or `changed` where a live run of the candidate would have
    had that result, given that whoever was called says the same to the same request; else it is `unknown`, and its row
    names the first call that differs. Each run's own context tightens the candidate as it tightened the agent then, and
    so does what it read of a live policy.

    Args:
        candidate: an agent of the runs' pattern with another policy, budget, guard or version; or ``module:factory``,
            whose factory is given `policy` and `budget` where they are.
        runs: stored runs (of ``store.runs()``) or recordings.
        executor: whose workers judge, such as a `ProcessPoolExecutor` or Dask's ``client.get_executor()``; runs of a
            store are read by the workers. The candidate is a name then, since an agent cannot be sent. What a pool that
            is broken or shut down leaves undone is judged here, and so is what a Dask cluster gives up after workers
            were killed over it.
        assume: whether to say too how an unknown run would end if proposers had proposed what they did then.
        ignore_live: whether what runs read of a live policy counts for nothing, as if nobody had switched anything off.
        policy: of a candidate that is a name.
        budget: of a candidate that is a name.
        progress: called with the number of runs that are judged, after each run, or after each part of an executor.

    Returns:
        A row for every run in the order of `runs`, and a table of them.

    Raises:
        ConfigurationError: there is no such candidate, or an agent is given beside what goes with a name only.
        InputError: something among the runs is neither a stored run nor a recording.
    """
    graph = load_candidate_agent(candidate, policy=policy, budget=budget)
    if not isinstance(runs, Iterable):
        raise InputError(f"runs: stored runs, as of store.runs(), or recordings; given: {type(runs).__name__}")
    how = {"assume": assume, "ignore_live": ignore_live}
    if executor is None:
        return WhatIf(graph, _collect_rows(([row] for row in _judge_runs(graph.frame, runs, how)), progress))
    if not isinstance(candidate, str):
        raise ConfigurationError(
            f"candidate: module:factory is required beside an executor; given: a {type(candidate).__name__}"
        )
    if not callable(getattr(executor, "submit", None)):
        raise ConfigurationError(f"executor: one of concurrent.futures is required; given: {executor!r:.80}")
    work = partial(_judge_pickled_part, pickle.dumps((candidate, policy, budget)), how)
    return WhatIf(graph, _collect_rows(_judge_parts_in_order(executor, work, _split_runs(runs)), progress))


def load_candidate_agent(candidate: Any, **settings: Settings | None) -> GuardedGraph[Any, Any, Any]:
    """Return the agent that a what-if judges by."""
    if isinstance(candidate, str):
        graph = load_named_graph(candidate, "candidate", **settings)
    elif given := [name for name, value in settings.items() if value is not None]:
        raise ConfigurationError(f"{given[0]}: for a candidate that is module:factory; an agent has its own")
    else:
        graph = candidate
    if not isinstance(graph, GuardedGraph):
        raise ConfigurationError(
            f"candidate: a guarded graph or module:factory is required; given: {type(graph).__name__}"
        )
    return graph


def _collect_rows(parts: Iterable[list[Row]], progress: Callable[[int], object] | None) -> list[Row]:
    rows: list[Row] = []
    for part in parts:
        rows += part
        if progress is not None:
            progress(len(rows))
    return rows


def _judge_runs(frame: Frame, runs: Iterable[Any], how: Mapping[str, bool]) -> Iterator[Row]:
    for at, run in enumerate(runs):
        yield judge_run(frame, run, at, **how)


def judge_run(frame: Frame, run: Any, at: int, **how: bool) -> Row:
    """Judge one of the runs that a what-if is given; `at` is its place among them."""
    if isinstance(run, dict):
        return _judge_recording(frame, run, str(run.get("run_id", "")), None, how)
    if not isinstance(run, StoredRun):
        raise InputError(f"runs.{at}: a stored run or a recording is required; given: {type(run).__name__}")
    if run.recording is None:
        why = "erased" if run.changed is None else f"changed: {run.changed}"
        return build_what_if_row(Again("unreplayable", why=why), run_id=run.run_id, seq=run.position.seq)
    return _judge_recording(frame, run.recording, run.run_id, run.position.seq, how)


def _judge_recording(frame: Frame, given: Any, run_id: str, seq: int | None, how: Mapping[str, bool]) -> Row:
    try:
        recording = validate_recording(given)
    except InputError as error:
        return build_what_if_row(
            Again("unreplayable", why=_explain_unreadable_recording(given, error)), run_id=run_id, seq=seq
        )
    again = judge_recording_again(frame, recording, **how)
    is_other = (
        again.kind != "other_pattern" and recording["fingerprints"]["declarations"] != frame.declarations_fingerprint
    )
    return build_what_if_row(
        again,
        run_id=run_id,
        seq=seq,
        guardgraph=recording["guardgraph"],
        other_declarations=is_other,
        ways=_compare_run_ways(recording, again),
    )


def _explain_unreadable_recording(given: Any, error: InputError) -> str:
    """Say why a recording is not read."""
    if given.get("redacted"):
        return "redacted"
    said = str(error).splitlines()[0]
    made_by = given.get("guardgraph")
    if type(given.get("format")) is int and find_format_problem(given["format"], made_by) is not None:
        return f"version: {said}"
    is_newer = parse_version(made_by) > parse_version(read_package_version())
    return f"version: recorded by guardgraph {made_by:.40}; {said}" if is_newer else f"damaged: {said}"


def _compare_run_ways(recording: Recording, again: Again) -> tuple[Way, Way] | None:
    if again.kind != "changed" or again.old is None or again.new is None or again.result is None:
        return None
    ends = ((again.old, recording["result"]), (again.new, again.result))
    then, now = (Way(end.status, end.stop_reason, end.outcome, tuple(result.get("path", ()))) for end, result in ends)
    return then, now


# With an executor


@lru_cache(maxsize=1)
def _load_candidate_frame(pickled: bytes) -> Frame:
    """Return what a worker judges by, made once for all of its parts."""
    candidate, policy, budget = pickle.loads(pickled)
    return load_candidate_agent(candidate, policy=policy, budget=budget).frame


def _judge_pickled_part(pickled: bytes, how: Mapping[str, bool], part: Iterable[Any]) -> list[Row]:
    return list(_judge_runs(_load_candidate_frame(pickled), part, how))


def _split_runs(runs: Any) -> Iterator[Iterable[Any]]:
    """Return runs in parts: what reads its own from a store, else lists."""
    if hasattr(runs, "parts"):
        yield from runs.parts(PARTS)
        return
    items = iter(runs)
    while part := list(islice(items, PART_SIZE)):
        yield part


def _judge_parts_in_order(executor: Executor, work: Work, parts: Iterator[Iterable[Any]]) -> Iterator[list[Row]]:
    """Yield what comes of parts, in their order; only so many are handed over at a time."""
    waiting = deque[tuple[Iterable[Any], Future[list[Row]] | None]]()
    for part in parts:
        waiting.append((part, _submit_part(executor, work, part)))
        if len(waiting) >= AT_WORK:
            yield _finish_part(work, *waiting.popleft())
    while waiting:
        yield _finish_part(work, *waiting.popleft())


def _submit_part(executor: Executor, work: Work, part: Iterable[Any]) -> Future[list[Row]] | None:
    try:
        return executor.submit(work, part)
    except RuntimeError:  # it is broken, or shut down
        return None


def _finish_part(work: Work, part: Iterable[Any], future: Future[list[Row]] | None) -> list[Row]:
    if future is not None:
        try:
            return future.result()
        except _list_lost_worker_errors():
            pass
    return work(part)


def _list_lost_worker_errors() -> tuple[type[Exception], ...]:
    """Return what a future raises whose worker was killed: with it the pool, or for Dask as often as it tries anew."""
    # One that was cancelled had no worker yet.
    dask, lost = sys.modules.get("distributed"), (BrokenExecutor, CancelledError)
    return lost if dask is None else (*lost, dask.KilledWorker)

"""Runs that pay, killed before or after each thing that outlives the process, and a client that asks again."""

import asyncio
import os
import signal
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import aiosqlite
import psycopg
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import START, StateGraph
from payment_pattern import Bank, FileRecorder, In, payments
from psycopg.rows import dict_row
from store_writers import start_process

from guardgraph.evidence.sql.store import SqlStore

_REAPING = Lock()
"""Whoever starts a process also asks how the others ended; of two threads that ask at once, one is told 255."""


@dataclass(frozen=True)
class Setup:
    """How a run is made, and where what outlives it stands."""

    folder: Path
    batches: tuple[tuple[int, ...], ...] = ((30, 40),)
    saver: str | None = "sqlite"
    """``sqlite``, the address of a PostgreSQL server, or None."""
    recorder: str | None = None
    """Who keeps begun runs: ``file``, ``store``, or nobody."""
    durability: str | None = None
    """What the client asks for, or the graph around."""
    thread: str = "1"
    mode: str = "invoke"
    inside: bool = False
    """Whether the graph is a node of another one."""
    tool: str = "pay"
    options: tuple[str, ...] = ()
    """``idempotent``, ``reconcile``."""

    @property
    def bank(self) -> Bank:
        return Bank(self.folder / "bank.txt")


class Moments:
    """Dies at one of the moments of a process, the last one; they count from 1 on, and 0 is none."""

    def __init__(self, last: int) -> None:
        self.last, self.count = last, 0

    def __call__(self) -> None:
        self.count += 1
        if self.count == self.last:
            os.kill(os.getpid(), signal.SIGKILL)


def dying_saver(base: Any, moments: Any) -> Any:
    return _add_moments(base, moments, ("put", "put_writes"), ("aput", "aput_writes"))


def _add_moments(base: Any, moments: Any, names: Iterable[str], awaited_names: Iterable[str] = ()) -> Any:
    """Return a class some of whose methods are moments, before and after."""

    def sync(name: str) -> Any:
        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            moments()
            came = getattr(base, name)(self, *args, **kwargs)
            moments()
            return came

        return method

    def awaited(name: str) -> Any:
        async def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            moments()
            came = await getattr(base, name)(self, *args, **kwargs)
            moments()
            return came

        return method

    made = {name: sync(name) for name in names} | {name: awaited(name) for name in awaited_names}
    return type(base.__name__, (base,), made)


def _open_recorder(setup: Setup, moments: Any) -> Any:
    if setup.recorder == "file":
        return FileRecorder(setup.folder / "runs.txt", moments)
    if setup.recorder == "store":
        store = _add_moments(SqlStore, moments, ("begin", "note", "record"))
        return store(f"sqlite:///{setup.folder}/runs.db", timeout=60)
    return None


def open_saver(setup: Setup, moments: Moments) -> Any:
    if setup.saver == "sqlite":
        connection = sqlite3.connect(setup.folder / "checkpoints.db", check_same_thread=False, timeout=60)
        return dying_saver(SqliteSaver, moments)(connection)
    if setup.saver is not None:
        connection = psycopg.connect(setup.saver, autocommit=True, prepare_threshold=0, row_factory=dict_row)
        saver = dying_saver(PostgresSaver, moments)(connection)
        saver.setup()
        return saver
    return None


class Around(In, total=False):
    """What a graph around a paying one keeps."""

    stop_reason: str
    payments: list[Any]
    details: Any
    run_id: str


def build_graph(setup: Setup, moments: Any, saver: Any) -> Any:
    """Return the graph that a client calls."""
    bank = Bank(setup.folder / "bank.txt", moments)
    recorder = _open_recorder(setup, moments)
    options = {name: {"idempotent": True, "reconcile": bank.reconcile}[name] for name in setup.options}
    tool = getattr(bank, setup.tool)
    if not setup.inside:
        return payments(tool, checkpointer=saver, recorder=recorder, **options)
    around = StateGraph(Around)
    around.add_node("inside", payments(tool, recorder=recorder, **options))
    around.add_edge(START, "inside")
    return around.compile(checkpointer=saver)


def ask(setup: Setup, moments: Any, saver: Any) -> Any:
    """Ask as a client does that may have asked before, and return the result of the run."""
    graph, (given, config, kwargs) = build_graph(setup, moments, saver), _asked(setup)
    if setup.inside and saver is not None:  # the graph around knows nothing of requests
        state = graph.get_state(config)
        if not state.next and "stop_reason" in state.values:
            return state.values
        given = None if state.next else given
    return graph.invoke(given, config, **kwargs)


def _asked(setup: Setup) -> Any:
    config = {"configurable": {"thread_id": setup.thread, "request_key": "r1"}}
    kwargs = {} if setup.durability is None else {"durability": setup.durability}
    return {"batches": [list(batch) for batch in setup.batches]}, config, kwargs


async def _aask(setup: Setup, moments: Moments) -> Any:
    async with aiosqlite.connect(setup.folder / "checkpoints.db", timeout=60) as connection:
        saver = dying_saver(AsyncSqliteSaver, moments)(connection)
        given, config, kwargs = _asked(setup)
        return await build_graph(setup, moments, saver).ainvoke(given, config, **kwargs)


def _work(pipe: Any, setup: Setup, last: int) -> None:
    moments = Moments(last)
    if setup.mode == "ainvoke":
        result = asyncio.run(_aask(setup, moments))
    else:
        result = ask(setup, moments, open_saver(setup, moments))
    moments.last = 0
    pipe.send({name: result.get(name) for name in ("stop_reason", "payments", "details", "run_id", "timeline")})
    pipe.close()


def attempt(setup: Setup, last: int = 0) -> Any:
    return run_in_process(_work, setup, last)


def run_in_process(work: Any, *given: Any) -> Any:
    """Let a process work, and return what it sent by its pipe, the first argument; None where SIGKILL ended it."""
    with _REAPING:
        process, pipe = start_process(work, *given)
    with closing(pipe):
        try:
            result = pipe.recv()
        except EOFError:
            result = None
        with _REAPING:
            process.join()
    assert process.exitcode in ((0,) if result is not None else (-signal.SIGKILL,)), process.exitcode
    return result


def survive(setup: Setup, deaths: Iterable[int]) -> Any:
    """Ask again and again, dying as often as is said, and return the result of the one who lived."""
    for last in deaths:
        if (result := attempt(setup, last)) is not None:
            return result
    result = attempt(setup)
    assert result is not None
    return result


def check_payments(setup: Setup, result: Any) -> str:
    """Assert that nothing was paid twice, and that a run that ended well paid everything; return how it ended."""
    due = [amount for batch in setup.batches for amount in batch]
    paid, reason = setup.bank.amounts, result["stop_reason"]
    assert paid == [amount for amount in due if amount in paid], (reason, paid)
    if reason == "success":
        assert (paid, result["payments"]) == (due, [f"paid {amount}" for amount in due])
    else:
        assert reason == "effect_unknown:pay", result
        assert result["details"]["cause"] == "no_receipt"
    return reason

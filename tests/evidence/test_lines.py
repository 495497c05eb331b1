"""Runs as JSON Lines on any filesystem of fsspec, and several recorders at once: folders, memory, a real S3 server."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import boto3
import pytest
import refund_pattern
from botocore.config import Config
from cli_runs import ROOT, process
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from moto.server import ThreadedMotoServer
from rag_agents import QUESTION

from guardgraph import (
    ConfigurationError,
    InputError,
    LinesStore,
    RagPolicy,
    Recorders,
    StoreError,
    check_document,
    create_rag_agent,
    export_run,
    sql_store,
    what_if,
)
from guardgraph.testing import InMemoryRecorder

REQUIRED = RagPolicy(audit_required=True)
KEYS = {"key": "test", "secret": "test"}


@contextmanager
def s3():
    """Serve S3 on loopback, with one bucket, and yield the options of a filesystem that reaches it."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    try:
        host, port = server.get_host_and_port()
        url = f"http://{host}:{port}"
        client = boto3.client(
            "s3",
            endpoint_url=url,
            aws_access_key_id="test",
            aws_secret_access_key="test",
            region_name="us-east-1",
            config=Config(retries={"max_attempts": 1}),
        )
        client.create_bucket(Bucket="audit")
        client.close()
        yield {**KEYS, "endpoint_url": url, "skip_instance_cache": True}
    finally:
        server.stop()


@pytest.fixture(params=["file", "memory", "s3"])
def lines(request, tmp_path):
    """A store on each kind of filesystem."""
    if request.param == "s3":
        with s3() as options:
            yield LinesStore("s3://audit/runs", options=options)
    else:
        url = (tmp_path / "runs").as_uri() if request.param == "file" else f"memory://{tmp_path.name}/runs"
        yield LinesStore(url)


def test_a_run_is_one_object_with_its_beginning_and_its_record(lines):
    """The receipts are those of its lines, what is read is what was recorded, and verify finds nothing."""
    result = create_rag_agent(recorder=lines, policy=REQUIRED).invoke(QUESTION)
    assert result["audit"]["status"] == "recorded"
    [stored] = lines.runs()
    assert (stored.run_id, stored.position.seq) == (result["run_id"], 2)
    assert stored.recording["result"]["answer"] == result["answer"]
    assert stored.position.receipt == {"seq": result["audit"]["seq"], "hash": result["audit"]["hash"]}
    assert [json.loads(entry)["kind"] for entry in lines.entries(result["run_id"])] == ["begin", "run"]
    found = lines.verify((2, result["audit"]["hash"]))
    assert (found.ok, found.entries, found.runs, found.open) == (True, 2, 1, ())
    assert not lines.verify((2, "0" * 64)).ok
    document = export_run(lines, result["run_id"])
    assert check_document(document, "guardgraph:create_rag_agent", head=(2, result["audit"]["hash"])).ok
    assert what_if(create_rag_agent(), lines.runs()).counts["same"] == 1


def test_what_is_given_again_has_its_receipt_and_other_content_a_line_of_its_own(lines):
    """A beginning, too; and a run that ended is not begun again."""
    kept = InMemoryRecorder()
    create_rag_agent(recorder=kept).invoke(QUESTION)
    [begun], [run] = kept.begun, kept.runs
    assert lines.begin(begun) == lines.begin(begun)
    first = lines.record(run)
    assert lines.record(run) == first
    with pytest.raises(StoreError, match="has ended already"):
        lines.begin({**begun, "thread": "another"})
    other = {**run, "graph": "another"}
    assert lines.record(other)["seq"] == 3
    assert lines.read(run["run_id"]).earlier == (2,)
    assert lines.verify().repeated == ((2, 3),)


@pytest.mark.parametrize("how", ["changed", "content", "removed", "cut", "half", "swapped", "renamed"])
def test_what_was_done_to_an_object_is_found(how, tmp_path):
    """Verify names the run; a cut at the end needs the receipt, as with any chain."""
    lines = LinesStore(tmp_path.as_uri())
    saver = InMemorySaver()
    graph = refund_pattern.refund(recorder=lines, checkpointer=saver)
    shown = graph.invoke(refund_pattern.ORDER, refund_pattern.THREAD)
    approval = {"decision": "approve", "hash": shown["waiting_for"]["hash"]}
    receipt = graph.invoke(Command(resume=approval), refund_pattern.THREAD)["audit"]
    [file] = tmp_path.glob("*.jsonl")
    written = file.read_bytes().splitlines(keepends=True)
    damaged = {
        "changed": [written[0].replace(b'"kind":"begin"', b'"kind":"run"'), *written[1:]],
        "content": [*written[:-1], written[-1].replace(b"refunded", b"rejected")],
        "removed": [written[0], *written[2:]],
        "cut": written[:-1],
        "half": [*written[:-1], written[-1][:100]],
        "swapped": [written[1], written[0], *written[2:]],
        "renamed": written,
    }[how]
    file.write_bytes(b"".join(damaged))
    if how == "renamed":
        file.rename(file.with_name("another.jsonl"))
    found = lines.verify((receipt["seq"], receipt["hash"]))
    assert not found.ok
    if how not in ("cut", "renamed"):
        assert shown["run_id"] in found.findings[-1].text
    if how == "renamed":
        assert any("another" in item.text for item in found.findings)


def test_kill_9_between_beginning_and_ending_leaves_an_open_run(tmp_path):
    """A process that is killed while its planner works left its beginning; verify and the command line name it."""
    code = f"""
import sys, time
sys.path[:0] = [{str(ROOT)!r}]
from guardgraph import LinesStore, create_rag_agent
def plan(view):
    print("begun", flush=True)
    time.sleep(60)
create_rag_agent(planner=plan, recorder=LinesStore({tmp_path.as_uri()!r})).invoke({{"question": "What is P1?"}})
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as killed:
        assert killed.stdout.readline() == "begun\n"
        os.kill(killed.pid, signal.SIGKILL)
    [left] = LinesStore(tmp_path.as_uri()).verify().open
    done = process("audit", "verify", "--store", tmp_path.as_uri())
    assert done.returncode == 0, done.stderr
    assert left.run_id in done.stdout
    listed = process("audit", "list", "--json", "--store", tmp_path.as_uri())
    assert [row["status"] for row in json.loads(listed.stdout)] == ["open"]
    closed = process("audit", "close", left.run_id, "--by", "ada", "--why", "killed", "--store", tmp_path.as_uri())
    assert closed.returncode == 0, closed.stderr
    assert LinesStore(tmp_path.as_uri()).open_runs() == []


def test_a_reader_never_sees_half_an_object(tmp_path):
    """While a file is written a hundred times, whoever reads it has whole lines, and no file is left beside it."""
    lines = LinesStore(tmp_path.as_uri())
    kept = InMemoryRecorder()
    create_rag_agent(recorder=kept).invoke(QUESTION)
    [run] = kept.runs
    lines.record(run)
    over, seen = threading.Event(), []

    def read():
        while not over.is_set():
            seen.append(len(lines.entries(run["run_id"])))

    reader = threading.Thread(target=read)
    reader.start()
    for number in range(40):
        lines.record({**run, "graph": f"graph {number}"})
    over.set()
    reader.join(10)
    assert seen == sorted(seen)
    assert lines.verify().ok
    assert len(list(tmp_path.iterdir())) == 1
    assert [file.stat().st_mode & 0o077 for file in tmp_path.iterdir()] == [0]


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        ({"url": "runs"}, "url"),
        ({"url": 3}, "url"),
        ({"url": "no-such://x"}, "url"),
        ({"url": "memory://x", "timeout": 0}, "timeout"),
        ({"url": "memory://x", "redact": 3}, "redact"),
    ],
)
def test_wrong_arguments_of_lines_are_named(wrong, name):
    """The error names the argument, and says no password of a URL."""
    with pytest.raises(ConfigurationError, match=f"^{name}: "):
        LinesStore(**wrong)
    with pytest.raises(InputError, match="a run of the store is required"):
        LinesStore("memory://nothing").read("run")
    assert list(LinesStore("memory://nothing").runs()) == LinesStore("memory://nothing").open_runs() == []
    assert "secret" not in repr(LinesStore("memory://ada:secret@host/x"))


class Broken:
    """A recorder whose disk is full; with a beginning where it has one."""

    def record(self, run):
        raise OSError("no space left on device")


class Slow:
    """A recorder that takes longer than it may."""

    timeout = 0.05

    def record(self, run):
        time.sleep(0.4)


@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
def test_every_recorder_is_told_and_the_first_receipt_counts(mode, tmp_path):
    """The store's receipt is the result's, the lines have the run too, and so has a recorder without a beginning."""
    store, lines, plain = sql_store(f"sqlite:///{tmp_path}/runs.db"), LinesStore(f"{tmp_path.as_uri()}/l"), []

    class Plain:
        def record(self, run):
            plain.append(run["run_id"])
            run.clear()

    agent = create_rag_agent(recorder=Recorders(Plain(), store, lines), policy=REQUIRED)
    result = agent.invoke(QUESTION) if mode == "invoke" else asyncio.run(agent.ainvoke(QUESTION))
    assert result["audit"]["hash"] == store.read(result["run_id"]).position.hash
    assert plain == [result["run_id"]]
    assert lines.read(result["run_id"]).recording == store.read(result["run_id"]).recording
    assert len(lines.entries(result["run_id"])) == len(store.entries(result["run_id"])) == 2


@pytest.mark.parametrize("failing", [Broken, Slow])
def test_any_recorder_that_fails_is_the_failure_of_all(failing, tmp_path):
    """The others have the run; the result says which one failed, and with `audit_required` the run ends for it."""
    store = sql_store(f"sqlite:///{tmp_path}/runs.db")
    both = Recorders(store, failing())
    audit = create_rag_agent(recorder=both).invoke(QUESTION)["audit"]
    assert (audit["status"], audit["error"]["type"]) == ("unavailable", "StoreError")
    assert failing.__name__ in audit["error"]["message"]
    assert len(list(store.runs())) == 1
    withheld = create_rag_agent(recorder=both, policy=REQUIRED).invoke(QUESTION)
    assert withheld["stop_reason"] == "audit_unavailable"
    assert failing.__name__ in withheld["details"]["message"]

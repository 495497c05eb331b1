"""What takes minutes: kills, pairs of bases, readers and writers, and damaged files."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
from collections import defaultdict
from contextlib import closing, contextmanager, suppress
from time import monotonic, sleep

import psycopg
from kb_faults import CALLER, PIECES, adding, damaged, folder_of, shared, survived
from postgres_server import postgres_server

from guardgraph import ConfigurationError, KnowledgeBase, PostgresKnowledgeBase, StoreError
from guardgraph.knowledge.base import make_server_base


@contextmanager
def server_base():
    """The address of a base on a server, as its superuser and as a role that may put documents in."""
    with postgres_server() as owner:
        make_server_base(owner)
        with psycopg.connect(owner, autocommit=True) as connection:
            connection.execute("CREATE ROLE ingest LOGIN IN ROLE guardgraph_writer")
        yield owner, owner.replace("postgres:@", "ingest@")


def test_kills_of_an_addition(tmp_path):
    """Whenever the process is killed that adds a folder, each document is whole, and the next addition completes."""
    assert survived(tmp_path, kills=12, seed=50, documents=1200) > 5


REBUILDING = """
import sys
from pathlib import Path
from guardgraph.knowledge.base import open_to_check
from guardgraph.knowledge.checking import rebuild_knowledge_base
print("ready", flush=True)
rebuild_knowledge_base(open_to_check(Path(sys.argv[1])))
"""


def spoil_and_rebuild(path, seconds):
    """Change a base, let a process rebuild it, killed after so many seconds; return how long it took, 0 if killed."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE parts SET words = words + 1")
    command = [sys.executable, "-c", REBUILDING, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline() == "ready\n"
        begun = monotonic()
        if seconds is not None:
            sleep(seconds)
            child.kill()
        return 0 if child.wait() else monotonic() - begun


def test_kills_of_a_rebuild(tmp_path):
    """Whenever the process is killed that rebuilds a base, it is as it was or whole, and the next rebuild completes."""
    path, chance, at_work = tmp_path / "kb.sqlite", random.Random(20), 0
    with KnowledgeBase(path) as base:
        base.add(folder_of(tmp_path / "docs", "old", documents=200), tenant="acme")
        expected = base.search("Common word", caller=CALLER, top_k=10_000)
    took = spoil_and_rebuild(path, None)
    for _ in range(6):
        at_work += spoil_and_rebuild(path, chance.uniform(0, took)) == 0
        with KnowledgeBase(path) as base:
            before = base.check()
            assert before.ok or {finding.kind for finding in before.findings} == {"words"}
            assert base.rebuild().ok
            assert base.check().findings == ()
            assert base.search("Common word", caller=CALLER, top_k=10_000) == expected
    assert at_work > 1


def test_eight_readers_and_two_writers(tmp_path):
    assert min(shared(tmp_path, readers=8, writers=2, seconds=10)) > 0


def test_damaged_files(tmp_path):
    """A file that was cut or changed says so, or answers with what was put in for those who ask."""
    answered, rebuilt = damaged(tmp_path, trials=100, seed=400)
    assert (answered > 5, rebuilt > 1) == (True, True)


def kill_backends(owner):
    """Kill what serves the ingest: the server ends all others then, and recovers, as after a loss of power."""
    with psycopg.connect(owner, autocommit=True) as connection:
        rows = connection.execute("SELECT pid FROM pg_stat_activity WHERE usename = 'ingest'").fetchall()
    for (pid,) in rows:
        with suppress(ProcessLookupError):  # the server was quicker to end it
            os.kill(pid, signal.SIGKILL)


def check_server(url):
    """Hold the base against what was put in: all that is counted is right, and each document is whole."""
    ends, texts = monotonic() + 60, defaultdict(list)
    while not texts:
        try:
            with PostgresKnowledgeBase(url) as base:
                assert base.check().ok
                for found in base.search("Common word", caller=CALLER, top_k=10_000):
                    texts[found["doc_id"].split("#")[0]].append(found["text"].split()[3])
            assert texts
        except (ConfigurationError, StoreError):  # it recovers
            if monotonic() > ends:
                raise
            sleep(0.2)
    assert {(len(said), len({*said})) for said in texts.values()} == {(PIECES, 1)}


def test_kills_on_a_server(tmp_path):
    """When a client that adds a folder or its server is killed, each document is whole and all counts are right."""
    folders = [folder_of(tmp_path / version / "docs", version, 600) for version in ("old", "new")]
    chance, at_work, took = random.Random(50), 0, 10.0
    with server_base() as (owner, url):
        for kill in range(12):
            child, begun = adding(url, folders[kill % 2], "PostgresKnowledgeBase"), monotonic()
            if kill < 2:  # which tells how long it takes
                child.communicate()
                took = monotonic() - begun
                continue
            sleep(chance.uniform(0, took))
            at_work += child.poll() is None
            if chance.random() < 0.5:
                child.kill()
            else:
                kill_backends(owner)
            child.communicate()
            check_server(url)
    assert at_work > 3

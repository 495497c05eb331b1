"""What befalls a knowledge base: killed writers, many at once, full disks and damaged files, with real processes."""

import os
import random
import resource
import signal
import sqlite3
import subprocess
import sys
from collections import defaultdict
from contextlib import closing, suppress
from multiprocessing import get_context
from time import monotonic, sleep

import psycopg

from guardgraph import ConfigurationError, GuardgraphError, KnowledgeBase, PostgresKnowledgeBase, StoreError
from guardgraph.knowledge.base import open_to_check
from guardgraph.knowledge.checking import check_knowledge_base, rebuild_knowledge_base

DOCUMENTS, PIECES = 30, 4
CALLER = {"tenant": "acme", "groups": ["staff"]}
ADDING = """
import sys
from guardgraph import KnowledgeBase
with KnowledgeBase(sys.argv[1]) as base:
    print("begins", flush=True)
    base.add(sys.argv[2], tenant="acme")
"""


def text_of(version, number):
    said = (f"## Part {piece}\n\nCommon word of {version} number {number}.\n" for piece in range(PIECES))
    return f"# Document {number}\n\n" + "\n".join(said)


def folder_of(folder, version, documents=DOCUMENTS):
    """A folder whose documents all say of which version they are, and of which every third is for the board alone."""
    for number in range(documents):
        place = folder / ("board" if number % 3 == 0 else "staff")
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{number}.md").write_text(text_of(version, number))
    (folder / "access.yaml").write_text("readers: [tenant]\n")
    (folder / "board" / "access.yaml").write_text("readers: ['group:board']\n")
    (folder / "staff" / "access.yaml").write_text("readers: ['group:staff']\n")
    return folder


def versions(path, caller):
    """Of which version each document is that a caller finds; whoever finds half of one finds an error."""
    with KnowledgeBase(path) as base:
        found = base.search("Common word", caller=caller, top_k=10_000)
    texts = defaultdict(list)
    for candidate in found:
        assert candidate["readers"] == ["group:staff"], candidate
        texts[candidate["doc_id"].split("#")[0]].append(candidate["text"])
    told = {}
    for number, pieces in texts.items():
        [told[number]] = {piece.split()[3] for piece in pieces}
        assert len(pieces) == PIECES, (number, pieces)
    return told


def survived(here, kills, seed, documents=DOCUMENTS):
    """Kill a process that adds a folder again and again; return how many kills found it at work."""
    old, new = (folder_of(here / version / "docs", version, documents) for version in ("old", "new"))
    path, chance, at_work = here / "kb.sqlite", random.Random(seed), 0
    _adding(path, old).communicate()
    child, begun = _adding(path, new), monotonic()
    child.communicate()
    took = monotonic() - begun
    for _ in range(kills):
        child = _adding(path, old if "new" in versions(path, CALLER).values() else new)
        sleep(chance.uniform(0, took))
        at_work += child.poll() is None
        child.send_signal(signal.SIGKILL)
        child.communicate()
        told = versions(path, CALLER)
        assert len(told) == documents - (documents + 2) // 3
        assert set(told.values()) <= {"old", "new"}
        assert_whole(path)
    _adding(path, new).communicate()
    assert set(versions(path, CALLER).values()) == {"new"}
    assert_whole(path)
    return at_work


REBUILDING = """
import sys
from pathlib import Path
from guardgraph.knowledge.base import open_to_check
from guardgraph.knowledge.checking import rebuild_knowledge_base
print("ready", flush=True)
rebuild_knowledge_base(open_to_check(Path(sys.argv[1])))
"""


def assert_whole(path):
    with KnowledgeBase(path) as base:
        assert base.check().findings == ()


def rebuilds_survived(here, kills, seed):
    """Kill a process that rebuilds a base again and again; return how many kills found it at work."""
    path, chance, at_work = here / "kb.sqlite", random.Random(seed), 0
    with KnowledgeBase(path) as base:
        base.add(folder_of(here / "docs", "old", documents=200), tenant="acme")
        expected = base.search("Common word", caller=CALLER, top_k=10_000)
    took = _spoil_and_rebuild(path, None)
    for _ in range(kills):
        at_work += _spoil_and_rebuild(path, chance.uniform(0, took)) == 0
        with KnowledgeBase(path) as base:
            before = base.check()
            assert before.ok or {finding.kind for finding in before.findings} == {"words"}
            assert base.rebuild().ok
            assert base.check().findings == ()
            assert base.search("Common word", caller=CALLER, top_k=10_000) == expected
    return at_work


def _spoil_and_rebuild(path, seconds):
    """Change a base, let a process rebuild it, killed after so many seconds; return how long it took, 0 if killed."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE parts SET words = words + 1")
    command = [sys.executable, "-c", REBUILDING, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline() == "ready\n"
        begun = monotonic()
        if seconds is not None:
            sleep(seconds)
            child.send_signal(signal.SIGKILL)
        return 0 if child.wait() else monotonic() - begun


def _adding(path, folder):
    command = [sys.executable, "-c", ADDING, str(path), str(folder)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert child.stdout.readline() == b"begins\n"
    return child


def _write(path, here, name, seconds):
    with KnowledgeBase(path) as base:
        ends, rounds = monotonic() + seconds, 0
        while monotonic() < ends:
            base.add(here / ("old", "new")[rounds % 2] / name, tenant="acme", name=name)
            rounds += 1
    return rounds


def _read(path, seconds):
    ends, rounds = monotonic() + seconds, 0
    while monotonic() < ends:
        told = versions(path, CALLER)
        assert set(told.values()) <= {"old", "new"}
        rounds += 1
    return rounds


def _check(path, seconds):
    ends, rounds = monotonic() + seconds, 0
    while monotonic() < ends:
        assert_whole(path)
        rounds += 1
    return rounds


def shared(here, readers, writers, seconds):
    """Let processes read, write and check one file at once; return how often each of them did."""
    names = [f"c{number}" for number in range(writers)]
    for version in ("old", "new"):
        for name in names:
            folder_of(here / version / name, version, documents=6)
    path = here / "kb.sqlite"
    with get_context("spawn").Pool(readers + writers + 1) as pool:
        wrote = [pool.apply_async(_write, (path, here, name, seconds)) for name in names]
        read = [pool.apply_async(_read, (path, seconds)) for _ in range(readers)]
        counts = [done.get(3600) for done in (*wrote, *read, pool.apply_async(_check, (path, seconds)))]
        pool.close()
        pool.join()
    with KnowledgeBase(path) as base:
        assert all(base.add(here / "new" / name, tenant="acme", name=name).ok for name in names)
    assert set(versions(path, CALLER).values()) == {"new"}
    assert_whole(path)
    return counts


def without_room(most, command, *arguments):
    """Run a command of `guardgraph kb` for the tenant where a file may have so many bytes; return how it ended."""

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    tenant = ["--tenant", "acme"] if command == "add" else []
    line = [sys.executable, "-m", "guardgraph", "kb", command, *map(str, arguments), *tenant]
    return subprocess.run(line, capture_output=True, text=True, check=False, preexec_fn=limit)


def damaged(here, trials, seed):
    """Cut and flip copies of a file; return how many of them still answered, and how many a rebuild took.

    Whatever answers says only what was put in, to those who may read it; what is not found to be damaged, or was
    rebuilt, answers.
    """
    chance, answered, rebuilt = random.Random(seed), 0, 0
    path = here / "kb.sqlite"
    with KnowledgeBase(path) as base:
        base.add(folder_of(here / "docs", "old"), tenant="acme")
    content, copy = path.read_bytes(), here / "copy.sqlite"
    for trial in range(trials):
        for beside in here.glob("copy.sqlite*"):
            beside.unlink()
        copy.write_bytes(_spoilt(content, trial, chance))
        answers = _answers(copy)
        answered += answers
        try:
            is_whole = check_knowledge_base(open_to_check(copy)).ok
            rebuild_knowledge_base(open_to_check(copy))
        except GuardgraphError:
            continue
        assert answers or not is_whole
        assert _answers(copy)
        assert check_knowledge_base(open_to_check(copy)).ok
        rebuilt += not is_whole
    return answered, rebuilt


def _spoilt(content, trial, chance):
    spoilt = bytearray(content)
    if trial % 4 == 0:
        del spoilt[chance.randrange(len(spoilt)) :]
    else:
        for _ in range(1 + trial % 3 * 20):
            spoilt[chance.randrange(len(spoilt))] ^= 1 << chance.randrange(8)
    return spoilt


def _answers(copy):
    """Say whether a file answers; what it says was put in for whoever asks."""
    try:
        with KnowledgeBase(copy) as base:
            found = base.search("Common word number", caller=CALLER, top_k=1000)
    except GuardgraphError:
        return False
    for candidate in found:
        number = candidate["doc_id"].split("/")[1].split(".")[0]
        assert candidate["doc_id"].startswith("staff/"), candidate
        assert candidate["text"] in text_of("old", number), candidate
    return True


AS_NOBODY = """
import contextlib, io, os, sys
from guardgraph.cli import main
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    sys.argv = ["guardgraph", "kb", "add", *sys.argv[1:3]]
    main()  # nobody may not even read our modules: this loads them
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
sys.argv = ["guardgraph", "kb", *COMMAND]
main()
"""


def as_nobody(warm, folder, command):
    """Run a command as a user who owns nothing here; return how it ended.

    Args:
        warm: where a knowledge base may be made before.
        folder: what is added to it.
        command: behind ``guardgraph kb``.
    """
    code = AS_NOBODY.replace("COMMAND", repr(command))
    return subprocess.run(
        [sys.executable, "-c", code, str(warm), str(folder)], capture_output=True, text=True, check=False
    )


IS_ROOT = hasattr(os, "getuid") and os.getuid() == 0


ADDING_TO_SERVER = """
import sys
from guardgraph import PostgresKnowledgeBase
with PostgresKnowledgeBase(sys.argv[1]) as base:
    print("begins", flush=True)
    base.add(sys.argv[2], tenant="acme", prune=True)
"""


def server_survived(here, owner, url, kills, seed, documents=600):
    """Kill the process that adds a folder, or that of the server which serves it; return how many kills found it."""
    folders = [folder_of(here / version / "docs", version, documents) for version in ("old", "new")]
    chance, at_work, took = random.Random(seed), 0, 10.0
    for kill in range(kills + 2):
        command = [sys.executable, "-c", ADDING_TO_SERVER, url, str(folders[kill % 2])]
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        child.stdout.readline()
        begun = monotonic()
        if kill < 2:  # which tells how long it takes
            child.communicate()
            took = monotonic() - begun
            continue
        sleep(chance.uniform(0, took))
        at_work += child.poll() is None
        if chance.random() < 0.5:
            child.kill()
        else:
            _kill_backends(owner)
        child.communicate()
        _check_server(url)
    return at_work


def _kill_backends(owner):
    """Kill what serves the ingest: the server ends all others then, and recovers, as after a loss of power."""
    with psycopg.connect(owner, autocommit=True) as connection:
        rows = connection.execute("SELECT pid FROM pg_stat_activity WHERE usename = 'ingest'").fetchall()
    for (pid,) in rows:
        with suppress(ProcessLookupError):  # the server was quicker to end it
            os.kill(pid, signal.SIGKILL)


def _check_server(url):
    """Hold the base against what was put in: all that is counted is right, and each document is whole."""
    ends = monotonic() + 60
    while True:
        try:
            with PostgresKnowledgeBase(url) as base:
                assert base.check().ok
                texts = defaultdict(list)
                for found in base.search("Common word", caller=CALLER, top_k=10_000):
                    texts[found["doc_id"].split("#")[0]].append(found["text"].split()[3])
            break
        except (ConfigurationError, StoreError):  # it recovers
            if monotonic() > ends:
                raise
            sleep(0.2)
    assert texts
    for versions_of in texts.values():
        assert (len(versions_of), len({*versions_of})) == (PIECES, 1)

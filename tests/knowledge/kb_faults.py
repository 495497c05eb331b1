"""What befalls a knowledge base: killed writers, many at once, full disks and damaged files, with real processes."""

import os
import random
import resource
import signal
import subprocess
import sys
from collections import defaultdict
from multiprocessing import get_context
from time import monotonic, sleep

from guardgraph import GuardgraphError, KnowledgeBase
from guardgraph.knowledge.base import open_to_check
from guardgraph.knowledge.checking import check_knowledge_base, rebuild_knowledge_base

DOCUMENTS, PIECES = 30, 4
CALLER = {"tenant": "acme", "groups": ["staff"]}
ADDING = """
import sys
import guardgraph
with getattr(guardgraph, sys.argv[1])(sys.argv[2]) as base:
    print("begins", flush=True)
    base.add(sys.argv[3], tenant="acme", prune=True)
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
    adding(path, old).communicate()
    child, begun = adding(path, new), monotonic()
    child.communicate()
    took = monotonic() - begun
    for _ in range(kills):
        child = adding(path, old if "new" in versions(path, CALLER).values() else new)
        sleep(chance.uniform(0, took))
        at_work += child.poll() is None
        child.send_signal(signal.SIGKILL)
        child.communicate()
        told = versions(path, CALLER)
        assert len(told) == documents - (documents + 2) // 3
        assert set(told.values()) <= {"old", "new"}
        assert_whole(path)
    adding(path, new).communicate()
    assert set(versions(path, CALLER).values()) == {"new"}
    assert_whole(path)
    return at_work


def assert_whole(path):
    with KnowledgeBase(path) as base:
        assert base.check().findings == ()


def adding(place, folder, kind="KnowledgeBase"):
    """Start a process that adds a folder to a base of a kind; it is at work when this returns."""
    command = [sys.executable, "-c", ADDING, kind, str(place), str(folder)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert child.stdout.readline() == b"begins\n"
    return child


def _until(seconds, act):
    """Act again and again for so many seconds, told how often before; return how often."""
    ends, rounds = monotonic() + seconds, 0
    while monotonic() < ends:
        act(rounds)
        rounds += 1
    return rounds


def _write(path, here, name, seconds):
    with KnowledgeBase(path) as base:
        return _until(seconds, lambda at: base.add(here / ("old", "new")[at % 2] / name, tenant="acme", name=name))


def _read(path, seconds):
    def read(_):
        assert set(versions(path, CALLER).values()) <= {"old", "new"}

    return _until(seconds, read)


def _check(path, seconds):
    return _until(seconds, lambda _: assert_whole(path))


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
    """Cut and flip copies of a file; return how many still answered rightly, and how many a rebuild took."""
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
    """Run a command of ``guardgraph kb`` as a user who owns nothing here, behind one that adds a folder to a base."""
    code = AS_NOBODY.replace("COMMAND", repr(command))
    line = [sys.executable, "-c", code, str(warm), str(folder)]
    return subprocess.run(line, capture_output=True, text=True, check=False)


IS_ROOT = hasattr(os, "getuid") and os.getuid() == 0

"""Checking a knowledge base: whatever is changed in its file is found, and made anew from its texts or refused."""

import json
import random
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import pytest
from cli_runs import empty_folder, run
from hypothesis import given, settings
from hypothesis import strategies as st
from test_kb_ingest import write
from test_kb_vectors import documents

from guardgraph import KnowledgeBase, LexicalRetriever, RagBudget, create_rag_agent
from guardgraph.knowledge.file import File
from guardgraph.plain.errors import ConfigurationError, StoreError
from guardgraph.state.context import normalize_document_access

here = pytest.fixture(autouse=True)(empty_folder)

HERE = Path(__file__).parent
CALLERS = [None, {"tenant": "acme"}, {"tenant": "acme", "groups": ["board"]}, {"tenant": "globex"}]
QUESTIONS = ["wing flow", "What heats the wing?", "Flügel", "0", "heat heat swept"]
UNCHECKED = {("documents", column) for column in ("place", "size", "modified", "sha256")}
UNCHECKED |= {("state", "value"), ("parts", "changed"), ("scopes", "used"), ("lengths", "block")}
"""What another value may stand in that was put in as well, or that says only what may be read anew."""


def filled(base):
    """Fill a base with two tenants, several languages, and texts that tell none."""
    texts = {
        "a.md": "# Wings\n\nThe wing is heated by the flow.\n\n## Swept\n\nSwept wings are heated less, and turn.\n",
        "b.md": "# Flügel\n\nDer Flügel wird von der Strömung erwärmt und ist nicht kalt.\n",
        "board/c.md": "# Heat\n\nThe board talks of heat and of the wing again.\n",
        "board/access.yaml": "readers: ['group:board']\n",
        "d.txt": "0 1 2",
    }
    folder = write(base.path.parent / "docs", texts)
    for tenant in ("acme", "globex"):
        assert base.add(folder, tenant=tenant, readers=["tenant"]).ok
    return base


def answers(path):
    with KnowledgeBase(path) as base:
        return [base.search(question, caller=caller, top_k=50) for question in QUESTIONS for caller in CALLERS]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    with KnowledgeBase(tmp_path_factory.mktemp("made") / "kb.sqlite") as base:
        filled(base)
        path = base.path
    changed(path, "PRAGMA wal_checkpoint(TRUNCATE)")
    return path, answers(path)


@pytest.fixture
def copied(made, tmp_path):
    path, _ = made
    shutil.copytree(path.parent / "docs", tmp_path / "docs")
    return str(shutil.copy(path, tmp_path / "kb.sqlite"))


def changed(path, statement):
    with closing(sqlite3.connect(path)) as connection, connection:
        return connection.execute(statement).rowcount


def cells(path):
    """Name every cell of the file: table, column, key."""
    with closing(sqlite3.connect(path)) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in sorted(tables):
            columns = connection.execute(f"PRAGMA table_info({table})").fetchall()
            keys = [column[1] for column in columns if column[5]]
            for row in connection.execute(f"SELECT {', '.join(keys)} FROM {table}").fetchall():
                for column in columns:
                    yield table, column[1], dict(zip(keys, row, strict=True))


def other(value, chance):
    """Another value, mostly of the same kind."""
    if chance.random() < 0.2:
        return chance.choice([b"\xff\0", "x\0y", 1.5, -1, "", 1 << 62])
    if isinstance(value, int):
        return value + chance.choice([-1, 1, 1000])
    if isinstance(value, bytes):
        at = chance.randrange(len(value))
        return value[:at] + bytes([value[at] ^ 1 << chance.randrange(8)]) + value[at + 1 :]
    at = chance.randrange(len(value) + 1)
    return value[:at] + "x" + value[at + chance.randrange(2) :]


def change_cell(path, cell, chance):
    table, column, key = cell
    where = " AND ".join(f"{name} = ?" for name in key)
    with closing(sqlite3.connect(path)) as connection, connection:
        (value,) = connection.execute(f"SELECT {column} FROM {table} WHERE {where}", [*key.values()]).fetchone()
        if value is None:  # no vector
            return False
        new = other(value, chance)
        with suppress(sqlite3.IntegrityError):
            connection.execute(f"UPDATE {table} SET {column} = ? WHERE {where}", [new, *key.values()])
            return new != value
    return False


def test_a_base_that_nobody_touched_has_no_findings(made, copied):
    """What was added leaves nothing to find, and an index that is made anew finds the same."""
    path = copied
    with KnowledgeBase(path) as base:
        checked = base.check()
        assert (checked.ok, checked.findings, checked.documents) == (True, (), 8)
        assert base.rebuild() == replace(checked, rebuilt=True)
        assert base.check() == checked
    assert answers(path) == made[1]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 1 << 32))
def test_a_changed_cell_is_found_and_made_anew_or_refused(made, tmp_path_factory, seed):
    """Any cell: the check names it, a rebuild makes it anew or refuses it, and nobody finds what was not put in."""
    path, expected = made
    chance, copy = random.Random(seed), tmp_path_factory.mktemp("copy") / "kb.sqlite"
    shutil.copy(path, copy)
    table = chance.choice(["chunks", "documents", "lengths", "parts", "postings", "scopes"])
    cell = chance.choice([cell for cell in cells(copy) if cell[0] == table and cell[:2] not in UNCHECKED])
    if not change_cell(copy, cell, chance):
        return
    with KnowledgeBase(copy) as base:
        found = base.check()
        assert found.findings, cell
        rebuilt = base.rebuild()
        assert (rebuilt.findings, rebuilt.rebuilt) == (found.findings, True)
        assert base.check().findings == (), cell
    after = answers(copy)
    assert {shown(item) for each in after for item in each} <= {shown(item) for each in expected for item in each}
    if rebuilt.ok:
        assert after == expected, cell
    else:
        assert rebuilt.refused


def shown(candidate):
    return json.dumps({**candidate, "score": 0})


EVERY = [
    ("UPDATE chunks SET tenant = '+other' WHERE name LIKE 'd.txt%' AND tenant = '+acme'", "row"),
    ("UPDATE scopes SET readers = '[\"public\"]' WHERE id = 1", "row"),
    ("UPDATE chunks SET document = 2 WHERE name LIKE 'a.md%' AND number = 0", "row"),
    ("DELETE FROM chunks WHERE document = 1 AND number = 0", "row"),
    ("DELETE FROM documents WHERE id = 1", "row"),
    ("UPDATE postings SET data = substr(data, 2)", "words"),
    ("UPDATE chunks SET at = -1 - at", "words"),
    ("UPDATE lengths SET data = substr(data, 2)", "words"),
    ("UPDATE scopes SET used = 0", "words"),
    ("DELETE FROM parts", "words"),
    ("DELETE FROM state WHERE name = 'words'", "version"),
]


@pytest.mark.parametrize(("statement", "kind"), EVERY)
def test_what_was_changed_is_whole_after_a_rebuild_and_one_addition(copied, made, statement, kind):
    """The finding is of its kind; a rebuild makes all as it was, or names what it refused; one addition heals that."""
    assert changed(copied, statement)
    found = json.loads(run("kb", "check", copied, "--json").stdout)
    assert kind in {finding["kind"] for finding in found["findings"]}
    done = run("kb", "rebuild", copied, "--json")
    rebuilt = json.loads(done.stdout)
    assert (rebuilt["rebuilt"], done.exit_code) == (True, 0 if rebuilt["ok"] else 3)
    assert run("kb", "check", copied).exit_code == 0
    assert kind == "row" or (done.exit_code, answers(copied)) == (0, made[1])
    before = {shown(item) for each in made[1] for item in each}
    assert {shown(item) for each in answers(copied) for item in each} <= before
    with KnowledgeBase(copied) as base:
        filled(base)
        assert base.check().findings == ()
    assert by_id(answers(copied)) == by_id(made[1])


def test_who_waited_too_long_is_told_in_one_line(copied):
    """A writer whose turn does not come is told why, and what to do; readers are not held up."""
    with closing(sqlite3.connect(copied)) as holding:
        holding.execute("BEGIN IMMEDIATE")
        told = r"others have been writing it for 0\.1 seconds .*: try again when they are done"
        with pytest.raises(StoreError, match=told), File(Path(copied), 0.1).writing(None):
            pass
        assert any(answers(copied))


def by_id(found):
    return [sorted(each, key=lambda item: (-item["score"], item["tenant"], item["doc_id"])) for each in found]


def test_a_document_whose_hash_is_wrong_is_taken_out_until_it_is_added_again(copied, made):
    """A rebuild names it, nobody finds it, and an addition of the unchanged file brings it back."""
    changed(copied, "UPDATE chunks SET text = 'Secret wing' WHERE name LIKE 'board/c.md%' AND tenant = '+acme'")
    board = {"tenant": "acme", "groups": ["board"]}
    with KnowledgeBase(copied) as base:
        assert {finding.place for finding in base.check().findings if finding.kind == "row"} == {
            "chunks: board/c.md#heat.1 of acme", "documents: board/c.md of acme",
        }  # fmt: skip
        done = run("kb", "rebuild", copied)
        assert (done.exit_code, "board/c.md of acme: not what was put in; add it again" in done.stdout) == (3, True)
        assert "board/c.md" not in {found["doc_id"].split("#")[0] for found in base.search("wing", caller=board)}
        assert base.check().findings == ()
        filled(base)
    assert by_id(answers(copied)) == by_id(made[1])


def test_a_file_that_sqlite_cannot_read_is_one_line(copied):
    """A file that was cut, or of which a page is gone, says how its documents are added again; it stays as it is."""
    path = Path(copied)
    content = path.read_bytes()
    for spoilt in (content[: len(content) // 2], content[:4096] + bytes(4096) + content[8192:], content[:5000]):
        path.write_bytes(spoilt)
        for command in ("check", "rebuild"):
            done = run("kb", command, copied)
            assert done.exit_code in {2, 3}, done.stdout
            assert "Traceback" not in done.stderr + done.stdout
            assert done.exit_code == 3 or ("kb add" in done.stderr and done.stderr.count("\n") == 1), done.stderr
        assert path.read_bytes() == spoilt


@pytest.mark.parametrize("change", ["UPDATE chunks SET text = 'Secret wing'", "DELETE FROM chunks WHERE number = 1"])
def test_what_is_damaged_stays_known_to_be_when_its_readers_change(copied, change):
    """Another source or other readers give no right hash to a text that was not put in, nor to what is left of it."""
    changed(copied, change)
    with KnowledgeBase(copied) as base:
        before = {str(finding) for finding in base.check().findings if finding.kind == "row"}
        for number, listed in base.index.listed("acme", "docs").items():
            more = normalize_document_access("acme", [*listed.access.readers, "group:new"])
            base.index.move("acme", number, "elsewhere", more)
        assert {str(finding) for finding in base.check().findings if finding.kind == "row"} == before != set()


OTHER = """
import sys
import guardgraph.knowledge.database as schema
import guardgraph.tools.relevance as relevance
schema.unicodedata = type("Other", (), {"unidata_version": "1.1.5"})
relevance.stems = lambda words, language: [word[:3] for word in words]
sys.path[:0] = sys.argv[2:]
from test_kb_check import filled
from guardgraph import KnowledgeBase, LexicalRetriever
with KnowledgeBase(sys.argv[1]) as base:
    filled(base)
"""


def test_a_base_of_another_unicode_and_stemmer_is_refused_and_rebuilt(made, tmp_path):
    """A message names the command, which makes the index anew; then all is found as in a base of this version."""
    path = tmp_path / "kb.sqlite"
    subprocess.run([sys.executable, "-c", OTHER, str(path), str(HERE), str(HERE.parent / "support")], check=True)
    told = r"Unicode 1\.1\.5.*`guardgraph kb rebuild .*kb\.sqlite` reads its texts"
    with pytest.raises(ConfigurationError, match=told):
        KnowledgeBase(path)
    found = json.loads(run("kb", "check", str(path), "--json").stdout)
    assert [finding["kind"] for finding in found["findings"]] == ["version"]
    done = run("kb", "rebuild", str(path), "--json")
    assert (done.exit_code, json.loads(done.stdout)["ok"]) == (0, True)
    with KnowledgeBase(path) as base:
        assert base.check().findings == ()
    assert answers(path) == made[1]


THAI = "โรงแรมต้องจองล่วงหน้าไม่เกินสามสิบวันก่อนการเดินทาง"
ENGLISH = "The hotel is booked at most thirty days ahead of the journey."


@pytest.mark.parametrize("texts", [[ENGLISH], [THAI, ENGLISH], [THAI, THAI, ENGLISH], ["0 1 2"], []])
def test_a_language_without_a_measured_threshold_is_named(texts, tmp_path):
    """Where most chunks are in one, by a check, a new index and the trace of each run until a threshold is set."""
    held, expected = documents(texts), ("th",) if texts.count(THAI) > 1 else ()
    found = LexicalRetriever(held)
    assert found.unmeasured == expected
    with KnowledgeBase(tmp_path / "kb.sqlite") as base:
        base.add(held, readers=["public"])
        for checked in (base.check(), base.rebuild()):
            assert (checked.ok, checked.unmeasured) == (True, expected)
        shown = run("kb", "check", str(base.path)).stdout
        assert ("most chunks are in th" in shown) == bool(expected)
        for given in [{"knowledge_base": base}, {"retriever": found}] if texts else []:
            for question in (THAI, "Is the journey long?"):
                ended = create_rag_agent(**given).invoke({"question": question})
                assert ended["trace"][0].get("unmeasured") == ([*expected] or None)
            ended = create_rag_agent(**given, budget=RagBudget(min_chunk_score=0.3)).invoke({"question": THAI})
            assert "unmeasured" not in ended["trace"][0]

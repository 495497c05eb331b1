"""Whatever is changed in a store by itself is found, and named where it can be."""

import shutil
import sqlite3
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stored_runs import opened, recording

from guardgraph import ConfigurationError, StoreError, sql_store
from guardgraph.evidence.chain import content_hash, entry_hash, read_chain_entry, run_entry
from guardgraph.plain.hashing import canonical_json

RUNS = 6
ERASED = 4
ENTRIES = RUNS + 1
AT = "2026-01-01T00:00:00.000000+00:00"
TABLES = {
    "guardgraph_entries": ("seq", "hash", "at", "run_id", "entry"),
    "guardgraph_contents": ("seq", "pattern", "salt", "content"),
    "guardgraph_callers": ("seq", "tenant", "user"),
}
ANYWHERE = st.integers(1, RUNS)


def six_runs(store):
    for number in range(1, RUNS + 1):
        store.record(recording(number, tenant="acme", user=f"user{number}"))
    store.erase(recording(ERASED)["run_id"], by="the tests")
    assert store.verify().ok
    head = store.head()
    store.close()
    return head.seq, head.hash


def findings(url, head=None):
    with closing(sql_store(url)) as store:
        return [(finding.kind, finding.seq) for finding in store.verify(head).findings]


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """The file of a store of six runs, of which the fourth was erased, and its head."""
    file = tmp_path_factory.mktemp("kept") / "runs.db"
    head = six_runs(sql_store(f"sqlite:///{file}"))
    with opened(file) as connection:
        assert connection.execute("PRAGMA journal_mode = DELETE").fetchone() == ("delete",)  # one file is all there is
    return file, head


@pytest.fixture(scope="module")
def rows(kept):
    """What the store holds, by a query."""

    def ask(query, *values):
        with opened(kept[0]) as connection:
            return connection.execute(query, values).fetchall()

    return ask


@pytest.fixture(scope="module")
def tampered(kept, tmp_path_factory):
    """How a copy of the store is changed by statements, and what is found in it then."""
    file, _ = kept
    copy = tmp_path_factory.mktemp("tampered") / "runs.db"

    def found(*statements, head=None):
        shutil.copy(file, copy)
        with opened(copy) as connection:
            for statement, *values in statements:
                connection.execute(statement, values)
        return findings(f"sqlite:///{copy}", head)

    return found


@given(st.data())
def test_a_change_of_any_value_is_found_and_named(rows, tampered, data):
    """A letter of any column of any row: the first finding has the number of its entry."""
    table = data.draw(st.sampled_from(sorted(TABLES)))
    column = data.draw(st.sampled_from([name for name in TABLES[table] if name != "seq"]))
    found = rows(f'SELECT seq, "{column}" FROM {table} WHERE "{column}" IS NOT NULL ORDER BY seq')
    seq, value = data.draw(st.sampled_from(found))
    at = data.draw(st.integers(0, len(value) - 1))
    letter = data.draw(st.sampled_from([letter for letter in '0a9"\\é' if letter != value[at]]))
    changed = value[:at] + letter + value[at + 1 :]
    found = tampered((f'UPDATE {table} SET "{column}" = ? WHERE seq = ? AND "{column}" = ?', changed, seq, value))
    assert found, (table, column, seq, at, letter)
    assert found[0][1] == seq


@given(ANYWHERE)
def test_an_entry_that_was_changed_and_hashed_anew_is_named(rows, tampered, seq):
    """Whoever hashes an entry anew that he changed cannot make the next one follow it."""
    [(text,)] = rows("SELECT entry FROM guardgraph_entries WHERE seq = ?", seq)
    said = {**read_chain_entry(text), "at": "2020-01-01T00:00:00.000000+00:00"}
    text = canonical_json(said)
    values = (text, entry_hash(text), said["at"], seq)
    found = tampered(("UPDATE guardgraph_entries SET entry = ?, hash = ?, at = ? WHERE seq = ?", *values))
    assert found[0] == ("changed", seq)


SHIFTED = "UPDATE {table} SET seq = -(seq {by} 1) WHERE seq {where}"
PUT_BACK = "UPDATE {table} SET seq = -seq WHERE seq < 0"


def _renumbered(by, where):
    return [(text.format(table=table, by=by, where=where),) for table in TABLES for text in (SHIFTED, PUT_BACK)]


@given(ANYWHERE, st.booleans())
def test_an_entry_that_was_removed_is_named(tampered, seq, is_renumbered):
    """Removed with all that belongs to it, whether or not those behind it are numbered anew."""
    removed = [(f"DELETE FROM {table} WHERE seq = ?", seq) for table in TABLES]
    found = tampered(*removed, *(_renumbered("-", f"> {seq}") if is_renumbered else ()))
    assert ("removed", seq) in found


RUN_ENTRY = "INSERT INTO guardgraph_entries (seq, hash, at, run_id, entry) VALUES (?, ?, ?, ?, ?)"


@given(ANYWHERE)
def test_an_entry_that_was_inserted_is_named(rows, tampered, seq):
    """An entry that follows the one before, with those behind it numbered anew."""
    hashes = dict(rows("SELECT seq, hash FROM guardgraph_entries"))
    text = run_entry(seq, hashes.get(seq - 1, "0" * 64), AT, run_id="forged", content="0" * 64)
    row = (RUN_ENTRY, seq, entry_hash(text), AT, "forged", text)
    assert ("inserted", seq) in tampered(*_renumbered("+", f">= {seq}"), row)


@given(st.lists(ANYWHERE, min_size=2, max_size=2, unique=True).map(sorted))
def test_entries_that_changed_places_are_named(tampered, pair):
    """Two entries with all that belongs to them, each under the number of the other."""
    first, second = pair
    swap = "UPDATE {} SET seq = CASE seq WHEN ? THEN -? ELSE -? END WHERE seq IN (?, ?)"
    both = [(swap.format(table), first, second, first, first, second) for table in TABLES]
    found = tampered(*both, *[(PUT_BACK.format(table=table),) for table in TABLES])
    assert found[0][1] == first
    assert found[0][0] in ("moved", "removed")


@pytest.mark.paired
@pytest.mark.parametrize("number", [2**62, -3, "x"])
@pytest.mark.parametrize("table", TABLES)
def test_a_number_that_nobody_gave_is_found(tampered, table, number):
    """However large or small it is, and one that is no number: it takes no time and no memory."""
    if isinstance(number, int) or table == "guardgraph_callers":
        assert tampered((f"UPDATE {table} SET seq = ? WHERE seq = 2", number))


def _appended(head, seq=ENTRIES + 1, **said):
    """Return the statement that appends an entry, hashed as it should be."""
    text = canonical_json({"at": AT, "by": "me", "format": 1, "previous": head[1], "seq": seq, **said})
    insert = "INSERT INTO guardgraph_entries (seq, hash, at, entry) VALUES (?, ?, ?, ?)"
    return insert, seq, entry_hash(text), AT, text


@pytest.mark.parametrize("erased", [[[1, 2**40]], [[2**62, 2**62]]])
def test_an_erasure_of_what_never_was_is_found(kept, tampered, erased):
    """An entry in its place or far behind it, which names more than there is: that takes no time either."""
    for seq in (ENTRIES + 1, 2**41):
        row = _appended(kept[1], seq, erased=erased, how="erase", kind="erasure")
        assert ("changed", seq) in tampered(row)


@given(st.integers(0, ENTRIES - 1))
def test_a_cut_is_found_by_a_head_that_was_kept(kept, tampered, last):
    """The chain alone does not show it; with the head, the first entry that is missing is named."""
    cut = [(f"DELETE FROM {table} WHERE seq > ?", last) for table in TABLES]
    assert (tampered(*cut, head=kept[1])[0], tampered(head=kept[1])) == (("cut", last + 1), [])
    assert tampered(head=(3, "f" * 64)) == [("changed", 3)]  # another chain


CONTENT = "INSERT INTO guardgraph_contents SELECT ?, pattern, salt, content FROM guardgraph_contents WHERE seq = 1"


def test_what_came_back_after_its_erasure_is_erased_once_more(kept, tmp_path):
    """Such as from a copy; afterwards the chain verifies, and both erasures are told."""
    with opened(shutil.copy(kept[0], tmp_path / "runs.db")) as connection:
        connection.execute(CONTENT, [ERASED])
    with closing(sql_store(f"sqlite:///{tmp_path}/runs.db")) as store:
        assert store.erase(recording(ERASED)["run_id"], by="the tests").records == 1
        verified = store.verify(kept[1])
    assert (verified.ok, [(item.seq, item.records) for item in verified.erasures]) == (True, [(7, 1), (8, 1)])


def test_contents_that_are_missing_and_those_that_nobody_recorded_are_named(tampered):
    """What is gone without an erasure, or erased and there again, or without an entry; callers of runs without one."""
    for seq in (1, RUNS):
        assert tampered(("DELETE FROM guardgraph_contents WHERE seq = ?", seq))[-1][1] == seq
        assert ("missing", seq) in tampered(*[(f"DELETE FROM {t} WHERE seq = ?", seq) for t in [*TABLES][1:]])
    for seq in (ERASED, ENTRIES, ENTRIES + 1):
        assert tampered((CONTENT, seq))[-1] == ("unexplained", seq)
    caller = 'INSERT INTO guardgraph_callers (seq, tenant, "user") VALUES (?, ?, ?)'
    assert tampered((caller, 1, "acme", "somebody")) == [("lookup", 1)]
    assert tampered(("DELETE FROM guardgraph_callers WHERE seq = 2",)) == [("lookup", 2)]
    assert tampered(("UPDATE guardgraph_contents SET content = 7 WHERE seq = 2",)) == [("content", 2)]


def test_a_step_beside_what_is_none_is_named(kept, tampered):
    """It would hide an open run, or invent one; so would what an erasure took away and somebody put back."""
    step = "INSERT INTO guardgraph_open (seq, kind, run_id) VALUES (?, ?, ?)"
    for seq in (1, ENTRIES):
        assert tampered((step, seq, "close", "x")) == [("lookup", seq)]
    closed = _appended(kept[1], how="closed", kind="close", run_id="x", why="lost"), (step, ENTRIES + 1, "close", "x")
    assert tampered(*closed) == []
    assert tampered(*closed, ("UPDATE guardgraph_open SET thread = 'ann'",)) == [("lookup", ENTRIES + 1)]


@pytest.mark.parametrize(
    ("told", "findings"), [([], 1), ({}, 1), ({**recording(9), "visits": [5]}, 1), ({**recording(9), "result": 5}, 0)]
)
def test_what_is_no_run_is_named_and_hides_no_other(kept, tmp_path, told, findings):
    """Whoever may append, may append anything, hashed as it should be; what a store takes, it does not call changed."""
    copy, salt, content = shutil.copy(kept[0], tmp_path / "runs.db"), "ab" * 32, canonical_json(told)
    run_id = recording(9)["run_id"]
    text = run_entry(ENTRIES + 1, kept[1][1], AT, run_id=run_id, content=content_hash(salt, content))
    with opened(copy) as connection:
        connection.execute(RUN_ENTRY, (ENTRIES + 1, entry_hash(text), AT, run_id, text))
        connection.execute("INSERT INTO guardgraph_contents VALUES (?, 'rag', ?, ?)", (ENTRIES + 1, salt, content))
    with closing(sql_store(f"sqlite:///{copy}")) as store:
        assert [(each.kind, each.seq) for each in store.verify().findings] == [("content", ENTRIES + 1)] * findings
        assert len([run for run in store.runs() if run.recording]) >= RUNS - 1


def _logical(file):
    """Return all that a database says, read without its indices; None where it cannot be read."""
    try:
        with opened(file) as connection:
            connection.text_factory = bytes
            return [connection.execute(f"SELECT * FROM {table} NOT INDEXED").fetchall() for table in sorted(TABLES)]
    except (sqlite3.DatabaseError, UnicodeDecodeError):
        return None


@given(st.data())
def test_a_change_of_any_byte_of_the_file_is_found(kept, tmp_path_factory, data):
    """Verification finds it, or says that it cannot read the store, or all that is kept still is what it was."""
    file, head = kept
    content = bytearray(file.read_bytes())
    at = data.draw(st.integers(0, len(content) - 1))
    content[at] ^= data.draw(st.integers(1, 255))
    copy = tmp_path_factory.mktemp("flipped") / "runs.db"
    copy.write_bytes(content)
    with closing(sql_store(f"sqlite:///{copy}")) as store:
        try:
            found = store.verify(head).findings
        except (StoreError, ConfigurationError):
            return
    assert found or _logical(copy) == _logical(file), at


def test_an_index_that_no_longer_finds_a_run_is_named(kept, tmp_path):
    """Entries and contents are what they were, but a run would not be found: that is no verified store."""
    copy = tmp_path / "runs.db"
    shutil.copy(kept[0], copy)
    with opened(copy) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        query = "SELECT min(name), sql FROM sqlite_master WHERE type = 'index' AND sql NOT NULL"
        name, sql = connection.execute(query).fetchone()
        connection.execute("UPDATE sqlite_master SET sql = ? WHERE name = ?", [f"{sql} WHERE seq < 2", name])
    with opened(copy) as connection:
        connection.execute(f"REINDEX {name}")
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_master SET sql = ? WHERE name = ?", [sql, name])
    damaged = pytest.raises(StoreError, match=r"the entries are right, the file is damaged: .*index")
    with closing(sql_store(f"sqlite:///{copy}")) as store, damaged:
        store.verify(kept[1])

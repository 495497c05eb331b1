"""A store in a database: how it is opened, who may read it, what it refuses, and what an erasure leaves."""

import fcntl
import os
import pickle
import signal
import stat
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta, timezone
from pathlib import Path

import psycopg
import pytest
from docs_parts import ROOT
from stored_runs import everything_written, make_file_url, make_url, new_database, opened, recording
from tables import each_row

from guardgraph import ConfigurationError, InputError, StoreError, sql_store

database = pytest.fixture(new_database)
url = pytest.fixture(make_file_url)
each = pytest.fixture(params=["sqlite", "postgres"])(make_url)

HEADS = [(1,), (0, "0" * 64), (True, "0" * 64), (1, "F" * 64)]
HEAD = "^head: a number from 1 on and 64 small hex digits are required"
FIRST = datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14)))


def rights(file):
    return stat.S_IMODE(file.stat().st_mode)


def test_a_store_that_is_made_opens_nothing(tmp_path):
    """No file is made and no server asked before a store is used; reading makes no file either."""
    sql_store("postgresql+psycopg://u:secret@127.0.0.1:1/runs?prepare_threshold=1")
    with pytest.raises(ConfigurationError, match="prepare_threshold"):  # of statements that are prepared, none is two
        sql_store("postgresql+psycopg://u:secret@127.0.0.1:1/runs?prepare_threshold=0")
    store = sql_store(f"sqlite:///{tmp_path}/runs.db")
    assert store.head() is None
    assert list(store.runs()) == []
    with pytest.raises(InputError, match="run_id: a run of the store is required"):
        store.read("nobody")
    for use in (store.verify, lambda: store.retain(1, by="me"), lambda: store.erase(tenant="acme", by="me")):
        with pytest.raises(StoreError, match="nothing was recorded yet"):
            use()
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_read_by_its_owner_alone(url, tmp_path):
    """All files of a store, whatever rights the process gives away; a file that others could read is closed to them."""
    before = os.umask(0)
    try:
        store = sql_store(url)
        store.record(recording(1))
        made = {file.name: rights(file) for file in tmp_path.iterdir()}
        assert made == {"runs.db": 0o600, "runs.db-wal": 0o600, "runs.db-shm": 0o600}
    finally:
        os.umask(before)
    for file in tmp_path.iterdir():
        file.chmod(0o644)
    store.record(recording(2))
    assert {rights(file) for file in tmp_path.iterdir()} == {0o600}


def test_a_store_is_used_by_threads_pickled_and_by_forked_processes(each):
    """All of them go on with one chain, and nobody closes what another one opened."""
    store = sql_store(each, timeout=60)
    store.record(recording(1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # this process has threads, as every test's has
        pid = os.fork()
    if pid == 0:
        try:
            store.record(recording(2))
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitpid(pid, 0)[1] == 0
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(store.record, map(recording, range(3, 11))))
    assert pickle.loads(pickle.dumps(store)).record(recording(11))["seq"] == 11
    assert [*pickle.loads(pickle.dumps(store.runs()))] == [*store.runs()]
    assert (store.verify().ok, store.verify().entries) == (True, 11)


def test_a_file_that_took_the_place_of_another_is_written_to(url, tmp_path):
    store = sql_store(url)
    store.record(recording(1))
    for file in tmp_path.iterdir():
        file.unlink()
    assert store.record(recording(2))["seq"] == 1
    assert sql_store(url).read(recording(2)["run_id"]).recording == recording(2)


@each_row(
    ("given", "message"),
    (7, "url: a text, sqlite:///FILE or postgresql"),
    ("runs.db", "is no URL"),
    ("mysql://u:secret@h/d", "given: one that begins with 'mysql'"),
    ("postgresql+asyncpg://u:secret@h/d", "given: one that begins with 'postgresql"),
    ("sqlite://", "sqlite:///FILE is required"),
    ("sqlite:///runs.db?mode=ro", "and no options"),
    ("postgresql://u:secret@h:port/d", "is no URL"),
)
def test_a_url_that_is_no_store_is_refused(given, message):
    with pytest.raises(ConfigurationError) as caught:
        sql_store(given)
    assert message in str(caught.value)
    assert ("secret" in str(caught.value), "\n" in str(caught.value)) == (False, False)


def test_a_password_is_nowhere_to_be_read():
    """Neither in what a store shows of itself nor in what it raises, nor in what that was raised from."""
    store = sql_store("postgresql+psycopg://u:s3cret@127.0.0.1:1/runs?password=s3cret2", timeout=3)
    with pytest.raises(StoreError) as caught:
        store.head()
    for shown in (store, store.database.address, caught.value, caught.value.__cause__):
        assert "s3cret" not in repr(shown) + str(shown)
    assert "127.0.0.1" in str(caught.value)


@pytest.mark.parametrize(
    ("is_store", "statement", "message"),
    [
        (False, "CREATE TABLE checkpoints (id)", "a store of guardgraph is required; it holds other tables"),
        (False, "CREATE TABLE guardgraph_store AS SELECT 2 AS version", "0.16 or later is required; given: none"),
        (True, "UPDATE guardgraph_store SET format = 3, guardgraph = '1.5.0'", "given: format 3 of guardgraph 1.5.0"),
        (True, "DROP TABLE guardgraph_callers", "it lacks tables: guardgraph_callers"),
        (False, None, "an SQLite database is required; file is not a database"),
    ],
)
def test_what_is_no_store_of_this_version_is_left_alone(url, tmp_path, is_store, statement, message):
    if is_store:
        sql_store(url).record(recording(1))
    if statement is None:
        (tmp_path / "runs.db").write_bytes(b"no database" * 1000)
    else:
        with opened(tmp_path / "runs.db") as connection:
            connection.execute(statement)
            before = [*connection.iterdump()]
    store = sql_store(url)
    for use in (store.head, lambda: store.record(recording(1)), store.verify, lambda: store.read("it")):
        with pytest.raises(ConfigurationError, match=message):
            use()
    if statement is not None:
        with opened(tmp_path / "runs.db") as connection:
            assert [*connection.iterdump()] == before


def test_a_rule_on_a_table_of_postgres_is_refused(postgres, database):
    sql_store(database).record(recording(1))
    with psycopg.connect(database.replace("+psycopg", "")) as connection:
        connection.execute("CREATE TABLE copies (LIKE guardgraph_contents)")
        rule = "CREATE RULE keeps_a_copy AS ON INSERT TO guardgraph_contents DO ALSO INSERT INTO copies VALUES (NEW.*)"
        connection.execute(rule)
    with pytest.raises(ConfigurationError, match="inheritance and row security is required; it has keeps_a_copy"):
        sql_store(database).record(recording(2))
    beside = sql_store(new_database(postgres))  # the tables of somebody else in the same database
    assert beside.record(recording(1))["seq"] == 1


def test_a_trigger_that_came_later_is_named_where_it_counts(each):
    """By a verification and before an erasure, which it could keep a copy of, also in a store that is open already."""
    store = sql_store(each, timeout=60)
    store.record(recording(1))
    sqlite = each.startswith("sqlite")
    does = "BEGIN SELECT 1; END" if sqlite else "EXECUTE FUNCTION suppress_redundant_updates_trigger()"
    trigger = f"CREATE TRIGGER keeps_a_copy BEFORE UPDATE ON guardgraph_contents FOR EACH ROW {does}"
    with store.database.get_database_engine(makes=False).connect() as connection:
        connection.exec_driver_sql(trigger)
    for use in (store.verify, lambda: store.erase(recording(1)["run_id"], by="me")):
        with pytest.raises(ConfigurationError, match="inheritance and row security is required; it has keeps_a_copy"):
            use()
    assert store.read(recording(1)["run_id"]).recording == recording(1)


def test_an_error_of_postgres_shows_no_row(database):
    """What the database says behind its first line is left out: it repeats what was to be written."""
    sql_store(database).open()
    with psycopg.connect(database.replace("+psycopg", "")) as connection:
        connection.execute("ALTER TABLE guardgraph_contents ADD CHECK (length(content) < 10)")
    with pytest.raises(StoreError, match="violates check constraint") as caught:
        sql_store(database).record(recording(1))
    assert ("Failing row" in str(caught.value), "P1" in str(caught.value)) == (False, False)


@pytest.mark.parametrize("odd", ["a\ud800", "a\0b", 5])
def test_what_is_no_text_names_no_run_and_no_caller(each, odd):
    """One clear error, the same of both databases; nothing is asked of them."""
    store = sql_store(each)
    store.record(recording(1, tenant="acme"))
    assert store.entries(odd) == []
    for use in (lambda: store.read(odd), lambda: store.erase(odd, by="me")):
        with pytest.raises(InputError, match="run_id: a run of the store is required; given: "):
            use()
    for name, use in (
        ("tenant", lambda: store.runs(tenant=odd)),
        ("pattern", lambda: store.runs(pattern=odd)),
        ("tenant", lambda: store.erase(tenant=odd, by="me")),
        ("user", lambda: store.erase(user=odd, by="me")),
    ):
        with pytest.raises(ConfigurationError, match=f"^{name}: a text that can be stored is required; given: "):
            use()


def test_a_store_can_be_made_before_the_first_run(each):
    """It is empty then, and there to be read; once more changes nothing, and what cannot be made is said."""
    store = sql_store(each)
    store.open()
    store.check()
    assert store.head() is None
    receipt = store.record(recording(1))
    store.open()
    assert store.head().receipt == receipt
    store.record({**recording(1), "more": 1})
    assert store.read(recording(1)["run_id"]).earlier == (receipt["seq"],)


FILLING = """
import resource, sys
from stored_runs import recording
from guardgraph import StoreError, sql_store
store, kept = sql_store(sys.argv[1]), 0
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, resource.RLIM_INFINITY))
for number in range(1000):
    run = recording(number)
    if not number:
        run["result"]["answer"] = "x" * 8_000_000
    try:
        kept = store.record(run)["seq"]
    except StoreError as error:
        print(error, kept, sep="|")
        if kept:
            break
"""


def test_a_full_disk_is_one_line_and_nothing_is_half_written(url):
    """Tables that were made with a first record go with it; what was acknowledged is there, and the chain is whole."""
    given = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'tests' / 'support'}:{ROOT / 'examples'}"}
    command = [sys.executable, "-W", "error", "-c", FILLING, url]
    done = subprocess.run(command, env=given, capture_output=True, text=True, timeout=300, check=True)
    (first, at_first), (second, kept) = (line.split("|") for line in done.stdout.splitlines())
    for message in (first, second):
        assert message.startswith(url)
        assert "disk" in message
    verification = sql_store(url).verify()
    assert verification.ok
    assert (at_first, verification.entries >= int(kept) > 0) == ("0", True)


@contextmanager
def stopped(server):
    """Stop the processes of a PostgreSQL server, as a hung machine would, and let them go on."""
    folder = Path(server.partition("host=")[2])
    first = int((folder / "postmaster.pid").read_text().splitlines()[0])
    children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(first)], capture_output=True, text=True, check=True)
    pids = [first, *map(int, children.stdout.split())]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


def test_a_server_that_hangs_is_left_after_the_timeout(postgres, database):
    """Whoever writes or reads is let go; once the server goes on, so does the store, with nothing written twice."""
    store = sql_store(database, timeout=1)
    patient = sql_store(database, timeout=60)
    patient.record(recording(1))
    store.head()
    with stopped(postgres):
        for use in (lambda: store.record(recording(2)), store.head, lambda: list(store.runs()), store.verify):
            with pytest.raises(StoreError, match="no answer within 1 seconds"):
                use()
    assert patient.record(recording(3))["seq"] == 2
    assert patient.verify().ok
    patient.close()


def test_a_writer_that_hangs_in_line_is_passed_by(url):
    """Where the file itself is free, others write after half their timeout at most, and it keeps no more than one."""
    hasty, patient = sql_store(url, timeout=0.2), sql_store(url, timeout=4)
    sql_store(url, timeout=60).open()
    for number in range(2):
        patient.record(recording(number))
    with suppress(StoreError):  # on a busy machine
        for number in range(2, 4):
            hasty.record(recording(number))
    with open(f"{url.removeprefix('sqlite:///')}-wal") as place:
        fcntl.flock(place, fcntl.LOCK_EX)
        for number in range(4, 8):
            with suppress(StoreError):
                hasty.record(recording(number))
        kept = patient.record(recording(8))
    assert patient.record(recording(8)) == kept
    assert patient.verify().ok


def test_a_connection_that_the_server_closed_is_replaced(database):
    """A server that was started anew is written to, and no run pays for it."""
    store = sql_store(database, timeout=60)
    store.record(recording(1))
    with psycopg.connect(database.replace("+psycopg", "")) as connection:
        mine = "pid <> pg_backend_pid() AND datname = current_database() AND backend_type = 'client backend'"
        ended = connection.execute(f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE {mine}")
        assert (True,) in ended.fetchall()
    assert store.record(recording(2))["seq"] == 2


@each_row(
    ("use", "message"),
    (lambda store: store.erase(by="me"), "either a run_id, or a tenant or user"),
    (lambda store: store.erase("x", tenant="acme", by="me"), "either a run_id, or a tenant or user"),
    (lambda store: store.erase(tenant="acme", by=" "), "by: who erases"),
    (lambda store: store.retain(float("nan"), by="me"), "days: a number from 0"),
    (lambda store: store.runs(since=datetime(2026, 1, 1)), "since: a date and time with its zone"),
    (lambda store: store.runs(since=FIRST), "since: a date and time that UTC has is required"),
    *((lambda store, head=head: store.verify(head), HEAD) for head in HEADS),
)
def test_what_is_asked_wrongly_of_a_store_is_refused(url, use, message):
    store = sql_store(url)
    store.record(recording(1))
    with pytest.raises(ConfigurationError, match=message):
        use(store)


def test_what_was_erased_is_in_no_file(url, tmp_path):
    """Neither in the database nor in SQLite's log, while the store stays open."""
    store = sql_store(url)
    for number in range(30):
        kept = recording(number, tenant="acme", user="Ann-7731")
        store.record({**kept, "input": {"question": f"Canary-{number}-" * 999}})
    assert b"Canary-17-" in everything_written(tmp_path)
    store.erase(user="Ann-7731", by="me")
    written = everything_written(tmp_path)
    assert (b"Canary" in written, b"Ann-7731" in written) == (False, False)
    assert store.verify().ok


def test_a_content_that_was_changed_is_not_read(url, tmp_path):
    store = sql_store(url)
    store.record(recording(1))
    with opened(tmp_path / "runs.db") as connection:
        connection.execute("UPDATE guardgraph_contents SET content = replace(content, '15 minutes', '16 minutes')")
    store.record(recording(2))
    with pytest.raises(StoreError, match="its content is not what was recorded"):
        store.read(recording(1)["run_id"])
    changed, kept = store.runs()
    assert (changed.recording, changed.salt, changed.changed) == (None, None, "its content is not what was recorded")
    assert (kept.recording, kept.changed) == (recording(2), None)
    assert store.erase(recording(1)["run_id"], by="me").records == 1

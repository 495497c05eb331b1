"""`guardgraph audit`, and the page of a stored run."""

import json
import re

import pytest
from cli_runs import empty_folder, refused, run
from stored_runs import asked, opened, recording
from tables import each_row
from test_open_runs import beginning, note

from guardgraph import InputError, report, sql_store
from guardgraph.graphs.patterns import PATTERNS

here = pytest.fixture(autouse=True)(empty_folder)
URL = "sqlite:///runs.db"
CLOSED = ("--by", "me", "--why", "x")


@pytest.fixture
def store(here, monkeypatch):
    """A store of three runs, which the environment names."""
    monkeypatch.setenv("GUARDGRAPH_AUDIT", URL)
    made = sql_store(URL)
    made.record(recording(1, tenant="acme", user="ann"))
    made.record(recording(2))
    made.record({**recording(3), "redacted": [["input", "question"]]})
    return made


@pytest.fixture
def working(store):
    """The store, in which a run acted and another one waits: neither has ended."""
    store.begin(beginning(11))
    store.note(note(11))
    store.begin(beginning(12, thread="7"))
    store.note(note(12, kind="waiting", phase="approve"))
    return store


def printed(*arguments, code=0):
    done = run("audit", *arguments)
    assert done.exit_code == code, done.output
    return done.stdout


def test_runs_are_listed(store):
    """A line or an object each, in the order of the chain; what narrows them, narrows the list."""
    lines = printed("list").splitlines()
    assert [line.split()[0] for line in lines if re.match(r" +\d", line)] == ["1", "2", "3"]
    rows = json.loads(printed("list", "--json", "--store", URL))
    assert {(row["pattern"], row["stop_reason"]) for row in rows} == {("rag", "success")}
    assert [(row["seq"], row["redacted"]) for row in rows] == [(1, False), (2, False), (3, True)]
    assert [row["seq"] for row in json.loads(printed("list", "--tenant", "acme", "--json"))] == [1]
    assert json.loads(printed("list", "--pattern", "research", "--json")) == []
    assert json.loads(printed("list", "--since", "2999-01-01", "--json")) == []
    assert len(json.loads(printed("list", "--since", "2026-01-01T00:00:00+01:00", "--json"))) == 3


def test_a_run_is_shown(store):
    stored = store.read(recording(1)["run_id"])
    shown = printed("show", stored.run_id)
    assert stored.position.hash in shown
    assert "success" in shown
    told = json.loads(printed("show", stored.run_id, "--json"))
    assert told["recording"] == stored.recording
    assert told["position"] == {"seq": 1, "hash": stored.position.hash, "at": stored.position.at}


def test_a_head_that_is_printed_finds_a_cut(store, here):
    """`head` prints what `verify --head` takes; without it a cut is not seen, with it the exit code is 3."""
    head = printed("head").strip()
    assert printed("verify", "--head", head).endswith("no findings\n")
    with opened(here / "runs.db") as connection:
        connection.execute("DELETE FROM guardgraph_entries WHERE seq = 3")
        connection.execute("DELETE FROM guardgraph_contents WHERE seq = 3")
    assert json.loads(printed("verify", "--json"))["ok"]
    assert "entry 3: it was cut off" in printed("verify", "--head", head, code=3)
    found = json.loads(printed("verify", "--head", head, "--json", code=3))
    assert [(item["kind"], item["seq"]) for item in found["findings"]] == [("cut", 3)]


def test_kept_runs_are_replayed_by_the_installed_build(here):
    """Those that end otherwise than is kept are named, with exit code 3; another agent than the shipped is named."""
    kept = sql_store(URL)
    for name in ("rag", "self_critique", "tools"):
        shipped = PATTERNS[name]
        shipped.create_agent(recorder=kept).invoke(shipped.demo())
    told = ("verify", "--replay", "--store", URL)
    assert "replayed: 3 the same, 0 part, 0 not replayed" in printed(*told)
    [honest] = [stored.recording for stored in kept.runs(pattern="rag")]
    kept.record({**honest, "run_id": LIED, "result": {**honest["result"], "run_id": LIED, "answer": "Within 1 hour."}})
    kept.record({**honest, "run_id": OWN, "result": {**honest["result"], "run_id": OWN}, "pattern": "own"})
    assert f"run {LIED}: " in printed(*told, code=3)
    said = json.loads(printed(*told, "--json", "--agent", "guardgraph:create_rag_agent", code=3))["replay"]
    assert (said["same"], [run["run_id"] for run in said["parted"]]) == (3, [LIED])
    assert [run["run_id"] for run in said["not_replayed"]] == [OWN]
    kept.record({**honest, "run_id": OWN, "policy": {"no_such_setting": 1}})
    assert f"run {OWN} was not replayed: recording.no_such_setting: no such" in printed(*told, code=3)


LIED, OWN = (f"00000000-0000-4000-8000-00000000000{number}" for number in (1, 2))


def test_runs_are_erased(store):
    """By run, by caller and by age; verify tells by whom, and what is erased twice is nothing to erase."""
    run_id = recording(1)["run_id"]
    assert "1 record erased by the data officer" in printed("erase", "--tenant", "acme", "--by", "the data officer")
    assert printed("erase", run_id, "--by", "me") == "nothing to erase\n"
    assert json.loads(printed("erase", run_id, "--by", "me", "--json")) is None
    assert json.loads(printed("retain", "--days", "0", "--by", "cron", "--json"))["records"] == 2
    verified = printed("verify")
    assert "5 entries, 3 of runs" in verified
    assert "the data officer" in verified
    assert "cron" in verified
    assert "erased" in printed("show", run_id)
    assert all(row["erased"] for row in json.loads(printed("list", "--json")))


def test_what_is_open_is_listed(working):
    """Behind the runs that have ended, or alone; with whether it waits, and whether it acted."""
    for given, seqs in (
        ((), [1, 2, 3, 4, 6]),
        (("--open",), [4, 6]),
        (("--waiting",), [6]),
        (("--open", "--tenant", "globex"), []),
        (("--open", "--pattern", "rag"), []),
        (("--open", "--since", "2999-01-01"), []),
        (("--open", "--tenant", "acme", "--pattern", "triage"), [4, 6]),
    ):
        assert [row["seq"] for row in json.loads(printed("list", *given, "--json"))] == seqs
    text = " ".join(printed("list").split())
    assert "triage: open, 1 act noted, of which the outcome of 1 is unknown" in text
    assert "triage: waiting for a person, no act noted" in text
    working.erase(user="ann", by="me")
    assert [row["pattern"] for row in json.loads(printed("list", "--open", "--json"))] == [None, None]


def test_a_verification_asks_the_checkpointer(working, here):
    """Named by its module; what it does not have is a finding, and what is no checkpointer is one clear line."""
    (here / "kept_threads.py").write_text("from langgraph.checkpoint.memory import InMemorySaver as make\nnone = 7\n")
    asked = ("verify", "--checkpointer", "kept_threads:make")
    text = " ".join(printed(*asked, code=3).split())
    assert f"entry 6: run {beginning(12)['run_id']} is open, and its thread has no checkpoint" in text
    found = json.loads(printed(*asked, "--json", code=3))["open"]
    assert [(item["thread"], item["seq"]) for item in found if item["lost"]] == [("7", 6)]
    said = refused(run("audit", "verify", "--checkpointer", "kept_threads:none"))
    assert "a LangGraph checkpointer is required; given: int" in said
    assert "module:factory is required" in refused(run("audit", "verify", "--checkpointer", "x"))


@each_row(
    ("arguments", "message"),
    (("list", "--store", "sqlite:///none.db"), "there is no such file; nothing was recorded yet"),
    (("head", "--store", "postgresql://u:secret@127.0.0.1:1/runs"), "u:***@127.0.0.1:1/runs: connection failed"),
    (("show", "nobody\udcff"), "run_id: a run of the store is required; given: 'nobody\\udcff'"),
    (("erase", "--by", "me"), "either a run_id, or a tenant or user"),
    (("retain", "--days", "-1", "--by", "me"), "days: a number from 0"),
    (("list", "--since", "yesterday"), "--since: 30d, 12h, a date"),
    (("erase", "--tenant", "acme", "--by", "me\nno findings"), "by: who erases, a text of at most 200 characters"),
    (("close", "nobody", *CLOSED), "run_id: a run of the store is required; given: 'nobody'"),
    (("close", recording(1)["run_id"], *CLOSED), "a run that is open is required; it has ended"),
    (("close", beginning(11)["run_id"], *CLOSED, "--by", " "), "by: who closes, a text of at most 200 characters"),
    (("close", beginning(11)["run_id"], *CLOSED, "--why", "a\nb"), "why: why it is closed, a text of at most 200"),
)
def test_wrong_usage_is_one_line(arguments, message, working):
    told = refused(run("audit", *arguments))
    assert message in told
    assert "secret" not in told
    assert len(working.open_runs()) == 2


def test_the_page_of_a_stored_run_says_where_it_stands(store):
    """What was asked, its place in the chain and when it was recorded; one that was erased has no page."""
    result = asked(store, "What is the <P1> target?")
    stored = store.read(result["run_id"])
    page = report(stored).html
    assert f"{stored.position.seq}:{stored.position.hash}" in page
    assert stored.position.at in page
    assert "What is the &lt;P1&gt; target?" in page
    assert run("report", result["run_id"], "--store", URL, "-o", "run.html").exit_code == 0
    store.erase(result["run_id"], by="me")
    with pytest.raises(InputError, match="run: one that was not erased is required"):
        report(store.read(result["run_id"]))
    assert "one that was not erased" in refused(run("report", result["run_id"], "--store", URL, "-o", "run.html"))

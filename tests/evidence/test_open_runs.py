"""Runs that are open in a store: what is on record of them, who closes them, and what is found if somebody tampers."""

import json
from contextlib import closing
from functools import cache

import psycopg
import pytest
from langgraph.checkpoint.memory import InMemorySaver
from refund_pattern import refund, waiting
from runs import THREAD
from store_writers import TIMEOUT, killed_at, resume
from stored_runs import everything_written, make_url, opened, recording
from ticket_pattern import TICKET, triage

from guardgraph import ConfigurationError, Redaction, StoreError, sql_store
from guardgraph.evidence.chain import read_chain_entry
from guardgraph.evidence.sql import writing
from guardgraph.testing import InMemoryRecorder

url = pytest.fixture(params=["sqlite", "postgres"])(make_url)
NOW = "2026-01-01T00:00:00.000000+00:00"


@cache
def _begun():
    recorder = InMemoryRecorder()
    context = {"caller": {"tenant": "acme", "user": "ann"}}
    triage(recorder=recorder).invoke({"ticket": "The invoice of ann@acme.example"}, context=context)
    return json.dumps(recorder.begun[0])


def beginning(number=1, **changed):
    run_id = f"00000000-0000-4000-8000-{number:012d}"
    return {**json.loads(_begun()), "run_id": run_id, "request": f"request {number}", **changed}


def note(number=1, kind="intent", **content):
    begun = beginning(number)
    said = {"run_id": begun["run_id"], "request": begun["request"], "kind": kind, "at": NOW}
    return {**said, "content": content or {"key": "pay 1", "tool": "pay"}}


def executed(url, text):
    is_file, file = url.startswith("sqlite"), url.removeprefix("sqlite:///")
    with opened(file) if is_file else psycopg.connect(url.replace("+psycopg", "")) as connection:
        connection.execute(text)


# Killed processes


@pytest.mark.parametrize("where", ["beginning", "tool"])
def test_a_run_whose_process_is_killed_is_open(where, url, tmp_path):
    """Behind its beginning and before the first checkpoint, or in a tool: somebody sees that it may have acted."""
    run_id = killed_at(url, tmp_path / "checkpoints.db", where)
    store = sql_store(url, timeout=TIMEOUT)
    assert [item.run_id for item in store.open_runs()] == [run_id]
    found = store.verify()
    assert (found.ok, [item.run_id for item in found.open]) == (True, [run_id])
    resumed = resume(store, tmp_path / "checkpoints.db", 1)
    assert (store.open_runs(), store.verify().open) == ([], ())
    if where == "tool":
        assert resumed["run_id"] == run_id
    else:  # nothing was kept of it: it began once more, and closes the one before
        said = [read_chain_entry(text) for text in store.entries(run_id)]
        assert [(item["kind"], item.get("by")) for item in said] == [("begin", None), ("close", resumed["run_id"])]


def test_a_new_run_on_a_thread_closes_the_one_that_was_broken_off(url):
    """By an entry that names both: its input says that it replaces it."""
    store = sql_store(url)
    agent = triage(recorder=store, checkpointer=InMemorySaver())
    with closing(agent.stream(TICKET, THREAD)) as chunks:
        next(chunks)
    [left] = store.open_runs()
    assert left.begun["thread"] == "1"
    result = agent.invoke(TICKET, {"configurable": {**THREAD["configurable"], "replace": True}})
    assert (store.open_runs(), result["audit"]["seq"]) == ([], 4)
    _, close = [read_chain_entry(text) for text in store.entries(left.run_id)]
    assert (close["how"], close["by"], close["why"]) == ("superseded", result["run_id"], writing.SUPERSEDED)
    assert store.verify().ok


def test_a_thread_of_the_same_name_may_be_anothers(url):
    """Tenants close each other's runs no more than users without a tenant do; users of one tenant share its threads."""
    store = sql_store(url)
    tenants, users = ("acme", "globex", *[None] * 3, "acme", None), ("ann", "ann", "ann", "bob", None, "bob", "bob")
    for number, (tenant, user) in enumerate(zip(tenants, users, strict=True), 1):
        begun = beginning(number, thread="1")
        context = {"caller": {"tenant": tenant, "user": user}} if user else None
        store.begin({**begun, "opening": {**begun["opening"], "context": context}})
    left = [item.run_id for item in store.open_runs()]
    assert left == [beginning(number)["run_id"] for number in (2, 3, 5, 6, 7)]
    found = store.verify()
    assert found.ok
    followed = {item.run_id: item.followed_by for item in found.open}
    assert (followed[left[0]], followed[left[-1]]) == (found.entries, None)  # by whoever began last


# Threads


def test_an_open_run_whose_thread_was_deleted_is_a_finding(url):
    """The checkpointer knows; a run that waits, one that ended, and one without a thread are none."""
    saver, store = InMemorySaver(), sql_store(url)
    agent = refund(recorder=store, checkpointer=saver)
    for thread in "123":
        waiting(agent, {"configurable": {"thread_id": thread}})
    agent.invoke({"order": 7}, {"configurable": {"thread_id": "4"}})
    store.begin(beginning(9))  # on a thread without a checkpointer: nobody keeps it
    first, second, *_ = store.open_runs()
    assert store.verify(checkpointer=saver).ok
    saver.delete_thread("1")
    saver.delete_thread("2")
    waiting(refund(checkpointer=saver), {"configurable": {"thread_id": "2"}})
    found = store.verify(checkpointer=saver)
    assert store.verify().ok
    said = {finding.seq: (finding.kind, finding.text) for finding in found.findings}
    assert said.keys() == {first.position.seq, second.position.seq}
    assert "its thread has no checkpoint" in said[first.position.seq][1]
    assert "its thread has gone on to run" in said[second.position.seq][1]
    assert [item.lost is not None for item in found.open] == [True, True, False, False]
    with pytest.raises(ConfigurationError, match="checkpointer: a LangGraph checkpointer is required; given: dict"):
        store.verify(checkpointer={})


def test_a_closed_run_that_acts_is_open_again(url):
    """Whoever closed it was wrong; when it ends it is recorded like any other."""
    store = sql_store(url)
    store.begin(beginning())
    store.close_run(beginning()["run_id"], by="me", why="gone")
    assert store.open_runs() == []
    store.note(note())
    assert [item.intents for item in store.open_runs()] == [1]
    assert [(item.intents, item.receipts) for item in store.verify().open] == [(1, 0)]
    store.record({**recording(), "run_id": beginning()["run_id"]})
    assert (store.open_runs(), store.verify().open) == ([], ())
    with pytest.raises(StoreError, match="it has ended, and its ending was recorded"):
        store.note(note(kind="receipt"))


# What is kept, and erased


def test_what_is_redacted_of_a_run_is_redacted_of_its_beginning_and_its_notes(url, tmp_path):
    """By the same paths and expressions; the ids of request and thread, by which it is found, stay."""
    redact = Redaction(fields=["visits.*.opening.context.caller.user"], patterns=[r"[a-z]+@[a-z.]+"])
    store = sql_store(url, redact=redact)
    store.begin(beginning(thread="ann@acme.example"))
    store.note(note(kind="receipt", outcome='["value","sent to ann@acme.example",{}]'))
    store.note(note(kind="waiting", waiting_for={"shown": "ann@acme.example"}))
    [left] = store.open_runs()
    assert left.begun["input"] == {"ticket": "The invoice of [redacted]"}
    assert left.begun["opening"]["context"]["caller"]["user"] == "[redacted]"
    assert left.begun["thread"] == "ann@acme.example"
    assert left.begun["redacted"] == [["input", "ticket"], ["opening", "context", "caller", "user"]]
    receipt, waiting = store.notes("request 1")
    assert receipt["content"]["outcome"] == '["value", "sent to [redacted]", {}]'
    assert receipt["redacted"] == [["content", "outcome", 1]]
    assert waiting["content"] == {"waiting_for": {"shown": "[redacted]"}}
    assert waiting["redacted"] == [["content", "waiting_for", "shown"]]
    assert store.verify().ok


@pytest.mark.parametrize("chosen", [{"run_id": beginning()["run_id"]}, {"tenant": "acme"}, {"user": "ann"}])
def test_an_erasure_takes_beginning_and_notes(chosen, url, tmp_path):
    """By run, tenant or user: nothing of them is left but their entries, and the run is open still."""
    store = sql_store(url)
    store.begin(beginning(thread="secret thread"))
    store.note(note(kind="receipt", outcome="a secret outcome"))
    store.begin(beginning(2, opening={**beginning()["opening"], "context": None}))
    store.note(note(2))
    assert store.erase(**chosen, by="me").records == 2
    first, second = store.open_runs()
    assert (first.begun, first.intents, first.receipts, second.intents) == (None, 0, 1, 1)
    assert (store.notes("request 1"), len(store.notes("request 2"))) == ([], 1)
    assert store.verify().ok
    store.close()
    if url.startswith("sqlite"):
        assert b"secret" not in everything_written(tmp_path)
        assert b"request 1" not in everything_written(tmp_path)
    store.close_run(first.run_id, by="me", why="it was erased")
    assert [item.run_id for item in store.open_runs()] == [second.run_id]


def test_the_beginning_goes_with_a_run_that_somebody_else_resumed(url):
    """Bob of Acme resumed what Ann began, and its words are in both: who erases Bob's runs leaves neither."""
    store = sql_store(url)
    store.begin(beginning())
    store.record({**recording(1, tenant="acme", user="bob"), "run_id": beginning()["run_id"]})
    assert store.erase(user="bob", by="me").records == 2
    assert store.verify().ok


def test_an_erased_run_that_comes_back_is_a_finding(url):
    """Such as one that waited, was erased, and was resumed; to erase it once more puts that right."""
    store = sql_store(url)
    store.begin(beginning())
    store.erase(beginning()["run_id"], by="me")
    assert store.verify().ok
    store.record({**recording(), "run_id": beginning()["run_id"]})
    [finding] = store.verify().findings
    assert (finding.kind, finding.seq) == ("returned", 3)
    assert str(finding) == "entry 3: its run was erased by entry 2, and is here again"
    store.erase(beginning()["run_id"], by="me")
    assert store.verify().ok


def test_what_is_open_is_not_too_old(url):
    """What an open run noted says what must not be done once more; it is erased when it has ended or was closed."""
    store = sql_store(url)
    for number in (1, 2):
        store.begin(beginning(number))
        store.note(note(number))
    store.record({**recording(), "run_id": beginning(2)["run_id"]})
    assert store.retain(0, by="me").records == 3
    assert (len(store.notes("request 1")), store.notes("request 2")) == (1, [])
    store.close_run(beginning()["run_id"], by="me", why="gone")
    assert store.retain(0, by="me").records == 2
    assert store.verify().ok


# Tampering

COLUMNS = ("kind", "run_id", "request", "thread", "graph", "note")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        *((f"DELETE FROM guardgraph_open WHERE seq = {seq}", "lookup") for seq in (1, 2, 3)),
        *(
            (f"UPDATE guardgraph_open SET {column} = 'other' WHERE seq = {seq}", "lookup")
            for column, seqs in zip(COLUMNS, ("123", "2", "12", "1", "1", "2"), strict=True)
            for seq in seqs
        ),
        ("UPDATE guardgraph_contents SET content = replace(content, 'invoice', 'receipt') WHERE seq = 1", "content"),
        ("UPDATE guardgraph_contents SET content = replace(content, 'pay 1', 'pay 2') WHERE seq = 2", "content"),
        ("DELETE FROM guardgraph_contents WHERE seq = 1", "content"),
        ("DELETE FROM guardgraph_contents WHERE seq = 2", "missing"),
        ("DELETE FROM guardgraph_callers WHERE seq = 1", "lookup"),
        ("INSERT INTO guardgraph_contents (seq, pattern, salt, content) VALUES (3, '', '', '')", "unexplained"),
        ("INSERT INTO guardgraph_open (seq, kind, run_id) VALUES (9, 'begin', 'x')", "unexplained"),
        ("UPDATE guardgraph_entries SET entry = replace(entry, 'gone', 'fine') WHERE seq = 3", "changed"),
        ("UPDATE guardgraph_entries SET at = '1999' WHERE seq = 1", "changed"),
        ("UPDATE guardgraph_entries SET run_id = 'x' WHERE seq = 2", "changed"),
    ],
)
def test_whatever_is_changed_of_an_open_run_is_found(text, kind, url):
    store = sql_store(url)
    store.begin(beginning(thread="1"))
    store.note(note())
    store.close_run(beginning()["run_id"], by="me", why="gone")
    assert store.verify().ok
    executed(url, text)
    assert kind in [finding.kind for finding in store.verify().findings]


def test_a_note_that_was_changed_is_not_given_back(url):
    store = sql_store(url)
    store.begin(beginning())
    store.note(note())
    executed(url, "UPDATE guardgraph_contents SET content = replace(content, 'pay 1', 'pay 2') WHERE seq = 2")
    with pytest.raises(StoreError, match=r"^entry 2: it is not what was noted"):
        store.notes("request 1")
    executed(url, "UPDATE guardgraph_contents SET content = replace(content, 'invoice', 'bill') WHERE seq = 1")
    [left] = store.open_runs()
    assert (left.begun, left.changed) == (None, "its content is not what was written")

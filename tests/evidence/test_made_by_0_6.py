"""What 0.6.0 wrote is read, verified, decided again, searched and gone on with by this version, to the same end."""

from __future__ import annotations

import base64
import json
import lzma
import shutil
import sqlite3
from contextlib import closing

import psycopg
import pytest
from cli_runs import empty_folder, run
from docs_parts import ROOT
from exported_runs import forged
from jsonschema import Draft202012Validator
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command
from made_by_0_6 import (
    ASKED,
    BASE,
    CHECKPOINTS,
    COMMANDS,
    DOCUMENTS,
    FOLDER,
    INTERRUPTED,
    OWN,
    POSTGRES,
    PUBLIC_KEY,
    REVIEWED,
    STOPS,
    STORE,
    Letters,
    agent_of,
    expected,
    name_of,
    recordings,
    texts,
)
from refund_pattern import PAID, TIGHT, refund
from runs import content, masked
from stored_runs import new_database, recording, running_server
from ticket_pattern import triage

from guardgraph import (
    CATALOGUES,
    KnowledgeBase,
    check_document,
    create_rag_agent,
    create_research_agent,
    create_self_critique_agent,
    export_run,
    replay,
    report,
    sql_store,
    what_if,
)

here = pytest.fixture(empty_folder)
server = pytest.fixture(scope="module")(running_server)

ALL = [(file, at) for file in (OWN, STOPS) for at in range(len(texts(file)))]
NAMES = [f"{file.name.partition('.')[0]} {at} {name_of(json.loads(texts(file)[at]))}" for file, at in ALL]
AGENTS = {
    "rag": create_rag_agent,
    "research": create_research_agent,
    "self_critique": create_self_critique_agent,
    "refund": refund,
    "triage": triage,
}
ENDS_WELL = {
    "rag": {"answered", "clarified"},
    "research": {"answered"},
    "self_critique": {"approved", "revised"},
    "refund": {"refunded"},
    "triage": {"routed", "spam"},
}
UNRECORDED = "audit_unavailable"
"""The family, and the reason, of which there is no recording: it says that the run could not be recorded."""
MEDIA_TYPE = b"application/vnd.guardgraph.run+json"
"""What an envelope says is in it: a name that stays, and of no module."""


@pytest.fixture
def copies(here):
    """The current folder, with copies of all files: SQLite writes beside a file that it only reads."""
    shutil.copytree(FOLDER, here, dirs_exist_ok=True)
    return here


@pytest.fixture(params=["sqlite", "postgres"])
def store(request, tmp_path):
    """The store of 0.6.0 in each kind of databases, with its head as 0.6.0 told it."""
    if request.param == "sqlite":
        shutil.copy(STORE, tmp_path)
        url, head = f"sqlite:///{tmp_path / STORE.name}", expected()["commands"]["audit verify"]["head"]
    else:
        url, head = new_database(request.getfixturevalue("server")), expected()["postgres"]
        with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
            connection.execute(POSTGRES.read_text(encoding="utf-8"))
    number, _, mark = head.partition(":")
    with closing(sql_store(url)) as opened:
        yield opened, (int(number), mark)


# Recordings


def test_the_recordings_end_in_every_way():
    """Every terminal of the patterns that 0.6 had, and every reason of their catalogues that a run can give."""
    for pattern, catalogue in ((name, item) for name, item in CATALOGUES.items() if name in ENDS_WELL):
        kept = [item["result"] for file in (OWN, STOPS) for item in recordings(file) if item["pattern"] == pattern]
        families = {f"stop_{item.family}" for item in catalogue if not item.later and item.family != UNRECORDED}
        assert {result["path"][-1] for result in kept} == families | ENDS_WELL[pattern]
        reasons = {catalogue.find(result["stop_reason"]).reason for result in kept if result["status"] == "stopped"}
        earlier = [item for item in catalogue if not item.later and item.reason != UNRECORDED]
        wanted = {item.reason for item in earlier if not item.defensive}
        assert reasons == wanted


def test_the_recordings_have_what_a_recording_can_have():
    """Persons, answers that were none, several sessions, callers, shadows, models, failures; runs inside of others."""
    own = recordings(OWN)
    calls = [call for item in own for call in item["calls"]]
    assert {item["guardgraph"] for item in own + recordings(STOPS)} == {"0.6.0"}
    assert {call["kind"] for call in calls} == {"proposer", "tool", "person"}
    assert {json.loads(call["outcome"])[0] for call in calls} == {"text", "value", "failure"}
    assert {item["pattern"] for item in own} == {*AGENTS}
    assert any("shadows" in item for item in own)
    openings = [[visit["opening"] for visit in item["visits"] if "opening" in visit] for item in own]
    assert {len(sessions) for sessions in openings} >= {1, 2}
    assert any("caller" in opening.get("context", {}) for sessions in openings for opening in sessions)
    assert any("prompt" in call for call in calls)


@pytest.mark.parametrize("file", [OWN, STOPS], ids=lambda file: file.name)
def test_the_recordings_have_the_form_that_is_written_down(file):
    """Each is valid under the schema of the docs."""
    schema = json.loads((ROOT / "docs" / "recording.schema.json").read_text(encoding="utf-8"))
    valid = Draft202012Validator(schema)
    assert [error for item in recordings(file) for error in valid.iter_errors(item)] == []


@pytest.mark.parametrize(("file", "at"), ALL, ids=NAMES)
def test_a_recorded_run_is_decided_as_it_was(file, at):
    """By the same guards on the same way to the same result, times and evidence included, though nobody is called.

    In a document of it, fingerprints, requests, what every node wrote and shadows are derived, and nothing differs.
    """
    item = json.loads(texts(file)[at])
    agent = agent_of(item)
    assert replay(agent, item) == item["result"]
    place = json.loads((FOLDER / "rag.json").read_bytes())  # in the chain: that of another run
    document = forged({**place, "recording": item}, lambda recording: None)
    assert check_document(document, agent).findings == ()


@pytest.mark.parametrize("file", [OWN, STOPS], ids=lambda file: file.name)
@pytest.mark.parametrize("pattern", AGENTS)
def test_a_what_if_of_the_recordings_says_what_it_said(file, pattern):
    """What is the same under the pattern's own settings, changed or unknown, and what is of another pattern."""
    judged = what_if(AGENTS[pattern](), recordings(file))
    assert " ".join(row.kind for row in judged.rows) == expected()["what_if"][file.name][pattern]


@pytest.mark.parametrize("pattern", ["rag", "research", "self_critique"])
def test_a_page_of_a_recorded_run_is_made(pattern):
    """Of a run that ended well, and of one that was stopped."""
    for file in (OWN, STOPS):
        result = next(item["result"] for item in recordings(file) if item["pattern"] == pattern)
        assert report(result).html.startswith("<!doctype html>")


# Stores


def test_a_store_is_verified(store):
    """Its chain, contents, erasures and all that runs are found by are what was written, up to the head of then."""
    opened, head = store
    found = opened.verify(head)
    said = expected()["commands"]["audit verify"]
    assert (found.ok, found.entries, found.runs) == (True, said["entries"], said["runs"])
    assert f"{opened.head().seq}:{opened.head().hash}" == f"{head[0]}:{head[1]}"
    told = [(item.seq, item.by, item.how, item.records) for item in found.erasures]
    assert told == [(item["seq"], item["by"], item["how"], item["records"]) for item in said["erasures"]]


def test_the_runs_of_a_store_are_found(store):
    """By pattern and tenant; what was erased of a run is gone, and what was redacted says so."""
    opened, _ = store
    for name, chosen in {
        "audit list": {},
        "audit list of a tenant": {"tenant": "globex"},
        "audit list of a pattern": {"pattern": "refund"},
    }.items():
        runs = [
            (
                item.position.seq,
                item.changed,
                (item.recording or {}).get("pattern"),
                "redacted" in (item.recording or {}),
            )
            for item in opened.runs(**chosen)
        ]
        said = expected()["commands"][name]
        assert runs == [(item["seq"], None, item.get("pattern"), item.get("redacted", False)) for item in said]
    judged = what_if("guardgraph:create_rag_agent", opened.runs())
    assert judged.reasons("unreplayable") == {"erased": 4, "redacted": 1}


def test_the_runs_of_a_store_are_decided_as_they_were(store):
    """Each that is whole; a document of it is made, and nothing is found wrong with that."""
    opened, _ = store
    whole = [item for item in opened.runs() if item.recording is not None and "redacted" not in item.recording]
    assert len(whole) == 8
    for item in whole:
        if item.recording["graph"] == "renamed":  # somebody recorded it under another name
            continue
        document = export_run(opened, item.run_id)
        assert check_document(document, agent_of(item.recording)).findings == ()


def test_a_store_is_written_on(store):
    """A run of this version goes into the chain behind those of 0.6.0, and an erasure too."""
    opened, head = store
    receipt = opened.record(recording(1))
    assert receipt["seq"] == head[0] + 1
    assert opened.head().previous == head[1]
    assert opened.erase(tenant="globex", by="the tests") is not None
    found = opened.verify(head)
    assert (found.ok, found.entries) == (True, head[0] + 2)


# Documents


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_is_checked(name):
    """Its place, hashes, verdicts, fingerprints and shadows are derived again, and nothing differs; it is signed."""
    key = PUBLIC_KEY.read_bytes() if name == "signed" else None
    checked = check_document((FOLDER / f"{name}.json").read_bytes(), DOCUMENTS[name], public_key=key)
    assert checked.findings == ()
    assert checked.signed == ("yes" if name == "signed" else "no")


@pytest.mark.parametrize("name", [name for name in DOCUMENTS if name != "signed"])
def test_a_document_is_exported_again_as_the_same_text(name, copies):
    """Byte for byte, out of the store of 0.6.0."""
    text = (FOLDER / f"{name}.json").read_bytes()
    run_id = json.loads(text)["recording"]["run_id"]
    done = run("audit", "export", run_id, "--store", "sqlite:///runs.sqlite", "--out", "again.json")
    assert done.exit_code == 0, done.stderr
    assert (copies / "again.json").read_bytes() == text


def test_a_changed_document_is_found():
    """So what is said of the documents is worth something."""
    text = (FOLDER / "signed.json").read_bytes()
    envelope = json.loads(text)
    payload = base64.b64decode(envelope["payload"]).replace(b"15 minutes", b"25 minutes")
    forged = text.replace(envelope["payload"].encode(), base64.b64encode(payload))
    checked = check_document(forged, DOCUMENTS["signed"], public_key=PUBLIC_KEY.read_bytes())
    assert checked.signed == "wrong"
    assert "chain.content" in {item.place for item in checked.findings}


# Checkpoints


@pytest.fixture
def saver(tmp_path):
    """A copy of the checkpoints."""
    with SqliteSaver.from_conn_string(str(shutil.copy(CHECKPOINTS, tmp_path))) as opened:
        yield opened


@pytest.mark.parametrize("decision", ["approve", "reject"])
@pytest.mark.parametrize("thread", REVIEWED)
def test_a_run_that_waits_for_a_person_goes_on(thread, decision, saver):
    """With the hash that 0.6.0 showed: an approval is carried out, a rejection stops the run; inside a graph too."""
    create, _ = REVIEWED[thread]
    graph, config = create(checkpointer=saver), {"configurable": {"thread_id": thread}}
    [shown] = graph.get_state(config).interrupts
    result = graph.invoke(Command(resume={"hash": shown.value["hash"], "decision": decision, "by": "Ada"}), config)
    if thread == "desk":
        assert result.get("outcome") == ("refunded" if decision == "approve" else None)
    elif decision == "approve":
        assert content(result) == PAID
    else:
        assert (result["stop_reason"], result["details"]["by"]) == ("review_rejected", "Ada")


def test_a_run_that_waits_is_held_to_reviewers_that_came_since(saver):
    """Its hash counts, its question is known: under other settings it says what changed; who answers is asked."""
    thread = next(name for name in REVIEWED if name != "desk")
    config = {"configurable": {"thread_id": thread}}
    graph = refund(checkpointer=saver, reviewers=lambda answer, caller: caller and caller.user)
    [shown] = graph.get_state(config).interrupts
    answer = Command(resume={"hash": shown.value["hash"], "decision": "approve", "by": "Ada"})
    again = graph.invoke(answer, config, context=TIGHT)["waiting_for"]
    assert (again["instead_of"], again["changed"]) == (shown.value["hash"], ["settings"])
    assert "refused by the reviewers" in graph.invoke(answer, config)["waiting_for"]["problem"]
    result = graph.invoke(answer, config, context={"caller": {"user": "ada"}})
    assert content(result) == PAID
    [told] = [entry for entry in result["timeline"] if entry["kind"] == "review"]
    assert told["reviewer"] == {"status": "verified", "name": "ada", "roles": []}


@pytest.mark.parametrize("thread", INTERRUPTED)
def test_a_run_that_was_interrupted_goes_on(thread, saver):
    """In the middle of each of the three patterns, to the result that 0.6.0 came to."""
    create, before = INTERRUPTED[thread]
    graph, config = create(checkpointer=saver), {"configurable": {"thread_id": thread}}
    assert graph.get_state(config).next == (before,)
    result = graph.invoke(None, config)
    assert result.pop("usage")["calls"] == 0  # which 0.6.0 did not tell
    assert unscored(masked(result)) == unscored(expected()["resumed"][thread])


def unscored(value):
    """A JSON value without scores of relevance: 0.9 gave them other constants. A caller is "they" since 0.10."""
    if isinstance(value, dict):
        return {key: unscored(item) for key, item in value.items() if key not in ("score", "best_score")}
    if isinstance(value, str):
        return value.replace("he may not read it", "they may not read it") if value.startswith("he ") else value
    return [unscored(item) for item in value] if isinstance(value, list) else value


# The knowledge base


@pytest.fixture
def file(tmp_path):
    """A copy of the knowledge base."""
    return shutil.copy(BASE, tmp_path)


def test_a_knowledge_base_is_what_was_put_in(file):
    """Nothing is found wrong with it, with its vectors or without."""
    for embedding in (None, Letters()):
        with KnowledgeBase(file, embedding=embedding) as base:
            assert base.check().ok
            assert base.tenants() == [None, "acme", "globex"]


@pytest.mark.parametrize("kind", ["words", "vectors"])
def test_a_knowledge_base_finds_what_it_found(kind, file):
    """The same chunks in the same order, for each caller what they may read; 0.9 gave the scores other constants."""
    more = {"embedding": Letters(), "min_similarity": 0.5} if kind == "vectors" else {}
    with KnowledgeBase(file, **more) as base:
        for (query, caller), wanted in zip(ASKED, expected()["searched"][kind], strict=True):
            found = [(hit["doc_id"], hit["score"]) for hit in base.search(query, caller=caller)]
            assert [doc_id for doc_id, _ in found] == [doc_id for doc_id, _ in wanted]
            assert [score for _, score in found] == pytest.approx([score for _, score in wanted], abs=0.05)


def test_a_knowledge_base_is_added_to(file):
    """What is put in now is found beside what 0.6.0 put in, and nothing is found wrong."""
    new = {"id": "kiwi", "source": "notes", "title": "Kiwis", "section": "", "updated_at": "", "text": "Brown fruits."}
    with KnowledgeBase(file, embedding=Letters()) as base:
        base.add([new], readers=["public"], name="more")
        assert {hit["doc_id"] for hit in base.search("fruits")} == {"more/kiwi", "public/sky"}
        assert base.remove("docs", tenant="acme") > 0
        assert base.check().ok


# Commands, and the bytes


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_prints_what_it_printed(name, copies):
    """The same JSON document, and the same exit code; a base is no longer repaired row by row, which says less.

    Of a store it is said that nothing is open in it: 0.6.0 kept no beginnings; and which runs it has twice.
    """
    done = run(*COMMANDS[name])
    assert done.exit_code == 0, done.stderr
    before = expected()["commands"][name]
    if name == "kb check":
        without = {key: value for key, value in before.items() if key not in ("closed", "removed", "repaired")}
        before = {**without, "refused": [], "rebuilt": False, "unmeasured": []}
    now = json.loads(done.stdout)
    if name == "audit verify":
        before = {**before, "open": [], "repeated": [[3, 13]], "clock_steps": []}
    if name == "audit list":  # it is told now which records were not the first of their run
        assert [row.pop("earlier") for row in now if "earlier" in row] == [[3]]
    assert unscored(now) == unscored(before)


def held(file):
    """Yield the bytes of a file, and what is packed in them: texts, values of a database, what was signed."""
    data = file.read_bytes()
    yield data
    if file.suffix == ".xz":
        yield lzma.decompress(data)
    if data.startswith(b"SQLite format 3\0"):
        with closing(sqlite3.connect(file)) as connection:
            connection.text_factory = bytes
            for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                for row in connection.execute(f'SELECT * FROM "{table.decode()}"'):
                    yield from (value for value in row if isinstance(value, bytes))
    if file.name == "signed.json":
        yield base64.b64decode(json.loads(data)["payload"])


def test_no_file_names_a_module(copies):
    """A module that moves breaks no file: none has the path of one, but the media type of a signed document."""
    files = [file for file in sorted(copies.iterdir()) if file.suffix != ".md"]
    assert len(files) >= 12
    assert {
        file.name for file in files for data in held(file) if b"guardgraph." in data.replace(MEDIA_TYPE, b"")
    } == set()

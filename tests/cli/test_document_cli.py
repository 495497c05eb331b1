"""`guardgraph audit export` and `check`: files, exit codes, what is refused, and what is never written or reached."""

import json
import os
import stat
import subprocess
import sys

import pytest
from cli_runs import empty_folder, refused, run, run_on_a_full_disk
from docs_parts import ROOT
from exported_runs import KINDS, RAG, document, forged, keys, text
from langchain_openai import ChatOpenAI
from openai_server import OpenAIServer, answer, status
from rag_agents import ANSWER, INTENT, QUESTION
from stored_runs import asked, everything_written, recording

from guardgraph import Redaction, create_rag_agent, load_policy, sql_store

here = pytest.fixture(autouse=True)(empty_folder)
URL = "sqlite:///runs.db"


@pytest.fixture
def stored(here, monkeypatch):
    """The id and the receipt of a run in a store that the environment names, with a pair of keys beside it."""
    monkeypatch.setenv("GUARDGRAPH_AUDIT", URL)
    store = sql_store(URL)
    result = asked(store, tenant="acme", user="ann")
    store.close()
    for name, key in zip(("key.pem", "public.pem"), keys(), strict=True):
        (here / name).write_bytes(key)
    return result["run_id"], result["audit"]


def ended(*arguments, code=0):
    done = run("audit", *arguments)
    assert done.exit_code == code, done.output
    return " ".join(done.stdout.split())


def test_a_run_is_exported_and_checked(stored, here):
    """A file that its owner alone can read; the store may be gone when it is checked."""
    run_id, audit = stored
    head = f"{audit['seq']}:{audit['hash']}"
    assert f"run {run_id}, entry {head}, not signed" in ended("export", run_id, "-o", "run.json")
    assert stat.S_IMODE((here / "run.json").stat().st_mode) == 0o600
    assert ended("export", run_id) == " ".join((here / "run.json").read_text().split())
    (here / "runs.db").unlink()
    shown = ended("check", "run.json", "--agent", RAG, "--head", head)
    assert "not signed" in shown
    assert "every verdict was derived again; no findings" in shown
    told = run("audit", "check", "run.json", "--agent", RAG, "--json")
    assert json.loads(told.stdout)["ok"]
    assert "head: chain.hash: " in ended("check", "run.json", "--agent", RAG, "--head", f"{head[:-4]}beef", code=3)
    (here / "run.json").write_bytes(text(forged(document(), lambda run: run["result"].update(answer="5 minutes."))))
    shown = ended("check", "run.json", "--agent", RAG, code=3)
    assert 'verdict: result.answer: recorded "5 minutes.", derived "' in shown


def test_a_signed_run_is_checked_with_the_public_key(stored, here):
    """Another key, and a document without a signature where a key is given, end with exit code 3."""
    run_id, _ = stored
    assert ended("export", run_id, "-o", "signed.json", "--sign", "key.pem").endswith(", signed")
    ended("export", run_id, "-o", "bare.json")
    assert "signed with this key" in ended("check", "signed.json", "--agent", RAG, "--public-key", "public.pem")
    assert "no key was given" in ended("check", "signed.json", "--agent", RAG)
    (here / "public.pem").write_bytes(keys(1)[1])
    for file, said in (("signed.json", "not signed with this key"), ("bare.json", "signature: document: not signed")):
        assert said in ended("check", file, "--agent", RAG, "--public-key", "public.pem", code=3)


def test_what_is_written_is_whole_or_not_there(stored, here):
    """A folder that is none, something that is no file, a full disk: one line, and the old file is what it was."""
    run_id, _ = stored
    (here / "old.json").write_text("old")
    (here / "folder").mkdir()
    for out in ("nowhere/run.json", "folder", "a\0b"):
        assert "--out" in refused(run("audit", "export", run_id, "-o", out))
    (here / "link.json").symlink_to("old.json")  # what a link leads to is somebody else's
    run("audit", "export", run_id, "-o", "link.json")
    assert (here / "old.json").read_text() == "old"
    assert json.loads((here / "link.json").read_text())["recording"]["run_id"] == run_id
    store = sql_store(URL)  # whose files are small enough: the document is not
    store.record({**recording(1), "input": {"question": "x" * 60_000}})
    store.close()
    done = run_on_a_full_disk(50_000, "audit", "export", recording(1)["run_id"], "-o", "old.json")
    assert "cannot be written" in refused(done)
    assert (here / "old.json").read_text() == "old"
    assert not [file.name for file in here.iterdir() if file.name.startswith(".")]


def test_what_cannot_be_exported_or_checked_is_one_line(stored, here):
    """No such run, an erased one, no file, no key, no agent, an option that is none: exit code 2."""
    run_id, _ = stored
    (here / "run.json").write_bytes(text(document()))
    (here / "huge.json").write_text('{"a": "' + "x" * 20_000_000)
    store = sql_store(URL)
    store.record(recording(1))
    store.erase(recording(1)["run_id"], by="me")
    store.close()
    said = {
        ("export", "nobody"): "run_id: a run of the store is required",
        ("export", recording(1)["run_id"]): "run_id: a run that was not erased is required",
        ("export", run_id, "--sign", "public.pem"): "private_key: an Ed25519 private key",
        ("export", run_id, "--store", "sqlite:///none.db"): "nothing was recorded yet",
        ("check", "none.json", "--agent", RAG): "FILE 'none.json': cannot be read",
        ("check", "huge.json", "--agent", RAG): "document: JSON is required: Unterminated string",
        ("check", "run.json", "--agent", "guardgraph:create_research_agent"): "document: a run of research is required",
        ("check", "run.json", "--agent", RAG, "--head", "1"): "--head: N:HASH",
        ("check", "run.json", "--agent", RAG, "--public-key", "key.pem"): "public_key: an Ed25519 public key",
        ("check", "run.json", "--agent", RAG, "--public-key", "huge.json"): "at most 65536 bytes are allowed",
    }
    for arguments, message in said.items():
        assert message in refused(run("audit", *arguments)), arguments


def test_a_missing_extra_is_named(stored, here, monkeypatch):
    """Checking an unsigned document needs none; signing, and checking a signature, say which one they need."""
    run_id, _ = stored
    (here / "run.json").write_bytes(text(document()))
    ended("export", run_id, "-o", "signed.json", "--sign", "key.pem")
    for name in ("cryptography.hazmat.primitives", "sqlalchemy"):
        monkeypatch.setitem(sys.modules, name, None)
    ended("check", "run.json", "--agent", RAG)
    ended("check", "signed.json", "--agent", RAG)
    line = refused(run("audit", "check", "signed.json", "--agent", RAG, "--public-key", "public.pem"))
    assert "guardgraph's extra `sign` is required" in line
    assert "guardgraph's extra `audit` is required" in refused(run("audit", "export", run_id, "--sign", "key.pem"))


WITNESS = """
import sys

def witness(event, arguments):
    if event.startswith(("socket.connect", "socket.getaddrinfo", "socket.sendto", "sqlite3.connect", "subprocess.")):
        print("reached:", event, arguments[1:], file=sys.stderr)

sys.addaudithook(witness)
"""


CHECKS = """
from exported_runs import KINDS
from guardgraph.cli.commands import app

for kind, (agent, _) in KINDS.items():
    app(["audit", "check", f"{kind}.json", "--agent", agent], standalone_mode=False)
"""


@pytest.mark.usefixtures("uncounted")
def test_a_check_reaches_nothing(here):
    """No connection, no name that is looked up, no database, no other process; even a variable names no store."""
    for kind in KINDS:
        (here / f"{kind}.json").write_bytes(text(document(kind)))
    (here / "sitecustomize.py").write_text(WITNESS)
    path = os.pathsep.join(map(str, (here, ROOT, ROOT / "tests" / "support", ROOT / "examples")))
    environment = {**os.environ, "PYTHONPATH": path, "GUARDGRAPH_AUDIT": "postgresql://127.0.0.1:1/x"}

    def done(code):
        command = [sys.executable, "-c", code]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)

    assert "reached: socket.connect" in done("import socket; socket.socket().connect_ex(('127.0.0.1', 1))").stderr
    checked = done(CHECKS)
    assert checked.stderr == ""
    assert checked.stdout.count("no findings") == len(KINDS)


def test_a_module_is_named_by_the_command_line_alone(here):
    """Whatever a document says, nothing of it is imported, opened or run."""
    (here / "evil.py").write_text("open('loaded', 'w')")

    def named(run):
        run["graph"] = run["guardgraph"] = run["result"]["outcome"] = "evil:create"
        run["calls"][0]["proposer"] = run["calls"][0]["prompt"] = "evil:create"

    (here / "run.json").write_bytes(text(forged(document(), named)))
    assert "version: graph: recorded" in ended("check", "run.json", "--agent", RAG, code=3)
    assert not (here / "loaded").exists()


def test_no_key_header_or_redacted_value_is_in_anything_that_a_whole_story_writes(here, monkeypatch, caplog):
    """Of a model, of whoever signs, of a question: not in store, documents, pages, what-ifs, output, errors or logs."""
    secrets = ["sk-loopback-0123456789", "header-7731-of-the-model", *keys()[0].decode().splitlines()[1:-1]]
    secrets += (words := ["Ann Miller", "sk-canary-1234567890"])
    caplog.set_level("DEBUG", "guardgraph")
    for name, key in zip(("key.pem", "public.pem"), keys(), strict=True):
        (here / name).write_bytes(key)
    (here / "rag.yaml").write_text("pattern: rag\nbudget:\n  min_chunk_score: 1.0\n")
    store = sql_store(URL, redact=Redaction(fields=["input.question"], patterns=[r"sk-[\w-]+", r"Ann \w+"]))
    with OpenAIServer(answer(json.dumps(INTENT)), answer(json.dumps(ANSWER)), status(401)) as server:
        for name, value in server.environ().items():
            monkeypatch.setenv(name, value)
        model = ChatOpenAI(model="test-model", max_retries=0, default_headers={"X-Token": secrets[1]})
        told = [create_rag_agent(model, recorder=store).invoke(QUESTION) for _ in range(2)]
        assert secrets[1] in json.dumps(server.requests)
    question = f"What is the P1 target of {' and '.join(words)}?"
    told += [
        asked(store, question),
        create_rag_agent(recorder=store, **load_policy("rag.yaml").settings()).invoke({"question": question}),
    ]
    store.close()
    assert [result["stop_reason"] for result in told] == ["success", "llm_auth", "success", "success"]
    assert words[0] in json.dumps(told[2])  # whoever asks is answered as ever
    shared, agent = ("--store", URL), ("--agent", "exported_runs:asking")
    commands = {("audit", "verify", *shared): 0, ("audit", "list", *shared): 0, ("policy", "check", "rag.yaml"): 0}
    for run_id in (result["run_id"] for result in told[:3]):
        commands |= {
            ("audit", "show", run_id, *shared): 0,
            ("audit", "export", run_id, *shared, "-o", f"{run_id}.json"): 0,
            ("audit", "export", run_id, *shared, "-o", f"{run_id}.signed.json", "--sign", "key.pem"): 0,
            ("audit", "check", f"{run_id}.json", *agent): 3,  # what was redacted cannot be derived again
            ("audit", "check", f"{run_id}.signed.json", *agent, "--public-key", "key.pem"): 2,
            ("report", run_id, *shared, "-o", f"{run_id}.html"): 0,
            ("report", f"{run_id}.signed.json", "-o", f"{run_id}.signed.html"): 0,
        }
    commands |= {
        ("what-if", RAG, *shared, "--policy", "rag.yaml", "--json"): 0,
        ("what-if", RAG, *shared, "-o", "what_if.html"): 0,
        ("audit", "export", told[0]["run_id"], *shared, "--sign", "public.pem"): 2,
        ("audit", "erase", told[0]["run_id"], *shared, "--by", "the tests"): 0,
    }
    done = {arguments: run(*arguments) for arguments in commands}
    assert {arguments: each.exit_code for arguments, each in done.items()} == commands
    (here / "key.pem").unlink()
    printed = "".join(each.stdout + each.stderr for each in done.values())
    everything = everything_written(here).decode("latin-1") + printed + caplog.text
    assert [secret for secret in secrets if secret in everything] == []

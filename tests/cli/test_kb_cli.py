"""`guardgraph kb`, and `guardgraph rag --kb FILE`: what is printed, how it ends, and that wrong usage is one line."""

import json
import re
import sqlite3
import sys

import pytest
from cli_runs import empty_folder, refused, run
from pdf_files import pdf_of
from tables import each_row
from test_kb_ingest import write

from guardgraph import KnowledgeBase
from guardgraph.plain.extras import explain_extra

here = pytest.fixture(autouse=True)(empty_folder)


@pytest.fixture
def filled(here):
    """A folder with two rules, and the knowledge base that was made of it for the tenant acme."""
    write(here / "docs", {"access.yaml": "readers: [tenant]\n", "hr/access.yaml": "readers: ['group:eu:hr']\n"})
    write(here / "docs/handbook", {"refunds.md": "# Refunds\n\nRefunds take 14 days.\n"})
    write(here / "docs/hr", {"pay.md": "# Pay\n\nRefunds of pay take 30 days.\n"})
    assert run("kb", "add", "kb.sqlite", "docs", "--tenant", "acme").exit_code == 0
    return here


def shown(*arguments, code=0):
    done = run(*arguments, "--json")
    assert done.exit_code == code, done.stderr
    return json.loads(done.stdout)


def test_adding_says_what_became_of_each_file(here):
    """Counts, failures with their reasons, exit code 3; on stderr what was left out; what is gone needs --prune."""
    write(here / "docs", {"a.md": "Apples", "b.md": b"\xff", "c.doc": "x"})
    done = run("kb", "add", "kb.sqlite", "docs", "--reader", "public")
    assert (done.exit_code, done.stderr) == (3, "guardgraph: left out of docs: another format: 1 (c.doc)\n")
    first, second = done.stdout.splitlines()[:2]
    assert first == "docs: 1 added, 0 changed, 0 unchanged, 0 removed, 1 failed"
    assert second.strip().startswith("b.md: not UTF-8")
    (here / "docs" / "b.md").unlink()
    report = shown("kb", "add", "kb.sqlite", "docs", "--reader", "public")
    assert (report["unchanged"], report["failed"]) == (["a.md"], [])
    assert report["left_out"] == [{"name": "c.doc", "reason": "another format"}]
    (here / "docs" / "a.md").unlink()
    assert "1 of the 1 documents of 'docs' are gone" in refused(run("kb", "add", "kb.sqlite", "docs"))
    assert shown("kb", "add", "kb.sqlite", "docs", "--prune")["removed"] == ["a.md"]


def test_a_missing_library_fails_the_files_that_need_it(here, monkeypatch):
    """Files of a format that nothing installed reads are named with what to install; what there was of them stays."""
    write(here / "docs", {"a.md": "Apples", "b.html": "<p>Bananas are yellow fruits.", "c.pdf": pdf_of("Cherries")})
    assert run("kb", "add", "kb.sqlite", "docs", "--reader", "public").exit_code == 0
    write(here / "docs", {"a.md": "Red apples", "b.html": "<p>Bananas are green fruits.", "d.pdf": pdf_of("Dates")})
    for library in ("trafilatura", "pypdfium2"):
        monkeypatch.setitem(sys.modules, library, None)
    report = shown("kb", "add", "kb.sqlite", "docs", "--reader", "public", code=3)
    assert (report["changed"], report["unchanged"], report["removed"]) == (["a.md"], ["c.pdf"], [])
    install = f"which is not installed; {explain_extra('kb')}"
    assert report["failed"] == [
        {"name": "b.html", "reason": f"html content is read with trafilatura, {install}"},
        {"name": "d.pdf", "reason": f"pdf content is read with pypdfium2, {install}"},
    ]
    assert [found["doc_id"] for found in shown("kb", "search", "kb.sqlite", "bananas")["found"]] == ["b.html#b.1"]


def test_collections_and_documents_are_listed_and_removed(filled):
    """Collections with their tenants and sizes, and the documents of one with their readers."""
    assert shown("kb", "list", "kb.sqlite") == [{"tenant": "acme", "name": "docs", "documents": 2}]
    assert shown("kb", "list", "kb.sqlite", "--tenant", "other") == []
    assert shown("kb", "list", "kb.sqlite", "--tenant", "acme", "--name", "docs") == [
        {"id": "handbook/refunds.md", "source": "handbook", "readers": ["tenant"]},
        {"id": "hr/pay.md", "source": "hr", "readers": ["group:eu:hr"]},
    ]
    assert "group:eu:hr" in run("kb", "list", "kb.sqlite", "--tenant", "acme", "--name", "docs").stdout
    done = run("kb", "remove", "kb.sqlite", "docs", "--tenant", "acme")
    assert (done.exit_code, done.stdout) == (0, "docs: 2 documents removed\n")
    assert shown("kb", "list", "kb.sqlite") == []


def test_searching_says_what_a_caller_finds_and_why_not_more(filled):
    """What a caller would get is shown, and what else matches with the reason; ids may contain colons."""
    answer = shown("kb", "search", "kb.sqlite", "refunds", "--tenant", "acme", "--user", "u")
    assert [found["doc_id"] for found in answer["found"]] == ["handbook/refunds.md#refunds.1"]
    [missing] = answer["not_found"]
    assert (missing["id"], missing["tenant"]) == ("hr/pay.md#pay.1", "acme")
    assert missing["reason"] == "they may not read it; it is for callers of acme: group:eu:hr"
    both = shown("kb", "search", "kb.sqlite", "refunds", "--tenant", "acme", "--group", "x", "--group", "eu:hr")
    assert (len(both["found"]), both["not_found"]) == (2, [])
    one = shown("kb", "search", "kb.sqlite", "refunds", "--tenant", "acme", "--group", "eu:hr", "--top-k", "1")
    assert one["not_found"][0]["reason"] == "they may read it, and others that they may read are nearer"
    printed = run("kb", "search", "kb.sqlite", "refunds").stdout
    assert printed.startswith("nothing found\n")
    assert "refunds.md#refunds.1: they may not read it; it is for callers of acme: tenant" in printed


def test_a_collection_of_another_tenant_is_told_by_its_option(filled):
    run("kb", "add", "kb.sqlite", "docs")
    there = "there are docs (no tenant), docs (--tenant acme)"
    for command in (("list", "kb.sqlite", "--tenant", "acm", "--name", "docs"), ("remove", "kb.sqlite", "doc")):
        told = refused(run("kb", *command))
        assert "there is no such collection" in told
        assert there in told
    for command in (("list",), ("access",), ("search", "refunds")):
        done = run("kb", command[0], "kb.sqlite", *command[1:], "--tenant", "acm")
        assert (done.exit_code, done.stderr.count("\n")) == (0, 1)
        assert "the tenant 'acm' has no documents; there are acme" in done.stderr


def test_documents_that_nobody_may_read_are_told(filled):
    """Whoever adds a folder without readers and rules is told so; the report names its documents."""
    write(filled / "bare", {f"{name}.md": "Refunds" for name in "abcdefg"})
    done = run("kb", "add", "kb.sqlite", "bare")
    assert done.exit_code == 0
    assert "nobody may read 7 documents (a.md, b.md, c.md, d.md, e.md and 2 more); --reader or" in done.stderr
    assert shown("kb", "add", "kb.sqlite", "bare")["closed"] == [f"{name}.md" for name in "abcdefg"]
    assert shown("kb", "add", "kb.sqlite", "bare", "--reader", "public")["closed"] == []


def test_access_says_who_may_read_what(filled):
    rows = shown("kb", "access", "kb.sqlite", "--tenant", "acme", "--user", "u-17")
    assert rows == [
        {"tenant": "acme", "source": "handbook", "readers": ["tenant"], "documents": 1, "may_read": True},
        {"tenant": "acme", "source": "hr", "readers": ["group:eu:hr"], "documents": 1, "may_read": False},
    ]
    assert [row["may_read"] for row in shown("kb", "access", "kb.sqlite")] == [False, False]
    write(filled / "docs", {"hr/access.yaml": "readers: []\n"})
    assert shown("kb", "add", "kb.sqlite", "docs", "--tenant", "acme")["changed"] == ["hr/pay.md"]
    assert "nobody" in run("kb", "access", "kb.sqlite").stdout


def test_rag_answers_from_a_file_what_its_caller_may_read(filled):
    """The run's caller is whom the options name; what they may not read is not there for them."""
    asked = ("rag", "How long do refunds take?", "--kb", "kb.sqlite")
    answer = shown(*asked, "--tenant", "acme", "--group", "eu:other")
    assert (answer["outcome"], answer["citations"]) == ("grounded_answer", ["handbook/refunds.md#refunds.1"])
    assert not re.search(r"pay\b|30 days", json.dumps(answer))
    assert shown(*asked)["outcome"] == "clarify"
    write(filled, {"p.yaml": "pattern: rag\npolicy:\n  allowed_sources_policy: [hr]\n"})
    assert shown(*asked, "--tenant", "acme", "--policy", "p.yaml")["outcome"] == "clarify"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Files that a user may give in place of a knowledge base."""
    files = {"text": "no database", "no-bytes": "", "docs/a.md": "x", "empty/.keep": "", "bad/access.yaml": "- x"}
    folder = write(tmp_path_factory.mktemp("wrong"), {**files, "bad/a.md": "x"})
    for name in ("kb.sqlite", "newer.sqlite"):
        KnowledgeBase(folder / name).close()
    for name, statement in (("other", "CREATE TABLE t (x)"), ("newer", "PRAGMA user_version = 999")):
        connection = sqlite3.connect(folder / f"{name}.sqlite")
        connection.execute(statement)
        connection.close()
    return folder


def contents(folder):
    """Return what files hold, but for the base, whose pages SQLite may write anew."""
    return {file.name: file.name == "kb.sqlite" or file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@each_row(
    ("arguments", "message"),
    (("add", "kb.sqlite", "nowhere"), "FOLDER 'nowhere': a folder is required; there is none"),
    (("add", "kb.sqlite", "empty"), "FOLDER 'empty': files with text are required; there are none"),
    (("add", "text", "docs"), "it is no database"),
    (("add", "text/x.kb", "docs"), "text/x.kb: cannot be made or read: Not a directory"),
    (("add", "kb.sqlite", "docs", "--reader", "everybody"), "--reader: public, tenant, user:ID or group:ID"),
    (("add", "kb.sqlite", "bad"), "access.yaml:1: a mapping with the field readers is required; given: list"),
    (("add", "nowhere/kb.sqlite", "docs"), "nowhere/kb.sqlite: "),
    (("list", "kb.sqlite", "--name", "docs"), "--name 'docs': "),
    (("list", "x" * 300), "cannot be read: File name too long"),
    (("remove", "newer.sqlite", "docs"), "given: format 999 of guardgraph"),
    (("remove", "kb.sqlite", "docs"), "NAME 'docs': there is no such collection without a tenant; there are none"),
    (("search", "other.sqlite", "x"), "it is another application's database"),
    (("search", "kb.sqlite", "x", "--tenant", " "), "--tenant: a name that is not blank"),
    (("rag", "P1", "--kb", "no-bytes"), "no-bytes: a knowledge base is required; it is empty: remove it"),
    (("rag", "P1", "--kb", "docs", "--user", "u"), "--user: --kb FILE"),
    (("rag", "P1", "--group", "g"), "--group: --kb FILE"),
    (("rag", "P1", "--kb", "docs", "--tenant", "acme"), "--tenant: --policy FILE is required"),
    (("access", "docs"), "FILE 'docs': a file is required; something else stands there"),
    (("check", "nowhere", "--json"), "FILE 'nowhere': a file is required; there is none"),
)
def test_wrong_usage_is_one_line(arguments, message, files, here, monkeypatch):
    """Of the base, and of `rag` that asks it: nothing is on stdout, the exit code is 2, and no file was changed."""
    monkeypatch.chdir(files)
    before = contents(files)
    assert message in refused(run(*(() if arguments[0] == "rag" else ("kb",)), *arguments))
    assert contents(files) == before

"""`guardgraph report`: a page of a run from a file or a pipe, and errors on one line."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from cli_runs import empty_folder, files_of_a_user, process, refused, run
from reported_runs import result_of

import guardgraph

here = pytest.fixture(autouse=True)(empty_folder)
user_files = pytest.fixture(files_of_a_user)


def _write(result, name="run.json"):
    with open(name, "w", encoding="utf-8") as file:
        json.dump(result, file)


@pytest.mark.parametrize(
    ("name", "graph", "described"),
    [
        ("rag", (), "RAG run, ok: grounded_answer"),
        ("research stopped", (), "Research run, stopped: invalid_answer:contradicts_source"),
        ("critique", ("--graph", "critique"), "Self-critique run, ok: revised_once"),
        ("rag", ("--graph", "factories:agent"), "RAG run, ok: grounded_answer"),
    ],
)
def test_report_writes_a_page_and_says_so(name, graph, described, user_files):
    """The file is what `report` makes of the result."""
    _write(result_of(name))
    done = run("report", "run.json", "-o", "run.html", *graph)
    assert (done.exit_code, done.stdout, done.stderr) == (0, f"run.html: {described}\n", "")
    assert (user_files / "run.html").read_text(encoding="utf-8") == guardgraph.report(result_of(name)).html


def test_report_says_what_was_asked(here):
    """A result does not repeat what was asked; the page does where it is told."""
    _write(result_of("rag"))
    assert run("report", "run.json", "-o", "run.html", "--asked", "What is P1?").exit_code == 0
    asked = guardgraph.report(result_of("rag"), asked="What is P1?").html
    assert (here / "run.html").read_text(encoding="utf-8") == asked
    assert "What is P1?" in asked


def test_report_reads_a_pipe(here):
    """What a run prints with `--json` can be piped into a page."""
    printed = process("rag", "What is the P1 target?", "--json").stdout
    command = [sys.executable, "-W", "error", "-m", "guardgraph", "report", "-", "-o", "run.html"]
    done = subprocess.run(command, input=printed, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "run.html: RAG run, ok: grounded_answer\n", "")
    assert (here / "run.html").read_text(encoding="utf-8") == guardgraph.report(json.loads(printed)).html


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere", "-o", "a.html"), "RUN 'nowhere': cannot be read"),
        (("empty", "-o", "a.html"), "RUN 'empty': cannot be read"),
        (("binary", "-o", "a.html"), "RUN 'binary': cannot be read as UTF-8 text"),
        (("a_file", "-o", "a.html"), "RUN 'a_file': not JSON"),
        (("deep", "-o", "a.html"), "RUN 'deep': not JSON"),
        (("list", "-o", "a.html"), "RUN 'list': a JSON object is required; given: list"),
        (("object", "-o", "a.html"), "run: the result of a finished run is required"),
        (("started.json", "-o", "a.html"), "run: path: entry 1 is the name of no node; given: '__start__'"),
        (("started.json", "-o", "a.html", "--graph", "rag"), "run: a run of another graph; "),
        (("numbered.json", "-o", "a.html"), "path: entry 1 is the name of no node; given: 1"),
        (("run.json", "-o", "a.pdf"), "--out: a name that ends in .html; given: 'a.pdf'"),
        (("run.json", "-o", "nowhere/a.html"), "--out 'nowhere/a.html': cannot be written: "),
        (("run.json", "-o", "a.html", "--graph", "nope"), "--graph: rag, research, critique, tools or module:factory"),
        (("run.json", "-o", "a.html", "--graph", "factories:number"), "graph: a compiled LangGraph graph is required"),
        (("run.json", "-o", "a.html", "--graph", "research"), "run: a run of another graph; "),
    ],
)
def test_what_cannot_be_reported_is_one_line(arguments, message, user_files):
    """One line on stderr says what is wrong, nothing is on stdout, the exit code is 2, and no file is left."""
    _write({}, "object")
    _write(result_of("rag"))
    _write({**result_of("rag"), "path": ["__start__", *result_of("rag")["path"]]}, "started.json")
    _write({**result_of("rag"), "path": [1]}, "numbered.json")
    assert message in refused(run("report", *arguments))
    assert not list(user_files.glob("*.html"))

"""`guardgraph report` and `guardgraph draw`: pages and pictures of a run, and errors on one line."""

import json
import subprocess
import sys

import pytest
from cli_runs import empty_folder, files_of_a_user, process, refused, run
from exported_runs import document, forged
from reported_runs import result_of
from tables import each_row

import guardgraph

here = pytest.fixture(autouse=True)(empty_folder)
user_files = pytest.fixture(files_of_a_user)


def _write(result, name="run.json"):
    with open(name, "w", encoding="utf-8") as file:
        json.dump(result, file)


@each_row(
    ("name", "graph", "described"),
    ("research stopped", (), "Research run, stopped: invalid_answer:contradicts_source"),
    ("rag", ("--graph", "factories:agent"), "RAG run, ok: grounded_answer"),
)
def test_report_writes_a_page_and_says_so(name, graph, described, user_files):
    _write(result_of(name))
    done = run("report", "run.json", "-o", "run.html", *graph)
    assert (done.exit_code, done.stdout, done.stderr) == (0, f"run.html: {described}\n", "")
    assert (user_files / "run.html").read_text(encoding="utf-8") == guardgraph.report(result_of(name)).html


def test_report_reads_a_pipe(here):
    printed = process("rag", "What is the P1 target?", "--json").stdout
    command = [sys.executable, "-W", "error", "-m", "guardgraph", "report", "-", "-o", "run.html"]
    done = subprocess.run(command, input=printed, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "run.html: RAG run, ok: grounded_answer\n", "")
    assert (here / "run.html").read_text(encoding="utf-8") == guardgraph.report(json.loads(printed)).html


@each_row(
    ("target", "factory", "described"),
    ("research", "create_research_agent", "research, 20 nodes and 14 stops"),
    ("critique", "create_self_critique_agent", "self_critique, 13 nodes and 13 stops"),
    ("guardgraph:create_rag_agent", "create_rag_agent", "rag, 12 nodes and 11 stops"),
)
def test_draw_writes_a_picture_and_says_so(target, factory, described, here):
    done = run("draw", target, "-o", "picture.svg")
    assert (done.exit_code, done.stdout, done.stderr) == (0, f"picture.svg: {described}\n", "")
    assert (here / "picture.svg").read_text(encoding="utf-8") == guardgraph.draw(getattr(guardgraph, factory)()).svg


@each_row(
    ("arguments", "message"),
    ("report nowhere -o a.html", "RUN 'nowhere': cannot be read"),
    ("report a_file -o a.html", "RUN 'a_file': not JSON"),
    ("report object -o a.html", "run: the result of a finished run is required"),
    ("report started.json -o a.html", "run: path: entry 1 is the name of no node; given: '__start__'"),
    ("report run.json -o a.pdf", "--out: a name that ends in .html; given: 'a.pdf'"),
    ("report run.json -o nowhere/a.html", "--out 'nowhere/a.html': cannot be written: "),
    ("report document.json -o a.html", "a run with pattern, input, visits and result is required"),
    ("report document.json -o a.md", "a run with pattern, input, visits and result is required"),
    ("report run.json -o a.html --graph nope", "--graph: rag, research, critique, tools or module:factory"),
    ("draw nope -o a.svg", "draw: rag, research, critique, tools or module:factory is required; given: 'nope'"),
    ("draw factories:raises -o a.svg", "draw 'factories:raises': RuntimeError: "),
    ("draw rag -o a.gif", "--out: a name that ends in .svg, .png or .mmd; given: 'a.gif'"),
    ("draw rag -o nowhere/a.svg", "--out 'nowhere/a.svg': cannot be written: "),
    ("draw rag -o a.svg --run other", r"run: a run of another graph; rag has no node 'x\x1b[31m'"),
)
def test_what_cannot_be_reported_or_drawn_is_one_line(arguments, message, user_files):
    """One line on stderr says what is wrong, nothing is on stdout, the exit code is 2, and no file is left."""
    _write({}, "object")
    _write(result_of("rag"))
    _write(forged(document(), lambda recording: recording.pop("result")), "document.json")
    _write({**result_of("rag"), "path": ["__start__", *result_of("rag")["path"]]}, "started.json")
    _write({"path": ["x\x1b[31m"], "stop_reason": "no"}, "other")
    assert message in refused(run(*arguments.split()))
    assert not [*user_files.glob("a.*")]


def test_report_writes_a_brief_of_a_kept_run(here):
    """A file that ends in .md gets the brief; a stopped run and a graph beside it are refused."""
    _write(result_of("research"))
    _write(result_of("research stopped"), "stopped.json")
    assert run("report", "run.json", "-o", "run.md", "--asked", "What?").exit_code == 0
    brief = guardgraph.format_brief(result_of("research"), asked="What?")
    assert (here / "run.md").read_text(encoding="utf-8") == brief
    assert "ended well is required; given: invalid_" in refused(run("report", "stopped.json", "-o", "stopped.md"))
    assert "--graph: for a page" in refused(run("report", "run.json", "-o", "run.md", "--graph", "research"))
    assert not (here / "stopped.md").exists()

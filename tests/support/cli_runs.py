"""What tests of the command line share: a clean place to stand, runs in a process or in this one, and their endings."""

import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import typer.testing

from guardgraph.cli.commands import app

ROOT = Path(__file__).parents[2]

CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e]")
"""What steers a terminal, or hides: nothing of it may be printed."""

LEAVE_OUT = ("OPENAI_", "COLUMNS", "LINES", "FORCE_COLOR", "NO_COLOR", "PYTHONIOENCODING", "TERM")
COLOURLESS = {"COLUMNS": "100", "PYTHONPATH": str(ROOT), "LANGGRAPH_STRICT_MSGPACK": "true"}


def empty_folder(tmp_path, monkeypatch):
    """An empty current folder, no key, a terminal of 100 columns without colours, and the import path put back."""
    for name in [name for name in os.environ if name.startswith(LEAVE_OUT)]:
        monkeypatch.delenv(name)
    for name, value in COLOURLESS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    return tmp_path


def process(*arguments, **environ):
    command = [sys.executable, "-W", "error", "-m", "guardgraph", *arguments]
    given = {**os.environ, **environ}
    return subprocess.run(command, env=given, capture_output=True, text=True, timeout=300, check=False)


def run_on_a_full_disk(room, *arguments):
    """Run the commands in a process, none of whose files may have more bytes than this; it counts no lines."""
    limited = (
        "import resource, sys; from guardgraph.cli import main; "
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({room}, {room})); sys.argv[0] = 'guardgraph'; main()"
    )
    command = [sys.executable, "-c", limited, *arguments]
    given = {name: value for name, value in os.environ.items() if name != "COVERAGE_PROCESS_CONFIG"}
    return subprocess.run(command, env=given, capture_output=True, text=True, timeout=300, check=False)


typer.testing._get_command = cache(typer.testing._get_command)  # it is built once, not for each of a thousand runs


def run(*arguments):
    return typer.testing.CliRunner().invoke(app, list(arguments), catch_exceptions=False)


def refused(done, code=2):
    """Check that a process or a run ended with one line on stderr, and return it."""
    returned = done.exit_code if hasattr(done, "exit_code") else done.returncode
    assert returned == code, done.stderr
    assert done.stdout == ""
    assert done.stderr.startswith("guardgraph: ")
    assert done.stderr.endswith("\n")
    assert done.stderr.count("\n") == 1, done.stderr
    assert not CONTROL.search(done.stderr)
    return done.stderr.removeprefix("guardgraph: ").rstrip("\n")


def files_of_a_user(here, monkeypatch):
    """Files that a user may get wrong."""
    (here / "empty").mkdir()
    (here / "a_file").write_text("{")
    (here / "twice").write_text('{"goal": {"goal": 1}, "x": [{"goal": 1, "goal": 2}]}')
    (here / "factories.py").write_text(FACTORIES)
    monkeypatch.delitem(sys.modules, "factories", raising=False)
    return here


FACTORIES = """
import sys
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict
import guardgraph

agent = guardgraph.create_rag_agent()

class State(TypedDict):
    text: str

def raises():
    raise RuntimeError("no\\nluck \\x1b[31m")

def leaves():
    sys.exit(7)

def builder():
    graph = StateGraph(State)
    graph.add_node("speak", lambda state: state)
    graph.add_edge(START, "speak")
    graph.add_edge("speak", END)
    return graph

def unguarded():
    print("noise of a module")
    return builder().compile(name="unguarded [bold]")
"""

"""The command line as a process: its streams, its signals, its environment, its entry point."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_runs import empty_folder, process, refused, run_on_a_full_disk
from openai_server import OpenAIServer, answer, status
from runs import masked

import guardgraph
from guardgraph.cli import main
from guardgraph.tools.demo import DEMO_QUESTION

here = pytest.fixture(autouse=True)(empty_folder)


def test_json_is_one_document_and_nothing_else():
    """`rag --json` prints the result of `invoke`, key by key in its order, and nothing on stderr."""
    done = process("rag", DEMO_QUESTION, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    result = json.loads(done.stdout)
    expected = guardgraph.create_rag_agent().invoke({"question": DEMO_QUESTION})
    assert list(result) == list(expected)
    assert masked(result) == masked(expected)


def test_help_and_version_load_neither_langgraph_nor_pydantic():
    code = "import sys, guardgraph.cli.commands; print({'langgraph', 'pydantic', 'openai'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
    assert process("--version").stdout == f"guardgraph {guardgraph.__version__}\n"


def test_a_dotenv_is_read_and_the_environment_wins(here):
    """Key and address come from `.env` in the current folder; what the environment says, holds."""
    with OpenAIServer(status(401)) as server:
        key = server.environ()["OPENAI_API_KEY"]
        (here / ".env").write_text(f"OPENAI_API_KEY={key}\nOPENAI_BASE_URL=ftp://from.dotenv\n")
        assert "ftp://from.dotenv" in refused(process("rag", "P1", "--model", "openai"))
        done = process("rag", "P1", "--model", "openai", "--json", OPENAI_BASE_URL=server.url)
        headers = {name.lower(): value for name, value in server.requests[0]["headers"].items()}
    assert headers["authorization"] == f"Bearer {key}"
    assert done.returncode == 3
    assert json.loads(done.stdout)["stop_reason"] == "llm_auth"
    assert key not in done.stdout


@pytest.fixture
def heeded():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.usefixtures("heeded")
def test_ctrl_c_is_one_line():
    command = [sys.executable, "-W", "error", "-m", "guardgraph", "rag", "P1", "--model", "openai", "--json"]
    with (
        OpenAIServer(answer("{}", delay=60.0)) as server,
        subprocess.Popen(
            command, env={**os.environ, **server.environ()}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as running,
    ):
        try:
            while not server.requests and running.poll() is None:
                time.sleep(0.02)
            running.send_signal(signal.SIGINT)
            printed = running.communicate(timeout=300)
        finally:
            running.kill()
    assert (running.returncode, *printed) == (130, "", "guardgraph: interrupted\n")


@pytest.fixture
def unwritable():
    """The writing end of a pipe that nobody reads."""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as closed:
        yield closed


@pytest.mark.skipif(os.name == "nt", reason="pipes of POSIX")
@pytest.mark.parametrize("arguments", [("reasons", "--markdown"), ("--help",)])
def test_a_closed_pipe_is_quiet(arguments, unwritable):
    command = [sys.executable, "-W", "error", "-m", "guardgraph", *arguments]
    done = subprocess.run(command, stdout=unwritable, stderr=subprocess.PIPE, text=True, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.process
@pytest.mark.skipif(os.name == "nt", reason="limits of POSIX")
@pytest.mark.parametrize("arguments", [("report", "run.json", "-o", "old.html"), ("draw", "rag", "-o", "old.svg")])
def test_a_full_disk_leaves_the_file_before(arguments, here):
    """A page or a picture is there whole, or what stood in its place is."""
    old = here / arguments[-1]
    old.write_text("old")
    (here / "run.json").write_text(json.dumps(guardgraph.create_rag_agent().invoke({"question": DEMO_QUESTION})))
    assert refused(run_on_a_full_disk(9_000, *arguments)) == f"--out '{old.name}': cannot be written: File too large"
    assert old.read_text() == "old"
    assert {file.name for file in here.iterdir()} == {"run.json", old.name}


def test_an_encoding_that_lacks_letters_is_no_error():
    done = process("rag", "Qué P1 ✓", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert r"Qu\xe9 P1 \u2713" in done.stdout


def test_steps_are_shown_as_they_happen():
    """What the planner proposed is on the screen while the model still thinks about the answer."""
    command = [sys.executable, "-W", "error", "-m", "guardgraph", "rag", "P1", "--model", "openai:test-model"]
    with OpenAIServer(answer({"kind": "retrieve", "query": "P1"}), answer("{}", delay=30.0)) as server:
        given = {**os.environ, **server.environ()}
        with subprocess.Popen(command, env=given, stdout=subprocess.PIPE, text=True) as running:
            line = next(line for line in running.stdout if "context_guard" in line)
            running.kill()
    assert "guard    context_guard" in line


def end_main(monkeypatch, *arguments, **streams):
    """Run the commands in this process, with other streams, and return their exit code."""
    monkeypatch.setattr(sys, "argv", ["guardgraph", *arguments])
    for name, stream in streams.items():
        monkeypatch.setattr(sys, name, stream)
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has a device that is always full")
def test_main_survives_a_full_disk(monkeypatch, capsys):
    with open("/dev/full", "w") as full:
        assert end_main(monkeypatch, "reasons", "--json", stdout=full) == 2
    assert capsys.readouterr().err.startswith("guardgraph: the output cannot be written: ")


@pytest.mark.skipif(os.name == "nt", reason="pipes of POSIX")
@pytest.mark.parametrize(
    ("arguments", "stream", "code"),
    [("reasons", "stdout", 141), ("reasons --json", "stdout", 141), ("reasons x", "stderr", 2)],
)
def test_main_survives_a_reader_that_goes_away(arguments, stream, code, unwritable, monkeypatch, capsys):
    """Tables, JSON and errors alike, and nothing is left in a buffer for the end of the process."""
    assert end_main(monkeypatch, *arguments.split(), **{stream: unwritable}) == code
    assert capsys.readouterr().err == ""


def test_main_needs_no_stdout(monkeypatch):
    assert end_main(monkeypatch, "reasons", "rag", stdout=None) == 0

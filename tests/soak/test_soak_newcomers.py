"""Two newcomers with nothing but the pages: from the wheel in an empty environment, in ten minutes each.

Each types what a page shows, in an empty folder, and sees what the page says. ``pytest -s`` prints their diaries: what
was typed, what came, after how many seconds, the installation included.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from docs_parts import ROOT, fences
from openai_server import OpenAIServer, answer

MINUTES = 10
OURS = ("PYTHON", "OPENAI", "GUARDGRAPH", "VIRTUAL_ENV")
"""How variables begin that a newcomer has not set."""
QUESTION = "How many days of leave does an employee have?"


class Newcomer:
    """Somebody at a terminal with an empty folder and an empty environment."""

    def __init__(self, folder: Path, wheel: Path) -> None:
        self.folder, self.wheel = folder, wheel
        self.began = time.monotonic()
        self.bin = folder / "venv" / "bin"

    def type(self, *command: str, given: str = "", **environ: str) -> str:
        """Run a command and return what it printed; another exit code than 0 fails."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
        options = {"cwd": self.folder, "env": {**kept, **environ}, "input": given, "timeout": 600}
        done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
        print(f"[{time.monotonic() - self.began:5.1f} s] $ {' '.join(command)[:110]}\n{done.stdout[-400:]}")
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def install(self, extra: str = "") -> None:
        uv = (sys.executable, "-m", "uv")
        self.type(*uv, "venv", "--quiet", "--python", sys.executable, "venv")
        self.type(*uv, "pip", "install", "--quiet", "--python", str(self.bin / "python"), f"{self.wheel}{extra}")

    def run(self, name: str, code: str, **more: str) -> str:
        (self.folder / name).write_text(code, encoding="utf-8")
        return self.type(str(self.bin / "python"), "-I", name, **more)

    def is_done_in_time(self) -> bool:
        return time.monotonic() - self.began < MINUTES * 60


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True, timeout=300)
    return next(folder.glob("*.whl"))


def test_a_guarded_answer_from_own_files(tmp_path, wheel):
    """The whole page "Start", then the question to a model over HTTP, which makes up a number and is asked again."""
    newcomer = Newcomer(tmp_path, wheel)
    newcomer.install()
    blocks = [fence for fence in fences(ROOT / "docs" / "start.md") if fence.info == "python"]
    printed = "".join(fence.output or "" for fence in blocks)
    assert newcomer.run("start.py", "\n".join(fence.code for fence in blocks)) == printed
    wrong = {"answer": "Every employee has 45 days of leave a year.", "citations": ["people/leave.md#leave.1"]}
    right = {**wrong, "answer": "Every employee has 30 days of leave a year."}
    intent = {"kind": "retrieve", "query": "days of leave"}
    with OpenAIServer(answer(intent), answer(wrong), answer(right)) as server:
        command = (str(newcomer.bin / "guardgraph"), "rag", QUESTION, "--kb", "files", "--model", "openai:m")
        said = newcomer.type(*command, **server.environ())
    assert "30 days" in said
    assert len(server.requests) == 3
    assert newcomer.is_done_in_time()


def test_a_tool_agent_over_an_mcp_server(tmp_path, wheel):
    """The two files of the page on tools: a mail asks for 900 euros, a person is asked and says no."""
    newcomer = Newcomer(tmp_path, wheel)
    newcomer.install("[mcp]")
    shown = [fence.code for fence in fences(ROOT / "docs" / "tools.md") if fence.info == "python no-run"]
    for name, mark in (("server.py", "server = FastMCP("), ("office.py", "def make_agent():")):
        (tmp_path / name).write_text(next(code for code in shown if mark in code), encoding="utf-8")
    read = {"tool": "read_mail", "args": {"id": "m1"}}
    pay = {"tool": "send_money", "args": {"to": "Mallory", "amount": 900}}
    with OpenAIServer(answer({"calls": [read]}), answer({"calls": [pay]})) as model:
        said = newcomer.type(str(newcomer.bin / "python"), "office.py", given="n\n", **model.environ())
    assert all(each in said for each in ("Mallory", "Approve?", "stopped review_rejected"))
    assert newcomer.is_done_in_time()

"""A real LangGraph server in a process of its own, started as docs/serving.md says."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import IO

import httpx
import pytest
from docs_parts import ROOT, fences
from loopback import find_free_port

PAGE = ROOT / "docs" / "serving.md"

WITNESS = '''
import os
import sys

def host(event, arguments):
    """Return whom an event of the socket module is about."""
    if event == "socket.getaddrinfo":
        return arguments[0]
    if event == "socket.connect" and isinstance(arguments[1], tuple):
        return arguments[1][0]

def witness(event, arguments):
    """Write down every host beyond this machine that is looked up or connected to, and let nothing out."""
    if host(event, arguments) not in (None, "", "localhost", "127.0.0.1", "::1"):
        with open(os.environ["WITNESSED"], "a") as file:
            print(host(event, arguments), file=file)
        raise OSError("the tests let nothing out")

sys.addaudithook(witness)
'''
"""A `sitecustomize` for the server's process, which sees what it does with Python's sockets."""


@dataclass(frozen=True)
class Server:
    """A server that is running."""

    url: str
    folder: Path

    @property
    def log(self) -> str:
        return (self.folder / "server.log").read_text(encoding="utf-8", errors="replace")

    @property
    def went_out(self) -> list[str]:
        witnessed = self.folder / "witnessed"
        return witnessed.read_text().splitlines() if witnessed.exists() else []


def needs_server() -> None:
    if find_spec("langgraph_api") is None:
        pytest.skip("LangGraph's server is not installed: pip install '.[serve]'")


def block(start: str) -> str:
    [code] = [fence.code for fence in fences(PAGE) if fence.code.startswith(start)]
    return code


def page_graphs() -> dict[str, object]:
    ours = json.loads((ROOT / "langgraph.json").read_text(encoding="utf-8"))["graphs"]
    return {**json.loads(block("{"))["graphs"], **ours}


@contextmanager
def serving(folder: Path, graphs: dict[str, object], *, auth: str = "", **environ: str) -> Iterator[Server]:
    """Yield a server of graphs by name, in a folder that is empty or was served before; `auth` says who signs in."""
    port = find_free_port()
    server = Server(f"http://127.0.0.1:{port}", folder)
    (folder / "agents.py").write_text(block('"""agents.py'), encoding="utf-8")
    said: dict[str, object] = {"dependencies": ["."], "graphs": graphs, **({"auth": {"path": auth}} if auth else {})}
    (folder / "langgraph.json").write_text(json.dumps(said), encoding="utf-8")
    if not (folder / "docs").exists():
        (folder / "docs").symlink_to(ROOT / "docs")
    (folder / "witness").mkdir(exist_ok=True)
    (folder / "witness" / "sitecustomize.py").write_text(WITNESS, encoding="utf-8")
    with open(folder / "server.log", "ab") as log:
        process = _start(folder, port, environ, log)
        try:
            _wait_until_ready(process, server)
            yield server
        finally:
            _end(process)


def _start(folder: Path, port: int, environ: dict[str, str], log: IO[bytes]) -> subprocess.Popen[bytes]:
    lines = block("$ export LANGGRAPH").splitlines()
    exports, command = dict(re.findall(r"(\w+)=(\w+)", lines[0])), shlex.split(lines[-1].removeprefix("$ "))
    ours = ("OPENAI_", "LANGSMITH_", "LANGCHAIN_", "LANGGRAPH_", "GUARDGRAPH_", "HTTP", "ALL_PROXY")
    inherited = {name: value for name, value in os.environ.items() if not name.upper().startswith(ours)}
    folders = (folder / "witness", ROOT, *(ROOT / "tests" / name for name in ("support", "graphs", "soak")))
    path = os.pathsep.join(map(str, folders))
    given = {**inherited, **exports, "PYTHONPATH": path, "WITNESSED": str(folder / "witnessed"), **environ}
    script = str(Path(sys.executable).with_name(command[0]))
    line = [script, *command[1:], "--port", str(port)]
    return subprocess.Popen(line, cwd=folder, env=given, stdout=log, stderr=log, start_new_session=True)


def _wait_until_ready(process: subprocess.Popen[bytes], server: Server) -> None:
    for _ in range(1500):
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with {process.returncode}:\n{server.log}")
        try:
            if httpx.get(f"{server.url}/ok", trust_env=False).is_success:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.2)
    raise RuntimeError(f"the server was not ready within five minutes:\n{server.log}")


def _end(process: subprocess.Popen[bytes]) -> None:
    for sign in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is not None:
            return
        os.killpg(process.pid, sign)
        try:
            process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            continue

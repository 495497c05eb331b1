"""How tests run an example: as a process, or in this one."""

import io
import os
import runpy
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
SCRIPTS = {file.stem: file for file in sorted(EXAMPLES.glob("*.py"))}


def ran(*arguments: str, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OPENAI_")}
    environ = {**kept, "PYTHONPATH": str(ROOT), "LANGGRAPH_STRICT_MSGPACK": "true"}
    command = [sys.executable, "-W", "error", *arguments]
    return subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, timeout=300, check=False)


def printed(*arguments: str, folder: Path = ROOT) -> list[str]:
    done = ran(*arguments, folder=folder)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def ran_here(name: str, *arguments: str, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run an example in this process as Python runs it, without a key, and return what a process would leave."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    with pytest.MonkeyPatch.context() as patch, chdir(folder), redirect_stdout(out), redirect_stderr(err):
        for key in [key for key in os.environ if key.startswith("OPENAI_")]:
            patch.delenv(key)
        patch.setattr(sys, "argv", [str(SCRIPTS[name]), *arguments])
        patch.syspath_prepend(str(EXAMPLES))
        try:
            runpy.run_path(str(SCRIPTS[name]), run_name="__main__")
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 1
            err.write(f"{ended.code}\n" if isinstance(ended.code, str) else "")
    return subprocess.CompletedProcess([name, *arguments], code, out.getvalue(), err.getvalue())

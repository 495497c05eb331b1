"""What mypy and pyright make of the public types: what is right passes, what is misspelt does not."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SNIPPETS = sorted([*HERE.glob("typed_*.py"), *HERE.glob("mistyped_*.py")])
MARK = re.compile(r"  # error(?:: (\w+))?$")
"""An error that both type checkers find, or the one that is named."""


def _run(*arguments: str) -> str:
    command = [sys.executable, "-m", *arguments, *map(str, SNIPPETS)]
    env = {**os.environ, "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"}  # or it asks the network for a newer pyright
    done = subprocess.run(
        command, cwd=HERE.parents[1], env=env, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout


def _mypy() -> Iterator[tuple[str, int]]:
    for line in _run("mypy", "--strict", "--output=json").splitlines():
        found = json.loads(line)
        if found["severity"] == "error":
            yield Path(found["file"]).name, found["line"]


def _pyright() -> Iterator[tuple[str, int]]:
    said = json.loads(_run("pyright", "--outputjson", "--pythonpath", sys.executable))
    for found in said["generalDiagnostics"]:
        yield Path(found["file"]).name, found["range"]["start"]["line"] + 1


@pytest.mark.parametrize("checker", [_mypy, _pyright], ids=["mypy", "pyright"])
def test_type_checkers_find_the_marked_lines_and_no_others(checker):
    """A misspelt input or key is an error for both; what `status` tells apart needs no cast."""
    marked = {
        (path.name, number)
        for path in SNIPPETS
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if (mark := MARK.search(line)) and mark[1] in (None, checker.__name__[1:])
    }
    assert set(checker()) == marked

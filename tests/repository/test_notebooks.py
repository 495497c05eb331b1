"""The notebooks are true: they run in a clean kernel, and what is saved in them is what comes out."""

import re
import sys
from pathlib import Path

import pytest
from notebook_runs import METADATA, NOTEBOOKS, ROOT, executed, read

MACHINE_PATH = re.compile(r"""(?<![\w.])/(?:home|Users|root|tmp|var|opt|usr|private|work)/|\b[A-Za-z]:\\\\?Users""")
ENDING = re.compile(r"stops, a run that ended with ([^\"]+)")
EVERY_NOTEBOOK = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def outputs(notebook):
    return {cell.id: cell.outputs for cell in notebook.cells if cell.cell_type == "code"}


def shown(notebook):
    every = [output for given in outputs(notebook).values() for output in given]
    return "".join(output.get("data", {}).get("text/html", "") for output in every)


@EVERY_NOTEBOOK
def test_saved_outputs_are_fresh(path):
    fresh, saved = outputs(executed(path)), outputs(read(path))
    assert fresh == saved, "if the change is wanted: .venv/bin/python tests/support/notebook_runs.py"


@EVERY_NOTEBOOK
def test_saved_notebook_is_complete(path):
    """A saved notebook was run from its first cell to its last, holds texts and pictures, is small, and names no
    machine; README names it.
    """
    notebook = read(path)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert "".join(output.get("text", "") for cell in cells for output in cell.outputs)
    assert '<img alt="' in shown(notebook)
    assert notebook.metadata == METADATA
    assert not any(cell.metadata for cell in notebook.cells)
    text = path.read_text(encoding="utf-8")
    assert [text[max(0, found.start() - 40) : found.end() + 40] for found in MACHINE_PATH.finditer(text)] == []
    assert [name for name in {str(ROOT), str(Path.home()), sys.prefix} if len(name) > 1 and name + "/" in text] == []
    assert path.stat().st_size < 300_000
    assert f"](notebooks/{path.name})" in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["rag", "research", "self_critique", "tools", "own_pattern"])
def test_patterns_are_shown_at_work(name):
    """A pattern's notebook draws a good run and at least three ways in which a run is stopped, and asks ChatOpenAI."""
    notebook = read(ROOT / "notebooks" / f"{name}.ipynb")
    endings = set(ENDING.findall(shown(notebook)))
    assert "success" in endings
    assert len(endings) >= 4
    assert "gpt-4.1-mini" in shown(notebook)

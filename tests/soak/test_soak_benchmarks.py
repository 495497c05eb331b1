"""The benchmarks run, compare like with like, and their page says what they print. No test looks at a time."""

import json
import math
import platform
import re
import subprocess
import sys
from pathlib import Path

import figures
import measured
import pytest
from docs_parts import ROOT
from measured import Row, Skip

PAGE = ROOT / "docs" / "benchmarks.md"


@pytest.fixture(scope="module")
def rows():
    """What every benchmark yields when it measures once, on little."""
    found, skipped = {}, {}
    before, measured.POOL = measured.POOL, 24
    try:
        for name, (work, _) in figures.MEASURED.items():
            try:
                arguments = ([60],) if name == "bases" else ()
                found[name] = list(work(1, *arguments))
            except Skip as skip:
                skipped[name] = str(skip)
    finally:
        measured.POOL = before
    return found, skipped


def test_each_figure_is_a_number_beside_its_peer(rows):
    """A row has a name of its own, finite values, and a ratio wherever something stands beside it."""
    found, skipped = rows
    assert all(len(why) > 20 for why in skipped.values())
    every = [row for each in found.values() for row in each]
    assert len({row.name for row in every}) == len(every) >= 15
    for row in every:
        assert re.fullmatch(r"[a-z0-9_]+", row.name)
        assert math.isfinite(row.ours)
        assert row.ours > 0
        assert (row.theirs is None) == (row.ratio is None) == (not row.peer)
        assert json.loads(json.dumps(row)) == list(row)


def test_the_page_shows_what_is_measured():
    """Each benchmark's figures stand in docs/benchmarks.md; it names the versions and no host."""
    text = PAGE.read_text(encoding="utf-8")
    assert len(re.findall(r"^\| .* \| .* \|$", text, re.MULTILINE)) >= 20
    for said in ("by hand", "`create_agent`", "FTS5", "bm25s", "bare insert", "replays", "langgraph 1."):
        assert said in text
    assert not re.search(rf"\b{re.escape(platform.node())}\b", text)
    assert str(Path.home()) not in text


def test_a_missed_goal_is_marked():
    """A ratio above its goal, and a value below its, have a mark."""
    reached = [Row("a", "a run", ours, "µs", "by hand", 1.0, ours, at_most=1.2).is_reached for ours in (1.1, 2.0)]
    assert [*reached, Row("b", "entries", 10.0, "a second", at_least=20.0).is_reached] == [True, False, False]


def test_an_unknown_benchmark_is_refused():
    command = [sys.executable, str(ROOT / "benchmarks"), "speed"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, "speed" in done.stderr, "by_hand" in done.stderr) == (2, True, True)

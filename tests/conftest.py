"""What holds in every test: strict checkpoints, repeatable property tests, a replay of every run."""

import gc
import itertools
import json
import os
import shutil
import sys
from collections import Counter
from pathlib import Path

import lanes
import pytest
from hypothesis import HealthCheck, settings
from runs import EDITED

os.environ.setdefault("LANGGRAPH_STRICT_MSGPACK", "true")

# The tests of a room may take the cases of another one's.
sys.path += [str(folder) for folder in Path(__file__).parent.iterdir() if any(folder.glob("test_*.py"))]

# A slow machine is no defect of what is tested, and a test that fails must fail again.
settings.register_profile("guardgraph", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("random", settings.get_profile("guardgraph"), derandomize=False, print_blob=True)
settings.load_profile("guardgraph")

LEFT_OUT = pytest.StashKey()


def pytest_addoption(parser):
    """Let `make` keep what a run leaves out and what was seen of its tests."""
    parser.addoption("--left-out", help="a file for the line that says what was left out")
    parser.addoption("--examples", type=float, default=1, help="how many times as many examples property tests try")
    parser.addoption("--seen", action="store_true", help="write tests/lanes.json anew")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Put tests into their lanes, and let files that take long begin first where whole files are handed out."""
    config.stash[LEFT_OUT] = Counter()
    lanes.pair_tables(items)
    lanes.mark_tests(items)
    lanes.multiply_examples(items, config.getoption("examples"))
    if hasattr(config, "workerinput"):
        lanes.order_slowest_first(items)


def pytest_deselected(items):
    """Count what is left out, by the lane's reason."""
    for item in items:
        item.config.stash[LEFT_OUT].update([lanes.name_reason(item)])


def pytest_sessionfinish(session):
    """Let a worker say what it left out: whoever started it collects nothing."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = dict(session.config.stash.get(LEFT_OUT, {}))


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """Take from each worker what it left out; all leave out the same."""
    node.config.stash[LEFT_OUT] = Counter(getattr(node, "workeroutput", {}).get("left_out", {}))


def pytest_terminal_summary(terminalreporter, config):
    """Say what was left out and why, also in the file that `make` shows at its end."""
    line = lanes.tell_left_out(config.stash.get(LEFT_OUT, {}), terminalreporter.stats.get("skipped", []))
    terminalreporter.write_line(line)
    if file := config.getoption("left_out"):
        Path(file).write_text(f"{line}\n", encoding="utf-8")
    if config.getoption("seen"):
        lanes.write_seen(terminalreporter.stats)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """Skip a file that needs what `make rest` installs, where it is missing."""
    return lanes.skip_unreadable((yield))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """Watch whether a test starts a process."""
    lanes.begin_watch()
    return (yield)


def pytest_collection_finish():
    """Let the garbage collector pass over what was imported, which stays."""
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Let a test of the fast lane fail that starts a process, and keep what was seen of the others."""
    report = yield
    started = lanes.find_started_process()
    if call.when == "teardown":
        report.user_properties.append(("process", bool(started)))
        quick = item.config.getoption("markexpr").startswith("not process")  # the other lane has it in brackets
        if quick and started and report.passed:
            report.outcome = "failed"
            report.longrepr = f"{item.nodeid} started a process, {started}: mark it with pytest.mark.process"
    return report


@pytest.fixture
def uncounted(monkeypatch):
    """Let processes that a test starts count no lines: what they write of it is no part of what the test looks at."""
    monkeypatch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)


@pytest.fixture(scope="session")
def chromium():
    """The path of Chromium; skip where there is none."""
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    executable = next(filter(None, map(shutil.which, names)), None)
    if executable is None:
        pytest.skip("Chromium is not installed: apt-get install chromium")
    return executable


@pytest.fixture(scope="module")
def browser(chromium):
    """Yield a browser; for a whole process, its event loop would be in the way of other tests."""
    from playwright.sync_api import sync_playwright

    loud = ("background-networking", "component-update", "quic", "sync")
    as_root = hasattr(os, "geteuid") and os.geteuid() == 0  # whom Chromium gives no sandbox
    options = ["--no-first-run", *(f"--disable-{part}" for part in loud), *(["--no-sandbox"] if as_root else [])]
    with sync_playwright() as started:
        running = started.chromium.launch(executable_path=chromium, args=options)
        yield running
        running.close()


@pytest.fixture(scope="session")
def postgres():
    """Yield the address of a PostgreSQL server, one for all tests of a process."""
    from postgres_server import postgres_server

    with postgres_server() as address:
        yield address


@pytest.fixture(scope="session")
def new_postgres(postgres):
    """Return a function that makes an empty database on that server, and returns its address."""
    import psycopg

    numbers = itertools.count()

    def make():
        name = f"tests{next(numbers)}"
        with psycopg.connect(postgres, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return postgres.replace("/postgres?", f"/{name}?")

    return make


@pytest.fixture
def fonts():
    """Skip where the machine has no font to draw the letters of a PNG with."""
    from guardgraph import ConfigurationError, create_rag_agent, draw

    try:
        draw(create_rag_agent()).png(scale=1.0)
    except ConfigurationError as error:
        pytest.skip(str(error))


@pytest.fixture(autouse=True)
def every_run_replays(request):
    """Decide every run that ended in the test again, from its recording alone: nothing may differ, not even a time."""
    from guardgraph.graphs.replay import interpret_recording
    from guardgraph.graphs.running.end import watch_recordings
    from guardgraph.state.recording import validate_recording

    kept = []
    with watch_recordings(lambda frame, recording: kept.append((frame, json.dumps(recording)))):
        yield
    if "unreplayable" in request.keywords:
        return
    for frame, text in kept:
        recording = json.loads(text, parse_constant=pytest.fail)  # NaN and its like are no JSON
        if recording["run_id"] in EDITED:
            continue
        assert interpret_recording(frame, validate_recording(recording)).result == recording["result"]

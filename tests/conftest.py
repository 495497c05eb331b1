"""What holds in every test: strict checkpoints, repeatable property tests, a replay of every run."""

import gc
import json
import os
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings
from runs import EDITED

try:
    import coverage
except ImportError:  # the lowest versions are tried without
    coverage = None

os.environ.setdefault("LANGGRAPH_STRICT_MSGPACK", "true")

# The tests of a room may take the cases of another one's.
sys.path += [str(folder) for folder in Path(__file__).parent.iterdir() if any(folder.glob("test_*.py"))]

# A slow machine is no defect of what is tested, and a test that fails must fail again.
settings.register_profile("guardgraph", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("guardgraph")

COUNTED_SECONDS = 5.0
"""Processor time for which the lines of one table of cases are counted."""
SPENT = Counter()
LONG = ["types", "examples", "notebooks", "cli_processes", "example_checkpoints", "serving", "report_browser"]
LONG += ["soak_what_if", "soak_random_effects", "soak_kb_faults", "soak_tool_agent", "soak_tools"]
"""Files of tests that take long: they begin first, in this order, or one process ends long after the others."""


def pytest_collection_modifyitems(items):
    """Let files that take long begin first."""
    places = {f"test_{name}": at for at, name in enumerate(LONG)}
    items.sort(key=lambda item: places.get(item.path.stem, len(places)))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """Count no lines where examples are drawn, nor in a table that took its time: it takes twice as long again."""
    table = item.nodeid.partition("[")[0]
    uncounted = is_hypothesis_test(getattr(item, "obj", None)) or SPENT[table] > COUNTED_SECONDS
    counting = coverage and uncounted and coverage.Coverage.current()
    if counting:
        counting.stop()
    began = time.process_time()
    done = yield
    SPENT[table] += time.process_time() - began
    if counting:
        counting.start()
    return done


def pytest_collection_finish():
    """Let the garbage collector pass over what was imported, which stays."""
    gc.freeze()


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
    from guardgraph.graphs.replay.interpreter import interpret_recording
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

"""What tests of guards share: the reference cases, hostile JSON values, and a guard's verdict as data."""

import json
import math
from pathlib import Path

import pytest
from hypothesis import strategies as st

from guardgraph.guards.stop import Stop

DATA = Path(__file__).parents[1] / "data"


def reference_cases(name):
    """Read input and outcome of each reference case."""
    lines = (DATA / "cases" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [(case["in"], case["out"]) for case in map(json.loads, lines)]


def outcome(guard, *args, **kwargs):
    """Run a guard and say what came of it in the form of the reference cases."""
    try:
        return {"value": guard(*args, **kwargs)}
    except Stop as stop:
        details = {"details": stop.evidence["details"]} if "details" in stop.evidence else {}
        return {"stop": stop.reason} | details


def stop_of(guard, *args, **kwargs):
    """Return the stop that a guard raises."""
    with pytest.raises(Stop) as caught:
        guard(*args, **kwargs)
    return caught.value


def json_values(keys, texts=()):
    """Make any JSON values, odd numbers and strings among them, with objects that have likely keys."""
    odd = [10**400, -(10**4000), math.nan, math.inf, -0.0, 1e308, "", " ", "\ud800", "\0", "ß", "１２", *texts]
    leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30) | st.sampled_from(odd)
    names = st.sampled_from(list(keys)) | st.text(max_size=3)
    return st.recursive(
        leaves, lambda inner: st.lists(inner, max_size=5) | st.dictionaries(names, inner, max_size=7), max_leaves=25
    )

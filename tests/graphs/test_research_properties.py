"""The Research agent under anything: whatever a caller, a model or a tool gives, a run ends with a reason."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from guard_cases import json_values
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from research_cases import (
    ANSWER,
    GOAL,
    NOTES,
    PAGES,
    PLAN,
    QUESTION,
    REQUEST,
    SLA,
    STATUS,
    STEPS,
    asked,
    hits,
    research,
)
from runs import check_result, masked, printed_under_hash_seed, sample

from guardgraph.state.research import RESEARCH_REASONS
from guardgraph.testing import ScriptedChatModel

KEYS = ["steps", "id", "action", "args", "query", "url", "title", "body", "claim", "quote", "answer", "citations"]
TEXTS = ["n1", "search_sources", STATUS, SLA, f"{SLA}#x", NOTES[0]["quote"], "P1 at 3.4% in the EU", "x" * 2000]
ANY_JSON = json_values([*KEYS, "request", "question", "policy_hints", "max_urls"], TEXTS)
ANY_TEXT = st.one_of(st.text(max_size=40), st.sampled_from(TEXTS))


def changed(base):
    """Make versions of an object in which one field has any value, or is missing."""
    names = st.sampled_from([*base, "other"])
    without = names.map(lambda gone: {name: value for name, value in base.items() if name != gone})
    return without | st.builds(lambda name, value: {**base, name: value}, names, ANY_JSON)


def written(values):
    """Make what a model could write: JSON text of values, broken off or not, or any text at all."""
    dumped = values.map(json.dumps)
    broken = st.builds(lambda text, size: text[:size], dumped, st.integers(0, 200))
    odd = st.sampled_from(["[" * 9999, '{"steps":' * 2000, "1" * 5000, '{"answer": ' + "9" * 5000 + "}", "NaN", ""])
    return dumped | broken | odd | st.text(max_size=30)


PLANS = st.builds(
    lambda step, at: {"steps": [*STEPS[:at], step, *STEPS[at + 1 :]]}, changed(STEPS[0]), st.integers(0, 4)
)
ANSWERS = changed(ANSWER) | st.builds(
    lambda text, ids: {"answer": text, "citations": ids}, ANY_TEXT, st.lists(ANY_TEXT)
)
PAGE = changed(PAGES[SLA]) | ANY_JSON
HITS = st.lists(st.fixed_dictionaries({"url": ANY_JSON | ANY_TEXT}) | ANY_JSON, max_size=5)
HINTS = st.dictionaries(st.sampled_from([*REQUEST["policy_hints"]]), ANY_JSON | st.lists(ANY_TEXT), max_size=6)

GIVEN = {
    "goal": ANY_JSON,
    "request": ANY_JSON | changed(REQUEST),
    "hints": HINTS,
    "plan_text": written(PLANS | ANY_JSON),
    "plan": PLANS | ANY_JSON,
    "hits": HITS | ANY_JSON,
    "url": st.text() | st.text().map(lambda text: f"https://{text}"),
    "page": PAGE,
    "notes": st.lists(changed(NOTES[0]) | ANY_JSON, max_size=4) | ANY_JSON,
    "answer_text": written(ANSWERS | ANY_JSON),
    "answer": ANSWERS | ANY_JSON,
}
RUNS = {
    "goal": lambda value: research(input={"goal": value, "request": REQUEST}),
    "request": lambda value: research(input={"goal": GOAL, "request": value}),
    "hints": lambda value: research(input=asked(QUESTION, **value)),
    "plan_text": lambda value: research(model=ScriptedChatModel(value, ANSWER)),
    "plan": lambda value: research(planner=lambda view: value),
    "hits": lambda value: research(search=lambda request: value),
    "url": lambda value: research(search=hits(value, SLA)),
    "page": lambda value: research(reader=lambda request: value),
    "notes": lambda value: research(extractor=lambda request: value),
    "answer_text": lambda value: research(model=ScriptedChatModel(PLAN, value)),
    "answer": lambda value: research(writer=lambda view: value),
}


@pytest.mark.parametrize("part", GIVEN)
def test_a_run_ends_with_a_reason(part):
    """Any value of a part ends the run well or with a reason of the catalogue; nothing is raised."""

    @settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(GIVEN[part])
    def check(value):
        result = check_result(RESEARCH_REASONS, RUNS[part](value))
        assert not result["stop_reason"].startswith("guard_error")

    check()


HERE = Path(__file__).parent
SCRIPT = f"""
import json, sys
sys.path[:0] = {[str(HERE), str(HERE.parent / "support")]!r}
from runs import masked
from test_research_properties import RUNS
print(json.dumps([masked(RUNS[part](value)) for part, value in json.load(sys.stdin)]))
"""
SHOWING_SETS = [
    ["answer", {"answer": "P1 P2 SEV3 in the EU, the UK and APAC: 5 %, 17 hours, 2031, inc_a_1", "citations": ["n1"]}],
    ["answer", {**ANSWER, "citations": [f"x{number}" for number in range(9)]}],
    ["notes", [{**NOTES[0], "claim": "P3 and P4 in the EU and the UK: 46 minutes, 7 alerts, 8 %"}]],
    ["hints", {"allowed_domains_policy": [f"host{number}.example" for number in range(9)]}],
]


def test_decisions_do_not_depend_on_hash_seeds():
    """Two processes with different hash seeds decide the same, to the letter."""
    values = [*SHOWING_SETS, *([part, value] for part in GIVEN for value in sample(GIVEN[part], 2))]
    with ThreadPoolExecutor() as pool:
        first, second = pool.map(lambda seed: printed_under_hash_seed(seed, SCRIPT, values), (1, 2))
    assert first == second
    assert len(json.loads(first)) == len(values)
    assert [masked(RUNS[part](value)) for part, value in SHOWING_SETS] == json.loads(first)[: len(SHOWING_SETS)]

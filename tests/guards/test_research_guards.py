"""What the Research agent's guards let in: the request, its hints, the plan, the hits."""

import json
import math
from pathlib import Path

from guard_cases import json_values, outcome, reference_cases, stop_of
from hypothesis import given
from hypothesis import strategies as st
from tables import each_row

from guardgraph.guards.research import request as guards

DEMO = Path(__file__).parents[2] / "guardgraph" / "tools" / "data"
REQUEST = json.loads((DEMO / "research_request.json").read_text(encoding="utf-8"))
STEPS = [{"id": f"r{place}", "action": action, "args": {}} for place, action in enumerate(guards.RESEARCH_ACTIONS, 1)]
KEYS = ["id", "action", "args", "query", "url", "request", "question", "report_date", "policy_hints"]
ANY_JSON = json_values([*KEYS, *guards.HINTED_LIMITS], ["search_sources", "a.example", "5"])
INVALID = ("invalid_request:", "invalid_plan:", "invalid_step:", "invalid_search:query")
FAMILIES = (*INVALID, "tool_invalid_output:search_sources")


def test_a_request_is_read():
    """Goal and question are stripped, optional texts kept, absent ones absent, hints default to none."""
    task = guards.parse_research_request(" goal ", REQUEST)
    assert task == {"goal": "goal", "policy_hints": REQUEST["policy_hints"], **REQUEST["request"]}
    bare = guards.parse_research_request("goal", {"request": {"question": " why\n"}, "other": 1})
    assert bare == {"goal": "goal", "question": "why", "policy_hints": {}}


@each_row(
    ("goal", "request_", "field"),
    (None, None, "goal"),
    (" ", REQUEST, "goal"),
    ("goal", [], "request"),
    ("goal", {"request": {}, "policy_hints": 5}, "request.question"),
    ("goal", {"request": {"question": "q", "report_date": None}}, "request.report_date"),
    ("goal", {"request": {"question": "q", "region": 5}, "policy_hints": 5}, "request.region"),
    ("goal", {"request": {"question": "q"}, "policy_hints": ["x" * 500]}, "policy_hints"),
)
def test_a_malformed_request_names_its_field(goal, request_, field):
    """The first malformed field is named, with what was given and what is allowed in a short text each."""
    stop = stop_of(guards.parse_research_request, goal, request_)
    details = stop.evidence["details"]
    assert (stop.reason, details["field"]) == (f"invalid_request:{field}", field)
    assert 0 < len(details["allowed"]) <= 120
    assert len(details["given"]) <= 120


@each_row(
    ("hints", "expected"),
    ([4, "4", " 4\n", 4.9, "4.9", "40e-1"], 4),
    ([0, -5, "-1", -(10**5000), -1e308], 1),
    ([7, 99, "1e1000", 1e308, 10**5000, "9" * 9999], 6),
    ([math.nan, math.inf, "nan", "sNaN", "-Infinity", "1e9999999999999999999"], 6),
    ([True, False, None, "", "four", "0x4", "\ud800", [4], {"4": 4}], 6),
)
def test_a_hint_tightens_a_limit(hints, expected):
    """Finite numbers and their spellings lower it, never raise it; anything else leaves it as it is."""
    for hint in hints:
        assert guards.tighten_research_limit("max_urls", hint, allowed=6) == expected, hint


@given(ANY_JSON, st.integers(0, 5000))
def test_no_hint_loosens(hint, allowed):
    """Whatever a request asks for, no limit is above what is allowed."""
    for name in guards.HINTED_LIMITS:
        assert 0 <= guards.tighten_research_limit(name, hint, allowed=allowed) <= allowed


def test_a_domain_hint_only_narrows():
    """A hint leaves the hosts of the deployment that it names in any spelling, in the deployment's order."""
    allowed = ["b.example", "a.example", "münchen.example", "no host/"]
    hint = ["A.Example", "evil.example", "xn--mnchen-3ya.example", "B.EXAMPLE", "b.example:1", "also none/"]
    assert guards.narrow_research_domains({}, "d", allowed) == allowed
    assert guards.narrow_research_domains({"d": []}, "d", allowed) == []
    assert guards.narrow_research_domains({"d": hint}, "d", allowed) == allowed[:3]
    assert guards.narrow_research_domains({"d": ["evil.example"]}, "d", allowed) == []
    many = ["a.example"] * (guards.MOST_HINTED_HOSTS + 1)
    assert guards.narrow_research_domains({"d": many[1:]}, "d", allowed) == ["a.example"]
    for none in (None, "a.example", 5, ["a.example", 1], [["a.example"]], many):  # never the deployment's list
        stop = stop_of(guards.narrow_research_domains, {"d": none}, "d", ["a.example"])
        assert (stop.reason, stop.evidence["details"]["field"]) == ("invalid_request:policy_hints.d", "policy_hints.d")


def test_plans_of_the_reference():
    """Every reference plan is accepted in its normal form or refused for its reason."""
    for given_, expected in reference_cases("research_plan"):
        assert outcome(guards.parse_research_plan, given_["raw_steps"], max_steps=given_["max_steps"]) == expected


@each_row("query", None, " \n", ["q"])
def test_a_plan_names_what_to_search(query):
    """The first step's query is a text that is not blank; it is stripped."""
    assert guards.read_plan_query([{**STEPS[0], "args": {"query": " P1 status\n"}}, *STEPS[1:]]) == "P1 status"
    assert stop_of(guards.read_plan_query, [{**STEPS[0], "args": {"query": query}}]).reason == "invalid_search:query"
    assert stop_of(guards.read_plan_query, STEPS).reason == "invalid_search:query"
    assert guards.read_plan_steps({"query": "P1"}) == [{**STEPS[0], "args": {"query": "P1"}}, *STEPS[1:]]


def test_hits_are_a_list_of_objects():
    """A hit whose url is missing or no text stays, to be shown as dropped; anything else ends the run."""
    assert guards.read_found_urls([{"url": "https://a"}, {}, {"url": 5}]) == ["https://a", None, 5]
    assert guards.read_found_urls([]) == []
    for raw in (None, {}, "hits", [{"url": "https://a"}, "https://b"], 10**5000):
        stop = stop_of(guards.read_found_urls, raw)
        assert stop.reason == "tool_invalid_output:search_sources"
        assert len(stop.evidence["details"]["given"]) <= 120


@given(ANY_JSON, ANY_JSON)
def test_a_guard_returns_or_stops(first, second):
    """Any JSON value is accepted or stopped with a reason of the contract; nothing else is raised."""
    request = {"request": {"question": "q", "region": first}, "policy_hints": second}
    steps = [STEPS[0] | {"id": first}, *STEPS[1:4], STEPS[4] | {"action": second}]
    verdicts = [
        outcome(guards.tighten_research_limit, "max_urls", first, allowed=6),
        outcome(guards.narrow_research_domains, {"d": first}, "d", ["a.example"]),
        outcome(guards.parse_research_request, first, second),
        outcome(guards.parse_research_request, "goal", request),
        outcome(guards.parse_research_plan, first, max_steps=4),
        outcome(guards.parse_research_plan, steps, max_steps=5),
        outcome(guards.read_plan_query, [STEPS[0] | {"args": first if isinstance(first, dict) else {"query": first}}]),
        outcome(guards.read_found_urls, first),
        outcome(guards.read_found_urls, [{"url": first}]),
    ]
    assert [name for verdict in verdicts if (name := verdict.get("stop")) and not name.startswith(FAMILIES)] == []

"""What the RAG agent's guards decide before anything is read: the question, the intent, the execution list."""

from __future__ import annotations

import json
import math
from itertools import product

import pytest
from guard_cases import outcome, reference_cases, stop_of

from guardgraph.guards import rag

SOURCES = ("support_policy", "security_policy", "billing_policy")
INTENT = {"kind": "retrieve", "query": "P1", "top_k": 4}


def parse(raw, allowed=SOURCES, max_top_k=6):
    """Parse an intent as the demo's policy guard does."""
    return rag.parse_intent(raw, allowed_sources=allowed, max_top_k=max_top_k)


# The question


def test_the_question_is_stripped():
    """A question is taken without the blanks around it."""
    assert rag.parse_rag_request(" What is P1?\n") == {"question": "What is P1?"}


@pytest.mark.parametrize("question", [None, "", " \t\n", "\u2003", 5, True, ["q"], {"question": "q"}, math.nan])
def test_a_question_that_is_none(question):
    """What is no text, or blank, is invalid_request:question, and details show what was given."""
    stop = stop_of(rag.parse_rag_request, question)
    assert stop.reason == "invalid_request:question"
    assert stop.evidence["details"].keys() == {"field", "given", "allowed"}


# The intent


@pytest.mark.parametrize(("case", "expected"), reference_cases("rag_intent"))
def test_reference_intents(case, expected):
    """The policy guard decides as the reference implementation does, and says beside which sources there are."""
    came = outcome(parse, case["raw"], case["allowed_sources_policy"], case["max_top_k"])
    assert {key: value for key, value in came.items() if key != "details"} == expected


FAULTS = {
    "kind": (["x", None, 5, "RETRIEVE", " retrieve", True, ["retrieve"], {}], "invalid_intent:kind"),
    "query": ([None, "", " \n", 5, ["P1"], {}], "invalid_intent:query"),
    "top_k": ([None, 0, 7, -1, True, False, 4.0, "4", math.nan, 10**400, [4]], "invalid_intent:top_k"),
    "sources": ([[], "support_policy", {}, {"support_policy": 1}, 5, False, 0, ""], "invalid_intent:sources"),
}
"""For every field the values that are wrong, and why; in the order in which the fields are judged."""


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [(field, value, reason) for field, (values, reason) in FAULTS.items() for value in values],
)
def test_a_wrong_field(field, value, reason):
    """Each field of an intent has a reason of its own."""
    assert stop_of(parse, {**INTENT, field: value}).reason == reason


@pytest.mark.parametrize(("first", "second"), [pair for pair in product(FAULTS, FAULTS) if pair[0] != pair[1]])
def test_the_first_wrong_field_decides(first, second):
    """Of two wrong fields the one that is judged first gives the reason, whatever their order in the object."""
    raw = {**INTENT, first: FAULTS[first][0][0], second: FAULTS[second][0][0]}
    earlier = min(first, second, key=list(FAULTS).index)
    assert stop_of(parse, raw).reason == FAULTS[earlier][1]


@pytest.mark.parametrize("raw", [None, [], [INTENT], "retrieve", json.dumps(INTENT), 5, math.nan, True])
def test_no_object(raw):
    """An intent that is no object is invalid_intent:not_object."""
    assert stop_of(parse, raw).reason == "invalid_intent:not_object"


@pytest.mark.parametrize("item", [None, "", " ", 5, [], {}, ["support_policy"], True, math.inf])
def test_a_wrong_source_item(item):
    """An item that is no name is invalid_intent:source_item."""
    assert stop_of(parse, {**INTENT, "sources": ["support_policy", item]}).reason == "invalid_intent:source_item"


def test_sources_are_judged_item_by_item():
    """The first wrong item decides, be it malformed or not allowed."""
    sources = ["support_policy", "wiki", None]
    assert stop_of(parse, {**INTENT, "sources": sources}).reason == "invalid_intent:source_not_allowed:wiki"
    assert stop_of(parse, {**INTENT, "sources": sources[::-1]}).reason == "invalid_intent:source_item"


def test_a_valid_intent():
    """Query and names are stripped, duplicates collapse in the order asked for, unknown keys are ignored."""
    sources = ["security_policy ", "\tsupport_policy", "security_policy"]
    raw = {**INTENT, "query": " P1 \n", "top_k": 1, "sources": sources, "stop_reason": "success"}
    expected = {**INTENT, "query": "P1", "top_k": 1, "sources": ["security_policy", "support_policy"]}
    assert parse(raw) == expected


@pytest.mark.parametrize("raw", [{}, {"sources": None}])
def test_no_sources_named(raw):
    """Absent and null sources are no sources named."""
    assert parse({**INTENT, **raw}) == INTENT


@pytest.mark.parametrize(("max_top_k", "expected"), [(6, 4), (4, 4), (3, 3), (1, 1)])
def test_top_k_left_out(max_top_k, expected):
    """An absent top_k is 4, or less where less is allowed."""
    assert parse({"kind": "retrieve", "query": "P1"}, max_top_k=max_top_k)["top_k"] == expected


def test_an_empty_policy_list_allows_nothing():
    """With nothing on the policy list every name is refused, and so is every top_k with a ceiling of 0."""
    stop = stop_of(parse, {**INTENT, "sources": ["support_policy"]}, allowed=())
    assert stop.reason == "invalid_intent:source_not_allowed:support_policy"
    assert stop_of(parse, {"kind": "retrieve", "query": "P1"}, max_top_k=0).reason == "invalid_intent:top_k"


@pytest.mark.parametrize(
    "name", ["Support_policy", "support", "support_policy,billing_policy", "*", "x" * 5000, "\ud800"]
)
def test_names_are_exact(name):
    """A name is allowed only as it stands on the list; a reason repeats 80 characters of it."""
    stop = stop_of(parse, {**INTENT, "sources": [name]})
    assert stop.reason == f"invalid_intent:source_not_allowed:{name[:80]}"


# The execution list


def execute(intent, policy=SOURCES, execution=SOURCES, max_query_chars=240):
    """Hold an intent against the runtime."""
    return rag.check_intent_execution(intent, policy=policy, execution=execution, max_query_chars=max_query_chars)


def test_no_sources_named_are_those_on_both_lists():
    """Without names the sources on both lists are read, sorted."""
    assert execute(INTENT) == sorted(SOURCES)
    assert execute(INTENT, execution=["wiki", "security_policy"]) == ["security_policy"]
    assert execute(INTENT, policy=()) == execute(INTENT, execution=()) == []


def test_named_sources_are_sorted():
    """Named sources are read in sorted order."""
    sources = ["support_policy", "billing_policy"]
    assert execute({**INTENT, "sources": sources}) == ["billing_policy", "support_policy"]


@pytest.mark.parametrize(
    ("lists", "first"),
    [
        ({"execution": ["billing_policy"]}, "security_policy"),
        ({"policy": ["billing_policy"]}, "security_policy"),
        ({"execution": []}, "billing_policy"),
    ],
)
def test_a_source_that_is_switched_off(lists, first):
    """A requested source must be on both lists; the first in sorted order that is not gives the reason."""
    assert stop_of(execute, {**INTENT, "sources": list(SOURCES)}, **lists).reason == f"source_denied:{first}"


def test_a_long_denied_name():
    """A denied name is cut at 80 characters."""
    assert stop_of(execute, {**INTENT, "sources": ["n" * 100]}).reason == "source_denied:" + "n" * 80


def test_the_query_is_judged_before_the_sources():
    """A query may have max_query_chars characters and not one more; it is judged first."""
    assert execute({**INTENT, "query": "q" * 240}) == sorted(SOURCES)
    stop = stop_of(execute, {**INTENT, "query": "q" * 241, "sources": ["wiki"]})
    assert stop.reason == "invalid_intent:query_too_long"

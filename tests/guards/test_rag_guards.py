"""What the RAG agent's guards decide before anything is read: the question, the intent, the execution list."""

from __future__ import annotations

import math

from guard_cases import outcome, reference_cases, stop_of
from tables import each_row

from guardgraph.guards import rag
from guardgraph.guards.stop import LONGEST_QUESTION

SOURCES = ("support_policy", "security_policy", "billing_policy")
INTENT = {"kind": "retrieve", "query": "P1", "top_k": 4}


def parse(raw, allowed=SOURCES, max_top_k=6):
    """Parse an intent as the demo's policy guard does."""
    return rag.parse_intent(raw, allowed_sources=allowed, max_top_k=max_top_k)


# The question


@each_row("question", [None, " \t\n", "\u2003", 5, ["q"], math.nan, "q" * (LONGEST_QUESTION + 1)])
def test_a_question_that_is_none(question):
    """What is no text, or blank, is invalid_request:question, and details show what was given."""
    stop = stop_of(rag.parse_rag_request, question)
    assert stop.reason == "invalid_request:question"
    assert stop.evidence["details"].keys() == {"field", "given", "allowed"}


def test_the_newest_turns_stand_beside_a_question():
    """As many as there may be; what is left out is counted, and without a number of turns there are none."""
    turns = [{"role": "user", "content": word} for word in ("old", "new")]
    task = rag.parse_rag_request("q", turns, max_turns=1, max_chars=9)
    assert task == {"question": "q", "history": [turns[1]], "turns_left_out": 1}
    assert rag.parse_rag_request("q", turns) == {"question": "q"}


# The intent


def test_reference_intents():
    """The policy guard decides as the reference implementation does, and says beside which sources there are."""
    for case, expected in reference_cases("rag_intent"):
        came = outcome(parse, case["raw"], case["allowed_sources_policy"], case["max_top_k"])
        assert {key: value for key, value in came.items() if key != "details"} == expected


# The execution list


def execute(intent, policy=SOURCES, execution=SOURCES, max_query_chars=240):
    """Hold an intent against the runtime."""
    return rag.check_intent_execution(intent, policy=policy, execution=execution, max_query_chars=max_query_chars)


def test_no_sources_named_are_those_on_both_lists():
    """Without names the sources on both lists are read, sorted."""
    assert execute(INTENT) == sorted(SOURCES)
    assert execute(INTENT, execution=["wiki", "security_policy"]) == ["security_policy"]
    assert execute(INTENT, policy=()) == execute(INTENT, execution=()) == []
    assert execute({**INTENT, "sources": ["security_policy", "billing_policy"]}) == [
        "billing_policy",
        "security_policy",
    ]


@each_row(
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


def test_the_query_is_judged_before_the_sources():
    """A query may have max_query_chars characters and not one more; it is judged first."""
    assert execute({**INTENT, "query": "q" * 240}) == sorted(SOURCES)
    stop = stop_of(execute, {**INTENT, "query": "q" * 241, "sources": ["wiki"]})
    assert stop.reason == "invalid_intent:query_too_long"

"""Inputs, hints and policies have limits, and what is beyond one is refused at once, by name."""

from __future__ import annotations

import copy
import json

import pytest
from pydantic import ValidationError
from rag_agents import QUESTION
from recorded_runs import Kept
from research_cases import asked
from runs import BOTH, run
from self_critique_cases import GIVEN
from ticket_pattern import TICKET, triage

from guardgraph import (
    ConfigurationError,
    RagPolicy,
    create_rag_agent,
    create_research_agent,
    create_self_critique_agent,
)
from guardgraph.grammar import Budget
from guardgraph.guards.stop import LONGEST_QUESTION

LONG = "word " * (LONGEST_QUESTION // 5 + 1)
HUGE = "x" * 10_000_000


def incident(**context):
    """Return the demo's input with something more in its context."""
    given = copy.deepcopy(GIVEN)
    given["incident_context"].update(context)
    return given


def nested(levels):
    """Return objects in objects."""
    value = {}
    for _ in range(levels - 1):
        value = {"a": value}
    return value


MANY = [f"h{at}.example.com" for at in range(1001)]
BEYOND = {
    "question": (create_rag_agent, {"question": LONG}),
    "question ": (create_rag_agent, {"question": HUGE}),
    "goal": (create_research_agent, {**asked(), "goal": LONG}),
    "request.question": (create_research_agent, asked(LONG)),
    "request": (create_research_agent, asked(note=HUGE)),
    "policy_hints.allowed_domains_policy": (create_research_agent, asked(allowed_domains_policy=MANY)),
    "policy_hints.allowed_domains_execution": (create_research_agent, asked(allowed_domains_execution=MANY)),
    "request ": (create_research_agent, asked(x=nested(60))),
    "goal ": (create_self_critique_agent, {**GIVEN, "goal": LONG}),
    "incident_context": (create_self_critique_agent, incident(notes=HUGE)),
    "incident_context ": (create_self_critique_agent, incident(x=nested(63))),
    "incident_context  ": (create_self_critique_agent, incident(x=nested(40))),
    "incident_context   ": (create_self_critique_agent, incident(policy_hints={str(at): at for at in range(10**5)})),
}


@pytest.mark.paired
@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
@pytest.mark.parametrize("field", BEYOND)
def test_what_is_too_large_or_too_deep_is_refused_by_name(field, mode):
    """With nothing run, and nothing of it kept."""
    create, given = BEYOND[field]
    kept = Kept()
    result = run(create(recorder=kept), given, mode)
    assert result["stop_reason"] == f"invalid_request:{field.strip()}"
    assert len(json.dumps(result)) < 2000
    assert len(kept.texts[0]) < (len(json.dumps(given)) + 20_000 if len(str(given)) < 10**6 else 20_000)


@pytest.mark.parametrize("mode", BOTH)
def test_a_budget_bounds_what_a_run_is_given(mode):
    """`max_input_bytes` is for each field; a context tightens it, and a field of just this size is let in."""
    size = len(json.dumps(TICKET["ticket"]))
    tight = {"budget": {"max_input_bytes": size - 1}}
    for budget, context, reason in (
        (Budget(max_input_bytes=size), None, "success"),
        (Budget(max_input_bytes=size - 1), None, "invalid_request:ticket"),
        (Budget(), tight, "invalid_request:ticket"),
    ):
        result = run(triage(budget=budget), TICKET, mode, context=context)
        assert result["stop_reason"] == reason
    assert result["details"]["given"] == f"more than {size - 1} bytes (max_input_bytes)"


def test_lists_of_settings_have_a_limit():
    """A policy list of a million names is an error, of a deployment's and of a context's."""
    names = [f"n{at}" for at in range(100_001)]
    with pytest.raises(ValidationError, match="a list of at most 100000 strings of at most 10000 characters"):
        RagPolicy(known_names=names)
    with pytest.raises(ConfigurationError, match=r"^context.policy.known_names: a list of at most 100000 strings"):
        create_rag_agent().invoke(QUESTION, context={"policy": {"known_names": names}})
    assert len(RagPolicy(known_names=names[1:], allowed_sources_policy=["x" * 10_000]).known_names) == 100_000
    with pytest.raises(ValidationError):
        RagPolicy(known_names=["x" * 10_001])

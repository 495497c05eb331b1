"""Whatever the Self-critique agent is given or proposed, a run ends in its catalogue, and always the same way."""

from __future__ import annotations

import json
from functools import cache

from guard_cases import json_values
from hypothesis import given, settings
from hypothesis import strategies as st
from self_critique_cases import CONTEXT, DRAFT, ESCALATE, GIVEN, GOAL, NOTE, REVISE, REVISED, checked

from guardgraph import create_self_critique_agent
from guardgraph.plain.json import make_storable_json
from guardgraph.testing import ScriptedChatModel

QUICK = settings(max_examples=30, deadline=None)

KEYS = [*CONTEXT, *CONTEXT["incident"], *CONTEXT["policy_hints"], *REVISE, "type", "note", "draft", "revised_answer"]
SAID = ["P1", "45 minutes", "It is resolved.", f'ADD "{NOTE}"', "REMOVE 'it'"]
JSON = json_values(KEYS, [DRAFT, REVISED, *SAID])
TEXT = st.lists(st.sampled_from([DRAFT, NOTE, *SAID]), max_size=3).map(" ".join) | st.text(max_size=40)

DRAFTS = st.fixed_dictionaries({"draft": TEXT | JSON}) | JSON
CRITIQUES = st.fixed_dictionaries(
    {"decision": st.sampled_from(["approve", "revise", "escalate"]) | JSON},
    optional={
        "severity": st.sampled_from(["low", "HIGH"]) | JSON,
        "risks": st.lists(st.sampled_from([*REVISE["risks"], *ESCALATE["risks"]]) | JSON, max_size=6) | JSON,
        "required_changes": st.lists(st.sampled_from(SAID) | JSON, max_size=6) | JSON,
        "reason": TEXT | JSON,
    },
)
REVISIONS = st.fixed_dictionaries({"revised_answer": TEXT | JSON}) | JSON
GOOD = ({"draft": DRAFT}, REVISE, {"revised_answer": REVISED})
PROPOSALS = st.builds(
    lambda good, *odd: [*GOOD[:good], *odd[good:]], st.integers(0, 2), DRAFTS, CRITIQUES | JSON, REVISIONS
)
"""A draft, a critique and a revision; from some place on they are odd."""

REQUESTS = st.fixed_dictionaries(
    {"goal": st.just(GOAL) | JSON, "incident_context": st.dictionaries(st.sampled_from(KEYS), JSON, max_size=5) | JSON}
)


@cache
def offline_agent():
    """The agent without a model, built once."""
    return create_self_critique_agent()


def proposed(values):
    """Run an agent whose drafter, critic and reviser return these values; return the result, checked."""
    drafter, critic, reviser = (lambda _, value=value: value for value in values)
    return checked(create_self_critique_agent(drafter=drafter, critic=critic, reviser=reviser).invoke(GIVEN))


@QUICK
@given(PROPOSALS)
def test_any_values_proposed_end_in_the_catalogue(values):
    """No value raises, nor makes a guard fail."""
    assert not proposed(values)["stop_reason"].startswith("guard_error")


@QUICK
@given(PROPOSALS, st.integers(0, 5), st.text(max_size=40))
def test_any_texts_of_a_model_end_in_the_catalogue(values, place, text):
    """JSON or none, whatever stands before them."""
    script = [text if number == place else json.dumps(value) for number, value in enumerate(values)]
    model = ScriptedChatModel(*script, loop=True)
    assert not checked(create_self_critique_agent(model).invoke(GIVEN))["stop_reason"].startswith("guard_error")


@QUICK
@given(REQUESTS)
def test_any_request_ends_in_the_catalogue(request):
    """No type of any key makes a guard or an offline proposer fail."""
    assert not checked(offline_agent().invoke(request))["stop_reason"].startswith("guard_error")


PLAIN = JSON.map(make_storable_json)
CONTEXTS = st.fixed_dictionaries(
    {"incident": st.fixed_dictionaries({}, optional=dict.fromkeys(CONTEXT["incident"], PLAIN)) | PLAIN},
    optional={key: PLAIN for key in CONTEXT if key not in ("incident", "policy_hints")}
    | {
        "policy_hints": st.fixed_dictionaries(
            {},
            optional={
                "avoid_absolute_guarantees": st.booleans(),
                "max_length_increase_pct": st.integers(0, 50) | st.floats(0, 50),
                "required_sections": st.lists(st.sampled_from(KEYS) | st.text(max_size=20), max_size=3),
            },
        )
    },
)


@QUICK
@given(CONTEXTS)
def test_an_odd_context_gets_an_update_or_a_person(context):
    """Whatever a context of plain JSON holds, the offline run ends well, escalates, or says that it holds nothing."""
    result = checked(offline_agent().invoke({"goal": GOAL, "incident_context": context}))
    assert result["stop_reason"] in ("success", "policy_escalation", "invalid_request:incident_context")

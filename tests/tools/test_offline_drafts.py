"""The drafts of the Self-critique agent without a model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from guard_cases import json_values
from hypothesis import given
from hypothesis import strategies as st

from guardgraph.guards.facts import DEFAULT_REGIONS
from guardgraph.guards.self_critique.revision import parse_draft
from guardgraph.nodes.offline.self_critique import shorten_offline_draft, write_offline_draft

DATA = Path(__file__).parents[2] / "guardgraph" / "tools" / "data"
CONTEXT = json.loads((DATA / "self_critique_incident_context.json").read_text())
KEYS = [*CONTEXT, *CONTEXT["incident"], "region", "impact", "eta", "waitHours", "us", "notes"]
JSON = json_values(KEYS, ["degraded", "P1", "27", "ten_minutes", "It is resolved. We expect it in 5 minutes."])


def test_a_draft_says_what_the_context_knows_and_no_more() -> None:
    """Fields that are missing or odd are left out."""
    assert write_offline_draft({})["draft"] == (
        "This is an update on the current incident. We will share confirmed details as soon as we have them."
    )
    context = {
        "status": "Investigating.",
        "latency_pct": 0.5,
        "error_rate": 2,
        "affected_checkout_pct": True,
        "eta_minutes": 1,
        "approved_actions": ["Restart the gateway", "DNS checks", 5, "x" * 200],
    }
    assert write_offline_draft({"incident_context": context})["draft"] == (
        "This is an update on the current incident. Current status: Investigating. "
        "Customer impact: latency 0.5%. We apologize for the disruption. "
        "Next actions: we will restart the gateway and DNS checks. Estimated time to recovery: 1 minute."
    )
    told = {"incident": {"current_status": "slow", "customer_impact": "cards fail"}, "next_actions": "we retry"}
    assert (
        "Current status: slow. Customer impact: cards fail." in write_offline_draft({"incident_context": told})["draft"]
    )
    assert "Next actions: we retry." in write_offline_draft({"incident_context": told})["draft"]


@pytest.mark.parametrize(
    ("context", "said"),
    [
        ({"incident": {"id": "INC-7", "eta_hours": 1}}, "incident INC-7. Estimated time to recovery: 1 hour."),
        (
            {"incident": {"status": "major_outage", "eta": "2 hours"}},
            "major outage. Estimated time to recovery: 2 hours.",
        ),
        ({"affected_users_pct": "12.5"}, "Customer impact: 12.5% of users are affected."),
        (
            {"incident": {"impact": {"regions": ["EU", "UK"], "failed_pct": 3.4}}},
            "Impact regions: EU and UK. Impact failed: 3.4%.",
        ),
        (
            {"summary": "Checkout is slow. It is 15%.", "wait_days": 2},
            "status: not given in our records. What was reported: Checkout is slow. It is 15%.",
        ),
        (
            {"affectedUsers": 1200, "region": ["US", "EU"]},
            "our US and EU customers on the current incident. Affected users: 1200.",
        ),
        (
            {"incident": "Payments fail", "log": [{"note": "cards"}, ["refunds"]]},
            "Incident: Payments fail. Log note: cards. Log: refunds.",
        ),
    ],
)
def test_facts_of_any_shape_are_told(context: Any, said: str) -> None:
    """Known under other names or in other forms, they read like the rest; unknown ones stand under their names."""
    assert said in write_offline_draft({"incident_context": context})["draft"]


def test_other_facts_stand_in_for_an_impact_only() -> None:
    """They may be no customer's business: where the impact or what happened is known they stay out; so does no text."""
    untold = {"chargeback_alerts": 5, "owner": "the payments team"}
    assert write_offline_draft({"incident_context": {"impact": "cards fail", **untold}})["draft"] == (
        "This is an update on the current incident. Customer impact: cards fail. We apologize for the disruption."
    )
    odd = {
        "": "a",
        "b" * 70: "c",
        "limits": {"most": 3},
        "d": True,
        "e": None,
        "f": "word " * 200,
        "status": "ten_minutes",
    }
    assert write_offline_draft({"incident_context": odd})["draft"] == write_offline_draft({})["draft"]


def test_a_draft_with_many_actions_names_those_that_fit() -> None:
    """However much the context holds, the draft keeps to its length and ends with a sentence."""
    context = {
        **CONTEXT,
        "approved_actions": [f"check payment provider number {letter}" for letter in "abcdefghijklmnop"],
    }
    text = write_offline_draft({"incident_context": context})["draft"]
    assert len(text) <= 900
    assert "number a, check" in text
    assert text.endswith("45 minutes.")


@given(st.fixed_dictionaries({}, optional=dict.fromkeys(KEYS, JSON) | {"incident": JSON}))
def test_a_draft_of_any_context_has_only_its_facts(context: dict[str, Any]) -> None:
    """Whatever the context, the draft is a text that the draft guard lets pass."""
    text = write_offline_draft({"incident_context": context})["draft"]
    limits: dict[str, Any] = {"check_facts": True, "regions": DEFAULT_REGIONS}
    assert parse_draft(text, context=context, max_chars=900, **limits) == text


@given(st.floats(0, 1), st.floats(0, 100), st.integers(0, 10**7))
def test_measures_are_restated_exactly(rate: float, share: float, minutes: int) -> None:
    """A rate becomes per cent without rounding away what the context says."""
    context = {"failed_payment_rate": rate, "affected_checkout_pct": share, "eta_minutes": minutes}
    text = write_offline_draft({"incident_context": context})["draft"]
    parse_draft(text, context=context, max_chars=900, check_facts=True, regions=DEFAULT_REGIONS)


def test_a_draft_is_cut_where_a_sentence_ends() -> None:
    """Else where a word ends, else where it must."""
    text = "One two. Three four. Five"
    cuts = [
        shorten_offline_draft({"draft": text, "max_chars": limit})["draft"]
        for limit in (25, 24, 20, 19, 8, 7, 3, 2, 0, -9)
    ]
    assert cuts == [
        text,
        "One two. Three four.",
        "One two. Three four.",
        "One two.",
        "One two.",
        "One",
        "One",
        "On",
        "",
        "",
    ]
    assert shorten_offline_draft({"draft": text})["draft"] == text

"""Facts of a context: what its keys, strings and numbers license."""

from __future__ import annotations

from typing import Any

import pytest

from guardgraph.guards.facts import facts_in_json, facts_in_text, unsupported


def missing(claim: str, context: Any) -> list[str]:
    """What of the claim the context does not support."""
    return unsupported(facts_in_text(claim), facts_in_json(context)).all()


@pytest.mark.parametrize(
    ("context", "claim"),
    [
        ({"affected_checkout_pct": 27}, "27%"),
        ({"failure_rate": 0.27}, "27%"),
        ({"failure_rate": 3.4}, "3.4%"),
        ({"failureRate": "0.034"}, "3.4%"),
        ({"eta_minutes": 45}, "0.75 hours"),
        ({"eta_minutes": [30, "45"]}, "30 to 45 minutes"),
        ({"minutes_to_recovery": "1,200"}, "20 hours"),
        ({"timeout_seconds": 90}, "1.5 minutes"),
        ({"latency_ms": 1.5e3}, "1.5 s"),
        ({"sla_hours": 48}, "two days"),
        ({"retention_days": 14}, "2 weeks"),
        ({"price_usd": 5}, "$5"),
        ({"change_pct": -5}, "down 5%"),
        ({"alerts_per_hour": 7, "temperature_min": 3, "": 4}, "7 alerts, 3 of 4"),
        ({"eta": "about 45 minutes"}, "45min"),
        ({"by_severity": {"P1": 3}}, "3 P1 incidents"),
        ({"report_date": "2026-03-06", "region": "US"}, "US, March 6, 2026"),
        ([[[{"incident": {"id": "inc_a_1"}}]]], "inc_a_1"),
    ],
)
def test_a_context_gives_its_numbers_units_by_their_keys(context: Any, claim: str) -> None:
    """Key names are units; strings, keys and numbers at any depth are facts."""
    assert missing(claim, context) == []


@pytest.mark.parametrize(
    ("context", "claim"),
    [
        ({"eta_minutes": 45}, "45 hours"),
        ({"eta_minutes": "45"}, "45 hours"),
        ({"a": [{"policy_hints": {"max_length_increase_pct": 20}}]}, "20%"),
        ({"policy_hints": ["US", "P1", "INC-1"]}, "US"),
        ({"resolved": True}, "1 alert"),
        ({"eta_minutes": float("nan"), "limit": float("inf")}, "0 minutes"),
    ],
)
def test_what_a_context_does_not_say(context: Any, claim: str) -> None:
    """Another unit, a policy hint, a boolean or a NaN licenses nothing."""
    assert missing(claim, context) != []


def test_the_ignored_keys_can_be_chosen() -> None:
    """`ignore` replaces the default."""
    context = {"policy_hints": {"max_pct": 20}, "notes": "45 minutes"}
    facts = facts_in_json(context, ignore=["notes"])
    assert unsupported(facts_in_text("20%, 45 minutes"), facts).all() == ["45 minutes"]


def test_a_context_may_be_huge() -> None:
    """Depth, thousands of digits and great exponents are read, and license themselves."""
    deep: Any = "45 minutes"
    for _ in range(100_000):
        deep = [deep]
    odd = {"n": 10**5000, "m": -(10**5000), "f": 1e308, "t": "1e5000", "u": "7" * 100_000, "deep": deep}
    facts = facts_in_json(odd)
    assert not unsupported(facts, facts)
    assert unsupported(facts_in_text("45 minutes, 46 minutes"), facts).all() == ["46 minutes"]

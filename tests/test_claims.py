"""Which claims no update may make."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guardgraph.guards.self_critique.changes import parse_change
from guardgraph.guards.self_critique.claims import (
    RESTRICTED_CLAIMS,
    _claims,
    _statements,
    claims_in_context,
    restricted_claims,
)
from guardgraph.guards.wording import has_phrase

NO_CLAIM = """
The incident is not yet resolved.
We post updates until it is resolved.
There is no guarantee of recovery.
Once resolved, we will publish a summary.
Once the cause has been found and fully resolved, we will tell you.
We cannot guarantee a time.
We can’t guarantee a time.
We cannot, at this time, guarantee recovery.
We are working to resolve the issue.
The issue is unresolved.
The incident has not been closed.
Not all payments are stable.
Some payments are stable.
Recovery is not guaranteed.
Guarantees cannot be given.
A guarantee is not possible.
The issue is neither resolved nor closed.
We will notify you when the payments incident affecting US enterprise customers is fully resolved.
We will publish a report after the incident is resolved.
We will notify you as soon as the incident is resolved.
We aim to get this resolved.
The issue is being resolved.
The issue may soon be resolved.
We expect the issue to be resolved.
We do not consider the incident to be resolved.
It has not as yet been resolved.
If the incident is closed we will say so.
Without guaranteeing a time, we work on it.
The store closed early.
Payments recovered in part.
This is far from resolved.
It is too early to say the incident is resolved.
It would be premature to say that payments have fully recovered.
The problem is only partially resolved.
We are working towards a fully recovered state.
The team is working to ensure the issue gets resolved.
We are working to ensure all payments are stable.
Nothing is guaranteed at this stage.
Nobody can guarantee a time.
We refuse to guarantee anything.
We are hesitant to guarantee a timeline.
The issue will be considered resolved after two hours of monitoring.
The incident will be closed as soon as monitoring ends.
Payments are not stable for all customers.
"""

CLAIMS = {
    "The incident is resolved.": "resolved",
    "RESOLVED": "resolved",
    "Status: resolved": "resolved",
    "re\u00adsolved": "resolved",
    "The incident is not only resolved but documented.": "resolved",
    "There is no doubt that it is resolved.": "resolved",
    "Payments were not affected but the incident is resolved.": "resolved",
    "Not affected - resolved.": "resolved",
    "No customers are affected, the incident is resolved.": "resolved",
    "Nobody is affected and the incident is resolved.": "resolved",
    "We cannot say more.\n\nThe incident is resolved.": "resolved",
    "No failures remain now that the incident is resolved.": "resolved",
    "Once it was resolved, we informed you.": "resolved",
    "It will be resolved by 5 pm.": "resolved",
    "It appears to be resolved.": "resolved",
    "We can confirm it is resolved.": "resolved",
    "We are glad to have resolved it.": "resolved",
    "Is it resolved?": "resolved",
    "No, it is resolved.": "resolved",
    "r\u0435s\u03bflved": "resolved",
    "Far from here, it is resolved.": "resolved",
    "It is partially manual and fully resolved.": "resolved",
    "The incident affecting card declines is resolved.": "resolved",
    "Nothing is left to do and the incident is resolved.": "resolved",
    "We ensure it is resolved.": "resolved",
    "It was resolved after two hours of monitoring.": "resolved",
    "Payments have fully recovered.": "fully recovered",
    "Payments recovered fully.": "fully recovered",
    "The incident has been closed.": "incident closed",
    "We have closed this incident.": "incident closed",
    "No action is needed: incident closed.": "incident closed",
    "All payments are stable now.": "all payments stable",
    "Payments are all stable.": "all payments stable",
    "Payments are stable for all customers.": "all payments stable",
    "We guaranty recovery.": "guarantee",
    "We do not hesitate to guarantee recovery.": "guarantee",
    "Without hesitation, we guarantee recovery.": "guarantee",
    "We work to ensure guaranteed delivery.": "guarantee",
    "It will be guaranteed once you pay.": "guarantee",
    "We guarantee recovery.": "guarantee",
    "We guarantee no failures.": "guarantee",
    "Your payment should be guaranteed.": "guarantee",
    "If you retry, your payment is guaranteed.": "guarantee",
}


@pytest.mark.parametrize("text", ["Payments are not yet\nfully recovered.", *NO_CLAIM.strip().splitlines()])
def test_what_is_denied_or_depends_is_no_claim(text: str) -> None:
    """Negated and conditional forms are not restricted."""
    assert restricted_claims(text) == []


@pytest.mark.parametrize(("text", "claim"), CLAIMS.items())
def test_what_is_stated_is_a_claim(text: str, claim: str) -> None:
    """A statement counts, and so does one that only looks negated."""
    assert restricted_claims(text) == [claim]


def test_the_claims_of_a_context_are_those_of_its_texts() -> None:
    """Texts at any depth count, keys and policy hints do not."""
    context: dict[str, Any] = {
        "incident": {"status": "resolved", "log": [{"note": "payments fully recovered"}, 5, None]},
        "guarantee": False,
        "policy_hints": {"note": "guaranteed"},
    }
    assert claims_in_context(context) == ["resolved", "fully recovered"]
    nested: Any = "resolved"
    for _ in range(50_000):
        nested = [nested]
    assert claims_in_context({"deep": nested}) == ["resolved"]


CLAIM_WORDS = "resolved RESOLVED reso'lved re\u0455olved recovered closed stable guarantee guaranty’s"
OTHER_WORDS = "fully incident all payments the not no if once is will be and as . , ; - ( — é"
SAID = st.sampled_from([*CLAIM_WORDS.split(), *OTHER_WORDS.split(), "\n\n"])


@given(st.lists(SAID, max_size=12), st.sampled_from([" ", ""]))
@settings(max_examples=500)
def test_no_claim_is_overlooked(said: list[str], between: str) -> None:
    """Clauses are read closely where a claim's word stands in them; all of them together claim no more."""
    text = between.join(said)
    everything = {claim for keys, after_comma in _statements(text) for claim in _claims(keys, after_comma)}
    assert set(restricted_claims(text)) == everything


@pytest.mark.parametrize(
    "unit",
    ["not ", "a,", " -", "\n", "resolved ", "as ", "a'", "1.", "支", "(", "a\u00ad", "e\u0301\u0323", "'x' ", '"x" '],
)
def test_hostile_texts_are_read(unit: str) -> None:
    """100,000 characters of anything are read to the end, accents without end included."""
    text = (unit * 100_000)[:100_000]
    accents = "a" + "\u0301\u0323" * 50_000
    assert set(restricted_claims(text)) <= set(RESTRICTED_CLAIMS)
    assert parse_change(f"MUST_INCLUDE {text}") is None
    assert not has_phrase(accents, "phrase")

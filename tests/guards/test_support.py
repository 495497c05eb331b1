"""What a verifier is shown and how its judgement is read: claims, their evidence, and what they rest on."""

import re

from guard_cases import json_values, outcome
from hypothesis import given
from hypothesis import strategies as st
from tables import each_row

from guardgraph.guards.support import list_answer_claims, read_unsupported_claims
from guardgraph.state.outcome import Outcome

CLAIMS = [{"claim": f"Claim {number}.", "evidence": "one" if number % 2 else "two"} for number in range(5)]


@given(json_values(["claims", "number", "supported"]))
def test_whatever_a_verifier_says_is_read_or_refused(said):
    """A judgement of all claims counts; anything else is a failure of the verifier, and never a support."""
    found = outcome(read_unsupported_claims, Outcome("value", said).packed(), claims=CLAIMS)
    if "value" in found:
        assert {item["number"] for item in said["claims"]} == {1, 2, 3, 4, 5}
    else:
        assert found["stop"] == "llm_invalid_schema"


def claims_of(text):
    detail = {"doc_id": "a", "title": "T", "section": "", "updated_at": ""}
    claims = list_answer_claims(
        {"answer": text, "citation_details": [detail], "passages": [{"doc_id": "a", "text": "P."}]}
    )
    assert {item["evidence"] for item in claims} <= {"T\nP."}
    return [item["claim"] for item in claims]


@given(st.text(st.sampled_from("ab1. \n-[]\"'!?,;*é界"), max_size=200))
def test_every_word_of_a_plain_answer_stands_in_a_claim(text):
    """Nothing escapes the verifier: what is in no claim is a mark or the number of an item."""
    said, written = "".join(claims_of(text)), re.sub(r"^[ \t]*\(?1{1,3}[.)][ \t]", "", text, flags=re.MULTILINE)
    assert sum(map(str.isalpha, text)) == sum(map(str.isalpha, said))
    assert sum(map(str.isalnum, written)) <= sum(map(str.isalnum, said)) <= sum(map(str.isalnum, text))


@each_row(
    ("text", "claims"),
    [
        ("- Shoes are paid.\n* Hats are not.", ["Shoes are paid.", "Hats are not."]),
        ("1. Open it.\n2) Close it.", ["Open it.", "Close it."]),
        ("12. Mai ist frei.", ["12. Mai ist frei."]),
        ("## Refunds are instant\n\nThey are paid.", ["Refunds are instant: They are paid."]),
        ("It is never paid if:\n- you are late", ["It is never paid if: you are late"]),
        ("Within 10 days:\n- shoes\n- hats", ["Within 10 days: shoes", "hats"]),
        ("All is well.\n\n## Hats are free", ["All is well.", "Hats are free"]),
        ("Yes.", ["Yes."]),
        ("## Refunds", ["Refunds"]),
    ],
)
def test_a_claim_has_no_marks_and_has_what_introduces_it(text, claims):
    """A label that claims something stands in front of what it introduces; alone, anything is a claim."""
    assert claims_of(text) == claims

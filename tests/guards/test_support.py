"""What a verifier is shown and how its judgement is read: claims, their evidence, and what they rest on."""

import re

from guard_cases import json_values, outcome, stop_of
from hypothesis import given
from hypothesis import strategies as st
from tables import each_row

from guardgraph.guards import support
from guardgraph.state.outcome import Outcome

CLAIMS = [{"claim": f"Claim {number}.", "evidence": "one" if number % 2 else "two"} for number in range(5)]


@given(json_values(["claims", "number", "supported"]))
def test_whatever_a_verifier_says_is_read_or_refused(said):
    """A judgement of all claims counts; anything else is a failure of the verifier, and never a support."""
    found = outcome(support.read_unsupported_claims, Outcome("value", said).packed(), claims=CLAIMS)
    if "value" in found:
        assert {item["number"] for item in said["claims"]} == {1, 2, 3, 4, 5}
    else:
        assert found["stop"] == "llm_invalid_schema"


WRONG = [{"number": True}, {"number": "1"}, {"number": 6}, {"supported": 1}, {"supported": None}]


@given(st.permutations(range(1, 6)), st.sets(st.integers(1, 5)), st.none() | st.sampled_from(WRONG))
def test_claims_that_are_not_supported_are_found_in_any_order(numbers, supported, wrong):
    """A judgement that is none of one claim is none of all; what they rest on is shown once."""
    said = [{"number": number, "supported": number in supported} for number in numbers]
    said[2] |= wrong or {}
    found = outcome(support.read_unsupported_claims, Outcome("value", {"claims": said}).packed(), claims=CLAIMS)
    expected = [number - 1 for number in range(1, 6) if number not in supported]
    assert found["stop"] == "llm_invalid_schema" if wrong else found["value"][0] == expected
    shown = support.share_evidence(support.show_claims(CLAIMS))
    assert [(item["number"], item["evidence"][1:]) for item in shown["claims"]] == [*enumerate("12121", 1)]
    assert shown["evidence"] == {"e1": "two", "e2": "one"}


def test_what_is_not_supported_is_refused_with_its_claim():
    notes = [{"id": f"n{at}", "claim": f"C{at}", "quote": "q", "title": "T", "published_at": ""} for at in range(2)]
    assert support.list_note_claims(notes) == [{"claim": f"C{at}", "evidence": "T\nq"} for at in range(2)]
    marked = [(0, 9, [notes[0]]), (10, 19, [notes[1], notes[0]])]
    brief = support.list_brief_claims("It is so. It is up.", marked)
    evidence = {"It is so.": "C0\nT\nq", "It is up.": "C1\nT\nq\nC0\nT\nq"}
    assert {item["claim"]: item["evidence"] for item in brief} == evidence
    said = [{"start": 0, "verdict": "unsupported"}, {"start": 10, "verdict": "doubtful"}]
    assert support.list_brief_claims("It is so. It is up.", marked, said) == brief[1:]
    assert support.check_answer_support([], CLAIMS) is None
    stop = stop_of(support.check_answer_support, [1, 4], CLAIMS)
    assert (stop.reason, stop.evidence["unsupported"]) == ("invalid_answer:unsupported_claim", ["Claim 1.", "Claim 4."])
    assert support.check_note_support([], notes) == {"ok": True, "checked_notes": 2, "issues": []}
    stop = stop_of(support.check_note_support, [1], notes)
    assert stop.reason == "verification_failed:unsupported_claim"
    assert stop.evidence["verification"]["issues"] == [{"note": "n1", "issue": "unsupported_claim"}]


def claims_of(text):
    detail = {"doc_id": "a", "title": "T", "section": "", "updated_at": ""}
    given_ = {"answer": text, "citation_details": [detail], "passages": [{"doc_id": "a", "text": "P."}]}
    claims = support.list_answer_claims(given_)
    assert {item["evidence"] for item in claims} <= {"T\nP."}
    return [item["claim"] for item in claims]


@each_row(("by", "evidence"), ("cited", ["One.", "Two."]), ("words", ["One.\nTwo."] * 2))
def test_a_claim_of_an_answer_rests_on_what_its_sentence_cites(by, evidence):
    """Where the sentences say it themselves, else on all that is cited."""
    blank = {"title": "", "section": "", "updated_at": "", "spans_by": by}
    cited = [{**blank, "doc_id": "a", "answer_spans": [[0, 9]]}, {**blank, "doc_id": "b", "answer_spans": [[10, 19]]}]
    texts = [{"doc_id": "a", "text": "One."}, {"doc_id": "b", "text": "Two."}]
    answer = {"answer": "It is up. It is on.", "citation_details": cited, "passages": texts}
    assert [item["evidence"] for item in support.list_answer_claims(answer)] == evidence


@given(st.text(st.sampled_from("ab1. \n-[]\"'!?,;*é界"), max_size=200))
def test_every_word_of_a_plain_answer_stands_in_a_claim(text):
    """Nothing escapes the verifier: what is in no claim is a mark or the number of an item."""
    said, written = "".join(claims_of(text)), re.sub(r"^[ \t]*\(?1{1,3}[.)][ \t]", "", text, flags=re.MULTILINE)
    assert sum(map(str.isalpha, text)) == sum(map(str.isalpha, said))
    assert sum(map(str.isalnum, written)) <= sum(map(str.isalnum, said)) <= sum(map(str.isalnum, text))


@each_row(
    ("text", "claims"),
    ("- Shoes are paid.\n* Hats are not.", ["Shoes are paid.", "Hats are not."]),
    ("1. Open it.\n2) Close it.", ["Open it.", "Close it."]),
    ("12. Mai ist frei.", ["12. Mai ist frei."]),
    ("# Refunds are instant\n\nThey are paid.", ["Refunds are instant: They are paid."]),
    ("Refunds\n=======\n\nThey are paid.", ["They are paid."]),
    ("Not paid:\n- shoes", ["Not paid: shoes"]),
    ("It is never paid if:\n- you are late", ["It is never paid if: you are late"]),
    ("Within 10 days:\n- shoes\n- hats", ["Within 10 days: shoes", "hats"]),
    ("All is well.\n\n## Hats are free", ["All is well.", "Hats are free"]),
    ("Yes.", ["Yes."]),
    ("## Refunds", ["Refunds"]),
)
def test_a_claim_has_no_marks_and_has_what_introduces_it(text, claims):
    """A label that claims something stands in front of what it introduces; alone, anything is a claim."""
    assert claims_of(text) == claims

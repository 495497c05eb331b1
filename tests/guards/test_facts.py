"""Facts are values: what is the same number, what licenses what, what is no number at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from guardgraph.guards.facts import facts_in_json, facts_in_text, unsupported

DATA = Path(__file__).parents[1] / "data"
TOOLS = Path(__file__).parents[2] / "guardgraph" / "tools" / "data"


def missing(claim: str, licence: str | dict[str, Any] | list[Any]) -> list[str]:
    """What of the claim a text or a context does not support."""
    known = facts_in_text(licence) if isinstance(licence, str) else facts_in_json(licence)
    return unsupported(facts_in_text(claim), known).all()


SAME = [
    ("27%", "27 %"),
    ("27 percent", "27%"),
    ("27 per cent", "27pct"),
    ("twenty-seven percent", "27%"),
    ("99,95 %", "99.95%"),
    ("٤٥％", "45%"),
    ("1,200", "1200"),
    ("1'200 and 1\u202f200", "1_200"),
    ("1200.00", "1,200"),
    (".5 seconds", "500 ms"),
    ("1e3", "1000"),
    ("12k", "12,000"),
    ("3.4 million users", "3,400,000"),
    ("two million", "2M"),
    ("a hundred and twenty", "120"),
    ("two hundred and ten", "210"),
    ("five hundred thousand", "500k"),
    ("3.4million", "3.4 million"),
    ("45min", "45 minutes"),
    ("45-minute", "45 min"),
    ("sub-45-minute", "45 min"),
    ("1 hour", "60 minutes"),
    ("60 minutes", "one hour"),
    ("within an hour", "60 minutes"),
    ("half an hour", "30 minutes"),
    ("1 hour and 30 minutes", "90 minutes"),
    ("1h30m", "1.5 hours"),
    ("2 years", "24 months"),
    ("2 days", "48-hour"),
    ("10–15 minutes", "600 s, 900 s"),
    ("10-15 minutes", "between 600 and 900 seconds"),
    ("10 to 15 minutes", "600 s – 900 s"),
    ("5 to 10%", "5% and 10%"),
    ("$5–10 million", "5 million USD, 10 million dollars"),
    ("$ 181,674", "181674 dollars"),
    ("€3m", "3 million euros"),
    ("USD5", "US$5"),
    ("CHF 20", "20 CHF"),
    ("5 pounds", "£5"),
    ("5m", "5 minutes"),
    ("5 bps", "5 basis points"),
    ("3 GB", "3000 MB"),
    ("24 hours a day, seven days a week", "24/7"),
    ("24x7", "24/7/365"),
    ("2:30 p.m.", "14:30"),
    ("2 pm", "14:00:00"),
    ("9:05", "09:05"),
    ("March 6, 2026", "2026-03-06"),
    ("6th of March 2026", "2026/3/6"),
    ("Mar. 6 , 2026", "March 6, 2026"),
    ("06.03.2026", "6 March 2026"),
    ("Dec. 12", "the 12th of December"),
    ("2026-03-06T14:30:00+02:00", "6 March 2026, 14:30"),
    ("fifth", "5th"),
    ("−5%", "-5%"),
    ("the 1970's", "the 1970 's"),
    ("02:00-04:00 UTC", "02:00 to 04:00"),
    ("02:00–04:00", "2 AM to 4 AM"),
    ("2-4 AM", "02:00-04:00"),
    ("between 2 and 4 pm", "14:00:00-16:00:00"),
    ("11 to 1 pm", "11:00-13:00"),
    ("10 000 users", "10,000 users"),
    ("-1 234 567.5", "-1,234,567.5"),
    ("$0.05", "5 cents"),
    ("1 ¾ hours", "105 minutes"),
    ("½ hour", "30 minutes"),
    ("1½ hours", "90 minutes"),
    ("2025/26", "2025-26"),
    ("2026/03", "March 2026"),
    ("6/30/26", "June 30, 2026"),
    ("30/6/99", "30 June 1999"),
    ("+1 (800) 555-0199", "1-800-555-0199"),
    ("+44 20 7946 0958", "+44-20-7946-0958"),
    ("Q4 2026", "the fourth quarter of 2026"),
    ("2026-Q3", "3rd quarter of 2026, Q3"),
    ("H1 2026", "H1 of 2026"),
    ("1\u00ad5\u200b minutes", "15 minutes"),
    ("within [45] minutes", "(45 minutes)"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same_value_is_licensed_in_either_spelling(one: str, other: str) -> None:
    """Two spellings of one value license each other."""
    assert facts_in_text(one).numbers
    assert missing(one, other) == []
    assert missing(other, one) == []


@pytest.mark.parametrize(
    ("claim", "licence"),
    [
        ("45", "45 minutes"),
        ("45 minutes", "45"),
        ("27", {"affected_pct": 27}),
        ("3.4%", "a share of 0.034"),
        ("0.034", {"failed_payment_rate": 0.034}),
        ("2026", "6 March 2026"),
        ("March 2026", "2026-03-06"),
        ("March 6", "2026-03-06"),
        ("on December 12", "on December 12 , 2016"),
        ("in the 1970 's", "born October 4 , 1971"),
        ("in the 90s", "in 1994"),
        ("fell by 5%", "changed by -5%"),
        ("5 million", "5m"),
        ("2:30", "2:30 pm"),
        ("2 AM to 4 AM", {"window": "02:00-04:00 UTC"}),
        ("10 minutes or 15 minutes", "10-15 minutes"),
        ("Version 3.2.1", "since v3.2.1"),
        ("version 2", "v2"),
        ("v3.2.1", "Version 3.2.1"),
        ("1st, 2nd and 3rd", "the first, the second and the third"),
        ("60 minutes", "takes an hour"),
        ("1 business day", "needs a business day"),
        ("1 minute", "every minute"),
        ("50 %", "half of them"),
        ("25%", "a quarter of the users"),
        ("ISO 27001", "ISO/IEC 27001:2022"),
        ("Q3", "Q3 2026"),
        ("H2 2026", "the second half of 2026"),
    ],
)
def test_what_says_more_licenses_what_says_less(claim: str, licence: Any) -> None:
    """A bare number, a part of a date, a decade, an amount without its sign: each needs only its value."""
    assert missing(claim, licence) == []


@pytest.mark.parametrize(
    ("claim", "licence", "expected"),
    [
        ("45 hours", "45 minutes", ["45 hours"]),
        ("27 %", "27 minutes", ["27 %"]),
        ("$5", "€5", ["$5"]),
        ("0.034%", {"failed_payment_rate": 0.034}, ["0.034%"]),
        ("12", "12k", ["12"]),
        ("2 business days", "2 days", ["2 business days"]),
        ("5 percentage points", "5%", ["5 percentage points"]),
        ("7 alerts in 24 hours", "24/7", ["24 hours", "7"]),
        ("6 alerts", "March 6, 2026", ["6"]),
        ("September 22nd , 1917", "22 January 1917", ["September 22nd , 1917"]),
        ("2026-03-06", "March 2026", ["2026-03-06"]),
        ("the 1980s", "in 1994", ["1980s"]),
        ("-5%", "5%", ["-5%"]),
        ("two hours", "45 minutes", ["two hours"]),
        ("within an hour", "45 minutes", ["an hour"]),
        ("30 minutes", "1 hour and 30 minutes", ["30 minutes"]),
        ("25:99 and 2.0.1", "25 99 2.0 1", ["2.0.1", "25:99"]),
        ("14 pm, 2026-13-06", "2 pm, 2026", ["14", "2026-13-06"]),
        ("call 555-123-4567", "555 123 4567", ["555-123-4567"]),
        ("9" * 500, "9" * 499, ["9" * 80]),
        ("02:00 to 05:00", "02:00-04:00", ["05:00"]),
        ("version 3.2.2", "v3.2.1", ["3.2.2"]),
        ("2 hours", "v2 and the second", ["2 hours"]),
        ("1 hour, 1 alert", "the first response", ["1", "1 hour"]),
        ("120 minutes", "takes an hour", ["120 minutes"]),
        ("60 minutes", "the end of an hour", ["60 minutes"]),
        ("90 minutes", "takes an idea", ["90 minutes"]),
        ("30 minutes", "an hour and 45 minutes", ["30 minutes"]),
        ("10 001 users", "10 000 users", ["10,001"]),
        ("45 %", "half of them, a quarter of us", ["45 %"]),
        ("ISO 27001:2022", "ISO 27001", ["2022"]),
        ("+1 (800) 555-0198", "1-800-555-0199", ["1-800-555-0198"]),
        ("+10 000 000", "+10 000", ["10,000,000"]),
        ("Q4 2026", "Q3 2026", ["Q4"]),
        ("H2 2026", "H1 2026", ["H2"]),
        ("15\u200b minutes", "15 hours", ["15 minutes"]),
        ("[45] minutes, about [45] alerts", "", ["45", "45 minutes"]),
        ("(2) hours", "", ["2"]),
        ("waits (1) 27 % and (2) % or (2) hours", "", ["1", "2", "27 %"]),
        ("retry (attempt 1) then (attempt 2)", "", ["1", "2"]),
        ("Step 45 minutes, Section 3 hours", "", ["3 hours", "45 minutes"]),
        ("two commitments", "", ["two"]),
        ("P2, SEV-2 in the EU, see INC-7", "P1, SEV1, US, INC-8", ["EU", "INC-7", "P2", "SEV2"]),
    ],
)
def test_another_value_is_unsupported(claim: str, licence: Any, expected: list[str]) -> None:
    """A value that the licence does not have is shown as written, sorted."""
    assert missing(claim, licence) == expected


@pytest.mark.parametrize(
    "text",
    [
        "1. Pause retries\n2) Tell customers\n  - 3. Wait\n**4.** Done",
        "inc_payments_20260306, INC-2026-001, INC12345, doc_sla_v3, n1, chunk-12",
        "P1, SEV2, Severity 3, sev-4, H1 and p99",
        "https://status.example.com/incidents/2026-03-07?id=45 www.example.com/2026",
        "one of them, no one, two-factor, at first, first of all, half-hearted, a second later",
        "you may march on, an idea, hundreds, m²",
        "Step 1: stop. Step 2. Go.\nFirst, wait. Second, tell. Phase 3: rest",
        "(1) stop and (2) start; 1) wait 2) tell, then. 1. Stop it. 2. Tell us.",
        "The page says so.[1][2] It is up [3] and running [4, 5]. See[6-8].\n[9] The page",
        "an hour ago, every minute, Henry VIII and World War I",
        "May be, may. You march. Nothing of __ and ----",
    ],
)
def test_digits_and_words_that_are_no_numbers(text: str) -> None:
    """List markers, ids, severities, addresses and idioms hold no numbers."""
    assert facts_in_text(text).numbers == frozenset()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("1,2,3", ["1", "2", "3"]),
        ("1. 45 alerts", ["45"]),
        ("5 USD 10", ["10", "5 USD"]),
        ("5 $10", ["$10", "5"]),
        ("5-3 (-4) a -6", ["-4", "-6", "5-3"]),
        ("2025/2026 and 10/20/30", ["10/20/30", "2025", "2026"]),
        ("March 15 minutes", ["15 minutes", "March"]),
        ("mid-2026, top-10 * 45 minutes* _30_", ["10", "2026", "30", "45 minutes"]),
        ("$5 kg - 7 cm", ["5 kg", "7 cm"]),
        ("twenty twenty-six", ["twenty", "twenty-six"]),
        ("in 3 to 4 pm", ["3", "4 pm"]),
        ("two-thirds, 2 seconds-long", ["2 seconds", "two-thirds"]),
        ("1,200/1,300", ["1,200", "1,300"]),
        ("x−5", ["5"]),
    ],
)
def test_numbers_are_shown_as_written(text: str, shown: list[str]) -> None:
    """Where numbers stand close together, each is found once."""
    assert sorted(number.shown for number in facts_in_text(text).numbers) == shown


@pytest.mark.parametrize(
    ("text", "severities", "incident_ids", "regions"),
    [
        ("P0, p1 and P1-P3", {"P0", "P1", "P3"}, set(), set()),
        ("SEV1, sev-2, Sev 3, severity: 4, Severity level 5", {"SEV1", "SEV2", "SEV3", "SEV4", "SEV5"}, set(), set()),
        ("P6, P10, P1x, sp1, SEV9, p99, severity 1.5, severity 5%", set(), set(), set()),
        ("inc_payments_20260306 INC-2026-001", set(), {"inc_payments_20260306", "INC-2026-001"}, set()),
        ("INC12345, INC-7-related, incident-42", set(), {"INC12345", "INC-7", "incident-42"}, set()),
        ("inc_payments", set(), {"inc_payments"}, set()),
        ("incident-related, incident_id, Acme Inc. 5, income-2026", set(), set(), set()),
        ("US, U.S. and USA; EU-based, APAC/EMEA (UK)", set(), set(), {"US", "EU", "APAC", "EMEA", "UK"}),
        ("contact us, US$5, US $5, EUR, USB, eu", set(), set(), set()),
    ],
)
def test_names_are_sets(text: str, severities: set[str], incident_ids: set[str], regions: set[str]) -> None:
    """Severities are normalised, ids kept as written, regions found as whole words of the listed case."""
    facts = facts_in_text(text)
    assert (facts.severities, facts.incident_ids, facts.regions) == (severities, incident_ids, regions)


def test_incident_ids_are_compared_without_case() -> None:
    """INC-7 and inc-7 are one incident."""
    assert missing("INC-7", "inc-7") == []


def test_regions_are_a_policy_list() -> None:
    """Only listed regions count, in any script and with blanks; an empty list names none."""
    text = "US, us-east-1 and North America; Київ"
    assert facts_in_text(text, regions=["North America", "us-east-1", "Київ", " "]).regions == {
        "North America",
        "us-east-1",
        "Київ",
    }
    assert facts_in_text(text, regions=[]).regions == frozenset()


def test_the_demos_are_supported() -> None:
    """What the demo data says is licensed by the demo data."""
    sample = json.loads((DATA / "research_sample_output.json").read_text(encoding="utf-8"))
    notes = json.loads((TOOLS / "research_notes.json").read_text(encoding="utf-8"))
    context = json.loads((TOOLS / "self_critique_incident_context.json").read_text(encoding="utf-8"))
    assert missing(sample["answer"], " ".join(note["quote"] for note in notes)) == []
    assert all(missing(note["claim"], note["quote"]) == [] for note in notes)
    update = "27% of checkout attempts, failed payment rate 3.4%, 5 chargeback alerts, 45 minutes"
    assert missing(f"{update}, every 15 minutes", context) == []
    assert missing("28%, 3.5%, 46 minutes, 20%", context) == ["20%", "28%", "3.5%", "46 minutes"]

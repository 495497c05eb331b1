"""Runs of the Self-critique agent without a model on incidents of many shapes, and what customers read."""

from __future__ import annotations

import re
from typing import Any

import pytest
from guard_cases import json_values
from hypothesis import given
from hypothesis import strategies as st
from self_critique_cases import checked

from guardgraph import create_self_critique_agent
from guardgraph.nodes.offline.prose import has_file_path

GOAL = "Write an update for customers. Use precise language and keep next actions concrete."
SUMMARY = (
    "# Checkout\n\nCard payments failed for **some** customers between 10:00 and 11:30 UTC, see "
    "[the report](https://example.com/reports/12).\nA certificate had expired on `pay-7`.\n\n"
    "- refunds\n- invoices\n\nFixed by /etc/ssl/renew.sh, see runbooks/pay/renew.md."
)
INCIDENT = {
    "title": "Card payments fail",
    "severity": "major",
    "affected": ["checkout", "refunds"],
    "status": "resolved",
    "summary": SUMMARY,
}
UPDATES = [
    {"at": "2026-03-06T12:00:00Z", "text": "A new certificate is in place.", "author": "jo"},
    {"at": "2026-03-06T10:20:00Z", "text": "We look into failing card payments."},
]
AGENT = create_self_critique_agent()


def ended(context: dict[str, Any]) -> Any:
    """Run the agent once."""
    return checked(AGENT.invoke({"goal": GOAL, "incident_context": context}))


def update(context: dict[str, Any]) -> str:
    """Run the agent once, which ends well, and return the update."""
    result = ended(context)
    assert result["status"] == "ok", result
    return str(result["answer"])


def with_fields(**fields: Any) -> dict[str, Any]:
    """Return the incident as a context, with other fields."""
    return {"incident": {**INCIDENT, **fields}}


SHAPES = {
    "built": with_fields(),
    "flat": INCIDENT,
    "nested": {"data": {"attributes": INCIDENT}},
    "updates": with_fields(summary=None, updates=UPDATES),
    "update texts": with_fields(summary="", updates=[item["text"] for item in UPDATES]),
    "updates by time": with_fields(summary=None, updates={item["at"]: item["text"] for item in UPDATES}),
    "html": with_fields(summary="<h2>What</h2><p>Card payments failed.<br>A certificate had <b>expired</b>.</p>"),
    "long": with_fields(summary=f"{SUMMARY}\n\n" * 200),
    "raw": {
        **{name: INCIDENT[name] for name in ("title", "severity", "affected")},
        **{"source": "acme/status", "path": "content/issues/2026-03-06-pay.md", "date": "2026-03-06 10:00:00"},
        **{"resolved": "true", "resolved_when": "2026-03-06T11:30:00-00:00"},
        "updates": [{"label": "Initial message", "body": SUMMARY}, {"label": "final", "body": "All done."}],
    },
    "keys": with_fields(runbook_path="docs/run.md", internal_notes="Call Jo.", _debug="x y z", slack_channel="#inc"),
    "no status": {"incident": {name: value for name, value in INCIDENT.items() if name != "status"}},
}


@pytest.mark.parametrize("shape", SHAPES)
def test_an_update_says_status_what_happened_and_what_is_affected(shape: str) -> None:
    """However the records are laid out, customers read plain sentences, and nothing that is not for them."""
    text = update(SHAPES[shape])
    assert "Current status: " in text
    assert re.search(r"certificate|failing card payments", text)
    assert "Affected: checkout and refunds." in text
    assert not has_file_path(text)
    assert not re.search(r"[*#`<>|]|\]\(|https?:|_|Path|Label|Call Jo", text)
    assert len(text) <= 900
    assert text == update(SHAPES[shape])


@pytest.mark.parametrize("status", ["resolved", "Resolved", "CLOSED", "recovered", "completed", "fixed", "postmortem"])
def test_a_status_that_says_it_is_over_stays_as_it_is(status: str) -> None:
    """The incident's own status licenses what it says, whatever the hint."""
    for hints in ({}, {"avoid_absolute_guarantees": True}):
        assert f"Current status: {status}." in update({**with_fields(status=status), "policy_hints": hints})


@pytest.mark.parametrize(
    "status",
    [
        "fully recovered, guaranteed",
        "all payments are back to normal",
        "Resolved (monitoring)",
        "we guarantee that it will not happen again",
        {"name": "resolved for everybody"},
    ],
)
def test_a_status_that_may_not_be_claimed_is_still_a_status(status: Any) -> None:
    """It is said that the records are not confirmed, in words that claim nothing."""
    hints = {"avoid_absolute_guarantees": True}
    text = update({**with_fields(status=status), "policy_hints": hints})
    assert re.search(
        r"Current status: (we cannot yet confirm that it is|the one in our records is not yet confirmed)", text
    )


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"status": "in_progress"}, "Current status: in progress."),
        ({"status": {"indicator": "major", "description": "Partial outage"}}, "Current status: Partial outage."),
        ({"status": None, "resolved": False}, "Current status: not resolved."),
        ({"status": " ", "updates": [{"status": "identified", "body": "A cause is known."}]}, "status: identified."),
        ({"status": None}, "Current status: not given in our records."),
        ({"status": "gelöst"}, "Current status: gelöst."),
        ({"status": 7}, "Current status: not given in our records."),
    ],
)
def test_a_status_is_found_wherever_it_stands(fields: dict[str, Any], said: str) -> None:
    """A word, an object, a flag or the latest update give it; where nothing does, the update says so."""
    assert said in update(with_fields(**fields))


def test_the_latest_update_is_told_beside_the_summary() -> None:
    """The latest by its time, else the last; what the summary says already is not said twice."""
    text = update(with_fields(summary="Card payments fail. We look into it.", updates=UPDATES))
    assert "What was reported: Card payments fail. We look into it." in text
    assert "Latest update: A new certificate is in place." in text
    assert "Latest update" not in update(with_fields(summary="Cards fail.", updates=["Cards fail."]))


def test_a_text_in_another_language_is_told_as_it_is() -> None:
    """Its sentences are the context's own."""
    text = update(with_fields(status="untersucht", summary="Die Kasse ist langsam. 服务不可用。正在调查。"))
    assert "Current status: untersucht. What was reported: Die Kasse ist langsam. 服务不可用。 正在调查。" in text


def test_a_sentence_that_is_too_long_is_cut_at_a_word() -> None:
    """Where no sentence fits, the reader sees that there is more."""
    text = update(with_fields(summary="Payments fail because " + "the certificate of the gateway expired and " * 60))
    assert "What was reported: Payments fail because the certificate" in text
    assert "…" in text
    assert len(text) <= 900


def test_a_section_that_no_record_fills_is_a_persons_business() -> None:
    """The policy wants it and nothing can be said: the run ends with a reason that names it."""
    hints = {"required_sections": ["current_status", "customer_impact", "next_actions"]}
    assert "Next actions: none are listed in our records." in update({**with_fields(), "policy_hints": hints})
    result = ended({**with_fields(affected=[]), "policy_hints": hints})
    assert result["stop_reason"] == "policy_escalation"
    assert "customer_impact" in result["escalation_reason"]


TEXTS = [
    SUMMARY,
    "It is resolved. We guarantee it.",
    "P1 in the EU, 45 min.",
    "INC-7",
    "<p>a</p>",
    "- a\n- b",
    "[a](b)",
]
NAMES = [*INCIDENT, "incident", "updates", "resolved", "resolved_when", "id", "impact", "eta_minutes", "region", "body"]
JSON = json_values([*NAMES, "policy_hints", "required_sections", "approved_actions", "next_actions", "at"], TEXTS)


@given(st.fixed_dictionaries({}, optional=dict.fromkeys(NAMES, JSON)))
def test_no_guard_stops_what_the_offline_run_wrote(context: dict[str, Any]) -> None:
    """Whatever the context, the run ends well, or because the input is refused or a person has to decide."""
    reason = ended(context)["stop_reason"]
    assert reason in ("success", "policy_escalation") or reason.startswith("invalid_request:")


PHRASES = [
    "resolved",
    "2026",
    "45 min",
    "[link](http://a.b/c)",
    "**x**",
    "\n\n",
    "\n- ",
    "1. ",
    ": ",
    ". ",
    "/etc/x",
    "EU",
]


@given(st.lists(st.sampled_from([*PHRASES, "the gateway", "P1", "failed", "<b>", "`", "_", "12:30", ")"]), max_size=25))
def test_no_guard_stops_what_was_told_of_odd_texts(parts: list[str]) -> None:
    """Taking markup, links and paths away makes no new fact."""
    assert ended(with_fields(summary=" ".join(parts), status="open"))["stop_reason"] == "success"

"""The Self-critique agent without a model: its drafts and its rules, on incidents of many shapes."""

import re
from typing import Any

from guard_cases import json_values
from hypothesis import given
from hypothesis import strategies as st
from self_critique_cases import CONTEXT, checked
from tables import each_row

from guardgraph import create_self_critique_agent
from guardgraph.guards.self_critique.critique import parse_critique
from guardgraph.guards.self_critique.editing import apply_required_changes
from guardgraph.nodes.offline.self_critique import critique_offline_draft, shorten_offline_draft
from guardgraph.state.self_critique import RISK_TYPES, SelfCritiquePolicy

GOAL = "Write an update for customers. Use precise language and keep next actions concrete."
GOOD = (
    "Current status: degraded. Customer impact: 27% of checkouts are affected. "
    "Next actions: we will monitor payment failures every 15 minutes, publish customer update via status page "
    "every 15 minutes, and prepare support macro with workaround guidance. Thank you for your patience."
)
SUMMARY = (
    "# Checkout\n\nCard payments failed for **some** customers between 10:00 and 11:30 UTC, see "
    "[the report](https://example.com/reports/12).\nA certificate had expired on `pay-7`.\n\n"
    "- refunds\n- invoices\n\nFixed by /etc/ssl/renew.sh, see runbooks/pay/renew.md."
)
INCIDENT = {"title": "Card payments fail", "severity": "major", "affected": ["checkout", "refunds"]}
INCIDENT |= {"status": "resolved", "summary": SUMMARY}
UPDATES = [
    {"at": "2026-03-06T12:00:00Z", "text": "A new certificate is in place.", "author": "jo"},
    {"at": "2026-03-06T10:20:00Z", "text": "We look into failing card payments."},
]
AGENT = create_self_critique_agent()


def hinted(**hints: Any) -> dict[str, Any]:
    return {**CONTEXT, "policy_hints": {**CONTEXT["policy_hints"], **hints}}


def with_fields(**fields: Any) -> dict[str, Any]:
    return {"incident": {**INCIDENT, **fields}}


def ended(context: dict[str, Any]) -> Any:
    return checked(AGENT.invoke({"goal": GOAL, "incident_context": context}))


def update(context: dict[str, Any]) -> str:
    return str(ended(context)["answer"])


def reviewed(text: str, context: Any = CONTEXT) -> Any:
    view = {"goal": GOAL, "incident_context": context, "draft": text, "allowed_risk_types": [*RISK_TYPES]}
    raw = critique_offline_draft(view)
    return parse_critique(raw, policy=SelfCritiquePolicy(), max_risks=5, max_required_changes=5)


@each_row(
    "context",
    INCIDENT,
    with_fields(summary=None, updates=UPDATES),
    with_fields(summary="<h2>What</h2><p>Card payments failed.<br>A certificate had <b>expired</b>.</p>"),
    with_fields(runbook_path="docs/run.md", internal_notes="Call Jo.", _debug="x y z", slack_channel="#inc"),
    {"incident": {name: value for name, value in INCIDENT.items() if name != "status"}},
)
def test_an_update_says_status_what_happened_and_what_is_affected(context: dict[str, Any]) -> None:
    """However the records are laid out, customers read plain sentences, and nothing that is not for them."""
    text = update(context)
    assert "Current status: " in text
    assert re.search(r"certificate|failing card payments", text)
    assert "Affected: checkout and refunds." in text
    assert not re.search(r"[*#`<>|]|\]\(|https?:|_|Path|Label|Call Jo|\w/|\.(?:md|sh)\b", text)
    assert len(text) <= 900
    assert text == update(context)


SORRY = "We apologize for the disruption."
LATER = "Next actions: we will share confirmed details as soon as we have them."
STORY = [f"Part {at} of the story goes on for a while." for at in range(41)]
NEWS = [f"News {at} of the day." for at in range(42)]
NAMED = [f"{'service' * 14} number {at}" for at in range(9)]
NESTED = [[[["checkout"]]], [[[["refunds"]]]], {"name": [{"name": "cards"}]}, {"name": [{"name": ["invoices"]}]}]


@each_row(
    ("fields", "said"),
    ({"next_actions": ["Monitor payments", "Call you"]}, "Next actions: we will monitor payments and Call you."),
    ({"next_actions": "We rotate keys"}, "Next actions: We rotate keys."),
    ({"next_actions": "E-mail all customers"}, "Next actions: we will E-mail all customers."),
    ({"eta_minutes": 1}, "Estimated time to recovery: 1 minute. Timing may change as we learn more."),
    ({"eta_days": 2, "eta_hours": 3}, "Estimated time to recovery: 3 hours. Timing may change as we learn more."),
    ({"affected": NESTED}, f"Affected: checkout and cards. {SORRY} {LATER}"),
    ({"affected": NAMED}, f"Affected: {', '.join(NAMED[:3])}, and {NAMED[3]}. {SORRY} {LATER}"),
    ({"summary": "Cards failed."}, f"What was reported: Cards failed. {LATER}"),
    ({"summary": "Resolved."}, LATER),
    (
        {"updates": [UPDATES[0], {"at": "2026-03-06T11:00:00Z", "text": "We found the cause."}, UPDATES[1]]},
        f"What was reported: We look into failing card payments. Latest update: A new certificate is in place. {LATER}",
    ),
    (
        {"summary": " ".join(STORY), "updates": " ".join(NEWS)},
        f"What was reported: {' '.join(STORY[:8])} Latest update: {' '.join(NEWS[:17])} {LATER}",
    ),
)
def test_an_update_says_what_its_records_say_and_what_comes_next(fields: dict[str, Any], said: str) -> None:
    """Each list as far as it fits; of a story the beginning, beside the latest news; an estimate with its doubt."""
    opening = "This is an update on the current incident. Current status: degraded."
    assert update({"incident": {"status": "degraded", **fields}}) == f"{opening} {said}"


@each_row(
    ("status", "said"),
    ("resolved", "Current status: resolved."),
    ({"indicator": "major", "description": "Partial outage"}, "Current status: Partial outage."),
    (["degraded", "slow"], "Current status: degraded."),
    (None, "Current status: not given in our records."),
    ("Resolved (monitoring)", "Current status: we cannot yet confirm that it is Resolved (monitoring)"),
    ("restored, guaranteed", "Current status: what our records say of it is not yet confirmed."),
)
def test_an_update_never_loses_its_status(status: Any, said: str) -> None:
    """One that may not be claimed is stated as what the records say, in words that claim nothing more."""
    assert said in update({**with_fields(status=status), "policy_hints": {"avoid_absolute_guarantees": True}})


DOUBT = 'MUST_INCLUDE "Timing may change as we learn more"'
WORKAROUND = {**hinted(required_sections=["known_workaround"]), "known_workaround": "Use bank transfer."}


@each_row(
    ("text", "context", "changes"),
    (GOOD, CONTEXT, []),
    (GOOD.replace("Thank", "The incident is closed. Thank"), CONTEXT, ['MUST_REMOVE "The incident is closed"']),
    (
        GOOD.replace("Customer impact: 27% of checkouts are affected. ", "We are sorry for all the trouble. "),
        hinted(max_length_increase_pct=50),
        ['MUST_INCLUDE "Customer impact: 27% of checkouts are affected and 3.4% of payments are failing"'],
    ),
    (GOOD, WORKAROUND, ['MUST_INCLUDE "Known workaround: Use bank transfer"']),
    (GOOD.replace("Thank", "We expect recovery in 45 minutes. Thank"), hinted(max_length_increase_pct=1), [DOUBT]),
    ("We expect it again in 45 minutes.", {"incident": {}}, [DOUBT]),
)
def test_a_finding_is_a_change_that_mends_it(text: str, context: Any, changes: list[str]) -> None:
    """Claims go, missing sections and a word of doubt come; nothing to find means nothing to change."""
    verdict = reviewed(text, context)
    assert verdict["required_changes"] == changes
    assert (verdict["decision"], verdict["severity"]) == (("revise", "medium") if changes else ("approve", "low"))
    assert reviewed(apply_required_changes(text, changes), context)["decision"] == "approve"


@each_row(
    ("text", "context"),
    ("All is resolved.", CONTEXT),
    (f'{GOOD} He said "all is resolved" today.', CONTEXT),
    (GOOD, hinted(required_sections=["root_cause"])),
    (f"{'It rained, and many waited for a long time. ' * 4}The incident is closed.", {"incident": {}}),
    (GOOD + " Resolved one. Resolved two. Resolved 3. Resolved four. Resolved five. Resolved six.", CONTEXT),
)
def test_what_no_patch_mends_is_escalated(text: str, context: Any) -> None:
    """No enforceable phrase, too many changes or too much gone: a person decides."""
    verdict = reviewed(text, context)
    assert (verdict["decision"], verdict["severity"], verdict["high_risk"]) == ("escalate", "high", True)
    assert verdict["reason"].startswith("More than a patch can mend. The draft ")


def test_a_draft_is_cut_where_a_sentence_ends() -> None:
    text = "One two. Three four. Five"
    cuts = [shorten_offline_draft({"draft": text, "max_chars": limit})["draft"] for limit in (25, 24, 19, 7, 2, 0, -9)]
    assert cuts == [text, "One two. Three four.", "One two.", "One", "On", "", ""]


TEXTS = [SUMMARY, "It is resolved. We guarantee it.", "P1 in the EU, 45 min.", "INC-7", "<p>a</p>", "- a\n- b"]
NAMES = [*INCIDENT, *CONTEXT["incident"], "incident", "updates", "id", "impact", "region", "body", "at"]
JSON = json_values([*NAMES, "policy_hints", "required_sections", "approved_actions", "next_actions"], TEXTS)


@given(st.fixed_dictionaries({}, optional=dict.fromkeys(NAMES, JSON)))
def test_no_guard_stops_what_the_offline_run_wrote(context: dict[str, Any]) -> None:
    """Whatever the context, the run ends well, or because the input is refused or a person has to decide."""
    reason = ended(context)["stop_reason"]
    assert reason in ("success", "policy_escalation") or reason.startswith("invalid_request:")

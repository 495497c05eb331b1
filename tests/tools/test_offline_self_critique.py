"""The Self-critique agent without a model: its drafts and its rules."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from guard_cases import json_values, outcome
from hypothesis import given
from hypothesis import strategies as st

from guardgraph.guards.facts import DEFAULT_REGIONS
from guardgraph.guards.self_critique.critique import DECISIONS, parse_critique
from guardgraph.guards.self_critique.revision import check_final_draft, check_revision_patch, parse_draft
from guardgraph.nodes.offline.self_critique import (
    UNCERTAINTY_NOTE,
    apply_required_changes,
    critique_offline_draft,
    revise_offline_draft,
    shorten_offline_draft,
    write_offline_draft,
)

DATA = Path(__file__).parents[2] / "guardgraph" / "tools" / "data"
CONTEXT = json.loads((DATA / "self_critique_incident_context.json").read_text())
GOAL = (
    "Draft a customer-facing payment incident update for US enterprise customers. "
    "Use precise language, avoid guarantees, and keep next actions concrete."
)
RISKS = ["contradiction", "legal_risk", "missing_uncertainty", "overconfidence", "policy_violation", "scope_leak"]
GOOD = (
    "Current status: degraded. Customer impact: 27% of checkouts are affected. "
    "Next actions: we will monitor payment failures every 15 minutes, publish customer update via status page "
    "every 15 minutes, and prepare support macro with workaround guidance. Thank you for your patience."
)
KEYS = [*CONTEXT, *CONTEXT["incident"], *CONTEXT["policy_hints"], "draft", "max_chars", "required_changes"]
JSON = json_values(KEYS, ["degraded", "P1", 'ADD "x y"', "It is resolved. We expect it in 5 minutes."])


def hinted(**hints: Any) -> dict[str, Any]:
    """Return the demo's context with other hints."""
    return {**CONTEXT, "policy_hints": {**CONTEXT["policy_hints"], **hints}}


def reviewed(text: str, context: Any = CONTEXT) -> Any:
    """Review a draft; what the critic says is always a valid critique."""
    view = {"goal": GOAL, "incident_context": context, "draft": text, "allowed_risk_types": RISKS}
    raw = critique_offline_draft(view)
    limits: dict[str, Any] = {"decisions": DECISIONS, "risk_types": RISKS}
    return parse_critique(raw, max_risks=5, max_required_changes=5, **limits)


def patched(text: str, changes: list[str]) -> str:
    """Apply changes with the reviser; the patch guard and the final guard let it pass."""
    view = {"goal": GOAL, "incident_context": CONTEXT, "draft": text, "required_changes": changes}
    patch = check_revision_patch(
        revise_offline_draft(view)["revised_answer"],
        draft=text,
        context=CONTEXT,
        required_changes=changes,
        max_chars=980,
        min_similarity=0.4,
        max_length_increase_pct=20.0,
        hinted_length_increase_pct=20.0,
        avoid_absolute_guarantees=True,
        check_facts=True,
        regions=DEFAULT_REGIONS,
    )
    return check_final_draft(patch["revised_answer"], context=CONTEXT, max_chars=980, avoid_absolute_guarantees=True)


def test_the_demo_ends_revised_and_reads_like_a_message() -> None:
    """Draft, critique and revision pass every guard, and say what a customer needs."""
    text = write_offline_draft({"goal": GOAL, "incident_context": CONTEXT})["draft"]
    parse_draft(text, context=CONTEXT, max_chars=900, check_facts=True, regions=DEFAULT_REGIONS)
    verdict = reviewed(text)
    assert verdict["decision"] == "revise"
    assert verdict["required_changes"] == [f'MUST_INCLUDE "{UNCERTAINTY_NOTE}"']
    answer = patched(text, verdict["required_changes"])
    assert answer == (
        "This is an update for our US customers on incident inc_payments_20260306 (severity P1) as of 2026-03-06. "
        "Current status: degraded. "
        "Customer impact: 27% of checkouts are affected and 3.4% of payments are failing. "
        "We apologize for the disruption. "
        "Next actions: we will monitor payment failures every 15 minutes, publish customer update via status page "
        "every 15 minutes, and prepare support macro with workaround guidance. "
        "Estimated time to recovery: 45 minutes. Timing may change as we learn more."
    )
    assert reviewed(answer)["decision"] == "approve"


@pytest.mark.parametrize(
    "context", [CONTEXT, hinted(max_length_increase_pct=5), {"incident": {"status": "degraded", "eta_minutes": 45}}]
)
def test_an_estimate_is_called_uncertain_by_a_revision(context: Any) -> None:
    """However short the draft and tight the limit: what a change adds is no growth."""
    verdict = reviewed(write_offline_draft({"incident_context": context})["draft"], context)
    assert verdict["required_changes"] == [f'MUST_INCLUDE "{UNCERTAINTY_NOTE}"']


def test_what_is_over_has_no_estimate_that_could_change() -> None:
    """Neither the drafter nor the critic speaks of a time that is past."""
    context = {"incident": {"status": "resolved", "eta_minutes": 45, "summary": "We expected recovery in 45 minutes."}}
    text = write_offline_draft({"incident_context": context})["draft"]
    assert "Estimated time" not in text
    assert reviewed(text, context)["decision"] == "approve"


@pytest.mark.parametrize("status", ["resolved", "fully recovered, guaranteed"])
def test_a_draft_of_the_drafter_claims_nothing_that_the_critic_takes_out(status: str) -> None:
    """A licensed status stays, any other is said so that it claims nothing."""
    context = {"incident": {"incident_id": "INC-9", "severity": "P2", "status": status}, "region": "EU"}
    assert reviewed(write_offline_draft({"incident_context": context})["draft"], context)["decision"] == "approve"


@pytest.mark.parametrize(
    ("status", "said"),
    [
        ("degraded", "Current status: degraded"),
        (None, "Current status: not given in our records"),
        ("restored for all", "Current status: we cannot yet confirm that it is restored for all, as our records say"),
        ("restored, guaranteed", "Current status: the one in our records is not yet confirmed"),
    ],
)
def test_a_status_line_that_goes_is_replaced(status: str | None, said: str) -> None:
    """An update never loses its status: what the records say stands in for what may not be claimed."""
    context = {**CONTEXT, "incident": {**CONTEXT["incident"], "status": status}}
    text = GOOD.replace("Current status: degraded", "Current status: the incident is resolved for good")
    verdict = reviewed(text, context)
    removed = 'MUST_REMOVE "Current status: the incident is resolved for good"'
    assert verdict["required_changes"] == [removed, f'MUST_INCLUDE "{said}"']
    revised = revise_offline_draft({"draft": text, "required_changes": verdict["required_changes"]})["revised_answer"]
    assert revised.endswith(f"{said}.")
    assert reviewed(revised, context)["decision"] == "approve"


def test_a_sound_draft_is_approved() -> None:
    """Nothing to find means nothing to change."""
    verdict = reviewed(GOOD)
    assert (verdict["decision"], verdict["risks"], verdict["required_changes"]) == ("approve", [], [])


@pytest.mark.parametrize("claim", ["Recovery is guaranteed", "The incident is closed", "All payments are stable"])
def test_a_sentence_with_a_claim_has_to_go(claim: str) -> None:
    """The critic requires its removal, and the rest passes."""
    text = GOOD.replace("Thank you", f"{claim}. Thank you")
    verdict = reviewed(text)
    assert verdict["required_changes"] == [f'MUST_REMOVE "{claim}"']
    assert [risk["type"] for risk in verdict["risks"]] == ["overconfidence"]
    assert patched(text, verdict["required_changes"]) == GOOD


@pytest.mark.parametrize(
    ("section", "gone", "change"),
    [
        ("current_status", "Current status: degraded. ", "Current status: degraded"),
        (
            "customer_impact",
            "Customer impact: 27% of checkouts are affected. ",
            "Customer impact: 27% of checkouts are affected and 3.4% of payments are failing",
        ),
    ],
)
def test_a_missing_section_is_one_change(section: str, gone: str, change: str) -> None:
    """The change says what the context knows, and the draft with it is sound."""
    text = GOOD.replace(gone, "We are sorry for the trouble that this gives you and your own customers today. ")
    context = hinted(max_length_increase_pct=50)
    verdict = reviewed(text, context)
    assert verdict["required_changes"] == [f'MUST_INCLUDE "{change}"']
    assert section in verdict["reason"]
    assert reviewed(apply_required_changes(text, verdict["required_changes"]), context)["decision"] == "approve"


def test_several_missing_sections_are_several_changes() -> None:
    """One each, in the order of the hint; the actions that fit into a phrase are named."""
    text = "Thank you for your patience while our engineers look into this payment incident. " * 8
    verdict = reviewed(text, hinted(max_length_increase_pct=60))
    assert [item[:30] for item in verdict["required_changes"]] == [
        'MUST_INCLUDE "Current status: ',
        'MUST_INCLUDE "Customer impact:',
        'MUST_INCLUDE "Next actions: we',
    ]
    assert verdict["required_changes"][2].endswith('status page every 15 minutes"')


@pytest.mark.parametrize(
    ("text", "context"),
    [
        ("All is resolved.", CONTEXT),
        (f'{GOOD} He said "all is resolved" today.', CONTEXT),
        (f"{GOOD} The incident is resolved {'and we thank you ' * 12}today.", CONTEXT),
        (GOOD, hinted(required_sections=["root_cause"])),
        (GOOD + " Resolved one. Resolved two. Resolved 3. Resolved four. Resolved five. Resolved six.", CONTEXT),
    ],
)
def test_what_no_patch_mends_is_escalated(text: str, context: Any) -> None:
    """No enforceable phrase, too many changes or too much gone: a person decides."""
    verdict = reviewed(text, context)
    assert (verdict["decision"], verdict["severity"], verdict["high_risk"]) == ("escalate", "high", True)
    assert verdict["reason"].startswith("More than a patch can mend. The draft ")


@pytest.mark.parametrize(
    ("text", "context"),
    [
        ("Current status: degraded. We will post updates. Recovery expected in 45 minutes.", CONTEXT),
        (GOOD.replace("Thank you", "We expect recovery in 45 minutes"), hinted(max_length_increase_pct=1)),
        ("Customer impact: 27% of checkouts. We will post updates.", hinted(max_length_increase_pct=60)),
    ],
)
def test_what_only_lacks_something_is_mended(text: str, context: Any) -> None:
    """What the changes add is not held against them."""
    verdict = reviewed(text, context)
    assert verdict["decision"] == "revise"
    revised = revise_offline_draft({"draft": text, "required_changes": verdict["required_changes"]})["revised_answer"]
    assert reviewed(revised, context)["decision"] == "approve"


def test_a_section_of_any_name_comes_from_the_context() -> None:
    """A text under the section's name in the context fills it."""
    context = {**hinted(required_sections=["known_workaround"]), "known_workaround": "Use bank transfer."}
    verdict = reviewed(GOOD, context)
    assert verdict["required_changes"] == ['MUST_INCLUDE "Known workaround: Use bank transfer"']


def test_a_claim_of_the_context_may_be_repeated_if_claims_are_allowed() -> None:
    """A guarantee is never overlooked; "resolved" is, where the context says it and the hint allows it."""
    context = copy.deepcopy(hinted(avoid_absolute_guarantees=False))
    context["updates"] = ["The incident is resolved."]
    text = GOOD.replace("degraded", "resolved")
    assert reviewed(text, context)["decision"] == "approve"
    assert reviewed(f"{GOOD} Recovery is guaranteed.", context)["decision"] == "revise"
    context["policy_hints"]["avoid_absolute_guarantees"] = True
    assert reviewed(text, context)["decision"] == "revise"


def test_the_critic_names_only_risks_that_it_may() -> None:
    """A risk that is not on the list is left out, the change stays."""
    view = {"incident_context": CONTEXT, "draft": f"{GOOD} Recovery is guaranteed.", "allowed_risk_types": []}
    raw = critique_offline_draft(view)
    assert (raw["decision"], raw["risks"]) == ("revise", [])


VIEWS = st.fixed_dictionaries(
    {},
    optional=dict.fromkeys(("incident_context", "draft", "required_changes", "max_chars"), JSON)
    | {"allowed_risk_types": st.just(RISKS) | JSON},
)


@given(VIEWS)
def test_proposers_take_any_view(view: dict[str, Any]) -> None:
    """They return the text or the critique that the contract asks for, whatever they see."""
    assert all(isinstance(propose(view)["draft"], str) for propose in (write_offline_draft, shorten_offline_draft))
    assert isinstance(revise_offline_draft(view)["revised_answer"], str)
    limits: dict[str, Any] = {"decisions": DECISIONS, "risk_types": RISKS}
    assert "value" in outcome(
        parse_critique, critique_offline_draft(view), max_risks=5, max_required_changes=5, **limits
    )

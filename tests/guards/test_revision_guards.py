"""What a draft, a revision, a final text and a request must be."""

import json
import math
from itertools import combinations
from typing import Any

from guard_cases import json_values, outcome, stop_of
from hypothesis import given
from hypothesis import strategies as st
from self_critique_cases import CONTEXT, DRAFT
from tables import each_row

from guardgraph.guards.self_critique import revision as guards
from guardgraph.guards.self_critique.request import parse_self_critique_request
from guardgraph.state.self_critique import SelfCritiqueBudget, SelfCritiquePolicy

HINTS = ("avoid_absolute_guarantees", "max_length_increase_pct")
JSON = json_values(["policy_hints", "incident", "status", "eta_minutes", *HINTS], ["resolved", "P1", "45 minutes"])
NOTE = "Timing may change."
ASKED = [f'ADD "{NOTE}"']
CHECKED, UNCHECKED = SelfCritiquePolicy(), SelfCritiquePolicy(check_facts=False)


def drafted(text: Any, **limits: Any) -> Any:
    return outcome(guards.parse_draft, text, **{"context": CONTEXT, "max_chars": 900, "policy": CHECKED, **limits})


PATCH_LIMITS = {"draft": DRAFT, "context": CONTEXT, "required_changes": ASKED, "policy": CHECKED}
PATCH_LIMITS |= {"hinted_length_increase_pct": 20, "avoid_absolute_guarantees": True, "budget": SelfCritiqueBudget()}


def patch_stop(text: Any, **limits: Any) -> tuple[str, dict[str, Any]]:
    stop = stop_of(guards.check_revision_patch, text, **{**PATCH_LIMITS, **limits})
    json.dumps(stop.evidence)
    return stop.reason, stop.evidence


@each_row(
    ("text", "reason"),
    (" \n", "invalid_draft:empty"),
    (["text"], "invalid_draft:empty"),
    ("x" * 901, "invalid_draft:too_long"),
    ("About 31% of checkouts, P2, inc_other_1, EU.", "invalid_draft:no_new_facts"),
    ("P2 in inc_payments_20990101 in the EU.", "invalid_draft:new_incident_id"),
    ("A P2 incident in the EU.", "invalid_draft:new_severity_label"),
    ("An incident in the EU.", "invalid_draft:new_region"),
)
def test_a_draft_stops_with_its_reason(text: Any, reason: str) -> None:
    assert drafted(text)["stop"] == reason
    assert drafted(f" {DRAFT}") == {"value": DRAFT}


SUPPORT = SelfCritiquePolicy(
    label_patterns={"incident_id": [r"TICKET-[\d-]+"], "severity_label": [r"prio(?:rity)? ?(\d)"]},
    known_regions=["Nordics"],
)
"""The labels of a team that answers tickets."""


@each_row(
    ("text", "reason"),
    ("Your ticket TICKET-12 has Prio 2.", None),
    ("Your ticket ticket-12 has priority 2 in the EU, SEV1.", None),
    ("Your ticket TICKET-13 is open.", "invalid_draft:new_incident_id"),
    ("Your ticket has priority 1.", "invalid_draft:new_severity_label"),
    ("Your ticket from the Nordics is open.", "invalid_draft:new_region"),
    ("Your ticket from the Nor\u200bdics is open.", "invalid_draft:new_region"),
    ("Your ticket TICKET-1-2 is open.", "invalid_draft:new_incident_id"),
)
def test_labels_are_patterns_of_the_policy(text: str, reason: str | None) -> None:
    """What stands in a group is compared, else all, in any case; the patterns of the demo are then none."""
    context = {"ticket": "TICKET-12", "urgency": "priority 2", "level": "SEV1"}
    assert drafted(text, context=context, policy=SUPPORT).get("stop") == reason


@each_row(
    ("text", "limits", "reason"),
    (" ", {}, "invalid_revised:empty"),
    ("x" * 981, {}, "invalid_revised:too_long"),
    (DRAFT.replace(". ", ".\n\n"), {}, "invalid_revised:no_changes"),
    ("Recovery is guaranteed in 3 hours.", {}, "patch_violation:too_large_edit"),
    (DRAFT + " It is resolved in the EU." * 3, {}, "patch_violation:length_increase_limit"),
    (DRAFT + " 31%, EU, P2.", {}, "patch_violation:no_new_facts"),
    (DRAFT + " inc_other_9, EU, P2.", {}, "patch_violation:new_incident_id"),
    (DRAFT + " EU, P2.", {}, "patch_violation:new_severity_label"),
    (DRAFT + " EU. Resolved.", {}, "patch_violation:new_region"),
    (DRAFT + " It is resolved.", {}, "patch_violation:restricted_claims"),
    (DRAFT + " Thank you.", {}, "patch_violation:required_changes_not_applied"),
)
def test_a_patch_stops_in_the_contracts_order(text: Any, limits: dict[str, Any], reason: str) -> None:
    """Every text breaks the rule it is named for and some later ones; the first counts."""
    assert patch_stop(text, **limits)[0] == patch_stop(text, **limits, by_meaning=True)[0] == reason


def test_every_stop_of_a_patch_carries_what_was_measured() -> None:
    """Similarity, growth, facts, claims and changes are in the evidence."""
    assert patch_stop("We are sorry.")[1]["patch_similarity"] == 0.108
    assert patch_stop(DRAFT + " Thanks." * 6)[1]["length_increase_pct"] == 26.52
    assert patch_stop(DRAFT + " 31%.")[1] == {"unsupported": ["31%"]}
    assert patch_stop(DRAFT + " All is resolved.")[1] == {"claims": ["resolved"]}
    unapplied = patch_stop(DRAFT + " Thanks.", required_changes=[*ASKED, 'REMOVE "status page"'])[1]
    assert unapplied == {"unapplied": ["include Timing may change.", "remove status page"]}


def test_growth_is_held_against_the_smaller_limit() -> None:
    """Budget or hint, in per cent of the draft without superfluous blanks; the limit itself is allowed."""
    limits = {**PATCH_LIMITS, "draft": "a b  c d\n e", "required_changes": ['REMOVE "xyz"'], "policy": UNCHECKED}
    growth = 100 * 2 / 9

    def verdict(most: float, hint: float | None) -> Any:
        budget = SelfCritiqueBudget(max_length_increase_pct=most)
        given = {**limits, "budget": budget, "hinted_length_increase_pct": hint}
        return outcome(guards.check_revision_patch, "a b c d e f", **given)

    assert verdict(growth, None)["value"]["length_increase_pct"] == 22.22
    assert "value" in verdict(growth, 10**400)
    assert verdict(100.0, 22)["stop"] == "patch_violation:length_increase_limit"
    assert verdict(22.0, 100)["stop"] == "patch_violation:length_increase_limit"


SHORT = "Payments fail."


@each_row(
    ("changes", "revised", "reason"),
    (ASKED, f"{SHORT} {NOTE}", None),
    ([*ASKED, 'ADD "We will post updates"'], f"{SHORT} We will post updates. {NOTE}", None),
    (ASKED, f"{SHORT} {NOTE} {NOTE}", "patch_violation:length_increase_limit"),
    (ASKED, f"{SHORT} {NOTE}{'.' * 9}", "patch_violation:length_increase_limit"),
    (['ADD "Payments fail"'], f"{SHORT} Payments fail.", "patch_violation:length_increase_limit"),
    (ASKED, f"All is down. {NOTE}", "patch_violation:too_large_edit"),
)
def test_what_had_to_be_added_is_no_growth(changes: list[str], revised: str, reason: str | None) -> None:
    """One occurrence of each added phrase with its separator counts neither as growth nor as another text."""
    budget = SelfCritiqueBudget(min_patch_similarity=0.5)
    limits = {**PATCH_LIMITS, "draft": SHORT, "required_changes": changes, "budget": budget}
    verdict = outcome(guards.check_revision_patch, revised, **limits)
    assert verdict.get("stop") == reason
    if reason is None:
        grown = 100 * (len(revised) - len(SHORT)) / len(SHORT)
        assert verdict["value"]["length_increase_pct"] == round(grown, 2)
        assert verdict["value"]["patch_similarity"] == round(guards.measure_patch_similarity(SHORT, revised), 3)


def test_the_final_text_obeys_the_same_rule() -> None:
    """An approved draft cannot carry a restricted claim, unless something licenses it."""
    limits = {"context": {"incident": {"status": "open"}}, "max_chars": 980, "policy": CHECKED}
    limits["avoid_absolute_guarantees"] = True
    assert guards.check_final_draft(f" {DRAFT}", **limits) == DRAFT
    assert outcome(guards.check_final_draft, " ", **limits)["stop"] == "invalid_answer:empty"
    assert outcome(guards.check_final_draft, "x" * 981, **limits)["stop"] == "invalid_answer:too_long"
    claim = "Recovery is guaranteed."
    assert stop_of(guards.check_final_draft, claim, **limits).evidence == {"claims": ["guaranteed"]}
    over = {**limits, "context": {"incident": {"status": "Resolved"}}}
    assert outcome(guards.check_final_draft, claim, **over)["stop"] == "invalid_answer:restricted_claims"
    assert outcome(guards.check_final_draft, "It is resolved.", **limits)["stop"] == "invalid_answer:restricted_claims"
    assert outcome(guards.check_final_draft, "It is resolved.", **over) == {"value": "It is resolved."}


@given(JSON, st.one_of(JSON, st.just(CONTEXT)))
def test_any_text_is_judged_without_failing(text: Any, context: Any) -> None:
    """Any value as draft, revision or answer, against any context, passes or stops."""
    context = context if isinstance(context, dict) else {"value": context}
    assert set(drafted(text, context=context)) & {"value", "stop"}
    assert "stop" in outcome(guards.check_revision_patch, text, **{**PATCH_LIMITS, "context": context})
    limits = {"context": context, "max_chars": 98, "policy": CHECKED}
    for hard in (True, False):
        done = outcome(guards.check_final_draft, text, avoid_absolute_guarantees=hard, **limits)
        assert {*done} & {"value", "stop"}


WORDS = st.lists(st.sampled_from("abcd"), max_size=6)


@given(WORDS, WORDS)
def test_similarity_is_that_of_the_textbook(old: list[str], new: list[str]) -> None:
    """Twice the longest common subsequence of words, of all words there are."""
    some = {part for count in range(len(old) + 1) for part in combinations(old, count)}
    common = max(count for count in range(len(new) + 1) for part in combinations(new, count) if part in some)
    total = len(old) + len(new)
    assert guards.measure_patch_similarity(" ".join(old), " ".join(new)) == (2 * common / total if total else 1)


@each_row(
    ("hints", "field"),
    (None, ""),
    ([], ""),
    ({"avoid_absolute_guarantees": "yes"}, ".avoid_absolute_guarantees"),
    ({"max_length_increase_pct": True}, ".max_length_increase_pct"),
    ({"max_length_increase_pct": -1}, ".max_length_increase_pct"),
    ({"max_length_increase_pct": math.nan}, ".max_length_increase_pct"),
)
def test_hints_of_a_wrong_type_are_refused(hints: Any, field: str) -> None:
    """A hint that cannot be obeyed stops the run; it is never ignored."""
    stop = stop_of(parse_self_critique_request, "goal", {"policy_hints": hints})
    assert stop.reason == f"invalid_request:incident_context.policy_hints{field}"
    assert set(stop.evidence["details"]) == {"field", "given", "allowed"}
    stop = stop_of(parse_self_critique_request, "goal", {"eta_minutes": math.nan})
    assert stop.evidence["details"]["allowed"] == "plain JSON, without NaN and infinite numbers"
    stop = stop_of(parse_self_critique_request, "goal", {"policy_hints": {}, "note": " "})
    assert stop.evidence["details"]["allowed"] == "at least one fact about an incident"
    context = {"rows": [0], "policy_hints": {"max_length_increase_pct": 0}}
    assert parse_self_critique_request("goal", context)["max_length_increase_pct"] == 0


@given(JSON, JSON)
def test_any_request_is_read_or_refused(goal: Any, context: Any) -> None:
    verdict = outcome(parse_self_critique_request, goal, context)
    assert "value" in verdict or verdict["stop"].startswith("invalid_request:")
    assert outcome(parse_self_critique_request, "goal", "no object")["stop"] == "invalid_request:incident_context"

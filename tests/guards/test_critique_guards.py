"""What a critique must be, and what its changes demand."""

from typing import Any

import pytest
from guard_cases import json_values, outcome, reference_cases
from hypothesis import given
from hypothesis import strategies as st
from tables import each_row

from guardgraph.grounding.words import has_phrase
from guardgraph.guards.self_critique import critique as guards
from guardgraph.guards.self_critique.critique import Change
from guardgraph.guards.self_critique.editing import apply_required_changes
from guardgraph.guards.spending import check_budget_outcomes, check_severity_budget
from guardgraph.state.outcome import Outcome
from guardgraph.state.self_critique import RISK_TYPES, SelfCritiquePolicy

FIELDS = ("decision", "severity", "risks", "required_changes", "reason", "type", "note")
JSON = json_values(FIELDS, ["revise", "approve", "escalate", "high", 'ADD "the phrase"', "legal_risk"])


def read(raw: Any, **limits: Any) -> Any:
    held = {"policy": SelfCritiquePolicy(), "max_risks": 5, "max_required_changes": 5, **limits}
    return guards.parse_critique(raw, **held)


def test_every_recorded_critique_is_judged_as_recorded() -> None:
    """The reference implementation's verdicts hold, value by value and reason by reason."""
    cases = reference_cases("self_critique_critique")
    assert len(cases) == 232
    for case, expected in cases:
        lists = {name: case.pop(name) for name in ("allowed_decisions_policy", "allowed_risk_types_policy")}
        verdict = outcome(guards.parse_critique, **case, policy=SelfCritiquePolicy(**lists))
        verdict.pop("details", None)
        assert verdict == expected


SUPPORT = SelfCritiquePolicy(
    allowed_risk_types_policy=["tone", "promise"],
    high_risk_types=["promise"],
    markers={"SAY": "include", "NEVER_SAY": "remove"},
)
"""The words of a team that reviews replies to customers."""


@each_row(
    ("critique", "expected"),
    ({"required_changes": ['SAY "sorry"', 'please NEVER_SAY "your fault"'], "risks": ["tone"]}, None),
    ({"required_changes": ['ADD "sorry"']}, "invalid_critique:required_changes_not_enforceable"),
    ({"required_changes": ['SAYING "sorry"']}, "invalid_critique:required_changes_not_enforceable"),
    ({"required_changes": ['SAY "sorry"', 'NEVER_SAY "sorry"']}, "invalid_critique:required_changes_contradictory"),
    ({"required_changes": ['SAY "sorry"'], "risks": ["promise"]}, "invalid_critique:high_risk_requires_escalate"),
    ({"required_changes": ['SAY "sorry"'], "risks": ["scope_leak"]}, "critique_risk_not_allowed_policy:scope_leak"),
)
def test_risks_and_markers_are_words_of_the_policy(critique: Any, expected: str | None) -> None:
    risks = [{"type": kind, "note": "n"} for kind in critique.pop("risks", [])]
    raw = {"decision": "revise", **critique, "risks": risks}
    assert outcome(read, raw, policy=SUPPORT).get("stop") == expected
    assert not risks or outcome(read, raw, policy=SUPPORT, max_risks=0)["stop"] == "invalid_critique:too_many_risks"


@each_row(
    ("execution", "denied", "reason"),
    (["approve"], [], None),
    (["revise"], [], "critique_decision_denied_execution:approve"),
    (["approve"], ["approve"], "critique_decision_denied_listed:approve"),
)
def test_a_decision_is_on_the_execution_list(execution, denied, reason):
    assert outcome(guards.check_decision_execution, "approve", execution, denied=denied).get("stop") == reason


@each_row("markers", {}, {"": "include"}, {"SAY IT": "include"}, {"SAY": "say"})
def test_markers_that_cannot_be_read_are_refused(markers: Any) -> None:
    with pytest.raises(ValueError, match="markers"):
        SelfCritiquePolicy(markers=markers)


LIKELY = st.fixed_dictionaries(
    {"decision": st.sampled_from(["approve", "revise", "escalate"])},
    optional={
        "severity": st.sampled_from(["low", "High"]) | JSON,
        "risks": st.lists(st.fixed_dictionaries({"type": st.sampled_from(RISK_TYPES), "note": JSON}), max_size=3),
        "required_changes": st.lists(st.sampled_from(['ADD "abc"', "REMOVE 'it'"]) | JSON, max_size=6),
        "reason": st.text() | JSON,
    },
)


@given(JSON | LIKELY)
def test_any_value_is_a_critique_or_a_stop(raw: Any) -> None:
    """No JSON value makes the guard fail, and what it returns is read again as the same."""
    verdict = outcome(read, raw)
    if "stop" in verdict:
        assert verdict["stop"].startswith(("invalid_critique:", "critique_"))
    else:
        assert read(dict(verdict["value"])) == verdict["value"]


@each_row(
    ("change", "items"),
    (Change("include", "may change"), ['  add: "may change"', 'Please must_include "may change" soon']),
    (Change("remove", "x y"), ['ADD "x y" (MUST_REMOVE)']),
    (Change("include", "x y"), ['REMOVE, that is MUST_INCLUDE "x y"']),
    (Change("remove", "don't panic"), ['REMOVE "don\'t panic"']),
    (None, ["ADD 'it is' to the customers' text", 'ADD "' + "x" * 161 + '"', 'ADD " US "', "ADD “may change”"]),
    (None, ["ADD", "ADD \"it's: 'it is'"]),
    (Change("include", "it is"), ["ADD the customers' text: 'it is'"]),
    (Change("include", "x" * 160), ['ADD "' + "x" * 160 + '"']),
)
def test_a_change_is_enforceable_with_marker_and_one_phrase(change: Change | None, items: list[str]) -> None:
    """A marker and exactly one quoted phrase make a change; apostrophes inside words quote nothing."""
    assert [item for item in items if guards.parse_required_change(item) != change] == []


@each_row(
    ("text", "phrase", "present"),
    ("Timing MAY change, as we learn more.", "may change as we", True),
    ("It was unresolved.", "resolved", False),
    ("Don’t panic!", "don't panic", True),
    ("re\u00adsol\u200bved", "resolved", True),
    ("Überblick über STRASSE", "ÜBER straße", True),
    ("支付系统已恢复。", "系统", True),
    ("हिन्दी", "हिन", False),
)
def test_phrases_are_found_as_whole_words_in_any_script(text: str, phrase: str, present: bool) -> None:
    """Case, punctuation and invisible characters are set aside, parts of words are not found."""
    assert has_phrase(text, phrase) is present
    for kind, is_applied in (("include", present), ("remove", not present)):
        changes: Any = [Change(kind, phrase)]
        assert guards.find_unapplied_changes(changes, text) == ([] if is_applied else changes)


MENTION, SOFTEN = 'MUST_MENTION "refund timing"', 'MUST_SOFTEN "will be fixed"'


def unapplied(text, *items):
    return [str(change) for change in guards.find_unapplied_changes(guards.list_enforceable_changes(items), text)]


@each_row(
    ("item", "is_applied", "texts"),
    (MENTION, True, ["We will tell you about the timing of refunds.", "Refunds are timed by the bank."]),
    (MENTION, False, ["Refunds are made. The timing of updates changes.", "Payments are slow."]),
    (SOFTEN, False, ["The error will soon be fixed.", "We may know more tomorrow. The error will be fixed."]),
    (SOFTEN, False, ["The error will be fixed, and we hope that you are well."]),
    (SOFTEN, True, ["We expect that the error will be fixed.", "A fix is being tested."]),
    (SOFTEN, True, ["The error will be fixed, we hope.", "It will get fixed."]),
)
def test_a_sentence_mentions_by_stems_and_is_less_than_certain_of_a_phrase(item, is_applied, texts):
    """The content words stand in one sentence in any order; in this order, nearly, they need a hedge beside them."""
    said = "mention refund timing" if item == MENTION else "soften will be fixed"
    for text in texts:
        assert unapplied(text, item) == ([] if is_applied else [said]), text


@each_row(
    ("item", "text", "similarity", "is_applied"),
    (MENTION, "Money comes.", 0.8, True),
    (MENTION, "Money comes.", 0.79, False),
    (MENTION, "Refunds are timed by the bank.", 0.0, True),
    (SOFTEN, "It gets repaired.", 0.8, True),
    (SOFTEN, "It gets repaired.", 0.81, False),
    (SOFTEN, "It may get repaired.", 0.99, True),
    (SOFTEN, "It will be fixed.", 0.0, False),
)
def test_the_thresholds_are_exact(item, text, similarity, is_applied):
    """A mention is at least so similar, what is not hedged at most; stems count beside."""
    changes = guards.list_changes_by_stems([item])
    came = outcome(guards.check_measured_changes, changes, text, [[similarity]], least=0.8, most=0.8)
    assert came.get("stop") == (None if is_applied else "patch_violation:required_changes_not_applied")


@each_row("rows", None, [], [[0.5]], [[0.5, True]], [[0.5, 1.1]], [[0.5, "1"]])
def test_similarities_are_a_number_for_each_phrase_and_sentence(rows):
    """From -1 to 1; whatever else an embedding came to is its failure."""
    shown = guards.show_measured_changes(guards.list_changes_by_stems([MENTION, 'ADD "x y"']), "One. Two.")
    assert shown == {"phrases": ["refund timing"], "sentences": ["One.", "Two."]}
    for said, expected in ((rows, None), ([[0.5, -1]], ([[0.5, -1]], {}))):
        came = Outcome("value", {"similarities": said}, {}).packed()
        assert outcome(guards.read_similarities, came, shown).get("value") == expected


def test_the_editor_makes_these_changes_by_rule():
    """What no reviser did, the rule does: the phrase is added, and what is stated goes."""
    text = apply_required_changes("The error will be fixed today. Sorry.", [MENTION, SOFTEN])
    assert unapplied(text, MENTION, SOFTEN) == []
    assert apply_required_changes(text, [MENTION, SOFTEN]) == text


APPROVING = (
    *("**Decision: APPROVE**\nIt is fine.", "I approve this draft.", "LGTM, approve", "- approve", "1. approve"),
    *("> approve", "Decision - approve", "decision=approve", "(approve)", "approve, no changes needed"),
    "Nothing is missing.\nVerdict: approve",
)
DOUBTING = (
    *("Approve? No, escalate it.", "Approve: no.", "Approve: I can't.", "approve not", "Should we approve?"),
    *("I can not: approve", "Nicht: approve", "Not this:\napprove", "I would approve it", "approve: no way"),
    "I refuse to approve it",
)


def test_a_critique_may_be_a_text():
    """Its decision, its changes, the rest as the reason; what decides nothing or asks for no change is a person's."""
    said = guards.read_text_critique('Revise: it is bare.\n- ADD "x y".\nThanks', {"ADD": "include"})
    assert said == {"decision": "revise", "required_changes": ['ADD "x y"'], "reason": "it is bare Thanks"}
    for text in APPROVING:
        assert guards.read_text_critique(text, {})["decision"] == "approve", text
    for text in ("Revise it.", "I cannot approve this.", "Approve? Not yet.", *DOUBTING):
        assert guards.read_text_critique(text, {})["decision"] == "escalate", text
    assert guards.read_text_critique("Fine.", {}) == {"decision": "escalate", "reason": "Fine."}


@each_row(
    ("came", "reason"),
    (Outcome("value", {"before": 2}, {}), None),
    (Outcome("value", {"before": 3}, {}), "severity_budget"),
    (Outcome("value", [3], {}), "tenant_budget_unavailable"),
    (Outcome("failure", {"reason": "tool_error", "details": {}}, {}), "tenant_budget_unavailable"),
    (Outcome("failure", {"reason": "max_seconds", "details": {}}, {}), "max_seconds"),
)
def test_a_tenant_has_so_many_critiques_of_high_severity(came, reason):
    assert outcome(check_severity_budget, came, 3).get("stop") == reason


def test_a_call_for_which_a_budget_has_no_room_stops_a_run_and_another_failure_does_not():
    for reason, stop in (("max_tokens", "max_tokens"), ("tenant_budget:max_cost",) * 2, ("tool_error", None)):
        came = [Outcome("value", 1), Outcome("failure", {"reason": reason, "details": {"limit": 5}})]
        decided = outcome(check_budget_outcomes, came)
        assert (decided.get("stop"), decided.get("details")) == (stop, stop and {"limit": 5})

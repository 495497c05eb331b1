"""How the Self-critique agent judges requests and proposals: fields, lists, values and model texts, claims."""

from self_critique_cases import APPROVE, DRAFT, REVISE, failing, given, model_run, result_of, revise
from tables import each_row


def test_an_unknown_hint_is_no_fault_nor_is_a_context_of_any_shape():
    """No field is one that a context must have; one fact is enough."""
    hints = ({"tone": "calm"}, *({"required_sections": sections} for sections in ("all", [1], None)))
    contexts = ({"note": "x"}, {"rows": [[None, {"eta_minutes": 0}]]}, {"is_down": False})
    inputs = [given(**each) for each in hints] + [{"goal": "g", "incident_context": each} for each in contexts]
    assert {result_of("We are on it.", input=each)["status"] for each in inputs} == {"ok"}


@each_row(
    "context",
    {},
    {"incident": {}, "updates": [], "region": None, "note": " \n"},
    {"limits": {"max_chars": 900}, "incident": {"summary": "...", "log": [[None]]}},
)
def test_a_context_that_says_nothing_is_refused(context):
    """Empty, hints and limits alone, or blanks: there is nothing to write about, and nobody is asked."""
    result = result_of(drafter=failing, input={"goal": "g", "incident_context": context})
    assert result["stop_reason"] == "invalid_request:incident_context"
    assert result["details"]["allowed"] == "at least one fact about an incident"


@each_row(
    ("policy", "reason"),
    ({"allowed_decisions_policy": ["approve"]}, "critique_decision_not_allowed_policy:revise"),
    ({"allowed_decisions_policy": []}, "critique_decision_not_allowed_policy:revise"),
    ({"allowed_decisions_execution": ["approve"]}, "critique_decision_denied_execution:revise"),
    ({"allowed_decisions_execution": []}, "critique_decision_denied_execution:revise"),
)
def test_a_decision_must_be_on_both_lists(policy, reason):
    """They are those of the deployment; empty ones allow nothing."""
    result = result_of(DRAFT, REVISE, policy=policy)
    assert (result["stop_reason"], result["phase"]) == (reason, "critique")


def test_a_models_critique_is_judged_by_its_guard():
    """Its fields have the pattern's reasons, not llm_invalid_schema; JSON that is no object is the model's fault."""
    result = model_run({"draft": DRAFT}, {"verdict": "fine"})
    assert (result["stop_reason"], result["raw_critique"]) == ("invalid_critique:decision", {"verdict": "fine"})
    assert model_run({"draft": DRAFT}, "null")["stop_reason"] == "llm_invalid_json"


CLAIM = f"{DRAFT} It is resolved."
MILD = {"avoid_absolute_guarantees": False}


@each_row(
    ("draft", "critique", "revised", "hints", "reason"),
    (CLAIM, APPROVE, None, MILD, "invalid_answer:restricted_claims"),
    (f"{DRAFT} It is not yet resolved.", APPROVE, None, {}, "success"),
    (CLAIM, REVISE, f"{CLAIM} Timing may change.", {}, "patch_violation:restricted_claims"),
    (CLAIM, REVISE, f"{CLAIM} Timing may change.", MILD, "patch_violation:restricted_claims"),
    (DRAFT, revise('ADD "It is resolved"'), CLAIM, MILD, "patch_violation:restricted_claims"),
    (CLAIM, revise('REMOVE "It is resolved"'), DRAFT, {}, "success"),
)
def test_a_restricted_claim_goes_out_only_where_it_may(draft, critique, revised, hints, reason):
    assert result_of(draft, critique, [revised], input=given(**hints))["stop_reason"] == reason

"""The stop-reason catalogue: closed, typed, one entry for every reason that a run can give."""

import pytest
from tables import each_row

from guardgraph.grammar import Catalogue, StopReason, common_reasons

PHASES = ("plan", "write")
REASONS = Catalogue(
    "demo",
    PHASES,
    [
        *common_reasons(phases=PHASES, asking=PHASES, texts=["write"], spending=["write"]),
        StopReason("invalid_plan:<field>", "invalid_plan", ("plan",), "m", "a"),
        StopReason("invalid_plan:not_object", "invalid_plan", ("plan", "write"), "m", "a"),
    ],
)


@each_row(
    ("entry", "reasons"),
    ("llm_timeout", ["llm_timeout"]),
    ("invalid_plan:<field>", ["invalid_plan:steps", "invalid_plan: "]),
    ("invalid_plan:not_object", ["invalid_plan:not_object"]),
    ("guard_error:<guard>", ["guard_error:plan_guard"]),
    (None, ["invalid_plan:", "invalid_plan", "invalid_plans:x", "llm_timeout:x", "LLM_TIMEOUT", "success", ""]),
)
def test_a_reason_belongs_to_one_entry_or_to_none(entry, reasons):
    """An exact entry wins over a placeholder; a placeholder stands for some text, never for none."""
    found = map(REASONS.find, reasons)
    assert {each.reason if each is not None else None for each in found} == {entry}


def test_a_catalogue_tells_its_families_phases_and_size():
    """Families come in the order of their first reason; it can be gone through, and says what to do of each."""
    for item in common_reasons(phases=PHASES, asking=PHASES, texts=PHASES):
        assert item.meaning.endswith(".")
        assert item.advice.endswith(".")
        assert item.defensive == (item.reason == "result_differs:<key>")
    assert REASONS.families == ("invalid_request", "budget", "guard_error", "audit_unavailable", "llm", "invalid_plan")
    assert [item.reason for item in REASONS][:3] == ["invalid_request:<field>", "max_seconds", "max_visits"]
    assert repr(REASONS) == f"<Catalogue demo: {len(REASONS.reasons)} reasons>"


def test_common_reasons_stand_in_the_phases_where_they_can_happen():
    """A model fails where one is asked, a text is judged where one is written, time ends where it is spent."""
    phases = {item.reason: item.phases for item in REASONS}
    assert phases["invalid_request:<field>"] == ("plan",)
    assert phases["max_seconds"] == ("write",)
    assert phases["guard_error:<guard>"] == phases["llm_auth"] == PHASES
    assert phases["llm_empty"] == phases["llm_invalid_schema"] == ("write",)
    alone = {item.reason for item in common_reasons(phases=PHASES)}
    ends = {"invalid_request:<field>", "max_seconds", "max_visits", "guard_error:<guard>", "audit_unavailable"}
    limits = {"max_llm_calls", "max_tool_calls", "max_tokens", "max_cost"}
    switched = {"switched_off", "policy_unreadable", "result_differs:<key>"}
    assert alone == ends | limits | switched | {"tenant_budget:<limit>", "tenant_budget_unavailable"}
    assert phases["audit_unavailable"] == phases["max_visits"] == PHASES
    assert common_reasons(phases=PHASES)[1].phases == PHASES


@each_row(
    ("reasons", "message"),
    ([StopReason("a", "f", ("plan",), "m", "a")] * 2, "demo: a stop reason stands twice in the catalogue"),
    ([StopReason("a", "f", ("read",), "m", "a")], r"demo: a names a phase outside \('plan', 'write'\)"),
    ([StopReason("a", "f", (), "m", "a")], "demo: a names a phase outside"),
)
def test_a_catalogue_is_consistent(reasons, message):
    """A reason that stands twice, or in no phase of the pattern, is an error."""
    with pytest.raises(ValueError, match=message):
        Catalogue("demo", PHASES, reasons)

"""Settings: strict when they are read, and never looser after a context than before."""

import math
from dataclasses import replace

import pytest
from pydantic import ValidationError
from recorded_runs import Kept
from tables import each_row
from ticket_pattern import TICKET, Policy, pattern, triage

from guardgraph import RagBudget, ToolPolicy
from guardgraph.grammar import Allowlist, Budget, Check, MaxFloat, MaxInt, MinFloat, Settings, Vocabulary
from guardgraph.plain.errors import make_configuration_error


class Limits(Settings):
    """One field of every kind."""

    most: MaxInt = 5
    longest: MaxFloat = 5.0
    least: MinFloat = 5.0
    allowed: Allowlist = ("a", "b", "c")
    watched: Vocabulary = ("x",)
    checked: Check = False


WRONG = {
    "most": ("5", 5.0, True, -1, None, 2**63),
    "longest": ("5", math.inf),
    "allowed": ("abc", {"a"}, ["a", 1]),
    "watched": ([None],),
    "checked": (1,),
    "unknown": (1,),
}


@each_row(("field", "value"), *[(field, value) for field, values in WRONG.items() for value in values])
def test_settings_take_no_other_types(field, value):
    """Nothing is coerced: a wrong type or an unknown field is an error, never a default."""
    with pytest.raises(ValidationError):
        Limits(**{field: value})


def test_a_misspelt_setting_is_told_with_those_that_there_are():
    """The nearest first, also of a tool's rule; what else is wrong is told beside it."""
    with pytest.raises(ValidationError, match=r"rules\.a\.efect\n  no such setting; allowed: effect, sends, "):
        ToolPolicy(rules={"a": {"efect": "read"}})
    with pytest.raises(ValidationError) as raised:
        RagBudget(max_second=1, max_seconds="x")
    found = [(item["loc"], item["type"]) for item in raised.value.errors()]
    assert found == [(("max_seconds",), "float_type"), (("max_second",), "extra_forbidden")]


def test_settings_are_frozen_and_lists_hold_each_name_once():
    """What a deployment fixed stays; a name given twice counts once."""
    limits = Limits(allowed=["b", "a", "b"])
    assert limits.allowed == ("b", "a")
    with pytest.raises(ValidationError, match="frozen"):
        limits.most = 9


def test_a_configuration_error_has_a_line_for_every_field():
    """The message names each field, what is allowed and what was given; long values are cut."""
    with pytest.raises(ValidationError) as raised:
        Limits(most="x" * 500, allowed="a", wrong=1)
    lines = str(make_configuration_error("policy", raised.value)).splitlines()
    assert [line.partition(":")[0] for line in lines] == ["policy.most", "policy.allowed", "policy.wrong"]
    assert lines[1] == "policy.allowed: a list of strings is required; given: 'a'"
    assert lines[2] == "policy.wrong: no such setting; given: 1"
    assert max(map(len, lines)) < 200


def fingerprints(graph_of, **given):
    kept = Kept()
    graph_of(recorder=kept, **given).invoke(TICKET)
    return kept.only["fingerprints"]


def changed(before, after):
    return {name for name in before if before[name] != after[name]}


def test_fingerprints_are_the_same_for_any_order_and_change_with_what_they_stand_for():
    """Order of lists that are sets counts for nothing; policy, budget and declarations have one each."""
    usual = fingerprints(triage)
    assert fingerprints(triage) == usual
    assert fingerprints(triage, policy=Policy(labels=("spam", "bug", "billing"))) == usual
    assert changed(usual, fingerprints(triage, policy=Policy(labels=("spam", "bug")))) == {"policy"}
    assert changed(usual, fingerprints(triage, budget=Budget(max_seconds=61.0))) == {"budget"}

    def wider(**given):
        p = pattern()
        p.declarations["spam"] = replace(p.declarations["spam"], phase="lookup")
        return p.compile(name="triage", **given)

    assert changed(usual, fingerprints(wider)) == {"declarations"}

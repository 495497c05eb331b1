"""Changes that are required by the stems of a phrase: what a text must mention, and what it must soften."""

from __future__ import annotations

from self_critique_cases import DRAFT, GIVEN, REVISE, agent, checked

from guardgraph.guards.self_critique.critique import find_unapplied_changes, list_enforceable_changes
from guardgraph.guards.self_critique.editing import apply_required_changes

MENTION, SOFTEN = 'MUST_MENTION "refund timing"', 'MUST_SOFTEN "will be fixed"'


def unapplied(text, *items):
    """Return the changes that a text does not obey, as strings."""
    return [str(change) for change in find_unapplied_changes(list_enforceable_changes(items), text)]


def test_the_editor_makes_these_changes_by_rule():
    """What no reviser did, the rule does: the phrase is added, and what is stated goes."""
    text = apply_required_changes("The error will be fixed today. Sorry.", [MENTION, SOFTEN])
    assert unapplied(text, MENTION, SOFTEN) == []
    assert apply_required_changes(text, [MENTION, SOFTEN]) == text


def test_a_run_makes_a_revision_mention_what_is_required():
    """A revision that does not mention it is asked for again; one that does, in its own words, is accepted."""
    required = 'MUST_MENTION "next update"'
    critique = {**REVISE, "required_changes": [required]}
    silent, said = f"{DRAFT} Thank you.", f"{DRAFT} Updates come next."
    result = checked(agent(DRAFT, critique, (silent, said)).invoke(GIVEN))
    assert (result["status"], result["answer"]) == ("ok", said)
    assert result["trace"][2]["attempts_used"] == 2

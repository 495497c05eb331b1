"""Sentences that a critic asks for: to be mentioned in whatever form, or to be less than certain."""

from __future__ import annotations

from tables import each_row

from guardgraph.guards.self_critique.critique import find_unapplied_changes, list_enforceable_changes
from guardgraph.guards.self_critique.editing import apply_required_changes

MENTION, SOFTEN = 'MUST_MENTION "refund timing"', 'MUST_SOFTEN "will be fixed"'


def unapplied(text, *items):
    """Return the changes that a text does not obey, as strings."""
    return [str(change) for change in find_unapplied_changes(list_enforceable_changes(items), text)]


@each_row(
    ("text", "is_mentioned"),
    [
        ("We will tell you about the timing of refunds.", True),
        ("Refunds are timed by the bank.", True),
        ("Refund timing: two days.", True),
        ("Refunds are made. The timing of updates changes.", False),
        ("Payments are slow.", False),
    ],
)
def test_a_sentence_has_to_have_the_words_in_whatever_form(text, is_mentioned):
    """The content words of the phrase stand in one sentence, by their stems and in any order."""
    assert unapplied(text, MENTION) == ([] if is_mentioned else ["mention refund timing"])


@each_row(
    ("text", "is_soft"),
    [
        ("The error will be fixed today.", False),
        ("The error will soon be fixed.", False),
        ("We expect that the error will be fixed.", True),
        ("The error will likely be fixed. We work on it.", True),
        ("We may know more tomorrow. The error will be fixed.", False),
        ("A fix is being tested.", True),
    ],
)
def test_a_sentence_that_states_the_phrase_has_to_be_less_than_certain(text, is_soft):
    """The words in order, with two others between at most, need a hedge in the same sentence."""
    assert unapplied(text, SOFTEN) == ([] if is_soft else ["soften will be fixed"])


def test_the_editor_makes_these_changes_by_rule():
    """What no reviser did, the rule does: the phrase is added, and what is stated goes."""
    text = apply_required_changes("The error will be fixed today. Sorry.", [MENTION, SOFTEN])
    assert unapplied(text, MENTION, SOFTEN) == []
    assert apply_required_changes(text, [MENTION, SOFTEN]) == text

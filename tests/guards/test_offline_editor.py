"""The editor that makes required changes without a model."""

from hypothesis import given
from hypothesis import strategies as st
from tables import each_row

from guardgraph.grounding.words import has_phrase
from guardgraph.guards.self_critique.critique import find_unapplied_changes, list_enforceable_changes
from guardgraph.guards.self_critique.editing import apply_required_changes

TEXT = "- We are working on it, with an estimate of 45 minutes. Please retry (later).\n\n- Status page\n- Next: wait"


@each_row(
    ("changes", "old", "new"),
    (['REMOVE "with an estimate of 45 minutes"'], ", with an estimate of 45 minutes", ""),
    (["REMOVE 'later'"], " (later)", ""),
    (['REMOVE "next: wait"'], "\n- Next: wait", ""),
    (['REMOVE "retry later status page next wait"', 'REMOVE "please"'], TEXT[55:], ""),
    (['ADD "we wait"', 'ADD "Thanks!"'], "wait", "wait. we wait. Thanks!"),
    (['ADD "status page"'], "", ""),
    (['ADD "a b c"', 'REMOVE "b"'], "", ""),
    (['ADD "a bcd e"', 'REMOVE "bcd"'], "", ""),
    (["soften the tone"], "", ""),
)
def test_the_editor_makes_the_changes_and_nothing_else(changes: list[str], old: str, new: str) -> None:
    """Phrases go with the punctuation they leave behind, missing ones are appended in their own spelling."""
    expected = TEXT.replace(old, new, 1) if changes != ['ADD "a b c"', 'REMOVE "b"'] else f"{TEXT}. a b c."
    assert apply_required_changes(TEXT, changes) == expected
    assert apply_required_changes(expected, changes) == expected


PHRASES = st.lists(st.sampled_from(["ab", "cd", "3.4", "4", "don't", "支付", "fin"]), min_size=2, max_size=3)
CHANGES = st.lists(
    st.tuples(st.sampled_from(["ADD", "REMOVE"]), PHRASES).map(lambda change: f'{change[0]} "{" ".join(change[1])}"'),
    max_size=4,
)
MARKS = [".", ", ", " ", "\n", "(", ")", "'", '"', "_", "- ", "\u0301"]
PIECES = st.lists(st.sampled_from(["ab", "cd", "3.4", "4", "don't", "支付", "fin", *MARKS])).map("".join)


@given(PIECES | st.text(), CHANGES)
def test_the_editors_text_obeys_and_stays(text: str, changes: list[str]) -> None:
    """What does not contradict itself is obeyed; a second pass changes nothing; words are only removed or added."""
    edited = apply_required_changes(text, changes)
    assert apply_required_changes(edited, changes) == edited
    required = list_enforceable_changes(changes)
    removed = [change for change in required if change.kind == "remove"]
    consistent = [
        change
        for change in required
        if change in removed or not any(has_phrase(change.phrase, other.phrase) for other in removed)
    ]
    assert find_unapplied_changes(consistent, edited) == []
    if not required:
        assert edited == text

"""What an audit says of a run."""

from guardgraph.grounding.words import hash_normalised_text
from guardgraph.nodes.self_critique import audit_draft_change, list_changed_sentences


def test_an_audit_says_what_changed() -> None:
    record = audit_draft_change("One. Two.", " One. Three. ", risks_count=1, required_changes_count=2)
    hashes = {"before_hash": hash_normalised_text("One. Two."), "after_hash": hash_normalised_text("One. Three.")}
    sizes = {"before_chars": 9, "after_chars": 11, "delta_chars": 2, "length_increase_pct": 22.22}
    counts = {"risks_count": 1, "required_changes_count": 2}
    assert record == {"changed": True, **hashes, **sizes, **counts, "diff_excerpt": ["- Two.", "+ Three."]}
    same = audit_draft_change("One.\nTwo", "One. Two", risks_count=0, required_changes_count=0)
    assert (same["changed"], same["diff_excerpt"], same["length_increase_pct"]) == (False, [], 0.0)
    assert audit_draft_change("", "x", risks_count=0, required_changes_count=0)["length_increase_pct"] == 0.0


def test_an_excerpt_shows_both_sides_in_six_lines() -> None:
    """Neither side crowds the other out, and a new order of the same sentences is shown too."""
    old = " ".join(f"Old {place}." for place in range(9))
    new = " ".join(f"New {place}." for place in range(9))
    shown = list_changed_sentences(old, new)
    assert [line[:5] for line in shown] == ["- Old"] * 3 + ["+ New"] * 3
    assert list_changed_sentences(old, f"{old} New.") == ["+ New."]
    assert len(list_changed_sentences(old, "")) == 6
    assert list_changed_sentences("A. B.", "B. A.") == ["- A. B.", "+ B. A."]
    assert list_changed_sentences("A. A. A. B.", "A. B.") == ["- A.", "- A."]

"""What a run changed, for the record."""

from __future__ import annotations

from collections import Counter

from guardgraph.guards.self_critique.revision import length_increase_pct
from guardgraph.languages.sentences import sentences
from guardgraph.languages.wording import normalised, text_hash
from guardgraph.state.self_critique import ChangeAudit

__all__ = ["EXCERPT_LINES", "audit", "diff_excerpt"]

EXCERPT_LINES = 6
"""How many changed sentences an audit shows."""


def audit(before: str, after: str, *, risks_count: int, required_changes_count: int) -> ChangeAudit:
    """Compare a draft with the final text.

    Args:
        before: the draft.
        after: the final text.
        risks_count: how many risks the critique named.
        required_changes_count: how many changes it required.
    """
    before_hash, after_hash = text_hash(before), text_hash(after)
    before_chars, after_chars = len(before.strip()), len(after.strip())
    return ChangeAudit(
        changed=before_hash != after_hash,
        before_hash=before_hash,
        after_hash=after_hash,
        before_chars=before_chars,
        after_chars=after_chars,
        delta_chars=after_chars - before_chars,
        length_increase_pct=round(length_increase_pct(before_chars, after_chars), 2),
        risks_count=risks_count,
        required_changes_count=required_changes_count,
        diff_excerpt=diff_excerpt(before, after),
    )


def diff_excerpt(before: str, after: str) -> list[str]:
    """Return the first sentences that only one of two texts has, white space normalised.

    Returns:
        At most `EXCERPT_LINES` lines: ``"- …"`` for what went, then ``"+ …"`` for what came; none for equal
        texts. Texts with the same sentences, otherwise arranged, are shown whole.
    """
    if normalised(before) == normalised(after):
        return []
    old, new = _normalised_sentences(before), _normalised_sentences(after)
    gone, come = _without(old, new), _without(new, old)
    if not gone and not come:
        gone, come = [normalised(before)], [normalised(after)]
    room = max(EXCERPT_LINES - len(come), EXCERPT_LINES // 2)
    return [*(f"- {line}" for line in gone[:room]), *(f"+ {line}" for line in come)][:EXCERPT_LINES]


def _normalised_sentences(text: str) -> list[str]:
    return [normalised(sentence) for sentence in sentences(text)]


def _without(lines: list[str], others: list[str]) -> list[str]:
    left = Counter(others)
    left.subtract(lines)
    only = []
    for line in reversed(lines):
        if left[line] < 0:
            left[line] += 1
            only.append(line)
    return only[::-1]

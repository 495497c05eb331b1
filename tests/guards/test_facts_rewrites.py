"""What says the same otherwise is supported, and what says another thing is not: generated sentences of each class."""

from __future__ import annotations

from random import Random

import pytest
from changed_sentences import is_supported
from rewrites import KINDS, Kind

SENTENCES = 200
WRONG_AT_MOST = 0.02


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_what_says_the_same_is_supported(kind: Kind) -> None:
    """A sentence supports its rewrites that keep the meaning."""
    random, wrong = Random(kind.name), []
    for _ in range(SENTENCES):
        rewrite = kind.generated(random)
        claim = random.choice(rewrite.same) if rewrite.same else rewrite.source
        if not is_supported(kind.rule, claim, rewrite.source):
            wrong.append((rewrite.source, claim))
    assert len(wrong) <= WRONG_AT_MOST * SENTENCES, wrong[:5]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_what_says_another_thing_is_not_supported(kind: Kind) -> None:
    """A sentence does not support its rewrites that change the meaning."""
    random, wrong = Random(kind.name), []
    for _ in range(SENTENCES):
        rewrite = kind.generated(random)
        claim = random.choice(rewrite.other) if rewrite.other else ""
        if claim and is_supported(kind.rule, claim, rewrite.source):
            wrong.append((rewrite.source, claim))
    assert len(wrong) <= WRONG_AT_MOST * SENTENCES, wrong[:5]

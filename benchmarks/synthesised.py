"""Chunks of any number made of the texts of a collection: real words, about as often as in the texts."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator

__all__ = ["chunks"]

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_NAMES = 6
"""Words of a chunk that few others have: codes, the more different ones the larger the base, as in any language."""


def chunks(texts: Iterable[str], number: int, seed: int = 1) -> Iterator[str]:
    """Yield chunks: sentences of one text, some of any, and some codes; the same for the same seed."""
    split = [_SENTENCE_END.split(text) for text in texts if text.strip()]
    every = [sentence for sentences in split for sentence in sentences]
    chance = random.Random(seed)
    for _ in range(number):
        own = chance.choice(split)
        of_it = chance.sample(own, (len(own) + 1) // 2)
        others = chance.choices(every, k=chance.randint(1, 5))
        codes = (f"q{int((2 * number) ** chance.random()):x}" for _ in range(_NAMES))
        yield " ".join((*of_it, *others, *codes))

"""Which English stems are of one word: a noun often has another stem than the verb that it is made of."""

from __future__ import annotations

from typing import Final

__all__ = ["of_verb"]

_LEAST_BEFORE: Final = 3
"""Letters before an ending: *sense* and *send*, *version* and *mission* are no derivations."""

_ENDINGS: Final = (
    ("ation", "at"),
    ("iss", "it"),
    ("ript", "rib"),
    ("olut", "olv"),
    ("umpt", "um"),
    ("orpt", "orb"),
    ("uct", "uc"),
    ("ifi", "if"),
    ("ns", "nd"),
    ("as", "ad"),
    ("is", "id"),
    ("os", "od"),
    ("us", "ud"),
)
"""Endings of stems, and the endings of the verb's stem that they are read as.

English has its nouns and adjectives in -ion and -ive from Latin participles, whose consonant differs from that of the
verb (Marchand, The Categories and Types of Present-Day English Word-Formation, 1969, 4.45): create and creation, permit
and permission, describe and description, resolve and resolution, consume and consumption, absorb and absorption, reduce
and reduction, notify and notification, respond and response, persuade, decide, explode, conclude. A stem that is none
of a participle, such as that of *status*, becomes no other word's, so it still stands for its own word alone.
"""


def of_verb(stem: str) -> str:
    """Return the stem of the verb that an English stem may be derived from, or the stem itself.

    Args:
        stem: as Snowball's English stemmer has it, such as ``"respons"``.
    """
    for ending, verb in _ENDINGS:
        if stem.endswith(ending) and len(stem) >= _LEAST_BEFORE + len(ending):
            return stem.removesuffix(ending) + verb
    return stem

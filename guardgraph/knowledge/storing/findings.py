"""What is wrong in a file, in words."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

MOST: Final = 100
"""Findings of a kind that are kept; one says enough, and a file that is all wrong has one for each row."""

BaseFindingKind: TypeAlias = Literal[
    "file", "version", "reference", "row", "vectors", "places", "postings", "counts", "statistics"
]
"""What is wrong: the file itself; the version that read its words; rows that do not belong together; a row that is not
what was put in; its vector; where chunks are in their blocks, and how long they are; which chunks have a term; what is
counted of a term; what is counted of all words."""


@dataclass(frozen=True, slots=True)
class BaseFinding:
    """Something in a knowledge base that is not as it was written."""

    kind: BaseFindingKind
    place: str
    """The table, and what in it: an id, or a number."""
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"


@dataclass(frozen=True, slots=True)
class Doubtful:
    """A document that is not as it was put in, or a chunk of which no document is there."""

    tenant: str | None
    id: str

    def __str__(self) -> str:
        return f"{self.id} of {self.tenant}" if self.tenant else self.id


class Findings(list[BaseFinding]):
    """Keeps the first findings of each kind."""

    def __init__(self) -> None:
        super().__init__()
        self._counts = Counter[BaseFindingKind]()

    def note(self, kind: BaseFindingKind, place: str, message: str) -> None:
        """Note what is wrong."""
        self._counts[kind] += 1
        if self._counts[kind] <= MOST:
            self.append(BaseFinding(kind, place, message))

"""What is computed of postings, and by what: numpy where there is much of it and numpy is installed, else Python alone.

Both do the same operations on the same numbers in the same order, so what they return is the same to the last digit.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from functools import cache
from math import inf
from typing import Any, Final, NamedTuple, Protocol

NUMPY_FROM: Final = 4096
"""Places. With fewer, Python alone takes less time than it takes to load numpy."""

_LOADED_FROM: Final = 256
"""Places, where numpy is loaded anyhow. With fewer, Python alone takes no longer."""


class PostingRow(NamedTuple):
    """What a block has of a term."""

    block: int
    """Its place among those that are searched."""
    size: int
    """How many of its chunks have the term."""
    data: bytes
    """Their postings."""


class Column(Protocol):
    """What some blocks have of a term, as it is computed with."""

    @property
    def size(self) -> int:
        """How many chunks have the term."""

    @property
    def bytes_taken(self) -> int:
        """Of memory."""


class Held(NamedTuple):
    """A term, and what some blocks have of it."""

    weight: float
    bound: float
    """More than that no chunk covers of it."""
    column: Any
    """A `Column`, as the arithmetic has it."""


class FoundPostings(NamedTuple):
    """What a chunk covers of all terms, summed in their order."""

    block: int
    """Its place among those that are searched."""
    place: int
    covered: float


class Sums(Protocol):
    """What each chunk of some blocks covers of the terms that were added."""

    def add(self, terms: Sequence[Held]) -> None:
        """Add what all chunks cover of some terms; where these are all, and in order, nothing is summed again."""

    def highest(self, wanted: int) -> list[FoundPostings]:
        """Return chunks that cover as much as any, about as many as wanted."""

    def reaching(self, least: float, rest: Sequence[Held]) -> list[FoundPostings]:
        """Return the chunks that cover so much of all terms; of those that cover nothing, none.

        Args:
            least: what is sought.
            rest: the terms that were not added, those with the largest bounds first.
        """


class Arithmetic(Protocol):
    """What computes."""

    few: int
    """Postings. It takes no longer to add up so many than to find out which of them need not be."""

    def words(self, lengths: Iterable[bytes]) -> int:
        """Return how many words chunks have together.

        Args:
            lengths: of the chunks of blocks.
        """

    def damped(self, blocks: Iterable[Sequence[bytes]], average: float) -> Any:
        """Return by what counts are damped at each place; where nobody is, so much that nothing of a count is left.

        Args:
            blocks: of each the lengths of its chunks, once for each part that has some.
            average: words of a passage.
        """

    def column(self, damped: Any, rows: Sequence[PostingRow]) -> Column:
        """Return what blocks have of a term, as it is computed with.

        Args:
            damped: of all blocks.
            rows: in the order of the blocks; one block may have several, none of which has a chunk of another one.

        Raises:
            ValueError: nobody wrote them so.
        """

    def sums(self, damped: Any, terms: Sequence[Held]) -> Sums:
        """Return nothing for each chunk, to which terms are added, some of all."""


def choose_posting_arithmetic(places: int, numpy_from: float = NUMPY_FROM) -> Arithmetic:
    """Return what computes with so many places.

    Args:
        places: of the chunks that are searched.
        numpy_from: with so many, numpy does, where it is installed; where it is loaded, with fewer, too.
    """
    enough = min(numpy_from, _LOADED_FROM) if "numpy" in sys.modules and numpy_from < inf else numpy_from
    return _make_numpy_arithmetic() if places >= enough else _make_plain_arithmetic()


@cache
def _make_numpy_arithmetic() -> Arithmetic:
    try:
        from guardgraph.knowledge.index.by_numpy import ByNumpy
    except ImportError:  # the extra `kb` is not installed
        return _make_plain_arithmetic()
    return ByNumpy()


@cache
def _make_plain_arithmetic() -> Arithmetic:
    from guardgraph.knowledge.index.plain import Plain

    return Plain()

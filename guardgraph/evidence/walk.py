"""The walk along a chain: where it first breaks, and what was done there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from guardgraph.evidence.chain import START, Entry

FindingKind: TypeAlias = Literal[
    "changed", "removed", "inserted", "moved", "cut", "content", "missing", "unexplained", "lookup"
]
"""What is wrong: with an entry (the first five), with a content, or with what runs are found by."""


@dataclass(frozen=True, slots=True)
class ChainFinding:
    """Something in a store that is not as it was written."""

    kind: FindingKind
    seq: int
    """The number of the entry that it is about."""
    text: str
    """What is wrong, in words."""

    def __str__(self) -> str:
        return f"entry {self.seq}: {self.text}"


@dataclass(frozen=True, slots=True)
class _Step:
    seq: int
    said: Entry
    before: str
    """The hash of the entry before."""
    above: str
    """The hash of the entry before that one."""
    hash: str


class Walk:
    """Goes along a chain, entry by entry, in order of the numbers under which they are kept."""

    def __init__(self) -> None:
        self.last = 0
        """The number of the last entry."""
        self.hash = START
        """The hash of the last entry."""
        self._above = START
        self._broken: ChainFinding | None = None
        self._doubt: _Step | None = None

    def follow_chain_entry(self, seq: int, hash: Any, said: Entry | None) -> None:
        """Go on to the next entry.

        Args:
            seq: the number under which it is kept.
            hash: the hash that is kept with it.
            said: what it says; None where it is not what its hash says.
        """
        if self._broken is None:
            if self._doubt is not None:
                self._broken, self._doubt = _explain_chain_break(self._doubt, said), None
            elif seq <= self.last:
                self._broken = ChainFinding("moved", seq, "it stands under a number that no entry has")
            elif seq != self.last + 1:
                self._broken = ChainFinding("removed", self.last + 1, "it was removed")
            elif said is None:
                self._broken = ChainFinding("changed", seq, "it was changed")
            elif (said["seq"], said["previous"]) != (seq, self.hash):
                self._doubt = _Step(seq, said, self.hash, self._above, hash)
        self.last, self.hash, self._above = seq, hash, self.hash

    def find_chain_break(self) -> ChainFinding | None:
        """Return where the chain first breaks, None where it is whole."""
        return self._broken or (None if self._doubt is None else _explain_chain_break(self._doubt, None))


def _explain_chain_break(step: _Step, following: Entry | None) -> ChainFinding:
    """Say what was done where an entry, which is what its hash says, does not follow the one before.

    Args:
        step: the entry.
        following: what the entry behind it says, None where nobody knows.
    """
    said, seq = step.said, step.seq
    if said["seq"] == seq - 1 and said["previous"] == step.above:
        return ChainFinding("inserted", seq - 1, "it was inserted")
    if said["seq"] != seq:
        if said["seq"] == seq + 1 and (following is None or following["seq"] == seq + 2):
            return ChainFinding("removed", seq, "it was removed")
        return ChainFinding("moved", seq, "another one stands in its place")
    is_followed = following is not None and following["previous"] == step.hash
    if seq > 1 and (is_followed or following is None):  # whoever changed an entry cannot make the next one fit
        return ChainFinding("changed", seq - 1, "it was changed, and hashed anew")
    return ChainFinding("changed", seq, "it was changed, and hashed anew")

"""What a run knows of the notes of its request: those that it read from its recorder, by the write that they are of.

Each write asks what was noted. A recorder that keeps notes in a chain is asked for those alone that came since: nothing
is written into the middle of a chain, so what stood before an entry was there when somebody read behind it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from guardgraph.plain.json import JsonObject
from guardgraph.state.recording import RunNote

_PLACE = ("node", "visit", "number")


class KnownNotes:
    """The notes that were read in one session."""

    def __init__(self) -> None:
        self.read_to = 0
        """The number of an entry up to which all notes were read; 0 where nobody knows."""
        self._written_to = 0
        self._by_write: defaultdict[tuple[object, ...], list[RunNote]] = defaultdict(list)

    def take_receipt(self, given: object) -> None:
        """Keep how far a chain is written, where a recorder returned the number of an entry."""
        if isinstance(given, Mapping) and type(seq := given.get("seq")) is int:
            self._written_to = seq

    def add_notes(self, later: Iterable[RunNote]) -> None:
        """Add what was read behind `read_to`."""
        for note in later:
            self._by_write[tuple(map(note["content"].get, _PLACE))].append(note)
        self.read_to = self._written_to

    def list_notes(self, at: JsonObject) -> list[RunNote]:
        """Return the notes of one write, or of all writes of a visit.

        Args:
            at: its place: node and visit, and a number where one is meant.
        """
        place = tuple(map(at.get, _PLACE))
        if "number" in at:
            return self._by_write.get(place, [])
        return [note for other, notes in self._by_write.items() if other[:2] == place[:2] for note in notes]

"""Following: where a run that is decided again stands in the recorded one."""

from __future__ import annotations

from guardgraph.graphs.declaration import Declaration
from guardgraph.plain.errors import NotRecorded
from guardgraph.state.recording import Opening, RecordedVisit, Recording
from guardgraph.world.spell import Spell, spells

__all__ = ["RecordedVisits"]

MOST_VISITS = 1000
"""Visits of one guard that a replay follows where the recorded run has none."""


class RecordedVisits:
    """The visits of a recorded run, found by node.

    A guard or a terminal calls nobody, so it may be visited where the recorded run went elsewhere: under another
    policy a run stops where it did not, and another terminal names the ending.
    """

    def __init__(self, recording: Recording) -> None:
        self._visits = recording["visits"]
        self._spells = list(spells(recording))
        self._places: dict[tuple[str, int], int] = {}
        self._sessions: list[int] = []
        self._openings: list[Opening] = []
        seen: dict[str, int] = {}
        for at, visit in enumerate(self._visits):
            node = visit["node"]
            seen[node] = number = seen.get(node, 0) + 1
            self._places[node, number] = at
            if "opening" in visit:
                self._openings.append(visit["opening"])
            self._sessions.append(len(self._openings))
        self._made: dict[str, int] = {}
        self._at = -1
        self._session = 0

    def follow(self, item: Declaration) -> tuple[RecordedVisit, Spell]:
        """Return the recorded visit that a node's next one is, and its time; `opening` is in it where a session begins.

        Where none was recorded, no time goes by.

        Raises:
            NotRecorded: the node calls out, and the recorded run did not come there; or there is no end to the visits
                that were not recorded; or the run was resumed under other settings where this one does not come.
        """
        self._made[item.name] = number = self._made.get(item.name, 0) + 1
        at = self._places.get((item.name, number))
        if at is None:
            if item.calls or number > MOST_VISITS:
                raise self._not_recorded(item, self._elsewhere())
            last = self._visits[self._at]["clock"][-1]
            clock = [last, last]
            return RecordedVisit(node=item.name, kind=item.kind, clock=clock), Spell(clock)
        return self._joined(item, at), self._spells[at]

    def _joined(self, item: Declaration, at: int) -> RecordedVisit:
        """Return a recorded visit as the run comes to it, from wherever it stands."""
        visit, session = self._visits[at], self._sessions[at]
        begins = "opening" in visit and session == self._session + 1
        if not begins and session != self._session and not self._is_alike(session):
            raise self._not_recorded(item, "the recorded run was resumed elsewhere, and who gives what is unknown")
        self._at, self._session = at, session
        return visit if begins or "opening" not in visit else _without_opening(visit)

    def _is_alike(self, session: int) -> bool:
        """Say whether a session was like the one in which the run is: then it does not matter where it began."""
        then, now = (self._openings[number - 1] for number in (session, self._session))
        return "refused" not in then and all(then[key] == now[key] for key in ("context", "caller", "resumable"))

    def _not_recorded(self, item: Declaration, why: str) -> NotRecorded:
        return NotRecorded(item.name, why, visit=self._made[item.name])

    def _elsewhere(self) -> str:
        if self._at + 1 < len(self._visits):
            return f"the recorded run went to {self._visits[self._at + 1]['node']!r:.80} instead"
        return "the recorded run did not come here"


def _without_opening(visit: RecordedVisit) -> RecordedVisit:
    kept = visit.copy()
    del kept["opening"]
    return kept

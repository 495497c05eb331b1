"""Which chunks are near a question by their vectors, among those that a caller may read."""

from __future__ import annotations

import sqlite3
from collections.abc import Set
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from guardgraph.knowledge.searching.views import View

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray


_DIGITS: Final = 5
"""Of a cosine. What comes after them may depend on the rows around, and those on what a caller may not read."""


class Near(NamedTuple):
    """A chunk, and how near it is."""

    chunk: int
    similarity: float
    """The cosine, of -1 to 1."""


class _Rows(NamedTuple):
    """The vectors of a scope, in the order of its documents."""

    version: tuple[tuple[int, int], ...]
    chunks: list[int]
    places: list[tuple[int, int]]
    matrix: NDArray[float32]


class Nearness:
    """Compares vectors. Those of a scope are kept in memory until something of the scope changes."""

    def __init__(self) -> None:
        self._rows: dict[int, _Rows] = {}
        self._lock = Lock()

    def nearest(
        self, connection: sqlite3.Connection, view: View, vector: bytes, *, sources: Set[str] | None, most: int
    ) -> list[Near]:
        """Return the chunks whose vectors are nearest, best first, equal ones in the order of the documents.

        Args:
            connection: in a transaction.
            view: what the caller may read.
            vector: the question's.
            sources: those that are searched; None for all.
            most: how many at most.
        """
        import numpy

        asked = numpy.frombuffer(vector, dtype=numpy.float32)
        found = list[tuple[float, tuple[int, int], int]]()
        for scope in sorted({part.scope for part in view.parts}):
            if sources is not None and view.scopes[scope].source not in sources:
                continue
            rows = self._of(connection, view, scope)
            if not rows.chunks:
                continue
            cosines = numpy.round((rows.matrix @ asked).astype(numpy.float64), _DIGITS)
            least = numpy.partition(cosines, -most)[-most] if len(cosines) > most else -2.0
            found += [(-float(cosines[at]), rows.places[at], rows.chunks[at]) for at in (cosines >= least).nonzero()[0]]
        return [Near(chunk, -less) for less, _, chunk in sorted(found)[:most]]

    def _of(self, connection: sqlite3.Connection, view: View, scope: int) -> _Rows:
        version = tuple((part.id, part.changed) for part in view.parts if part.scope == scope)
        with self._lock:
            kept = self._rows.get(scope)
        if kept is None or kept.version != version:
            kept = _read_scope_vectors(connection, scope, version)
            with self._lock:
                self._rows[scope] = kept
        return kept


def _read_scope_vectors(connection: sqlite3.Connection, scope: int, version: tuple[tuple[int, int], ...]) -> _Rows:
    import numpy

    rows: list[Any] = connection.execute(
        "SELECT chunks.id, place, number, vector FROM documents JOIN chunks ON document = documents.id "
        "JOIN vectors ON vectors.chunk = chunks.id WHERE scope = ? ORDER BY place, number",
        [scope],
    ).fetchall()
    matrix = numpy.frombuffer(b"".join(row[3] for row in rows), dtype=numpy.float32)
    return _Rows(
        version, [row[0] for row in rows], [(row[1], row[2]) for row in rows], matrix.reshape(max(len(rows), 1), -1)
    )

"""Which chunks are near a question by their vectors, among those that a caller may read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, TypeVar

from guardgraph.knowledge.searching.kept import Latest
from guardgraph.knowledge.searching.views import View
from guardgraph.knowledge.storing.scopes import Scope

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray


_DIGITS: Final = 5
"""Of a cosine. What comes after them may depend on the rows around, and those on what a caller may not read."""


_ROOM: Final = 1 << 30
"""Bytes of vectors that are kept in memory; those of the scope that was asked for last, however many."""

Id = TypeVar("Id", bound=Hashable)
"""By what an index knows a chunk."""


class Near(NamedTuple, Generic[Id]):
    """A chunk, and how near it is."""

    chunk: Id
    similarity: float
    """The cosine, of -1 to 1."""


class _Rows(NamedTuple, Generic[Id]):
    """The vectors of a scope, in the order of its documents."""

    version: tuple[tuple[int, int], ...]
    chunks: list[Id]
    places: list[tuple[int, int]]
    matrix: NDArray[float32]


class Nearness(Generic[Id]):
    """Compares vectors. Those of a scope are kept in memory until something of the scope changes."""

    def __init__(self, read: Callable[[Any, Scope], Sequence[tuple[Id, int, int, bytes]]]) -> None:
        self._read = read
        self._rows = Latest[int, _Rows[Id]](_ROOM)

    def nearest(
        self, connection: object, view: View, vector: bytes, *, sources: Collection[str] | None, most: int
    ) -> list[Near[Id]]:
        """Return the chunks whose vectors are nearest, best first, equal ones in the order of the documents."""
        import numpy

        asked = numpy.frombuffer(vector, dtype=numpy.float32)
        found = list[tuple[float, tuple[int, int], Id]]()
        for scope in sorted({part.scope for part in view.parts}):
            if sources is not None and view.scopes[scope].source not in sources:
                continue
            rows = self._of(connection, view, scope)
            if not rows.chunks:
                continue
            cosines = numpy.round((rows.matrix @ asked).astype(numpy.float64), _DIGITS)
            least = numpy.partition(cosines, -most)[-most] if len(cosines) > most else -2.0
            found += [(-float(cosines[at]), rows.places[at], rows.chunks[at]) for at in (cosines >= least).nonzero()[0]]
        found.sort(key=lambda hit: hit[:2])
        return [Near(chunk, -less) for less, _, chunk in found[:most]]

    def _of(self, connection: object, view: View, scope: int) -> _Rows[Id]:
        import numpy

        version = tuple((part.id, part.changed) for part in view.parts if part.scope == scope)
        kept = self._rows.get(scope)
        if kept is None or kept.version != version:
            rows = self._read(connection, view.scopes[scope])
            matrix = numpy.frombuffer(b"".join(row[3] for row in rows), dtype=numpy.float32)
            places = [(row[1], row[2]) for row in rows]
            kept = _Rows(version, [row[0] for row in rows], places, matrix.reshape(max(len(rows), 1), -1))
            self._rows.keep(scope, kept, matrix.nbytes)
        return kept

"""Mending rows: what its hash tells is put right, and what it does not is nobody's until it is added again."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from guardgraph.knowledge.index.collected import Lost, mend_collections
from guardgraph.knowledge.index.rows import MOST_PLACES, Row, Suspects, are_all, is_key, readable_scopes, rows_of
from guardgraph.knowledge.index.scopes import Scope, interned, key_of, tenant_of
from guardgraph.knowledge.index.storing import NEXT_PLACE, digest_of, seal
from guardgraph.languages.language import language_of
from guardgraph.state.access import Access

__all__ = ["Doubtful", "Mending"]

_PLACE: Final = f"{NEXT_PLACE} WHERE typeof(place) = 'integer' AND place < {MOST_PLACES}"
_UNKNOWN: Final = (-1, 0, "")
"""A stamp that no file has, so that the next addition reads the document again."""


@dataclass(frozen=True, slots=True)
class Doubtful:
    """A document that is not what was put in."""

    tenant: str | None
    id: str

    def __str__(self) -> str:
        return f"{self.id} of {self.tenant}" if self.tenant else self.id


class Mending:
    """Mends rows, inside the transaction that is open.

    A document keeps its readers only where its hash, and that of each of its chunks, holds.

    Args:
        connection: in a transaction for writing; what is no text is read as what is left of it.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.closed = set[Doubtful]()
        """Documents that nobody may read now."""
        self.removed = set[Doubtful]()
        """Documents that have no chunks, and chunks that have no document; they were taken out."""
        self.lost = list[Lost]()
        self.without_vectors = set[Doubtful]()
        """Documents of which a chunk has no vector, where others have one."""
        self._connection = connection
        self._scopes = readable_scopes(connection)
        self._mended = set[int]()
        self._taken_out = Counter[tuple[Any, Any]]()
        """How many documents of collections, by the key of their tenants and their names."""

    def mend(self, suspects: Suspects) -> None:
        """Mend what was found."""
        for chunk in suspects.stray:
            for row in [*rows_of(self._connection, chunk=chunk)]:
                if not self._is_brought_home(row):
                    self._connection.execute("DELETE FROM chunks WHERE id = ?", [chunk])
                    self.removed.add(Doubtful(_shown(row.tenant), _text(row.name)))
        for document in suspects.unlike:
            for row in [*rows_of(self._connection, document)]:
                if not self._holds(row):
                    self._is_brought_home(row)
        for document in sorted(suspects.unlike | suspects.mixed | self._mended | {*suspects.empty}):
            self._mend_document(document)
        self._connection.execute("DELETE FROM scopes WHERE id NOT IN (SELECT scope FROM documents)")
        self.lost += mend_collections(self._connection, self._taken_out)

    def reread(self, documents: Iterable[int]) -> None:
        """Let the next addition read documents again, to make vectors that are missing."""
        for document in documents:
            tenant, name = self._connection.execute(
                "UPDATE documents SET size = ?, modified = ?, sha256 = ? WHERE id = ? RETURNING tenant, name",
                [*_UNKNOWN, document],
            ).fetchone()
            self.without_vectors.add(Doubtful(tenant_of(tenant), name))

    def _is_brought_home(self, row: Row) -> bool:
        """Say whether there is another document that a chunk was put in with; it is its chunk then."""
        if not is_key(row.tenant):
            return False
        statement = "SELECT id, title, updated_at, scope FROM documents WHERE tenant = ? AND name = ?"
        for name in _names_in(row.name):
            for number, title, updated_at, scope in self._connection.execute(statement, [row.tenant, name]).fetchall():
                there = row._replace(document=number, of=name, title=title, updated_at=updated_at, scope=scope)
                if number != row.document and there.holds(self._scopes.get(scope)):
                    self._connection.execute("UPDATE chunks SET document = ? WHERE id = ?", [number, row.id])
                    self._mended.add(number)
                    return True
        return False

    def _mend_document(self, document: int) -> None:
        rows = [*rows_of(self._connection, document)]
        if not rows:
            self._remove_empty(document)
            return
        if not (all(map(self._holds, rows)) or self._is_named_anew(document, rows)) or not self._is_whole(rows):
            self._close(document, rows)
        self._settle(document)

    def _holds(self, row: Row, of: str | None = None) -> bool:
        return row.holds(self._scopes.get(row.scope), of)

    def _is_named_anew(self, document: int, rows: Iterable[Row]) -> bool:
        """Say whether all that is wrong with a document is its id, which its chunks tell; it has it again then."""
        held = [*rows]
        for name in _names_in(held[0].name):
            if all(self._holds(row, name) for row in held):
                return bool(
                    self._connection.execute(
                        "UPDATE OR IGNORE documents SET name = ? WHERE id = ?", [name, document]
                    ).rowcount
                )
        return False

    def _is_whole(self, rows: list[Row]) -> bool:
        """Say whether chunks that hold are all that were put in; they are in their document's collection then."""
        in_order = sorted(rows, key=lambda row: (row.start, row.id))
        select = "SELECT name FROM collections UNION SELECT collection FROM documents"
        names = [rows[0].collection, *(name for (name,) in self._connection.execute(select).fetchall())]
        for name in names:
            if are_all(rows, name) or are_all(in_order, name):
                self._connection.execute("UPDATE documents SET collection = ? WHERE id = ?", [name, rows[0].document])
                return True
        return False

    def _close(self, document: int, rows: Iterable[Row]) -> None:
        """Let nobody read a document, and take it for what it is now."""
        select = (
            "SELECT documents.tenant, name, title, updated_at, collection, scopes.tenant, source FROM documents "
            "LEFT JOIN scopes ON scopes.id = scope WHERE documents.id = ?"
        )
        tenant, name, title, updated_at, collection, other, source = self._connection.execute(
            select, [document]
        ).fetchone()
        access = Access(tenant_of(next(filter(is_key, (tenant, other)), "")), ())
        about = (_text(name), _text(source), _text(title), _text(updated_at))
        scope = interned(self._connection, about[1], access)
        self._scopes[scope] = Scope(scope, about[1], access)
        self._connection.execute(
            f"UPDATE documents SET tenant = ?, name = ?, title = ?, updated_at = ?, collection = ?, scope = ?, "
            f"place = ({_PLACE}) WHERE id = ?",
            [key_of(access.tenant), about[0], about[2], about[3], _text(collection), scope, document],
        )
        for row in rows:
            text = _text(row.text)
            start, stop = (row.start, row.stop) if _are_numbers(row.start, row.stop) else (0, len(text))
            chunk = (_text(row.name), _text(row.section), start, stop, text)
            self._connection.execute(
                "UPDATE chunks SET name = ?, section = ?, start = ?, stop = ?, text = ?, hash = ? WHERE id = ?",
                [*chunk, digest_of(access, about, chunk), row.id],
            )
        self.closed.add(Doubtful(access.tenant, about[0]))

    def _remove_empty(self, document: int) -> None:
        statement = "DELETE FROM documents WHERE id = ? RETURNING tenant, name, collection"
        for tenant, name, collection in self._connection.execute(statement, [document]).fetchall():
            self._taken_out[tenant, collection] += 1
            self.removed.add(Doubtful(_shown(tenant), _text(name)))

    def _settle(self, document: int) -> None:
        """Let the rows of a document belong together, and the next addition read it again."""
        (scope,) = self._connection.execute("SELECT scope FROM documents WHERE id = ?", [document]).fetchone()
        tenant = key_of(self._scopes[scope].access.tenant)
        self._connection.execute(
            f"UPDATE documents SET tenant = ?, size = ?, modified = ?, sha256 = ?, place = "
            f"iif(typeof(place) = 'integer' AND place < {MOST_PLACES}, place, ({_PLACE})) WHERE id = ?",
            [tenant, *_UNKNOWN, document],
        )
        rows = sorted(rows_of(self._connection, document), key=lambda row: (row.start, row.id))
        for at, row in enumerate(rows):
            self._connection.execute(
                "UPDATE chunks SET number = ?, tenant = ?, language = ? WHERE id = ?",
                [at, tenant, language_of(row.text), row.id],
            )
        seal(self._connection, document)


def _names_in(chunk: object) -> tuple[str, ...]:
    """Return the ids that a chunk's document may have, by the chunk's own."""
    name = _text(chunk)
    return name, name.rpartition("#")[0]


def _text(cell: Any) -> str:
    """Return what is left of a text."""
    if isinstance(cell, bytes):
        return cell.decode(errors="replace")
    return str(cell or "").encode(errors="surrogateescape").decode(errors="replace")


def _are_numbers(*cells: object) -> bool:
    return all(isinstance(cell, int) for cell in cells)


def _shown(tenant: object) -> str | None:
    return tenant_of(tenant) if isinstance(tenant, str) and is_key(tenant) else None

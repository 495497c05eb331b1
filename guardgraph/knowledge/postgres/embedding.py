"""By which embedding the vectors of a database were made: the first addition settles it, for all tenants."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from guardgraph.knowledge.storing.scopes import make_scope_key
from guardgraph.knowledge.vectors import FLOAT_BYTES, EmbeddedTexts, Embedder, refuse_other_embedding, refuse_other_size

if TYPE_CHECKING:
    from psycopg import Connection

_WORDS_ONLY: Final = EmbeddedTexts("", 0)
"""What is noted of a base without vectors."""


def read_server_embedding(connection: Connection[Any]) -> EmbeddedTexts | None:
    """Return by what vectors were made; one without a name in a base of words, None before the first addition."""
    row = connection.execute("SELECT value FROM guardgraph.state WHERE name = 'embedding'").fetchone()
    if row is None:
        return None
    size, _, name = row[0].partition(" ")
    return EmbeddedTexts(name, int(size))


def check_server_embedding(
    connection: Connection[Any], embedder: Embedder | None, shown: str, *, to_write: bool
) -> None:
    """Refuse another embedding than that of the base."""
    made = read_server_embedding(connection)
    refuse_other_embedding(
        None if made == _WORDS_ONLY else made, embedder, shown, has_words_only=made == _WORDS_ONLY, to_write=to_write
    )


def note_server_embedding(
    connection: Connection[Any], embedder: Embedder | None, vectors: Iterable[bytes], shown: str
) -> None:
    """Note by what the first vectors are made, or that there are none, and hold later ones against it."""
    held = [*vectors]
    if read_server_embedding(connection) is None and (held or embedder is None):
        made = EmbeddedTexts(embedder.name, len(held[0]) // FLOAT_BYTES) if embedder else _WORDS_ONLY
        note = "INSERT INTO guardgraph.state VALUES ('embedding', %s) ON CONFLICT DO NOTHING"
        connection.execute(note, [f"{made.size} {made.name}"])
    check_server_embedding(connection, embedder, shown, to_write=True)
    noted = read_server_embedding(connection)
    for vector in held:
        refuse_other_size(noted or _WORDS_ONLY, vector, shown)


def read_known_vectors(connection: Connection[Any], tenant: str | None, keys: list[bytes]) -> list[tuple[Any, ...]]:
    """Return key, vector and hash of those texts of a tenant that have vectors."""
    select = (
        "SELECT DISTINCT ON (key) key, vector, vector_hash FROM guardgraph.chunks WHERE tenant = %s AND key = ANY (%s)"
    )
    return connection.execute(select, [make_scope_key(tenant), keys]).fetchall()

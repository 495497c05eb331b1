"""What a knowledge base keeps of a document, and by which hashes it is known to be what was put in."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

from guardgraph.state.context import Access


class Chunk(NamedTuple):
    """A piece of a document: what is found, shown to a model and cited."""

    id: str  # unique within a tenant; what a citation names
    section: str
    text: str
    start: int  # where it begins in the document's text, in characters
    end: int


class Stamp(NamedTuple):
    """By what a document that has not changed is known."""

    size: int  # bytes of its file
    modified: int  # nanoseconds since 1970 at which the file was last changed
    sha256: str  # of what was read


class StoredDocument(NamedTuple):
    """A document as it is kept."""

    id: str  # unique within a tenant: its path, below its collection's name where one was given
    name: str  # the collection that it was added with
    source: str  # what the two allowlists name
    title: str
    updated_at: str
    access: Access
    chunks: tuple[Chunk, ...]
    stamp: Stamp


StoredRow: TypeAlias = tuple[bytes, tuple[str, str, int, int, str]]
"""Of a chunk its hash, and its id, section, where it begins and ends, and text."""


def hash_stored_row(
    access: Access, document: tuple[str, str, str, str], chunk: tuple[str, str, int, int, str]
) -> bytes:
    """Return the hash of a chunk, which covers all that is shown of it and who may read it."""
    covered = [access.tenant, access.readers, document, chunk]
    return hashlib.sha256(json.dumps(covered).encode()).digest()


def hash_stored_rows(collection: str, chunks: Sequence[bytes]) -> bytes:
    """Return the hash of a document, which covers its collection and which chunks it has."""
    return hashlib.sha256(json.dumps([collection, [chunk.hex() for chunk in chunks]]).encode()).digest()


def hash_stored_document(document: StoredDocument) -> tuple[list[bytes], bytes]:
    """Return the hashes of the chunks of a document, and its own."""
    about = (document.id, document.source, document.title, document.updated_at)
    rows = [(chunk.id, chunk.section, chunk.start, chunk.end, chunk.text) for chunk in document.chunks]
    hashes = [hash_stored_row(document.access, about, row) for row in rows]
    return hashes, hash_stored_rows(document.name, hashes)


def explain_taken_id(document: StoredDocument, collection: str | None, owners: Mapping[str, str]) -> str | None:
    """Return which id of a document another collection of its tenant, or a chunk of another document, has; or None."""
    if collection is not None and collection != document.name:
        return f"document {document.id!r}: its id is in the collection {collection!r} already; give another name"
    seen = set[str]()
    for chunk in document.chunks:
        if chunk.id in seen or owners.get(chunk.id, document.id) != document.id:
            return f"document {document.id!r}: the id {chunk.id!r} of a chunk is taken"
        seen.add(chunk.id)
    return None


def rehash_moved_rows(
    rows: Sequence[StoredRow],
    seal: bytes,
    collection: str,
    document: tuple[str, str, str],
    *,
    before: tuple[str, Access],
    after: tuple[str, Access],
) -> tuple[list[bytes], bytes]:
    """Return the hashes of the chunks of a document that has another source and other readers now, and its own."""
    # What is not what was put in must not become so by being moved: its hash stays wrong.
    name, title, day = document

    def hash_within(place: tuple[str, Access], chunk: tuple[str, str, int, int, str]) -> bytes:
        return hash_stored_row(place[1], (name, place[0], title, day), chunk)

    is_sound = [hashed == hash_within(before, chunk) for hashed, chunk in rows]
    judged = zip(is_sound, rows, strict=True)
    hashes = [hash_within(after, chunk) if holds else hashed for holds, (hashed, chunk) in judged]
    if all(is_sound) and seal == hash_stored_rows(collection, [hashed for hashed, _ in rows]):
        return hashes, hash_stored_rows(collection, hashes)
    return hashes, seal

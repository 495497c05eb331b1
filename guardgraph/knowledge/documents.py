"""What a knowledge base keeps of a document."""

from __future__ import annotations

from typing import NamedTuple

from guardgraph.state.context import Access


class Chunk(NamedTuple):
    """A piece of a document: what is found, shown to a model and cited."""

    id: str
    """Unique within a tenant; what a citation names."""
    section: str
    text: str
    start: int
    """Where it begins in the document's text, in characters."""
    end: int


class Stamp(NamedTuple):
    """By what a document that has not changed is known."""

    size: int
    """Bytes of its file."""
    modified: int
    """Nanoseconds since 1970 at which the file was last changed."""
    sha256: str
    """Of what was read."""


class StoredDocument(NamedTuple):
    """A document as it is kept."""

    id: str
    """Unique within a tenant: its path, below its collection's name where one was given."""
    name: str
    """The collection that it was added with."""
    source: str
    """What the two allowlists name."""
    title: str
    updated_at: str
    access: Access
    chunks: tuple[Chunk, ...]
    stamp: Stamp

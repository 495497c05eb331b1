"""Who may read a document: its tenant and its readers, held against whoever asks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from guardgraph.state.context import Caller

PUBLIC: Final = "public"
"""The reader that is everybody."""

TENANT: Final = "tenant"
"""The reader that is every caller of the document's tenant."""


class Access(NamedTuple):
    """Who may read a document."""

    tenant: str | None
    """The organisation that it belongs to; None is the callers without a tenant."""
    readers: tuple[str, ...]
    """``public``, ``tenant``, ``user:ID`` and ``group:ID``, sorted, each once; without any, nobody."""


def is_access_allowed(access: Access, caller: Caller | None) -> bool:
    """Say whether a caller may read a document; None is somebody of whom nothing is known."""
    if PUBLIC in access.readers:
        return True
    if caller is None or caller.tenant != access.tenant:
        return False
    return not set(caller.readers).isdisjoint(access.readers)


def find_reader_problem(reader: object) -> str | None:
    """Say why something names no reader, None where it does; an id may contain colons."""
    if isinstance(reader, str):
        kind, colon, name = reader.partition(":")
        if reader in {PUBLIC, TENANT} or (colon and kind in {"user", "group"} and name.strip()):
            return None
    return f"public, tenant, user:ID or group:ID is required; given: {reader!r:.80}"


def normalize_document_access(tenant: str | None, readers: Sequence[str]) -> Access:
    """Return an access in its normal form.

    Raises:
        ValueError: a reader is none.
    """
    for reader in readers:
        if (problem := find_reader_problem(reader)) is not None:
            raise ValueError(problem)
    return Access(tenant, tuple(sorted(set(readers))))

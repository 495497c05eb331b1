"""Lists of readers as people write them, and whether one list stays within another."""

from __future__ import annotations

from collections.abc import Sequence

from guardgraph.plain.json import find_json_problem
from guardgraph.state.access import PUBLIC, TENANT, normalize_document_access


def readers_in(value: object) -> tuple[str, ...]:
    """Return a list of readers in its normal form.

    Raises:
        ValueError: it is no list, or something in it names no reader; the message says what is allowed.
    """
    if not isinstance(value, list | tuple):
        raise ValueError(f"a list of public, tenant, user:ID or group:ID is required; given: {value!r:.80}")
    for reader in value:
        if isinstance(reader, str) and (problem := find_json_problem(reader)) is not None:
            raise ValueError(f"a reader without {problem} is required; given: {reader!r:.80}")
        if isinstance(reader, str) and (own := reader.partition(":")[2]) != own.strip():  # nobody is called so
            raise ValueError(f"an ID without blanks around it is required; given: {reader!r:.80}")
    return normalize_document_access(None, value).readers


def within(reader: str, readers: Sequence[str]) -> bool:
    """Say whether whoever a reader stands for is sure to be among others: nobody knows who is in a group."""
    return reader in readers or PUBLIC in readers or (reader != PUBLIC and TENANT in readers)


def beyond(readers: Sequence[str], others: Sequence[str]) -> list[str]:
    """Return the readers that are not within the others."""
    return [reader for reader in readers if not within(reader, others)]

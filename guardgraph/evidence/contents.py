"""What is kept of a run beside its entry: its recording as canonical JSON, the salt, and what it is looked up by."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from secrets import token_hex
from typing import Any

from guardgraph.plain.json import JsonObject
from guardgraph.state.recording import BegunRun, Recording

SALT_BYTES = 32
"""As many as the hash has: nobody finds a content by hashing what it may have been."""


@dataclass(frozen=True, slots=True)
class Lookup:
    """What runs are found by."""

    pattern: str
    callers: tuple[tuple[str | None, str | None], ...]
    """Tenant and user of whoever began or resumed the run, each once, in order."""


def make_content_salt() -> str:
    """Return a new salt, 64 hex digits."""
    return token_hex(SALT_BYTES)


def content_hash(salt: str, content: str) -> str:
    """Return the hash by which an entry knows its content: SHA-256 of the salt's bytes and the content's."""
    salted = bytes.fromhex(salt)
    if salted.hex() != salt:  # blanks and capitals would read the same
        raise ValueError("salt: small hex digits and nothing else are required")
    return sha256(salted + content.encode()).hexdigest()


def read_stored_recording(content: str) -> Recording:
    """Return the recording that a content is the text of."""
    recording: Recording = read_stored_content(content)
    return recording


def read_stored_content(content: str) -> Any:
    """Return what a content is the text of: a recording, a beginning or a note."""
    return json.loads(content)


def build_run_lookup(recording: Recording) -> Lookup:
    """Return what a run is found by."""
    openings: list[Any] = [visit["opening"] for visit in recording["visits"] if "opening" in visit]
    return normalize_run_lookup(
        recording["pattern"], {read_run_caller(opening) for opening in openings} - {(None, None)}
    )


def build_begun_lookup(begun: BegunRun) -> Lookup:
    """Return what a run that began is found by."""
    return normalize_run_lookup(begun["pattern"], {read_run_caller(dict(begun["opening"]))} - {(None, None)})


def normalize_run_lookup(pattern: Any, callers: Iterable[tuple[Any, Any]]) -> Lookup:
    """Return what a run of a pattern and some callers is found by: the same one, whatever their order."""
    return Lookup(pattern, tuple(sorted(callers, key=lambda pair: [(item is not None, str(item)) for item in pair])))


def read_run_caller(opening: JsonObject) -> tuple[str | None, str | None]:
    """Return tenant and user: whom LangGraph's server says, else whom the context does."""
    context = opening.get("context")
    said = opening.get("caller") or (context.get("caller") if isinstance(context, dict) else None)
    asking = said if isinstance(said, dict) else {}
    tenant, user = (asking.get(name) for name in ("tenant", "user"))
    return tenant if isinstance(tenant, str) else None, user if isinstance(user, str) else None

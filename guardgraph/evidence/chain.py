"""The chain: what its entries say, how each is tied to the one before, and the numbers that an erasure names."""

# An entry is canonical JSON text, and its hash is the SHA-256 of that text. Nothing personal is in it: of a run, of its
# beginning and of a note of it, it has the id and the salted hash of the content; of a run that was closed, who closed
# it and why; of an erasure, who erased which numbers, when and how.

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from secrets import token_hex
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.hashing import canonical_json
from guardgraph.plain.json import JsonObject
from guardgraph.state.recording import BegunRun, NoteKind, Recording
from guardgraph.state.run import CLOSED, Moment

SALT_BYTES = 32  # as many as the hash has: nobody finds a content by hashing what it may have been


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


def read_stored_content(content: str) -> Any:
    """Return what a content is the text of: a recording, a beginning or a note."""
    return json.loads(content)


def is_run_content(kind: str, told: Any) -> bool:
    """Say whether a content has what its kind is read by: whoever may append, may append anything."""
    match kind, told:
        case "run", {"pattern": str(), "guardgraph": str(), "input": _, "visits": list(), "result": dict() as result}:
            path, timeline = result.get("path", []), result.get("timeline", [])
            is_list = isinstance(path, list) and isinstance(timeline, list)
            return is_list and all(isinstance(each, str) for each in path) and all(map(_is_object, timeline))
        case "begin", {"pattern": str(), "guardgraph": str(), "input": _, "graph": str(), "thread": str() | None}:
            return isinstance(told.get("request"), str) and all(map(_is_object, map(told.get, _OF_BEGINNING)))
        case "note", {"run_id": str(), "request": str(), "kind": str(), "at": str(), "content": dict()}:
            return True
    return False


_OF_BEGINNING = ("opening", "policy", "budget")


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


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


FORMAT: Literal[1] = 1  # the version of the form of an entry

START = "0" * 64  # what the first entry has for the hash of the one before

HASH = re.compile("[0-9a-f]{64}")
Sha256: TypeAlias = Annotated[str, Field(pattern=f"^{HASH.pattern}$")]
Number: TypeAlias = Annotated[int, Field(ge=1)]
How: TypeAlias = Literal["erase", "retain"]  # whether certain runs were erased, or all that had been kept long enough
HowClosed: TypeAlias = Literal["closed", "superseded"]
"""Whether somebody closed an open run, or a run that began on its thread did."""


@with_config(CLOSED)
class _Placed(TypedDict):
    """What each entry says of its place in the chain."""

    format: Literal[1]
    seq: Number
    previous: Sha256
    at: Moment


@with_config(CLOSED)
class RunEntry(_Placed):
    """The entry of a run."""

    kind: Literal["run"]
    run_id: str
    content: Sha256


@with_config(CLOSED)
class ErasureEntry(_Placed):
    """The entry of an erasure."""

    kind: Literal["erasure"]
    by: str
    how: How
    erased: list[tuple[Number, Number]]


@with_config(CLOSED)
class BeginEntry(_Placed):
    """The entry of a run that began."""

    kind: Literal["begin"]
    run_id: str
    content: Sha256


@with_config(CLOSED)
class NoteEntry(_Placed):
    """The entry of something that was noted of an open run."""

    kind: Literal["note"]
    run_id: str
    note: NoteKind
    content: Sha256


@with_config(CLOSED)
class CloseEntry(_Placed):
    """The entry that closes an open run which nobody will end."""

    kind: Literal["close"]
    run_id: str
    how: HowClosed
    by: str  #: who closed it; of a superseded one, the id of the run that began on its thread
    why: str


Entry: TypeAlias = RunEntry | ErasureEntry | BeginEntry | NoteEntry | CloseEntry
OpenEntry: TypeAlias = BeginEntry | NoteEntry | CloseEntry  # what is said of a run before its ending, or instead of one


def write_chain_entry(seq: int, previous: str, at: str, **said: Any) -> str:
    """Return the text of an entry, which says its kind and what its kind has, for its place in the chain."""
    return canonical_json({"format": FORMAT, "seq": seq, "previous": previous, "at": at, **said})


def run_entry(seq: int, previous: str, at: str, *, run_id: str, content: str) -> str:
    """Return the text of the entry of a run."""
    return write_chain_entry(seq, previous, at, kind="run", run_id=run_id, content=content)


def erasure_entry(seq: int, previous: str, at: str, *, by: str, how: How, erased: Iterable[int]) -> str:
    """Return the text of the entry of an erasure."""
    made: list[tuple[int, int]] = []
    for number in erased:
        if made and number == made[-1][1] + 1:
            made[-1] = (made[-1][0], number)
        else:
            made.append((number, number))
    return write_chain_entry(seq, previous, at, kind="erasure", by=by, how=how, erased=made)


def validate_chain_head(head: object) -> tuple[int, str] | None:
    """Return number and hash of an entry as somebody kept them elsewhere, None where nobody did."""
    match head:
        case None:
            return None
        case (int(seq), str(mark)) if not isinstance(seq, bool) and seq >= 1 and HASH.fullmatch(mark):
            return seq, mark
    raise ConfigurationError(f"head: a number from 1 on and 64 small hex digits are required; given: {head!r:.90}")


def entry_hash(text: str) -> str:
    """Return the hash of an entry's text, 64 hex digits."""
    return sha256(text.encode()).hexdigest()


_ENTRY: TypeAdapter[Entry] = TypeAdapter(Annotated[Entry, Field(discriminator="kind")])


def read_chain_entry(text: str) -> Entry:
    """Return what the text of an entry says."""
    try:
        return _ENTRY.validate_json(text)
    except ValidationError as error:
        raise ValueError(f"no entry of format {FORMAT}: {error.errors(include_url=False)[0]['msg']}") from None

"""A document: one run of a store with its place in the chain, as one JSON text that is checked without the store."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from guardgraph.evidence.chain import entry_hash
from guardgraph.evidence.contents import read_run_caller, read_stored_recording
from guardgraph.evidence.place import ChainPlace, OtherEntry, find_chain_place_problems, hash_recording_content
from guardgraph.evidence.store import Position, RunStore, StoredRun
from guardgraph.evidence.strict_json import format_document_text, parse_strict_json
from guardgraph.plain.errors import InputError
from guardgraph.plain.hashing import canonical_json
from guardgraph.plain.json import RESULT_DEPTH, JsonObject, find_json_problem, is_plain_json
from guardgraph.plain.version import FORMAT, find_format_problem
from guardgraph.state.forms import CLOSED

LEVELS = RESULT_DEPTH + 8
"""Levels of nesting of a document: a result has half of them, and stands in a recording."""


@with_config(CLOSED)
class RunDocument(TypedDict):
    """One run of one tenant, and its place in a chain."""

    format: Literal[1]
    """The version of this form."""
    chain: ChainPlace
    """Where the run stands."""
    recording: JsonObject
    """The run: a `Recording`, with its result."""


def export_run(store: RunStore, run_id: str) -> RunDocument:
    """Return a run of a store as a document.

    Args:
        store: that has the run.
        run_id: of the run; its latest record is taken.

    Returns:
        Plain JSON. A run of which something was redacted is as the store has it.

    Raises:
        InputError: there is no such run, it was erased, or people of two tenants had a part in it.
        StoreError: the store cannot be read, or what it has is not what was recorded.
    """
    stored = store.read(run_id)
    if stored.recording is None or stored.salt is None:
        raise InputError(f"run_id: a run that was not erased is required; given: {run_id!r:.80}, which was")
    place = stored.position
    others = [text for text in _list_run_entries(store, run_id) if text != stored.entry]
    also = [OtherEntry(hash=entry_hash(text), entry=text) for text in others]
    made: RunDocument = {
        "format": FORMAT,
        "chain": {
            "seq": place.seq,
            "hash": place.hash,
            "previous": place.previous,
            "at": place.at,
            "entry": stored.entry,
            "salt": stored.salt,
            "content": hash_recording_content(stored.salt, dict(stored.recording)),
            "also": also,
        },
        "recording": dict(stored.recording),
    }
    _check_document_tenant(made)
    if wrong := find_chain_place_problems(made["chain"], made["recording"]):
        raise InputError(f"run_id: a run that is what was recorded is required; {wrong[0]}")
    text = format_document_text(dict(made))
    parse_strict_json(text.encode(), "run_id", LEVELS)  # nobody is given what they could not read
    return made


def validate_run_document(given: Any) -> RunDocument:
    """Return a document, if it is one."""
    if not is_plain_json(given, LEVELS):
        problem = find_json_problem(given, LEVELS) or "NaN or an infinity"
        raise InputError(f"document: plain JSON is required; given: {problem}")
    shape = given if isinstance(given, dict) else {}
    recording = shape.get("recording")
    made_by: object = recording.get("guardgraph") if isinstance(recording, dict) else None
    if (other := find_format_problem(shape.get("format"), made_by)) is not None:
        raise InputError(f"document: {other}")
    try:
        made: RunDocument = _get_document_adapter().validate_python(given)
    except ValidationError as error:
        item = error.errors(include_url=False)[0]
        raise InputError(f"document.{'.'.join(map(str, item['loc']))}: {item['msg']}") from None
    _check_document_tenant(made)
    return made


def _list_run_entries(store: RunStore, run_id: str) -> list[str]:
    """Return the texts of all entries of a run; of a store that keeps endings only, none."""
    entries: Callable[[str], list[str]] | None = getattr(store, "entries", None)
    return [] if entries is None else entries(run_id)


def build_stored_run(document: RunDocument) -> StoredRun:
    """Return the run of a document as a store would give it."""
    chain = document["chain"]
    place = Position(chain["seq"], chain["hash"], chain["previous"], chain["at"])
    recording = read_stored_recording(canonical_json(document["recording"]))
    return StoredRun(str(recording.get("run_id")), place, recording, chain["entry"], chain["salt"])


@cache
def _get_document_adapter() -> TypeAdapter[RunDocument]:
    return TypeAdapter(RunDocument)


def _check_document_tenant(document: RunDocument) -> None:
    """Refuse a run in which people of two tenants had a part: neither may see the other's words."""
    visits = document["recording"].get("visits")
    openings = [visit.get("opening") for visit in visits if isinstance(visit, dict)] if isinstance(visits, list) else []
    tenants = {read_run_caller(opening)[0] for opening in openings if isinstance(opening, dict)} - {None}
    if len(tenants) > 1:
        raise InputError(f"document: a run of one tenant is required; given: one of {len(tenants)}")

"""A document: one run of a store with its place in the chain, as one JSON text that is checked without the store."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cache
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from guardgraph.evidence.chain import (
    RunEntry,
    content_hash,
    entry_hash,
    is_run_content,
    read_chain_entry,
    read_run_caller,
    read_stored_content,
)
from guardgraph.evidence.store import Position, RunStore, StoredRun
from guardgraph.evidence.strict_json import format_document_text, parse_strict_json
from guardgraph.plain.errors import InputError
from guardgraph.plain.hashing import canonical_json
from guardgraph.plain.json import RESULT_DEPTH, JsonObject, find_json_problem, is_plain_json
from guardgraph.plain.version import FORMAT, find_format_problem
from guardgraph.state.run import CLOSED, Moment, Sha256

DocumentFindingKind: TypeAlias = Literal["text", "chain", "head", "signature", "verdict", "version", "underived"]
"""What a finding is about: the text of the file, the place in the chain, the head that was kept elsewhere, the
signature, a verdict that comes out otherwise, one that comes out otherwise under another version of guardgraph, or what
cannot be derived."""


@dataclass(frozen=True, slots=True)
class DocumentFinding:
    """What is wrong with a document, or cannot be told."""

    kind: DocumentFindingKind
    place: str  # where, as a path into the document or the recording
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"


@with_config(CLOSED)
class OtherEntry(TypedDict):
    """An entry of the run beside the one of its record."""

    hash: Sha256  #: its hash: SHA-256 of its text
    entry: str  #: its text


@with_config(CLOSED)
class ChainPlace(TypedDict):
    """Where a run stands in the chain of a store, and what ties it to that place."""

    seq: Annotated[int, Field(ge=1)]  #: the number of its entry
    hash: Sha256  #: the hash of its entry: SHA-256 of the entry's text
    previous: Sha256  #: the hash of the entry before
    at: Moment  #: when it was recorded: UTC, ISO 8601
    entry: str  #: the text of its entry
    salt: Sha256  #: what the content is hashed with, 64 hex digits
    content: Sha256  #: SHA-256 of the bytes of the salt and the recording as canonical JSON
    also: list[OtherEntry]
    """All other entries of the run, in order of the chain: its beginning, notes, a close, other records of
    the same id. Their contents are not in the document, and that none is left out only the chain shows."""


def hash_recording_content(salt: str, recording: JsonObject) -> str:
    """Return the hash by which an entry knows a recording."""
    return content_hash(salt, canonical_json(recording))


def find_chain_place_problems(chain: ChainPlace, recording: JsonObject) -> list[DocumentFinding]:
    """Hold a run against its entry, and the entry against its hash."""
    try:
        said = read_chain_entry(chain["entry"])
    except ValueError as error:
        return [_make_chain_finding("entry", str(error))]
    if said["kind"] != "run":
        return [_make_chain_finding("entry", f"the entry of a run is required; its kind is {said['kind']}")]
    hashed = hash_recording_content(chain["salt"], recording)
    pairs = [
        ("hash", chain["hash"], entry_hash(chain["entry"]), "of the entry"),
        ("seq", chain["seq"], said["seq"], "in the entry"),
        ("previous", chain["previous"], said["previous"], "in the entry"),
        ("at", chain["at"], said["at"], "in the entry"),
        ("content", chain["content"], said["content"], "in the entry"),
        ("content", chain["content"], hashed, "of salt and recording: one was changed"),
        ("entry", said["run_id"], recording.get("run_id"), "in the recording: its run_id"),
    ]
    wrong = [
        _make_chain_finding(name, f"{ours!s:.80}; it is {theirs!s:.80} {where}")
        for name, ours, theirs, where in pairs
        if ours != theirs
    ]
    return [*wrong, *_find_other_entry_problems(chain["also"], said)]


def _find_other_entry_problems(others: list[OtherEntry], own: RunEntry) -> list[DocumentFinding]:
    """Hold what is said to be the other entries of a run against it: each is one, in order of the chain."""
    wrong: list[DocumentFinding] = []
    place, before = 0, {own["seq"] - 1: own["previous"]}
    for at, other in reversed([*enumerate(others)]):
        try:
            said = read_chain_entry(other["entry"])
        except ValueError as error:
            wrong.append(_make_chain_finding(f"also.{at}", str(error)))
            continue
        seq, mark = said["seq"], entry_hash(other["entry"])
        if said["kind"] == "erasure" or said["run_id"] != own["run_id"]:
            wrong.append(_make_chain_finding(f"also.{at}", "it is no entry of this run"))
        if (place and seq >= place) or seq == own["seq"]:
            wrong.append(_make_chain_finding(f"also.{at}", "it does not stand before the one behind it"))
        if not mark == other["hash"] == before.get(seq, mark):
            wrong.append(_make_chain_finding(f"also.{at}", f"{other['hash']}; it is {mark} of the entry"))
        place, before[seq - 1] = seq, said["previous"]
    return wrong[::-1]


def find_chain_head_problems(chain: ChainPlace, head: tuple[int, str] | None) -> list[DocumentFinding]:
    """Hold the place of a run against number and hash of its entry, as somebody kept them elsewhere."""
    if head is None:
        return []
    seq, kept = head
    if seq != chain["seq"]:
        said = f"{chain['seq']}; kept elsewhere was {seq}, which says nothing of this entry"
        return [DocumentFinding("head", "chain.seq", said)]
    if kept != chain["hash"]:
        return [DocumentFinding("head", "chain.hash", f"{chain['hash']}; kept elsewhere was {kept!s:.80}")]
    return []


def _make_chain_finding(name: str, message: str) -> DocumentFinding:
    return DocumentFinding("chain", f"chain.{name}", message)


LEVELS = RESULT_DEPTH + 8  # levels of nesting of a document: a result has half of them, and stands in a recording


@with_config(CLOSED)
class RunDocument(TypedDict):
    """One run of one tenant, and its place in a chain."""

    format: Literal[1]  #: the version of this form
    chain: ChainPlace  #: where the run stands
    recording: JsonObject  #: the run: a `Recording`, with its result


def export_run(store: RunStore, run_id: str) -> RunDocument:
    """Return the latest record of a run of a store as a document, plain JSON; what was redacted stays so.

    Raises:
        InputError: there is no such run, it was erased, or people of two tenants had a part in it.
        StoreError: the store cannot be read, or what it has is not what was recorded.
    """
    stored = store.read(run_id)
    if stored.recording is None or stored.salt is None:
        raise InputError(f"run_id: a run that was not erased is required; given: {run_id!r:.80}, which was")
    list_entries: Any = getattr(store, "entries", None)  # a store that keeps endings only has none
    others = [text for text in (list_entries(run_id) if list_entries else ()) if text != stored.entry]
    recording, content = dict(stored.recording), hash_recording_content(stored.salt, dict(stored.recording))
    chain: Any = {**asdict(stored.position), "entry": stored.entry, "salt": stored.salt, "content": content}
    chain["also"] = [OtherEntry(hash=entry_hash(text), entry=text) for text in others]
    made: RunDocument = {"format": FORMAT, "chain": chain, "recording": recording}
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


def build_stored_run(document: RunDocument) -> StoredRun:
    """Return the run of a document as a store would give it."""
    chain = document["chain"]
    place = Position(chain["seq"], chain["hash"], chain["previous"], chain["at"])
    recording = read_stored_content(canonical_json(document["recording"]))
    if not is_run_content("run", recording):
        raise InputError("document.recording: a run with pattern, input, visits and result is required")
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

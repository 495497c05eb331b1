"""A run's place in the chain, held against the run: what a document says of both, and nothing else, is needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from pydantic import Field, with_config
from typing_extensions import TypedDict

from guardgraph.evidence.chain import RunEntry, entry_hash, read_chain_entry
from guardgraph.evidence.contents import content_hash
from guardgraph.plain.hashing import canonical_json
from guardgraph.plain.json import JsonObject
from guardgraph.state.forms import CLOSED, Moment, Sha256

DocumentFindingKind: TypeAlias = Literal["text", "chain", "head", "signature", "verdict", "version", "underived"]
"""What a finding is about: the text of the file, the place in the chain, the head that was kept elsewhere, the
signature, a verdict that comes out otherwise, one that comes out otherwise under another version of guardgraph, or what
cannot be derived."""


@dataclass(frozen=True, slots=True)
class DocumentFinding:
    """What is wrong with a document, or cannot be told."""

    kind: DocumentFindingKind
    place: str
    """Where, as a path into the document or the recording."""
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"


@with_config(CLOSED)
class OtherEntry(TypedDict):
    """An entry of the run beside the one of its record."""

    hash: Sha256
    """Its hash: SHA-256 of its text."""
    entry: str
    """Its text."""


@with_config(CLOSED)
class ChainPlace(TypedDict):
    """Where a run stands in the chain of a store, and what ties it to that place."""

    seq: Annotated[int, Field(ge=1)]
    """The number of its entry."""
    hash: Sha256
    """The hash of its entry: SHA-256 of the entry's text."""
    previous: Sha256
    """The hash of the entry before."""
    at: Moment
    """When it was recorded: UTC, ISO 8601."""
    entry: str
    """The text of its entry."""
    salt: Sha256
    """What the content is hashed with, 64 hex digits."""
    content: Sha256
    """SHA-256 of the bytes of the salt and the recording as canonical JSON."""
    also: list[OtherEntry]
    """All other entries of the run, in order of the chain: its beginning, notes, a close, other records of
    the same id. Their contents are not in the document."""


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
    pairs = [
        ("hash", chain["hash"], entry_hash(chain["entry"]), "of the entry"),
        ("seq", chain["seq"], said["seq"], "in the entry"),
        ("previous", chain["previous"], said["previous"], "in the entry"),
        ("at", chain["at"], said["at"], "in the entry"),
        ("content", chain["content"], said["content"], "in the entry"),
        (
            "content",
            chain["content"],
            hash_recording_content(chain["salt"], recording),
            "of salt and recording: one was changed",
        ),
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

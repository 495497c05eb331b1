"""Checking a document: every verdict in it is derived again, without its store, a network or trust in a log."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from guardgraph.evidence.chain import validate_chain_head
from guardgraph.evidence.derivation import find_derivation_problems, load_deriving_agent
from guardgraph.evidence.document import LEVELS, RunDocument, validate_run_document
from guardgraph.evidence.place import DocumentFinding, find_chain_head_problems, find_chain_place_problems
from guardgraph.evidence.signing import check_public_key, is_signed_envelope, open_signed_envelope
from guardgraph.evidence.strict_json import format_document_text, parse_strict_json
from guardgraph.graphs.running.door import GuardedGraph
from guardgraph.plain.json import JsonObject

Signed: TypeAlias = Literal["no", "unchecked", "wrong", "yes"]
"""Whether a document is signed: it is not; it is, and nobody gave a key; not by the key that was given; it is."""

_WRITTEN = "not byte for byte what is written of these values: somebody edited or reformatted the file"


@dataclass(frozen=True, slots=True)
class CheckedRun:
    """What came of checking a document."""

    run_id: str
    pattern: str
    guardgraph: str
    """The version that made the run, as the recording says."""
    seq: int
    """The number of its entry in the chain, as the document says."""
    hash: str
    """The hash of its entry, as the document says."""
    signed: Signed
    findings: tuple[DocumentFinding, ...]

    @property
    def ok(self) -> bool:
        """Whether every verdict was derived, and nothing was found."""
        return not self.findings

    def plain(self) -> JsonObject:
        """Return it as plain JSON."""
        plain: JsonObject = json.loads(json.dumps(asdict(self)))
        return {"ok": self.ok, **plain}


def check_document(
    document: RunDocument | str | bytes,
    agent: GuardedGraph[Any, Any, Any] | str,
    *,
    head: tuple[int, str] | None = None,
    public_key: bytes | None = None,
) -> CheckedRun:
    """Check a document: its place in the chain, its signature, and every verdict of its run, by deriving them again.

    Nothing is called, no store is read and no connection is made, but by what `agent` does when it is made.

    Args:
        document: of `export_run`, or the text of a file with one, or of an envelope of `sign_document`.
        agent: of the run's pattern, with its guards, settings and proposers' names; or ``module:factory``, whose
            factory is given the recorded policy and budget where it takes `policy` and `budget`. It is what the
            checker trusts.
        head: number and hash of the run's entry, as somebody kept them elsewhere; a result's ``audit`` has them.
        public_key: Ed25519, PEM (SubjectPublicKeyInfo): the document has to be signed by its holder.

    Returns:
        What was found: a finding for every difference, none where every verdict was derived and all fits.

    Raises:
        ConfigurationError: there is no such agent, or the key or the head is none; or the extra ``sign`` is not
            installed.
        InputError: it is no document, one of a format that this version does not know, or of another pattern.
    """
    head = validate_chain_head(head)
    if isinstance(document, str | bytes):
        data = document.encode(errors="surrogatepass") if isinstance(document, str) else document
        found, signed, findings = _open_document_file(data, public_key)
    else:
        found, signed, findings = validate_run_document(document), "no", _find_missing_signature(public_key)
    recording = found["recording"]
    graph = load_deriving_agent(agent, recording)
    return CheckedRun(
        run_id=str(recording.get("run_id")),
        pattern=str(recording.get("pattern")),
        guardgraph=str(recording.get("guardgraph")),
        seq=found["chain"]["seq"],
        hash=found["chain"]["hash"],
        signed=signed,
        findings=(
            *findings,
            *find_chain_place_problems(found["chain"], found["recording"]),
            *find_chain_head_problems(found["chain"], head),
            *find_derivation_problems(graph.frame, recording),
        ),
    )


def is_run_document(value: JsonObject) -> bool:
    """Say whether a JSON object is meant as a document, or as an envelope with one."""
    return is_signed_envelope(value) or {"chain", "recording"} <= value.keys()


def unwrap_run_document(value: JsonObject) -> RunDocument:
    """Return a document, taken out of its envelope; whether it is what was exported, nobody has checked.

    Raises:
        InputError: it is none.
    """
    return validate_run_document(
        _read_document_json("payload", open_signed_envelope(value).payload)[0] if is_signed_envelope(value) else value
    )


def _open_document_file(data: bytes, public_key: bytes | None) -> tuple[RunDocument, Signed, list[DocumentFinding]]:
    value, findings = _read_document_json("document", data)
    if not is_signed_envelope(value):
        return validate_run_document(value), "no", [*findings, *_find_missing_signature(public_key)]
    sealed = open_signed_envelope(value)
    signed: Signed = "unchecked"
    if public_key is not None:
        signed = "yes" if sealed.is_signed_by(public_key) else "wrong"
    if signed == "wrong":
        findings.append(DocumentFinding("signature", "signatures.0", "not by the holder of this key over these bytes"))
    elif not sealed.is_signature_possible:
        findings.append(DocumentFinding("signature", "signatures.0", "no signature that any key could have made"))
    inside, more = _read_document_json("payload", sealed.payload)
    return validate_run_document(inside), signed, [*findings, *more]


def _read_document_json(name: str, data: bytes) -> tuple[JsonObject, list[DocumentFinding]]:
    """Return the object in a file; that the file is another text than it is written as, is a finding."""
    value = parse_strict_json(data, name, LEVELS)
    return value, [] if format_document_text(value).encode() == data else [DocumentFinding("text", name, _WRITTEN)]


def _find_missing_signature(public_key: bytes | None) -> list[DocumentFinding]:
    if public_key is None:
        return []
    check_public_key(public_key)
    return [DocumentFinding("signature", "document", "not signed, and a key was given to check it with")]

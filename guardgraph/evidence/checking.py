"""Checking a document: every verdict in it is derived again, without its store, a network or trust in a log."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any, Literal, TypeAlias

from pydantic import ValidationError

from guardgraph.evidence.chain import validate_chain_head
from guardgraph.evidence.document import (
    LEVELS,
    DocumentFinding,
    DocumentFindingKind,
    RunDocument,
    find_chain_head_problems,
    find_chain_place_problems,
    validate_run_document,
)
from guardgraph.evidence.signing import is_signed_envelope, load_public_key, open_signed_envelope
from guardgraph.evidence.strict_json import format_document_text, parse_strict_json
from guardgraph.graphs.loading import is_factory_setting, load_named_graph
from guardgraph.graphs.replay import interpret_recording
from guardgraph.graphs.running.door import GuardedGraph
from guardgraph.graphs.running.end import build_recording
from guardgraph.graphs.running.frame import Frame
from guardgraph.plain.errors import ConfigurationError, InputError, NotRecorded
from guardgraph.plain.hashing import canonical_json
from guardgraph.plain.json import JsonObject, JsonValue, excerpt_value
from guardgraph.plain.scopes import read_public_suffixes_version
from guardgraph.plain.version import read_package_version
from guardgraph.state.recording import Recording, validate_recording
from guardgraph.state.settings import Settings

MOST = 100  # differences that are named: one says enough, and after a change of the way of a run nothing is as it was
SETTINGS = ("policy", "budget")

SHOWN = 160  # characters of a value in a message
BEFORE = 40  # characters of a long text that are shown before the place where it differs

_NOTHING = object()  # stands where one of two has nothing


def load_deriving_agent(agent: GuardedGraph[Any, Any, Any] | str, recording: JsonObject) -> GuardedGraph[Any, Any, Any]:
    """Return the agent that decides a recorded run again."""
    made = load_named_graph(agent, "agent") if isinstance(agent, str) else agent
    if not isinstance(made, GuardedGraph):
        raise ConfigurationError(f"agent: a guarded graph or module:factory is required; given: {type(made).__name__}")
    if recording.get("pattern") != (ours := made.frame.catalogue.pattern):
        raise InputError(f"document: a run of {ours} is required; given: one of {recording.get('pattern')!r:.80}")
    if isinstance(agent, str) and (settings := _find_recorded_settings(made.frame, agent, recording)):
        with suppress(ConfigurationError):  # it refuses them: each is named as a difference
            made = load_named_graph(agent, "agent", **settings)
        if not isinstance(made, GuardedGraph):
            raise ConfigurationError(f"agent: a guarded graph is required; given: {type(made).__name__}")
    return made


def _find_recorded_settings(frame: Frame, target: str, recording: JsonObject) -> dict[str, Settings]:
    """Return the recorded settings that are not an agent's own, as far as its factory takes them."""
    found: dict[str, Settings] = {}
    for name, ours, plain in zip(SETTINGS, (frame.policy, frame.budget), frame.plain_settings, strict=True):
        if recording.get(name) == plain or not is_factory_setting(target, "agent", name):
            continue
        try:
            found[name] = type(ours).model_validate_json(canonical_json(recording[name]))
        except (ValidationError, KeyError, TypeError):  # other settings than now: each is named as a difference
            continue
    return found


def find_derivation_problems(frame: Frame, given: JsonObject) -> list[DocumentFinding]:
    """Decide a recorded run again, and name every difference between its recording and what comes out."""
    if given.get("redacted"):
        return [DocumentFinding("underived", "redacted", "words of the run were redacted: nothing can be derived")]
    recording = validate_recording(given)
    ours = (read_package_version(), read_public_suffixes_version())
    is_alike = (recording["guardgraph"], recording["public_suffixes"]) == ours
    kind: DocumentFindingKind = "verdict" if is_alike else "version"
    behind = "" if is_alike else f"; differs under version {read_package_version()}"
    found = islice(_compare_with_derived_run(frame, recording, given), MOST)
    others = recording.get("shadows", {}).keys() - frame.shadows.keys()
    message = "the agent has no such shadow: what it made of the run cannot be derived"
    return [
        *[DocumentFinding(kind, place, f"{message}{behind}") for place, message in found],
        *[DocumentFinding("underived", f"shadows.{name:.80}", message) for name in sorted(others)],
    ]


def _compare_with_derived_run(frame: Frame, recording: Recording, given: JsonObject) -> Iterator[tuple[str, str]]:
    versions = {"guardgraph": read_package_version(), "public_suffixes": read_public_suffixes_version()}
    known: JsonObject = {**given, **versions}
    shadows = known.pop("shadows", {})
    alone: Any = {key: value for key, value in recording.items() if key != "shadows"}
    try:
        made: JsonObject = {**build_recording(interpret_recording(frame, alone))}
    except (NotRecorded, ConfigurationError, InputError) as error:
        settings = dict(zip(SETTINGS, frame.plain_settings, strict=True))
        ours = {"graph": frame.name, **settings, "fingerprints": {**frame.judged_by}}
        fingerprints = {name: known["fingerprints"][name] for name in ours["fingerprints"]}
        yield from _compare_recorded_values(
            {**{name: known[name] for name in ours}, "fingerprints": fingerprints}, ours, ""
        )
        yield _explain_underivable_run(error)
    else:
        yield from _compare_recorded_values(known, made, "")
    for name, shadow in shadows.items():
        if name in frame.shadows:
            yield from _compare_recorded_values(shadow, frame.shadows[name](alone), f"shadows.{name}.")


def _explain_underivable_run(error: Exception) -> tuple[str, str]:
    """Return where a run cannot be decided again, and why."""
    if isinstance(error, NotRecorded):
        return f"calls ({error.node})", f"cannot be derived: {error.difference}"
    if isinstance(error, ConfigurationError):
        return "visits", f"a context that the agent would have refused: {error}"
    place, _, message = str(error).removeprefix("recording.").partition(": ")
    return place, message


def _compare_recorded_values(recorded: JsonValue, made: JsonValue, path: str) -> Iterator[tuple[str, str]]:
    """Yield where two values differ, down to single texts and numbers, with what stands there."""
    if isinstance(recorded, dict) and isinstance(made, dict):
        for key in [*recorded, *(made.keys() - recorded.keys())]:
            yield from _compare_recorded_values(recorded.get(key, _NOTHING), made.get(key, _NOTHING), f"{path}{key}.")
    elif isinstance(recorded, list) and isinstance(made, list):
        for at in range(max(len(recorded), len(made))):
            then, now = (items[at] if at < len(items) else _NOTHING for items in (recorded, made))
            yield from _compare_recorded_values(then, now, f"{path}{at}.")
    elif type(recorded) is not type(made) or recorded != made:
        then, now = _excerpt_recorded_values(recorded, made)
        yield path.removesuffix("."), f"recorded {then}, derived {now}"


def _excerpt_recorded_values(recorded: object, made: object) -> tuple[str, str]:
    """Return two values for a message, of long texts what is around the place where they part."""
    if not (isinstance(recorded, str) and isinstance(made, str)):
        return _format_recorded_value(recorded), _format_recorded_value(made)
    parting = next((at for at, (then, now) in enumerate(zip(recorded, made, strict=False)) if then != now), 0)
    start = max(parting - BEFORE, 0) if max(len(recorded), len(made)) > SHOWN else 0
    then, now = (f"{'...' if start else ''}{text[start:]}" for text in (recorded, made))
    return _format_recorded_value(then), _format_recorded_value(now)


def _format_recorded_value(value: object) -> str:
    return "nothing" if value is _NOTHING else excerpt_value(json.dumps(value, ensure_ascii=False), SHOWN)


Signed: TypeAlias = Literal["no", "unchecked", "wrong", "yes"]
"""Whether a document is signed: it is not; it is, and nobody gave a key; not by the key that was given; it is."""

_WRITTEN = "not byte for byte what is written of these values: somebody edited or reformatted the file"


@dataclass(frozen=True, slots=True)
class CheckedRun:
    """What came of checking a document."""

    run_id: str
    pattern: str
    guardgraph: str  #: the version that made the run, as the recording says
    seq: int  #: the number of its entry in the chain, as the document says
    hash: str  #: the hash of its entry, as the document says
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

    Raises:
        ConfigurationError: the agent, the key or the head is none; or the extra ``sign`` is not installed.
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
    findings += find_chain_place_problems(found["chain"], recording)
    findings += find_chain_head_problems(found["chain"], head)
    findings += find_derivation_problems(graph.frame, recording)
    about = {name: str(recording.get(name)) for name in ("run_id", "pattern", "guardgraph")}
    place = found["chain"]
    return CheckedRun(**about, seq=place["seq"], hash=place["hash"], signed=signed, findings=tuple(findings))


def is_run_document(value: JsonObject) -> bool:
    """Say whether a JSON object is meant as a document, or as an envelope with one."""
    return is_signed_envelope(value) or {"chain", "recording"} <= value.keys()


def unwrap_run_document(value: JsonObject) -> RunDocument:
    """Return a document, taken out of its envelope; whether it is what was exported, nobody has checked."""
    if is_signed_envelope(value):
        value, _ = _read_document_json("payload", open_signed_envelope(value).payload)
    return validate_run_document(value)


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
    load_public_key(public_key)
    return [DocumentFinding("signature", "document", "not signed, and a key was given to check it with")]

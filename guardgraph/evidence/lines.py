"""Runs as JSON Lines on any filesystem that fsspec knows: S3, GCS, a local folder. One object for each run."""

# Each object has a chain of its own, with the entries of any store: its beginning, notes of it, its record, or its
# close. Whoever adds one writes the whole object anew, so that a reader has all of it or what was there before: a local
# file is written beside and renamed; S3, GCS and Azure put an object as a whole. Nothing ties one run's object to
# another's.

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from secrets import token_hex
from threading import Lock
from typing import Any, Final, Literal
from urllib.parse import quote, unquote

from guardgraph.evidence.chain import (
    START,
    Lookup,
    begin_entry,
    build_begun_lookup,
    build_run_lookup,
    close_entry,
    content_hash,
    entry_hash,
    make_content_salt,
    note_entry,
    read_chain_entry,
    run_entry,
    validate_chain_head,
)
from guardgraph.evidence.redaction import Redaction, redact_begun_run, redact_recording, redact_run_note
from guardgraph.evidence.store import OpenRun, Position, Receipt, StoredRun, count_notes
from guardgraph.evidence.strict_json import parse_strict_json
from guardgraph.evidence.verification import (
    ChainFinding,
    Kept,
    KeptContent,
    KeptStep,
    Verification,
    find_lost_threads,
    verify_chain,
)
from guardgraph.plain.errors import ConfigurationError, InputError, StoreError
from guardgraph.plain.extras import explain_extra
from guardgraph.plain.hashing import canonical_json
from guardgraph.plain.json import JsonObject
from guardgraph.plain.secrets import format_error_message, mask_secrets
from guardgraph.state.recording import BegunRun, Recording, RunNote

ENDING: Final = ".jsonl"
"""What the name of a run's object ends in."""
LEVELS: Final = 160
"""Levels of nesting that a line may have: those of a document, and its own."""
LOCKS: Final = 64
"""Runs that one process writes side by side."""
_NEEDED: Final[dict[str, dict[str, type]]] = {
    "run": {"run_id": str, "pattern": str, "visits": list, "result": dict},
    "begin": {"run_id": str, "pattern": str, "opening": dict, "request": str},
    "note": {"run_id": str, "request": str, "kind": str},
}
"""What a content has by which its run is found."""
_SCHEME: Final = re.compile(r"[a-z][a-z0-9+.-]*(?:://|::)")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of an object: an entry, and what stands beside it."""

    entry: str
    """The entry's text."""
    salt: str | None
    content: str | None
    """What its hash is of, as canonical JSON; None of a close."""

    @property
    def hash(self) -> str:
        """The hash of the entry."""
        return entry_hash(self.entry)

    @property
    def said(self) -> Any:
        """What the entry says; None where it says nothing that an entry may say, or not of this content."""
        with suppress(ValueError):
            said = read_chain_entry(self.entry)
            return said if self._is_content_of(said["kind"]) else None
        return None

    def _is_content_of(self, kind: str) -> bool:
        """Say whether the content has the form of what an entry of a kind is of; what is in it is another matter."""
        needed = _NEEDED.get(kind, {})
        told = self.read_content() if self.content is not None else {}
        return all(isinstance(told.get(name), form) for name, form in needed.items())

    @property
    def is_whole(self) -> bool:
        """Whether the content is what the entry was written for."""
        said = self.said or {}
        with suppress(ValueError, TypeError, AttributeError):
            return self.content is None or content_hash(str(self.salt), self.content) == said.get("content")
        return False

    def read_content(self) -> Any:
        """Return what the content says."""
        return None if self.content is None else parse_strict_json(self.content.encode(), "content", LEVELS)

    def write(self) -> bytes:
        """Return the line as an object has it."""
        beside = "" if self.content is None else f',"salt":"{self.salt}","content":{self.content}'
        return f'{{"entry":{self.entry}{beside}}}\n'.encode()


@dataclass(frozen=True, slots=True)
class LinesRuns:
    """Runs of a `LinesStore`, read object by object when they are iterated over."""

    store: LinesStore
    pattern: str | None = None
    tenant: str | None = None
    since: datetime | None = None
    among: tuple[str, ...] | None = None
    """Ids of the runs; all where it is None."""

    def __iter__(self) -> Iterator[StoredRun]:
        """Yield each run that has a record, once, by its latest; in the order of their ids."""
        for run_id in self.store.list_run_ids() if self.among is None else self.among:
            stored = self.store.find_record(run_id)
            if stored is not None and self._is_chosen(stored):
                yield stored

    def parts(self, count: int) -> Sequence[LinesRuns]:
        """Return the same runs in at most `count` parts."""
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise ConfigurationError(f"count: a whole number from 1 on is required; given: {count!r:.80}")
        ids = tuple(self.store.list_run_ids() if self.among is None else self.among)
        size = max(1, math.ceil(len(ids) / count))
        return [replace(self, among=ids[at : at + size]) for at in range(0, len(ids), size)]

    def _is_chosen(self, stored: StoredRun) -> bool:
        if self.since is not None and stored.position.is_before(self.since):
            return False
        if self.pattern is None and self.tenant is None:
            return True
        if stored.recording is None:
            return False
        found_by = build_run_lookup(stored.recording)
        tenants = [tenant for tenant, _ in found_by.callers]
        return self.pattern in (None, found_by.pattern) and (self.tenant is None or self.tenant in tenants)


class LinesStore:
    """A recorder that keeps each run as an object of JSON Lines, from its beginning on.

    It can be used from many threads and pickled; pickled, it has the options. A run is written by one process at a
    time: where two resume the same run at once, the one that writes last overwrites what the other added, which
    `verify` against its receipt shows. For a graph that changes something outside, a database is the better store.

    Args:
        url: of a folder, as fsspec has it: ``s3://bucket/runs``, ``gs://bucket/runs``, ``file:///var/runs``,
            ``memory://runs``. A bucket has to be there.
        timeout: seconds for which a run waits until one of its lines is kept.
        redact: what is not kept of runs.
        options: of fsspec's filesystem, such as ``{"endpoint_url": ...}``.

    Raises:
        ConfigurationError: an argument is wrong, or the extra ``fsspec`` is not installed.
    """

    def __init__(
        self, url: str, *, timeout: float = 30.0, redact: Redaction | None = None, options: JsonObject | None = None
    ) -> None:
        if not isinstance(url, str) or not _SCHEME.match(url):
            raise ConfigurationError(f"url: one that fsspec knows, such as s3://BUCKET/FOLDER; given: {url!r:.80}")
        if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout < math.inf:
            raise ConfigurationError(f"timeout: seconds, a number above 0, are required; given: {timeout!r:.80}")
        if redact is not None and not isinstance(redact, Redaction):
            raise ConfigurationError(f"redact: a Redaction is required; given: {type(redact).__name__}")
        self.url, self.timeout, self._redact, self._options = url, float(timeout), redact, options or {}
        self._filesystem_class()
        self._locks = [Lock() for _ in range(LOCKS)]

    def __repr__(self) -> str:
        return f"<LinesStore {_hide_credentials(self.url)}>"

    def __reduce__(self) -> Any:
        return partial(LinesStore, timeout=self.timeout, redact=self._redact, options=self._options), (self.url,)

    def _filesystem_class(self) -> Any:
        try:
            from fsspec.core import get_filesystem_class, split_protocol  # type: ignore[import-untyped]
        except ImportError as error:
            raise ConfigurationError(f"LinesStore: {explain_extra('fsspec')} ({error})") from error
        try:
            return get_filesystem_class(split_protocol(self.url)[0])
        except (ValueError, ImportError) as error:
            raise ConfigurationError(f"url: {_hide_credentials(self.url)}: {format_error_message(error)}") from None

    @cached_property
    def _place(self) -> tuple[Any, str]:
        """The filesystem and the folder in it, opened when they are first used."""
        from fsspec.core import url_to_fs

        with self._told("opened"):
            filesystem, folder = url_to_fs(self.url, **self._options)
        return filesystem, str(folder).rstrip("/")

    def _told(self, what: str) -> _Told:
        return _Told(f"{_hide_credentials(self.url)} cannot be {what}")

    # Writing

    def begin(self, run: BegunRun) -> Receipt:
        """Write that a run began; once this returns, it is kept as far as the filesystem keeps what it acknowledges.

        Raises:
            StoreError: the run has ended already, or it could not be kept.
        """
        kept = run if self._redact is None else redact_begun_run(run, self._redact)
        return self._append("begin", run["run_id"], kept, partial(begin_entry, run_id=run["run_id"]))

    def note(self, note: RunNote) -> Receipt:
        """Write a note of an open run.

        Raises:
            StoreError: it could not be kept.
        """
        kept = note if self._redact is None else redact_run_note(note, self._redact)
        return self._append("note", note["run_id"], kept, partial(note_entry, run_id=note["run_id"], note=note["kind"]))

    def notes(self, request: str) -> list[RunNote]:
        """Return what was noted of a request, of all its runs: every object is read for it.

        Raises:
            StoreError: an object cannot be read, or a note is not as it was noted.
        """
        found: list[RunNote] = []
        for run_id in self.list_run_ids():
            for at, line in enumerate(self._read_lines(run_id), 1):
                if line.said is None or not line.is_whole:
                    raise StoreError(f"run {run_id}, entry {at}: it is not what was noted")
                if line.said["kind"] == "note" and (note := line.read_content())["request"] == request:
                    found.append(note)
        return sorted(found, key=lambda note: note["at"])

    def record(self, run: Recording) -> Receipt:
        """Write a run that ended. One that is given again with the same content gets the receipt that it has.

        Raises:
            StoreError: it could not be kept.
        """
        kept = run if self._redact is None else redact_recording(run, self._redact)
        return self._append("run", run["run_id"], kept, partial(run_entry, run_id=run["run_id"]))

    def close_run(self, run_id: str, *, by: str, why: str) -> Receipt:
        """Write that an open run is lost.

        Raises:
            InputError: there is no such run, it is not open, or `by` or `why` is no text.
            StoreError: it could not be kept.
        """
        for name, given in {"by": by, "why": why}.items():
            if not isinstance(given, str) or not given.strip():
                raise InputError(f"{name}: a text that is not blank is required; given: {given!r:.80}")
        if not self.open_runs(run_id):
            raise InputError(f"run_id: an open run is required; given: {run_id!r:.80}")
        entry = partial(close_entry, run_id=run_id, how="closed", by=by, why=why)
        return self._append("close", run_id, None, entry)

    def _append(
        self, kind: Literal["begin", "note", "run", "close"], run_id: str, kept: Any, entry: Callable[..., str]
    ) -> Receipt:
        """Add a line to the object of a run, and return its receipt, or that of the same one that is there."""
        content = None if kept is None else canonical_json(kept)
        with self._locks[hash(run_id) % LOCKS]:
            lines = self._read_lines(run_id)
            if kind in ("begin", "run") and (known := _find_same_line(lines, kind, content)) is not None:
                return {"seq": known + 1, "hash": lines[known].hash}
            if kind == "begin" and any(line.said is not None and line.said["kind"] == "run" for line in lines):
                raise StoreError(f"run {run_id} has ended already; it is not begun again")
            salt = None if content is None else make_content_salt()
            more = {} if content is None or salt is None else {"content": content_hash(salt, content)}
            previous = lines[-1].hash if lines else START
            text = entry(len(lines) + 1, previous, datetime.now(UTC).isoformat(timespec="microseconds"), **more)
            lines.append(Line(text, salt, content))
            self._write_object(run_id, b"".join(line.write() for line in lines))
            return {"seq": len(lines), "hash": lines[-1].hash}

    def _write_object(self, run_id: str, data: bytes) -> None:
        from fsspec.implementations.local import LocalFileSystem  # type: ignore[import-untyped]

        with self._told("written"):
            filesystem, _ = self._place
            if isinstance(filesystem, LocalFileSystem):
                _write_local_file(Path(self._name_object(run_id)), data)
            else:
                filesystem.pipe_file(self._name_object(run_id), data)

    # Reading

    def check(self) -> None:
        """Look whether there is a folder that can be read.

        Raises:
            StoreError: there is none.
        """
        with self._told("read"):
            filesystem, folder = self._place
            filesystem.invalidate_cache()
            filesystem.ls(folder, detail=False)

    def list_run_ids(self) -> list[str]:
        """Return the ids of the runs that have an object, in order.

        Raises:
            StoreError: the folder cannot be read.
        """
        with self._told("read"):
            filesystem, folder = self._place
            filesystem.invalidate_cache()
            try:
                names = [str(name).rpartition("/")[2] for name in filesystem.ls(folder, detail=False)]
            except FileNotFoundError:  # nothing was written yet
                return []
        return sorted(unquote(name.removesuffix(ENDING)) for name in names if name.endswith(ENDING))

    def runs(
        self, *, pattern: str | None = None, tenant: str | None = None, since: datetime | None = None
    ) -> LinesRuns:
        """Return the runs that ended; filters as of `guardgraph.RunStore`.

        Raises:
            InputError: `since` has no zone.
        """
        if since is not None and (not isinstance(since, datetime) or since.tzinfo is None):
            raise InputError(f"since: a date and time with its zone is required; given: {since!r:.80}")
        return LinesRuns(self, pattern, tenant, since)

    def read(self, run_id: str) -> StoredRun:
        """Return the latest record of a run.

        Raises:
            InputError: there is no such run, or it has no ending.
            StoreError: it is not as it was recorded, or cannot be read.
        """
        stored = self.find_record(run_id)
        if stored is None:
            why = ", which has no ending" if self._read_lines(run_id) else ""
            raise InputError(f"run_id: a run of the store is required; given: {run_id!r:.80}{why}")
        if stored.changed is not None:
            raise StoreError(f"run {run_id}: {stored.changed}; `guardgraph audit verify` says more")
        return stored

    def find_record(self, run_id: str) -> StoredRun | None:
        """Return the latest record of a run, None where it has none; one that was changed says so."""
        try:
            lines = self._read_lines(run_id)
        except StoreError as error:
            return StoredRun(run_id, Position(0, "", "", _UNKNOWN), None, "", None, str(error))
        records = [at for at, line in enumerate(lines) if line.said is not None and line.said["kind"] == "run"]
        if not records:
            return None
        line, said = lines[records[-1]], lines[records[-1]].said
        place = Position(said["seq"], line.hash, said["previous"], said["at"])
        earlier = tuple(at + 1 for at in records[:-1])
        if not line.is_whole or said["run_id"] != run_id:
            return StoredRun(run_id, place, None, line.entry, None, "its content is not what was recorded", earlier)
        return StoredRun(run_id, place, line.read_content(), line.entry, line.salt, None, earlier)

    def head(self) -> Position | None:
        """Refuse: each run has a chain of its own, whose last entry is the receipt of its record.

        Raises:
            InputError: always.
        """
        raise InputError(f"head: each run has a chain of its own in {self!r}; keep the receipts of runs")

    def entries(self, run_id: str) -> list[str]:
        """Return the texts of all entries of a run, in their order."""
        return [line.entry for line in self._read_lines(run_id)]

    def open_runs(self, run_id: str | None = None) -> list[OpenRun]:
        """Return the runs that began and have no ending, in the order in which they began; of one run, that one."""
        ids = self.list_run_ids() if run_id is None else [run_id]
        found = [_find_open_run(name, self._read_lines(name)) for name in ids]
        return sorted((left for left in found if left is not None), key=lambda left: left.position.at)

    def verify(self, head: tuple[int, str] | None = None, *, checkpointer: Any = None) -> Verification:
        """Verify that every object has what was written to it.

        Args:
            head: a receipt that was kept elsewhere, number and hash: some run has it.
            checkpointer: LangGraph's: open runs that it does not have are found.

        Raises:
            StoreError: the folder cannot be read.
            ConfigurationError: the receipt is none.
        """
        kept, whole, is_there = validate_chain_head(head), verify_chain(()), False
        for run_id in self.list_run_ids():
            try:
                lines = self._read_lines(run_id)
            except StoreError as error:
                found = replace(verify_chain(()), findings=(ChainFinding("changed", 1, str(error)),))
            else:
                is_there |= kept is not None and kept in [(at, line.hash) for at, line in enumerate(lines, 1)]
                found = verify_chain(_list_kept(run_id, lines))
            whole = _join_verifications(whole, found, run_id)
        if kept is not None and not is_there:
            finding = ChainFinding("cut", kept[0], "no run has the entry whose hash was kept")
            whole = replace(whole, findings=(finding, *whole.findings))
        return whole if checkpointer is None else find_lost_threads(whole, checkpointer)

    def _name_object(self, run_id: str) -> str:
        return f"{self._place[1]}/{quote(run_id, safe='')}{ENDING}"

    def _read_lines(self, run_id: str) -> list[Line]:
        """Return the lines of a run's object; none where there is no object."""
        with self._told("read"):
            filesystem, _ = self._place
            try:
                data = filesystem.cat_file(self._name_object(run_id))
            except FileNotFoundError:
                return []
        try:
            if not data.endswith(b"\n"):  # one that is empty was cut off, too
                raise InputError("the last line is not whole")
            return [_read_line(line) for line in data.splitlines()]
        except InputError as error:
            raise StoreError(f"the object of run {run_id} was changed: {error}") from None


_UNKNOWN: Final = "0001-01-01T00:00:00+00:00"


class _Told:
    """Turns whatever a filesystem raises into a `StoreError` that says what could not be done."""

    def __init__(self, what: str) -> None:
        self._what = what

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, Exception) and not isinstance(error, StoreError | ConfigurationError):
            raise StoreError(f"{self._what}: {type(error).__name__}: {format_error_message(error)}") from error


def _hide_credentials(url: str) -> str:
    return mask_secrets(re.sub(r"//[^/@]*@", "//", url.partition("?")[0]))


def _read_line(data: bytes) -> Line:
    said = parse_strict_json(data, "line", LEVELS)
    if not said.keys() <= {"entry", "salt", "content"} or not isinstance(said.get("entry"), dict):
        raise InputError("a line with an entry is required, and nothing but its salt and content beside it")
    content = canonical_json(said["content"]) if "content" in said else None
    salt = said.get("salt")
    return Line(canonical_json(said["entry"]), salt if isinstance(salt, str) else None, content)


def _find_same_line(lines: Sequence[Line], kind: str, content: str | None) -> int | None:
    """Return the place of the last line of a kind, where it has this content."""
    of_kind = [at for at, line in enumerate(lines) if line.said is not None and line.said["kind"] == kind]
    return of_kind[-1] if of_kind and lines[of_kind[-1]].content == content else None


def _find_open_run(run_id: str, lines: Sequence[Line]) -> OpenRun | None:
    """Return a run that began and has no ending; None of any other. What is heard of it later opens it again."""
    said = [line.said for line in lines]
    kinds = [None if item is None else item["kind"] for item in said]
    if not lines or "run" in kinds or kinds[-1] == "close":
        return None
    told: Any = count_notes([item["note"] for item in said if item is not None and item["kind"] == "note"])
    first, entry = lines[0], said[0]
    if entry is None or not first.is_whole:
        place = Position(1, first.hash, "", _UNKNOWN if entry is None else entry["at"])
        return OpenRun(run_id, place, None, **told, changed="its beginning is not what was written")
    place = Position(1, first.hash, entry["previous"], entry["at"])
    return OpenRun(run_id, place, first.read_content() if entry["kind"] == "begin" else None, **told)


def _list_kept(run_id: str, lines: Sequence[Line]) -> Iterator[Kept]:
    """Yield lines as verification takes them; what they are found by is what their contents say."""
    for seq, line in enumerate(lines, 1):
        said, told = line.said, line.read_content() if line.is_whole else None
        kind, at = (None, None) if said is None else (said["kind"], said["at"])
        content = None
        if line.content is not None:
            found_by = Lookup("", ())
            if told is not None and kind in ("run", "begin"):
                found_by = build_run_lookup(told) if kind == "run" else build_begun_lookup(told)
            content = KeptContent(line.salt, line.content, found_by)
        named = told or {}
        place = (named.get("request"), named.get("thread"), named.get("graph")) if kind == "begin" else ()
        request, thread, graph = place or (named.get("request") if kind == "note" else None, None, None)
        note = said["note"] if said is not None and kind == "note" else None
        step = None if kind in (None, "run") else KeptStep(kind, run_id, note, request, thread, graph)
        hash_ = "" if said is None else line.hash  # what says nothing is an entry that was changed
        yield Kept(seq, line.entry, hash_, run_id if kind == "run" else None, at, content, step)


def _join_verifications(whole: Verification, found: Verification, run_id: str) -> Verification:
    """Return two verifications as one; each finding of the second names its run."""
    named = (replace(item, text=f"of run {run_id}: {item.text}") for item in found.findings)
    return replace(
        whole,
        entries=whole.entries + found.entries,
        runs=whole.runs + found.runs,
        open=(*whole.open, *found.open),
        repeated=(*whole.repeated, *found.repeated),
        clock_steps=(*whole.clock_steps, *found.clock_steps),
        findings=(*whole.findings, *named),
    )


def _write_local_file(file: Path, data: bytes) -> None:
    """Write a file as a whole, readable by its owner alone: beside it first, then in its place, then on disk."""
    file.parent.mkdir(parents=True, exist_ok=True)
    beside = file.with_name(f".{file.name}.{token_hex(8)}")
    try:
        with open(os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as written:
            written.write(data)
            written.flush()
            os.fsync(written.fileno())
        os.replace(beside, file)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    if os.name == "posix":
        folder = os.open(file.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

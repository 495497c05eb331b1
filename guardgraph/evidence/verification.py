"""Verification: whether a chain and what stands beside it are what was written, read once from beginning to end."""

# The walk along the chain finds where it first breaks. What cannot be shown: that nothing was cut off at the end, for
# which somebody has to keep the head elsewhere; nor who wrote an entry: whoever may write to the database may append.

from __future__ import annotations

import json
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import asdict, astuple, dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from itertools import islice, pairwise
from typing import Any, Literal, TypeAlias

from pydantic_core import from_json

from guardgraph.evidence import chain
from guardgraph.graphs.running.langgraph import TRIGGER
from guardgraph.plain.json import JsonObject
from guardgraph.plain.tables import format_html_table

EntryFault: TypeAlias = Literal["changed", "removed", "inserted", "moved", "cut"]  # what is wrong with an entry
FindingKind: TypeAlias = EntryFault | Literal["content", "missing", "unexplained", "lookup", "returned", "thread"]
"""What is wrong: with an entry, with a content, with what runs are found by, that a run that was erased is here again,
itself or in a fork, or that the thread of an open run does not have it."""


@dataclass(frozen=True, slots=True)
class ChainFinding:
    """Something in a store that is not as it was written."""

    kind: FindingKind
    seq: int  # the number of the entry that it is about
    text: str  # what is wrong, in words

    def __str__(self) -> str:
        return f"entry {self.seq}: {self.text}"


@dataclass(frozen=True, slots=True)
class _DoubtfulEntry:
    seq: int
    said: chain.Entry
    before: str  # the hash of the entry before
    above: str  # the hash of the entry before that one
    hash: str


class Walk:
    """Goes along a chain, entry by entry, in order of the numbers under which they are kept."""

    def __init__(self) -> None:
        self.last = 0  # the number of the last entry
        self.hash = chain.START  # the hash of the last entry
        self._above = chain.START
        self._broken: ChainFinding | None = None
        self._doubt: _DoubtfulEntry | None = None

    def follow_chain_entry(self, seq: int, hash: Any, said: chain.Entry | None) -> None:
        """Go on to the next entry."""
        if self._broken is None:
            if self._doubt is not None:
                self._broken, self._doubt = _explain_chain_break(self._doubt, said), None
            elif seq <= self.last:
                self._broken = ChainFinding("moved", seq, "it stands under a number that no entry has")
            elif seq != self.last + 1:
                self._broken = ChainFinding("removed", self.last + 1, "it was removed")
            elif said is None:
                self._broken = ChainFinding("changed", seq, "it was changed")
            elif (said["seq"], said["previous"]) != (seq, self.hash):
                self._doubt = _DoubtfulEntry(seq, said, self.hash, self._above, hash)
        self.last, self.hash, self._above = seq, hash, self.hash

    def find_chain_break(self) -> ChainFinding | None:
        """Return where the chain first breaks, None where it is whole."""
        return self._broken or (None if self._doubt is None else _explain_chain_break(self._doubt, None))


def _explain_chain_break(step: _DoubtfulEntry, following: chain.Entry | None) -> ChainFinding:
    """Say what was done where an entry, which is what its hash says, does not follow the one before."""
    said, seq = step.said, step.seq
    if said["seq"] == seq - 1 and said["previous"] == step.above:
        return ChainFinding("inserted", seq - 1, "it was inserted")
    if said["seq"] != seq:
        if said["seq"] == seq + 1 and (following is None or following["seq"] == seq + 2):
            return ChainFinding("removed", seq, "it was removed")
        return ChainFinding("moved", seq, "another one stands in its place")
    is_followed = following is not None and following["previous"] == step.hash
    if seq > 1 and (is_followed or following is None):  # whoever changed an entry cannot make the next one fit
        return ChainFinding("changed", seq - 1, "it was changed, and hashed anew")
    return ChainFinding("changed", seq, "it was changed, and hashed anew")


MOST = 100  # findings that are kept; one says enough, and a store that is all wrong has one for each run

_NOTHING, _PRESENT, _MISSING, _ERASED = range(4)


@dataclass(frozen=True, slots=True)
class KeptContent:
    """What stands beside an entry, as it is read."""

    salt: Any
    content: Any
    found_by: chain.Lookup


@dataclass(frozen=True, slots=True)
class Kept:
    """What a store has under one number, as it is read; None for what it has not."""

    seq: int
    entry: Any
    hash: Any
    run_id: Any
    at: Any
    content: KeptContent | None
    step: Any = None  # what the beginning, a note or the close of a run is found by


@dataclass(frozen=True, slots=True)
class LeftOpen:
    """A run that began, and has no ending, as its entries tell it."""

    run_id: str
    seq: int  # the number of the entry in which it began
    at: str  # since when: UTC, ISO 8601
    intents: int  # how often it was about to act
    receipts: int  # how often it is known what came of that
    waiting: bool  # whether it waits for a person: nothing else was noted since
    thread: str | None = None
    """The thread on which a checkpointer keeps it, as in its beginning; None where none does, or it was erased."""
    graph: str | None = None  # the name of its graph; None where its beginning was erased
    followed_by: int | None = None
    """The number of the last entry by which another run of a graph of this name began on a thread of this name; runs of
    one tenant close each other, so it is another's."""
    lost: str | None = None
    """Of a verification that was given the checkpointer: why nobody can resume the run; None where somebody can, or
    nobody knows."""


@dataclass(frozen=True, slots=True)
class ClockStep:
    """A time in the chain that lies before that of the entry before: somebody set a clock."""

    seq: int
    at: str
    previous: str  # the time of the entry before


@dataclass(frozen=True, slots=True)
class Erasure:
    """An erasure, as its entry tells it."""

    seq: int
    at: str  # UTC, ISO 8601
    by: str
    how: chain.How  # ``erase`` for chosen runs, ``retain`` for all that had been kept long enough
    records: int  # how many records were erased


@dataclass(frozen=True, slots=True)
class Verification:
    """What was found in a store."""

    entries: int
    runs: int  # records of runs, erased ones too
    head: str | None  # number and hash of the last entry, ``N:HASH``, to be kept elsewhere; None of an empty chain
    erasures: tuple[Erasure, ...]
    open: tuple[LeftOpen, ...]
    """The runs that began and have no ending, in the order in which they began: no finding, but somebody should know
    them."""
    repeated: tuple[tuple[int, ...], ...]
    """The numbers of the records of each run that has several, a hundred runs at most: it was executed again, or
    recorded again with other content. No finding."""
    clock_steps: tuple[ClockStep, ...]
    """Where a clock went back, a hundred places at most: no finding, since the chain says what came after what."""
    findings: tuple[ChainFinding, ...]
    """First where the chain breaks and what the head shows; then, by number, a hundred of all else at most."""

    @property
    def ok(self) -> bool:
        """Whether nothing was found."""
        return not self.findings

    def _repr_html_(self) -> str:
        said = f"{self.entries} entries, {self.runs} runs, head {self.head or 'none'}: {'ok' if self.ok else 'not ok'}"
        return format_html_table(said, ("finding", "entry", "what"), (astuple(item) for item in self.findings))

    def plain(self) -> JsonObject:
        """Return it as plain JSON."""
        plain: JsonObject = json.loads(json.dumps(asdict(self)))
        return {"ok": self.ok, **plain}


def find_lost_threads(found: Verification, checkpointer: Any) -> Verification:
    """Return what was found in a store, with the open runs that nobody can resume: their threads do not have them."""
    opened = [
        left if left.thread is None else replace(left, lost=_explain_lost_run(left, left.thread, checkpointer))
        for left in found.open
    ]
    lost = (
        ChainFinding("thread", left.seq, f"run {left.run_id} is open, and {left.lost}") for left in opened if left.lost
    )
    return replace(found, open=tuple(opened), findings=(*found.findings, *islice(lost, MOST)))


def _explain_lost_run(left: LeftOpen, thread: str, checkpointer: Any) -> str | None:
    """Say why the thread of a run does not have it; None where it has, or may have once the first node is over."""
    for name in dict.fromkeys((thread, thread.partition("|")[0])):
        stored = checkpointer.get_tuple({"configurable": {"thread_id": name, "checkpoint_ns": ""}})
        if stored is None:
            continue
        values = stored.checkpoint["channel_values"]
        log = values.get("log") if isinstance(values.get("log"), list) else None
        is_beginning = stored.metadata.get("source") == "input" or not log or f"{TRIGGER}{log[0]['node']}" in values
        if name != thread or is_beginning or values.get("run") == left.run_id:
            return None
        return f"its thread has gone on to run {values.get('run')}"
    return "its thread has no checkpoint: it was deleted, or its steps are kept at its end only"


def verify_chain(kept: Iterable[Kept], head: tuple[int, str] | None = None) -> Verification:
    """Verify a chain and what stands beside it."""
    reading = _ChainReader(chain.validate_chain_head(head))
    for item in kept:
        reading.take_stored_entry(item)
    return reading.build_verification()


class _ChainReader:
    def __init__(self, head: tuple[int, str] | None) -> None:
        self._head = head
        self._walk = Walk()
        self._head_hash: Any = None
        self._entries = self._runs = 0
        self._findings: list[ChainFinding] = []
        self._erasures: list[Erasure] = []
        self._open: dict[str, LeftOpen] = {}
        self._on_thread: dict[tuple[str | None, str | None], set[str]] = {}
        """The runs that are open, by thread and graph."""
        self._clock_steps: list[ClockStep] = []
        self._at = ""  # the time of the entry before
        self._erased: dict[int, int] = {}
        """Runs of which something was erased, as `_number_run` has them, and the number of the erasure."""
        self._returned: list[tuple[int, int, str]] = []
        """Place and number of what came behind the erasure of its run, or goes on from a run that was erased, and why
        it should not be here."""
        self._forks: list[tuple[int, int, str]] = []
        """Place and number of what forks left that came before any erasure of the run from which they go on, and its
        id."""
        self._chosen: set[int] = set()
        """The runs that were erased by name or for their caller, and not for their age, as `_number_run` has them."""
        self._records = array("Q")  # the runs of the records, as `_number_run` has them
        self._record_seqs = array("q")  # the numbers of their entries
        self._numbers = array("q")
        """Of the entries that there are, growing: a number that somebody made up takes no more room than another."""
        self._states = bytearray()  # of each of them, a byte that says what became of its content
        self._runs_of = array("Q")  # of each of them, the run that it is of, as a number; 0 of none

    def take_stored_entry(self, kept: Kept) -> None:
        """Look at the next number."""
        if kept.entry is None:
            beside = "a content" if kept.content is not None else "something to find a run by"
            self._add_chain_finding("unexplained", kept.seq, f"there is {beside}, but no entry")
            return
        self._entries += 1
        said = _read_trusted_entry(kept)
        self._walk.follow_chain_entry(kept.seq, kept.hash, said)
        if self._head is not None and kept.seq == self._head[0]:
            self._head_hash = kept.hash
        self._numbers.append(kept.seq)
        self._states.append(_NOTHING)
        self._runs_of.append(0)
        if said is not None:
            at, before, self._at = said["at"], self._at, said["at"]
            if before and at < before and _read_moment(at) < _read_moment(before) and len(self._clock_steps) < MOST:
                self._clock_steps.append(ClockStep(kept.seq, at, before))
        self._runs += kept.run_id is not None
        if said is not None:
            self._verify_step(kept, said)
        if said is not None and said["kind"] == "erasure":
            self._verify_erasure(kept, said)
        elif said is not None:
            self._take_run_entry(kept, said)

    def _verify_step(self, kept: Kept, said: chain.Entry) -> None:
        """Hold what a beginning, a note or a close is found by against its entry; no other entry has any of it."""
        step = kept.step
        named = None if step is None else (step.kind, step.run_id, step.note)
        ours = None
        if said["kind"] != "run" and said["kind"] != "erasure":
            ours = said["kind"], said["run_id"], said.get("note")
        is_left = kept.content is None and step is not None and (step.request, step.thread, step.graph) != (None,) * 3
        if named != ours or is_left:  # an erasure takes that away
            self._add_chain_finding("lookup", kept.seq, "what it is found by is not what it says")

    def _take_run_entry(self, kept: Kept, said: chain.RunEntry | chain.OpenEntry) -> None:
        """Look at an entry of a run: its record, its beginning, a note of it, or its close."""
        seq, run = kept.seq, _number_run(said["run_id"])
        self._runs_of[-1] = run
        self._follow_open_run(kept, said)
        if said["kind"] == "close":
            if kept.content is not None:
                self._add_chain_finding("unexplained", seq, "there is a content, but it is the entry of a close")
            return
        self._states[-1] = _MISSING if kept.content is None else _PRESENT
        if said["kind"] == "run":
            self._records.append(run)
            self._record_seqs.append(seq)
        if kept.content is not None:
            self._verify_content(kept, kept.content, said)
        if run in self._erased:
            why = f"its run was erased by entry {self._erased[run]}, and is here again"
            self._returned.append((len(self._states) - 1, seq, why))

    def _follow_open_run(self, kept: Kept, said: chain.RunEntry | chain.OpenEntry) -> None:
        """Keep which runs are open."""
        run_id = said["run_id"]
        if said["kind"] in ("run", "close"):
            if (ended := self._open.pop(run_id, None)) is not None and ended.thread is not None:
                others = self._on_thread[ended.thread, ended.graph]
                others.discard(run_id)
                if not others:
                    del self._on_thread[ended.thread, ended.graph]
            return
        left = self._open.setdefault(run_id, LeftOpen(run_id, kept.seq, said["at"], 0, 0, False))
        if said["kind"] == "begin" and kept.step is not None and kept.step.thread is not None:
            self._open[run_id] = replace(left, thread=kept.step.thread, graph=kept.step.graph)
            others = self._on_thread.setdefault((kept.step.thread, kept.step.graph), set())
            for other in others - {run_id}:
                self._open[other] = replace(self._open[other], followed_by=kept.seq)
            others.add(run_id)
        if said["kind"] == "note":
            note = said["note"]
            intents, receipts = left.intents + (note == "intent"), left.receipts + (note == "receipt")
            is_waiting = left.waiting if note == "decision" else note == "waiting"
            self._open[run_id] = replace(left, intents=intents, receipts=receipts, waiting=is_waiting)

    def build_verification(self) -> Verification:
        """Return what was found."""
        missing = (seq for seq, state in zip(self._numbers, self._states, strict=True) if state == _MISSING)
        for seq in missing:
            if not self._add_chain_finding("missing", seq, "its content is missing, and nobody erased it"):
                break
        for at, seq, origin in self._forks:  # one that is younger than a run that was too old has its own time
            if (run := _number_run(origin)) in self._chosen:
                why = f"it goes on from run {origin}, which entry {self._erased[run]} erased"
                self._returned.append((at, seq, why))
        for at, seq, why in self._returned:
            if self._states[at] == _PRESENT:  # erased once more, nothing of it is left
                self._add_chain_finding("returned", seq, why)
        broken = self._walk.find_chain_break()
        breaks = [] if broken is None else [broken]
        if self._head is not None and self._head[1] != self._head_hash:
            seq, after = self._head[0], self._walk.last + 1
            if after <= seq:
                cut = f"it was cut off, and all behind it; the head was {seq}"
                breaks.append(ChainFinding("cut", after, cut))
            else:
                breaks.append(ChainFinding("changed", seq, "it is not the head that was kept"))
        return Verification(
            entries=self._entries,
            runs=self._runs,
            head=None if self._walk.last == 0 else f"{self._walk.last}:{self._walk.hash}",
            erasures=tuple(self._erasures),
            open=tuple(self._open.values()),
            repeated=tuple(self._list_repeated_records()),
            clock_steps=tuple(self._clock_steps),
            findings=(*breaks, *sorted(self._findings, key=lambda item: item.seq)),
        )

    def _list_repeated_records(self) -> Iterator[tuple[int, ...]]:
        """Yield the numbers of the records of each run that has several."""
        several = {run for run, following in pairwise(sorted(self._records)) if run == following}
        of_run: dict[int, list[int]] = {}
        for seq, run in zip(self._record_seqs, self._records, strict=True):
            if run in several and (run in of_run or len(of_run) < MOST):
                of_run.setdefault(run, []).append(seq)
        yield from map(tuple, of_run.values())

    def _verify_content(
        self, kept: Kept, content: KeptContent, said: chain.RunEntry | chain.BeginEntry | chain.NoteEntry
    ) -> None:
        seq = kept.seq
        try:
            is_kept = chain.content_hash(content.salt, content.content) == said["content"]
        except (ValueError, TypeError, AttributeError):  # it is no text any more
            is_kept = False
        if not is_kept:
            self._add_chain_finding("content", seq, "its content was changed")
            return
        try:
            told = from_json(content.content)
        except ValueError:  # half a character, which the quicker reader does not take, or nested deeper than it goes
            told = chain.read_stored_content(content.content)
        try:
            if not _is_found_by_content(kept.step, content, said, told):
                self._add_chain_finding("lookup", seq, "what it is found by is not what its content says")
        except (KeyError, TypeError, AttributeError):  # no store takes it, but whoever may append can put it there
            self._add_chain_finding("content", seq, "its content is none of a run")
        match told:
            case {"forked_from": {"run_id": str(origin)}} if said["kind"] != "note":
                at = len(self._states) - 1
                if (erasure := self._erased.get(_number_run(origin))) is None:
                    self._forks.append((at, seq, origin))
                else:
                    self._returned.append((at, seq, f"it goes on from run {origin}, which entry {erasure} erased"))

    def _verify_erasure(self, kept: Kept, said: chain.ErasureEntry) -> None:
        count = 0
        for first, last in said["erased"]:
            if not first <= last < kept.seq:
                self._add_chain_finding("changed", kept.seq, "it names entries that cannot have been erased")
                return
            count += last - first + 1
            self._verify_erased_range(kept.seq, first, last, said["how"])
        self._erasures.append(Erasure(kept.seq, said["at"], said["by"], said["how"], count))
        if kept.content is not None:
            self._add_chain_finding("unexplained", kept.seq, "there is a content, but it is the entry of an erasure")

    def _verify_erased_range(self, erasure: int, first: int, last: int, how: chain.How) -> None:
        """Look at what an erasure says of a stretch of numbers."""
        begin, end = bisect_left(self._numbers, first), bisect_right(self._numbers, last)
        if end - begin != last - first + 1:
            self._add_chain_finding(
                "changed", erasure, f"it names entries from {first} to {last}, of which some are not there"
            )
        for at in range(begin, end):
            seq, state = self._numbers[at], self._states[at]
            if self._runs_of[at]:
                self._erased[self._runs_of[at]] = erasure
                if how == "erase":
                    self._chosen.add(self._runs_of[at])
            if state == _MISSING:
                self._states[at] = _ERASED
            elif state == _PRESENT:
                self._add_chain_finding("unexplained", seq, f"its content is there, though entry {erasure} erased it")
            elif state != _ERASED:  # what came back from a copy is erased once more
                self._add_chain_finding("changed", erasure, f"it names entry {seq}, which had nothing to erase")

    def _add_chain_finding(self, kind: FindingKind, seq: int, text: str) -> bool:
        """Keep a finding; say whether there is room for more."""
        if len(self._findings) < MOST:
            self._findings.append(ChainFinding(kind, seq, text))
        return len(self._findings) < MOST


def _number_run(run_id: str) -> int:
    """Return a number for a run, never 0: there may be millions, and their ids would take ten times as much room."""
    return int.from_bytes(sha256(run_id.encode(errors="surrogatepass")).digest()[:8]) or 1


def _read_moment(at: str) -> datetime:
    moment = datetime.fromisoformat(at)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _is_found_by_content(
    step: Any, content: KeptContent, said: chain.RunEntry | chain.BeginEntry | chain.NoteEntry, told: Any
) -> bool:
    """Say whether what stands beside a content is what it says."""
    if told["run_id"] != said["run_id"]:
        return False
    if said["kind"] == "run":
        return chain.build_run_lookup(told) == content.found_by
    ours = (None, None, None) if step is None else (step.request, step.thread, step.graph)
    if said["kind"] == "begin":
        found_by, theirs = chain.build_begun_lookup(told), (told["request"], told["thread"], told["graph"])
    else:
        found_by, theirs = chain.Lookup("", ()), (told["request"], None, None)
    return content.found_by == found_by and ours == theirs


def _read_trusted_entry(kept: Kept) -> chain.Entry | None:
    """Return what an entry says; None where its text is not what its hash and its columns say."""
    try:
        if chain.entry_hash(kept.entry) != kept.hash:
            return None
        said = chain.read_chain_entry(kept.entry)
    except (ValueError, TypeError, AttributeError):  # it is no text any more
        return None
    run_id = said["run_id"] if said["kind"] == "run" else None
    return said if (said["at"], run_id) == (kept.at, kept.run_id) else None

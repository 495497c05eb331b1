"""The queue of runs that wait for a person: what a store knows of them, and a decision that resumes one.

The store keeps what was asked (a note of each wait), who began the run, under which context, and on which thread. What
the run needs to go on stands in the checkpointer of its graph, which is given beside it. Who may decide, for how long
and about what, the graph says when it is resumed. The queue only lets one decision at a time through: each is noted in
the store before the run is resumed, and of two the one that was noted first counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias
from uuid import uuid4

from langchain_core.runnables import RunnableConfig
from langgraph.types import Command

from guardgraph.evidence.chain import read_run_caller
from guardgraph.evidence.sql.store import SqlStore
from guardgraph.evidence.store import OpenRun
from guardgraph.graphs.running.door import GuardedGraph
from guardgraph.graphs.running.session import format_utc_moment
from guardgraph.plain.errors import ConfigurationError, InputError
from guardgraph.plain.json import JsonObject, JsonValue
from guardgraph.state.recording import BegunRun, NoteKind, RunNote
from guardgraph.world.reviews import EDIT, EDITED

GRACE = 60.0
"""Seconds that a decision has to get its run on, beside those that the run may be active. Then it lapses: the process
that made it is gone."""

SHORTEST_HASH = 8  # digits of the hash of a question by which a person may name it

_RULES = ("four_eyes", "reviewer_roles", "max_review_seconds")

Decision: TypeAlias = str  # ``approve``, ``edit`` or ``reject``


class AlreadyDecided(InputError):
    """Somebody else decided first, or is deciding now; the message says who."""


class NoSuchRun(InputError):
    """The store has no run of that id."""


class AnotherQuestion(InputError):
    """The decision is about a question that the run does not ask any more."""


@dataclass(frozen=True, slots=True)
class WaitingRun:
    """A run that waits, as the store knows it."""

    run_id: str
    begun: BegunRun
    at: str  # since when it waits for this answer: UTC, ISO 8601
    shown: JsonObject  # what a result of a run that waits holds; see `guardgraph.grammar.Waiting`
    deciding: JsonObject | None = None  # who is about to answer, where somebody is: ``{attempt, hash, decision, by}``

    @property
    def question(self) -> JsonObject:
        """What is asked: node, what is shown, hash, and what is known beside it."""
        asked = self.shown.get("waiting_for")
        return asked if isinstance(asked, dict) else {}

    @property
    def is_review(self) -> bool:
        """Whether a review asks; code of an application that interrupts a run by itself takes another answer."""
        return isinstance(self.question.get("shown"), dict)

    @property
    def starter(self) -> str | None:
        """The user who began the run."""
        return read_run_caller(dict(self.begun["opening"]))[1]

    @property
    def tenant(self) -> str | None:
        """For whom it was begun."""
        return read_run_caller(dict(self.begun["opening"]))[0]

    @property
    def rules(self) -> JsonObject:
        """Who may decide, by the deployment's policy: `four_eyes`, `reviewer_roles`, `max_review_seconds`, if set."""
        policy = self.begun["policy"]
        return {name: policy[name] for name in _RULES if policy.get(name)}

    @property
    def editable(self) -> JsonValue:
        """The value that a person may edit; None where they may not."""
        value: Any = self.question.get("shown")
        for key in self.edits:
            value = value.get(key) if isinstance(value, dict) else None
        return value if self.edits else None

    @property
    def edits(self) -> list[str]:
        """The keys that lead to that value."""
        edits = self.question.get("edits")
        return [str(key) for key in edits] if isinstance(edits, list) else []


class ReviewQueue:
    """The runs of a store that wait for a person.

    Args:
        store: of the runs, which the graph's recorder is.
        graph: that goes on with them, with the checkpointer that keeps them; None to look only.
    """

    def __init__(self, store: SqlStore, graph: GuardedGraph | None = None) -> None:
        required = None
        if graph is not None and not isinstance(graph, GuardedGraph):
            required = f"a guarded graph is required; given: {type(graph).__name__}"
        elif graph is not None and graph.checkpointer in (None, False, True):
            required = "one with a checkpointer is required, which keeps runs that wait; given: none"
        elif graph is not None and graph.frame.recorder is None:
            required = "one whose recorder is the store is required, or its runs never end there"
        if required is not None:
            raise ConfigurationError(f"graph: {required}")
        self.store = store
        self.graph = graph

    def list_waiting(self) -> list[WaitingRun]:
        """Return the runs that wait, in the order in which they began."""
        found = (self._read_waiting(run) for run in self.store.open_runs() if run.waiting)
        return [run for run in found if run is not None]

    def read(self, run_id: str) -> WaitingRun:
        """Return a run that waits.

        Raises:
            AlreadyDecided: it was decided; the message says by whom.
            NoSuchRun: the store has none of that id.
            InputError: it does not wait.
        """
        for run in self.store.open_runs(run_id):
            if run.waiting and (waiting := self._read_waiting(run)) is not None:
                return waiting
            if (decided := self._find_last_wait(run)[1]) is not None:
                raise AlreadyDecided(_format_decided_by(run_id, decided))
            raise InputError(f"run {run_id:.80}: it does not wait for a person")
        raise self._explain_missing_run(run_id)

    def decide(
        self,
        run_id: str,
        decision: Decision,
        *,
        by: str,
        hash: str | None = None,
        edited: JsonValue = None,
        comment: str = "",
        groups: Sequence[str] = (),
        context: JsonObject | None = None,
    ) -> JsonObject:
        """Decide, resume the run and return its result, or what it shows if it waits again.

        Args:
            run_id: of the run.
            decision: ``approve``, ``edit`` or ``reject``, with what is `edited` and a `comment` that is kept.
            by: who decides, with their `groups`: the caller with whom the run is resumed. Whether it is they, and
                whether they may, the graph's reviewers and its policy say.
            hash: of the question that was looked at, or how it begins; the one that the store has when None.
            edited: of an edit, what is to stand in place of what was shown.
            comment: likewise.
            groups: likewise.
            context: under which the run goes on; the one under which it began when None. Its caller is replaced.

        Raises:
            AlreadyDecided: somebody was quicker.
            AnotherQuestion: `hash` names another question than the run asks now.
            InputError: there is no such run, or it cannot be resumed here.
            StoreError: the decision could not be noted; the run was not resumed.
        """
        if self.graph is None:
            raise ConfigurationError("graph: one with a checkpointer is required of whoever decides; given: none")
        waiting = self.read(run_id)
        _check_asked_hash(waiting, hash)
        thread = _read_own_thread(waiting)
        self._check_kept_thread(waiting, thread)
        answer: JsonObject = {"hash": waiting.question["hash"], "decision": decision, "by": by}
        answer |= {EDITED: edited} if decision == EDIT else {}
        answer |= {"comment": comment} if comment else {}
        caller = {"user": by, "groups": [*groups], **({} if waiting.tenant is None else {"tenant": waiting.tenant})}
        within = {**(_read_begun_context(waiting.begun) if context is None else context), "caller": caller}
        config: RunnableConfig = {"configurable": {"thread_id": thread}}
        self._claim_decision(waiting, decision, by)
        try:
            result: JsonObject = self.graph.invoke(Command(resume=answer), config, context=within)
        except BaseException:
            if self.graph.get_state(config).interrupts:  # nothing came of it: somebody may decide at once
                self._keep_decision_note(waiting, "waiting", waiting.shown)
            raise
        return {key: value for key, value in result.items() if key != "__interrupt__"}

    def _read_waiting(self, run: OpenRun) -> WaitingRun | None:
        """Return what was noted of a wait; None of a run whose notes or beginning were erased."""
        note, deciding = self._find_last_wait(run)
        if run.begun is None or note is None:
            return None
        return WaitingRun(run.run_id, run.begun, note["at"], note["content"], deciding)

    def _find_last_wait(self, run: OpenRun) -> tuple[RunNote | None, JsonObject | None]:
        """Return the note of a run's last question, and the decision with which it goes on: the first one behind it."""
        asked, deciding, begun = None, None, run.begun
        for note in () if begun is None else self.store.notes(begun["request"]):
            if note["run_id"] == run.run_id and note["kind"] == "waiting":
                asked, deciding = note, None
            elif note["run_id"] == run.run_id and note["kind"] == "decision" and asked and deciding is None and begun:
                deciding = None if _is_lapsed(note, begun) else note["content"]
        return asked, deciding

    def _claim_decision(self, waiting: WaitingRun, decision: Decision, by: str) -> None:
        """Note who decides; of several, the first noted one goes on, and others are refused."""
        if waiting.deciding is not None:
            raise AlreadyDecided(_format_decided_by(waiting.run_id, waiting.deciding))
        attempt = str(uuid4())
        content = {"attempt": attempt, "hash": waiting.question["hash"], "decision": decision, "by": by}
        self._keep_decision_note(waiting, "decision", content)
        now = self.read(waiting.run_id)
        if now.deciding is None or now.deciding.get("attempt") != attempt:
            raise AlreadyDecided(_format_decided_by(waiting.run_id, now.deciding or {}))

    def _keep_decision_note(self, waiting: WaitingRun, kind: NoteKind, content: JsonObject) -> None:
        at = format_utc_moment(datetime.now(UTC))
        request = waiting.begun["request"]
        self.store.note(RunNote(run_id=waiting.run_id, request=request, kind=kind, at=at, content=content))

    def _check_kept_thread(self, waiting: WaitingRun, thread: str) -> None:
        """Refuse a run that the graph's checkpointer does not keep, or one of another graph."""
        assert self.graph is not None
        begun, frame = waiting.begun, self.graph.frame
        if (frame.catalogue.pattern, frame.name) != (begun["pattern"], begun["graph"]):
            asked = f"{begun['graph']} ({begun['pattern']})"
            raise InputError(f"graph: the run is of {asked}; given: {frame.name} ({frame.catalogue.pattern})")
        state = self.graph.get_state({"configurable": {"thread_id": thread}})
        if state.values.get("run") != waiting.run_id or not state.next:
            now = self.read(waiting.run_id)  # it may have been decided this very moment, or be going on
            if now.deciding is not None:
                raise AlreadyDecided(_format_decided_by(now.run_id, now.deciding))
            required = f"one that keeps run {waiting.run_id} on thread {thread!r:.80} is required"
            there = "another run there" if state.values else "no such thread"
            raise InputError(f"checkpointer: {required}; the graph's has {there}")

    def _explain_missing_run(self, run_id: str) -> InputError:
        if not self.store.entries(run_id):
            return NoSuchRun(f"run {run_id!r:.80}: the store has no such run")
        try:
            stored = self.store.read(run_id)
        except InputError:
            return InputError(f"run {run_id:.80}: it was closed and has no ending")
        if stored.recording is None:
            return InputError(f"run {run_id:.80}: it was erased")
        result = stored.recording["result"]
        decided: list[Any] = [line for line in result["timeline"] if line.get("kind") == "review"]
        if decided:
            answer, reviewer = decided[-1].get("answer"), decided[-1].get("reviewer") or {}
            said = answer if isinstance(answer, dict) else {}
            how = f"{said.get('decision', 'decided')} by {reviewer.get('name') or said.get('by') or 'somebody'}"
            return AlreadyDecided(f"run {run_id:.80}: already decided: {how}; it ended as {_name_run_end(result)}")
        return InputError(f"run {run_id:.80}: it has ended and asked nobody: {_name_run_end(result)}")


def _check_asked_hash(waiting: WaitingRun, given: str | None) -> None:
    asked = waiting.question.get("hash")
    if not waiting.is_review or not isinstance(asked, str):
        raise InputError(f"run {waiting.run_id}: it waits for code of its own; resume it with what that code asks for")
    if given is None:
        return
    if len(given) < SHORTEST_HASH:
        raise InputError(f"hash: {SHORTEST_HASH} digits of the question's hash at least; given: {given!r:.80}")
    if not asked.startswith(given):
        now, then = asked[:SHORTEST_HASH], given[:SHORTEST_HASH]
        said = f"it asks another question by now ({now}), and you looked at {then}; look again"
        raise AnotherQuestion(f"run {waiting.run_id}: {said}")


def _read_own_thread(waiting: WaitingRun) -> str:
    thread = waiting.begun["thread"]
    if thread is None:
        raise InputError(f"run {waiting.run_id}: it is on no thread, so nobody can resume it")
    if "|" in thread:
        raise InputError(f"run {waiting.run_id}: it stands inside another graph; resume that, on thread {thread!r:.80}")
    return thread


def _read_begun_context(begun: BegunRun) -> JsonObject:
    context = begun["opening"]["context"]
    return context if isinstance(context, dict) else {}


def _is_lapsed(note: RunNote, begun: BegunRun) -> bool:
    """Say whether a decision got its run nowhere: its time, and that of the run, is over."""
    seconds = begun["budget"].get("max_seconds")
    lasts = GRACE + (seconds if isinstance(seconds, int | float) else 0.0)
    return datetime.now(UTC) - datetime.fromisoformat(note["at"]) > timedelta(seconds=min(lasts, 1e9))


def _format_decided_by(run_id: str, decided: JsonObject) -> str:
    return f"run {run_id:.80}: already decided by {decided.get('by', 'somebody')}: {decided.get('decision', 'unknown')}"


def _name_run_end(result: JsonObject) -> str:
    return str(result.get("outcome") or result.get("stop_reason"))

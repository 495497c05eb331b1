"""A session: the time between the call of a graph and its return, in which one run begins or goes on.

A run that is interrupted and resumed has several. The door opens a session, the nodes that run in it count their time
from it, visit by visit, and what an attempt took that could not write anything is kept for the next one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import var_child_runnable_config
from langgraph.runtime import get_runtime

from guardgraph.graphs.declaring import name_input_channel
from guardgraph.graphs.running.frame import Frame, GrammarBreach, Part
from guardgraph.graphs.running.langgraph import CHECKPOINTER, READ, RUNTIME
from guardgraph.graphs.running.live_policy import PolicySource
from guardgraph.guards.stop import Stop
from guardgraph.nodes.body import Run
from guardgraph.plain.errors import PASSING, ConfigurationError, InputError, NotRecorded, convert_exit
from guardgraph.plain.hashing import digest
from guardgraph.plain.json import (
    JsonObject,
    JsonValue,
    TooLarge,
    copy_json,
    find_json_problem,
    make_storable_json,
    measure_json,
    restore_json_numbers,
)
from guardgraph.plain.log import log_failure
from guardgraph.state.context import Caller, Context, build_server_caller
from guardgraph.state.outcome import Outcome
from guardgraph.state.recording import ForkedFrom, RecordedCall, Recording, RunNote
from guardgraph.state.run import Asking, LiveReading, LogEntry, Opening
from guardgraph.state.spending import Spending
from guardgraph.world.call import ObservedSession, World
from guardgraph.world.failures import record_raised_exception, restore_raised_exception

CALLER_REFUSED = "context.caller: on a server it is whoever is signed in, and no client may say it; given: a caller"
"""What a client of a server is told that gives a caller."""

REQUEST_KEY: Final = "request_key"  # key in a client's configuration of the id of what it asks for

SESSION = "__guardgraph_session"
"""Key of the session in LangGraph's configuration; what begins with two underscores is not checkpointed."""

_ON_A_SERVER = ("assistant_id", "graph_id", "langgraph_auth_user")
"""What LangGraph's server puts into the configuration of a run that a client asks for."""


@dataclass(frozen=True)
class FirstCheckpoint:
    """The checkpoint at which a run began, of a graph that changes something outside."""

    id: str
    claims: dict[tuple[str, int], list[JsonObject]] = field(default_factory=dict)
    """Of each visit with a write: who else went on with the run and came to the same visit by another way."""


_PLACE_OF_WRITE = ("node", "visit", "number")


class KnownNotes:
    """What a session knows of the notes of its request: those that were read from its recorder, by their write."""

    def __init__(self) -> None:
        self.read_to = 0  # the number of an entry up to which all notes were read; 0 where nobody knows
        self._written_to = 0
        self._by_write: defaultdict[tuple[object, ...], list[RunNote]] = defaultdict(list)

    def take_receipt(self, given: object) -> None:
        """Keep how far a chain is written, where a recorder returned the number of an entry."""
        if isinstance(given, Mapping) and type(seq := given.get("seq")) is int:
            self._written_to = seq

    def add_notes(self, later: Iterable[RunNote]) -> None:
        """Add what was read behind `read_to`."""
        for note in later:
            self._by_write[tuple(map(note["content"].get, _PLACE_OF_WRITE))].append(note)
        self.read_to = self._written_to

    def list_notes(self, at: JsonObject) -> list[RunNote]:
        """Return the notes of one write, or of all writes of a visit."""
        place = tuple(map(at.get, _PLACE_OF_WRITE))
        if "number" in at:
            return self._by_write.get(place, [])
        return [note for other, notes in self._by_write.items() if other[:2] == place[:2] for note in notes]


@dataclass(slots=True, eq=False)
class Session:
    """One call of a graph, which the door makes and hands on to its nodes."""

    world: World
    by_code: bool = True  # whether code of the process gives the context, and no client of a server
    _taken: bool = False  # whether the call was begun
    is_over: bool = False  # whether the run is over
    is_replay: bool = False  # whether it is a run that is decided again, of which nobody is told
    last: float = 0.0  # the reading of the clock from which the next node's time counts
    run_id: str | None = None
    request: str = ""  # the id of what was asked: the client's, else that of a server's run, else the run's
    thread: str | None = None  # on which a checkpointer keeps the run, with the place in it of a graph inside a graph
    carried: float = 0.0  # seconds of attempts that wrote nothing
    notes: KnownNotes = field(default_factory=KnownNotes)  # what a recorder noted of the request, as far as it was read
    forked_from: ForkedFrom | None = None  # of a replay: from which run the recorded one went on
    opening: Opening | None = None  # what the first node of the session has to write into the log
    waiting: JsonObject | None = None  # what the run waits for, once it does
    scratchpad: Any = None  # where LangGraph keeps what a body was answered that interrupted the run by itself
    resume_map: Mapping[str, Any] | None = None  # answers by the ids of interrupts, as LangGraph hands them on
    answers: list[Any] | None = None  # what resumed the run in this session; None where nobody knows, as in a graph
    question: Any = None  # what the run waited for when it was left
    read: Any = None  # with what a node may ask LangGraph for channels
    resumable: bool = True  # whether a checkpointer keeps the run while it waits
    place: Any = None  # an `effects.KeptPlace`: on which a node works that may change something outside
    first_checkpoint: FirstCheckpoint | None = None
    outer_durability: str | None = None  # when the graph around keeps its steps, where it says it
    outer_visit: str = ""  # which visit of the graph around asks
    anchored: bool | None = None  # whether the graphs around kept the step in which this one runs; None: not looked
    unasked: list[RecordedCall] = field(default_factory=list)  # of a replay: writes not asked for again when resumed
    observed: ObservedSession | None = None  # who is told how it goes, where somebody observes it
    is_followed: bool = True  # whether somebody may read the events of the run's progress
    run: Run[Any, Any] | None = None  # policy, budget and caller, once a node has read its context

    def __post_init__(self) -> None:
        self.last = self.world.clock()

    def open_run(self, frame: Frame, run_id: str, config: RunnableConfig | None, log: list[LogEntry]) -> Run[Any, Any]:
        """Return the run as its nodes see it, tightened by the context that LangGraph hands on."""
        runtime: Any = get_runtime()
        given, server = (None, None) if runtime is None else (runtime.context, runtime.server_info)
        self.resumable = (config or {}).get("configurable", {}).get(CHECKPOINTER) is not None
        asking = None if server is None else build_server_caller(server.user)
        first = self.run_id is None
        self.run_id, self.thread = run_id, find_run_thread(config) if self.resumable else None
        self.request = log[0].get("request", run_id) if log else choose_request(config, self.outer_visit) or run_id
        self.first_checkpoint = FirstCheckpoint(log[0]["began_at"]) if log and "began_at" in log[0] else None
        if first:
            self.write_session_opening(asking)
        try:
            run = self.tighten_run(frame, given, on_server=server is not None, caller=asking)
        except Exception as error:  # what it is, is kept for the record; it is raised on
            if self.opening is not None:
                self.opening["refused"] = record_raised_exception(error).packed()
            raise
        if self.opening is not None:
            self.opening["context"] = _record_given_context(given, frame)
        if not log and self.request != run_id:
            self.request = name_request_of(self.request, run.caller)
        return run

    def replay_run(self, frame: Frame, run_id: str, opening: Opening) -> Run[Any, Any]:
        """Return the run as its nodes saw it in a recorded session, or would see it in another deployment."""
        self.run_id, self.carried, self.opening, self.is_replay = run_id, opening["carried"], opening, True
        self.request, self.resumable = run_id, opening["resumable"]
        if "refused" in opening:
            raise restore_raised_exception(Outcome.unpacked(opening["refused"])) or ConfigurationError(
                "context: it was refused"
            )
        caller = None if opening["caller"] is None else Caller.model_validate(opening["caller"])
        if (context := frame.context.within(opening["context"])) is not None:
            context.check(frame.policy, frame.budget)
        self.run = self.tighten_run(frame, opening["context"], on_server=caller is not None, caller=caller)
        return self.run

    def tighten_run(self, frame: Frame, given: object, *, on_server: bool, caller: Caller | None) -> Run[Any, Any]:
        """Return policy, budget and caller under a context."""
        context = None if given is None else frame.context.within(given)
        asking = context.caller if context is not None else None
        if on_server and asking is not None and not self.by_code:
            raise ConfigurationError(CALLER_REFUSED)
        policy, budget = frame.policy, frame.budget
        if context is not None:
            policy, budget = policy.tightened_by(context.policy), budget.tightened_by(context.budget)
        started_at = "" if self.opening is None else self.opening["started_at"]
        self.run = Run(policy, budget, caller=asking or caller, started_at=started_at)
        return self.run

    def write_session_opening(self, caller: Caller | None) -> Opening:
        """Keep what holds from here on, for the first node to write into the log."""
        self.opening = made = Opening(
            started_at=format_utc_moment(self.world.calendar()),
            context=None,
            caller=None
            if caller is None
            else Asking(tenant=caller.tenant, user=caller.user, groups=list(caller.groups)),
            carried=self.carried,
            resumable=self.resumable,
        )
        return made

    def take_graph_call(self) -> bool:
        """Say whether this call of a graph is still to be begun, and begin it."""
        taken, self._taken = self._taken, True
        return not taken

    def put_in_config(self, config: Any) -> Any:
        """Return a configuration in which the nodes find this session."""
        given = config or {}
        return {**given, "configurable": {**(given.get("configurable") or {}), SESSION: self}}

    @contextmanager
    def pause_clock(self) -> Iterator[None]:
        """Let no time count while whoever follows the run looks at it: nothing runs meanwhile."""
        began = self.world.clock()
        try:
            yield
        finally:
            self.last += self.world.clock() - began


def is_on_server(configurable: Mapping[str, Any]) -> bool:
    """Say whether LangGraph's server makes the run, by its configuration."""
    return any(configurable.get(key) is not None for key in _ON_A_SERVER)


def choose_request(config: RunnableConfig | None, visit: str = "") -> str | None:
    """Return the id of what is asked for: the client's, else that of a server's run; None where nobody gave one."""
    configurable = (config or {}).get("configurable", {})
    given = configurable.get(REQUEST_KEY)
    if given is None and is_on_server(configurable):
        given = configurable.get("run_id") or ((config or {}).get("metadata") or {}).get("run_id")
    if given is None:
        return None
    namespace = _find_graph_namespace(configurable)
    names = "|".join(part.partition(":")[0] for part in namespace.split("|"))
    return f"{given}|{names}@{visit}" if namespace else str(given)


def name_request_of(request: str, caller: Caller | None) -> str:
    """Return the id of what a caller asks for: nobody is given the receipt of what another one's key stands for."""
    return request if caller is None else f"{request}@{digest([caller.tenant, caller.user])[:12]}"


def is_request_named(request: str | None, asked: str) -> bool:
    """Say whether the id of a run's request is one that a client names so, whoever asked."""
    return request is not None and asked in (request, request.rpartition("@")[0])


def name_outer_visit(config: RunnableConfig | None) -> str:
    """Return which visit of the graph around asks: its step, and its task there; nothing where nobody is around."""
    for source in (config, var_child_runnable_config.get()):
        metadata = (source or {}).get("metadata") or {}
        if "langgraph_step" in metadata:
            return "/".join(map(str, (metadata["langgraph_step"], *metadata.get("langgraph_path", ()))))
    return ""


def find_run_thread(config: RunnableConfig | None) -> str:
    """Return the thread of a run, of a graph inside a graph with its place there."""
    configurable = (config or {}).get("configurable", {})
    namespace = _find_graph_namespace(configurable)
    thread = str(configurable.get("thread_id"))
    return f"{thread}|{namespace}" if namespace else thread


def _find_graph_namespace(configurable: Mapping[str, Any]) -> str:
    """Return the place of the graph whose node runs: that of the node without its own part, nothing outside."""
    return str(configurable.get("checkpoint_ns") or "").rpartition("|")[0]


def format_utc_moment(moment: datetime) -> str:
    """Return what a calendar says, as ISO 8601; one that names no zone means UTC."""
    return (moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)).isoformat()


def open_door_session(
    frame: Frame, session: Session, configurable: Mapping[str, Any], context: Any
) -> tuple[Session, Opening, Run[Any, Any]]:
    """Return a session like that which the first node will open, for what the door itself tells of it."""
    made = Session(session.world, by_code=session.by_code)
    given = getattr(configurable.get(RUNTIME), "context", None) if context is None else context
    user = configurable.get("langgraph_auth_user")
    on_server = is_on_server(configurable)
    caller = build_server_caller(user) if hasattr(user, "identity") else None
    opening = made.write_session_opening(caller)
    run = made.tighten_run(frame, given, on_server=on_server, caller=caller)
    opening["context"] = _record_given_context(given, frame)
    made.thread = find_run_thread({"configurable": {**configurable}})
    return made, opening, run


def find_session(config: Any) -> Session | None:
    """Return the session in a node's configuration, None where the graph was not called through its door."""
    found = (config or {}).get("configurable", {}).get(SESSION)
    return found if isinstance(found, Session) else None


def is_context_by_code(config: Any, context: Any) -> bool:
    """Say whether code of the process gives the context, such as a task of another graph; else a client of a server."""
    configurable = (config or {}).get("configurable") or {}
    return not is_on_server(configurable) or (context is not None and callable(configurable.get(READ)))


def _record_given_context(given: object, frame: Frame) -> JsonValue:
    """Return a context as plain JSON, as far as it speaks to this graph."""
    if isinstance(given, frame.context):
        return given.model_dump(mode="json", exclude_unset=True)
    if isinstance(given, Context):
        return None if given.caller is None else {"caller": given.caller.model_dump(mode="json")}
    if isinstance(given, Mapping):
        return make_storable_json({name: given[name] for name in frame.context.model_fields if name in given})
    return None


def read_asker(opening: Opening) -> Caller:
    """Return who asks in a session: whom its context names, else whom the server does."""
    context = opening["context"]
    asking = (context.get("caller") if isinstance(context, dict) else None) or opening["caller"]
    return Caller() if asking is None else Caller.model_validate(asking)


def find_ended_line(log: Iterable[LogEntry]) -> LogEntry | None:
    """Return the line of the guard that found a budget at its end and had the last answer written; None of no such."""
    return next((line for line in log if line.get("verdict") == "limit"), None)


class Visit:
    """One node at work."""

    def __init__(self, part: Part, log: list[LogEntry], session: Session, live: PolicySource | None = None) -> None:
        self.part, self.log, self.session, self.live = part, log, session, live
        self._clock = session.world.clock
        self._readings = [session.last, now := session.world.clock()]
        self.looks: list[LiveReading] = []  # what was read of the live policy
        self._reserved = 0.0
        self._before = log[-1]["active"] if log else 0.0
        self._active: float | None = None
        self.began = self._before + session.carried + (now - session.last)
        """Seconds for which the run had been active when the node began."""

    def read_active_seconds(self, *, at_end: bool = False) -> float:
        """Return the seconds for which the run has been active: by the clock now, or at the end of the node's time."""
        if at_end and self._active is not None:
            return self._active
        now = self._clock()
        self._readings.append(now)
        active = self._before + self.session.carried + (now - self._readings[0])
        if at_end:  # it ends once, whoever asks first
            self._active = active
        return active

    def read_spending(self) -> Spending:
        """Return what the calls of the run had used up when the node began."""
        said = next((line["spent"] for line in reversed(self.log) if "spent" in line), None)
        return Spending() if said is None else Spending(**said)

    def bound_run(self, run: Run[Any, Any] | Exception) -> Run[Any, Any] | Exception:
        """Return the run without what its budget keeps for a last answer, or in it, of a pattern that has one."""
        if isinstance(run, Exception) or self.part.frame.limit_guard is None:
            return run
        if (ended := find_ended_line(self.log)) is not None:
            return run._replace(ended_by=ended["ended_by"])
        if run.policy.on_limit != "partial":
            return run
        held = run.budget.hold_back()
        self._reserved = run.budget.max_seconds - held.max_seconds
        return run._replace(budget=held)

    def log_failure(self, error: Exception) -> None:
        """Tell the log that this node failed, unless the run is decided again or the node stopped it."""
        if self.session.is_replay or isinstance(error, Stop):
            return
        name, run_id = self.part.declaration.name, self.session.run_id
        what = f"guard_error:{name} closed the run {run_id} of {self.part.frame.name}"
        log_failure(what, error, run_id=run_id, node=name)

    def write_log_line(self, said: JsonObject) -> LogEntry:
        """Return the node's line in the log; its time ends here, unless it has ended."""
        item = self.part.declaration
        active = self.read_active_seconds(at_end=True) if self._active is None else self._active
        readings = self._readings
        elapsed = round(max(readings[-1] - readings[1], 0.0) * 1000, 3)  # a clock may be set back
        line: Any = {"node": item.name, "kind": item.kind, "phase": item.phase, "elapsed_ms": elapsed, **said}
        line["clock"], line["active"] = readings, active
        session = self.session
        session.last = readings[-1]
        if (opening := session.opening) is not None:  # what holds from here on is written once
            session.opening, session.carried = None, 0.0
            line["opening"] = opening
            if (observed := self.session.observed) is not None and observed.mark is not None:
                line["observed"] = observed.mark
        if self.looks:
            line["live"] = self.looks
        if self._reserved:
            line["reserved"] = self._reserved
        return line  # type: ignore[no-any-return]


REFUSED = "guardgraph:refused"  # key of the mark that stands in for an input value that no state can hold

_LIMIT = "max_input_bytes"


def mark_refused_input(value: object, most: int) -> JsonObject | None:
    """Return the mark of a field that no state can hold, None for one that can."""
    try:
        measure_json(value, most)
    except TooLarge:
        return {REFUSED: f"more than {most} bytes ({_LIMIT})"}
    problem = find_json_problem(value)
    return None if problem is None else {REFUSED: problem}


def restore_recorded_input(frame: Frame, recording: Recording, entry: str) -> JsonObject:
    """Return the input of a recorded run as the door of a graph would have let it in."""
    try:
        given = restore_json_numbers(recording["input"], recording.get("nameless", []))
    except (LookupError, ValueError, TypeError):
        raise InputError("recording.nameless: places in the input with the name of a number are required") from None
    given = {name_input_channel(name): value for name, value in given.items()}
    most, then = frame.budget.max_input_bytes, recording["budget"].get(_LIMIT)
    if then in (most, None):
        return given
    for name, value in given.items():
        if isinstance(value, dict) and REFUSED in value:
            why = f"its input's {name:.80} was refused and not kept, and {_LIMIT} was {then}, and is {most}"
            raise NotRecorded(entry, why, visit=1)
    return {name: mark_refused_input(value, most) or value for name, value in given.items()}


def run_node_body(part: Part, state: JsonObject, run: Run[Any, Any], visit: Visit) -> Any:
    """Run a body on a copy of what it reads: what it does to its view must not reach the state."""
    if part.body is None:
        raise GrammarBreach("a node without a body")
    seen = copy_json({name: state[name] for name in part.declaration.reads if name in state})
    asked = part.frame.judged_proposers.get(part.declaration.name, ())
    asks = sum(line["node"] in asked for line in visit.log) if asked else 0
    try:
        return part.body(seen, run._replace(spent_seconds=visit.began, asks=asks))
    except PASSING:
        raise
    except BaseException as error:
        raise convert_exit(error) from error

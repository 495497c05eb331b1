"""A call: the only way in which a run reaches outside, its place in the run, and the world that performs it.

The world is for a run what a transport is for an HTTP client: `LiveWorld` performs calls, `ReplayingWorld` gives back
what a recording holds; a wrapper adds retries, limits or measures and hands on the rest. Our own rules, recordings and
retriever answer at once: they wait for nobody and so need no deadline.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import FunctionType, MappingProxyType
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, TypeVar

from langchain_core.runnables import Runnable

from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.hashing import digest
from guardgraph.plain.json import REPLY_BYTES, JsonObject, JsonValue, copy_json, find_json_problem, make_storable_json
from guardgraph.state.outcome import Outcome
from guardgraph.state.recording import CallKind, RecordedAttempt
from guardgraph.state.spending import NOTHING, CallUsage, Price, Spending
from guardgraph.state.tools import ToolCard

_MARK = "__guardgraph_instant__"
_Ours = TypeVar("_Ours")


def mark_as_instant(ours: _Ours) -> _Ours:
    """Mark a function or a class of ours whose calls answer at once."""
    setattr(ours, _MARK, ours.__code__ if isinstance(ours, FunctionType) else ours)
    return ours


def is_instant_target(target: Any) -> bool:
    """Say whether a call of a target answers at once."""
    if isinstance(target, FunctionType):
        return target.__dict__.get(_MARK) is target.__code__
    return type(target).__dict__.get(_MARK) is type(target)


Outside: TypeAlias = "Runnable[Any, Any] | Callable[[JsonObject], Any]"
"""What may be called from a body: a Runnable, or a function of one dictionary."""


def is_said_of_target(target: object, name: str) -> bool:
    """Say whether somebody who may be called says something of itself."""
    config = getattr(target, "config", None)
    metadata = config.get("metadata") if isinstance(config, Mapping) else None
    said = metadata.get(name) if isinstance(metadata, Mapping) else None
    return getattr(target, name, said) is True


Effect: TypeAlias = Literal["read", "write"]
"""Whether a call changes something outside: what is read may be read again, and a write is made once."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call to a proposer, a tool or a person."""

    kind: CallKind
    target: Outside | str | None
    """Whom to call: a text names a tool of the pattern's table; None for a person, whom the run waits for."""
    request: JsonObject
    """What the other side sees, and all that it sees."""
    about: JsonObject = field(default_factory=dict)
    """What is known of the proposer before it answers."""
    scope: JsonObject = field(default_factory=dict)
    """Where the other side may go, such as hosts: shown to it beside the request, and no part of what is asked. So it
    is not hashed; whether a recorded outcome holds under another scope, `holds` says, and without it none does."""
    read: Callable[[object, int], object] | None = None
    """Of what was returned, and of the bytes that it may take, makes what is read as plain JSON; it may raise
    `Unreturnable`."""
    refuse: Callable[[JsonValue], JsonObject | None] | None = None
    """Of a value that was returned says why the run may not even keep it, None where it may. A refused call has failed
    with these details, and nothing of the value is kept or recorded. So whether it would be refused under other
    settings, only `holds` can say."""
    holds: Callable[[JsonValue], str | None] | None = None
    """Of a recorded content says why it would not have come about under the scope and the settings of this call, None
    where it would. It is not asked where the call was made under this very scope."""
    effect: Effect = "read"
    """Whether the tool changes something outside. A write is kept before it is made and after it, so that no resume
    makes it again; its node declares the tool by `effects`."""
    tool: str = ""
    """Of a write: the tool's name in the catalogue."""
    idempotent: bool = False
    """Of a write: whether the tool does it once for one key, however often it is called."""
    reconcile: Callable[[str], Outcome | None] | None = None
    """Of a write: asked by its key what came of one that may have been made; None where it was not made, or nobody
    knows."""
    edits: tuple[str, ...] = ()
    """Of a person's call: the keys that lead to the value of `request` which the person may edit."""
    refuse_edit: Callable[[JsonValue], JsonObject | None] | None = None
    """Of a person's call: of an edited value says why the guard behind would not let it pass, None where it may. An
    edit that is refused does not count, and the run goes on waiting."""

    @property
    def shown(self) -> JsonObject:
        """What the other side sees: the request, and the scope beside it."""
        return {**self.request, **self.scope} if self.scope else self.request

    def freeze(self) -> Call:
        """Return the call as it is asked now, whatever its body, or a call before it, puts into its request later."""
        request, scope, about = copy_json([self.request, self.scope, self.about])
        return replace(self, request=request, scope=scope, about=about)


def ask_person(
    shown: JsonObject, *, edits: Sequence[str] = (), refuse_edit: Callable[[JsonValue], JsonObject | None] | None = None
) -> Call:
    """Return the call that shows a dictionary to a person and waits for the decision.

    Args:
        shown: plain JSON, and all that the person sees.
        edits: the keys that lead to the value in what is shown that the person may edit, such as ``["draft"]``: then
            ``edit`` is a decision too, and the answer has the value as ``edited``. The guard behind judges it.
        refuse_edit: of an edited value says why it cannot pass the guard behind, None where it may: then the run goes
            on waiting, and the person is told.
    """
    return Call("person", None, shown, edits=tuple(edits), refuse_edit=refuse_edit)


@dataclass(frozen=True)
class Asked:
    """A call at its place in a run: what a world performs."""

    call: Call
    node: str
    visit: int  # which visit of the node, from 1 on
    number: int  # which call of the visit, from 1 on
    run: str = ""  # the id of the run
    settings: str = ""  # of a person's call: the fingerprint of the policy and the budget that hold at this moment
    in_turn: bool = False
    """Whether calls that are made at once have to be made one after another, since interrupts among them have answers,
    which go by the order in which they are asked for."""
    at_once: int = 1  # how many calls are made at once, this one among them
    max_reply_bytes: int = REPLY_BYTES
    """Bytes that the reply may have, by the run's budget; a larger one is refused whatever a world returns."""
    licence: str | None = None
    """Of a call by name: the SHA-256 of its tool and arguments, which is that of the request then."""
    approval: str | None = None  # of a call that a person had to approve: the approval that it uses up
    key: str | None = None  # of a write whose tool is given it: the key by which the tool knows the write again
    tenant: str | None = None  # whose caller it is made for, as the run's context says it
    max_output_tokens: int | None = None
    """Of a model's call: tokens that it may write, by the run's budget; None where that says nothing."""
    prices: Mapping[str, Price] = field(default_factory=dict)  # what models cost, by the run's budget
    reserved: Spending = NOTHING
    """What is reserved for it; nothing for what is not counted, such as a rule of the deployment."""
    spent: Spending = NOTHING
    """What the run has used up by then: beside it further attempts have to fit within `limits`."""
    limits: Mapping[str, float] = field(default_factory=dict)
    """Limits of what the calls of the run use up, by their names."""
    recorded: CallUsage | None = None
    """Of a model's call of a run that is decided again: what the same call used up then."""
    beside: JsonObject = field(default_factory=dict)
    """Of a person's call: what is shown beside the question, such as what was wrong with an answer. It is no part of
    what is asked, and so not hashed."""
    surroundings: Callable[[], AbstractContextManager[object]] = field(default=nullcontext, compare=False)
    """What a world enters before it begins the call, and leaves when it has, such as a span; threads copy its
    context."""

    request: str = field(init=False)
    """SHA-256 that tells this request from any other: what is shown, and who is asked with which prompt.

    A person's answer is to one visit of one run, under the settings of that moment: it counts nowhere else.
    """
    scope: str | None = field(init=False)  # SHA-256 of where the other side may go, None where nothing is said of it

    def __post_init__(self) -> None:
        """Hash what is asked, whatever becomes of that meanwhile."""
        call, request = self.call, self.licence
        if request is None and call.kind == "person":
            place = {"run": self.run, "node": self.node, "visit": self.visit, "settings": self.settings}
            request = hash_call_value({"shown": call.request, **place})
        elif request is None:
            about = {name: call.about[name] for name in ("proposer", "prompt") if name in call.about}
            request = hash_call_value({"request": call.request, **about})
        object.__setattr__(self, "request", request)
        object.__setattr__(self, "scope", hash_call_value(call.scope) if call.scope else None)


class Performed(NamedTuple):
    """What a call brought back, and how long it took."""

    outcome: Outcome
    seconds: float
    packed: str | None = None  # the outcome as it was recorded, where it was
    reply_bytes: int | None = None
    """Bytes of the largest reply that was read for it, as it came; 0 where nobody counted and nobody asked how many it
    may have; None where nobody knows."""
    key: str | None = None  # of a write: the key by which its tool knows it again
    askable: bool | None = None
    """Whether the proposer could be asked again, as it was recorded; None where its target says it."""
    at_once: int | None = None  # how many calls were made at once, as it was recorded; None where `Asked` says it
    attempts: tuple[RecordedAttempt, ...] = ()
    """Of a call that was made more than once, or would have been, had there been time: every attempt."""


def hash_call_value(value: JsonValue) -> str:
    """Return the SHA-256 of a value that may hold numbers for which JSON has no form; they count by their names."""
    try:
        return digest(value)
    except (ValueError, TypeError):
        return digest(make_storable_json(value))


WORLD_METHODS = ("clock", "calendar", "new_run", "perform", "aperform")  # what a world is asked for


class World(Protocol):
    """What a compiled graph asks of whatever is outside."""

    def clock(self) -> float:
        """Return seconds that only grow."""

    def calendar(self) -> datetime:
        """Return the date and time in UTC."""

    def new_run(self) -> str:
        """Return the id of a new run, a UUID."""

    def perform(self, asked: Sequence[Asked], seconds: float) -> list[Performed]:
        """Make calls side by side and wait for all of them, `seconds` at most; one that outlasts them is a failure.

        A call of a person (``item.call.kind == "person"``) is never to be repeated by a wrapper: a rejection is a
        failure outcome too, and who repeats it asks until somebody says yes.

        Returns:
            What each brought back, in the order of `asked`, and the seconds that it took, all attempts together. A
            failure is an outcome too.

        Raises:
            GraphInterrupt: the run has to wait for a person.
            Exception: what no server can cause, such as a failed assertion; the node that asked closes the run.
        """

    async def aperform(self, asked: Sequence[Asked], seconds: float) -> list[Performed]:
        """Make calls like `perform`, without blocking the event loop."""


@dataclass(frozen=True)
class NamedTool:
    """A tool of a table: who is called under its name. What it may do, its rule in the policy says."""

    target: Outside
    """A Runnable, such as a tool of LangChain's, or a function of one dictionary; one with a parameter
    ``idempotency_key`` is given the key of a write."""
    description: str = ""
    """What it does, for whoever proposes a call."""
    schema: JsonObject = field(default_factory=dict)
    """JSON Schema of its arguments."""
    reconcile: Callable[[str], Outcome | None] | None = None
    """Asked by the key of a write what came of it; see `Call`."""


class ToolTable:
    """The tools of a pattern by name, and the channels that hold what was given to a run.

    Args:
        tools: by name.
        task: the channel with the text of whoever runs the agent; only the entry guard may write it.
        history: the channel with the turns before it, ``[{"role": str, "content": str}]``, likewise.

    Raises:
        ConfigurationError: a name is no text or blank, a tool is no `NamedTool`, nobody can call it, or its description
            or schema is no plain JSON.
    """

    def __init__(self, tools: Mapping[str, NamedTool], *, task: str = "task", history: str | None = None) -> None:
        for name, tool in tools.items():
            _check_named_tool(name, tool)
        self.tools = MappingProxyType(dict(tools))
        self.task, self.history = task, history
        cards = {name: ToolCard(name=name, description=it.description, schema=it.schema) for name, it in tools.items()}
        self.cards: Mapping[str, ToolCard] = MappingProxyType(cards)
        """What is known of each tool beside its function."""

    def __repr__(self) -> str:
        return f"<ToolTable {', '.join(self.tools) or 'empty'}>"

    @property
    def given(self) -> tuple[str, ...]:
        """The channels that hold what was given."""
        return (self.task,) if self.history is None else (self.task, self.history)


def _check_named_tool(name: object, tool: object) -> None:
    if not isinstance(name, str) or not name.strip() or find_json_problem(name) is not None:
        raise ConfigurationError(f"tools: names that are texts and not blank are required; given: {name!r:.80}")
    if not isinstance(tool, NamedTool):
        raise ConfigurationError(f"tools.{name:.80}: a NamedTool is required; given: {type(tool).__name__}")
    if not (isinstance(tool.target, Runnable) or callable(tool.target)):
        given = type(tool.target).__name__
        raise ConfigurationError(f"tools.{name:.80}: a Runnable or a function of one dictionary; given: {given}")
    if not isinstance(tool.description, str) or not isinstance(tool.schema, dict):
        raise ConfigurationError(f"tools.{name:.80}: a text as description and an object as schema are required")
    if (problem := find_json_problem([tool.description, tool.schema])) is not None:
        raise ConfigurationError(f"tools.{name:.80}: plain JSON as description and schema is required, not {problem}")


SessionEnd: TypeAlias = Literal["ended", "waiting", "paused", "cancelled", "failed"]
"""How a session was left: the run is over; it waits for a person; a client halted it between two nodes; it was
cancelled, or whoever followed it went away; something was raised out of it."""


@dataclass(frozen=True, slots=True)
class VisitBegun:
    """A node that begins its work."""

    run_id: str
    thread: str | None  # on which a checkpointer keeps the run
    node: str
    kind: str
    phase: str
    first_mark: str | None  # the mark of the first session of the run, None in its first visit


@dataclass(frozen=True, slots=True)
class VisitEnded:
    """A node that has done its work."""

    update: Mapping[str, Any]
    """What it writes, its line of the log among it; of a terminal in which the run ended, the result."""
    line: Mapping[str, Any]  # its line of the log
    reason: str | None
    """The catalogue's name of the reason for which it stops the run or refuses a proposal; what stands for the
    placeholder in it is left out."""


class ObservedSession(Protocol):
    """One session of a run that is observed."""

    @property
    def mark(self) -> str | None:
        """What a later session of the run, perhaps of another process, knows this one by."""

    def enter_visit(self, begun: VisitBegun) -> AbstractContextManager[Callable[[VisitEnded], None]]:
        """Return what a node works in; it is given what is told of the node's end."""

    def see_shadows(self, shadows: Mapping[str, JsonObject]) -> None:
        """Be told what the shadows make of the run."""

    def close(self, how: SessionEnd, error: BaseException | None) -> None:
        """Be told that the session is over."""


class Observer(Protocol):
    """Who observes runs. What it raises would be raised in the run, so it raises nothing."""

    def open_session(self, agent: str, pattern: str) -> ObservedSession:
        """Return the session that begins now, of a graph of this name."""

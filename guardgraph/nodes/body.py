"""What a node body is: a function of the state and the run that returns what to write.

A body that needs something from outside yields a `Call` and is sent back the `Outcome`; how the call is made, under
which deadline, sync or async, is none of its business. An act body may yield a list of calls, which are made side by
side, and is sent back their outcomes in the same order. A guard's body returns a `Pass` or raises a `Stop`, a
`PartialRefusal` where it has something to go on with; any other body returns a dictionary of channels. A propose or act
body that may not go on raises a `Stop` too: the guard behind it carries it out.

What a body reads, writes and can stop with stands beside it: `declares` hangs it on the function, and a pattern reads
it there.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Any, Generic, Literal, NamedTuple, TypeAlias, TypeVar

from langchain_core.runnables import Runnable

from guardgraph.guards.stop import Stop
from guardgraph.plain.errors import GrammarError
from guardgraph.plain.json import JsonObject, JsonValue
from guardgraph.state.context import Caller
from guardgraph.state.run import LiveReading
from guardgraph.state.settings import BudgetT, PolicyT
from guardgraph.world.call import Call, ask_person
from guardgraph.world.proposers import Proposer

Rounds: TypeAlias = int | Literal["any"]  # how often a visit may yield calls: a number from 1 on, or any
_SLOT = "declares"  # the attribute of a body that keeps what it says of itself
Writes: TypeAlias = "Mapping[str, Any]"  # channels and their new values


class Run(NamedTuple, Generic[PolicyT, BudgetT]):
    """What a body knows of the run beside the state, read anew at every node, so that a resume is judged anew."""

    policy: PolicyT  #: the deployment's policy, tightened by the run's context
    budget: BudgetT  #: the deployment's budget, tightened by the run's context
    spent_seconds: float = 0.0  #: active time of the run before this node
    caller: Caller | None = None  #: who asks, as the run's context says
    asks: int = 0  #: of a guard: how often those have been asked in this run whose proposals it judges first
    live: LiveReading | None = None
    """What was read of the live policy, which has tightened `policy`; None where the agent has none."""
    started_at: str = ""
    """When the session began, UTC, as ISO 8601 and as it is recorded; of an entry guard, when the run began."""
    ended_by: str | None = None
    """The limit that has ended the run, which is on the way to its last answer; None while it goes on."""


class Step(NamedTuple):
    """A completed step of the run, as monitoring and audit see it; the grammar numbers and times it."""

    trace: JsonObject  #: numbers and names, `phase` first
    history: JsonObject  #: content


class Pass(NamedTuple):
    """A guard lets the run go on."""

    writes: Writes = MappingProxyType({})
    to: str | None = None  #: the next node; needed when the guard has more than one way on
    steps: tuple[Step, ...] = ()  #: the steps that this guard completes
    asked: Mapping[str, Any] | None = None
    """What the run was asked, for the result's ``asked_question``; what the last guard says of it holds."""
    refused: Stop | None = None
    """Of a guard that counts attempts itself: for what it sends the run back, as the result's ``attempts`` show it."""


class PartialRefusal(Stop):
    """A guard's refusal of a part of a proposal: where nobody is asked again, the run goes on with the rest."""

    def __init__(self, refused: Stop, rest: Pass, *, once: bool = False) -> None:
        super().__init__(refused.reason, **refused.evidence)
        self.answer = refused.answer
        self.rest = rest
        self.once = once


Body: TypeAlias = Callable[[Any, Run[Any, Any]], Any]
"""``(state, run) -> Writes | Pass``, or a generator that yields `Call` and returns one of them."""

Steps: TypeAlias = Generator[Call | Sequence[Call], Any, Any]
"""A body at work: it is sent back an `Outcome` for a call, a list of them for several."""

BodyT = TypeVar("BodyT", bound=Body)  # a body, whose type a decorator keeps


@dataclass(frozen=True, slots=True)
class Declares:
    """What a body says of itself; what it leaves out is None."""

    phase: str | None = None  # the step of the run that it belongs to
    reads: tuple[str, ...] | None = None  # the channels that it is shown
    writes: tuple[str, ...] | None = None  # the channels that it may write; of an ok ending, keys of the result
    stops: tuple[str, ...] | None = None  # of a guard: the stop families that it can leave by
    effects: tuple[str, ...] | None = None  # of an act node: the tools by which it changes something outside
    rounds: Rounds | None = None  # of an act node: how often a visit may yield calls, 1 where nothing is said
    calls: tuple[Any, ...] | None = None  # whom it may call: proposers, or of an act node names of the pattern's tools
    behind: tuple[str, ...] | None = None  # of an act node: the guards on every way to it, and on every way back


def declares(
    *,
    phase: str | None = None,
    reads: Sequence[str] | None = None,
    writes: Sequence[str] | None = None,
    stops: Sequence[str] | None = None,
    effects: Sequence[str] | None = None,
    rounds: Rounds | None = None,
    calls: Sequence[Any] | None = None,
    behind: Sequence[str] | None = None,
) -> Callable[[BodyT], BodyT]:
    """Say beside a body what it reads, writes and can stop with, so that a pattern need not say it.

    Args:
        phase: the step of the run that the body belongs to.
        reads: the channels that it is shown.
        writes: the channels that it may write; of an ok ending, keys of the result.
        stops: of a guard, the stop families that it can leave by.
        effects: of an act node, the tools by which it changes something outside, by their names in the catalogue; only
            for these may it yield a `Call` with ``effect="write"``.
        rounds: of an act node, how often a visit may yield calls, ``"any"`` for no bound: what a call brought, nobody
            has judged, and from the second round on it can reach the request of the next. Not for a node that writes.
        calls: whom it may call, and nobody else: of a propose node each `Proposer`, Runnable or function itself. A
            model that is named by a text is then opened before a run begins, and at its first call where its node does
            not declare it. Of an act node names of the pattern's `tools`.
        behind: of an act node, the guards that stand on every way to it, from the beginning of a run and from the node
            itself; `verify` proves it.

    Returns:
        A decorator of a body; the function stays what it is.

    Raises:
        GrammarError: a field is no list of names, or the body is no function or declared already.
    """
    given = {"reads": reads, "writes": writes, "stops": stops, "effects": effects, "behind": behind}
    names = {field: check_declared_names(f"declares, {field}", value) for field, value in given.items()}
    called = check_declared_calls("declares, calls", calls)
    said = Declares(phase, **names, rounds=check_declared_rounds("declares, rounds", rounds), calls=called)

    def declare_body(body: BodyT) -> BodyT:
        title = getattr(body, "__qualname__", type(body).__name__)
        if (before := read_body_declaration(body)) != Declares():
            raise GrammarError(f"declares: once for a body; {title} has {before}")
        try:
            setattr(body, _SLOT, said)
        except AttributeError:
            raise GrammarError(f"declares: a function is required; given: {title}") from None
        return body

    return declare_body


def read_body_declaration(body: Body) -> Declares:
    """Return what a body says of itself, nothing where it was not declared."""
    said = getattr(body, _SLOT, None)
    return said if isinstance(said, Declares) else Declares()


def declare_like(body: Body, *, reads: Sequence[str] = (), writes: Sequence[str] = ()) -> Callable[[BodyT], BodyT]:
    """Say of a body what another one says of itself, and the channels that it reads and writes beside those."""
    said = read_body_declaration(body)
    said = replace(said, reads=(*said.reads, *reads)) if said.reads is not None else said
    said = replace(said, writes=(*(said.writes or ()), *writes))
    return declares(**{item.name: getattr(said, item.name) for item in fields(said)})


def redirect_guard(body: Body, lead: Callable[[Pass, Any], Pass], *, writes: Sequence[str] = ()) -> Body:
    """Return the body of a guard that goes on as `lead` makes of its way, after a refusal in part too."""

    @declare_like(body, writes=writes)
    def run_redirected_guard_node(state: Any, run: Run[Any, Any]) -> Pass:
        try:
            return lead(body(state, run), run)
        except PartialRefusal as refused:
            raise PartialRefusal(refused, lead(refused.rest, run), once=refused.once) from None

    return run_redirected_guard_node


def make_asking_node(
    proposer: Proposer,
    make_view: Callable[[Any, Run[Any, Any]], JsonObject],
    *,
    phase: str,
    reads: Sequence[str],
    writes: str,
) -> Body:
    """Return the body of a propose node that shows a proposer a view, and keeps what it proposes."""

    @declares(phase=phase, reads=reads, writes=[writes], calls=[proposer])
    def run_asking_node(state: Any, run: Run[Any, Any]) -> Steps:
        outcome = yield proposer.call(make_view(state, run))
        return {writes: outcome.packed()}

    return run_asking_node


def ask_for_edit(shown: JsonObject, edits: Sequence[str], check: Callable[[JsonValue], object]) -> Call:
    """Return the call of a person who may edit a value of what is shown; an edit that `check` stops does not count."""

    def refuse_edit(edited: JsonValue) -> JsonObject | None:
        try:
            check(edited)
        except Stop as stop:
            return {"reason": stop.reason, **stop.evidence}
        return None

    return ask_person(shown, edits=edits, refuse_edit=refuse_edit)


def check_declared_names(where: str, given: Sequence[str] | None) -> tuple[str, ...] | None:
    """Return names as a tuple, None for None."""
    if isinstance(given, str) or not isinstance(given, Iterable | None):
        raise GrammarError(f"{where}: a list of names is required; given: {given!r:.80}")
    return None if given is None else tuple(given)


def check_declared_calls(where: str, given: Sequence[Any] | None) -> tuple[Any, ...] | None:
    """Return whom a body may call as a tuple, None for None."""
    if given is None:
        return None
    is_list = isinstance(given, list | tuple)
    if not is_list or not all(isinstance(item, str | Proposer | Runnable) or callable(item) for item in given):
        raise GrammarError(f"{where}: a list of proposers, or of names of tools, is required; given: {given!r:.80}")
    return tuple(given)


def check_declared_rounds(where: str, given: Rounds | None) -> Rounds | None:
    """Return rounds as they were given."""
    if given in (None, "any") or (isinstance(given, int) and not isinstance(given, bool) and given >= 1):
        return given
    raise GrammarError(f"{where}: a whole number from 1 on, or 'any', is required; given: {given!r:.80}")

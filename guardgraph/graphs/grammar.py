"""The grammar: how patterns are put together, for ours and for yours.

A `Pattern` is declared node by node in the order of its diagram: propose nodes ask, guards decide, act nodes do,
terminals end. Edges, stop terminals and input schemas follow from the declarations. `compile` checks what the pattern
is given, proves it with the rules of `verify` and returns a compiled LangGraph graph.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from inspect import isasyncgenfunction, isclass, iscoroutinefunction
from math import inf
from types import UnionType
from typing import TYPE_CHECKING, Any, Generic, NotRequired, Required, TypeAlias, TypeVar, Union, get_args, get_origin

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from pydantic_core import PydanticSerializationError
from typing_extensions import ReadOnly, TypedDict, Unpack, get_type_hints

from guardgraph.graphs import declaring
from guardgraph.graphs.proof.verify import verify_new_graph
from guardgraph.graphs.running.door import ContextT, GuardedGraph, InputT, ResultT
from guardgraph.graphs.running.frame import CALLED, RECORD, Frame
from guardgraph.graphs.running.langgraph import keep_checkpoint_allowlist
from guardgraph.graphs.running.live_policy import LivePolicy
from guardgraph.graphs.running.node import (
    EndingRouter,
    GrammarNode,
    Router,
    Seal,
    drop_router_readers,
    wrap_nodes_for_handlers,
)
from guardgraph.nodes.body import (
    Body,
    Declares,
    Rounds,
    check_declared_calls,
    check_declared_names,
    check_declared_rounds,
)
from guardgraph.plain.errors import ConfigurationError, GrammarError
from guardgraph.state.catalogue import Catalogue
from guardgraph.state.context import Context
from guardgraph.state.recording import Recorder, Recording, Shadow
from guardgraph.state.review import Reviewers, ReviewPolicy, find_identity_problem
from guardgraph.state.run import RECORDED, Audit, Kind, Result, Waiting
from guardgraph.state.settings import Budget, BudgetT, PolicyT, ReservingBudget, Settings
from guardgraph.state.tools import ToolBudget, ToolPolicy
from guardgraph.world.call import WORLD_METHODS, ToolTable, World
from guardgraph.world.live import LiveWorld

if TYPE_CHECKING:
    from typing_extensions import TypeForm


_UNNAMED = "LangGraph"  # what LangGraph calls such a graph


class DefaultName(str):
    """The name of a graph that nobody named: it reads as that of its pattern, and counts as LangGraph's own default."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        return str.__eq__(self, other) is True or (type(other) is str and other == _UNNAMED)

    def __ne__(self, other: object) -> bool:
        return not self == other


SettingsT = TypeVar("SettingsT", bound=Settings)

_AWAITED = "aperform"
OPEN_METHODS = ("begin", "note", "notes")  # what a recorder has beside `record` that keeps runs from their beginning on


def validate_world(given: Any) -> World:
    """Return a world, if it is one."""
    world: World = _validate_methods(given, "world", WORLD_METHODS)
    return world


def validate_recorder(given: Any) -> Recorder:
    """Return a recorder, if it is one."""
    opens = any(getattr(given, name, None) is not None for name in OPEN_METHODS)
    recorder: Recorder = _validate_methods(given, "recorder", ("record", *(OPEN_METHODS if opens else ())))
    seconds = getattr(recorder, "timeout", None)
    is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    if seconds is not None and not (is_number and 0 < seconds < inf):
        raise ConfigurationError(f"recorder.timeout: seconds above 0, or None; given: {seconds!r:.80}")
    return recorder


def validate_reviewers(given: Any, policy: Settings) -> Reviewers | None:
    """Return who says whose answer it is that a person gives, if it can be called."""
    if given is None:
        if (problem := find_identity_problem(None, policy, None)) is not None:
            raise ConfigurationError(f"policy.{problem}")
        return None
    if isclass(given) or not callable(given):
        raise ConfigurationError(f"reviewers: a function of an answer and a caller is required; given: {given!r:.80}")
    reviewers: Reviewers = given
    return reviewers


def validate_pattern_settings(given: SettingsT, slot: str) -> SettingsT:
    """Return settings that a recording can hold, and that name what there can be."""
    try:
        given.plain()
    except PydanticSerializationError as error:
        raise ConfigurationError(f"{slot}: values that can be written as JSON are required; given: {error}") from None
    given.check_listed(slot)
    return given


def _validate_methods(given: Any, slot: str, methods: Iterable[str]) -> Any:
    if isclass(given):
        raise ConfigurationError(f"{slot}: an object is required, not its class; given: {given.__name__}")
    if missing := [method for method in methods if not callable(getattr(given, method, None))]:
        raise ConfigurationError(f"{slot}: an object with {', '.join(missing)} is required; given: {given!r:.80}")
    for name in methods:
        is_async, owner = _is_async_function(getattr(given, name)), type(given).__name__
        if is_async and name != _AWAITED:
            raise ConfigurationError(f"{slot}.{name}: a plain function is required; given: {owner}.{name} is async")
        if not is_async and name == _AWAITED:
            raise ConfigurationError(
                f"{slot}.{name}: a coroutine function is required; given: {owner}.{name} is not async"
            )
    return given


def _is_async_function(function: Any) -> bool:
    called = getattr(type(function), "__call__", None)  # noqa: B004 - of an object, what it does when it is called
    return any(check(item) for item in (function, called) for check in (iscoroutinefunction, isasyncgenfunction))


def has_own_audit(keys: dict[str, Any]) -> bool:
    """Say whether the results of a pattern have an ``audit`` of their own, to which the grammar adds what it says."""
    return _strip_type_qualifiers(keys["audit"]) is not Audit


def order_result_keys(names: Iterable[str]) -> list[str]:
    """Order a result for its reader: what came of the run before how it went."""
    how = {"so_far", "asked_question", "trace", "history", "path", "timeline", "attempts"}
    how |= {"forked_from", "usage", "audit"}
    return sorted(names, key=lambda name: name in how)


def _join_result_hints(results: list[dict[str, Any]], ours: dict[str, Any]) -> dict[str, Any]:
    """Return the keys that are the pattern's own: which of them a run returns depends on how it ends."""
    shared = ours.keys() - ({"audit"} if any(map(has_own_audit, results)) else set())
    said: dict[str, list[Any]] = {}
    for name, hint in ((name, hint) for hints in results for name, hint in hints.items() if name not in shared):
        said.setdefault(name, []).append(_strip_type_qualifiers(hint))
    return {name: NotRequired[Union[tuple(hints)]] for name, hints in said.items()}  # noqa: UP007 - of any number


def _strip_type_qualifiers(hint: Any) -> Any:
    while get_origin(hint) in (NotRequired, ReadOnly, Required):
        (hint,) = get_args(hint)
    return hint


Names: TypeAlias = Sequence[str] | None  # what a pattern says of a node, None where its body says it
Ways: TypeAlias = str | Sequence[str]  # the nodes that can follow


class NodeChannels(TypedDict, total=False):
    """The phase and the channels of a node of any kind, where its body does not say them."""

    phase: str | None  # the step of the run that it belongs to
    reads: Names  # the channels that it is shown
    writes: Names  # the channels that it may write


class PatternGraph(StateGraph[Any, Any, Any, Any]):
    """The builder behind a pattern's graph; recompiling it keeps the door and every declaration."""

    seal: Seal | None = None  # what the pattern put into it

    def compile(self, *args: Any, **kwargs: Any) -> GuardedGraph:
        """Compile as LangGraph does, into a `GuardedGraph`."""
        compiled = drop_router_readers(super().compile(*args, **kwargs))
        guarded = GuardedGraph(**vars(compiled))
        keep_checkpoint_allowlist(guarded, compiled)
        wrap_nodes_for_handlers(guarded)
        return guarded


class Deployment(TypedDict, total=False):
    """What `Pattern.compile` and the factories of agents are given beside a name and a checkpointer."""

    world: World | None  # what the graph reaches outside through; the live one when None
    recorder: Recorder | None  # who is given the recording of every run that ends
    reviewers: Reviewers | None
    """A function that is given a person's whole answer and the `Caller` who resumes the run, and returns an `Identity`,
    or its name; the answer of whom it returns None for, or raises, does not count. Without it the record says that who
    answered is unverified."""
    shadow: Mapping[str, GuardedGraph] | None
    """Agents of this pattern by name, who judge every run that is recorded once more, from the same outcomes; the
    recording says what they make of it, the result does not."""
    forks: bool
    """Whether a client may go on from an earlier checkpoint of a thread, as a run of its own; see `docs/effects.md`.
    Without it that is an `InputError`."""
    live: LivePolicy | None  # an overlay that tightens the policy while runs go on; `live_policy` makes one


def refuse_unknown_keywords(given: Mapping[str, Any], allowed: type) -> None:
    """Refuse a keyword that is no field of a TypedDict, as a signature that names them does."""
    if unknown := sorted(given.keys() - allowed.__annotations__.keys()):
        raise TypeError(f"unexpected keyword argument {unknown[0]!r}; allowed: {', '.join(allowed.__annotations__)}")


class Pattern(Generic[InputT, ContextT, ResultT]):
    """A guarded agent pattern under construction.

    What a body says of itself (`declares`) need not be said again where its node is declared, and may not be.

    Args:
        catalogue: why its runs can stop; a stop outside it closes the run.
        state: TypedDict of the pattern's own channels.
        input: TypedDict of what a run is given; a field that is `NotRequired` may be left out.
        output: what a run may return, evidence of stops included: a TypedDict derived from `Result`, or a union of one
            derived from `Ok`, one derived from `Stopped` and, of a pattern that asks a person, `Waiting`.
        policy: the deployment's policy, a `Settings` of your own class; a value of the settings has no form in JSON.
        budget: the deployment's budget, a `Budget` or a subclass.
        tools: the tools that act nodes call by name, each call under a licence; the policy is then a `ToolPolicy` and
            the budget a `ToolBudget`, or a subclass.
        so_far: what a stopped run returns of what guards had accepted, as the result's ``so_far``: by its key there the
            channel that holds it, or the key of one (``"accepted_answer.answer"``).
        answers: the propose nodes that write answers, by name the key of the text in what they propose: the last one
            that guards refused stands in ``so_far`` as ``refused_answer``.

    Raises:
        GrammarError: input, state, output and the grammar's own channels share a name, a channel has a reducer or a
            name with ``:`` or two underscores in front, or the output is no `Result`.
    """

    def __init__(
        self: Pattern[InputT, Context[PolicyT, BudgetT], ResultT],
        catalogue: Catalogue,
        *,
        state: type,
        input: type[InputT],
        output: TypeForm[ResultT],
        policy: PolicyT,
        budget: BudgetT,
        tools: ToolTable | None = None,
        so_far: Mapping[str, str] | None = None,
        answers: Mapping[str, str] | None = None,
    ) -> None:
        self.catalogue = catalogue
        self._so_far, self._answers = dict(so_far or {}), dict(answers or {})
        self.table = tools
        self.policy: Settings = policy
        self.budget: Budget = budget
        self._state = get_type_hints(state, include_extras=True)
        fields = get_type_hints(input, include_extras=True)
        self._input = {declaring.name_input_channel(name): hint for name, hint in fields.items()}
        self._optional_inputs = frozenset(key for key, hint in self._input.items() if get_origin(hint) is NotRequired)
        is_union = get_origin(output) in (Union, UnionType)
        parts = [item for item in get_args(output) if item is not Waiting] if is_union else [output]
        results = [get_type_hints(part, include_extras=True) for part in parts]
        ours = get_type_hints(Result, include_extras=True)
        for hints in results or [{}]:
            if missing := sorted(ours.keys() - hints.keys()):
                raise GrammarError(
                    f"output: a TypedDict derived from Result is required; missing: {', '.join(missing)}"
                )
        self._output = {**ours, **_join_result_hints(results, ours)} if is_union else results[0]
        self._bodies: dict[str, Body | None] = {}
        self.declarations: dict[str, declaring.Declaration] = {}
        declaring.check_channels(state=self._state, input=self._input, output=self._output)
        channels = [*self._state, *self._input, *self._output, *RECORD]
        if shared := sorted({name for name in channels if channels.count(name) > 1}):
            raise GrammarError(f"channels: each name once in state, input and output; given twice: {', '.join(shared)}")
        if unknown := sorted({where.partition(".")[0] for where in self._so_far.values()} - self._state.keys()):
            raise GrammarError(f"so_far: channels of the state are required; given: {', '.join(unknown)}")
        if tools is not None:
            self._check_table(tools)

    def entry(self, name: str, body: Body, *, to: Ways, writes: Names = None) -> None:
        """Declare the guard that every run begins with: it parses the input and clears what an earlier run left.

        Its phase is the first one, it reads the whole input and stops with ``invalid_request``.
        """
        reads, stops = tuple(self._input), ("invalid_request",)
        first = self.catalogue.phases[0]
        said = NodeChannels(phase=first, reads=reads, writes=writes)
        self._add_node("guard", name, body, to=to, entry=True, stops=stops, said=said)

    def propose(
        self, name: str, body: Body, *, to: str, calls: Sequence[Any] | None = None, **said: Unpack[NodeChannels]
    ) -> None:
        """Declare a node that proposes; what it writes are raw channels, which live until the guard has read them.

        `calls` are the proposers that its body may ask, and no other; see `declares`.
        """
        self._add_node("propose", name, body, to=to, calls=calls, said=said)

    def act(
        self,
        name: str,
        body: Body,
        *,
        to: str,
        effects: Names = None,
        rounds: Rounds | None = None,
        calls: Names = None,
        behind: Ways | None = None,
        **said: Unpack[NodeChannels],
    ) -> None:
        """Declare a node that works with tools; what they return is raw until the guard has read it.

        To the guard behind a node that has `effects` the family `effect` is added.

        Args:
            name: the node's.
            body: what it does.
            to: the guard behind it.
            effects: the tools by which it changes something outside; see `declares`.
            rounds: how often a visit may yield calls, once where nothing is said; see `declares`.
            calls: the tools of the pattern's table that its body may call by name, and no others.
            behind: guards that stand on every way to it, from the beginning of a run and from the node itself.
            **said: its phase, and the channels that it reads and writes, where its body does not say them.
        """
        guards = (behind,) if isinstance(behind, str) else behind
        self._add_node("act", name, body, to=to, rounds=rounds, calls=calls, effects=effects, behind=guards, said=said)

    def review(self, name: str, body: Body, *, to: str, **said: Unpack[NodeChannels]) -> None:
        """Declare a node that asks a person and waits; what it writes is raw until the guard has read it."""
        self._add_node("review", name, body, to=to, said=said)

    def guard(
        self,
        name: str,
        body: Body,
        *,
        to: Ways,
        again: Ways = (),
        attempts: int | None = None,
        stops: Names = None,
        **said: Unpack[NodeChannels],
    ) -> None:
        """Declare a guard, the ways on that it can take and the stop families that it can leave by.

        The families `guard_error` and, before and after a node that spends time, `budget` are added to every guard.

        With `again`, the propose node is visited again whose proposal the guard refuses, if it is one of these, for the
        reasons that the catalogue marks so: up to `max_attempts` asks for one proposal, by whichever guards behind it,
        and up to `attempts` of this guard where that is fewer.
        """
        self._add_node("guard", name, body, to=to, again=again, attempts=attempts, stops=stops, said=said)

    def limit(self, name: str, body: Body, *, to: Ways) -> None:
        """Declare the guard to which a run goes that a budget ends, for one last answer; its policy has `on_limit`.

        The body lets through what was accepted and stops where that is nothing. What it leads to may ask models within
        the budget's reserve, and nobody again; no act node stands behind it. Whatever refuses the last answer, the run
        stops with the limit that ended it. An ending finds that limit in ``run.ended_by``.

        Raises:
            ConfigurationError: the reserve is not smaller than the budget.
            GrammarError: the policy has no `on_limit`, or the budget no reserve.
        """
        if not isinstance(self.budget, ReservingBudget) or not hasattr(self.policy, "on_limit"):
            raise GrammarError(f"node {name!r}: a policy with on_limit and a ReservingBudget are required")
        if self.policy.on_limit == "partial":
            self.budget.check_reserve()
        self._add_node("guard", name, body, to=to)
        self.declarations[name] = replace(self.declarations[name], is_limit_guard=True)

    def terminal(
        self,
        name: str,
        body: Body,
        *,
        behind: Ways | None = None,
        held: Mapping[str, str | tuple[str, ...]] | None = None,
        **said: Unpack[NodeChannels],
    ) -> None:
        """Declare an ok ending; its body returns the result's keys, `outcome` among them.

        Behind the guards that it names, `behind`, it stands on every way, as an act node does. What it returns under a
        key of `held` is held against the channel, or the key of one (``"accepted_answer.answer"``), that is named
        there, or is one of the values: else the run ends as ``result_differs:<key>``. ``tool_calls`` are always held
        against the record of calls, where tools are called by name.
        """
        guards = (behind,) if isinstance(behind, str) else behind
        self._add_node("terminal", name, body, behind=guards, said=said)
        self.declarations[name] = replace(self.declarations[name], held=tuple((held or {}).items()))

    def compile(
        self, *, name: str | None = None, checkpointer: Any = None, **deployment: Unpack[Deployment]
    ) -> GuardedGraph[InputT, ContextT, ResultT]:
        """Prove the pattern and return it as a compiled LangGraph graph.

        Args:
            name: the graph's name; the pattern's when None, and on LangGraph's server the id in langgraph.json.
            checkpointer: LangGraph's.
            **deployment: the fields of `Deployment`.

        Raises:
            ConfigurationError: the name is no text, the checkpointer none of LangGraph's, the world or the recorder
                lacks a method, has a coroutine function where a function is called or the other way round, or is a
                class; the reviewers cannot be called, or the policy needs some; a shadow is no agent of this pattern;
                `forks` is neither True nor False, or `live` is no live policy.
            GrammarError: the pattern breaks a rule of the grammar; the message lists the findings.
        """
        if name is None:
            name = DefaultName(self.catalogue.pattern)
        if not isinstance(name, str) or not name.strip():
            raise ConfigurationError(f"name: a text that is not blank; given: {name!r:.80}")
        if not isinstance(checkpointer, BaseCheckpointSaver | bool | None):
            raise ConfigurationError(f"checkpointer: a LangGraph checkpointer; given: {type(checkpointer).__name__}")
        refuse_unknown_keywords(deployment, Deployment)
        builder = self._build_graph(name=name, is_whole=True, **deployment)
        graph: GuardedGraph[InputT, ContextT, ResultT] = builder.compile(checkpointer=checkpointer, name=name)
        if findings := verify_new_graph(graph):
            raise GrammarError("\n".join(map(str, findings)))
        return graph

    def builder(self, *, name: str | None = None, **deployment: Unpack[Deployment]) -> PatternGraph:
        """Return the pattern as a LangGraph builder, not yet proved; see `compile`."""
        refuse_unknown_keywords(deployment, Deployment)
        return self._build_graph(name=name, is_whole=False, **deployment)

    def _build_graph(
        self,
        *,
        name: str | None,
        is_whole: bool,
        world: World | None = None,
        recorder: Recorder | None = None,
        reviewers: Reviewers | None = None,
        shadow: Mapping[str, GuardedGraph] | None = None,
        forks: bool = False,
        live: LivePolicy | None = None,
    ) -> PatternGraph:
        """Return the builder; of one that is whole, nobody adds a node that uses the channels which no other does."""
        if not isinstance(forks, bool):
            raise ConfigurationError(f"forks: True or False is required; given: {forks!r:.80}")
        if not isinstance(live, LivePolicy | None):
            raise ConfigurationError(f"live: what live_policy returns is required; given: {type(live).__name__}")
        declarations = self._complete_pattern()
        is_asking = isinstance(self.policy, ReviewPolicy) or any(
            item.kind == "review" for item in declarations.values()
        )
        if reviewers is not None and not is_asking:
            raise ConfigurationError("reviewers: none is taken, since no node of this graph asks a person")
        calling = [item for item in declarations.values() if item.is_calling_node]
        raw = {channel for item in calling if declaring.KINDS[item.kind].writes_raw for channel in item.writes}
        records = tuple(declaring.name_record_channel(item.name) for item in calling)
        kept = {**RECORD, **dict.fromkeys(records, CALLED)}
        state = self._state
        if is_whole:  # LangGraph walks through all channels at every step
            used = {channel for item in declarations.values() for channel in (*item.channels, *item.writes)}
            state = {channel: hint for channel, hint in state.items() if channel in used}
        own = {k: declaring.make_ephemeral_channel(v) if k in raw else v for k, v in state.items()}
        channels = {**kept, **own}
        context: Any = Context.__class_getitem__((type(self.policy), type(self.budget)))
        frame = Frame(
            name=self.catalogue.pattern if name is None else str(name),
            catalogue=self.catalogue,
            policy=validate_pattern_settings(self.policy, "policy"),
            budget=validate_pattern_settings(self.budget, "budget"),
            context=context,
            world=LiveWorld() if world is None else validate_world(world),
            recorder=None if recorder is None else validate_recorder(recorder),
            reviewers=validate_reviewers(reviewers, self.policy),
            shadows={} if shadow is None else _make_shadows(shadow, self.catalogue.pattern),
            forks=forks,
            live=live,
            evidence=frozenset(self._output) - {*RECORDED, "outcome", "audit"},
            optional_inputs=self._optional_inputs,
            lasting=tuple(name for name in state if name not in raw),
            records=records,
            declarations=declarations,
            so_far=self._so_far,
            answers=self._answers,
            table=self.table,
            nodes={},
        )
        graph = PatternGraph(
            declaring.build_state_schema("State", channels),
            context_schema=context,
            input_schema=declaring.build_state_schema(
                "Input", {k: declaring.make_ephemeral_channel(v) for k, v in self._input.items()}
            ),
            output_schema=declaring.build_state_schema(
                "Output",
                {k: declaring.make_ephemeral_channel(self._output[k]) for k in order_result_keys(self._output)},
            ),
        )
        everything = {**channels, **{k: declaring.make_ephemeral_channel(v) for k, v in self._input.items()}}
        for item in declarations.values():
            reads = declaring.build_state_schema(f"{item.name}_reads", {key: everything[key] for key in item.channels})
            node = frame.nodes[item.name] = GrammarNode(item, self._bodies.get(item.name), frame)
            graph.add_node(item.name, node, metadata=item.build_node_metadata(), input_schema=reads)
            if item.entry:
                graph.add_edge(START, item.name)
            if item.kind == "terminal":
                if item.endings:
                    graph.add_conditional_edges(item.name, EndingRouter(), {way: way for way in (END, *item.endings)})
                else:
                    graph.add_edge(item.name, END)
            elif item.kind == "guard":
                ways = [*item.ways, *(f"stop_{family}" for family in item.families)]
                graph.add_conditional_edges(item.name, Router(), {way: way for way in ways})
            else:
                for way in item.to:
                    graph.add_edge(item.name, way)
        graph.seal = Seal(frame.nodes, frame)
        return graph

    def _add_node(
        self,
        kind: Kind,
        name: str,
        body: Body,
        *,
        to: Ways = (),
        again: Ways = (),
        attempts: int | None = None,
        entry: bool = False,
        rounds: Rounds | None = None,
        calls: Sequence[Any] | None = None,
        said: NodeChannels | None = None,
        **given: Names,
    ) -> None:
        declaring.check_node_name(name, self.declarations)
        channels: dict[str, Any] = {**(said or {})}
        refuse_unknown_keywords(channels, NodeChannels)
        phase = channels.pop("phase", None)
        if inspect.iscoroutinefunction(body) or inspect.isasyncgenfunction(body):
            raise GrammarError(f"node {name!r}: a body is a plain function; it yields a Call for what is awaited")
        names = {
            field: check_declared_names(f"node {name!r}, {field}", value)
            for field, value in {**given, **channels}.items()
        }
        called = check_declared_calls(f"node {name!r}, calls", calls)
        made = check_declared_rounds(f"node {name!r}, rounds", rounds)
        declared = Declares(phase, **names, rounds=made, calls=called)
        ways, asked = ((given,) if isinstance(given, str) else given for given in (to, again))
        self.declarations[name] = declaring.build_declaration(
            kind, name, body, declared, to=ways, again=asked, attempts=attempts, entry=entry
        )
        self._bodies[name] = body

    def _check_table(self, table: ToolTable) -> None:
        if not isinstance(table, ToolTable):
            raise GrammarError(f"tools: a ToolTable is required; given: {type(table).__name__}")
        for slot, given, required in (("policy", self.policy, ToolPolicy), ("budget", self.budget, ToolBudget)):
            if not isinstance(given, required):
                raise GrammarError(
                    f"{slot}: a {required.__name__} is required with tools; given: {type(given).__name__}"
                )
        if unknown := [channel for channel in table.given if channel not in self._state]:
            raise GrammarError(f"tools: channels of the state are required; given: {', '.join(unknown)}")

    def _complete_pattern(self) -> dict[str, declaring.Declaration]:
        if sum(item.entry for item in self.declarations.values()) != 1:
            raise GrammarError("entry: a pattern has one guard that every run begins with")
        kept = {*RECORDED, *(() if has_own_audit(self._output) else ("audit",))}
        given = () if self.table is None else self.table.given
        declarations = declaring.complete_declarations(
            self.declarations,
            catalogue=self.catalogue,
            outputs=self._output,
            given=given,
            so_far=dict.fromkeys(where.partition(".")[0] for where in self._so_far.values()),
        )
        declaring.check_declarations(
            declarations,
            self.catalogue,
            channels=self._state,
            inputs=self._input,
            outputs=[name for name in self._output if name not in kept],
        )
        return declarations


def _make_shadows(given: Any, pattern: str) -> dict[str, Callable[[Recording], Shadow]]:
    from guardgraph.graphs.shadows import validate_shadows  # most agents have no shadow

    return validate_shadows(given, pattern)

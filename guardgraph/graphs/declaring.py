"""What a node says of itself, what the grammar adds to it, and what it refuses: kinds, channels, declarations.

LangGraph keeps channels of its own among those of a state: what is written to ``branch:to:<node>`` starts that node,
what is written to ``__start__`` begins the run again. A channel of the same name would hand that to whoever writes it.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from inspect import isclass
from types import MappingProxyType
from typing import Annotated, Any, Final, NotRequired, Required, TypeVar, get_origin
from unicodedata import category

from langgraph.channels import EphemeralValue, LastValue
from langgraph.channels.base import BaseChannel
from typing_extensions import ReadOnly, TypedDict

from guardgraph.nodes.body import Body, Declares, Rounds, read_body_declaration
from guardgraph.plain.errors import GrammarError
from guardgraph.plain.json import JsonObject
from guardgraph.state.catalogue import (
    AUDIT_UNAVAILABLE,
    EFFECT,
    EFFECT_UNKNOWN,
    EFFECT_UNRECORDABLE,
    ENDING_LIMITS,
    Catalogue,
)
from guardgraph.state.recording import CallKind
from guardgraph.state.run import RECORDED, Kind
from guardgraph.state.tools import LICENCE, licence_reasons

RECORD_PREFIX = "calls:"
"""Before the name of a node: the channel that keeps what it called. No channel of a pattern may have a colon."""


@dataclass(frozen=True, slots=True)
class NodeKind:
    """What holds for every node of a kind."""

    calls: CallKind | None  # whom it may call; None for nobody
    at_once: bool  # whether it may make several calls, side by side or one after another
    reads: tuple[str, ...]  # channels of the grammar's own that it reads; no body sees them
    writes_raw: bool  # whether nobody has judged what it writes, which then lives for one step
    says: tuple[str, ...] = ("phase", "reads", "writes")  # what has to be said of it, beside its body or in the pattern
    is_text: bool = False  # whether all that it writes is JSON text


KINDS: Mapping[Kind, NodeKind] = MappingProxyType(
    {
        "propose": NodeKind("proposer", False, ("run", "log"), True, is_text=True),
        "act": NodeKind("tool", True, ("run", "log"), True),
        "review": NodeKind("person", False, ("run", "log"), True),
        "guard": NodeKind(None, False, ("run", "log", "route", "refusal"), False, ("phase", "reads")),
        "terminal": NodeKind(None, False, ("run", "log", "given", "verdict", "route"), False),
    }
)
"""Every kind of node."""

CALLING = tuple(kind for kind, row in KINDS.items() if row.calls is not None)
"""Kinds of nodes that call out, and so spend the run's time."""


def name_record_channel(node: str) -> str:
    """Return the channel that keeps what a node called."""
    return f"{RECORD_PREFIX}{node}"


_ALLOWED = "a name without ':' that does not begin with '__'"
_WRITABLE = "a name that is not blank and has no control characters"
_UNWRITABLE = frozenset({"Cc", "Cs"})  # Unicode's categories of control characters and of half characters


INPUT_FIELDS: Final = {f"given_{name}": name for name in RECORDED}
"""The fields of the input that have the name of a key that says how a run went, by the channels that hold them."""


def name_input_channel(field: str) -> str:
    """Return the channel that holds a field of the input: a caller writes no channel of the result."""
    return f"given_{field}" if field in RECORDED else field


def is_reserved_channel(name: str) -> bool:
    """Say whether LangGraph may have a channel of this name, or one of this shape, for itself."""
    return ":" in name or name.startswith("__")


def _is_writable_channel(name: str) -> bool:
    return bool(name.strip()) and not any(category(letter) in _UNWRITABLE for letter in name)


def check_node_name(name: object, taken: Iterable[str]) -> None:
    """Refuse the name of a node."""
    if not isinstance(name, str) or is_reserved_channel(name):
        raise GrammarError(f"node {name!r:.80}: {_ALLOWED} is required")
    if not _is_writable_channel(name):
        raise GrammarError(f"node {name!r:.80}: {_WRITABLE} is required")
    if name in taken or name.startswith("stop_"):
        raise GrammarError(f"node {name!r}: a name of its own, not beginning with 'stop_', is required")


def check_channels(**declared: Mapping[str, Any]) -> None:
    """Refuse channels that LangGraph has for itself, and those that say how they are to be written."""
    for field, hints in declared.items():
        for name, hint in hints.items():
            if is_reserved_channel(name):
                raise GrammarError(f"{field}: {_ALLOWED} is required for a channel; given: {name!r:.80}")
            if not _is_writable_channel(name):
                raise GrammarError(f"{field}: {_WRITABLE} is required for a channel; given: {name!r:.80}")
            if (reducer := _name_channel_reducer(hint)) is not None:
                raise GrammarError(
                    f"fresh: the channel {name} has a reducer, so it cannot be cleared; "
                    f"{field}: a plain type is required; given: {reducer}"
                )


def make_ephemeral_channel(hint: Any) -> Any:
    """Return the type hint of a channel whose value lives for one step."""
    if get_origin(hint) is NotRequired:
        (inner,) = hint.__args__
        return NotRequired[Annotated[inner, EphemeralValue]]
    return Annotated[hint, EphemeralValue]


def build_state_schema(name: str, hints: dict[str, Any]) -> Any:
    """Return a TypedDict of these channels."""
    return TypedDict(name, hints)  # type: ignore[operator]


def _name_channel_reducer(hint: Any) -> str | None:
    for item in _list_hint_annotations(hint):
        kind = item if isclass(item) else type(item)
        if issubclass(kind, BaseChannel):
            if not issubclass(kind, EphemeralValue | LastValue):
                return kind.__name__
        elif callable(item):
            return str(getattr(item, "__name__", kind.__name__))
    return None


def _list_hint_annotations(hint: Any) -> Iterator[Any]:
    yield from getattr(hint, "__metadata__", ())
    if hasattr(hint, "__metadata__"):
        yield from _list_hint_annotations(hint.__origin__)
    elif get_origin(hint) in (NotRequired, ReadOnly, Required):
        yield from _list_hint_annotations(hint.__args__[0])


T = TypeVar("T")

INPUT = "given"  # the channel with the input as it was recorded, which no body writes
FAILED_ENDING = "stop_guard_error"  # where a run ends whose ok ending fails
UNRECORDED_ENDING = f"stop_{AUDIT_UNAVAILABLE}"  # where a run ends that had to be recorded and was not


@dataclass(frozen=True)
class Declaration:
    """What a node says of itself; it is all in the node's metadata, so that `verify` and pictures can read it."""

    name: str
    kind: Kind
    phase: str
    """The step of the run that it belongs to; a stop terminal has none, since a run stops in the phase it is in."""
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    to: tuple[str, ...] = ()
    stops: tuple[str, ...] = ()
    family: str | None = None  # of a stop terminal: the family that it ends
    again: tuple[str, ...] = ()  # of a guard: the propose nodes whose proposals it refuses, which are asked again
    attempts: int | None = None
    """Of a guard that has somebody asked again: asks for one proposal at most, where `max_attempts` is more."""
    inherits: tuple[str, ...] = ()
    """Of a guard: families of the guards that have a proposer asked again whose proposals it judges first. Where none
    comes, the run stops with the refusal that it was asked again for."""
    limits: tuple[str, ...] = ()
    """Of a guard: the guard to which the run goes, instead of a stop, where a budget ends it; see `Pattern.limit`."""
    is_limit_guard: bool = False
    entry: bool = False
    records: tuple[str, ...] = ()  # of a terminal: the channels that keep what the nodes of the pattern called
    effects: tuple[str, ...] = ()  # of an act node: the tools by which it changes something outside
    rounds: Rounds = 1  # of an act node: how often a visit may yield calls
    proposers: tuple[Any, ...] | None = None  # of a propose node: whom it may call; None where it does not say it
    tools: tuple[str, ...] = ()  # of an act node: the tools of the pattern's table that it may call, by name
    licensing: tuple[str, ...] = ()
    """Channels that the grammar needs and the body is not shown: of an act node with `tools` those by which its calls
    are licensed, of a propose node whose proposer may be asked again what it called before."""
    behind: tuple[str, ...] = ()
    """Of an act node: the guards that stand on every way to it, and on every way back to it."""
    held: tuple[tuple[str, str | tuple[str, ...]], ...] = ()
    """Of an ok terminal: keys of its result, each with the channel or the key of one (``accepted_answer.answer``) that
    has what guards accepted, or with the values that it may have."""

    @cached_property
    def channels(self) -> tuple[str, ...]:
        """What LangGraph hands to the node: what its body reads, and what the grammar needs."""
        held = [where.partition(".")[0] for _, where in self.held if isinstance(where, str)]
        return deduplicate_names([*self.reads, *KINDS[self.kind].reads, *self.records, *self.licensing, *held])

    @cached_property
    def record_channel(self) -> str:
        """The channel that keeps what the node called."""
        return name_record_channel(self.name)

    @cached_property
    def is_calling_node(self) -> bool:
        """Whether the node calls out, and so spends the run's time."""
        return self.kind in CALLING

    @property
    def ways(self) -> tuple[str, ...]:
        """Where the node leads when nothing stops the run."""
        return (*self.to, *self.again, *self.limits)

    @property
    def families(self) -> tuple[str, ...]:
        """Of a guard: the stop families that it can leave by."""
        return deduplicate_names([*self.stops, *self.inherits])

    @property
    def endings(self) -> tuple[str, ...]:
        """Of a terminal: the stops that it leads to where it cannot end the run itself."""
        if self.kind != "terminal" or self.family == AUDIT_UNAVAILABLE:
            return ()
        return (UNRECORDED_ENDING,) if self.family is not None else (FAILED_ENDING, UNRECORDED_ENDING)

    def build_node_metadata(self) -> JsonObject:
        """Return the declaration as LangGraph node metadata."""
        own = {"phase": self.phase} if self.family is None else {}
        shown: JsonObject = {"kind": self.kind, **own, "writes": list(self.writes)}
        if self.kind == "guard":
            shown["stops"] = list(self.families)
            shown |= {name: list(ways) for name in ("again", "limits") if (ways := getattr(self, name))}
        if self.family is not None:
            shown["family"] = self.family
        for field in ("effects", "tools", "behind"):
            if names := getattr(self, field):
                shown[field] = list(names)
        return shown


def build_declaration(
    kind: Kind,
    name: str,
    body: Body,
    given: Declares,
    *,
    to: Iterable[str],
    again: Iterable[str] = (),
    attempts: int | None = None,
    entry: bool = False,
) -> Declaration:
    """Put together what a body says of itself and what the pattern says of its node."""
    own = read_body_declaration(body)
    both = {item.name: (getattr(own, item.name), getattr(given, item.name)) for item in fields(Declares)}
    said = Declares(**{field: _choose_said_once(f"node {name!r}, {field}", *values) for field, values in both.items()})
    required = {*KINDS[kind].says, "writes"} if entry else KINDS[kind].says
    if missing := [field for field in both if field in required and getattr(said, field) is None]:
        raise GrammarError(f"node {name!r}, {', '.join(missing)}: required, beside its body or in the pattern")
    if kind != "guard" and said.stops:
        raise GrammarError(f"node {name!r}, stops: given {', '.join(said.stops)}; allowed: nothing, only a guard stops")
    if kind != "act" and (acting := [field for field in _ACTING if getattr(said, field) is not None]):
        raise GrammarError(f"node {name!r}, {', '.join(acting)}: given; allowed: nothing, only an act node has them")
    if kind not in _BEHIND and said.behind is not None:
        raise GrammarError(f"node {name!r}, behind: given; allowed: nothing, only an act node and an ending have it")
    if attempts is not None and not (type(attempts) is int and attempts >= 1 and again):
        raise GrammarError(f"node {name!r}, attempts: a whole number from 1 on, beside again; given: {attempts!r:.80}")
    _check_calls(kind, name, said.calls)
    phase, reads, writes, stops = said.phase or "", said.reads or (), said.writes or (), said.stops or ()
    effects, rounds = deduplicate_names(said.effects or ()), said.rounds or 1
    tools = deduplicate_names(said.calls or ()) if kind == "act" else ()
    return Declaration(
        name,
        kind,
        phase,
        deduplicate_names(reads),
        writes,
        tuple(to),
        stops,
        again=tuple(again),
        attempts=attempts,
        entry=entry,
        effects=effects,
        rounds=rounds,
        proposers=said.calls if kind == "propose" else None,
        tools=tools,
        behind=deduplicate_names(said.behind or ()),
    )


_ACTING = ("effects", "rounds")  # what only an act node says of itself
_BEHIND = ("act", "terminal")  # the kinds of nodes that may say behind which guards they stand


def _check_calls(kind: Kind, name: str, given: tuple[Any, ...] | None) -> None:
    """Refuse whom a node says that it calls, where its kind calls nobody of that sort."""
    allowed = {"propose": "proposers", "act": "names of the pattern's tools"}.get(kind)
    wrong = [item for item in given or () if allowed is None or isinstance(item, str) != (kind == "act")]
    if wrong:
        raise GrammarError(f"node {name!r}, calls: given {wrong[0]!r:.80}; allowed: {allowed or 'nothing'}")


def _choose_said_once(where: str, by_body: T | None, by_pattern: T | None) -> T | None:
    if by_body is not None and by_pattern is not None:
        raise GrammarError(f"{where}: said twice, beside its body ({by_body}) and in the pattern ({by_pattern})")
    return by_pattern if by_body is None else by_body


def walk_ways(start: str, list_ways: Callable[[str], Iterable[str]]) -> Iterator[tuple[str, ...]]:
    """Yield a shortest path to every node that the ways from a node lead to, those of few steps first."""
    paths: dict[str, tuple[str, ...]] = {start: (start,)}
    waiting = [start]
    for name in waiting:
        for following in list_ways(name):
            if following not in paths:
                paths[following] = (*paths[name], following)
                waiting.append(following)
                yield paths[following]


def complete_declarations(
    declared: Mapping[str, Declaration],
    *,
    catalogue: Catalogue,
    outputs: Iterable[str],
    given: Iterable[str] = (),
    so_far: Iterable[str] = (),
) -> dict[str, Declaration]:
    """Return declarations with what the grammar adds: its own stops, and a terminal for every family."""
    records = tuple(name_record_channel(name) for name, item in declared.items() if item.is_calling_node)
    judged = [name for name, item in declared.items() if item.tools or item.kind == "review"]
    licensing = (*given, INPUT, *map(name_record_channel, judged))
    done = {name: _complete_declaration(item, declared, records) for name, item in declared.items()}
    asked = {name for item in declared.values() for name in item.again}
    own = {name: (name_record_channel(name),) for name in asked}
    done = {
        name: replace(item, licensing=licensing if item.tools else own.get(name, ())) for name, item in done.items()
    }
    again = {reason.family for reason in catalogue if reason.again}
    done = {name: replace(item, inherits=_list_inherited_families(item, done, again)) for name, item in done.items()}
    done = _lead_to_last_answer(done, catalogue)
    families = [family for item in done.values() for family in item.families if family != AUDIT_UNAVAILABLE]
    for family in deduplicate_names([*families, AUDIT_UNAVAILABLE]):  # which is the last, in fingerprints too
        name = f"stop_{family}"
        reads = () if family == AUDIT_UNAVAILABLE else tuple(so_far)  # an unrecorded run shows nothing of itself
        done[name] = Declaration(name, "terminal", "", reads, tuple(outputs), family=family, records=records)
    return done


def _complete_declaration(
    item: Declaration, declared: Mapping[str, Declaration], records: tuple[str, ...]
) -> Declaration:
    if item.kind == "terminal":
        return replace(item, records=records)
    if item.kind != "guard":
        return item
    before = [other for other in declared.values() if item.name in other.to]
    following = [way for way in item.ways if way in declared]
    beside = [*(declared[way] for way in following), *before]
    behind = {*following}
    for way in following:
        behind.update(path[-1] for path in walk_ways(way, lambda name: declared[name].ways if name in declared else ()))
    budget = ("budget",) if item.name in behind or any(other.is_calling_node for other in beside) else ()
    effect = (EFFECT,) if any(other.effects for other in before) else ()
    licence = (LICENCE,) if any(other.tools for other in before) else ()
    unrecorded = (AUDIT_UNAVAILABLE,) if item.entry else ()
    added = (*licence, *effect, *budget, "guard_error", *unrecorded)
    return replace(item, stops=deduplicate_names([*item.stops, *added]))


def _list_inherited_families(
    item: Declaration, declared: Mapping[str, Declaration], again: Container[str]
) -> tuple[str, ...]:
    """Return the families of the refusals for which a proposer is asked again whose proposals a guard judges first."""
    asked = {other.name for other in declared.values() if other.kind == "propose" and item.name in other.to}
    refusing = [other for other in declared.values() if asked.intersection(other.again)]
    families = deduplicate_names([family for other in refusing for family in other.stops])
    return tuple(family for family in families if family in again)


def _lead_to_last_answer(declared: Mapping[str, Declaration], catalogue: Catalogue) -> dict[str, Declaration]:
    """Return declarations in which guards lead to the last answer, and those behind it to the stops it stands for."""
    entry = next((name for name, item in declared.items() if item.entry), "")
    limit = next((name for name, item in declared.items() if item.is_limit_guard), None)
    if limit is None:
        return dict(declared)
    ways = {name: [way for way in item.to if way in declared] for name, item in declared.items()}
    first, last = ({start, *(path[-1] for path in walk_ways(start, ways.__getitem__))} for start in (entry, limit))
    known = (catalogue.find(reason) for reason in ENDING_LIMITS)
    families = deduplicate_names([entry.family for entry in known if entry is not None])

    def lead(name: str, item: Declaration) -> Declaration:
        if item.kind != "guard":
            return item
        limits = (limit,) if name in first - {limit} and not item.entry and "budget" in item.stops else ()
        return replace(item, limits=limits, inherits=(*item.inherits, *(families if name in last else ())))

    return {name: lead(name, item) for name, item in declared.items()}


def check_declarations(
    declarations: Mapping[str, Declaration],
    catalogue: Catalogue,
    *,
    channels: Iterable[str],
    inputs: Iterable[str],
    outputs: Iterable[str],
) -> None:
    """Refuse what cannot work."""
    for item in declarations.values():
        if item.family is not None:  # the grammar's own
            continue
        _require_declared_names(item, "writes", item.writes, outputs if item.kind == "terminal" else channels)
        _require_declared_names(item, "reads", item.reads, [*channels, *(inputs if item.entry else ())])
        _require_declared_names(item, "to", item.to, declarations)
        proposing = [other.name for other in declarations.values() if other.kind == "propose"]
        _require_declared_names(item, "again", item.again, proposing)
        guards = [other.name for other in declarations.values() if other.kind == "guard"]
        _require_declared_names(item, "behind", item.behind, guards)
        own = [name for name in item.stops if not (item.entry and name == AUDIT_UNAVAILABLE)]
        _require_declared_names(item, "stops", own, (name for name in catalogue.families if name != AUDIT_UNAVAILABLE))
        _require_declared_names(item, "phase", [item.phase], catalogue.phases)
        spent = {"max_seconds": "budget"} if item.is_calling_node else {}
        spent |= {f"{name}:{tool}": EFFECT for tool in item.effects for name in (EFFECT_UNKNOWN, EFFECT_UNRECORDABLE)}
        licence = [entry.reason.replace("<argument>", "argument") for entry in licence_reasons((), [item.phase])]
        spent |= {reason.replace("<tool>", tool): LICENCE for tool in item.tools for reason in licence}
        request = {"invalid_request:field": "invalid_request"} if item.entry else {}
        for reason, family in {**spent, **request, f"guard_error:{item.name}": "guard_error"}.items():
            entry = catalogue.find(reason)
            _require_declared_names(item, f"phase of {reason}", [item.phase], entry.phases if entry is not None else ())
            _require_declared_names(item, f"family of {reason}", [entry.family] if entry is not None else (), [family])
    _check_unrecorded_stop(catalogue)


def _check_unrecorded_stop(catalogue: Catalogue) -> None:
    """Refuse a catalogue in which a run cannot end that had to be recorded, in whichever phase it was."""
    entry = catalogue.find(AUDIT_UNAVAILABLE)
    phases = () if entry is None or entry.family != AUDIT_UNAVAILABLE else entry.phases
    if missing := [phase for phase in catalogue.phases if phase not in phases]:
        raise GrammarError(
            f"catalogue {catalogue.pattern!r}: a run that had to be recorded and was not stops with the reason and the "
            f"family {AUDIT_UNAVAILABLE} in every phase (`common_reasons` has it); missing: {', '.join(missing)}"
        )


def _require_declared_names(item: Declaration, what: str, given: Iterable[str], allowed: Iterable[str]) -> None:
    known = set(allowed)
    if unknown := [name for name in given if name not in known]:
        shown = ", ".join(sorted(known)) or "nothing"
        raise GrammarError(f"node {item.name!r}, {what}: given {', '.join(unknown)}; allowed: {shown}")


def deduplicate_names(names: Iterable[str]) -> tuple[str, ...]:
    """Return names without repetitions, in order."""
    return tuple(dict.fromkeys(names))

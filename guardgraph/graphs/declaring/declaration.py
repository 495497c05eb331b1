"""What a node says of itself, what the grammar adds to it, and what it refuses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TypeVar

from guardgraph.graphs.declaring.kinds import CALLING, KINDS, name_record_channel
from guardgraph.nodes.body import Body, Declares, read_body_declaration
from guardgraph.plain.errors import GrammarError
from guardgraph.plain.json import JsonObject
from guardgraph.state.catalogue import AUDIT_UNAVAILABLE, Catalogue
from guardgraph.state.run import Kind

T = TypeVar("T")

FAILED_ENDING = "stop_guard_error"
"""Where a run ends whose ok ending fails."""

UNRECORDED_ENDING = f"stop_{AUDIT_UNAVAILABLE}"
"""Where a run ends that had to be recorded and was not."""


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
    family: str | None = None
    """Of a stop terminal: the family that it ends."""
    entry: bool = False
    records: tuple[str, ...] = ()
    """Of a terminal: the channels that keep what the nodes of the pattern called."""
    later: tuple[str, ...] = ()
    """Of the channels that it reads, those that are no part of the pattern's fingerprint."""

    @cached_property
    def channels(self) -> tuple[str, ...]:
        """What LangGraph hands to the node: what its body reads, and what the grammar needs."""
        return deduplicate_names([*self.reads, *KINDS[self.kind].reads, *self.records])

    @cached_property
    def is_calling_node(self) -> bool:
        """Whether the node calls out, and so spends the run's time."""
        return self.kind in CALLING

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
            shown["stops"] = list(self.stops)
        if self.family is not None:
            shown["family"] = self.family
        return shown


def build_declaration(
    kind: Kind, name: str, body: Body, given: Declares, *, to: Iterable[str], entry: bool = False
) -> Declaration:
    """Put together what a body says of itself and what the pattern says of its node.

    Args:
        kind: of the node.
        name: the node's.
        body: what it does; it may have been declared with `declares`.
        given: what the pattern says of it.
        to: the ways on.
        entry: whether every run begins here.

    Raises:
        GrammarError: something is said twice, or by neither, or by a node that has no such thing.
    """
    own = read_body_declaration(body)
    both = {item.name: (getattr(own, item.name), getattr(given, item.name)) for item in fields(Declares)}
    said = Declares(**{field: _choose_said_once(f"node {name!r}, {field}", *values) for field, values in both.items()})
    required = {*KINDS[kind].says, "writes"} if entry else KINDS[kind].says
    if missing := [field for field in both if field in required and getattr(said, field) is None]:
        raise GrammarError(f"node {name!r}, {', '.join(missing)}: required, beside its body or in the pattern")
    if kind != "guard" and said.stops:
        raise GrammarError(f"node {name!r}, stops: given {', '.join(said.stops)}; allowed: nothing, only a guard stops")
    phase, reads, writes, stops = said.phase or "", said.reads or (), said.writes or (), said.stops or ()
    later = said.later or ()
    if unread := [channel for channel in later if channel not in reads]:
        raise GrammarError(f"node {name!r}, later: given {', '.join(unread)}; allowed: what it reads")
    return Declaration(name, kind, phase, deduplicate_names(reads), writes, tuple(to), stops, entry=entry, later=later)


def _choose_said_once(where: str, by_body: T | None, by_pattern: T | None) -> T | None:
    if by_body is not None and by_pattern is not None:
        raise GrammarError(f"{where}: said twice, beside its body ({by_body}) and in the pattern ({by_pattern})")
    return by_pattern if by_body is None else by_body


def complete_declarations(declared: Mapping[str, Declaration], *, outputs: Iterable[str]) -> dict[str, Declaration]:
    """Return declarations with what the grammar adds: its own stops, and a terminal for every family.

    Args:
        declared: a pattern's nodes.
        outputs: the channels of the output.
    """
    records = tuple(name_record_channel(name) for name, item in declared.items() if item.is_calling_node)
    done = {name: _complete_declaration(item, declared, records) for name, item in declared.items()}
    for family in deduplicate_names([*(family for item in done.values() for family in item.stops), AUDIT_UNAVAILABLE]):
        name = f"stop_{family}"
        done[name] = Declaration(name, "terminal", "", (), tuple(outputs), family=family, records=records)
    return done


def _complete_declaration(
    item: Declaration, declared: Mapping[str, Declaration], records: tuple[str, ...]
) -> Declaration:
    if item.kind == "terminal":
        return replace(item, records=records)
    if item.kind != "guard":
        return item
    following = [declared[way] for way in item.to if way in declared]
    before = [other for other in declared.values() if item.name in other.to]
    spends = any(other.is_calling_node for other in [*following, *before]) or _is_in_cycle(item, declared)
    budget = ("budget",) if spends else ()
    return replace(item, stops=deduplicate_names([*item.stops, *budget, "guard_error"]))


def _is_in_cycle(item: Declaration, declared: Mapping[str, Declaration]) -> bool:
    """Say whether a run that leaves a node may come back to it."""
    seen: set[str] = set()
    waiting = list(item.to)
    while waiting:
        name = waiting.pop()
        if name == item.name:
            return True
        if name in declared and name not in seen:
            seen.add(name)
            waiting.extend(declared[name].to)
    return False


def check_declarations(
    declarations: Mapping[str, Declaration],
    catalogue: Catalogue,
    *,
    channels: Iterable[str],
    inputs: Iterable[str],
    outputs: Iterable[str],
) -> None:
    """Refuse what cannot work.

    Args:
        declarations: complete ones.
        catalogue: the pattern's.
        channels: the pattern's own, which every node may read and all but terminals write.
        inputs: what the entry may read too.
        outputs: what ok terminals may write.

    Raises:
        GrammarError: a declaration names what is not there; the message says what there is.
    """
    for item in declarations.values():
        if item.family is not None:  # the grammar's own
            continue
        _require_declared_names(item, "writes", item.writes, outputs if item.kind == "terminal" else channels)
        _require_declared_names(item, "reads", item.reads, [*channels, *(inputs if item.entry else ())])
        _require_declared_names(item, "to", item.to, declarations)
        _require_declared_names(
            item, "stops", item.stops, (name for name in catalogue.families if name != AUDIT_UNAVAILABLE)
        )
        _require_declared_names(item, "phase", [item.phase], catalogue.phases)
        for reason, family in _list_grammar_reasons(item).items():
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


def _list_grammar_reasons(item: Declaration) -> dict[str, str]:
    """Return the reasons that the grammar itself may stop a run with on account of a node, with their families."""
    spent = {"max_seconds": "budget"} if item.is_calling_node else {}
    request = {"invalid_request:field": "invalid_request"} if item.entry else {}
    return {**spent, **request, f"guard_error:{item.name}": "guard_error"}


def _require_declared_names(item: Declaration, what: str, given: Iterable[str], allowed: Iterable[str]) -> None:
    known = set(allowed)
    if unknown := [name for name in given if name not in known]:
        shown = ", ".join(sorted(known)) or "nothing"
        raise GrammarError(f"node {item.name!r}, {what}: given {', '.join(unknown)}; allowed: {shown}")


def deduplicate_names(names: Iterable[str]) -> tuple[str, ...]:
    """Return names without repetitions, in order."""
    return tuple(dict.fromkeys(names))

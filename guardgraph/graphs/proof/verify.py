"""The proof that a compiled graph has no way around its guards.

`verify` looks at the graph as LangGraph will run it (nodes, edges, branches, channels, input schemas), holds it against
what its nodes declare, and the declarations against each other. It reports findings; an empty list is the proof.

It proves the declarations and reads no code: what a body does beyond its declaration closes the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from langgraph.channels import EphemeralValue, LastValue
from langgraph.graph import END, START
from langgraph.graph.state import CompiledStateGraph

from guardgraph.graphs.declaring.channels import RECORD
from guardgraph.graphs.declaring.declaration import UNRECORDED_ENDING
from guardgraph.graphs.declaring.kinds import CALLING, RECORD_PREFIX
from guardgraph.graphs.proof.compiled import changes
from guardgraph.graphs.proof.topology import Topology
from guardgraph.graphs.running.door import GuardedGraph
from guardgraph.plain.errors import InputError

__all__ = ["RULES", "Finding", "verify"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One way in which a graph breaks the grammar."""

    rule: str
    """Its name in `RULES`."""
    message: str
    nodes: tuple[str, ...]
    """The nodes at fault, sorted."""
    path: tuple[str, ...] = ()
    """A way through the graph that shows it, where there is one."""

    def __str__(self) -> str:
        way = f" [{' -> '.join(self.path)}]" if self.path else ""
        return f"{self.rule}: {self.message}{way}"


def verify(graph: CompiledStateGraph) -> list[Finding]:  # type: ignore[type-arg]
    """Prove the grammar on a compiled graph, ours or your own.

    What is proved are the declarations. Bodies are not read: one that does what its node does not declare closes the
    run with ``guard_error:<node>``.

    Args:
        graph: what a `create_…` function, `Pattern.compile` or a builder's `compile` returned.

    Returns:
        Findings in the order of `RULES`; an empty list when every rule holds.

    Raises:
        InputError: it is no compiled LangGraph graph.
    """
    if not isinstance(graph, CompiledStateGraph):
        raise InputError(f"verify: a compiled LangGraph graph is required; given: {type(graph).__name__}")
    shape = Topology(graph)
    return [finding for rule in RULES.values() for finding in rule(shape)]


def _door(shape: Topology) -> Iterator[Finding]:
    """The graph was compiled by the grammar, so that its input passes the door."""
    if not isinstance(shape.graph, GuardedGraph):
        yield Finding("door", "the graph was not compiled by a Pattern; its input is not checked at the door", ())
    elif type(shape.graph) is not GuardedGraph:
        yield Finding("door", f"the graph is a {type(shape.graph).__name__}, whose door may be another", ())


def _changed(shape: Topology) -> Iterator[Finding]:
    """The compiled graph runs what its builder says, and nothing was changed since."""
    for message, *nodes in changes(shape.graph, by_grammar=isinstance(shape.graph, GuardedGraph)):
        yield Finding("changed", message, tuple(nodes))


def _foreign(shape: Topology) -> Iterator[Finding]:
    """Every node, branch and handler was made by the grammar and is what it was declared to be."""
    for name, reason in shape.foreign():
        yield Finding("foreign", f"{name} {reason}", (name,))


def _entry(shape: Topology) -> Iterator[Finding]:
    """Every run begins, once, with the one guard that clears what an earlier run left."""
    begins = sorted(shape.after(START))
    for name in begins:
        if not shape.is_entry(name):
            yield Finding("entry", f"a run can begin with {name}, which is no entry guard", (name,), (START, name))
    if len(begins) > 1:
        yield Finding("entry", f"a run begins with {len(begins)} nodes at once", tuple(begins))
    for name in filter(shape.is_entry, sorted(shape.nodes)):
        for earlier in sorted(shape.before(name) - {START}):
            message = f"{earlier} leads back to {name}, which forgets the run"
            yield Finding("entry", message, _sorted(name, earlier), (earlier, name))


def _guarded(shape: Topology) -> Iterator[Finding]:
    """Every node that calls out is followed by one guard, and by nothing else."""
    for name in shape.of_kind(*CALLING):
        ways = sorted(shape.after(name))
        for following in ways:
            if shape.kind(following) != "guard":
                message = f"{name} is followed by {following}, which is no guard"
                yield Finding("guarded", message, _sorted(name, following), (name, following))
        if len(ways) > 1:
            yield Finding("guarded", f"{name} is followed by {len(ways)} nodes at once", _sorted(name, *ways))


def _bypass(shape: Topology) -> Iterator[Finding]:
    """No path leads from a propose node to an act or review node or an ok terminal without a guard on it."""
    for name in shape.of_kind("propose"):
        for path in shape.paths_without_guard(name):
            if shape.kind(path[-1]) in ("act", "review") or shape.is_ok_terminal(path[-1]):
                message = f"what {name} proposes reaches {path[-1]} past every guard"
                yield Finding("bypass", message, _sorted(name, path[-1]), path)


def _raw(shape: Topology) -> Iterator[Finding]:
    """No act, review or ok node, input or output can read a raw channel, and only terminals what was called."""
    for name in [*shape.of_kind("act", "review"), *filter(shape.is_ok_terminal, shape.of_kind("terminal"))]:
        if channels := sorted(shape.reads(name) & shape.raw_channels):
            yield Finding("raw", f"{name} can read what nobody has judged: {', '.join(channels)}", (name,))
    for name in shape.of_kind(*CALLING, "guard"):
        if records := sorted(item for item in shape.reads(name) if item.startswith(RECORD_PREFIX)):
            yield Finding("raw", f"{name} can read the record of what was called: {', '.join(records)}", (name,))
    for where, names in (("input", shape.inputs), ("output", shape.outputs)):
        if channels := sorted(names & shape.raw_channels):
            yield Finding("raw", f"the {where} schema holds raw channels: {', '.join(channels)}", ())


def _sealed(shape: Topology) -> Iterator[Finding]:
    """A caller cannot write what nodes write, and only terminals write the output."""
    if channels := sorted(shape.inputs & (shape.internals | shape.outputs)):
        yield Finding("sealed", f"a caller can set channels of the run: {', '.join(channels)}", ())
    for name in shape.of_kind(*CALLING, "guard"):
        if channels := sorted(shape.writes(name) & shape.outputs):
            yield Finding("sealed", f"{name} is no terminal but writes the output: {', '.join(channels)}", (name,))


def _triggers(shape: Topology) -> Iterator[Finding]:
    """A node starts because an edge leads to it; no channel that a node or a caller can write starts one."""
    for name, channel in shape.strange_triggers():
        yield Finding("triggers", f"{name} is started by what is written to the channel {channel}", (name,))


def _fresh(shape: Topology) -> Iterator[Finding]:
    """Nothing of one run reaches the next: what the entry guard does not clear lives for one step."""
    for name, channel in sorted(shape.builder.channels.items()):
        if name in shape.raw_channels | shape.inputs | shape.outputs:
            if not isinstance(channel, EphemeralValue):
                yield Finding("fresh", f"the channel {name} outlives the step after it was written", ())
        elif not shape.grows(name) and not isinstance(channel, EphemeralValue | LastValue):
            yield Finding("fresh", f"the channel {name} has a reducer, so it cannot be cleared", ())


def _exits(shape: Topology) -> Iterator[Finding]:
    """A guard leaves by its one conditional edge only; no other node has one, but for terminals."""
    for name in shape.of_kind("guard"):
        if ways := sorted(shape.static_after(name)):
            message = f"{name} has a plain edge to {', '.join(ways)}, which no verdict decides"
            yield Finding("exits", message, _sorted(name, *ways), (name, ways[0]))
        if (branches := shape.branch_count(name)) != 1:
            yield Finding("exits", f"{name} has {branches} conditional edges; a guard has one", (name,))
    for name in filter(shape.is_decided, shape.of_kind("terminal")):
        if ways := sorted(shape.static_after(name)):
            message = f"{name} has a plain edge to {', '.join(ways)}, which hides that it failed, or is not recorded"
            yield Finding("exits", message, _sorted(name), (name, ways[0]))
    for name in [START, *shape.of_kind(*CALLING, "terminal")]:
        if shape.branch_count(name) > shape.is_decided(name):
            yield Finding("exits", f"{name} decides where the run goes, but is no guard", (name,))


def _reachable(shape: Topology) -> Iterator[Finding]:
    """Every node can be reached, and from every node a terminal."""
    for name in sorted(shape.nodes - shape.reachable(START)):
        yield Finding("reachable", f"no run can reach {name}", (name,))
    for name in sorted(shape.nodes):
        if not any(shape.kind(other) == "terminal" for other in shape.reachable(name)):
            yield Finding("reachable", f"from {name} no run can reach a terminal", (name,))


def _cycles(shape: Topology) -> Iterator[Finding]:
    """Every cycle passes a guard that can stop the run for a reason of its own."""
    for path in shape.cycles_that_cannot_stop():
        yield Finding("cycles", "a cycle that no guard can stop", _sorted(*path), path)


def _ends(shape: Topology) -> Iterator[Finding]:
    """Only terminals end a run, or leave it unrecorded; each ends it, or leads to the stop that says why not."""
    for name in sorted(shape.nodes):
        ends = END in shape.after(name)
        if shape.kind(name) == "terminal" and shape.after(name) != shape.endings(name):
            yield Finding("ends", f"terminal {name} does not end the run", (name,))
        if shape.kind(name) != "terminal" and ends:
            yield Finding("ends", f"the run can end after {name}, which is no terminal", (name,), (name, END))
        if shape.kind(name) != "terminal" and UNRECORDED_ENDING in shape.after(name):
            message = f"{name} is no terminal, and can end the run where nothing is recorded"
            yield Finding("ends", message, (name,), (name, UNRECORDED_ENDING))


def _families(shape: Topology) -> Iterator[Finding]:
    """The stop families that a guard declares are those that are drawn from it."""
    for name in shape.of_kind("guard"):
        declared, drawn = shape.declared_families(name), shape.drawn_families(name)
        for family in sorted(declared - drawn):
            yield Finding("families", f"{name} declares the family {family}, which is not drawn", (name,))
        for family in sorted(drawn - declared):
            yield Finding("families", f"{name} can go to stop_{family}, which it does not declare", (name,))


def _drawn(shape: Topology) -> Iterator[Finding]:
    """The ways on that a node declares are those that are drawn from it."""
    for name in shape.of_kind(*CALLING, "guard"):
        declared, drawn = shape.declared_ways(name), shape.drawn_ways(name)
        for way in sorted(declared - drawn):
            yield Finding("drawn", f"{name} declares a way to {way}, which is not drawn", _sorted(name, way))
        for way in sorted(drawn - declared):
            yield Finding(
                "drawn", f"{name} can go to {way}, which it does not declare", _sorted(name, way), (name, way)
            )


def _budget(shape: Topology) -> Iterator[Finding]:
    """Before and behind every node that calls out stands a guard that can stop for want of time."""
    spending = frozenset(shape.of_kind(*CALLING))
    for name in shape.of_kind("guard"):
        beside = sorted(spending & (shape.before(name) | shape.after(name)))
        if beside and "budget" not in shape.declared_families(name):
            message = f"{name} stands beside {', '.join(beside)} without looking at the budget"
            yield Finding("budget", message, _sorted(name, *beside))


def _channels(shape: Topology) -> Iterator[Finding]:
    """A channel declared as read is written by some node, and what a node that calls out writes, its guard reads."""
    kept = {*RECORD, *shape.inputs, *(channel for name in shape.nodes for channel in shape.writes(name))}
    for name in shape.of_kind(*CALLING, "guard", "terminal"):
        for channel in sorted(shape.asked(name) - kept):
            yield Finding("channels", f"{name} reads {channel}, which no node writes", (name,))
    for name in shape.of_kind(*CALLING):
        if (judge := shape.judge(name)) is None:
            continue
        for channel in sorted(shape.writes(name) - shape.asked(judge)):
            message = f"{name} writes {channel}, which the guard behind it, {judge}, does not read"
            yield Finding("channels", message, _sorted(name, judge), (name, judge))


RULES: dict[str, Callable[[Topology], Iterable[Finding]]] = {
    "door": _door,
    "changed": _changed,
    "foreign": _foreign,
    "entry": _entry,
    "guarded": _guarded,
    "bypass": _bypass,
    "raw": _raw,
    "sealed": _sealed,
    "triggers": _triggers,
    "fresh": _fresh,
    "exits": _exits,
    "reachable": _reachable,
    "cycles": _cycles,
    "ends": _ends,
    "families": _families,
    "drawn": _drawn,
    "budget": _budget,
    "channels": _channels,
}
"""The rules of the grammar by name; the docstring of each says what must hold."""


def _sorted(*names: str) -> tuple[str, ...]:
    return tuple(sorted(set(names)))

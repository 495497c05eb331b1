"""The proof that a compiled graph has no way around its guards.

`verify` looks at the graph as LangGraph will run it (nodes, edges, branches, channels, input schemas), holds it against
what its nodes declare, and the declarations against each other. It reports findings; an empty list is the proof.

It proves the declarations and reads no code: what a body does beyond its declaration closes the run.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from langgraph.channels import EphemeralValue, LastValue
from langgraph.graph import END, START
from langgraph.graph.state import CompiledStateGraph

from guardgraph.graphs.declaring import CALLING, RECORD_PREFIX, UNRECORDED_ENDING, walk_ways
from guardgraph.graphs.proof.behind import prove_behind
from guardgraph.graphs.proof.topology import Finding, Topology, find_compiled_changes, find_held_tools
from guardgraph.graphs.running.door import GuardedGraph
from guardgraph.graphs.running.frame import RECORD
from guardgraph.plain.errors import InputError
from guardgraph.state.tools import ToolPolicy


def verify(
    graph: CompiledStateGraph,  # type: ignore[type-arg]
    *,
    behind: Mapping[str, Sequence[str]] | None = None,
    before: Sequence[str] = (),
) -> list[Finding]:
    """Prove the grammar on a compiled graph, or of any graph that every way from a node passes a guard node.

    What is proved are the declarations. Bodies are not read: one that does what its node does not declare closes the
    run with ``guard_error:<node>``.

    Args:
        graph: what a `create_…` function, `Pattern.compile` or a builder's `compile` returned.
        behind: of a graph that the grammar did not make: by the name of each guard node the nodes whose writing it
            judges, as ``{"answer_guard": ["generate"]}``. Only this is proved then.
        before: with `behind`: nodes beside the end that may be reached only past the guard.

    Returns:
        Findings in the order of `RULES`; an empty list when every rule holds. With `behind`, ``around`` with the
        shortest way past the guard, and ``unseen`` for a node that may go where nothing declares.

    Raises:
        InputError: it is no compiled LangGraph graph, or a name is none of its nodes.
    """
    if not isinstance(graph, CompiledStateGraph):
        raise InputError(f"verify: a compiled LangGraph graph is required; given: {type(graph).__name__}")
    return _prove_rules(graph, RULES) if behind is None else prove_behind(graph, behind, before)


def verify_new_graph(graph: GuardedGraph) -> list[Finding]:
    """Prove the grammar on a graph that was compiled a moment ago: nobody can have changed it since."""
    return _prove_rules(graph, RULES.keys() - {"changed"})


def _prove_rules(graph: CompiledStateGraph, names: Collection[str]) -> list[Finding]:  # type: ignore[type-arg]
    shape = Topology(graph)
    return [finding for name, rule in RULES.items() if name in names for finding in rule(shape)]


def _prove_door(shape: Topology) -> Iterator[Finding]:
    """The graph was compiled by the grammar, so that its input passes the door."""
    if not isinstance(shape.graph, GuardedGraph):
        yield Finding("door", "the graph was not compiled by a Pattern; its input is not checked at the door", ())
    elif type(shape.graph) is not GuardedGraph:
        yield Finding("door", f"the graph is a {type(shape.graph).__name__}, whose door may be another", ())


def _prove_unchanged(shape: Topology) -> Iterator[Finding]:
    """The compiled graph runs what its builder says, and nothing was changed since."""
    for message, *nodes in find_compiled_changes(shape.graph, by_grammar=isinstance(shape.graph, GuardedGraph)):
        yield Finding("changed", message, tuple(nodes))


def _prove_no_foreign_parts(shape: Topology) -> Iterator[Finding]:
    """Every node, branch and handler was made by the grammar and is what it was declared to be."""
    for name, reason in shape.find_foreign_parts():
        yield Finding("foreign", f"{name} {reason}", (name,))


def _prove_entry(shape: Topology) -> Iterator[Finding]:
    """Every run begins, once, with the one guard that clears what an earlier run left."""
    begins = sorted(shape.list_following_nodes(START))
    for name in begins:
        if name not in shape.items or not shape.items[name].entry:
            yield Finding("entry", f"a run can begin with {name}, which is no entry guard", (name,), (START, name))
    if len(begins) > 1:
        yield Finding("entry", f"a run begins with {len(begins)} nodes at once", tuple(begins))
    for name in sorted(name for name, item in shape.items.items() if item.entry):
        for earlier in sorted(shape.list_preceding_nodes(name) - {START}):
            message = f"{earlier} leads back to {name}, which forgets the run"
            yield Finding("entry", message, _sort_node_names(name, earlier), (earlier, name))


def _prove_calls_guarded(shape: Topology) -> Iterator[Finding]:
    """Every node that calls out is followed by one guard, and by nothing else."""
    for name in shape.list_nodes_of_kind(*CALLING):
        ways = sorted(shape.list_following_nodes(name))
        for following in ways:
            if shape.get_kind(following) != "guard":
                message = f"{name} is followed by {following}, which is no guard"
                yield Finding("guarded", message, _sort_node_names(name, following), (name, following))
        if len(ways) > 1:
            yield Finding("guarded", f"{name} is followed by {len(ways)} nodes at once", _sort_node_names(name, *ways))


def _prove_no_bypass(shape: Topology) -> Iterator[Finding]:
    """Every path from a propose node to an act node, a review node or an ok terminal has a guard on it."""
    unguarded = {name for name in shape.nodes if shape.get_kind(name) != "guard"}
    for name in shape.list_nodes_of_kind("propose"):
        for path in walk_ways(name, lambda node: sorted(shape.list_following_nodes(node) & unguarded)):
            if shape.get_kind(path[-1]) in ("act", "review") or shape.is_ok_terminal(path[-1]):
                message = f"what {name} proposes reaches {path[-1]} past every guard"
                yield Finding("bypass", message, _sort_node_names(name, path[-1]), path)


def _prove_raw_channels(shape: Topology) -> Iterator[Finding]:
    """No act node, review node, ok terminal, input or output can read a raw channel; terminals alone read the calls."""
    for name in [
        *shape.list_nodes_of_kind("act", "review"),
        *filter(shape.is_ok_terminal, shape.list_nodes_of_kind("terminal")),
    ]:
        if channels := sorted(shape.get_read_channels(name) & shape.raw_channels):
            yield Finding("raw", f"{name} can read what nobody has judged: {', '.join(channels)}", (name,))
    for name in shape.list_nodes_of_kind(*CALLING, "guard"):
        item = shape.items[name]
        licensing = item.licensing if item.tools or item.kind == "propose" else ()
        read = shape.get_read_channels(name).difference(licensing)
        if records := sorted(channel for channel in read if channel.startswith(RECORD_PREFIX)):
            yield Finding("raw", f"{name} can read the record of what was called: {', '.join(records)}", (name,))
    for where, names in (("input", shape.inputs), ("output", shape.outputs)):
        if channels := sorted(names & shape.raw_channels):
            yield Finding("raw", f"the {where} schema holds raw channels: {', '.join(channels)}", ())


def _prove_sealed_channels(shape: Topology) -> Iterator[Finding]:
    """A caller cannot write what nodes write, and only terminals write the output."""
    if channels := sorted(shape.inputs & (shape.internals | shape.outputs)):
        yield Finding("sealed", f"a caller can set channels of the run: {', '.join(channels)}", ())
    for name in shape.list_nodes_of_kind(*CALLING, "guard"):
        if channels := sorted(shape.outputs.intersection(shape.items[name].writes)):
            yield Finding("sealed", f"{name} is no terminal but writes the output: {', '.join(channels)}", (name,))


def _prove_triggers(shape: Topology) -> Iterator[Finding]:
    """A node starts because an edge leads to it; no channel that a node or a caller can write starts one."""
    for name, channel in shape.find_strange_triggers():
        yield Finding("triggers", f"{name} is started by what is written to the channel {channel}", (name,))


def _prove_fresh_channels(shape: Topology) -> Iterator[Finding]:
    """Nothing of one run reaches the next: what the entry guard does not clear lives for one step."""
    for name, channel in sorted(shape.builder.channels.items()):
        if name in shape.raw_channels | shape.inputs | shape.outputs:
            if not isinstance(channel, EphemeralValue):
                yield Finding("fresh", f"the channel {name} outlives the step after it was written", ())
        # The grammar's own grow from node to node, until the entry guard begins them anew.
        elif (
            name != "log" and not name.startswith(RECORD_PREFIX) and not isinstance(channel, EphemeralValue | LastValue)
        ):
            yield Finding("fresh", f"the channel {name} has a reducer, so it cannot be cleared", ())


def _prove_guard_exits(shape: Topology) -> Iterator[Finding]:
    """A guard leaves by its one conditional edge; no other node has one, except terminals."""
    for name in shape.list_nodes_of_kind("guard"):
        if ways := sorted(shape.list_static_followers(name)):
            message = f"{name} has a plain edge to {', '.join(ways)}, which no verdict decides"
            yield Finding("exits", message, _sort_node_names(name, *ways), (name, ways[0]))
        if (branches := len(shape.builder.branches.get(name, ()))) != 1:
            yield Finding("exits", f"{name} has {branches} conditional edges; a guard has one", (name,))
    deciding = [name for name in shape.list_nodes_of_kind("terminal") if shape.get_endings(name) != {END}]
    for name in deciding:
        if ways := sorted(shape.list_static_followers(name)):
            message = f"{name} has a plain edge to {', '.join(ways)}, which hides that it failed, or is not recorded"
            yield Finding("exits", message, _sort_node_names(name), (name, ways[0]))
    for name in [START, *shape.list_nodes_of_kind(*CALLING, "terminal")]:
        if len(shape.builder.branches.get(name, ())) > (name in deciding):
            yield Finding("exits", f"{name} decides where the run goes, but is no guard", (name,))


def _prove_reachable_nodes(shape: Topology) -> Iterator[Finding]:
    """Every node can be reached, and from every node a terminal."""
    for name in sorted(shape.nodes - shape.find_reachable_nodes(START)):
        yield Finding("reachable", f"no run can reach {name}", (name,))
    for name in sorted(shape.nodes):
        if not any(shape.get_kind(other) == "terminal" for other in shape.find_reachable_nodes(name)):
            yield Finding("reachable", f"from {name} no run can reach a terminal", (name,))


def _prove_cycles_stop(shape: Topology) -> Iterator[Finding]:
    """Every cycle passes a guard that can stop the run for a reason of its own."""
    for path in shape.find_endless_cycles():
        yield Finding("cycles", "a cycle that no guard can stop", _sort_node_names(*path), path)


def _prove_run_ends(shape: Topology) -> Iterator[Finding]:
    """Only terminals end a run. Only they and the entry guard lead to the stop of an unrecorded run."""
    for name in sorted(shape.nodes):
        ends = END in shape.list_following_nodes(name)
        if shape.get_kind(name) == "terminal" and shape.list_following_nodes(name) != shape.get_endings(name):
            yield Finding("ends", f"terminal {name} does not end the run", (name,))
        if shape.get_kind(name) != "terminal" and ends:
            yield Finding("ends", f"the run can end after {name}, which is no terminal", (name,), (name, END))
        may_refuse = shape.get_kind(name) == "terminal" or (name in shape.items and shape.items[name].entry)
        if not may_refuse and UNRECORDED_ENDING in shape.list_following_nodes(name):
            message = f"{name} is no terminal, and can end the run where nothing is recorded"
            yield Finding("ends", message, (name,), (name, UNRECORDED_ENDING))


def _prove_stop_families(shape: Topology) -> Iterator[Finding]:
    """The stop families that a guard declares are the ones that are drawn."""
    for name in shape.list_nodes_of_kind("guard"):
        declared, drawn = frozenset(shape.items[name].families), shape.get_drawn_families(name)
        for family in sorted(declared - drawn):
            yield Finding("families", f"{name} declares the family {family}, which is not drawn", (name,))
        for family in sorted(drawn - declared):
            yield Finding("families", f"{name} can go to stop_{family}, which it does not declare", (name,))


def _prove_declared_ways(shape: Topology) -> Iterator[Finding]:
    """The ways on that a node declares are the ones that are drawn."""
    for name in shape.list_nodes_of_kind(*CALLING, "guard"):
        followers = shape.list_following_nodes(name) - {END}
        declared = frozenset(shape.items[name].ways)
        drawn = {way for way in followers if way not in shape.items or shape.items[way].family is None}
        for way in sorted(declared - drawn):
            yield Finding("drawn", f"{name} declares a way to {way}, which is not drawn", _sort_node_names(name, way))
        for way in sorted(drawn - declared):
            message = f"{name} can go to {way}, which it does not declare"
            yield Finding("drawn", message, _sort_node_names(name, way), (name, way))


def _prove_asked_again(shape: Topology) -> Iterator[Finding]:
    """A guard may have a proposer asked again if only guards stand between the proposer's node and it."""
    judged = {name: [way for way in item.to if shape.get_kind(way) == "guard"] for name, item in shape.items.items()}
    for name in shape.list_nodes_of_kind("guard"):
        for asked in sorted(shape.items[name].again):
            reached = {path[-1] for path in walk_ways(asked, lambda node: judged.get(node, ()))}
            if shape.get_kind(asked) != "propose" or name not in reached:
                message = f"{name} has {asked} asked again, and judges no proposal of it"
                yield Finding("again", message, _sort_node_names(name, asked), (name, asked))


def _prove_budget_guards(shape: Topology) -> Iterator[Finding]:
    """A guard that can stop for want of time stands before and behind every node that calls out."""
    spending = frozenset(shape.list_nodes_of_kind(*CALLING))
    for name in shape.list_nodes_of_kind("guard"):
        beside = sorted(spending & (shape.list_preceding_nodes(name) | shape.list_following_nodes(name)))
        if beside and "budget" not in shape.items[name].families:
            message = f"{name} stands beside {', '.join(beside)} without looking at the budget"
            yield Finding("budget", message, _sort_node_names(name, *beside))


def _prove_channel_use(shape: Topology) -> Iterator[Finding]:
    """Some node writes each channel that is declared as read; a guard reads what the calling node before it writes."""
    kept = {*RECORD, *shape.inputs, *(channel for item in shape.items.values() for channel in item.writes)}
    for name in shape.list_nodes_of_kind(*CALLING, "guard", "terminal"):
        for channel in sorted({*shape.items[name].reads} - kept):
            yield Finding("channels", f"{name} reads {channel}, which no node writes", (name,))
    for name in shape.list_nodes_of_kind(*CALLING):
        guards = [way for way in shape.list_following_nodes(name) if shape.get_kind(way) == "guard"]
        if len(guards) != 1:
            continue
        [judge] = guards
        for channel in sorted({*shape.items[name].writes}.difference(shape.items[judge].reads)):
            message = f"{name} writes {channel}, which the guard behind it, {judge}, does not read"
            yield Finding("channels", message, _sort_node_names(name, judge), (name, judge))


def _prove_call_rounds(shape: Topology) -> Iterator[Finding]:
    """A node that changes something outside makes one round of calls, so that a guard judges every write."""
    for name in shape.list_nodes_of_kind("act"):
        if shape.items[name].effects and shape.items[name].rounds != 1:
            message = f"{name} makes several rounds of calls, so what one brings can reach a write past every guard"
            yield Finding("rounds", message, (name,))


def _prove_named_tools(shape: Topology) -> Iterator[Finding]:
    """An act node names tools of the table, and those that write are its effects; no body holds a function of it."""
    if shape.frame is None or (table := shape.frame.table) is None:
        return
    policy = shape.frame.policy
    for name in shape.list_nodes_of_kind("act"):
        tools, effects = shape.items[name].tools, shape.items[name].effects
        for tool in sorted({*tools} - table.tools.keys()):
            yield Finding("tools", f"{name} may call {tool}, which is no tool of the table", (name,))
        for tool in sorted({*effects} - {*tools}):
            yield Finding("tools", f"{name} changes something by {tool}, which is not among its calls", (name,))
        for tool in sorted({*tools} - {*effects}):
            if not isinstance(policy, ToolPolicy) or policy.rule_of(tool).effect == "write":
                yield Finding("tools", f"{name} may call {tool}, which writes and is not among its effects", (name,))
    targets = {tool: named.target for tool, named in table.tools.items()}
    for name, node in sorted(shape.made.items()):
        for tool in find_held_tools(node.body, targets):
            message = f"the body of {name} holds the function of {tool}, which it should name"
            yield Finding("tools", message, (name,))
        if not node.declaration.entry:
            for channel in sorted({*table.given}.intersection(node.declaration.writes)):
                yield Finding("tools", f"{name} writes {channel}, which holds what was given to the run", (name,))


def _prove_guards_in_front(shape: Topology) -> Iterator[Finding]:
    """A guard that a node is declared to be behind stands on every way to it, and on every way from it back to it."""
    for name in (*shape.list_nodes_of_kind("act"), *shape.list_nodes_of_kind("terminal")):
        for guard in shape.items[name].behind:
            for start in (START, name):
                if path := shape.find_way(start, name, {START, *shape.nodes} - {guard}):
                    message = f"a run can come to {name} past {guard}, which it declares to be behind"
                    yield Finding("behind", message, _sort_node_names(name, guard), path)


def _prove_last_answers(shape: Topology) -> Iterator[Finding]:
    """Nothing is done any more once a budget has ended a run: no act node stands behind the guard that it goes to."""
    for name in shape.list_nodes_of_kind("guard"):
        if not shape.items[name].is_limit_guard:
            continue
        for path in walk_ways(name, lambda node: shape.items[node].to if node in shape.items else ()):
            if shape.get_kind(path[-1]) == "act":
                yield Finding("limit", f"{path[-1]} acts behind {name}", _sort_node_names(name, path[-1]), path)


RULES: dict[str, Callable[[Topology], Iterable[Finding]]] = {
    "door": _prove_door,
    "changed": _prove_unchanged,
    "foreign": _prove_no_foreign_parts,
    "entry": _prove_entry,
    "guarded": _prove_calls_guarded,
    "bypass": _prove_no_bypass,
    "raw": _prove_raw_channels,
    "sealed": _prove_sealed_channels,
    "triggers": _prove_triggers,
    "fresh": _prove_fresh_channels,
    "exits": _prove_guard_exits,
    "reachable": _prove_reachable_nodes,
    "cycles": _prove_cycles_stop,
    "ends": _prove_run_ends,
    "families": _prove_stop_families,
    "drawn": _prove_declared_ways,
    "again": _prove_asked_again,
    "budget": _prove_budget_guards,
    "channels": _prove_channel_use,
    "rounds": _prove_call_rounds,
    "tools": _prove_named_tools,
    "behind": _prove_guards_in_front,
    "limit": _prove_last_answers,
}
"""The rules of the grammar by name; the docstring of each says what must hold."""


def _sort_node_names(*names: str) -> tuple[str, ...]:
    return tuple(sorted(set(names)))

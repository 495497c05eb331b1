"""A compiled graph as `verify` sees it: nodes and their kinds, edges and branches, what each node reads and writes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from langgraph.graph import END, START
from langgraph.graph.state import CompiledStateGraph

from guardgraph.graphs.declaring.declaration import Declaration
from guardgraph.graphs.declaring.kinds import CALLING, RECORD_PREFIX
from guardgraph.graphs.running.frame import Frame
from guardgraph.graphs.running.langgraph import BranchSpec
from guardgraph.graphs.running.node import EndingRouter, GrammarNode, Router, Seal
from guardgraph.state.catalogue import Catalogue
from guardgraph.state.run import Kind

_NODE_PARTS = {"declaration", "body", "frame", "name"}
"""All that a node of the grammar holds; a method of its own would stand in for the grammar's."""

_SETTINGS = ("cache_policy", "timeout", "defer", "ends")
"""What LangGraph can add to a node that changes what runs, or where it goes; the grammar adds none of it."""


class Topology:
    """The shape of a compiled graph, read from its builder.

    A node that the grammar did not make has no kind; whatever a branch without a path map leads to is unknown, so it
    counts as leading everywhere.
    """

    def __init__(self, graph: CompiledStateGraph[Any, Any, Any, Any]) -> None:
        self.graph = graph
        self.builder = graph.builder
        self.nodes = frozenset(self.builder.nodes)
        self.inputs = frozenset(self.builder.schemas[self.builder.input_schema])
        self.outputs = frozenset(self.builder.schemas[self.builder.output_schema])
        self._static = self._list_static_edges()
        self._branched = {name: self._list_branch_targets(name) for name in [START, *self.nodes]}
        self.raw_channels = frozenset(
            channel for name in self.list_nodes_of_kind(*CALLING) for channel in self.get_written_channels(name)
        )
        self.internals = frozenset(self.builder.schemas[self.builder.state_schema])

    def get_declaration(self, name: str) -> Declaration | None:
        """Return what the grammar declared of a node, None for a node that it did not make."""
        node = self._find_grammar_node(name)
        return node.declaration if node is not None else None

    @property
    def catalogue(self) -> Catalogue | None:
        """The stop reasons of the pattern, None where the grammar made no node."""
        return self.frame.catalogue if self.frame is not None else None

    @cached_property
    def frame(self) -> Frame | None:
        """What the nodes of the pattern share, None where the grammar made no node."""
        made = (node for name in self.builder.nodes if (node := self._find_grammar_node(name)) is not None)
        return next((node.frame for node in made), None)

    def get_body(self, name: str) -> object:
        """Return what a node does, None where the grammar did not make it."""
        node = self._find_grammar_node(name)
        return node.body if node is not None else None

    def _find_grammar_node(self, name: str) -> GrammarNode | None:
        spec = self.builder.nodes.get(name)
        node = spec.runnable if spec is not None else None
        return node if type(node) is GrammarNode and vars(node).keys() <= _NODE_PARTS else None

    def get_kind(self, name: str) -> Kind | None:
        """Return a node's kind, None where the grammar did not make it."""
        item = self.get_declaration(name)
        return item.kind if item is not None else None

    def list_nodes_of_kind(self, *kinds: Kind) -> list[str]:
        """Return the nodes of these kinds, sorted."""
        return sorted(name for name in self.nodes if self.get_kind(name) in kinds)

    def is_entry(self, name: str) -> bool:
        """Say whether a node is the guard that clears what an earlier run left."""
        item = self.get_declaration(name)
        return item is not None and item.entry

    def is_ok_terminal(self, name: str) -> bool:
        """Say whether a run that ends here ended well."""
        item = self.get_declaration(name)
        return item is not None and item.kind == "terminal" and item.family is None

    def is_growing_channel(self, channel: str) -> bool:
        """Say whether a channel of the grammar's own grows from node to node, until the entry guard begins it anew."""
        return channel == "log" or channel.startswith(RECORD_PREFIX)

    def get_endings(self, name: str) -> frozenset[str]:
        """Return where a terminal leads to: to the end, or to the stops that say why the run cannot end there."""
        item = self.get_declaration(name)
        return frozenset({END, *(item.endings if item is not None else ())})

    def is_deciding_terminal(self, name: str) -> bool:
        """Say whether a terminal may lead elsewhere than to the end."""
        return self.get_endings(name) != {END}

    def get_read_channels(self, name: str) -> frozenset[str]:
        """Return the channels that LangGraph hands to a node."""
        return frozenset(self.builder.schemas[self.builder.nodes[name].input_schema])

    def get_body_channels(self, name: str) -> frozenset[str]:
        """Return the channels that the body of a node is shown."""
        item = self.get_declaration(name)
        return frozenset(item.reads) if item is not None else frozenset()

    def get_licensing_channels(self, name: str) -> frozenset[str]:
        """Return the channels of a node that the grammar needs and its body is not shown."""
        item = self.get_declaration(name)
        if item is None or not (item.tools or item.kind == "propose"):
            return frozenset()
        return frozenset(item.licensing)

    def get_written_channels(self, name: str) -> frozenset[str]:
        """Return the channels that a node may write."""
        item = self.get_declaration(name)
        return frozenset(item.writes) if item is not None else frozenset()

    def list_static_followers(self, name: str) -> frozenset[str]:
        """Return the nodes that plain edges lead to."""
        return frozenset(end for start, end in self._static if start == name)

    def list_following_nodes(self, name: str) -> frozenset[str]:
        """Return the nodes that a run can go to from here."""
        return self.list_static_followers(name) | self._branched.get(name, frozenset())

    def list_preceding_nodes(self, name: str) -> frozenset[str]:
        """Return the nodes from which a run can come here, START among them."""
        return frozenset(other for other in [START, *self.nodes] if name in self.list_following_nodes(other))

    def count_branches(self, name: str) -> int:
        """Return how many conditional edges a node has."""
        return len(self.builder.branches.get(name, ()))

    def find_judging_guard(self, name: str) -> str | None:
        """Return the guard behind a node that calls out, None where there is not just one."""
        behind = [way for way in self.list_following_nodes(name) if self.get_kind(way) == "guard"]
        return behind[0] if len(behind) == 1 else None

    def get_declared_families(self, name: str) -> frozenset[str]:
        """Return the stop families in a guard's metadata, which survives a recompile."""
        return frozenset((self.builder.nodes[name].metadata or {}).get("stops", ()))

    def get_drawn_families(self, name: str) -> frozenset[str]:
        """Return the families of the stop terminals that edges lead to."""
        items = [self.get_declaration(way) for way in self.list_following_nodes(name)]
        return frozenset(item.family for item in items if item is not None and item.family is not None)

    def get_stop_families(self, name: str) -> frozenset[str]:
        """Return the families by which a node can stop the run, other than by failing."""
        return self.get_drawn_families(name) - {"guard_error"}

    def get_declared_ways(self, name: str) -> frozenset[str]:
        """Return where a node says that it leads when nothing stops the run."""
        item = self.get_declaration(name)
        return frozenset(item.ways) if item is not None else frozenset()

    def get_asked_again(self, name: str) -> frozenset[str]:
        """Return the propose nodes to which a guard sends back what it refuses."""
        item = self.get_declaration(name)
        return frozenset(item.again) if item is not None else frozenset()

    def get_drawn_ways(self, name: str) -> frozenset[str]:
        """Return where edges lead to from a node, stop terminals and END apart."""
        items = {way: self.get_declaration(way) for way in self.list_following_nodes(name) - {END}}
        return frozenset(way for way, item in items.items() if item is None or item.family is None)

    def find_reachable_nodes(self, start: str) -> frozenset[str]:
        """Return the nodes that a run can reach from here, the start included."""
        seen, waiting = {start}, [start]
        while waiting:
            for name in self.list_following_nodes(waiting.pop()) - seen:
                seen.add(name)
                waiting.append(name)
        return frozenset(seen)

    def is_judged_by(self, proposer: str, guard: str) -> bool:
        """Say whether what a node proposes reaches a guard over guards alone, by the ways on that they declare."""
        seen: set[str] = set()
        waiting = [proposer]
        while waiting:
            item = self.get_declaration(waiting.pop())
            for name in item.to if item is not None else ():
                if name == guard:
                    return True
                if name not in seen and self.get_kind(name) == "guard":
                    seen.add(name)
                    waiting.append(name)
        return False

    def find_unguarded_paths(self, start: str) -> Iterator[tuple[str, ...]]:
        """Yield a shortest path to every node that can be reached without passing a guard."""
        paths: dict[str, tuple[str, ...]] = {start: (start,)}
        waiting = [start]
        for name in waiting:
            for following in sorted(self.list_following_nodes(name) & self.nodes):
                if following not in paths and self.get_kind(following) != "guard":
                    paths[following] = (*paths[name], following)
                    waiting.append(following)
                    yield paths[following]

    def find_onward_paths(self, start: str) -> Iterator[tuple[str, ...]]:
        """Yield a shortest path to every node that a run can reach from here with nobody asked again."""
        paths: dict[str, tuple[str, ...]] = {start: (start,)}
        waiting = [start]
        for name in waiting:
            item = self.get_declaration(name)
            for following in item.to if item is not None else ():
                if following not in paths:
                    paths[following] = (*paths[name], following)
                    waiting.append(following)
                    yield paths[following]

    def find_ways_around(self, node: str, guard: str) -> Iterator[tuple[str, ...]]:
        """Yield a shortest way to a node past a guard: one from START, and one from the node back to itself."""
        passing = {START, *self.nodes} - {guard}
        for start in (START, node):
            if way := self._find_way(start, node, passing):
                yield way

    def find_endless_cycles(self) -> Iterator[tuple[str, ...]]:
        """Yield one cycle for every group of nodes that run in circles past every guard that can stop.

        That a guard may fail is no way to stop, nor that a terminal may: it needs a family of its own.
        """
        free = {name for name in self.nodes if self.get_kind(name) == "terminal" or not self.get_stop_families(name)}
        seen: set[str] = set()
        for name in sorted(free):
            cycle = () if name in seen else self._find_way(name, name, free)
            seen.update(cycle)
            if cycle:
                yield cycle

    def _find_way(self, start: str, end: str, among: set[str]) -> tuple[str, ...]:
        """Return a shortest way of at least one step, over these nodes alone; nothing where there is none."""
        paths: dict[str, tuple[str, ...]] = {start: (start,)}
        waiting = [start]
        for name in waiting:
            for following in sorted(self.list_following_nodes(name) & among):
                if following == end:
                    return (*paths[name], end)
                if following not in paths:
                    paths[following] = (*paths[name], following)
                    waiting.append(following)
        return ()

    def find_strange_triggers(self) -> Iterator[tuple[str, str]]:
        """Yield nodes of the compiled graph and the channels that start them without being an edge's alone."""
        written = {
            *self.builder.channels,
            *self.builder.managed,
            *(key for keys in self.builder.schemas.values() for key in keys),
        }
        joins = {(end, f"join:{'+'.join(starts)}:{end}") for starts, end in self.builder.waiting_edges}
        drawn = {(START, START), *((name, f"branch:to:{name}") for name in self.nodes), *joins}
        for name, node in sorted(self.graph.nodes.items()):
            for channel in node.triggers:
                if channel in written or (name, channel) not in drawn:
                    yield name, channel

    def find_foreign_parts(self) -> Iterator[tuple[str, str]]:
        """Yield what the grammar did not make, with the reason."""
        for name in sorted(self.nodes):
            if (reason := self._explain_foreign_node(name)) is not None:
                yield name, reason
        for name, branches in sorted(self.builder.branches.items()):
            for branch in branches.values():
                if branch.ends is None:
                    yield name, "has a branch without a path_map, which can lead anywhere"
                elif not _is_grammar_branch(branch, self.get_kind(name) == "terminal"):
                    yield name, "has a branch that the grammar did not make"
        for starts, end in sorted(self.builder.waiting_edges):
            yield end, f"waits for {', '.join(starts)}, a join that the grammar did not make"

    def _explain_foreign_node(self, name: str) -> str | None:
        spec, node = self.builder.nodes[name], self._find_grammar_node(name)
        if spec.is_error_handler or spec.error_handler_node is not None:
            return "has an error handler, which can swallow a failure"
        if node is None:
            return "was not made by the grammar"
        seal = getattr(self.builder, "seal", None)
        if (
            reason := seal.find_node_change(name, node) if isinstance(seal, Seal) else "was made for another graph"
        ) is not None:
            return reason
        item = node.declaration
        if node.frame.declarations.get(name) is not item or (spec.metadata or {}) != item.build_node_metadata():
            return "carries another declaration than its own"
        if added := [setting for setting in _SETTINGS if getattr(spec, setting)]:
            return f"carries what the grammar does not give to nodes: {', '.join(added)}"
        return None

    def _list_static_edges(self) -> frozenset[tuple[str, str]]:
        joins = {(start, end) for starts, end in self.builder.waiting_edges for start in starts}
        ends = {(name, end) for name, spec in self.builder.nodes.items() for end in spec.ends or ()}
        return frozenset(self.builder.edges) | joins | ends

    def _list_branch_targets(self, name: str) -> frozenset[str]:
        targets: set[str] = set()
        for branch in self.builder.branches.get(name, {}).values():
            targets |= {*self.nodes, END} if branch.ends is None else set(branch.ends.values())
        return frozenset(targets)


def _is_grammar_branch(branch: BranchSpec, of_an_ending: bool) -> bool:
    path, kind = branch.path, EndingRouter if of_an_ending else Router
    straight = all(way == end for way, end in (branch.ends or {}).items())
    return type(path) is kind and not vars(path) and straight

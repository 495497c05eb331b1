"""What `guardgraph verify` proves, and how it shows it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

import guardgraph
from guardgraph.cli.screen import Screen
from guardgraph.graphs.named import graph_named
from guardgraph.graphs.patterns import PATTERNS
from guardgraph.plain.json import JsonObject

__all__ = ["Proof", "proofs_json", "prove", "show_proofs"]


@dataclass(frozen=True, slots=True)
class Proof:
    """What was found in one graph."""

    graph: str
    nodes: int
    rules: int
    findings: list[guardgraph.Finding]


def prove(target: str | None) -> list[Proof]:
    """Hold the shipped patterns, or a graph of the user's own, against the grammar.

    Args:
        target: ``module:factory``, or None for the shipped patterns.

    Raises:
        ConfigurationError: there is no such factory, or it fails.
        InputError: what it makes is no compiled LangGraph graph.
    """
    if target is not None:
        return [_proof(graph_named(target, "verify"))]
    return [_proof(pattern.create()) for pattern in PATTERNS.values()]


def _proof(graph: guardgraph.GuardedGraph) -> Proof:
    findings = guardgraph.verify(graph)
    return Proof(graph.get_name(), len(graph.builder.nodes), len(guardgraph.RULES), findings)


def show_proofs(screen: Screen, proved: Iterable[Proof]) -> None:
    """Print a line for each graph and one for each finding."""
    for proof in proved:
        sizes = f"{_counted(proof.nodes, 'node')}, {_counted(proof.rules, 'rule')}, "
        found = _counted(len(proof.findings), "finding")
        shown = (found, "red") if proof.findings else ("no findings", "green")
        screen.show((proof.graph, "bold"), f": {sizes}", shown, indent=0)
        for finding in proof.findings:
            screen.show(str(finding), hang=2)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def proofs_json(proved: Iterable[Proof]) -> list[JsonObject]:
    """Return every proof as an object."""
    return [asdict(proof) for proof in proved]

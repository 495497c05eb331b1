"""What `guardgraph draw`, `verify` and `report` show of graphs and runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import guardgraph
from guardgraph.cli import audit, inputs
from guardgraph.cli.shell import Screen, count_things
from guardgraph.graphs.loading import load_named_graph
from guardgraph.graphs.patterns import COMMANDS, PATTERNS, find_shipped_pattern
from guardgraph.plain.errors import ConfigurationError, InputError
from guardgraph.plain.json import JsonObject


def load_graph_argument(target: str, asking: str) -> Any:
    """Return one of the patterns, or what a user's factory makes."""
    pattern = find_shipped_pattern(target)
    if pattern is not None:
        return pattern.create_agent()
    if ":" not in target:
        raise ConfigurationError(f"{asking}: {', '.join(COMMANDS)} or module:factory is required; given: {target!r}")
    return load_named_graph(target, asking)


def save_out_option(made: Any, out: str, option: str = "--out") -> None:
    """Write a picture or a page to the file of an option."""
    try:
        with inputs.name_unwritten_file(option, out):
            made.save(out)
    except ConfigurationError as error:
        said = str(error)
        raise ConfigurationError(f"{option}: {said[6:]}" if said.startswith("file: ") else said) from None


@dataclass(frozen=True, slots=True)
class Proof:
    """What was found in one graph."""

    graph: str
    nodes: int
    rules: int
    findings: list[guardgraph.Finding]


def prove_graph_argument(target: str | None, behind: Sequence[str] = (), before: Sequence[str] = ()) -> list[Proof]:
    """Hold the shipped patterns, or a graph of the user's own, against the grammar."""
    if behind or before:
        if target is None or not behind:
            raise ConfigurationError("--behind: a graph, module:factory, and --behind GUARD:NODE are required")
        named = dict[str, list[str]]()
        for item in behind:
            guard, _, node = item.partition(":")
            if not guard or not node:
                raise ConfigurationError(f"--behind: GUARD:NODE is required; given: {item!r:.80}")
            named.setdefault(guard, []).append(node)
        graph = load_named_graph(target, "verify")
        findings = guardgraph.verify(graph, behind=named, before=before)
        return [Proof(graph.get_name(), len(graph.builder.nodes), len(behind), findings)]
    ours = (pattern.create_agent() for pattern in PATTERNS.values())
    graphs = ours if target is None else [load_named_graph(target, "verify")]
    rules = len(guardgraph.RULES)
    return [Proof(each.get_name(), len(each.builder.nodes), rules, guardgraph.verify(each)) for each in graphs]


def print_proofs(screen: Screen, proved: Iterable[Proof]) -> None:
    """Print a line for each graph and one for each finding."""
    for proof in proved:
        sizes = f"{count_things(proof.nodes, 'node')}, {count_things(proof.rules, 'rule')}, "
        found = count_things(len(proof.findings), "finding")
        shown = (found, "red") if proof.findings else ("no findings", "green")
        screen.print_text((proof.graph, "bold"), f": {sizes}", shown, indent=0)
        for finding in proof.findings:
            screen.print_text(str(finding), hang=2)


def format_run_argument(run: str, asked: str | None, store: str | None) -> str:
    """Return the brief of a run; of a stored one, the title is the question that it was given."""
    found = read_run_argument(run, store)
    if isinstance(found, dict):
        return guardgraph.format_brief(found, asked=asked)
    if found.recording is None:
        raise ConfigurationError(f"RUN {run!r:.200}: the run was erased")
    return guardgraph.format_brief(found.recording["result"], asked=asked or found.recording["input"])


def read_run_argument(file: str, store: str | None) -> JsonObject | guardgraph.StoredRun:
    """Return a run of a store, the result in a file, or the run of the document that it is."""
    from guardgraph.evidence.checking import is_run_document, unwrap_run_document
    from guardgraph.evidence.document import build_stored_run

    if store is not None:
        return audit.open_store_option(store).read(file)
    value = inputs.read_json_option("RUN", file, inputs.DOCUMENT_DEPTH)
    if not is_run_document(value):
        return value
    try:
        return build_stored_run(unwrap_run_document(value))
    except InputError as error:
        raise ConfigurationError(f"RUN {file!r:.200}: {error}") from error

"""`guardgraph verify`, `draw` and `report`: graphs and runs, proved and shown."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, cast

import guardgraph
from guardgraph.cli import audit, inputs
from guardgraph.cli.options import GRAPH, Json, argument, option
from guardgraph.cli.shell import Screen, count_things, exit_with_status, print_json
from guardgraph.graphs.loading import load_named_graph
from guardgraph.graphs.patterns import COMMANDS, PATTERNS, find_shipped_pattern
from guardgraph.plain.errors import ConfigurationError, InputError
from guardgraph.plain.json import RESULT_DEPTH, JsonObject


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


def verify(
    target: Annotated[str | None, argument("MODULE:FACTORY", "Your own graph; ours if left out.")] = None,
    behind: Annotated[
        list[str] | None, option("--behind GUARD:NODE", "Every way from NODE to the end passes GUARD; more than once.")
    ] = None,
    before: Annotated[
        list[str] | None, option("--before NODE", "With --behind: a node to be reached only past GUARD.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Prove that no run of a graph can get around its guards."""
    named = dict[str, list[str]]()
    for item in behind or ():
        guard, _, node = item.partition(":")
        if not guard or not node:
            raise ConfigurationError(f"--behind: GUARD:NODE is required; given: {item!r:.80}")
        named.setdefault(guard, []).append(node)
    if (named or before) and (target is None or not named):
        raise ConfigurationError("--behind: a graph, module:factory, and --behind GUARD:NODE are required")
    rules, screen, rows = len(behind or ()) or len(guardgraph.RULES), Screen(), list[JsonObject]()
    asked: Any = {"behind": named, "before": before or []} if named else {}
    ours = (pattern.create_agent() for pattern in PATTERNS.values())
    for graph in ours if target is None else [load_named_graph(target, "verify")]:
        findings, nodes = guardgraph.verify(graph, **asked), len(graph.builder.nodes)
        about: JsonObject = {"graph": graph.get_name(), "nodes": nodes, "rules": rules}
        rows.append({**about, "findings": [asdict(finding) for finding in findings]})
        if as_json:
            continue
        sizes = f": {count_things(nodes, 'node')}, {count_things(rules, 'rule')}, "
        shown = (count_things(len(findings), "finding"), "red") if findings else ("no findings", "green")
        screen.print_text((graph.get_name(), "bold"), sizes, shown, indent=0)
        for finding in findings:
            screen.print_text(str(finding), hang=2)
    if as_json:
        print_json(rows)
    exit_with_status(not any(row["findings"] for row in rows))


def draw(
    target: Annotated[str, argument(GRAPH, "The graph.")],
    out: Annotated[str, option("--out -o FILE", "Ends in .svg, .png or .mmd (Mermaid).")],
    run: Annotated[str | None, option("--run FILE", "A run's result, as --json prints it: shows its way.")] = None,
    earlier: Annotated[str | None, option("--earlier FILE", "Another run's result: shows where the two part.")] = None,
) -> None:
    """Draw a graph to a file, and the way that a run took through it."""
    graph = load_graph_argument(target, "draw")
    now, then = (
        None if file is None else inputs.read_json_option(named, file, RESULT_DEPTH)
        for named, file in (("--run", run), ("--earlier", earlier))
    )
    picture = guardgraph.draw(graph, now, earlier=then)
    save_out_option(picture, out)
    Screen().print_text(f"{out}: {picture.described}", indent=0)


def report(
    run: Annotated[
        str, argument("RUN", "A result, as --json prints it, or a document; - is a pipe; of --store, an id.")
    ],
    out: Annotated[str, option("--out -o FILE", "Ends in .html; in .md for a brief.")],
    graph: Annotated[str | None, option(f"--graph {GRAPH}", "The graph of the run; a run of ours needs none.")] = None,
    asked: Annotated[str | None, option("--asked TEXT", "What the run was asked.")] = None,
    store: Annotated[str | None, option("--store URL", "The store that has the run.")] = None,
) -> None:
    """Make a page of a run: how it ended, every proposal beside its verdict, the path, the sources.

    With a FILE that ends in .md, the brief of a research run as Markdown.
    """
    if (is_brief := out.lower().endswith(".md")) and graph is not None:
        raise ConfigurationError("--graph: for a page; a brief has no picture of its graph")
    found, given = _read_run_argument(run, store), cast(object, asked)
    if is_brief:
        described = "the brief of a Research run"
        if not isinstance(found, dict):  # a stored one, whose title is the question that it was given
            if found.recording is None:
                raise ConfigurationError(f"RUN {run!r:.200}: the run was erased")
            given = asked or found.recording["input"]
            found = {**found.recording["result"]}
        text = guardgraph.format_brief(found, asked=given)
        inputs.write_option_file("--out", out, text)
    else:
        drawn = None if graph is None else load_graph_argument(graph, "--graph")
        page = guardgraph.report(found, drawn, asked=asked)
        save_out_option(page, out)
        described = page.described
    Screen().print_text(f"{out}: {described}", indent=0)


def _read_run_argument(file: str, store: str | None) -> JsonObject | guardgraph.StoredRun:
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

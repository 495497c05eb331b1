"""`guardgraph policy`: what a policy file says, how two differ, and the schema of one."""

from __future__ import annotations

import json
import os
import subprocess
import tarfile
from dataclasses import asdict
from functools import partial
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

from guardgraph.cli import inputs
from guardgraph.cli.graphs import load_graph_argument
from guardgraph.cli.options import GRAPH, VARIABLE, Json, KeptRuns, Since, argument, option
from guardgraph.cli.shell import Screen, exit_with_status, make_command_group, print_json
from guardgraph.graphs.loading import load_named_graph
from guardgraph.graphs.patterns import find_shipped_pattern
from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.json import JsonObject

if TYPE_CHECKING:
    from guardgraph.graphs.running.frame import Frame
    from guardgraph.policies.comparison import Difference, NotTaken
    from guardgraph.policies.file import PolicyFile
    from guardgraph.policies.review import PolicyReview
    from guardgraph.policies.subsumption import Subsumption
    from guardgraph.state.settings import Budget, Settings

app = make_command_group("Check and compare files with policies and budgets.")

LEFT_OUT = "left to the factory"
STYLES = {"tighter": "green", "looser": "red", "other": "yellow"}

Graph = Annotated[str | None, option("--graph MODULE:FACTORY", "Whose settings they are; one of ours needs none.")]
Tenant = Annotated[str | None, option("--tenant TENANT", "Whose settings.")]


@app.command()
def check(
    file: Annotated[str, argument("FILE", "Ends in .yaml or .yml.")],
    tenant: Tenant = None,
    graph: Graph = None,
    as_json: Json = False,
) -> None:
    """Check a policy file, and print the settings that hold with their fingerprints."""
    from guardgraph.policies.comparison import find_not_taken_overlays, show_policy_settings

    policy = _load_policy_argument(file, graph)
    holds = policy.settings(tenant)
    refused = find_not_taken_overlays(policy, None if tenant is None else [tenant])
    if as_json:
        about: JsonObject = {"pattern": policy.pattern, "tenant": tenant}
        for name, item in holds.items():
            about[name] = {"fingerprint": item.fingerprint, "settings": show_policy_settings(item)}
        print_json({**about, "tenants": [*policy.tenants], "not_taken": [asdict(item) for item in refused]})
    else:
        screen = Screen()
        screen.print_text((policy.pattern, "bold"), ": valid", indent=0)
        for name, item in holds.items():
            screen.print_heading(name)
            for setting, value in show_policy_settings(item).items():
                left_out = item.is_open(setting)
                screen.print_columns(setting, (LEFT_OUT, "dim") if left_out else _format_setting_value(value), at=28)
            screen.print_columns(("fingerprint", "dim"), item.fingerprint, at=28)
        if policy.tenants:
            screen.print_heading("tenants")
            screen.print_text(", ".join(policy.tenants))
        _print_refused_overlays(screen, refused)


@app.command()
def diff(
    old: Annotated[str, argument("OLD", "A policy file.")],
    new: Annotated[str, argument("NEW", "Another one of its pattern.")],
    *,
    tenant: Tenant = None,
    graph: Graph = None,
    fail_on: Annotated[list[str] | None, option("--fail-on KIND", "tighter, looser or other; more than once.")] = None,
    as_json: Json = False,
) -> None:
    """Say of every field whether the new file is tighter, looser, or other (neither of them).

    Without --tenant the settings of every tenant are compared too. With --fail-on, a field of such a KIND ends with
    exit code 3.
    """
    from guardgraph.policies.comparison import compare_policy_files, find_not_taken_overlays
    from guardgraph.policies.subsumption import judge_subsumption

    if wrong := [kind for kind in fail_on or () if kind not in STYLES]:
        raise ConfigurationError(f"--fail-on: {', '.join(STYLES)} are allowed; given: {wrong[0]!r:.80}")
    files = _load_policy_argument(old, graph), _load_policy_argument(new, graph)
    rows = compare_policy_files(*files, tenant=tenant)
    named = None if tenant is None else [name for name in files[1].tenants if name == tenant]
    refused = find_not_taken_overlays(files[1], named)
    table = None if graph is None else _load_graph_frame(graph, "--graph").table
    found = judge_subsumption(*files, rows, None if table is None else table.cards)
    if as_json:
        said = {"pattern": files[1].pattern, "fields": [asdict(row) for row in rows], "subsumption": found.plain()}
        print_json({**said, "not_taken": [asdict(item) for item in refused]})
    else:
        _print_policy_differences(Screen(), rows, refused, found)
    exit_with_status(not any(row.compared in (fail_on or ()) for row in rows))


@app.command()
def review(
    old: Annotated[str, argument("OLD", "The policy that holds, or git:REF:PATH.")],
    new: Annotated[str, argument("NEW", "The proposed one, or git:REF:PATH.")],
    *,
    store: KeptRuns = None,
    since: Since = None,
    graph: Graph = None,
    fail_on: Annotated[
        list[str] | None,
        option("--fail-on LIMIT", "newly-allowed, newly-refused, unsubsumed or unknown>2%; more than once."),
    ] = None,
    as_json: Json = False,
    markdown: Annotated[bool, option("--markdown", "Print Markdown for a comment, nothing else.")] = False,
    out: Annotated[str | None, option("--html FILE", "A page, ends in .html.")] = None,
) -> None:
    """Say what a new policy changes: its settings, what it newly allows, how kept runs would have ended.

    Nothing is called. What neither order nor example decides is undecided, and runs that would ask something else are
    unknown. A LIMIT that is exceeded ends with exit code 3.
    """
    import guardgraph
    from guardgraph.cli.graphs import save_out_option
    from guardgraph.cli.inputs import show_run_counter
    from guardgraph.cli.what_if import read_store_option
    from guardgraph.policies.review import parse_review_limit
    from guardgraph.reporting.review import format_review

    has_runs = store is not None or since is not None or bool(os.environ.get(VARIABLE, "").strip())
    for limit in fail_on or ():  # before any run is judged
        if parse_review_limit(limit)[1] not in ("newly-allowed", "unsubsumed") and not has_runs:
            raise ConfigurationError(f"--fail-on {limit}: kept runs are required: --store URL or {VARIABLE}")
    if as_json and markdown:
        raise ConfigurationError("--json, --markdown: one of them is allowed; given: both")
    then, now = (_load_policy_argument(name, graph) for name in (old, new))
    create = None if graph is None else partial(load_named_graph, graph, "--graph")
    with show_run_counter() as progress:
        runs = read_store_option(store, since=since) if has_runs else ()
        found = guardgraph.review_policies(then, now, runs, create=create, progress=progress)
    exceeded = found.list_exceeded(fail_on or ())
    if out is not None:
        save_out_option(guardgraph.report(found), out, "--html")
    if as_json:
        print_json({**found.plain(), "exceeded": exceeded})
    elif markdown:
        print(format_review(found), end="", flush=True)
    else:
        _print_policy_review(Screen(), found, exceeded)
    exit_with_status(not exceeded)


@app.command()
def suggest(
    *,
    store: KeptRuns = None,
    good: Annotated[str, option("--good FILE", "Ids of runs that ended as they should, a line each.")],
    graph: Annotated[str, option(f"--graph {GRAPH}", "The agent.")],
    policy: Annotated[str | None, option("--policy FILE", "Where to begin.")] = None,
) -> None:
    """Print the tightest policy file under which all good runs still end as they did; it loosens nothing.

    Behind each line that became tighter stands which run needs it.
    """
    from guardgraph.cli.what_if import read_store_option
    from guardgraph.policies.suggestion import suggest_policy

    wanted = set(inputs.read_option_bytes("--good", good, 10_000_000).decode(errors="replace").split())
    kept = {str(run.get("run_id") if isinstance(run, dict) else run.run_id): run for run in read_store_option(store)}
    if missing := wanted - kept.keys():
        raise ConfigurationError(f"--good: ids of kept runs are required; given: {min(missing)!r:.80}")
    shipped = find_shipped_pattern(graph)
    create = partial(load_named_graph, graph, "--graph") if shipped is None else shipped.create_agent
    begin = {} if policy is None else _load_policy_argument(policy, None if shipped else graph).settings()
    found = suggest_policy([run for name, run in kept.items() if name in wanted], create, **begin)
    print(found.to_yaml(), end="", flush=True)


@app.command()
def schema(graph: Annotated[str, argument(GRAPH, "The graph.")]) -> None:
    """Print the JSON Schema of the policy files of a pattern, for editors."""
    from guardgraph.policies.file import build_policy_schema

    shipped = find_shipped_pattern(graph)
    named = _load_settings_classes(graph, "schema") if shipped is None else (shipped.name, *shipped.settings_classes)
    print_json(build_policy_schema(*named))


@app.command()
def pin(
    graph: Annotated[str, argument("tools|MODULE:FACTORY", "The graph whose tools they are.")], as_json: Json = False
) -> None:
    """Print a policy file with the rules of a graph's tools and their pins: a tool that changes later is not called.

    Read the descriptions first: a pin says that somebody did.
    """
    from guardgraph.policies.file import format_policy_lines, list_rule_settings, list_unusual_settings
    from guardgraph.state.tools import hash_tool

    shipped = find_shipped_pattern(graph)
    if shipped is None and ":" not in graph:
        raise ConfigurationError(f"pin: tools or module:factory is required; given: {graph!r:.80}")
    frame = _load_graph_frame(graph, "pin") if shipped is None else shipped.create_agent().frame
    if frame.table is None:
        raise ConfigurationError(f"pin: tools or module:factory, with tools by name, is required; given: {graph!r:.80}")
    policy: Any = frame.policy
    cards, own = frame.table.cards, list_unusual_settings(policy, type(policy)())
    rules = {name: {**list_rule_settings(policy.rule_of(name)), "pin": hash_tool(card)} for name, card in cards.items()}
    everything = [name for name in type(policy).filled if own.get(name) == [*cards]]
    kept = {name: value for name, value in own.items() if name not in (*everything, "rules")}  # what is at no default
    document: JsonObject = {"pattern": frame.catalogue.pattern, "policy": {**kept, "rules": rules}}
    if as_json:
        print_json(document)
        return
    described = dict[str, str]()
    for name, card in cards.items():
        about = " ".join(card["description"].split())
        described[f"policy.rules.{name}"] = f"{''.join(filter(str.isprintable, about)):.200}"
    print(*format_policy_lines(document, described), sep="\n", flush=True)


@app.command()
def switch(
    to: Annotated[str, argument("off|on", "What the agents become.")],
    file: Annotated[str, argument("FILE", "The live policy of the agents; it is made if there is none.")],
    *,
    by: Annotated[str, option("--by WHO", "Who switches.")],
    why: Annotated[str, option("--why TEXT", "Why; stopped runs say it.")],
    as_json: Json = False,
) -> None:
    """Switch the agents of a live policy off or on.

    Switched off, every run stops at its next guard, and runs that wait for a person go on waiting.
    """
    from guardgraph.policies.switch import switch_live_policy

    if to not in ("off", "on"):
        raise ConfigurationError(f"switch: off or on is required; given: {to!r:.80}")
    said = switch_live_policy(file, on=to == "on", by=by, why=why)
    if as_json:
        print_json(said)
    else:
        switched = said["switched"]
        Screen().print_text((f"{file}: {to}", "bold"), f", by {switched['by']}: {switched['why']}", indent=0)


def load_policy_option(
    pattern: str, file: str | None, tenant: str | None, *, is_caller: bool = False
) -> dict[str, Any]:
    """Return what the factory of a shipped pattern is given by ``--policy`` and ``--tenant``, if given."""
    if file is None:
        if tenant is not None and not is_caller:
            raise ConfigurationError(f"--tenant: --policy FILE is required beside it; given: {tenant!r:.80}")
        return {}
    from guardgraph.policies.file import load_policy

    read = load_policy(file, pattern=pattern)
    return read.settings(None if is_caller and tenant not in read.tenants else tenant)


def load_live_option(file: str | None) -> dict[str, Any]:
    """Return what a factory is given by ``--live``: a file that is read whenever it counts; nothing without one."""
    if file is None:
        return {}
    from guardgraph.graphs.running.live_policy import live_policy  # loads LangGraph, for which help need not wait

    try:
        return {"live": live_policy(inputs.require_file_option("--live", file), every=0)}
    except ConfigurationError as error:
        said = str(error)
        raise ConfigurationError(said if said.startswith("--live") else f"--live: {said}") from None


def load_candidate_policy_option(candidate: str, file: str, tenant: str | None) -> dict[str, Any]:
    """Return what a user's factory is given by ``--policy``: a tenant's, else everybody's."""
    from guardgraph.policies.file import read_policy

    read = read_policy(file, own=lambda: _load_settings_classes(candidate, "candidate")[1:])
    return read.settings(tenant if tenant in read.tenants else None)


def _load_policy_argument(file: str, graph: str | None) -> PolicyFile[Any, Any]:
    if file.startswith("git:"):
        with TemporaryDirectory() as folder:
            try:
                return _load_policy_file(_export_policy(file, folder), graph)
            except ConfigurationError as error:  # which names a file that is gone
                within = f"git:{file.split(':')[1]}:"
                raise ConfigurationError(str(error).replace(f"{folder}/", within)) from None
    return _load_policy_file(file, graph)


def _export_policy(named: str, folder: str) -> str:
    """Write a policy as it stands in a commit of this repository into a folder, with the files beside it."""
    ref, colon, path = named.removeprefix("git:").partition(":")
    if not ref or not colon or not path or path.startswith("/") or ".." in path.split("/"):
        raise ConfigurationError(f"{named!r:.200}: git:REF:PATH with a path in the repository is required")
    beside = f":(top,glob){path.rpartition('/')[0]}/*".replace(")/", ")")

    def ask_git(*asked: str) -> bytes:
        return subprocess.run(["git", *asked], capture_output=True, check=True, timeout=60).stdout

    try:
        asked = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
        commit = ask_git(*asked).decode().strip()
        with tarfile.open(fileobj=BytesIO(ask_git("archive", "--format=tar", commit, "--", beside))) as files:
            files.extraction_filter = getattr(tarfile, "data_filter", None)  # which Python has from 3.11.4 on
            files.extractall(folder)
    except (OSError, tarfile.TarError, subprocess.SubprocessError) as error:
        told = getattr(error, "stderr", b"") or b"there is no such commit"
        said = told.decode(errors="replace").strip()
        raise ConfigurationError(f"{named!r:.200}: git cannot read it: {said:.200}") from None
    if not (file := Path(folder, path)).is_file():
        raise ConfigurationError(f"{named!r:.200}: there is no such file in {commit[:12]}")
    return str(file)


def _load_policy_file(file: str, graph: str | None) -> PolicyFile[Any, Any]:
    from guardgraph.policies.file import load_policy

    if graph is None:
        return load_policy(file)
    frame = _load_graph_frame(graph, "--graph")
    if frame.catalogue.pattern == "agent":  # a recorded agent of somebody's own is licensed by a tool agent's settings
        return load_policy(file, pattern="tools")
    read = load_policy(file, pattern=frame.catalogue.pattern, policy=type(frame.policy), budget=type(frame.budget))
    if frame.table is not None:
        from guardgraph.graphs.tools import check_tool_policy

        for tenant in (None, *read.tenants):
            try:
                check_tool_policy(read.settings(tenant)["policy"], frame.table.cards)
            except ConfigurationError as error:
                whose = "" if tenant is None else f"tenants.{tenant}."
                raise ConfigurationError(f"{file}: {whose}{error}") from None
    return read


def _load_settings_classes(target: str, asking: str) -> tuple[str, type[Settings], type[Budget]]:
    frame = _load_graph_frame(target, asking)
    return frame.catalogue.pattern, type(frame.policy), type(frame.budget)


def _load_graph_frame(target: str, asking: str) -> Frame:
    from guardgraph.graphs.running.door import GuardedGraph

    graph = load_graph_argument(target, asking)
    if not isinstance(graph, GuardedGraph):
        raise ConfigurationError(f"{asking}: a guarded graph is required; given: {type(graph).__name__}")
    return graph.frame


def _print_policy_differences(
    screen: Screen, rows: list[Difference], refused: list[NotTaken], found: Subsumption
) -> None:
    for row in rows:
        if row.compared != "equal":
            whose = f"{row.tenant}: " if row.tenant is not None else ""
            said = f"{whose}{row.field}: {_format_setting_value(row.old)} -> {_format_setting_value(row.new)}"
            screen.print_columns((row.compared, STYLES[row.compared]), said, at=9, indent=0)
    counts = {kind: sum(row.compared == kind for row in rows) for kind in (*STYLES, "equal")}
    screen.print_text(", ".join(f"{count} {kind}" for kind, count in counts.items()), indent=0)
    if found.widenings:
        screen.print_heading("what the new file allows beyond the old one")
    for item in found.widenings:
        whose = f"{item.tenant}: " if item.tenant is not None else ""
        example = _format_setting_value(item.example)
        screen.print_text(f"{whose}{item.field}: {item.kind} {example}: {item.old} -> {item.new}", hang=2)
    if found.undecided:
        screen.print_heading("whether it allows more is undecided of")
        screen.print_text(", ".join(row.field for row in found.undecided))
    _print_refused_overlays(screen, refused)


def _print_policy_review(screen: Screen, found: PolicyReview, exceeded: list[str]) -> None:
    from guardgraph.reporting.review import CHANGES, VERDICTS, describe_review

    _print_policy_differences(screen, found.rows, [], found.subsumption)
    screen.print_heading("kept runs")
    screen.print_text(describe_review(found))
    for each in found.parted:
        by = f" by {each.guard}" if each.guard else ""
        said = f"{each.runs} {CHANGES[each.change]}: {each.old} -> {each.new}{by}"
        screen.print_text(f"{said}; look at {each.run_id}", hang=2)
    verdict = found.subsumption.verdict
    screen.print_text((VERDICTS[verdict], "green" if verdict == "at_most" else "yellow"), indent=0)
    for limit in exceeded:
        screen.print_text((f"--fail-on {limit}: exceeded", "red"), indent=0)


def _print_refused_overlays(screen: Screen, refused: list[NotTaken]) -> None:
    if refused:
        screen.print_heading("asked for by an overlay and not taken, since it would loosen")
    for item in refused:
        asked, holds = _format_setting_value(item.asked), _format_setting_value(item.holds)
        screen.print_text(f"{item.tenant}: {item.field}: {asked}; holds: {holds}", hang=2)


def _format_setting_value(value: Any) -> str:
    return "nothing" if value is None else json.dumps(value, ensure_ascii=False)

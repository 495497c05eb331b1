"""`guardgraph what-if`: recorded runs judged again by another agent, for a person and for CI."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

import guardgraph
from guardgraph.cli import graphs
from guardgraph.cli.audit import open_store_option, parse_since_option
from guardgraph.cli.inputs import show_run_counter
from guardgraph.cli.options import GivenPolicy, Json, KeptRuns, PageFile, Pattern, Since, argument, option
from guardgraph.cli.policies import load_candidate_policy_option
from guardgraph.cli.shell import Screen, exit_with_status, print_json
from guardgraph.evidence.strict_json import read_json_lines
from guardgraph.plain.errors import ConfigurationError, GuardgraphError, make_configuration_error
from guardgraph.plain.json import JsonObject


@dataclass
class Replayed:
    """What became of kept runs that were decided again."""

    same: int = 0
    parted: list[JsonObject] = field(default_factory=list)  # runs that end otherwise, with how they ended and end now
    left: list[JsonObject] = field(default_factory=list)  # runs that could not be decided again, with why

    def plain(self) -> JsonObject:
        """Return it as plain JSON."""
        return {"same": self.same, "parted": self.parted, "not_replayed": self.left}


def replay_store_runs(runs: Iterable[guardgraph.StoredRun], agents: Iterable[str]) -> Replayed:
    """Decide kept runs again: by the agents that are named, else by the shipped ones under the recorded settings."""
    from guardgraph.evidence.what_if import load_candidate_agent

    named = {agent.frame.catalogue.pattern: agent for agent in map(load_candidate_agent, agents)}
    made: dict[str, Any] = {}
    found = Replayed()
    for run in runs:
        recording: Mapping[str, Any] = run.recording or {}
        try:
            agent = named.get(recording.get("pattern", "")) or _make_recorded_agent(recording, made)
        except GuardgraphError as error:
            found.left.append({"run_id": run.run_id, "why": str(error)})
            continue
        [row] = guardgraph.what_if(agent, [run]).rows
        if row.kind == "same":
            found.same += 1
        elif row.kind == "changed":
            found.parted.append({"run_id": row.run_id, "was": str(row.old), "is": str(row.new)})
        else:
            found.left.append({"run_id": row.run_id, "why": row.reason})
    return found


def _make_recorded_agent(recording: Mapping[str, Any], made: dict[str, Any]) -> Any:
    """Return the shipped agent of a recording's pattern under its policy and budget."""
    from pydantic import ValidationError  # for which help need not wait

    from guardgraph.graphs.patterns import PATTERNS

    shipped = PATTERNS.get(recording.get("pattern", ""))
    if shipped is None:
        raise guardgraph.ConfigurationError("--agent: required for a pattern of one's own, and for an erased run")
    given = {name: recording.get(name) for name in ("policy", "budget")}
    key = json.dumps([shipped.name, given], sort_keys=True)
    if key not in made:
        classes = dict(zip(given, shipped.settings_classes, strict=True))
        try:
            read = {name: classes[name].model_validate(given[name]) for name in given}
        except ValidationError as error:  # other settings than now, or none: they were redacted
            raise make_configuration_error("recording", error) from None
        made[key] = shipped.create_agent(**read)
    return made[key]


def print_replayed(screen: Screen, replayed: Replayed) -> None:
    """Print what became of the runs."""
    counts = f"{replayed.same} the same, {len(replayed.parted)} part, {len(replayed.left)} not replayed"
    screen.print_text(f"replayed: {counts}", indent=0)
    for run in replayed.parted:
        screen.print_text((f"run {run['run_id']}: {run['was']} -> {run['is']}", "red"), hang=2)
    for run in replayed.left:
        screen.print_text(f"run {run['run_id']} was not replayed: {run['why']}", hang=2)


def what_if(
    candidate: Annotated[str, argument("MODULE:FACTORY", "Makes the other agent.")],
    *,
    store: KeptRuns = None,
    pattern: Pattern = None,
    tenant: Annotated[str | None, option("--tenant TENANT", "Runs of this tenant, by its overlay in --policy.")] = None,
    policy: GivenPolicy = None,
    since: Since = None,
    assume: Annotated[bool, option("--assume", "Show too how unknown runs might end; it counts nowhere.")] = False,
    ignore_live: Annotated[bool, option("--ignore-live", "As if no live policy had switched anything off.")] = False,
    fail_on: Annotated[list[str] | None, option("--fail-on LIMIT", "Such as stopped>ok:0; more than once.")] = None,
    out: PageFile = None,
    as_json: Json = False,
) -> None:
    """Judge the runs of a store again by another agent: what would it have made of them?

    Nothing is called. A run is unknown if somebody would have been asked something else than was recorded.

    LIMIT is OLD>NEW:MOST or CLASS:MOST; more than MOST such runs end with exit code 3. OLD and NEW are ok, stopped,
    refused, ok:OUTCOME, stopped:REASON, or * for any; CLASS is same, changed, unknown, unreplayable or other_pattern,
    or why a run is unreplayable: unreplayable:erased, :redacted, :changed, :version or :damaged. MOST is a number or a
    percentage of all runs: stopped>ok:0, ok>ok:clarify:5, unknown:10%, unreplayable:changed:0.
    """
    from guardgraph.evidence.what_if import load_candidate_agent, parse_fail_on

    settings = {} if policy is None else load_candidate_policy_option(candidate, policy, tenant)
    graph = load_candidate_agent(candidate, **settings)
    ours = graph.frame.catalogue.pattern
    if pattern not in (None, ours):  # no run would be judged, and no limit exceeded
        raise ConfigurationError(f"--pattern: {ours}, which the candidate judges, is required; given: {pattern!r:.80}")
    limits = [parse_fail_on(text, graph.frame.catalogue) for text in fail_on or ()]
    runs = read_store_option(store, pattern=pattern, tenant=tenant, since=since)
    with show_run_counter() as progress:
        judged = guardgraph.what_if(graph, runs, assume=assume, ignore_live=ignore_live, progress=progress)
    kinds, unjudged = {row.kind for row in judged.rows}, {"other_pattern", "unreplayable"}
    is_limited = any(limit.kind not in unjudged for limit in limits)  # no limit is kept by looking at nothing
    if kinds and kinds <= (unjudged if is_limited else {"other_pattern"}):
        there = ", ".join(sorted({row.reason for row in judged.rows}))
        raise ConfigurationError(f"--store: runs of {ours}, which the candidate judges, are required; given: {there}")
    exceeded = [limit for limit in limits if limit.is_exceeded(judged)]
    if out is not None:
        graphs.save_out_option(guardgraph.report(judged), out)
    if as_json:
        failed = [{"limit": limit.text, "found": limit.count_what_if_runs(judged)} for limit in exceeded]
        print_json({**judged.plain(), "exceeded": failed})
    else:
        screen = Screen()
        for line in judged.table().splitlines():
            screen.print_text(line, indent=0)
        for row in judged.rows:
            if row.assumed is not None:
                said = f"assumed: {row.run_id}  {row.old} -> {row.assumed}, which nobody proposed"
                screen.print_text(said, indent=0, hang=2)
        for limit in exceeded:
            screen.print_text((f"--fail-on {limit.text}: {limit.count_what_if_runs(judged)} runs", "red"), indent=0)
    exit_with_status(not exceeded)


def read_store_option(
    store: str | None,
    *,
    pattern: str | None = None,
    tenant: str | None = None,
    since: str | None = None,
    option: str = "--store",
) -> Iterable[Any]:
    """Return the runs of a store, or the recordings in a file, a line each."""
    if store and "://" not in store and not store.endswith(".jsonl"):
        raise ConfigurationError(f"{option}: the URL of a store, or a .jsonl file, is required; given: {store!r:.200}")
    if store is None or not store.endswith(".jsonl"):
        return open_store_option(store).runs(pattern=pattern, tenant=tenant, since=parse_since_option(since))
    for name, value in {"pattern": pattern, "tenant": tenant, "since": since}.items():
        if value is not None:
            raise ConfigurationError(f"--{name}: for a store; a .jsonl file is judged whole")
    return _read_recording_lines(option, store)


def _read_recording_lines(option: str, file: str) -> Iterator[Any]:
    for place, value in read_json_lines(option, file):
        if not isinstance(value, dict):
            raise ConfigurationError(f"{place}: a recording is required")
        yield value


def evaluate(
    agent: Annotated[str, argument("MODULE:FACTORY", "Makes the agent.")],
    dataset: Annotated[str, argument("FILE", "A .jsonl file with an object a line.")],
    *,
    policy: GivenPolicy = None,
    recordings: Annotated[
        str | None, option("--recordings URL|FILE", "Kept runs: decide these again, and call nothing.")
    ] = None,
    fail_under: Annotated[
        list[str] | None, option("--fail-under RATE=SHARE", "As answered=0.9; more than once.")
    ] = None,
    at_once: Annotated[int, option("--at-once N", "Runs at work at once.", min=1)] = 4,
    out: PageFile = None,
    as_json: Json = False,
) -> None:
    """Ask an agent every row of a dataset, and hold what it answers against what the row expects.

    A row has the agent's input fields, such as question, and what is expected: ending (ok, ok:clarify,
    stopped:source_denied), facts, citations; and an id.

    RATE is answered, ending, facts, citations or passed, SHARE from 0 to 1; a lower rate ends with exit code 3.
    """
    from guardgraph.evidence.what_if import load_candidate_agent

    least = dict(_parse_fail_under(text) for text in fail_under or ())
    graph = load_candidate_agent(agent, **({} if policy is None else load_candidate_policy_option(agent, policy, None)))
    runs = None if recordings is None else read_store_option(recordings, option="--recordings")
    evaluation = guardgraph.evaluate(graph, dataset, recordings=runs, max_concurrency=at_once)
    low = evaluation.find_low_rates(least)
    if out is not None:
        graphs.save_out_option(guardgraph.report(evaluation), out)
    if as_json:
        print_json({**evaluation.plain(), "low": low})
    else:
        screen = Screen()
        for line in evaluation.table().splitlines():
            screen.print_text(line, indent=0)
        for name, rate in low.items():
            screen.print_text((f"--fail-under {name}={least[name]:g}: {rate:.1%}", "red"), indent=0)
    exit_with_status(not low)


def _parse_fail_under(text: str) -> tuple[str, float]:
    from guardgraph.evidence.evaluation import RATES

    name, _, share = text.partition("=")
    try:
        least = float(share)
    except ValueError:
        least = -1.0
    if name not in RATES or not 0 <= least <= 1:
        allowed = f"{', '.join(RATES)} with a share from 0 to 1"
        raise ConfigurationError(f"--fail-under: {allowed} is required, such as answered=0.9; given: {text!r:.80}")
    return name, least

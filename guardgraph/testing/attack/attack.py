"""An attack: many runs of one agent, their endings, the smallest run for each finding, and tests that make it again."""

from __future__ import annotations

import logging
import pprint
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import Any, Final

from guardgraph.graphs.loading import load_named_graph
from guardgraph.graphs.running.door import GuardedGraph
from guardgraph.plain.errors import ConfigurationError, InputError
from guardgraph.plain.json import JsonObject, find_json_problem
from guardgraph.state.tools import ToolPolicy
from guardgraph.testing.attack.attacker import AttackedRun, Attacker
from guardgraph.testing.attack.runs import Breach, DrivenEnding, drive_run, judge_run

MOST_RUNS: Final = 100_000
_MOST_FINDINGS: Final = 20
_MOST_REPLIES: Final = 400  # replies of the model in the runs that are made to find the smallest one of a finding


@dataclass
class AttackedAgent:
    """An agent that a factory built for an attacker."""

    graph: Any
    requests: list[JsonObject]
    attacker: Attacker
    made: int = 0

    def make_run(self, run: AttackedRun) -> tuple[DrivenEnding, list[Breach]]:
        """Make one run, and judge it."""
        self.made += 1
        self.attacker.begin(run)
        ending = drive_run(self.graph, run, self.made)
        return ending, list(judge_run(self.graph, self.attacker, run, ending))

    def repeat_run(self, planned: Mapping[str, Any]) -> list[Breach]:
        """Make a planned run, and return what was found."""
        return self.make_run(AttackedRun(planned["request"], random.Random(0), planned))[1]


@dataclass
class AttackReport:
    """What an attack found."""

    target: str
    seed: int
    runs: int = 0
    endings: Counter[str] = field(default_factory=Counter)
    never: list[str] = field(default_factory=list)  # endings of the agent's catalogue that no run came to
    unruled: Counter[str] = field(default_factory=Counter)
    """Calls that were performed of tools that no rule of the policy names."""
    found: dict[tuple[str, str], Breach] = field(default_factory=dict)
    refused_hosts: list[str] = field(default_factory=list)  # hosts that something tried to reach; it was not let
    seconds: float = 0.0

    def count_run(self, agent: AttackedAgent, ending: DrivenEnding, findings: list[Breach]) -> None:
        """Count a run that an agent just made."""
        run, policy = agent.attacker.run, agent.attacker.policy
        name, graph = ending.name, agent.graph
        if isinstance(graph, GuardedGraph) and name.startswith("stopped:"):  # a stop is counted as the catalogue has it
            known = graph.frame.catalogue.find(name.removeprefix("stopped:"))
            name = name if known is None else f"stopped:{known.reason}"
        self.endings[name] += 1
        # A pattern without a table of tools calls what its nodes name, and not its model.
        if not isinstance(graph, GuardedGraph) or graph.frame.table is not None:
            self.unruled.update(call.tool for call in run.performed if policy is None or call.tool not in policy.rules)
        for finding in {each.key: each for each in findings}.values():
            if finding.key in self.found:
                self.found[finding.key].runs += 1
            elif len(self.found) < _MOST_FINDINGS:
                finding.smallest = {"request": run.request, "moves": run.moves, "results": run.results}
                finding.first = self.runs
                self.found[finding.key] = finding
        self.runs += 1

    def plain(self) -> JsonObject:
        """Return it as plain JSON."""
        return {
            **{"target": self.target, "seed": self.seed, "runs": self.runs, "seconds": round(self.seconds, 1)},
            **{"endings": dict(self.endings.most_common()), "never_reached": self.never},
            **{"without_rule": dict(self.unruled.most_common()), "refused_hosts": self.refused_hosts},
            "findings": [asdict(each) for each in self.found.values()],
        }


def build_attacked_agent(target: str, asking: str = "attack") -> AttackedAgent:
    """Build the agent of a factory ``module:factory``, which is given an `Attacker`, or say what is wrong with it."""
    attacker = Attacker()
    made = load_named_graph(target, asking, attacker=attacker)
    graph, given = made if isinstance(made, tuple) and len(made) == 2 else (made, None)
    requests: list[Any] = given if isinstance(given, list) else [given]
    if not hasattr(graph, "get_state") or not requests or not all(isinstance(each, dict) for each in requests):
        said = f"a compiled graph and (graph, request) are required, request an object or a list; given: {made!r:.80}"
        raise ConfigurationError(f"{asking} {target!r:.200}: {said}")
    for request in requests:
        if (problem := find_json_problem(request)) is not None:
            raise ConfigurationError(f"{asking} {target!r:.200}: request: plain JSON is required; given: {problem}")
    if attacker.policy is None and isinstance(graph, GuardedGraph) and isinstance(graph.frame.policy, ToolPolicy):
        attacker.policy = graph.frame.policy
    return AttackedAgent(graph, requests, attacker)


def attack_agent(
    target: str, *, runs: int = 2000, seed: int = 0, progress: Callable[[int], object] | None = None
) -> AttackReport:
    """Attack the agent of a factory, which returns a compiled graph and its requests; the same seed, the same runs."""
    if not 1 <= runs <= MOST_RUNS:
        raise ConfigurationError(f"--runs: a number from 1 to {MOST_RUNS} is required; given: {runs}")
    report, began = AttackReport(target, seed), time.monotonic()
    with isolate(report.refused_hosts):
        agent = build_attacked_agent(target)
        for number in range(runs):
            chance = random.Random(f"{seed} {number}")
            run = AttackedRun(chance.choice(agent.requests), chance)
            ending, findings = agent.make_run(run)
            report.count_run(agent, ending, findings)
            if progress is not None:
                progress(number + 1)
        for key, found in report.found.items():
            found.smallest = shrink_run(agent, key, found.smallest)
            found.said = next((each.said for each in agent.repeat_run(found.smallest) if each.key == key), found.said)
    if isinstance(agent.graph, GuardedGraph):
        named = [item.reason for item in agent.graph.frame.catalogue]
        report.never = [reason for reason in named if f"stopped:{reason}" not in report.endings]
    report.seconds = time.monotonic() - began
    return report


_add_audit_hook: Final = cache(sys.addaudithook)
_watching: Final = list[list[str]]()  # where connections are kept that were refused, of the attacks that go on


@contextmanager
def isolate(refused: list[str]) -> Iterator[None]:
    """Refuse every connection that leaves this machine while an attack goes on, and keep where it would have led."""
    _add_audit_hook(_refuse_connection)  # for the life of the process; it does nothing between attacks
    futures = logging.getLogger("concurrent.futures")  # which tells of streams that were cut
    level = futures.level
    futures.setLevel(logging.CRITICAL)
    _watching.append(refused)
    try:
        yield
    finally:
        _watching.remove(refused)
        futures.setLevel(level)


def _refuse_connection(event: str, args: tuple[Any, ...]) -> None:
    if not _watching or event not in ("socket.connect", "socket.sendto", "socket.getaddrinfo"):
        return
    address = args[:1] if event == "socket.getaddrinfo" else args[1]
    if not isinstance(address, tuple):  # a socket of this machine's files
        return
    host = address[0].decode(errors="replace") if isinstance(address[0], bytes) else str(address[0])
    if host not in ("127.0.0.1", "::1", "localhost", "None"):
        _watching[-1].extend([] if host in _watching[-1] else [host])
        raise ConnectionRefusedError(f"an attack uses no network; refused: {host}")


def shrink_run(agent: AttackedAgent, key: tuple[str, str], planned: JsonObject) -> JsonObject:
    """Return a smallest run of an agent that shows a finding: parts are left out, as long as it stands."""
    left, smaller = _MOST_REPLIES, _list_smaller_runs(planned)
    while left > 0 and (tried := next(smaller, None)) is not None:
        stands = any(each.key == key for each in agent.repeat_run(tried))
        left -= agent.attacker.run.asked + 1
        if stands:
            planned, smaller = tried, _list_smaller_runs(tried)
    return planned


_LEFT_OUT: Final = ("forever", "seconds", "cut", "says")
"""What a move of a model may be without; a call of the agent may be the plainest."""


def _list_smaller_runs(value: Any, key: str = "") -> Iterator[Any]:
    """Yield a run, or a part of one, with less in it: of lists halves first, then single items."""
    if key == "call":
        yield from [["invoke", 0]] if value != ["invoke", 0] else []
    elif isinstance(value, list):
        size = len(value)
        while size:
            yield from (value[:at] + value[at + size :] for at in range(0, len(value), size))
            size //= 2
        for at, item in enumerate(value):
            yield from ([*value[:at], smaller, *value[at + 1 :]] for smaller in _list_smaller_runs(item))
    elif isinstance(value, dict):
        for name in value:
            if key == "results" or (key == "model" and name in _LEFT_OUT):
                yield {other: each for other, each in value.items() if other != name}
        parts = ("results", "moves") if "moves" in value else () if key == "results" else tuple(value)
        for name in parts:
            yield from ({**value, name: smaller} for smaller in _list_smaller_runs(value[name], name))


def assert_withstands(target: str, run: JsonObject) -> None:
    """Make a run of an attack again, without a network, and check that nothing comes of it that must not.

    Args:
        target: ``module:factory`` of the agent; see `Attacker`.
        run: ``request``, ``moves`` (what the model, the caller and the person did) and ``results`` (what tools
            brought), as ``guardgraph attack --write`` wrote it.

    Raises:
        AssertionError: something does; it says what.
        InputError: the run is none.
        ConfigurationError: there is no such factory.
    """
    if not isinstance(run, dict) or not {"request", "moves", "results"} <= run.keys():
        raise InputError(f"run: request, moves and results are required; given: {run!r:.80}")
    with isolate([]):
        found = build_attacked_agent(target, "assert_withstands").repeat_run(run)
    if found:
        raise AssertionError("; ".join(f"{each.kind}: {each.said}" for each in found))


def format_test_file(report: AttackReport) -> str:
    """Return the text of a file of tests, one for each finding; they fail as long as the finding stands."""
    lines = [f'"""What an attack on {report.target} found; each test fails as long as the finding stands."""\n']
    lines += ["from guardgraph.testing import assert_withstands\n"]
    for number, found in enumerate(report.found.values(), 1):
        name = re.sub(r"\W+", "_", f"{found.kind}_{found.at}").strip("_").lower()
        said = found.said.replace("\\", "/").replace('"', "'")
        shown = pprint.pformat(found.smallest, width=112, sort_dicts=False)
        body = "\n".join(f"    {line}" for line in f"run = {shown}".splitlines())
        asserted = f"    assert_withstands({report.target!r}, run)\n"
        lines.append(f'\ndef test_{number}_{name}():\n    """{said[:400]}"""\n{body}\n{asserted}')
    return "\n".join(lines)

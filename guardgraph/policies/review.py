"""A review of a new policy: how it differs, what it newly allows for certain, and what kept runs would have come to."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

from guardgraph.evidence.chain import build_run_lookup
from guardgraph.evidence.store import StoredRun
from guardgraph.evidence.what_if import JudgedRun, judge_run
from guardgraph.graphs.patterns import PATTERNS
from guardgraph.graphs.replay import is_recorded_agent
from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.json import JsonObject, excerpt_value
from guardgraph.policies.comparison import Difference, compare_policy_files, get_tenant_settings
from guardgraph.policies.file import PolicyFile
from guardgraph.policies.subsumption import Subsumption, judge_subsumption
from guardgraph.state.recording import Recording

if TYPE_CHECKING:
    from guardgraph.graphs.running.door import GuardedGraph
    from guardgraph.graphs.running.frame import Frame

Change: TypeAlias = Literal["newly_allowed", "newly_refused", "newly_asked", "otherwise"]


class _Way(NamedTuple):
    change: Change
    old: str
    new: str
    guard: str | None


_FAIL_ON: Final = re.compile(r"(newly-allowed|newly-refused|unsubsumed)|unknown>([0-9]{1,9})(%?)")
FAIL_ON_FORM: Final = "newly-allowed, newly-refused, unsubsumed, unknown>NUMBER or unknown>NUMBER%"


@dataclass(frozen=True, slots=True)
class Parted:
    """Runs that two policies end otherwise, all in the same way, and one of them to look at."""

    change: Change
    old: str  # how the old policy ends them
    new: str  # how the new one does; of a call that was not made then, that it would be made
    guard: str | None  # who decides otherwise
    runs: int
    run_id: str  # of the first of them
    evidence: JsonObject  # what that run's result shows of it


@dataclass(frozen=True, eq=False)
class PolicyReview:
    """What a new policy changes."""

    pattern: str
    rows: list[Difference]  #: every field of the two files
    subsumption: Subsumption  #: whether the new file is at most the old one
    runs: int  #: kept runs that were looked at
    same: int  #: of these, those that end the same
    parted: list[Parted]  #: how the others would, the most first
    unknown: dict[str, int]
    """Runs of which one of the policies would ask somebody what was not asked then: by the node; the most first."""
    unjudged: dict[str, int]  #: runs that cannot be judged, or are of another pattern, by why

    @cached_property
    def changed(self) -> list[Difference]:
        """The fields that differ."""
        return [row for row in self.rows if row.compared != "equal"]

    def count_runs(self, change: Change) -> int:
        """Return how many runs change so."""
        return sum(each.runs for each in self.parted if each.change == change)

    def list_exceeded(self, limits: Iterable[str]) -> list[str]:
        """Return the limits that the review exceeds.

        Args:
            limits: ``newly-allowed`` (a run, or an example of what the settings newly allow), ``newly-refused``,
                ``unsubsumed`` (it is not certain that the new file is at most the old one), ``unknown>2%`` of all runs,
                ``unknown>10``. All but ``unsubsumed`` are exceeded where runs were given and none could be judged.

        Raises:
            ConfigurationError: a limit is written otherwise.
        """
        return [limit for limit in limits if self._is_limit_exceeded(limit)]

    def _is_limit_exceeded(self, limit: str) -> bool:
        parsed = parse_review_limit(limit)
        if self.runs and parsed[1] != "unsubsumed" and sum(self.unjudged.values()) == self.runs:
            return True  # nothing was judged, so nothing is known
        if parsed[1] == "newly-allowed":
            return bool(self.count_runs("newly_allowed") or self.subsumption.widenings)
        if parsed[1] == "newly-refused":
            return bool(self.count_runs("newly_refused"))
        if parsed[1] == "unsubsumed":
            return self.subsumption.verdict != "at_most"
        unknown, most = sum(self.unknown.values()), int(parsed[2])
        return unknown * 100 > most * self.runs if parsed[3] else unknown > most

    def plain(self) -> JsonObject:
        """Return it as plain JSON; of the fields those that differ."""
        fields = {"fields": [asdict(row) for row in self.changed], "subsumption": self.subsumption.plain()}
        runs = {"runs": self.runs, "same": self.same, "parted": [asdict(each) for each in self.parted]}
        return {"pattern": self.pattern, **fields, **runs, "unknown": self.unknown, "unjudged": self.unjudged}


def parse_review_limit(limit: str) -> re.Match[str]:
    """Read a limit of `PolicyReview.list_exceeded`."""
    if (parsed := _FAIL_ON.fullmatch(limit)) is None:
        raise ConfigurationError(f"--fail-on: {FAIL_ON_FORM} is required; given: {limit!r:.80}")
    return parsed


def review_policies(
    old: PolicyFile[Any, Any],
    new: PolicyFile[Any, Any],
    runs: Iterable[StoredRun | Recording] = (),
    *,
    create: Callable[..., GuardedGraph[Any, Any, Any]] | None = None,
    progress: Callable[[int], object] | None = None,
) -> PolicyReview:
    """Say what a new policy changes: by its settings, and by kept runs that both policies judge again.

    Nothing is called. A run counts as parted only where both endings are known exactly; see `what_if`.

    Args:
        old: the policy that holds, of `load_policy`.
        new: the one that is proposed, of the same pattern.
        runs: kept runs (of ``store.runs()``) or recordings.
        create: makes the agent, given ``policy=`` and ``budget=``; the pattern's own factory when None.
        progress: called with the number of runs that are judged, after each.

    Raises:
        ConfigurationError: the files are of two patterns, or a file does not fit the agent.
    """
    for name, given in {"old": old, "new": new}.items():
        if not isinstance(given, PolicyFile):
            kind = type(given).__name__
            raise ConfigurationError(f"{name}: a policy file, as load_policy returns it, is required; given: {kind}")
    rows = compare_policy_files(old, new)
    if create is None and old.pattern not in PATTERNS:
        raise ConfigurationError(f"create: a factory is required for the pattern {old.pattern!r:.80}")
    judges = _Judges(old, new, create or PATTERNS[old.pattern].create_agent)
    ways, unknown, unjudged = dict[_Way, list[JudgedRun]](), Counter[str](), Counter[str]()
    counted = same = 0
    for run in runs:
        then, now = judges.judge(run, counted)
        counted += 1
        if wrong := next((row for row in (then, now) if row.kind in ("unreplayable", "other_pattern")), None):
            unjudged[wrong.reason] += 1
        elif (way := _find_parting_way(then, now, judges.kinds)) is not None:
            ways.setdefault(way, []).append(now)
        elif "unknown" in (then.kind, now.kind):
            unknown[(now if now.kind == "unknown" else then).reason] += 1
        else:
            same += 1
        if progress is not None:
            progress(counted)
    parted = list[Parted]()
    for way, found in sorted(ways.items(), key=lambda item: -len(item[1])):
        evidence = {name: excerpt_value(value) for name, value in found[0].evidence.items()}
        parted.append(Parted(*way, runs=len(found), run_id=found[0].run_id, evidence=evidence))
    cards = None if create is None or (table := judges.find_frames(None)[1].table) is None else table.cards
    return PolicyReview(
        pattern=old.pattern,
        rows=rows,
        subsumption=judge_subsumption(old, new, rows, cards),
        runs=counted,
        same=same,
        parted=parted,
        unknown=dict(unknown.most_common()),
        unjudged=dict(unjudged.most_common()),
    )


class _Judges:
    """The agents of two policies; of a tenant that a file names, those with its overlay."""

    def __init__(self, old: PolicyFile[Any, Any], new: PolicyFile[Any, Any], create: Callable[..., Any]) -> None:
        self._files, self._create = (old, new), create
        self._made: dict[str | None, tuple[Frame, Frame]] = {}

    def find_frames(self, tenant: str | None) -> tuple[Frame, Frame]:
        if tenant not in self._made:
            old, new = (self._create(**get_tenant_settings(file, tenant)).frame for file in self._files)
            self._made[tenant] = old, new
        return self._made[tenant]

    @cached_property
    def kinds(self) -> dict[str, str]:
        return {name: node.declaration.kind for name, node in self.find_frames(None)[1].nodes.items()}

    def judge(self, run: Any, at: int) -> tuple[JudgedRun, JudgedRun]:
        """Return what both make of a run; the old one is not asked where it is the one that ran."""
        recording: Any = run.recording if isinstance(run, StoredRun) else run
        is_kept = isinstance(recording, dict) and "visits" in recording
        callers = build_run_lookup(recording).callers if is_kept else ()
        named = (tenant for tenant, _ in callers if any(tenant in file.tenants for file in self._files))
        old, new = self.find_frames(next(named, None))
        now = judge_run(new, run, at)
        if now.old is not None and now.kind in ("same", "changed", "unknown") and is_recorded_agent(old, recording):
            return JudgedRun("same", now.old, now.old, run_id=now.run_id, seq=now.seq), now
        return judge_run(old, run, at), now


def _find_parting_way(then: JudgedRun, now: JudgedRun, kinds: Mapping[str, str]) -> _Way | None:
    """Return how two policies part over a run; None where they do not, or where nobody knows."""
    if then.new is None:
        return None
    was, guard = then.new.status == "ok", now.guard or then.guard
    if now.call is not None:
        kind = kinds.get(now.call.node)
        if kind == "act" and not was:
            return _Way("newly_allowed", str(then.new), f"{now.call.node} would be called", guard)
        return _Way("newly_asked", str(then.new), "a person would be asked", guard) if kind == "review" else None
    if now.new is None or then.new == now.new:
        is_other = now.new is not None and was and then.differs != now.differs
        return _Way("otherwise", str(then.new), f"another {', '.join(now.differs)}", guard) if is_other else None
    will = now.new.status == "ok"
    change: Change = "otherwise" if was == will else "newly_allowed" if will else "newly_refused"
    return _Way(change, str(then.new), str(now.new), guard)

"""What-if: recorded runs are judged again by a candidate."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import takewhile
from typing import TYPE_CHECKING, Any, get_args

from guardgraph.evidence.chain import is_run_content
from guardgraph.evidence.store import StoredRun
from guardgraph.graphs import shadows
from guardgraph.graphs.loading import load_named_graph
from guardgraph.graphs.patterns import PATTERNS
from guardgraph.graphs.running.door import GuardedGraph
from guardgraph.graphs.running.frame import Frame
from guardgraph.plain.errors import ConfigurationError, InputError
from guardgraph.plain.json import JsonObject
from guardgraph.plain.tables import format_html_table
from guardgraph.plain.version import find_format_problem, parse_version, read_package_version
from guardgraph.state.catalogue import Catalogue
from guardgraph.state.recording import Recording, validate_recording
from guardgraph.state.settings import Budget, Settings

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider

KINDS: tuple[shadows.AgainKind, ...] = get_args(shadows.AgainKind)  # in the order in which they are counted

OTHERWISE = "(otherwise)"  # behind an ending that is the old one, of a result that is not

WIDE = 80  # columns of a table
COUNT = 7
ENDING = (WIDE - COUNT - len(" -> ") - len("  ")) // 2


@dataclass(frozen=True, slots=True)
class Way:
    """How a run went, as far as a picture shows it."""

    status: str
    stop_reason: str
    outcome: str | None
    path: tuple[str, ...]

    @property
    def run(self) -> JsonObject:
        """What `draw` takes for a run."""
        return {"status": self.status, "stop_reason": self.stop_reason, "outcome": self.outcome, "path": [*self.path]}


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedRun(shadows.Again):
    """One run of a what-if."""

    run_id: str
    seq: int | None = None  # its number in the store's chain, where it comes from a store
    guardgraph: str | None = None  # the version that made the run
    other_declarations: bool = False
    """Whether the graph that made it declared its nodes or stop reasons otherwise than the candidate does."""
    ways: tuple[Way, Way] | None = None
    """Of a changed run: how it went, and how it would have gone; `draw` shows the two in one graph."""

    @property
    def reason(self) -> str:
        """Why it has no new ending, in a word: the node whose call differs, or how `why` begins."""
        return self.call.node if self.call is not None else (self.why or "").partition(":")[0]

    @property
    def parted_at(self) -> str | None:
        """Of a changed run: the last node that both ways have in common, from which `draw` shows them part."""
        if self.ways is None:
            return None
        then, now = (way.path for way in self.ways)
        shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(then, now, strict=False)))
        return then[shared - 1] if shared and then != now else None

    def plain(self) -> JsonObject:
        """Return it as plain JSON; what there is nothing of is left out."""
        said = shadows.convert_what_if_to_json(self)
        ways = {} if self.ways is None else {"ways": [list(way.path) for way in self.ways]}
        return {"run_id": self.run_id, **{key: value for key, value in said.items() if value is not False}, **ways}

    def record(self) -> dict[str, str | int | bool | None]:
        """Return it as a flat dictionary, the same keys for every row; None where there is nothing of one."""
        return {
            "run_id": self.run_id,
            "seq": self.seq,
            "kind": self.kind,
            "old": None if self.old is None else str(self.old),
            "new": None if self.new is None else str(self.new),
            "parted_at": self.parted_at,
            "guard": self.guard,
            "differs": ", ".join(self.differs) or None,
            "node": None if self.call is None else self.call.node,
            "why": self.why if self.call is None else self.call.difference,
            "assumed": None if self.assumed is None else str(self.assumed),
            "guardgraph": self.guardgraph,
            "other_declarations": self.other_declarations,
        }


_JUDGED = tuple(item.name for item in fields(shadows.Again) if item.name != "over")


@dataclass(frozen=True, eq=False)
class WhatIf:
    """What a candidate makes of recorded runs."""

    graph: GuardedGraph[Any, Any, Any]  #: the candidate
    rows: list[JudgedRun]  #: every run, in the order in which they were given

    @cached_property
    def counts(self) -> dict[shadows.AgainKind, int]:
        """How many runs fall in each class; together they are all."""
        counted = Counter(row.kind for row in self.rows)
        return {kind: counted[kind] for kind in KINDS}

    @cached_property
    def flows(self) -> dict[tuple[shadows.Ending, shadows.Ending, bool], int]:
        """How many runs of which old ending have which new one, and whether their results differ; the most first."""
        found = ((row.old, row.new, row.kind == "changed") for row in self.rows)
        return dict(Counter((old, new, differs) for old, new, differs in found if old and new).most_common())

    @property
    def other_declarations(self) -> int:
        """How many runs were made by a graph with other declarations than the candidate's."""
        return sum(row.other_declarations for row in self.rows)

    def reasons(self, kind: shadows.AgainKind) -> dict[str, int]:
        """Return why runs of a class that has no new ending are in it, with how many; the most first."""
        # Unknown ones by the node whose call differs, unreplayable ones by what is wrong, others by their pattern.
        return dict(Counter(row.reason for row in self.rows if row.kind == kind).most_common())

    def table(self) -> str:
        """Return old ending -> new ending with counts, and what could not be judged below, in 80 columns."""
        lines = [f"{'old ending':{ENDING}}    {'new ending':{ENDING}}  {'runs':>{COUNT}}"]
        for (old, new, differs), count in self.flows.items():
            then, now = _shorten_ending(str(old)), _format_new_ending(old, new, differs)
            lines.append(f"{then:{ENDING}} -> {now:{ENDING}}  {count:>{COUNT}}")
        lines.append("")
        for kind, count in self.counts.items():
            why = ", ".join(f"{reason} {number}" for reason, number in self.reasons(kind).items())
            told = why if kind not in ("same", "changed") else ""
            lines.append(f"{kind:<14}{count:>{COUNT}}  {told}"[:WIDE].rstrip())
        if self.other_declarations:
            lines.append(f"{self.other_declarations} of these runs were made by a graph with other declarations")
        return "\n".join(lines)

    def plain(self) -> JsonObject:
        """Return counts and rows as plain JSON."""
        named = {"graph": self.graph.get_name(), "other_declarations": self.other_declarations}
        return {**named, "counts": dict(self.counts), "rows": [row.plain() for row in self.rows]}

    def records(self) -> list[dict[str, str | int | bool | None]]:
        """Return the rows as flat dictionaries of the same keys, for `pandas.DataFrame` and for CSV."""
        return [row.record() for row in self.rows]

    def _repr_html_(self) -> str:
        said = ", ".join(f"{count} {kind}" for kind, count in self.counts.items() if count)
        rows = ((old, _format_new_ending(old, new, differs), n) for (old, new, differs), n in self.flows.items())
        return format_html_table(said or "no runs", ("old ending", "new ending", "runs"), rows)

    def __repr__(self) -> str:
        said = ", ".join(f"{count} {kind}" for kind, count in self.counts.items() if count)
        return f"<WhatIf of {self.graph.get_name()}: {said or 'no runs'}>"


def build_what_if_row(again: shadows.Again, **known: Any) -> JudgedRun:
    """Return the row of a run that was judged, with what else is known of it."""
    return JudgedRun(**{name: getattr(again, name) for name in _JUDGED}, **known)


def _format_new_ending(old: shadows.Ending, new: shadows.Ending, differs: bool) -> str:
    """Return a new ending; one that is the old one says whether the result is too."""
    if not differs:
        return "same"
    if new == old:
        return f"{_shorten_ending(str(new), ENDING - len(OTHERWISE) - 1)} {OTHERWISE}"
    return _shorten_ending(str(new))


def _shorten_ending(text: str, most: int = ENDING) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


FORM = "OLD>NEW:MOST, CLASS:MOST or unreplayable:WHY:MOST"  # how a limit is written

STATUSES = ("ok", "stopped", shadows.REFUSED)
ANY = "*"
_CLASSES: dict[str, shadows.AgainKind] = {
    **{kind: kind for kind in get_args(shadows.AgainKind)},
    **{f"unreplayable:{why}": "unreplayable" for why in get_args(shadows.Unreplayable)},
}
_MOST = re.compile(r"([0-9]{1,12})(%?)")


@dataclass(frozen=True, slots=True)
class FailOn:
    """How many runs may change in one way, or fall in one class."""

    text: str  # as it was written
    kind: shadows.AgainKind
    old: str
    new: str
    most: int
    in_percent: bool  # whether `most` is a percentage of all runs
    why: str = ANY  # why runs of the class are in it

    def count_what_if_runs(self, judged: WhatIf) -> int:
        """Return how many runs it is about."""
        rows = (row for row in judged.rows if row.kind == self.kind)
        if self.kind != "changed":
            return sum(self.why in (ANY, row.reason) for row in rows)
        return sum(is_ending_called(row.old, self.old) and is_ending_called(row.new, self.new) for row in rows)

    def is_exceeded(self, judged: WhatIf) -> bool:
        """Say whether there are more than there may be."""
        found = self.count_what_if_runs(judged)
        return found * 100 > self.most * len(judged.rows) if self.in_percent else found > self.most


def parse_fail_on(text: str, catalogue: Catalogue) -> FailOn:
    """Read a limit."""
    where = f"--fail-on {text!r:.80}"
    wanted, _, limit = text.rpartition(":")
    most = _MOST.fullmatch(limit)
    if most is None:
        raise _make_limit_error(where, f"a whole number or a percentage behind the last colon; given: {limit!r:.40}")
    number, in_percent = int(most[1]), bool(most[2])
    old, arrow, new = wanted.partition(">")
    if not arrow:
        if wanted not in _CLASSES:
            classes, why = ", ".join(get_args(shadows.AgainKind)), ", ".join(get_args(shadows.Unreplayable))
            allowed = f"{FORM}, with a class of {classes}, or why of {why}"
            raise _make_limit_error(where, f"{allowed}; given: {wanted!r:.40}")
        return FailOn(text, _CLASSES[wanted], ANY, ANY, number, in_percent, wanted.partition(":")[2] or ANY)
    for name in (old, new):
        check_ending_name(where, name, catalogue)
    return FailOn(text, "changed", old, new, number, in_percent)


def check_ending_name(where: str, name: str, catalogue: Catalogue) -> None:
    """Refuse what names no ending of an agent: a status, or a status with an outcome or a stop reason."""
    status, colon, rest = name.partition(":")
    if name != ANY and (status not in STATUSES or (colon and not rest)):
        allowed = f"{', '.join(STATUSES)}, ok:OUTCOME, stopped:REASON or {ANY}"
        raise _make_limit_error(where, f"endings called {allowed}; given: {name!r:.40}")
    shipped = PATTERNS.get(catalogue.pattern)  # of one of your own nobody knows the outcomes
    if status == "ok" and rest and shipped is not None and rest not in shipped.outcomes:
        allowed = f"an outcome of {catalogue.pattern}: {', '.join(shipped.outcomes)}"
        raise _make_limit_error(where, f"{allowed}; given: {rest!r:.40}")
    stems = {reason.reason.partition(":")[0] for reason in catalogue}
    if status == "stopped" and rest and rest not in stems and catalogue.find(rest) is None:
        raise _make_limit_error(where, f"a stop reason of {catalogue.pattern}; given: {rest!r:.40}")


def is_ending_called(ending: shadows.Ending | None, name: str) -> bool:
    """Say whether an ending has this name, of which the beginning up to a colon is enough."""
    return ending is not None and (name == ANY or f"{ending}:".startswith(f"{name}:"))


def _make_limit_error(where: str, required: str) -> ConfigurationError:
    return ConfigurationError(f"{where}: required: {required}")


def what_if(
    candidate: GuardedGraph[Any, Any, Any] | str,
    runs: Iterable[StoredRun | Recording],
    *,
    assume: bool = False,
    ignore_live: bool = False,
    policy: Settings | None = None,
    budget: Budget | None = None,
    progress: Callable[[int], object] | None = None,
) -> WhatIf:
    """Judge recorded runs again: what would the candidate have made of them?

    Nothing is called and nothing is guessed. A run is `same` or `changed` where a live run of the candidate would have
    had that result, given that whoever was called says the same to the same request; else it is `unknown`, and its row
    names the first call that differs. Each run's own context tightens the candidate as it tightened the agent then, and
    so does what it read of a live policy.

    Args:
        candidate: an agent of the runs' pattern with another policy, budget, guard or version; or ``module:factory``,
            whose factory is given `policy` and `budget` where they are.
        runs: stored runs (of ``store.runs()``) or recordings; each has a row, in their order.
        assume: whether to say too how an unknown run would end if proposers had proposed what they did then.
        ignore_live: whether what runs read of a live policy counts for nothing, as if nobody had switched anything off.
        policy: of a candidate that is a name, as is `budget`.
        budget: likewise.
        progress: called with the number of runs that are judged, after each run.

    Raises:
        ConfigurationError: there is no such candidate, or an agent is given beside what goes with a name only.
        InputError: something among the runs is neither a stored run nor a recording.
    """
    graph = load_candidate_agent(candidate, policy=policy, budget=budget)
    if not isinstance(runs, Iterable):
        raise InputError(f"runs: stored runs, as of store.runs(), or recordings; given: {type(runs).__name__}")
    rows: list[JudgedRun] = []
    for at, run in enumerate(runs):
        rows.append(judge_run(graph.frame, run, at, assume=assume, ignore_live=ignore_live))
        if progress is not None:
            progress(len(rows))
    return WhatIf(graph, rows)


def load_candidate_agent(candidate: Any, **settings: Settings | None) -> GuardedGraph[Any, Any, Any]:
    """Return the agent that a what-if judges by."""
    if isinstance(candidate, str):
        graph = load_named_graph(candidate, "candidate", **settings)
    elif own := [name for name, value in settings.items() if value is not None]:
        raise ConfigurationError(f"{own[0]}: for a candidate that is module:factory; an agent has its own")
    else:
        graph = candidate
    if not isinstance(graph, GuardedGraph):
        given = type(graph).__name__
        raise ConfigurationError(f"candidate: a guarded graph or module:factory is required; given: {given}")
    return graph


def judge_run(frame: Frame, run: Any, at: int, **how: bool) -> JudgedRun:
    """Judge one of the runs that a what-if is given; `at` is its place among them."""
    if isinstance(run, dict):
        return _judge_recording(frame, run, str(run.get("run_id", "")), None, how)
    if not isinstance(run, StoredRun):
        raise InputError(f"runs.{at}: a stored run or a recording is required; given: {type(run).__name__}")
    if run.recording is None:
        why = "erased" if run.changed is None else f"changed: {run.changed}"
        return build_what_if_row(shadows.Again("unreplayable", why=why), run_id=run.run_id, seq=run.position.seq)
    return _judge_recording(frame, run.recording, run.run_id, run.position.seq, how)


def _judge_recording(frame: Frame, given: Any, run_id: str, seq: int | None, how: Mapping[str, bool]) -> JudgedRun:
    try:
        recording = validate_recording(given)
        if not is_run_content("run", given):
            raise InputError("recording.result: one of a run is required")
    except InputError as error:
        unread = shadows.Again("unreplayable", why=_explain_unreadable_recording(given, error))
        return build_what_if_row(unread, run_id=run_id, seq=seq)
    again = shadows.judge_recording_again(frame, recording, **how)
    is_same = recording["fingerprints"]["declarations"] == frame.declarations_fingerprint
    known: dict[str, Any] = {"run_id": run_id, "seq": seq, "guardgraph": recording["guardgraph"]}
    known["other_declarations"] = again.kind != "other_pattern" and not is_same
    if again.kind == "changed" and again.old is not None and again.new is not None and again.result is not None:
        ends = ((again.old, recording["result"]), (again.new, again.result))
        known["ways"] = tuple(
            Way(end.status, end.stop_reason, end.outcome, tuple(result.get("path", ()))) for end, result in ends
        )
    return build_what_if_row(again, **known)


def _explain_unreadable_recording(given: Any, error: InputError) -> str:
    """Say why a recording is not read."""
    if given.get("redacted"):
        return "redacted"
    said = str(error).splitlines()[0]
    made_by = given.get("guardgraph")
    if type(given.get("format")) is int and find_format_problem(given["format"], made_by) is not None:
        return f"version: {said}"
    is_newer = parse_version(made_by) > parse_version(read_package_version())
    return f"version: recorded by guardgraph {made_by:.40}; {said}" if is_newer else f"damaged: {said}"


def measure_what_if(judged: WhatIf, *, meter_provider: MeterProvider | None = None) -> None:
    """Count the runs of a what-if by what the candidate makes of them, such as `unknown`.

    Raises:
        ConfigurationError: the extra ``otel`` is not installed, or it is no what-if.
    """
    if not isinstance(judged, WhatIf):
        raise ConfigurationError(f"judged: what what_if returns is required; given: {judged!r:.80}")
    from guardgraph.world.telemetry import METRICS, Mishaps, load_meter

    metric = next(each for each in METRICS if each.name == "guardgraph.what_ifs")
    counter: Any = load_meter(meter_provider).create_counter(metric.name, metric.unit, metric.meaning)
    about = {"guardgraph.pattern": judged.graph.frame.catalogue.pattern}
    with Mishaps().contain():
        for kind, count in Counter(row.kind for row in judged.rows).items():
            counter.add(count, {**about, "guardgraph.judged": kind})

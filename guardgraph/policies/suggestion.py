"""The tightest policy under which runs that a person calls good still end as they did; it loosens nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError

from guardgraph.evidence.store import StoredRun
from guardgraph.graphs.shadows import judge_recording_again
from guardgraph.plain.errors import ConfigurationError, InputError
from guardgraph.plain.json import JsonObject
from guardgraph.plain.urls import normalise_host, parse_url_target
from guardgraph.policies.file import SECTIONS, format_policy_lines, list_rule_settings
from guardgraph.state.recording import Recording, validate_recording
from guardgraph.state.settings import Settings
from guardgraph.state.tools import ArgumentRule, ToolPolicy, ToolRule

if TYPE_CHECKING:
    from guardgraph.graphs.running.door import GuardedGraph

_HIGHEST: Final = 1000  # floors and limits that nobody set are tried up to here
_NAMED_RUNS: Final = 3  # runs that are looked for of those that need a setting
_NOBODY: Final = "(no run)"  # stands for runs where no agent can be made with a setting


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A tighter setting, and the runs for whose sake it is no tighter."""

    field: str  # such as ``policy.tools_execution`` or ``policy.rules.pay.max_calls``
    old: Any
    new: Any
    needed_by: tuple[str, ...]
    """Ids of runs that would end otherwise were it a step tighter; none where no run needs it at all."""


@dataclass(frozen=True, slots=True)
class SuggestedPolicy:
    """The tightest settings that were found."""

    pattern: str
    policy: Settings
    budget: Settings
    suggestions: tuple[Suggestion, ...]  #: what became tighter, in the order in which it was tried
    runs: int  #: the good runs that it was held against

    def to_yaml(self) -> str:
        """Return it as a policy file, with a comment for each line that became tighter: which runs need it."""
        said: JsonObject = {"pattern": self.pattern}
        for section in SECTIONS:
            held: Any = getattr(self, section)
            said[section] = {name: value for name, value in held.plain().items() if name in held.model_fields_set}
            if "rules" in said[section]:
                rules = held.rules.items()
                said[section]["rules"] = {tool: list_rule_settings(rule) for tool, rule in rules}
        lines = format_policy_lines(
            {name: value for name, value in said.items() if value},
            {item.field: _explain_need(item) for item in self.suggestions},
        )
        return "\n".join([f"# Held against {self.runs} good runs: each ends as it did.", *lines, ""])


def suggest_policy(
    runs: Iterable[StoredRun | Recording],
    create: Callable[..., GuardedGraph[Any, Any, Any]],
    *,
    policy: Settings | None = None,
    budget: Settings | None = None,
) -> SuggestedPolicy:
    """Tighten each setting as far as every good run still ends as it did.

    Each run is decided again, so nothing is guessed. Limits of time stay: they tell of a machine and its day. Lists of
    what is denied stay: no run tells what else should be.

    Args:
        runs: kept runs or recordings that a person calls good, of one pattern.
        create: makes the agent, given ``policy=`` and ``budget=``.
        policy: where to begin; what the runs were judged by when None.
        budget: likewise.

    Returns:
        The tightest settings found, with the runs that need each.

    Raises:
        InputError: there is no run, or one that was erased or redacted.
        ConfigurationError: the agent does not take the settings, or a run does not end under them as it did.
    """
    recordings = list[Recording]()
    for run in runs:
        recording: Any = run.recording if isinstance(run, StoredRun) else run
        if recording is None or recording.get("redacted"):
            given = getattr(run, "run_id", "one")
            raise InputError(f"runs: runs that are kept whole are required; given: {given}, which is not")
        recordings.append(validate_recording(recording))
    if not recordings:
        raise InputError("runs: at least one good run is required; given: none")
    agent = create(**{name: value for name, value in (("policy", policy), ("budget", budget)) if value is not None})
    search = _TightestSearch(create, recordings, {"policy": agent.frame.policy, "budget": agent.frame.budget})
    if failing := search.list_parted(search.held):
        raise ConfigurationError(f"policy: under these settings {failing[0]} does not end as it did; see what-if")
    for section in SECTIONS:
        for name in type(search.held[section]).model_fields:
            search.tighten(section, name)
    pattern, found = agent.frame.catalogue.pattern, tuple(search.found)
    return SuggestedPolicy(pattern, search.held["policy"], search.held["budget"], found, len(recordings))


class _TightestSearch:
    """Settings that hold so far, and the runs that they are held against."""

    def __init__(self, create: Callable[..., Any], recordings: Sequence[Recording], held: dict[str, Settings]) -> None:
        self._create, self._recordings = create, recordings
        self.held = held
        self.found: list[Suggestion] = []

    def list_parted(self, held: Mapping[str, Settings]) -> list[str]:
        """Return ids of runs that would not end as they did, up to those that a comment names."""
        try:
            frame = self._create(**held).frame
        except ConfigurationError:
            return [_NOBODY]
        parted = list[str]()
        for recording in self._recordings:
            again = judge_recording_again(frame, recording)
            if again.new is None or again.new != again.old:
                parted.append(recording["run_id"])
                if len(parted) == _NAMED_RUNS:
                    break
        return parted

    def tighten(self, section: str, name: str) -> None:
        held = self.held[section]
        if "seconds" in name:
            return
        if name == "rules" and isinstance(held, ToolPolicy):
            for tool in held.tools_execution:
                self._tighten_rule(tool)
            return
        value, needed = getattr(held, name), tuple[str, ...]()
        rule = held.get_tightening_rule(name)
        if rule.is_set:
            if value and not rule.how((), ("x",)):  # a list of what is allowed
                self._keep_tightened(section, name, *self._drop_names(section, name, value))
            return
        candidates = [*_list_tighter_values(held, name)]
        first, behind = 0, len(candidates)
        while first < behind:  # the tightest that parts no run: what is looser parts none either
            middle = (first + behind) // 2
            if parted := self._try_value(section, name, candidates[middle]):
                first, needed = middle + 1, tuple(parted)
            else:
                behind = middle
        if first < len(candidates):
            self._keep_tightened(section, name, candidates[first], needed)

    def _drop_names(self, section: str, name: str, value: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[str, ...]]:
        kept, needed = value, dict[str, None]()
        for each in value:
            fewer = tuple(other for other in kept if other != each)
            if parted := self._try_value(section, name, fewer):
                needed |= dict.fromkeys(parted)
            else:
                kept = fewer
        return kept, tuple(needed)

    def _try_value(self, section: str, name: str, value: Any) -> list[str]:
        """Return the runs that part with a value; a value that no setting can have parts all."""
        held = self.held[section]
        try:
            tried = type(held).model_validate({**_list_set(held), name: value})
        except ValidationError:
            return [_NOBODY]
        if held.compared(tried)[name] not in ("tighter", "equal"):
            return [_NOBODY]
        return self.list_parted({**self.held, section: tried})

    def _keep_tightened(self, section: str, name: str, value: Any, needed: tuple[str, ...]) -> None:
        held = self.held[section]
        old = getattr(held, name)
        if value != old:
            self.held = {**self.held, section: type(held).model_validate({**_list_set(held), name: value})}
            self.found.append(Suggestion(f"{section}.{name}", old, value, needed))

    def _tighten_rule(self, tool: str) -> None:
        """Let a rule allow the calls that were made: how often, and between which values."""
        calls = list[list[JsonObject]]()
        for recording in self._recordings:
            told = recording["result"].get("tool_calls")
            calls.append([each["args"] for each in told if each["tool"] == tool] if isinstance(told, list) else [])
        most = max(map(len, calls))
        needed = [each["run_id"] for each, made in zip(self._recordings, calls, strict=True) if len(made) == most]
        made = [args for each in calls for args in each]
        numbers, hosts = _collect_values(made)
        limits: JsonObject = {name: {"min": min(seen), "max": max(seen)} for name, seen in numbers.items()}
        limits |= {name: {"hosts": tuple(dict.fromkeys(seen))} for name, seen in hosts.items()}
        tight = ToolRule(max_calls=most, arguments={name: ArgumentRule(**each) for name, each in limits.items()})
        for name in ("max_calls", "arguments"):
            policy: Any = self.held["policy"]
            rule = policy.rule_of(tool)
            tightened = rule.tightened_by(ToolRule.model_validate({name: getattr(tight, name)}))
            if tightened != rule and not self._try_value("policy", "rules", rules := {**policy.rules, tool: tightened}):
                self.held = {**self.held, "policy": type(policy).model_validate({**_list_set(policy), "rules": rules})}
                both = getattr(rule, name), getattr(tightened, name)
                self.found.append(Suggestion(f"policy.rules.{tool}.{name}", *both, tuple(needed[:_NAMED_RUNS])))


def _collect_values(made: Sequence[JsonObject]) -> tuple[dict[str, list[float]], dict[str, list[str]]]:
    """Return arguments that are numbers in all calls, and those that are URLs, with their hosts."""
    numbers, hosts = dict[str, list[float]](), dict[str, list[str]]()
    for name in dict.fromkeys(key for args in made for key in args):
        values = [args[name] for args in made if name in args]
        if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
            numbers[name] = values
        elif all(isinstance(value, str) and "://" in value and parse_url_target(value) for value in values):
            read = [normalise_host(target.host) for value in values if (target := parse_url_target(value)) is not None]
            hosts[name] = [host for host in read if host is not None]
    return numbers, hosts


def _list_tighter_values(held: Settings, name: str) -> Iterator[Any]:
    value, rule = getattr(held, name), held.get_tightening_rule(name)
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, str):
        yield from reversed(rule.values)
    elif isinstance(value, int) and value <= _HIGHEST:
        is_ceiling = rule.how(value, value + 1) == value
        yield from range(value) if is_ceiling else range(_HIGHEST, value, -1)
    elif isinstance(value, int):
        power = 1
        while power < value:
            yield from (number for number in (power, 2 * power, 5 * power) if number < value)
            power *= 10
    elif isinstance(value, float) and 0 <= value <= 1 and rule.how(value, value + 1) > value:
        yield from (step / 100 for step in range(100, int(value * 100), -1))


def _list_set(settings: Settings) -> JsonObject:
    return {name: getattr(settings, name) for name in settings.model_fields_set}


def _explain_need(suggestion: Suggestion) -> str:
    runs = [run for run in suggestion.needed_by if run != _NOBODY]
    more = "" if len(runs) < 2 else " and another" if len(runs) == 2 else " and others"
    return f"needed by {runs[0]}{more}" if runs else "no run needs it looser"

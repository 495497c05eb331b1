"""Is a new policy at most an old one? Where it is not, an example says what it allows that the old one does not.

Settings tighten field by field, so of most fields their order decides. Of tools it does not: a list of values licenses
what it names, and another authority counts other calls as the same. There both licences judge calls that the difference
suggests, and what neither the order nor such a call decides is left undecided.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from guardgraph.checking.answer import check_answer
from guardgraph.guards.stop import Stop
from guardgraph.guards.tools.licence import check_licence, complete_call
from guardgraph.plain.json import JsonObject, JsonValue
from guardgraph.plain.scopes import parse_scope
from guardgraph.policies.comparison import Difference, get_tenant_settings
from guardgraph.policies.file import SECTIONS, PolicyFile
from guardgraph.state.settings import Settings
from guardgraph.state.tools import ArgumentRule, Given, MadeCall, ToolCard, ToolPolicy, ToolRule

Verdict: TypeAlias = Literal["at_most", "wider", "unknown"]

_LISTS: Final = ("tools_policy", "tools_execution", "denied_tools")
_COUNTS: Final = ("max_tool_calls", "max_same_call", "max_same_read")
_JUDGING: Final = ("policy.check_", "policy.on_", "policy.min_")  # how fields begin by which answers are judged
_MOST_CALLS: Final = 1000
"""Calls that an example has made before; of higher limits the numbers themselves are the example."""
_REACHED: Final = ("refused", "asks a person", "allowed")
_ANSWERS: Final = (
    ("The fee is 20 EUR.", "The fee is 10 EUR."),
    ("Ask Jane Xylander about the fee.", "Ask us about the fee."),
    ("The fee is not refunded on request.", "The fee is refunded on request."),
    ("Penguins breed on cold southern islands.", "The fee is refunded on request."),
)
"""Answers, each with a source that does not bear it out, in four ways."""


@dataclass(frozen=True, slots=True)
class Widening:
    """Something that a new policy allows and an old one does not."""

    tenant: str | None  # whose settings they are; nobody's when None
    field: str  # the setting that makes the difference, such as ``policy.rules.pay.arguments``
    kind: Literal["call", "host", "answer", "name", "setting"]
    example: JsonValue
    """The call with what was given and made before, the host, the answer with its source, the name, or the value."""
    old: str  # what the old policy says of it
    new: str


@dataclass(frozen=True, slots=True)
class Subsumption:
    """Whether a new policy is at most an old one."""

    widenings: tuple[Widening, ...]  # what the new one allows beyond the old one, an example for each setting
    undecided: tuple[Difference, ...]  # settings of which neither their order nor an example tells

    @property
    def verdict(self) -> Verdict:
        """``at_most``, ``wider``, or ``unknown`` where something is undecided and nothing is wider."""
        return "wider" if self.widenings else "unknown" if self.undecided else "at_most"

    def plain(self) -> JsonObject:
        """Return it as plain JSON."""
        widenings, undecided = ([asdict(each) for each in found] for found in (self.widenings, self.undecided))
        return {"verdict": self.verdict, "widenings": widenings, "undecided": undecided}


def judge_subsumption(
    old: PolicyFile[Any, Any],
    new: PolicyFile[Any, Any],
    rows: Iterable[Difference],
    cards: Mapping[str, ToolCard] | None = None,
) -> Subsumption:
    """Say whether a new file allows at most what an old one allows, whose differences `compare_policy_files` found.

    Without the cards of tools it is asked of the tools that the files name.
    """
    wider, undecided = list[Widening](), list[Difference]()
    by_tenant: dict[str | None, list[Difference]] = {}
    for row in rows:
        by_tenant.setdefault(row.tenant, []).append(row)
    for tenant, differing in by_tenant.items():
        sides = _Side(**get_tenant_settings(old, tenant)), _Side(**get_tenant_settings(new, tenant))
        judge = _ToolJudge(*sides, cards) if isinstance(sides[0].policy, ToolPolicy) else None
        for row in differing:
            if row.compared == "equal":
                continue
            if (found := judge.find_call(row) if judge is not None else None) is None:
                found = _find_wider_setting(row, *sides) if row.compared in ("looser", "other") else None
                if found is None and not (judge.is_at_most(row) if judge is not None else row.compared == "tighter"):
                    undecided.append(row)
            if found is not None:
                wider.append(found)
    return Subsumption(tuple(wider), tuple(undecided))


class _Side(NamedTuple):
    policy: Any
    budget: Any


def _find_wider_setting(row: Difference, old: _Side, new: _Side) -> Widening | None:
    """Return a host, an answer, a name or a value that a field lets through newly; None where no order says so."""
    section, _, name = row.field.partition(".")
    ours, theirs = getattr(old, section), getattr(new, section)
    if "." in name or not isinstance(ours, Settings) or name in _LISTS or ours.is_open(name) != theirs.is_open(name):
        return None
    if (answer := _find_wider_answer(row, old, new) if section == SECTIONS[0] else None) is not None:
        return answer
    if ours.get_tightening_rule(name).is_set:
        return _find_wider_name(row, name, ours, theirs)
    if row.compared != "looser":
        return None
    said = ("no limit" if value is None else f"{value}" for value in (row.old, row.new))
    return Widening(row.tenant, row.field, "setting", {name: row.new}, *said)


def _find_wider_answer(row: Difference, old: _Side, new: _Side) -> Widening | None:
    if not hasattr(old.policy, "check_values") or not row.field.startswith(_JUDGING):
        return None
    for answer, source in _ANSWERS:
        then, now = (check_answer(answer, [source], policy=side.policy) for side in (old, new))
        if now.ok and not then.ok:
            example: JsonObject = {"answer": answer, "source": source}
            return Widening(row.tenant, row.field, "answer", example, str(then.stop_reason), now.verdict)
    return None


def _find_wider_name(row: Difference, name: str, old: Settings, new: Settings) -> Widening | None:
    """Return a name that one list allows and the other does not, or that only the other denies."""
    ours, theirs = getattr(old, name), getattr(new, name)
    unite = old.get_tightening_rule(name).how
    denies = bool(unite((), ("x",)))
    for entry in ours if denies else theirs:
        shown, kind = entry, "name"
        if "domains" in name and (scope := parse_scope(entry)) is not None:
            shown, kind = f"example.{scope.name}" if scope.reach == "suffix" else scope.name, "host"
        then, now = (
            bool(unite((shown,), held)) if not denies else len(unite(held, (shown,))) > len(held)
            for held in (ours, theirs)
        )
        if now and not then:
            words = ("denied", "not denied") if denies else ("not allowed", "allowed")
            return Widening(row.tenant, row.field, kind, shown, *words)  # type: ignore[arg-type]
    return None


class _Case(NamedTuple):
    """A call in a run: what was given, and what was made before it."""

    tool: str
    args: JsonObject
    given: Given
    made: list[MadeCall]


class _ToolJudge:
    """Both licences, and the calls that a difference of them suggests."""

    def __init__(self, old: _Side, new: _Side, cards: Mapping[str, ToolCard] | None) -> None:
        self._cards = cards if cards is not None else _imagine_cards(old.policy, new.policy)
        self._is_imagined = cards is None
        alike = {name for name in self._cards if old.policy.rule_of(name).pin == new.policy.rule_of(name).pin}
        self._old, self._new = (self._fill_lists(side, alike if self._is_imagined else set()) for side in (old, new))
        self._opened = old.policy.is_open("tools_execution") < new.policy.is_open("tools_execution")
        self._callable = {name for name in self._cards if _is_listed_tool(name, self._new.policy)}

    def _fill_lists(self, side: _Side, unpinned: set[str]) -> _Side:
        """Fill lists that are left to the factory; take away pins that both have, of tools that nobody has here."""
        filled: JsonObject = {name: tuple(self._cards) for name in ToolPolicy.filled if side.policy.is_open(name)}
        rules = side.policy.rules
        loose = {name: rules[name].model_copy(update={"pin": None}) for name in unpinned if name in rules}
        return side._replace(policy=side.policy.model_copy(update={**filled, "rules": {**rules, **loose}}))

    def find_call(self, row: Difference) -> Widening | None:
        """Return a call that the difference lets through newly, or with no person to ask."""
        for case in self._suggest_calls(row):
            (then, why), (now, _) = (self._judge_call(case, self._old), self._judge_call(case, self._new))
            if now > then:
                made = [f"{each['tool']} {each['args']}" for each in case.made[:3]]
                example: JsonObject = {"tool": case.tool, "args": case.args, "task": case.given["task"]}
                example |= {"made": len(case.made), "last_made": made[-1]} if made else {}
                return Widening(row.tenant, row.field, "call", example, why, _REACHED[now])
        return None

    def _judge_call(self, case: _Case, side: _Side) -> tuple[int, str]:
        """Return how far a call comes, and the words for it: as the new policy completes it, so that both judge one."""
        card, rule = self._cards[case.tool], self._new.policy.rule_of(case.tool)
        call = complete_call(case.tool, case.args, rule, card["schema"])
        try:
            licence = check_licence(
                call, cards=self._cards, policy=side.policy, budget=side.budget, given=case.given, made=case.made
            )
        except Stop as stop:
            return 0, stop.reason
        return (1, _REACHED[1]) if licence.needs_approval else (2, _REACHED[2])

    def is_at_most(self, row: Difference) -> bool:
        """Say whether a difference lets nothing through for certain."""
        section, _, rest = row.field.partition(".")
        field, _, way = rest.partition(".")
        if section == "policy" and field in _LISTS:
            listed = {name for name in self._cards if _is_listed_tool(name, self._old.policy)}
            return self._callable <= listed and not (self._is_imagined and self._opened)
        if section != "policy" or field != "rules":
            return row.compared == "tighter"
        tool, _, inner = way.rpartition(".")
        ours, theirs = self._old.policy.rule_of(tool), self._new.policy.rule_of(tool)
        if tool in self._cards and tool not in self._callable and not theirs.trusted:
            return True  # with trusted fields, what it brought before it was denied licenses calls of others
        if inner in ("approve", "destructive"):
            return theirs.asks in (ours.asks, "refuse") or (ours.asks, theirs.asks) in _TIGHTER_ASKS
        if row.compared != "tighter" or inner == "forced":
            return inner == "pin" and ours.pin is None
        return not self._loosens_other_calls(inner, ours, theirs)

    def _loosens_other_calls(self, field: str, old: ToolRule, new: ToolRule) -> bool:
        """Say whether what is tighter as a setting may let a call through: by what it licenses or how it is counted."""
        if field == "effect":  # its calls count as writes, after which all reads are counted anew
            return True
        if field == "authority":  # calls that differ in more arguments are no longer the same
            return new.effect == "write"
        licensing = {name for name, limits in new.arguments.items() if limits.licenses and limits.allowed is not None}
        licensed = {name for name, limits in old.arguments.items() if limits.licenses and limits.allowed is not None}
        return field == "arguments" and not licensing <= licensed

    def _suggest_calls(self, row: Difference) -> Iterator[_Case]:
        section, _, rest = row.field.partition(".")
        field, _, way = rest.partition(".")
        tools: Iterable[str] = sorted(self._callable)
        if section == "budget" and field in _COUNTS:
            for tool in tools:
                yield from self._suggest_counted(tool, {getattr(side.budget, field) for side in (self._old, self._new)})
        elif section == "policy" and field in _LISTS:
            yield from (_Case(tool, {}, _give("Do it."), []) for tool in tools)
        elif section == "policy" and field == "rules":
            tool, _, inner = way.rpartition(".")
            if inner == "trusted":
                for path in self._new.policy.rule_of(tool).trusted:
                    value: JsonValue = "account-7781234"
                    for key in reversed(path.split(".")):
                        value = {"key" if key == "*" else key: value}
                    made = [
                        MadeCall(id="r1", tool=_OTHERS, args={}, effect="read", value="a text of others"),
                        MadeCall(id="r2", tool=tool, args={}, effect="read", value=value),
                    ]
                    for name in sorted(self._callable):
                        arguments = self._cards[name]["schema"].get("properties") or {"to": {}}
                        yield from (_Case(name, {each: "account-7781234"}, _give("Do it."), made) for each in arguments)
            if tool in self._callable:
                yield from self._suggest_ruled_calls(tool, inner)

    def _suggest_counted(self, tool: str, limits: set[int | None]) -> Iterator[_Case]:
        effect = self._new.policy.rule_of(tool).effect
        for limit in sorted(each for each in limits if each is not None and each <= _MOST_CALLS):
            for differ in (False, True):
                made = [
                    MadeCall(id=f"r{at}", tool=tool, args={"n": at if differ else 0}, effect=effect, value=None)
                    for at in range(1, limit + 1)
                ]
                yield _Case(tool, {"n": 0}, _give("Do it."), made)

    def _suggest_ruled_calls(self, tool: str, field: str) -> Iterator[_Case]:
        ours, theirs = self._old.policy.rule_of(tool), self._new.policy.rule_of(tool)
        seen = [MadeCall(id="r1", tool=_OTHERS, args={}, effect="read", value="a text of others")]
        names = {*ours.arguments, *theirs.arguments, *ours.forced, *theirs.forced, *theirs.authority, *ours.authority}
        for name in sorted(names - {"*"}) or ["to"]:
            limits = [rule.arguments[name] for rule in (ours, theirs) if name in rule.arguments]
            found = ["another value", 1, *(value for limit in limits for value in _list_values_at(limit))]
            values = list({repr(value): value for value in found}.values())
            for value in values:
                yield _Case(tool, {name: value}, _give("Do it."), [])
                yield _Case(tool, {name: value}, _give("Do it."), seen)
                yield _Case(tool, {name: value}, _give(f"Do it: {value}"), seen)
            if field == "authority":
                made = [MadeCall(id="r1", tool=tool, args={name: values[0]}, effect=theirs.effect, value=None)]
                for value in values[1:]:
                    yield _Case(tool, {name: value}, _give("Do it."), made * self._new.budget.max_same_call)
        yield _Case(tool, {}, _give("Do it."), [])
        if field in ("max_calls", "effect"):
            counts = {ours.max_calls, theirs.max_calls}
            counts |= {getattr(side.budget, name) for side in (self._old, self._new) for name in _COUNTS}
            yield from self._suggest_counted(tool, counts)


_OTHERS: Final = "(a tool of others)"
_MOST_CHARS: Final = 10_000  # of a text that is made up
_TIGHTER_ASKS: Final = (("unsupported", "always"), ("unsupported", "never"))


def _list_values_at(limit: ArgumentRule) -> list[JsonValue]:
    found: list[JsonValue] = [*(limit.allowed or ()), *(f"https://{host}/x" for host in limit.hosts or ())]
    found += [f"{folder.rstrip('/')}/x" for folder in limit.under or ()]
    for bound in (limit.min, limit.max):
        found += [] if bound is None else [bound, bound - 1, bound + 1]
    if limit.max_chars is not None and limit.max_chars <= _MOST_CHARS:
        found += ["x" * limit.max_chars, "x" * (limit.max_chars + 1)]
    return found


def _give(task: str) -> Given:
    return Given(task=task, history=[])


def _is_listed_tool(tool: str, policy: ToolPolicy) -> bool:
    is_listed = tool in policy.tools_policy and tool in policy.tools_execution and tool not in policy.denied_tools
    return is_listed and policy.rule_of(tool).asks != "refuse"


def _imagine_cards(old: ToolPolicy, new: ToolPolicy) -> dict[str, ToolCard]:
    sides, cards = (old, new), dict[str, ToolCard]()
    for name in (each for side in sides for each in (*side.tools_policy, *side.tools_execution, *side.rules)):
        rules = [side.rule_of(name) for side in sides]
        named = {each for rule in rules for each in (*rule.arguments, *rule.forced, *rule.authority)}
        arguments = sorted(named - {"*"})
        schema: JsonObject = {"type": "object", "properties": {each: {} for each in [*arguments, "to"]}}
        cards[name] = ToolCard(name=name, description="", schema=schema)
    return cards

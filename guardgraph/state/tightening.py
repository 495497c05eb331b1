"""How a setting tightens: what becomes of the deployment's value and of the one that a run's context gives."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from typing import Any, ClassVar, Literal, TypeAlias

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.hashing import canonical_json
from guardgraph.plain.json import JsonValue, find_json_problem
from guardgraph.plain.scopes import find_scope_problem, meet_scopes, unite_scopes
from guardgraph.plain.urls import find_host_problem, find_link_problem, normalise_host, normalise_link

Problem: TypeAlias = Callable[[str], str | None]  # what says why a name can name nothing, None of one that can

Compared: TypeAlias = Literal["equal", "tighter", "looser", "other"]
"""What one value is beside another; `other` is neither tighter nor looser, such as a list with other names."""

SHOWN_NAMES = 20  # names that an error lists of those that there are


@dataclass(eq=False, repr=False)
class Tightens:
    """How one field of two settings becomes one value that is no looser than either.

    It stands in the type of the field::

        class Policy(Settings):
            max_price: Annotated[float, Tightens.smallest] = 2.5
            severity: Annotated[str, Tightens.ordered("low", "medium", "high")] = "low"
            currency: Annotated[str, Tightens.fixed] = "EUR"

    A kind of your own is one more instance. What it returns must be no looser than either value, must not depend on how
    three values are grouped, and must change nothing more when it is applied twice.

    Args:
        name: what `repr` shows.
        how: makes one value of the deployment's and the context's.
        check: returns a value that is allowed in its normal form, and raises a ValueError that says what is allowed for
            any other; it is asked whenever settings are read.
        is_set: whether the values are lists in which order and repetition mean nothing.
        is_fixed: whether a context that names another value than the deployment's is refused.
        problem: of lists of names, what says why a name can name nothing, None of one that can; it is asked when a
            graph is made and when a run is given a context.
        values: all values that there are, or all names of a list, where they are a closed list; for JSON Schema.
        of_entries: whether the values are lists of objects, which may stand in a file of their own.
    """

    smallest: ClassVar[Tightens]
    """Of two numbers the smaller holds: ceilings, prices. None, where the type has it, is no limit and gives way."""
    largest: ClassVar[Tightens]
    """Of two numbers the larger holds: floors, thresholds. None, where the type has it, is no limit and gives way."""
    intersection: ClassVar[Tightens]  #: what both lists name holds: what is allowed. An empty list allows nothing.
    hosts: ClassVar[Tightens]
    """The hosts that both lists name hold, in whatever spelling; what is no host alone is a ConfigurationError."""
    scopes: ClassVar[Tightens]
    """The hosts that entries of both lists mean hold: a host, ``domain:NAME`` or ``suffix:NAME``. Of two entries that
    overlap the narrower one holds."""
    links: ClassVar[Tightens]  #: the hosts, URLs and mail addresses that both lists name hold, in whatever spelling
    union: ClassVar[Tightens]  #: what either list names holds: what is watched for, and what is denied
    denied_scopes: ClassVar[Tightens]
    """The hosts that an entry of either list means hold: a host, ``domain:NAME`` or ``suffix:NAME``."""
    either: ClassVar[Tightens]  #: true if either is: whether a check runs
    both: ClassVar[Tightens]  #: true only if both are: what makes something easier
    fixed: ClassVar[Tightens]  #: the deployment's value stays; a context that names another one is a ConfigurationError

    name: str
    how: Callable[[Any, Any], Any]
    check: Callable[[Any], Any]
    is_set: bool = False
    is_fixed: bool = False
    problem: Problem | None = None
    values: Sequence[str] = ()
    of_entries: bool = False

    @classmethod
    def ordered(cls, *order: str) -> Tightens:
        """Return the kind of a setting that is one of the texts in `order`: of two the later one, the stricter, holds.

        Raises:
            ConfigurationError: a value is no text, stands twice, or there is none.
        """
        if not order or not all(isinstance(value, str) for value in order) or len(set(order)) < len(order):
            raise ConfigurationError(f"ordered: different texts, at least one; given: {order!r:.80}")

        def check_ordered_value(value: Any) -> Any:
            if value not in order:
                raise ValueError(f"one of {', '.join(map(repr, order))} is required")
            return value

        def choose_later_value(ours: str, theirs: str) -> str:
            return max(ours, theirs, key=order.index)

        return cls(f"ordered{order!r}", choose_later_value, check_ordered_value, values=order)

    @classmethod
    def among(cls, *names: str) -> Tightens:
        """Return the kind of a list of what is allowed, out of `names`; any other name is a ConfigurationError.

        What both lists name holds.
        """
        return _make_list_kind(f"among{names!r}", intersect_settings, names=names)

    @classmethod
    def denied_among(cls, *names: str) -> Tightens:
        """Return the kind of a list of what is denied, out of `names`; any other name is a ConfigurationError.

        What either list names holds.
        """
        return _make_list_kind(f"denied_among{names!r}", _unite_settings, names=names)

    def compared(self, ours: Any, theirs: Any) -> Compared:
        """Say what another value is beside ours: the tighter of two is the one that both together come to."""
        is_tighter = self._is_same_setting(self.how(theirs, ours), theirs)
        is_looser = self._is_same_setting(self.how(ours, theirs), ours)
        if is_tighter and is_looser:  # of a set whatever its names are written like; a fixed value changes by no other
            return "equal" if self.is_set or ours == theirs else "other"
        if is_tighter or is_looser:
            return "tighter" if is_tighter else "looser"
        return "other"

    def not_taken(self, asked: Any, holds: Any) -> Any:
        """Return what was asked for and does not hold: of a list the names, else the value; None if all of it holds."""
        both = self.how(asked, holds)
        if self.is_set:
            return [name for name in asked if name not in both] or None
        return None if both == asked else asked

    def order(self, said: JsonValue) -> JsonValue:
        """Return a value as plain JSON as fingerprints count it: of a set, its items sorted."""
        if not self.is_set or not isinstance(said, list):  # made without validation: its first guard closes the run
            return said
        return [item for _, item in sorted({canonical_json(item): item for item in said}.items())]

    def _is_same_setting(self, one: Any, other: Any) -> bool:
        if self.is_set:
            return all(item in other for item in one) and all(item in one for item in other)
        return bool(one == other)

    def __repr__(self) -> str:
        return f"Tightens.{self.name}"

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Let Pydantic ask `check` once it has the field's type; where that is a tuple, a JSON list will do."""
        inner = handler(source)
        if inner["type"] == "tuple":  # whatever reads lists by itself has another type
            inner = core_schema.no_info_before_validator_function(_convert_list_to_tuple, inner)
        return core_schema.no_info_after_validator_function(self.check, inner)

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Say in JSON Schema which values there are, where they are a closed list."""
        said = handler(core)
        if self.values:
            (said.setdefault("items", {}) if self.is_set else said)["enum"] = [*self.values]
        return said


def explain_unknown_name(name: str, names: Sequence[str]) -> str | None:
    """Say that there is nothing of a name, what there is, and what may have been meant; None where there is."""
    if name in names:
        return None
    more = f" and {len(names) - SHOWN_NAMES} more" if len(names) > SHOWN_NAMES else ""
    near = get_close_matches(name[:80], names[:1000], n=1)
    hint = f"; did you mean {near[0]!r:.80}?" if near else ""
    return f"there are {', '.join(names[:SHOWN_NAMES]) or 'none'}{more}; given: {name!r:.80}{hint}"


def _convert_list_to_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _validate_limit_number(value: Any) -> Any:
    if value is None:  # no limit, if the field's type lets it through
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError("a finite number is required")
    return value + 0  # -0.0 is the same setting as 0.0


def _validate_setting_names(value: Any) -> Any:
    if not isinstance(value, tuple):
        raise ValueError("a list is required, and a tuple as the field's type")
    return tuple(dict.fromkeys(value))


def _validate_setting_flag(value: Any) -> Any:
    if not isinstance(value, bool):
        raise ValueError("true or false is required")
    return value


def _validate_plain_setting(value: Any) -> Any:
    if (problem := find_json_problem(list(value) if isinstance(value, tuple) else value)) is not None:
        raise ValueError(f"plain JSON is required, not {problem}")
    return value


def tighten_if_set(choose: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Return what tightens two values as `choose` does, where None is no limit and gives way."""

    def tighten_values(ours: Any, theirs: Any) -> Any:
        if ours is None or theirs is None:
            return theirs if ours is None else ours
        return choose(ours, theirs)

    return tighten_values


def intersect_settings(ours: tuple[Any, ...], theirs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return what both lists name."""
    return tuple(item for item in ours if item in theirs)


def _intersect_by(identify: Callable[[str], str | None]) -> Callable[[Any, Any], Any]:
    def intersect_identified(ours: tuple[str, ...], theirs: tuple[str, ...]) -> tuple[str, ...]:
        named = {identify(name) for name in theirs}
        return tuple(name for name in ours if identify(name) in named)

    return intersect_identified


def _unite_settings(ours: tuple[Any, ...], theirs: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(dict.fromkeys([*ours, *theirs]))


def _make_list_kind(
    name: str, how: Callable[[Any, Any], Any], problem: Problem | None = None, names: Sequence[str] | None = None
) -> Tightens:
    if names is not None:  # a closed list
        problem = partial(explain_unknown_name, names=names)
    return Tightens(name, how, _validate_setting_names, is_set=True, problem=problem, values=names or ())


Tightens.smallest = Tightens("smallest", tighten_if_set(min), _validate_limit_number)
Tightens.largest = Tightens("largest", tighten_if_set(max), _validate_limit_number)
Tightens.intersection = _make_list_kind("intersection", intersect_settings)
Tightens.hosts = _make_list_kind("hosts", _intersect_by(normalise_host), find_host_problem)
Tightens.scopes = _make_list_kind("scopes", meet_scopes, find_scope_problem)
Tightens.links = _make_list_kind("links", _intersect_by(normalise_link), find_link_problem)
Tightens.union = _make_list_kind("union", _unite_settings)
Tightens.denied_scopes = _make_list_kind("denied_scopes", unite_scopes, find_scope_problem)
Tightens.either = Tightens("either", lambda ours, theirs: ours or theirs, _validate_setting_flag)
Tightens.both = Tightens("both", lambda ours, theirs: ours and theirs, _validate_setting_flag)
Tightens.fixed = Tightens("fixed", lambda ours, theirs: ours, _validate_plain_setting, is_fixed=True)


def union_of(problem: Problem) -> Tightens:
    """Return the kind of a list of which both hold, and whose items are of a form."""
    return _make_list_kind("union", _unite_settings, problem)

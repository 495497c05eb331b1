"""Settings that a deployment fixes and a run's context may only tighten.

Every field says in its type how it tightens: a `MaxInt` takes the smaller value, a `MinFloat` the larger, an
`Allowlist` the intersection, a `Vocabulary` of things to watch for the union, a `Check` is on if either says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Generic, Self, TypeAlias, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from guardgraph.state.errors import ConfigurationError

__all__ = [
    "Allowlist",
    "Budget",
    "Check",
    "Context",
    "MaxFloat",
    "MaxInt",
    "MinFloat",
    "Settings",
    "Vocabulary",
    "configuration_error",
    "settings_or",
]


class Tightens:
    """How one field of two settings becomes one value that neither side loosens."""

    def __init__(self, how: Callable[[Any, Any], Any]) -> None:
        self.how = how


def _strings(value: object) -> object:
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return tuple(dict.fromkeys(value))
    raise ValueError("a list of strings is required")


def _intersect(ours: tuple[str, ...], theirs: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(item for item in ours if item in theirs)


def _unite(ours: tuple[str, ...], theirs: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*ours, *theirs]))


MaxInt: TypeAlias = Annotated[int, Field(strict=True, ge=0), Tightens(min)]
"""A ceiling, a whole number; the smaller one holds."""

MaxFloat: TypeAlias = Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False), Tightens(min)]
"""A ceiling; the smaller one holds."""

MinFloat: TypeAlias = Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False), Tightens(max)]
"""A floor; the larger one holds."""

Allowlist: TypeAlias = Annotated[tuple[str, ...], BeforeValidator(_strings), Tightens(_intersect)]
"""What is allowed, exact strings; an empty list allows nothing; only what both lists name holds."""

Vocabulary: TypeAlias = Annotated[tuple[str, ...], BeforeValidator(_strings), Tightens(_unite)]
"""What a check watches for; a longer list catches more, so both lists hold."""

Check: TypeAlias = Annotated[bool, Field(strict=True), Tightens(lambda ours, theirs: ours or theirs)]
"""Whether a check runs; on if either says so."""


class Settings(BaseModel):
    """The base of every policy and budget: frozen, no unknown fields, tightened field by field."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        """Refuse a field whose type does not say how it tightens."""
        super().__pydantic_init_subclass__(**kwargs)
        for name in cls.model_fields:
            cls._rule(name)

    @classmethod
    def _rule(cls, name: str) -> Tightens:
        for item in cls.model_fields[name].metadata:
            if isinstance(item, Tightens):
                return item
        raise TypeError(
            f"{cls.__name__}.{name}: a setting is a MaxInt, MaxFloat, MinFloat, Allowlist, Vocabulary or Check"
        )

    def tightened_by(self, overlay: Self | None) -> Self:
        """Return these settings, tightened by the fields that the overlay sets.

        Args:
            overlay: settings of the same class; fields left at their default do not count.
        """
        if overlay is None or not overlay.model_fields_set:
            return self
        return self.model_copy(
            update={
                name: self._rule(name).how(getattr(self, name), getattr(overlay, name))
                for name in overlay.model_fields_set
            }
        )


SettingsT = TypeVar("SettingsT", bound=Settings)


def settings_or(default: SettingsT, given: SettingsT | None, slot: str) -> SettingsT:
    """Return what a factory was given as settings, or the default where nothing was.

    Args:
        default: what holds when nothing is given; its class is the one that is required.
        given: the argument.
        slot: the argument's name, for the error.

    Raises:
        ConfigurationError: something else was given.
    """
    if given is None:
        return default
    if not isinstance(given, type(default)):
        raise ConfigurationError(f"{slot}: a {type(default).__name__} is required; given: {type(given).__name__}")
    return given


class Budget(Settings):
    """What every pattern's budget has."""

    max_seconds: MaxFloat = 60.0
    """Seconds that a run may be active, summed over resumes."""


PolicyT = TypeVar("PolicyT", bound=Settings)
BudgetT = TypeVar("BudgetT", bound=Budget)


class Context(BaseModel, Generic[PolicyT, BudgetT]):
    """What one run gives through LangGraph's context: it can only tighten the deployment's settings."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    policy: PolicyT | None = None
    """Fields of the policy; those left out stay the deployment's."""
    budget: BudgetT | None = None
    """Fields of the budget; those left out stay the deployment's."""

    @classmethod
    def within(cls, given: object) -> Self | None:
        """Return what a context says to this graph, None where it says nothing.

        A graph inside another one is handed the other's context: of a dictionary it takes `policy` and `budget`, and
        any other object is not meant for it.

        Args:
            given: a context of this class, a dictionary, or another graph's context.

        Raises:
            ConfigurationError: what the dictionary says of policy or budget has unknown fields or wrong types.
        """
        if isinstance(given, cls):
            return given
        if not isinstance(given, Mapping):
            return None
        try:
            return cls(**{name: given[name] for name in cls.model_fields if name in given})
        except ValidationError as error:
            raise configuration_error("context", error) from None


def configuration_error(what: str, error: ValidationError) -> ConfigurationError:
    """Say in one line per field what was given and what is allowed.

    Args:
        what: what was being read, such as ``"context"``.
        error: Pydantic's findings.
    """
    lines = [
        f"{what}.{'.'.join(str(part) for part in item['loc'])}: {_allowed(item)}; given: {_shown(item['input'])}"
        for item in error.errors(include_url=False)
    ]
    return ConfigurationError("\n".join(lines))


def _allowed(item: Any) -> str:
    if item["type"] == "extra_forbidden":
        return "no such setting"
    return str(item["msg"]).removeprefix("Value error, ")


def _shown(value: object) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, int) and value.bit_length() > 64:  # Python refuses to print the longest
        return "a whole number of more than 64 bits"
    if isinstance(value, str | bool | int | float | None):
        return repr(value)[:80]
    return type(value).__name__

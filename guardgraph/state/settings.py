"""Settings that a deployment fixes and a run's context may only tighten.

Every field says in its type how it tightens: a `MaxInt` takes the smaller value, a `MinFloat` the larger, an
`Allowlist` the intersection, a `Vocabulary` of things to watch for the union, a `Check` is on if either says so. Other
kinds are made with `Tightens`.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from itertools import pairwise
from textwrap import dedent
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Literal, NamedTuple, Self, TypeAlias, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic.functional_validators import ModelWrapValidatorHandler
from pydantic_core import InitErrorDetails, PydanticCustomError

from guardgraph.plain.errors import ConfigurationError, format_given_value, format_validation_lines
from guardgraph.plain.hashing import digest
from guardgraph.plain.json import INPUT_BYTES, INT_LIMIT, REPLY_BYTES, JsonObject, JsonValue, find_json_problem
from guardgraph.plain.tables import format_html_table
from guardgraph.state.spending import Price
from guardgraph.state.tightening import Compared, Problem, Tightens

MOST_NAMES = 100_000  # names that a list of a setting may have
LONGEST_NAME = 10_000  # characters of each


def _validate_setting_strings(value: object) -> object:
    if not isinstance(value, Sequence) or isinstance(value, str | bytes | bytearray | memoryview):
        raise ValueError("a list of strings is required")
    for number, item in enumerate(value, 1):
        if not isinstance(item, str):
            raise ValueError(f"a list of strings is required, and item {number} is {format_given_value(item)}")
    if len(value) > MOST_NAMES or any(len(item) > LONGEST_NAME for item in value):
        raise ValueError(f"a list of at most {MOST_NAMES} strings of at most {LONGEST_NAME} characters is required")
    return tuple(value)


MaxInt: TypeAlias = Annotated[int, Field(ge=0, lt=INT_LIMIT), Tightens.smallest]
"""A ceiling, a whole number of 64 bits, as documents of runs have them; the smaller one holds."""

MaxFloat: TypeAlias = Annotated[float, Field(ge=0, allow_inf_nan=False), Tightens.smallest]
"""A ceiling; the smaller one holds."""

MinFloat: TypeAlias = Annotated[float, Field(ge=0, allow_inf_nan=False), Tightens.largest]
"""A floor; the larger one holds."""

OptionalMaxInt: TypeAlias = Annotated[int | None, Field(ge=0, lt=INT_LIMIT), Tightens.smallest]
"""A ceiling that there need not be, a whole number of 64 bits; the smaller one holds, and None gives way."""

OptionalMaxFloat: TypeAlias = Annotated[float | None, Field(ge=0, allow_inf_nan=False), Tightens.smallest]
"""A ceiling that there need not be; the smaller one holds, and None gives way."""

if TYPE_CHECKING:  # the type of a field is that of its argument: a list is as good as the tuple that is kept
    _Texts: TypeAlias = Sequence[str]
else:
    _Texts = tuple[str, ...]

Names: TypeAlias = Annotated[_Texts, BeforeValidator(_validate_setting_strings)]
"""A list of strings, which has still to say how it tightens: any sequence may be given, and a tuple is kept."""

Allowlist: TypeAlias = Annotated[Names, Tightens.intersection]
"""What is allowed, exact strings; an empty list allows nothing; only what both lists name holds."""

Hosts: TypeAlias = Annotated[Names, Tightens.hosts]
"""Hosts that are allowed, exact, without scheme, port or path; as an `Allowlist` otherwise."""

Scopes: TypeAlias = Annotated[Names, Tightens.scopes]
"""Hosts that are allowed: a host alone, ``domain:NAME`` or ``suffix:NAME``; of two that overlap the narrower holds."""

DeniedScopes: TypeAlias = Annotated[Names, Tightens.denied_scopes]
"""Hosts that are denied, in the spellings of `Scopes`; what an entry of either list means is denied."""

Links: TypeAlias = Annotated[Names, Tightens.links]
"""Hosts, URLs and mail addresses that are allowed; as an `Allowlist` otherwise."""

Markup: TypeAlias = Annotated[Names, Tightens.among("html", "images", "scripts")]
"""Active markup that is allowed; only what both lists name holds."""

Vocabulary: TypeAlias = Annotated[Names, Tightens.union]
"""What a check watches for, or what is denied; a longer list catches more, so both lists hold."""

Check: TypeAlias = Annotated[bool, Tightens.either]  # whether a check runs; on if either says so


@dataclass(frozen=True, slots=True)
class Live:
    """Marks a field that an operator may tighten while runs go on, by a live policy."""


LIVE: Final = Live()  # the mark of such a field


UnsureText: TypeAlias = Annotated[Literal["allow", "refuse"], Tightens.ordered("allow", "refuse")]
"""Whether a page may be evidence whose reader is unsure of its text; "refuse" holds if either says so."""


class Settings(BaseModel):
    """The base of every policy and budget: frozen, strict, no unknown fields, tightened field by field."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)

    filled: ClassVar[tuple[str, ...]] = ()
    """Fields that a factory fills where they are left out, so that their default says nothing."""

    @model_validator(mode="wrap")
    @classmethod
    def _name_allowed_fields(cls, given: Any, validate: ModelWrapValidatorHandler[Self]) -> Self:
        """Say beside a name that no field has which names there are, the nearest first."""
        try:
            return validate(given)
        except ValidationError as error:
            found = error.errors(include_url=False)
            unknown = [item["type"] == "extra_forbidden" and len(item["loc"]) == 1 for item in found]
            if not any(unknown):
                raise
        told = (cls._tell_allowed(item) if own else item["msg"] for item, own in zip(found, unknown, strict=True))
        details = [
            InitErrorDetails(type=PydanticCustomError(item["type"], message), loc=item["loc"], input=item["input"])
            for item, message in zip(found, told, strict=True)
        ]
        raise ValidationError.from_exception_data(cls.__name__, details)

    @classmethod
    def _tell_allowed(cls, item: Any) -> str:
        names = [*cls.model_fields]
        allowed = dict.fromkeys([*get_close_matches(str(item["loc"][0]), names), *names])
        return f"no such setting; allowed: {', '.join(allowed)}"

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        """Refuse a field whose type does not say, once, how it tightens, or whose default its own type refuses."""
        super().__pydantic_init_subclass__(**kwargs)
        for name in cls.model_fields:
            cls.get_tightening_rule(name)
        if cls.__module__.startswith("guardgraph."):  # ours are right, and built when they are first used
            return
        told = {name: field for name, field in cls.model_fields.items() if field.default_factory is None}
        try:
            cls.model_validate({name: field.default for name, field in told.items() if not field.is_required()})
        except ValidationError as error:
            if wrong := [item for item in error.errors(include_url=False) if item["type"] != "missing"]:
                raise TypeError("\n".join(format_validation_lines(cls.__name__, wrong))) from None

    @classmethod
    def get_tightening_rule(cls, name: str) -> Tightens:
        """Return how a field tightens."""
        rules = [item for item in cls.model_fields[name].metadata if isinstance(item, Tightens)]
        if len(rules) == 1:
            return rules[0]
        kinds = "a MaxInt, MaxFloat, MinFloat, Allowlist, Vocabulary or Check, or its type is Annotated with a Tightens"
        told = f"tightens in one way; given: {', '.join(map(repr, rules))}" if rules else f"is {kinds}"
        raise TypeError(f"{cls.__name__}.{name}: a setting {told}")

    @field_validator("*")
    @classmethod
    def _validate_storable_text(cls, value: Any) -> Any:
        for text in _list_setting_texts(value):
            if (problem := find_json_problem(text)) is not None:
                raise ValueError(f"a text that can be stored is required, not {problem}")
        return value

    @property
    def fingerprint(self) -> str:
        """The SHA-256 of the settings, 64 hex digits: the same for any order of fields, and of lists without one."""
        return digest(self.order_settings(self.plain()))

    @classmethod
    def order_settings(cls, said: JsonObject) -> JsonObject:
        """Return settings as plain JSON with lists sorted in which order means nothing."""
        return {name: cls.get_tightening_rule(name).order(item) for name, item in said.items()}

    @classmethod
    def describe_fields(cls) -> dict[str, str]:
        """Return what each field is, in the words that stand below it in the source.

        They are read when somebody asks for them: Pydantic would parse the files of all settings at every import.
        """
        said = {name: text for part in reversed(cls.__mro__) for name, text in _read_field_docs(part).items()}
        return {name: said[name] for name in cls.model_fields if name in said}

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: GetJsonSchemaHandler) -> JsonObject:
        """Return the JSON Schema of the settings, with what each field is."""
        made = handler(core_schema)
        properties = handler.resolve_ref_schema(made).get("properties", {})
        for name, text in cls.describe_fields().items():
            properties[name].setdefault("description", text)
        return made

    def _repr_html_(self) -> str:
        rows = ((name, value, self.get_tightening_rule(name)) for name, value in self.plain().items())
        return format_html_table(type(self).__name__, ("setting", "value", "tightens"), rows)

    def plain(self) -> JsonObject:
        """Return the settings as plain JSON, those too that nobody validated."""
        return self.model_dump(mode="json", warnings=False)

    def tightened_by(self, overlay: Self | None) -> Self:
        """Return these settings, tightened by the fields that the overlay sets.

        A field that is left out here for a factory to fill, and that none filled, says nothing: the overlay's holds.

        Args:
            overlay: settings of the same class; fields left at their default do not count.
        """
        if overlay is None or not overlay.model_fields_set:
            return self
        return self.model_copy(
            update={
                name: getattr(overlay, name)
                if self.is_open(name)
                else self.get_tightening_rule(name).how(getattr(self, name), getattr(overlay, name))
                for name in overlay.model_fields_set
            }
        )

    def compared(self, other: Self) -> dict[str, Compared]:
        """Say of every field what its value in other settings of the same class is beside ours."""
        return {
            name: self.get_tightening_rule(name).compared(getattr(self, name), getattr(other, name))
            if self.is_open(name) == other.is_open(name)
            else "other"
            for name in type(self).model_fields
        }

    @classmethod
    def find_name_problem(cls, field: str, name: str) -> str | None:
        """Say why a name can stand in no list of a field, None where it can."""
        if len(name) > LONGEST_NAME:
            return f"a name of at most {LONGEST_NAME} characters is required; given: {len(name)}"
        if (problem := find_json_problem(name)) is not None:
            return f"a text that can be stored is required, not {problem}"
        said = cls.get_tightening_rule(field).problem
        return None if said is None else said(name)

    def compared_by_name(self, other: Self) -> dict[str, list[NamedDifference]]:
        """Say of every setting under a name, such as the rule of a tool, what another's value is beside ours; by field.

        Args:
            other: settings of the same class.
        """
        rules = {name: self.get_tightening_rule(name) for name in type(self).model_fields}
        return {
            name: [*rule.list_compared(getattr(self, name), getattr(other, name))]
            for name, rule in rules.items()
            if isinstance(rule, TightensByName)
        }

    @classmethod
    def list_live_fields(cls) -> list[str]:
        """Return the fields that a live policy may tighten."""
        return [name for name, field in cls.model_fields.items() if LIVE in field.metadata]

    def is_open(self, name: str) -> bool:
        """Say whether a factory will fill a field, since it is left out."""
        return name in self.filled and name not in self.model_fields_set

    def not_taken(self, overlay: Self) -> dict[str, Any]:
        """Return what an overlay asks for and does not get, since it would loosen; by field."""
        return overlay.list_missing(self.tightened_by(overlay))

    def list_missing(self, holds: Self) -> dict[str, Any]:
        """Return what these settings say and settings that hold do not give; by field."""
        asked = {
            name: self.get_tightening_rule(name).not_taken(getattr(self, name), getattr(holds, name))
            for name in type(self).model_fields
            if name in self.model_fields_set
        }
        return {name: value for name, value in asked.items() if value is not None}

    def check_listed(self, where: str, problems: Mapping[str, Problem] | None = None) -> None:
        """Refuse names that can name nothing, such as a host with a path.

        Args:
            where: what the settings are, for the error, such as ``"policy"``.
            problems: by field, what says why a name can name nothing; what their types say when None.

        Raises:
            ConfigurationError: a line for every such name.
        """
        _raise_settings_error(where, self.wrong_names(problems))

    def check_overlay(self, overlay: Self | None, where: str) -> None:
        """Refuse an overlay that names another value for what these settings fix, or what can name nothing.

        Raises:
            ConfigurationError: a line for every such field and name of the overlay, which `where` names.
        """
        _raise_settings_error(where, self.wrong_overlay(overlay))

    def wrong_names(self, problems: Mapping[str, Problem] | None = None) -> Iterator[tuple[str, str]]:
        """Yield fields with what is wrong in them: names that can name nothing; see `check_listed`."""
        for field, problem in (self._list_name_problems() if problems is None else problems).items():
            # none where it was made without validation: its guard stops
            for name in _list_setting_texts(getattr(self, field)):
                if (said := problem(name)) is not None:
                    yield field, said
        if problems is None:
            yield from self._check_named_settings(lambda ours, _: ours.wrong_names(), self)

    def wrong_overlay(self, overlay: Self | None) -> Iterator[tuple[str, str]]:
        """Yield fields of an overlay with what is wrong in them; see `check_overlay`."""
        if not isinstance(overlay, type(self)):  # made without validation: the first guard cannot read it, and stops
            return
        for name in sorted(overlay.model_fields_set):
            ours, theirs = getattr(self, name), getattr(overlay, name)
            if self.get_tightening_rule(name).is_fixed and ours != theirs:
                yield name, f"the deployment fixed {format_given_value(ours)}; given: {format_given_value(theirs)}"
        problems = {name: said for name, said in self._list_name_problems().items() if name in overlay.model_fields_set}
        yield from overlay.wrong_names(problems)
        yield from self._check_named_settings(Settings.wrong_overlay, overlay)
        yield from self._check_named_settings(lambda _, theirs: theirs.wrong_names(), overlay)

    def _check_named_settings(
        self, check: Callable[[Settings, Settings], Iterator[tuple[str, str]]], overlay: Settings
    ) -> Iterator[tuple[str, str]]:
        """Yield what is wrong in the settings that fields of an overlay have by name, with their way."""
        for field in sorted(overlay.model_fields_set):
            rule = self.get_tightening_rule(field)
            if isinstance(rule, TightensByName):
                for name, theirs in getattr(overlay, field).items():
                    ours = getattr(self, field).get(name, rule.default)
                    yield from ((f"{field}.{name}.{inner}", said) for inner, said in check(ours, theirs))

    @classmethod
    def _list_name_problems(cls) -> dict[str, Problem]:
        return {name: said for name in cls.model_fields if (said := cls.get_tightening_rule(name).problem) is not None}


class NamedDifference(NamedTuple):
    """What a field of settings that stand under a name is beside that of others."""

    way: str  # the name and the field, such as ``pay.max_calls``
    compared: Compared
    old: JsonValue
    new: JsonValue


class TightensByName(Tightens):
    """How settings that stand under names tighten, such as the rules of tools: those of one name field by field."""

    def __init__(self, default: Settings) -> None:
        super().__init__(f"by_name({type(default).__name__})", self._tighten_named, _validate_setting_table)
        self.default = default

    def _tighten_named(self, ours: Mapping[str, Settings], theirs: Mapping[str, Settings]) -> dict[str, Settings]:
        tightened = {name: ours.get(name, self.default).tightened_by(each) for name, each in theirs.items()}
        return {**ours, **tightened}

    def compared(self, ours: Any, theirs: Any) -> Compared:
        """Say what another table is beside ours: all of its fields count, said or not."""
        said = (each.compared for each in self.list_compared(ours, theirs))
        kinds = {*said} - {"equal"}
        return kinds.pop() if len(kinds) == 1 else "other" if kinds else "equal"

    def list_compared(self, ours: Any, theirs: Any) -> Iterator[NamedDifference]:
        """Yield what every field of every name is beside ours."""
        for name in dict.fromkeys((*ours, *theirs)):
            one, other = ours.get(name, self.default), theirs.get(name, self.default)
            old, new = one.plain(), other.plain()
            for field, said in one.compared(other).items():
                yield NamedDifference(f"{name}.{field}", said, old[field], new[field])

    def order(self, said: JsonValue) -> JsonValue:
        """Return what a fingerprint counts: of each name what is not the default, its sets sorted."""
        ordered = {name: self.default.order_settings(each) for name, each in said.items()}
        default = self.default.order_settings(self.default.plain())
        return {name: each for name, each in ordered.items() if each != default}

    def not_taken(self, asked: Any, holds: Any) -> Any:
        """Return what was asked for and does not hold, by name and field; None if all of it holds."""
        missing = {name: said for name, each in asked.items() if (said := each.list_missing(holds[name]))}
        return missing or None


def _validate_setting_table(value: Any) -> Any:
    if not isinstance(value, Mapping) or len(value) > MOST_NAMES:
        raise ValueError(f"an object of at most {MOST_NAMES} names is required")
    return value


def _raise_settings_error(where: str, wrong: Iterable[tuple[str, str]]) -> None:
    if lines := "\n".join(f"{where}.{field}: {said}" for field, said in wrong):
        raise ConfigurationError(lines)


@cache
def _read_field_docs(settings: type) -> dict[str, str]:
    """Return the texts below the fields of a class; none of one whose source is not kept, such as in a console."""
    if not issubclass(settings, Settings) or settings is Settings:
        return {}
    try:
        [made] = ast.parse(dedent(inspect.getsource(settings))).body
    except (OSError, TypeError, SyntaxError, ValueError):
        return {}
    docs: dict[str, str] = {}
    for field, below in pairwise(getattr(made, "body", ())):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(below, ast.Expr):
            text = below.value.value if isinstance(below.value, ast.Constant) else None
            if isinstance(text, str):
                docs[field.target.id] = inspect.cleandoc(text)
    return docs


def _list_setting_texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from _list_setting_texts([*value.keys(), *value.values()])
    elif isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from _list_setting_texts(item)


SettingsT = TypeVar("SettingsT", bound=Settings)


def choose_settings(default: SettingsT, given: SettingsT | None, slot: str) -> SettingsT:
    """Return what a factory was given as settings, or the default where nothing was."""
    if given is None:
        return default
    if not isinstance(given, type(default)):
        raise ConfigurationError(f"{slot}: a {type(default).__name__} is required; given: {type(given).__name__}")
    return given


class Policy(Settings):
    """What the policies of our patterns have; one of your own may derive from it, or be plain `Settings`."""

    audit_required: Check = False
    """A run must be recorded; one that is not ends in ``stop_audit_unavailable``, without its answer."""
    enabled: Annotated[bool, Tightens.both, LIVE] = True
    """Whether runs go on; where it is false each of them stops at its next guard."""


class TextPolicy(Policy):
    """What the policies of patterns have in which a model writes for readers."""

    known_links: Links = ()
    """Hosts, URLs and mail addresses that any text may have, such as the deployment's own; a host is all its pages."""
    markup: Markup = ()
    """Active markup that a text may have: ``html``, ``images``, ``scripts``; their links are judged all the same."""


class Budget(Settings):
    """What every pattern's budget has."""

    max_seconds: MaxFloat = 60.0
    """Seconds that a run may be active, summed over resumes."""
    max_visits: MaxInt = 1000
    """Nodes, summed over resumes, after which no further step begins; it ends a run that goes in circles."""
    max_attempts: Annotated[MaxInt, Field(ge=1)] = 2
    """How often a proposer may be asked for one proposal, the first time included."""
    max_reply_bytes: MaxInt = REPLY_BYTES
    """Bytes that one reply of a proposer or one result of a tool may have as JSON text (UTF-8)."""
    max_input_bytes: MaxInt = INPUT_BYTES
    """Bytes that each field of the input may have as JSON text (UTF-8)."""
    max_llm_calls: OptionalMaxInt = None
    """Calls of models in a run; None for no limit."""
    max_tool_calls: OptionalMaxInt = None
    """Calls of tools in a run; None for no limit."""
    max_tokens: OptionalMaxInt = None
    """Tokens that models may use up in a run, shown and written; None for no limit."""
    max_cost: OptionalMaxFloat = None
    """What these may cost, in the currency of `prices`; a model without a price is not asked. None for no limit."""
    max_output_tokens: Annotated[int | None, Field(ge=1, lt=INT_LIMIT), Tightens.smallest] = None
    """Tokens that a model may write in one reply. It is sent to the model, and reserved for each of its calls; without
    it a call may use up more than is left. None for a bound by what is proposed, of which nothing is reserved."""
    prices: Annotated[dict[str, Price], Tightens.fixed] = {}
    """What a million tokens of models cost, ``{input, output}``, by the models' names; `library_prices` makes such a
    table."""


OnLimit: TypeAlias = Annotated[Literal["stop", "partial"], Tightens.ordered("partial", "stop")]
"""What becomes of a run whose budget ends; "stop" holds if either says so."""


class ReservingBudget(Budget):
    """What budgets have of which a part may be kept for one last answer; see `OnLimit`."""

    reserve_seconds: Annotated[float, Field(ge=0, allow_inf_nan=False), Tightens.fixed] = 5.0
    """Of max_seconds, kept for the last answer where `on_limit` is "partial"."""
    reserve_calls: Annotated[int, Field(ge=0, lt=INT_LIMIT), Tightens.fixed] = 2
    """Of max_llm_calls, kept for it: one writes it, and one is a verifier's."""
    reserve_tokens: Annotated[int, Field(ge=0, lt=INT_LIMIT), Tightens.fixed] = 8_000
    """Of max_tokens, kept for it."""

    def hold_back(self) -> Self:
        """Return this budget without what is kept for the last answer."""
        kept = {name: max(most - reserve, 0) for name, most, reserve in self._list_reserves()}
        return self.model_copy(update=kept)

    def check_reserve(self) -> None:
        """Refuse, with a ConfigurationError, a reserve that is not smaller than what it is kept of."""
        for name, most, reserve in self._list_reserves():
            if reserve >= most:
                kept = RESERVES[name]
                allowed = f"less than {name} ({most:g}), of which it is kept for on_limit: partial"
                raise ConfigurationError(f"budget.{kept}: {allowed}; given: {reserve:g}")

    def _list_reserves(self) -> list[tuple[str, float, float]]:
        limits = [(name, getattr(self, name), getattr(self, kept)) for name, kept in RESERVES.items()]
        return [limit for limit in limits if limit[1] is not None]


RESERVES: Final = {"max_seconds": "reserve_seconds", "max_llm_calls": "reserve_calls", "max_tokens": "reserve_tokens"}
"""Limits of which a budget keeps something for the last answer of a run that one of them ends."""


PolicyT = TypeVar("PolicyT", bound=Settings)
BudgetT = TypeVar("BudgetT", bound=Budget)

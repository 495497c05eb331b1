"""A file with the policy and the budget of a pattern, what tenants tighten of them, and its JSON Schema for editors."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Generic, TypeAlias, overload

from pydantic import ValidationError

from guardgraph.formats.yaml import (
    ENDINGS,
    SHOWN_FINDINGS,
    Place,
    SettingsDocument,
    WrongText,
    parse_yaml,
    read_settings_text,
)
from guardgraph.graphs.patterns import PATTERNS
from guardgraph.plain.errors import ConfigurationError, list_validation_findings
from guardgraph.plain.json import JsonObject, find_json_problem
from guardgraph.state.research import ResearchPolicy
from guardgraph.state.settings import Budget, BudgetT, PolicyT, Settings
from guardgraph.state.tightening import explain_unknown_name
from guardgraph.state.tools import ArgumentRule, ToolRule
from guardgraph.state.trust import TrustEntry

SECTIONS = ("policy", "budget")
FIELDS = ("pattern", *SECTIONS, "tenants")
NAMES_FILE = "file"
"""Key of what stands in place of a list of names: where the names are, relative to the policy's file."""

Classes: TypeAlias = "tuple[type[Settings], type[Budget]]"


@dataclass(frozen=True, slots=True)
class Overlay(Generic[PolicyT, BudgetT]):
    """What a tenant tightens: fields that it leaves out stay the file's."""

    policy: PolicyT
    budget: BudgetT


@dataclass(frozen=True, slots=True)
class PolicyFile(Generic[PolicyT, BudgetT]):
    """What a policy file says; `load_policy` reads one."""

    pattern: str  #: the pattern that it is for
    policy: PolicyT
    budget: BudgetT
    tenants: Mapping[str, Overlay[PolicyT, BudgetT]] = field(default_factory=lambda: MappingProxyType({}))
    """What tenants tighten, by their names."""

    def settings(self, tenant: str | None = None) -> dict[str, Any]:
        """Return what a factory is given, ``{"policy": ..., "budget": ...}``: ``create_rag_agent(**file.settings())``.

        Args:
            tenant: whose overlay tightens them; nobody's when None. A ConfigurationError says that there is none.
        """
        if tenant is None:
            return {"policy": self.policy, "budget": self.budget}
        if not self.tenants:
            raise ConfigurationError(f"tenant: this file has no tenants; given: {tenant!r:.80}")
        if (problem := explain_unknown_name(tenant, [*self.tenants])) is not None:
            raise ConfigurationError(f"tenant: {problem}")
        overlay = self.tenants[tenant]
        return {"policy": self.policy.tightened_by(overlay.policy), "budget": self.budget.tightened_by(overlay.budget)}


@overload
def load_policy(
    path: str | Path, *, policy: type[PolicyT], budget: type[BudgetT], pattern: str | None = None
) -> PolicyFile[PolicyT, BudgetT]: ...
@overload
def load_policy(path: str | Path, *, pattern: str | None = None) -> PolicyFile[Any, Any]: ...
def load_policy(
    path: str | Path,
    *,
    policy: type[Settings] | None = None,
    budget: type[Budget] | None = None,
    pattern: str | None = None,
) -> PolicyFile[Any, Any]:
    """Read the settings of a pattern from a YAML file.

    Args:
        path: a file that ends in .yaml or .yml: UTF-8, at most 1 MB. A list of names may stand in a file of its
            own, beside it.
        policy: the class of a pattern's own policy; a shipped pattern has its own.
        budget: the class of a pattern's own budget.
        pattern: the pattern that the file has to be for; any when None.

    Raises:
        ConfigurationError: the file cannot be read, or something in it is wrong: a line for every finding, with file,
            line, field, what was given and what is allowed.
    """
    if not isinstance(path, str | Path):
        raise ConfigurationError(f"path: a file's name is required; given: {type(path).__name__}")
    if (policy is None) != (budget is None):
        raise ConfigurationError("policy, budget: give both classes, or neither")
    return read_policy(path, pattern=pattern, classes=None if policy is None or budget is None else (policy, budget))


def read_policy(
    path: str | Path,
    *,
    pattern: str | None = None,
    classes: Classes | None = None,
    own: Callable[[], Classes] | None = None,
) -> PolicyFile[Any, Any]:
    """Read the settings of a pattern from a file; see `load_policy`."""
    return _PolicyFileReader(_parse_policy_file(path), Path(path).parent).read_policy_file(pattern, classes, own)


def read_policy_in_folder(folder: str | Path, pattern: str) -> PolicyFile[Any, Any] | None:
    """Read a pattern's file in a folder: ``rag.yaml`` and the like; None where there is none."""
    try:
        names = sorted(entry.name for entry in Path(folder).iterdir())
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"a folder that can be read is required: {error}") from None
    found = [name for name in names if Path(name).stem == pattern and Path(name).suffix.lower() in ENDINGS]
    if len(found) > 1:
        raise ConfigurationError(f"{str(folder)!r}: one file of {pattern} is required; given: {', '.join(found)}")
    return read_policy(Path(folder) / found[0], pattern=pattern) if found else None


def _parse_policy_file(path: str | Path) -> SettingsDocument:
    name = repr(str(path))[1:-1][:200]
    if Path(path).suffix.lower() not in ENDINGS:
        raise ConfigurationError(f"{name}: a file that ends in .yaml or .yml is required")
    try:
        value, lines = parse_yaml(read_settings_text(path))
    except WrongText as error:
        where = name if error.line is None else f"{name}:{error.line}"
        raise ConfigurationError(f"{where}: {error}") from None
    return SettingsDocument(name, value, lines)


class _PolicyFileReader:
    """Settings out of a document; what is wrong in it is collected, so that one look says all of it."""

    def __init__(self, document: SettingsDocument, folder: Path) -> None:
        self.document = document
        self.folder = folder
        self.found: list[tuple[Place, str]] = []

    def read_policy_file(
        self, pattern: str | None, classes: Classes | None, own: Callable[[], Classes] | None
    ) -> PolicyFile[Settings, Budget]:
        if not isinstance(self.document.value, dict | None):
            raise self.document.error([((), f"a mapping is required; given: {type(self.document.value).__name__}")])
        fields = self._read_policy_fields(self.document.value, (), FIELDS)
        named = self._read_pattern_name(fields.get("pattern"), pattern, is_own=classes is not None or own is not None)
        self._raise_policy_errors()
        both = classes or (PATTERNS[named].settings_classes if own is None or named in PATTERNS else own())
        ours = self._read_overlay(fields, (), both)
        tenants = dict[str, Overlay[Any, Any]]()
        for tenant, given in self._read_policy_mapping(fields.get("tenants"), ("tenants",)).items():
            place = ("tenants", tenant)
            if (problem := find_json_problem(tenant)) is not None or not tenant.strip():
                self.found.append((place, f"a name is required, not {problem or 'a blank one'}"))
            tenants[tenant] = self._read_overlay(self._read_policy_fields(given, place, SECTIONS), place, both)
        self._raise_policy_errors()
        for name in SECTIONS:
            settings = getattr(ours, name)
            self.found.extend(((name, place), said) for place, said in settings.wrong_names())
            for tenant, overlay in tenants.items():
                theirs = getattr(overlay, name)
                wrong = [*settings.wrong_overlay(theirs)]
                for open_one in settings.filled:  # of which only the factory knows what an overlay would narrow
                    if settings.is_open(open_one) and not theirs.is_open(open_one):
                        required = f"{name}.{open_one} is required too: an overlay narrows what the file says"
                        wrong.append((open_one, required))
                self.found.extend((("tenants", tenant, name, place), said) for place, said in wrong)
        self._raise_policy_errors()
        return PolicyFile(named, ours.policy, ours.budget, MappingProxyType(tenants))

    def _raise_policy_errors(self) -> None:
        if self.found:
            raise self.document.error(self.found)

    def _read_pattern_name(self, given: Any, wanted: str | None, *, is_own: bool) -> str:
        place = ("pattern",)
        if not isinstance(given, str) or not given.strip():
            self.found.append((place, f"a name is required, such as {', '.join(PATTERNS)}; given: {given!r:.80}"))
        elif wanted is not None and given != wanted:
            self.found.append((place, f"{wanted} is required; given: {given!r:.80}"))
        elif not is_own and (problem := explain_unknown_name(given, [*PATTERNS])) is not None:
            self.found.append((place, f"{problem}; one of your own needs the classes of its settings, or --graph"))
        return str(given)

    def _read_policy_mapping(self, value: Any, place: Place) -> dict[str, Any]:
        if isinstance(value, dict):
            return value
        if value is not None:
            self.found.append((place, f"a mapping is required; given: {type(value).__name__}"))
        return {}

    def _read_policy_fields(self, value: Any, place: Place, names: Iterable[str]) -> dict[str, Any]:
        given, known = self._read_policy_mapping(value, place), [*names]
        unknown = [key for key in given if key not in known]
        for key in unknown[: SHOWN_FINDINGS + 1]:
            self.found.append(((*place, key), f"no such field; {explain_unknown_name(key, known)}"))
        return {key: given[key] for key in known if key in given}

    def _read_overlay(self, fields: dict[str, Any], place: Place, classes: Classes) -> Overlay[Any, Any]:
        pairs = zip(SECTIONS, classes, strict=True)
        return Overlay(*(self._read_settings(fields.get(name), (*place, name), of) for name, of in pairs))

    def _read_settings(self, value: Any, place: Place, of: type[Settings]) -> Settings | None:
        fields = self._read_policy_fields(value, place, of.model_fields)
        for name, given in fields.items():
            if isinstance(given, dict) and of.get_tightening_rule(name).is_set:
                fields[name] = self._read_names_file(given, (*place, name), of)
            elif isinstance(given, dict) and of.get_tightening_rule(name).of_entries:
                fields[name] = self._read_entries_file(given, (*place, name), of)
        try:
            return of.model_validate(fields)
        except ValidationError as error:
            self.found.extend(((*place, *where), said) for where, said in list_validation_findings(error))
            return None

    def _read_file_name(self, given: dict[str, Any], place: Place, of: str) -> str | None:
        path = self._read_policy_fields(given, place, [NAMES_FILE]).get(NAMES_FILE)
        if isinstance(path, str) and path.strip():
            return path
        self.found.append(((*place, NAMES_FILE), f"the path of a file of {of} is required; given: {path!r:.80}"))
        return None

    def _read_entries_file(self, given: dict[str, Any], place: Place, of: type[Settings]) -> Any:
        """Return the entries of a file of its own, a mapping whose one key is the field's name."""
        if (path := self._read_file_name(given, place, "entries")) is None:
            return []
        try:
            return read_entries(self.folder / path, str(place[-1]), of)
        except ConfigurationError as error:
            self.found.extend(((*place, NAMES_FILE), line) for line in str(error).splitlines())
            return []

    def _read_names_file(self, given: dict[str, Any], place: Place, of: type[Settings]) -> list[str]:
        """Return the names of a file of its own, a line each; blank lines and those that begin with ``#`` are none."""
        if (path := self._read_file_name(given, place, "names")) is None:
            return []
        shown = repr(path)[1:-1][:200]
        try:
            lines = [line.strip() for line in read_settings_text(self.folder / path).split("\n")]
        except WrongText as error:
            where = shown if error.line is None else f"{shown}:{error.line}"
            self.found.append(((*place, NAMES_FILE), f"{where}: {error}"))
            return []
        names = {number: line for number, line in enumerate(lines, 1) if line and not line.startswith("#")}
        for number, name in names.items():
            if (problem := of.find_name_problem(str(place[-1]), name)) is not None:
                self.found.append(((*place, NAMES_FILE), f"{shown}:{number}: {problem}"))
        return [*names.values()]


def load_trust(path: str | Path) -> tuple[TrustEntry, ...]:
    """Read how far hosts are trusted from a YAML file, for `ResearchPolicy.trust`; see `load_policy`.

    The file has one key, ``trust``: a list of ``{scope, tier, owner?, source?, date?}``.
    """
    if not isinstance(path, str | Path):
        raise ConfigurationError(f"path: a file's name is required; given: {type(path).__name__}")
    entries: tuple[TrustEntry, ...] = read_entries(path, "trust", ResearchPolicy)
    return entries


def read_entries(path: str | Path, field: str, of: type[Settings]) -> Any:
    """Return what a file of entries gives a field of settings."""
    document = _parse_policy_file(path)
    value = document.value
    if not isinstance(value, dict):
        raise document.error([((), f"a mapping with the key {field} is required; given: {type(value).__name__}")])
    if unknown := [key for key in value if key != field]:
        raise document.error([((key,), f"no such field; there is {field}") for key in unknown[: SHOWN_FINDINGS + 1]])
    if not isinstance(value.get(field), list):
        raise document.error([((field,), f"a list of entries is required; given: {type(value.get(field)).__name__}")])
    try:
        made = of.model_validate({field: value[field]})
    except ValidationError as error:
        raise document.error(list_validation_findings(error)) from None
    return getattr(made, field)


DIALECT = "https://json-schema.org/draft/2020-12/schema"


def format_policy_lines(said: JsonObject, comments: Mapping[str, str], *place: str) -> Iterator[str]:
    """Yield the lines of a policy file: a setting a line, its value as JSON, behind it the comment of its path."""
    for name, value in said.items():
        within, depth = (*place, name), len(place)
        is_parted = bool(value) and (name in SECTIONS if depth == 0 else within[1] == "rules" and depth < 3)
        key = json.dumps(name, ensure_ascii=False) if depth == 2 else name  # a tool's name, of whatever characters
        shown = "" if is_parted else f" {json.dumps(value, ensure_ascii=False)}"
        comment = comments.get(".".join(within))
        yield f"{'  ' * depth}{key}:{shown}{'' if comment is None else f'  # {comment}'}"
        if is_parted:
            yield from format_policy_lines(value, comments, *within)


def list_rule_settings(rule: ToolRule) -> JsonObject:
    """Return what a tool's rule says, as a policy file has it: without limits that limit nothing."""
    said = list_unusual_settings(rule, ToolRule())
    if "arguments" in said:
        limits = rule.arguments.items()
        said["arguments"] = {name: list_unusual_settings(each, ArgumentRule()) for name, each in limits}
    return said


def list_unusual_settings(settings: Settings, default: Settings) -> JsonObject:
    """Return the settings that are not at their default."""
    usual = default.plain()
    return {name: value for name, value in settings.plain().items() if value != usual[name]}


def build_policy_schema(pattern: str, policy: type[Settings], budget: type[Budget]) -> JsonObject:
    """Return the JSON Schema of a pattern's policy files."""
    sections = {"policy": _build_section_schema(policy), "budget": _build_section_schema(budget)}
    overlays = {name: {"anyOf": [{"$ref": f"#/$defs/{name}"}, {"type": "null"}]} for name in sections}
    overlay = {"type": ["object", "null"], "properties": overlays, "additionalProperties": False}
    definitions: JsonObject = {}
    for section in sections.values():
        definitions |= section.pop("$defs", {})
    return {
        "$schema": DIALECT,
        "title": f"Policy file of the pattern {pattern}",
        "type": "object",
        "properties": {
            "pattern": {"const": pattern, "description": "The pattern that the file is for."},
            **overlays,
            "tenants": {
                "type": ["object", "null"],
                "description": "What tenants tighten, by their names; an overlay never loosens.",
                "additionalProperties": overlay,
            },
        },
        "required": ["pattern"],
        "additionalProperties": False,
        "$defs": {**definitions, **sections},
    }


def _build_section_schema(settings: type[Settings]) -> dict[str, Any]:
    schema = settings.model_json_schema(mode="validation")
    for name, form in schema.get("properties", {}).items():
        rule = settings.get_tightening_rule(name)
        if rule.is_set or rule.of_entries:
            listed = {key: form.pop(key) for key in ("type", "items", "prefixItems", "$ref", "anyOf") if key in form}
            form["anyOf"] = [listed, _NAMES_FILE_SCHEMA]
    return schema


_NAMES_FILE_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {NAMES_FILE: {"type": "string", "description": "A file of names, a line each, or of entries."}},
    "required": [NAMES_FILE],
    "additionalProperties": False,
}

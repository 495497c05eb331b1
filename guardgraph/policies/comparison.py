"""Two policy files side by side, and what overlays ask for and do not get."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.json import JsonObject
from guardgraph.policies.file import SECTIONS, PolicyFile
from guardgraph.state.settings import Settings
from guardgraph.state.tightening import Compared, explain_unknown_name


@dataclass(frozen=True, slots=True)
class Difference:
    """What one field is in one file and in another."""

    tenant: str | None
    """Whose settings they are; nobody's when None."""
    field: str
    """Such as ``budget.max_seconds``."""
    compared: Compared
    """What the new value is beside the old one."""
    old: Any
    new: Any

    def plain(self) -> JsonObject:
        """Return it as plain JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class NotTaken:
    """What an overlay asks for and does not get, since it would loosen."""

    tenant: str
    field: str
    asked: Any
    """Of a list the names that are not taken, else the value."""
    holds: Any

    def plain(self) -> JsonObject:
        """Return it as plain JSON."""
        return asdict(self)


def compare_policy_files(
    old: PolicyFile[Any, Any], new: PolicyFile[Any, Any], tenant: str | None = None
) -> list[Difference]:
    """Compare every field of two files."""
    if new.pattern != old.pattern:
        raise ConfigurationError(f"pattern: two files of one pattern are required; given: {old.pattern}, {new.pattern}")
    tenants = list(dict.fromkeys([*old.tenants, *new.tenants]))
    if tenant is not None and (problem := explain_unknown_name(tenant, tenants)) is not None:
        raise ConfigurationError(f"tenant: {problem}")
    chosen = [None, *tenants] if tenant is None else [tenant]
    return [
        row
        for name in chosen
        for row in _compare_tenant_settings(name, get_tenant_settings(old, name), get_tenant_settings(new, name))
    ]


def get_tenant_settings(file: PolicyFile[Any, Any], tenant: str | None) -> dict[str, Settings]:
    """Return what holds for a tenant: the file's own settings where it has none of that name."""
    return file.settings(tenant if tenant in file.tenants else None)


def _compare_tenant_settings(
    tenant: str | None, old: dict[str, Settings], new: dict[str, Settings]
) -> Iterator[Difference]:
    for section in SECTIONS:
        ours, theirs = show_policy_settings(old[section]), show_policy_settings(new[section])
        named = old[section].compared_by_name(new[section])
        for name, compared in old[section].compared(new[section]).items():
            if compared == "equal" or name not in named:
                yield Difference(tenant, f"{section}.{name}", compared, ours[name], theirs[name])
            else:
                yield from (
                    Difference(tenant, f"{section}.{name}.{item.way}", item.compared, item.old, item.new)
                    for item in named[name]
                    if item.compared != "equal"
                )


def find_not_taken_overlays(file: PolicyFile[Any, Any], tenants: Iterable[str] | None = None) -> list[NotTaken]:
    """Return what overlays ask for and do not get."""
    return [
        NotTaken(
            tenant, f"{section}.{name}", _make_policy_value_plain(asked), show_policy_settings(holds[section])[name]
        )
        for tenant in (file.tenants if tenants is None else tenants)
        for holds in [file.settings(tenant)]
        for section in SECTIONS
        for name, asked in getattr(file, section).not_taken(getattr(file.tenants[tenant], section)).items()
    ]


def show_policy_settings(settings: Settings) -> JsonObject:
    """Return settings as plain JSON; None for what is left to the factory."""
    return {name: None if settings.is_open(name) else value for name, value in settings.plain().items()}


def _make_policy_value_plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value

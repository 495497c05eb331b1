"""Two policy files side by side, and what overlays ask for and do not get."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from typing import Any

from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.json import JsonObject
from guardgraph.policies.file import SECTIONS, PolicyFile
from guardgraph.state.settings import Settings
from guardgraph.state.tightening import Compared, explain_unknown_name


@dataclass(frozen=True, slots=True)
class Difference:
    """What one field is in one file and in another."""

    tenant: str | None  # whose settings they are; nobody's when None
    field: str  # such as ``budget.max_seconds``
    compared: Compared  # what the new value is beside the old one
    old: Any
    new: Any


@dataclass(frozen=True, slots=True)
class NotTaken:
    """What an overlay asks for and does not get, since it would loosen."""

    tenant: str
    field: str
    asked: Any  # of a list the names that are not taken, else the value
    holds: Any


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
    rows: list[Difference] = []
    for name, section in product(chosen, SECTIONS):
        ours, theirs = (get_tenant_settings(file, name)[section] for file in (old, new))
        then, now, named = show_policy_settings(ours), show_policy_settings(theirs), ours.compared_by_name(theirs)
        for field, compared in ours.compared(theirs).items():
            place = f"{section}.{field}"
            if compared == "equal" or field not in named:
                rows.append(Difference(name, place, compared, then[field], now[field]))
                continue
            for item in named[field]:
                if item.compared != "equal":
                    rows.append(Difference(name, f"{place}.{item.way}", item.compared, item.old, item.new))
    return rows


def get_tenant_settings(file: PolicyFile[Any, Any], tenant: str | None) -> dict[str, Settings]:
    """Return what holds for a tenant: the file's own settings where it has none of that name."""
    return file.settings(tenant if tenant in file.tenants else None)


def find_not_taken_overlays(file: PolicyFile[Any, Any], tenants: Iterable[str] | None = None) -> list[NotTaken]:
    """Return what overlays ask for and do not get."""
    found: list[NotTaken] = []
    for tenant, section in product(file.tenants if tenants is None else tenants, SECTIONS):
        holds = show_policy_settings(file.settings(tenant)[section])
        refused = getattr(file, section).not_taken(getattr(file.tenants[tenant], section))
        for name, asked in refused.items():
            plain = list(asked) if isinstance(asked, tuple) else asked
            found.append(NotTaken(tenant, f"{section}.{name}", plain, holds[name]))
    return found


def show_policy_settings(settings: Settings) -> JsonObject:
    """Return settings as plain JSON; None for what is left to the factory."""
    return {name: None if settings.is_open(name) else value for name, value in settings.plain().items()}

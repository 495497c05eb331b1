"""Scopes: a scope is a combination of tenant, source and readers that documents have, read by some."""

# No row of another tenant is looked at for a caller, but those that are for everybody.

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any, Final, NamedTuple

from guardgraph.state.context import Access, Caller, find_reader_problem, normalise_tenant

_KEPT: Final = 1 << 14  # rows whose scopes are kept in memory: callers of a tenant read the same ones again and again


class Scope(NamedTuple):
    """Where documents are that the same callers may read."""

    id: int
    source: str
    access: Access


def make_scope_key(tenant: str | None) -> str:
    """Return a tenant as it is kept: a text, also where there is none."""
    return "" if tenant is None else f"+{tenant}"


def make_caller_key(caller: Caller | None) -> str:
    """Return the key of a caller's tenant; of somebody unknown one that no tenant has, nor callers without one."""
    return "-" if caller is None else make_scope_key(normalise_tenant(caller.tenant))


def read_scope_tenant(key: str) -> str | None:
    """Return the tenant of a key."""
    return key[1:] if key else None


def show_scope_tenant(name: object, key: object) -> str:
    """Return how a name is shown beside those of other tenants; whatever the cells may hold."""
    return f"{name!s:.200} of {key[1:]:.80}" if isinstance(key, str) and key else f"{name!s:.200}"


@lru_cache(_KEPT)
def parse_scope_row(number: int, tenant: str, source: str, readers: str) -> Scope | None:
    """Return the scope of a row; None of one that nobody wrote so, which is nobody's."""
    try:
        named: Any = json.loads(readers)
        is_key = not tenant or (tenant[0] == "+" and len(tenant) > 1)
        if not is_key or named != sorted(set(named)) or any(map(find_reader_problem, named)):
            return None
    except (TypeError, ValueError):
        return None
    return Scope(number, source, Access(read_scope_tenant(tenant), tuple(named)))

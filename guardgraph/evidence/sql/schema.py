"""Whether a database is a store, and how an empty one becomes one."""

from __future__ import annotations

from sqlalchemy import Connection, inspect, select, text

from guardgraph.evidence.sql.tables import METADATA, OPEN, SCHEMA, VERSION
from guardgraph.plain.errors import ConfigurationError, StoreError

TABLES = {1: {*METADATA.tables} - {OPEN.name}, VERSION: {*METADATA.tables}}
"""The tables of each version that can be read; whoever writes first makes the latest of an older one."""
FOUND = "guardgraph's tables"
"""What a connection is told of a store whose version has to be looked at anew each time."""

_BETWEEN = {
    "sqlite": "SELECT name FROM sqlite_master WHERE type = 'trigger'",
    "postgresql": "WITH ours AS (SELECT oid, relname, relrowsecurity FROM pg_class "
    "WHERE relkind IN ('r', 'p') AND starts_with(relname, 'guardgraph_') AND pg_table_is_visible(oid)) "
    "SELECT tgname FROM pg_trigger JOIN ours ON ours.oid = tgrelid WHERE NOT tgisinternal "
    "UNION ALL SELECT rulename FROM pg_rewrite JOIN ours ON ours.oid = ev_class "
    "UNION ALL SELECT 'inheritance of ' || relname FROM pg_inherits JOIN ours ON ours.oid IN (inhparent, inhrelid) "
    "UNION ALL SELECT 'row security of ' || relname FROM ours WHERE relrowsecurity",
}
"""What names whatever stands between a store and its tables: a trigger or a rule could keep a copy of what is erased, a
table that inherits hold rows that nobody appended, row security hide some."""

_PLAIN = "without triggers, rules, inheritance and row security"


class Missing(StoreError):
    """There is no store where one was to be read: nothing was recorded there yet."""


def check_store_schema(connection: Connection, shown: str) -> int:
    """Refuse to read what is no store of a version that can be read; return which one it is.

    Raises:
        Missing: the database is empty.
        ConfigurationError: it holds something else, a store of another version, or something stands before its tables.
    """
    names = {*inspect(connection).get_table_names()}
    ours = names & {*METADATA.tables}
    if not ours:
        if names and connection.dialect.name == "sqlite":  # a server's database is often shared
            raise ConfigurationError(f"{shown}: a store of guardgraph is required; it holds other tables")
        raise Missing(f"{shown}: there is no store of guardgraph; nothing was recorded yet")
    versions = connection.scalars(select(SCHEMA.c.version)).all() if SCHEMA.name in ours else []
    if len(versions) != 1 or versions[0] not in TABLES:
        told = f"version {versions[0]}" if len(versions) == 1 else "no one version"
        raise ConfigurationError(f"{shown}: a store of version {VERSION} is required; it has {told}")
    version: int = versions[0]
    if missing := TABLES[version] - ours:
        raise ConfigurationError(f"{shown}: it lacks tables: {', '.join(sorted(missing))}")
    if more := ours - TABLES[version]:
        raise ConfigurationError(f"{shown}: of version {version}, it has tables of another: {', '.join(sorted(more))}")
    if between := sorted(connection.scalars(text(_BETWEEN[connection.dialect.name]))):
        raise ConfigurationError(f"{shown}: a store {_PLAIN} is required; it has {', '.join(between):.200}")
    return version


def prepare_store_schema(connection: Connection, shown: str) -> int:
    """Make a store of an empty database, and one of this version of an older one; return its version.

    Raises:
        ConfigurationError: as `check_store_schema`.
    """
    try:
        return upgrade_store_schema(connection, shown)
    except Missing:
        METADATA.create_all(connection, checkfirst=False)
        connection.execute(SCHEMA.insert().values(version=VERSION))
        return VERSION


def upgrade_store_schema(connection: Connection, shown: str) -> int:
    """Make a store of this version of an older one, in place; return its version. Its entries stay what they are.

    Raises:
        Missing: the database is empty.
        ConfigurationError: as `check_store_schema`.
    """
    if check_store_schema(connection, shown) < VERSION:
        METADATA.create_all(connection, tables=[OPEN], checkfirst=False)
        connection.execute(SCHEMA.update().values(version=VERSION))
    return VERSION


def has_open_runs(connection: Connection) -> bool:
    """Say whether the store on a connection is of a version that keeps runs from their beginning on."""
    return int(connection.info.get(FOUND, VERSION)) > 1

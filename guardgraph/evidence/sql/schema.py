"""Whether a database is a store, and how an empty one becomes one."""

from __future__ import annotations

from sqlalchemy import Connection, inspect, select, text

from guardgraph.evidence.sql.tables import METADATA, SCHEMA
from guardgraph.plain.errors import ConfigurationError, StoreError
from guardgraph.plain.version import FORMAT, find_format_problem, read_package_version

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


def check_store_schema(connection: Connection, shown: str) -> None:
    """Refuse to read what is no store of this format."""
    names = {*inspect(connection).get_table_names()}
    ours = names & {*METADATA.tables}
    if not ours:
        if names and connection.dialect.name == "sqlite":  # a server's database is often shared
            raise ConfigurationError(f"{shown}: a store of guardgraph is required; it holds other tables")
        raise Missing(f"{shown}: there is no store of guardgraph; nothing was recorded yet")
    columns = {item["name"] for item in inspect(connection).get_columns(SCHEMA.name)} if SCHEMA.name in ours else set()
    rows = connection.execute(select(SCHEMA)).all() if {*SCHEMA.c.keys()} <= columns else []
    number, version = rows[0] if len(rows) == 1 else (None, None)
    if (problem := find_format_problem(number, version)) is not None:
        raise ConfigurationError(f"{shown}: {problem}")
    if missing := {*METADATA.tables} - ours:
        raise ConfigurationError(f"{shown}: it lacks tables: {', '.join(sorted(missing))}")
    if between := sorted(connection.scalars(text(_BETWEEN[connection.dialect.name]))):
        raise ConfigurationError(f"{shown}: a store {_PLAIN} is required; it has {', '.join(between):.200}")


def prepare_store_schema(connection: Connection, shown: str) -> None:
    """Make a store of an empty database."""
    try:
        check_store_schema(connection, shown)
    except Missing:
        METADATA.create_all(connection, checkfirst=False)
        connection.execute(SCHEMA.insert().values(format=FORMAT, guardgraph=read_package_version()))

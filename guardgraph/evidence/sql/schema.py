"""Whether a database is a store, and how an empty one becomes one."""

from __future__ import annotations

from sqlalchemy import Connection, inspect, select, text

from guardgraph.evidence.sql.tables import METADATA, SCHEMA, VERSION
from guardgraph.plain.errors import ConfigurationError, StoreError

_TRIGGERS = {
    "sqlite": "SELECT name FROM sqlite_master WHERE type = 'trigger'",
    "postgresql": "WITH ours AS (SELECT oid FROM pg_class "
    "WHERE relkind IN ('r', 'p') AND starts_with(relname, 'guardgraph_') AND pg_table_is_visible(oid)) "
    "SELECT tgname FROM pg_trigger JOIN ours ON ours.oid = tgrelid WHERE NOT tgisinternal "
    "UNION ALL SELECT rulename FROM pg_rewrite JOIN ours ON ours.oid = ev_class",
}
"""What names the triggers and rules on a store's tables: it has none, and one could keep a copy of what is erased."""


class Missing(StoreError):
    """There is no store where one was to be read: nothing was recorded there yet."""


def check_store_schema(connection: Connection, shown: str) -> None:
    """Refuse to read what is no store of this version.

    Raises:
        Missing: the database is empty.
        ConfigurationError: it holds something else, a store of another version, or triggers or rules.
    """
    names = {*inspect(connection).get_table_names()}
    ours = names & {*METADATA.tables}
    if not ours:
        if names and connection.dialect.name == "sqlite":  # a server's database is often shared
            raise ConfigurationError(f"{shown}: a store of guardgraph is required; it holds other tables")
        raise Missing(f"{shown}: there is no store of guardgraph; nothing was recorded yet")
    versions = connection.scalars(select(SCHEMA.c.version)).all() if SCHEMA.name in ours else []
    if versions != [VERSION]:
        told = f"version {versions[0]}" if len(versions) == 1 else "no one version"
        raise ConfigurationError(f"{shown}: a store of version {VERSION} is required; it has {told}")
    if ours != {*METADATA.tables}:
        raise ConfigurationError(f"{shown}: it lacks tables: {', '.join(sorted({*METADATA.tables} - ours))}")
    if triggers := sorted(connection.scalars(text(_TRIGGERS[connection.dialect.name]))):
        raise ConfigurationError(
            f"{shown}: a store without triggers or rules is required; it has {', '.join(triggers):.200}"
        )


def prepare_store_schema(connection: Connection, shown: str) -> None:
    """Make a store of an empty database; leave one that is a store as it is.

    Raises:
        ConfigurationError: as `check_store_schema`.
    """
    try:
        check_store_schema(connection, shown)
    except Missing:
        METADATA.create_all(connection, checkfirst=False)
        connection.execute(SCHEMA.insert().values(version=VERSION))

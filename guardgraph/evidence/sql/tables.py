"""The tables of a store, of which there is one version that the database names, and the statements that write them."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from guardgraph.plain.errors import ConfigurationError, StoreError
from guardgraph.plain.version import FORMAT, find_format_problem, read_package_version

METADATA = sa.MetaData()
# SQLite keeps whole numbers of 64 bits, and by them the rows.
_Number = sa.BigInteger().with_variant(sa.Integer, "sqlite")

SCHEMA = sa.Table(
    "guardgraph_store",
    METADATA,
    sa.Column("format", sa.Integer, nullable=False),
    sa.Column("guardgraph", sa.String(32), nullable=False),
)
"""One row: the format of the tables, and the version of guardgraph that made them."""

ENTRIES = sa.Table(
    "guardgraph_entries",
    METADATA,
    sa.Column("seq", _Number, primary_key=True, autoincrement=False),
    sa.Column("hash", sa.String(64), nullable=False),
    sa.Column("at", sa.String(32), nullable=False),
    sa.Column("run_id", sa.Text),
    sa.Column("entry", sa.Text, nullable=False),
    sa.Index("guardgraph_entries_of_a_run", "run_id", "seq"),
)
"""The chain. What stands beside an entry's text is there to be looked up; the text is what counts."""

OPEN = sa.Table(
    "guardgraph_open",
    METADATA,
    sa.Column("seq", _Number, primary_key=True, autoincrement=False),
    sa.Column("kind", sa.String(8), nullable=False),
    sa.Column("run_id", sa.Text, nullable=False),
    sa.Column("note", sa.String(8)),
    sa.Column("request", sa.Text),
    sa.Column("thread", sa.Text),
    sa.Column("graph", sa.Text),
    sa.Index("guardgraph_open_of_a_run", "run_id", "seq"),
    sa.Index("guardgraph_open_of_a_request", "request", "seq"),
    sa.Index("guardgraph_open_of_a_thread", "thread", "graph", "seq"),
)
"""What beginnings, notes and closes of runs are found by, by the number of their entry, of which this is a copy. An
erasure takes request, thread and graph away."""

CONTENTS = sa.Table(
    "guardgraph_contents",
    METADATA,
    sa.Column("seq", _Number, primary_key=True, autoincrement=False),
    sa.Column("pattern", sa.Text, nullable=False),
    sa.Column("salt", sa.String(64), nullable=False),
    sa.Column("content", sa.Text, nullable=False),
)
"""What was recorded or noted, by the number of its entry; an erasure deletes its row. A note's pattern is empty."""

CALLERS = sa.Table(
    "guardgraph_callers",
    METADATA,
    sa.Column("seq", _Number, nullable=False),
    sa.Column("tenant", sa.Text),
    sa.Column("user", sa.Text),
    sa.Index("guardgraph_callers_of_an_entry", "seq"),
    sa.Index("guardgraph_callers_by_tenant", "tenant"),
    sa.Index("guardgraph_callers_by_user", "user"),
)
"""Who began or resumed a run, by the number of its entry; an erasure deletes these rows too."""


class Prepared:
    """A statement that is compiled once and given to the driver itself: all between would cost as much as the disk."""

    def __init__(self, statement: sa.ClauseElement, names: list[str] | None = None) -> None:
        self._statement = statement
        self._names = names
        self._compiled: dict[str, tuple[str, dict[str, Any]]] = {}

    def execute_statement(self, connection: sa.Connection, **values: Any) -> Any:
        """Run it with its parameters by name, and return the driver's cursor."""
        dialect = connection.dialect
        if dialect.name not in self._compiled:
            made = self._statement.compile(dialect=dialect, column_keys=self._names)
            self._compiled[dialect.name] = str(made), made.params
        text, fixed = self._compiled[dialect.name]
        driver: Any = connection.connection.driver_connection
        return driver.execute(text, {**fixed, **values})

    def fetch_row(self, connection: sa.Connection, **values: Any) -> Any:
        """Run it, and return the first row, None where there is none."""
        return self.execute_statement(connection, **values).fetchone()


# Of a limit that is a parameter, PostgreSQL plans even a prepared statement each time.
_ONE: sa.ColumnClause[int] = sa.literal_column("1", sa.Integer)
last_entry = sa.select(ENTRIES.c.seq, ENTRIES.c.hash).order_by(ENTRIES.c.seq.desc()).limit(_ONE)
"""Number and hash of the last entry."""

_IS_ITS_CONTENT = sa.select(CONTENTS.c.content == sa.bindparam("content")).where(CONTENTS.c.seq == ENTRIES.c.seq)
_kept_entry = (
    sa.select(ENTRIES.c.seq, ENTRIES.c.hash)
    # Of this run's entries alone are contents looked at: PostgreSQL may read all contents for a join.
    .where(ENTRIES.c.run_id == sa.bindparam("run_id"), _IS_ITS_CONTENT.scalar_subquery())
    .order_by(ENTRIES.c.seq)
    .limit(_ONE)
)


_kept_step = (
    sa.select(ENTRIES.c.seq, ENTRIES.c.hash)
    .join(OPEN, OPEN.c.seq == ENTRIES.c.seq)
    .where(
        OPEN.c.run_id == sa.bindparam("run_id"), OPEN.c.kind == sa.bindparam("kind"), _IS_ITS_CONTENT.scalar_subquery()
    )
    .order_by(ENTRIES.c.seq)
    .limit(_ONE)
)
_ended_run = sa.select(ENTRIES.c.seq).where(ENTRIES.c.run_id == sa.bindparam("run_id")).limit(_ONE)
_closed_run = (
    sa.select(OPEN.c.seq)
    .where(OPEN.c.run_id == sa.bindparam("run_id"), OPEN.c.kind == sa.literal_column("'close'"))
    .limit(_ONE)
)
_tenant, _user = (sa.cast(sa.bindparam(name), sa.Text) for name in ("tenant", "user"))
_thread_run = (
    sa.select(OPEN.c.run_id)
    .select_from(OPEN.outerjoin(CALLERS, CALLERS.c.seq == OPEN.c.seq))
    .where(
        OPEN.c.thread == sa.bindparam("thread"),
        OPEN.c.graph == sa.bindparam("graph"),
        CALLERS.c.tenant.is_not_distinct_from(_tenant),
        sa.or_(_tenant.is_not(None), CALLERS.c.user.is_not_distinct_from(_user)),
    )
    .order_by(OPEN.c.seq.desc())
    .limit(_ONE)
)

_last, _kept_run, _kept, _ended = (each.subquery() for each in (last_entry, _kept_entry, _kept_step, _ended_run))

LAST_AND_RUN = Prepared(sa.select(_last, _kept_run).select_from(_last.outerjoin(_kept_run, sa.true())))
"""Number and hash of the last entry, and of that of a run which is kept with the same content: one way to a server."""
LAST_AND_STEP = Prepared(
    sa.select(_last, _kept, _ended).select_from(_last.outerjoin(_kept, sa.true()).outerjoin(_ended, sa.true()))
)
"""Likewise of a step, and the number of an entry by which its run has ended."""
ENDED, CLOSED_RUN = Prepared(_ended_run), Prepared(_closed_run)
THREAD_RUN = Prepared(_thread_run)
"""The run that began last on a thread for a tenant, without one for a user: an earlier one is not open any more."""
STEP = Prepared(sa.insert(OPEN), OPEN.columns.keys())
ENTRY, CONTENT, CALLER = (Prepared(sa.insert(table), table.columns.keys()) for table in (ENTRIES, CONTENTS, CALLERS))


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


def check_store_schema(connection: sa.Connection, shown: str) -> None:
    """Refuse to read what is no store of this format."""
    names = {*sa.inspect(connection).get_table_names()}
    ours = names & {*METADATA.tables}
    if not ours:
        if names and connection.dialect.name == "sqlite":  # a server's database is often shared
            raise ConfigurationError(f"{shown}: a store of guardgraph is required; it holds other tables")
        raise Missing(f"{shown}: there is no store of guardgraph; nothing was recorded yet")
    columns = (
        {item["name"] for item in sa.inspect(connection).get_columns(SCHEMA.name)} if SCHEMA.name in ours else set()
    )
    rows = connection.execute(sa.select(SCHEMA)).all() if {*SCHEMA.c.keys()} <= columns else []
    number, version = rows[0] if len(rows) == 1 else (None, None)
    if (problem := find_format_problem(number, version)) is not None:
        raise ConfigurationError(f"{shown}: {problem}")
    if missing := {*METADATA.tables} - ours:
        raise ConfigurationError(f"{shown}: it lacks tables: {', '.join(sorted(missing))}")
    if between := sorted(connection.scalars(sa.text(_BETWEEN[connection.dialect.name]))):
        raise ConfigurationError(f"{shown}: a store {_PLAIN} is required; it has {', '.join(between):.200}")


def prepare_store_schema(connection: sa.Connection, shown: str) -> None:
    """Make a store of an empty database."""
    try:
        check_store_schema(connection, shown)
    except Missing:
        METADATA.create_all(connection, checkfirst=False)
        connection.execute(SCHEMA.insert().values(format=FORMAT, guardgraph=read_package_version()))

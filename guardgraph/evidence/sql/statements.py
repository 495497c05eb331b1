"""What is asked and written where a run is appended, as statements that are made once for each kind of database."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ARRAY, Connection, Text, bindparam, cast, exists, func, insert, literal_column, select
from sqlalchemy.sql.expression import ClauseElement

from guardgraph.evidence.chain import START
from guardgraph.evidence.sql.tables import CALLERS, CONTENTS, ENTRIES


class Prepared:
    """A statement that is compiled once and given to the driver itself: all between would cost as much as the disk.

    Args:
        statement: an insert, or a query with `bindparam`.
        names: the columns that an insert gives values to.
    """

    def __init__(self, statement: ClauseElement, names: list[str] | None = None) -> None:
        self._statement = statement
        self._names = names
        self._compiled: dict[str, tuple[str, dict[str, Any]]] = {}

    def execute_statement(self, connection: Connection, **values: Any) -> Any:
        """Run it with its parameters by name, and return the driver's cursor."""
        dialect = connection.dialect
        if dialect.name not in self._compiled:
            made = self._statement.compile(dialect=dialect, column_keys=self._names)
            self._compiled[dialect.name] = str(made), made.params
        text, fixed = self._compiled[dialect.name]
        driver: Any = connection.connection.driver_connection
        return driver.execute(text, {**fixed, **values})


last_entry = select(ENTRIES.c.seq, ENTRIES.c.hash).order_by(ENTRIES.c.seq.desc()).limit(1)
"""Number and hash of the last entry."""

_IS_ITS_CONTENT = select(CONTENTS.c.content == bindparam("content")).where(CONTENTS.c.seq == ENTRIES.c.seq)
_kept_entry = (
    select(ENTRIES.c.seq, ENTRIES.c.hash)
    # Of this run's entries alone are contents looked at: PostgreSQL may read all contents for a join.
    .where(ENTRIES.c.run_id == bindparam("run_id"), _IS_ITS_CONTENT.scalar_subquery())
    .order_by(ENTRIES.c.seq)
    .limit(1)
)


def _build_append_statement() -> ClauseElement:
    """Return PostgreSQL's one statement: it appends, unless it is kept, and returns number and hash of the entry."""
    kept, last = _kept_entry.cte("kept"), last_entry.cte("last")
    place = (
        select(
            (func.coalesce(select(last.c.seq).scalar_subquery(), literal_column("0")) + literal_column("1")).label(
                "seq"
            ),
            func.coalesce(select(last.c.hash).scalar_subquery(), literal_column(f"'{START}'")).label("previous"),
        )
        .where(~exists(select(kept.c.seq)))
        .cte("place")
    )
    text = (
        _bind_sql_parameter("before")
        + place.c.previous
        + _bind_sql_parameter("between")
        + cast(place.c.seq, Text)
        + _bind_sql_parameter("behind")
    )
    made = select(place.c.seq, text.label("entry")).cte("made")
    hashed = func.encode(func.sha256(func.convert_to(made.c.entry, literal_column("'UTF8'"))), literal_column("'hex'"))
    entry = _insert_selected_row(
        ENTRIES, made.c.seq, hashed, _bind_sql_parameter("at"), _bind_sql_parameter("run_id"), made.c.entry
    )
    content = _insert_selected_row(
        CONTENTS,
        made.c.seq,
        _bind_sql_parameter("pattern"),
        _bind_sql_parameter("salt"),
        _bind_sql_parameter("content"),
    )
    pairs = func.unnest(_bind_sql_parameter("tenants", ARRAY(Text)), _bind_sql_parameter("users", ARRAY(Text)))
    caller = pairs.table_valued("tenant", "user").render_derived()
    callers = _insert_selected_row(CALLERS, made.c.seq, caller.c.tenant, caller.c.user)
    new = entry.returning(ENTRIES.c.seq, ENTRIES.c.hash).cte("new")
    return select(kept).union_all(select(new)).add_cte(content.cte("content"), callers.cte("callers"))


def _bind_sql_parameter(name: str, type_: Any = Text) -> Any:
    return bindparam(name, type_=type_)


def _insert_selected_row(table: Any, *values: Any) -> Any:
    return insert(table).from_select(table.columns.keys(), select(*values))


KEPT, LAST = Prepared(_kept_entry), Prepared(last_entry)
ENTRY, CONTENT, CALLER = (Prepared(insert(table), table.columns.keys()) for table in (ENTRIES, CONTENTS, CALLERS))
APPEND = Prepared(_build_append_statement())
"""Of PostgreSQL alone; its parameters are the columns, the texts of
`guardgraph.evidence.chain.build_run_entry_parts`, and the callers as two lists."""

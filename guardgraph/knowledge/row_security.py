"""PostgreSQL: who may see and change which rows of the tables, and which databases and roles are refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from guardgraph.knowledge.database import TABLES, list_table_statements, name_words_version
from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.version import BEFORE_FORMATS, FORMAT, find_format_problem, read_package_version

if TYPE_CHECKING:
    from psycopg import Connection

READER: Final = "guardgraph_reader"
WRITER: Final = "guardgraph_writer"

_TYPES: Final = {
    "id": "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY", "number": "bigint", "text": 'text COLLATE "C"',
    "bytes": "bytea", "json": "jsonb",
    "everybody": "boolean NOT NULL GENERATED ALWAYS AS (readers ? 'public') STORED",
}  # fmt: skip
_HOLDING: Final = tuple(table for table in TABLES if table != "state")  # tables whose rows are somebody's
_ASKING: Final = "substr(nullif(current_setting('guardgraph.tenant', true), ''), 2)"
"""The key of the tenant for which a transaction asks. A setting whose transaction has ended is an empty text, and no
tenant has a key of nothing."""
_WRITING: Final = "substr(nullif(current_setting('guardgraph.writes', true), ''), 2)"
_ASKING_READERS: Final = "nullif(current_setting('guardgraph.readers', true), '')::text[]"
_CHECKING: Final = "current_setting('guardgraph.checks', true) = 'all'"

# An array of what is seen is read once for a statement, and an index finds it; `IN (SELECT ...)` looks at all rows.
_SEEN: Final = "ANY (ARRAY(SELECT id FROM guardgraph.scopes))"
_WRITTEN: Final = f"ANY (ARRAY(SELECT id FROM guardgraph.scopes WHERE tenant = {_WRITING}))"
_SEEN_PARTS: Final = "part = ANY (ARRAY(SELECT id FROM guardgraph.parts))"
_WRITTEN_PARTS: Final = f"part = ANY (ARRAY(SELECT id FROM guardgraph.parts WHERE scope = {_WRITTEN}))"
_OWN: Final = f"tenant = {_WRITING}"

_RULES: Final = {
    "scopes": (f"everybody OR (tenant = {_ASKING} AND readers ?| {_ASKING_READERS})", _OWN),
    "parts": (f"scope = {_SEEN}", f"scope = {_WRITTEN}"),
    "documents": (f"scope = {_SEEN}", f"scope = {_WRITTEN} AND {_OWN}"),
    "collections": ("false", _OWN),
    "chunks": (f"scope = {_SEEN}", f"scope = {_WRITTEN} AND {_OWN}"),
    "lengths": (_SEEN_PARTS, _WRITTEN_PARTS),
    "postings": (_SEEN_PARTS, _WRITTEN_PARTS),
}
"""By table, which rows a caller sees, and which ones the tenant of a change has."""


def _list_protecting_statements() -> list[str]:
    holding = ", ".join(f"guardgraph.{table}" for table in _HOLDING)
    statements = [
        f"GRANT USAGE ON SCHEMA guardgraph TO {READER}, {WRITER}",
        f"GRANT SELECT ON guardgraph.state, {holding} TO {READER}, {WRITER}",
        f"GRANT INSERT, UPDATE ON guardgraph.state TO {WRITER}",
        f"GRANT INSERT, UPDATE, DELETE ON {holding} TO {WRITER}",
        f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA guardgraph TO {WRITER}",
    ]
    for table, (seen, written) in _RULES.items():
        on = f"ON guardgraph.{table}"
        # which leaves no way to rows but by the table's policies; to the owner neither
        statements += [f"ALTER TABLE guardgraph.{table} {verb} ROW LEVEL SECURITY" for verb in ("ENABLE", "FORCE")]
        statements += [
            f"CREATE POLICY reads {on} FOR SELECT TO {READER}, {WRITER} USING ({seen})",
            f"CREATE POLICY writes {on} FOR ALL TO {WRITER} USING ({written}) WITH CHECK ({written})",
            f"CREATE POLICY checks {on} FOR SELECT TO {WRITER} USING ({_CHECKING})",
        ]
    return statements


def make_database(connection: Connection[Any], shown: str) -> bool:
    """Make the schema `guardgraph` and its two roles, in a transaction; say whether it was not there."""
    connection.execute("SELECT pg_advisory_xact_lock(7305437213966884213)")
    if _is_database_made(connection):
        _check_schema_format(connection, shown)
        return False
    for role in (READER, WRITER):
        if connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [role]).fetchone() is None:
            connection.execute(f"CREATE ROLE {role} NOLOGIN")
    making = ["CREATE SCHEMA guardgraph", "CREATE SEQUENCE guardgraph.changes"]
    making += list_table_statements("guardgraph.", _TYPES)
    making.append("CREATE INDEX ON guardgraph.scopes (id) WHERE everybody")
    for statement in [*making, *_list_protecting_statements()]:
        connection.execute(statement)
    state = {"format": str(FORMAT), "guardgraph": read_package_version(), "words": name_words_version()}
    for item in state.items():
        connection.execute("INSERT INTO guardgraph.state VALUES (%s, %s)", item)
    return True


def check_database(connection: Connection[Any], shown: str) -> None:
    """Refuse a role that row security does not hold, and what is no knowledge base of this version."""
    role, is_super, bypasses = connection.execute(
        "SELECT rolname, rolsuper, rolbypassrls FROM pg_roles WHERE rolname = current_user"
    ).fetchone() or ("", True, True)
    use = f"connect as a role of its own that is a member of {READER} or {WRITER}"
    if is_super or bypasses:
        kind = "a superuser" if is_super else "a role with BYPASSRLS"
        raise ConfigurationError(f"{shown}: {role!r} is {kind}, which row security does not hold; {use}")
    if not _is_database_made(connection):
        advice = "`guardgraph kb init URL`, as a role that may make one, makes it"
        raise ConfigurationError(f"{shown}: there is no knowledge base; {advice}")
    member = "SELECT pg_has_role(current_user, oid, 'USAGE') FROM pg_roles WHERE rolname = ANY (%s) ORDER BY 1 DESC"
    if connection.execute(member, [[READER, WRITER]]).fetchone() != (True,):
        raise ConfigurationError(f"{shown}: {role!r} is a member of neither {READER} nor {WRITER}; {use}")
    tables = connection.execute(
        "SELECT relname, pg_has_role(current_user, relowner, 'USAGE'), relrowsecurity AND relforcerowsecurity "
        "FROM pg_class WHERE relnamespace = 'guardgraph'::regnamespace AND relkind IN ('r', 'p') AND relname <> 'state'"
    ).fetchall()
    if any(owns for _, owns, _ in tables):
        raise ConfigurationError(f"{shown}: {role!r} owns the tables, and may switch row security off; {use}")
    open_ = {table for table, _, is_forced in tables if not is_forced} | ({*_HOLDING} - {table for table, *_ in tables})
    if open_:
        raise ConfigurationError(f"{shown}: row security is not forced on {', '.join(sorted(open_))}; nothing is read")
    _check_schema_format(connection, shown)


def _is_database_made(connection: Connection[Any]) -> bool:
    made = "SELECT EXISTS (SELECT FROM pg_tables WHERE schemaname = 'guardgraph' AND tablename = 'state')"
    return connection.execute(made).fetchone() == (True,)  # also for a role that may not look into the schema


def _check_schema_format(connection: Connection[Any], shown: str) -> None:
    state = dict(connection.execute("SELECT name, value FROM guardgraph.state").fetchall())
    number = int(state["format"]) if state.get("format", "").isdecimal() else state.get("format")
    if (problem := find_format_problem(number, state.get("guardgraph", BEFORE_FORMATS))) is not None:
        raise ConfigurationError(f"{shown}: {problem}; `guardgraph kb init` in a new database makes one")

"""What is in the database, who may see and change which rows, and which databases and roles are refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from guardgraph.knowledge.storing.schema import name_words_version
from guardgraph.plain.errors import ConfigurationError

if TYPE_CHECKING:
    from psycopg import Connection

READER: Final = "guardgraph_reader"
WRITER: Final = "guardgraph_writer"

_FORMAT: Final = "1"
"""Of the tables. Other numbers are other versions of guardgraph."""

_TABLES: Final = """
CREATE SCHEMA guardgraph;
CREATE SEQUENCE guardgraph.changes;
CREATE TABLE guardgraph.state (name text PRIMARY KEY, value text NOT NULL);
CREATE TABLE guardgraph.scopes (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, tenant text COLLATE "C" NOT NULL, source text NOT NULL,
    readers text[] NOT NULL, used bigint NOT NULL DEFAULT 0,
    everybody boolean NOT NULL GENERATED ALWAYS AS ('public' = ANY (readers)) STORED,
    UNIQUE (tenant, source, readers)
);
CREATE INDEX ON guardgraph.scopes (id) WHERE everybody;
CREATE TABLE guardgraph.parts (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, scope bigint NOT NULL, language text NOT NULL,
    told boolean NOT NULL, passages bigint NOT NULL DEFAULT 0, words bigint NOT NULL DEFAULT 0,
    changed bigint NOT NULL DEFAULT 0, UNIQUE (scope, language, told)
);
CREATE TABLE guardgraph.documents (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, tenant text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL, collection text COLLATE "C" NOT NULL, title text NOT NULL,
    updated_at text NOT NULL, scope bigint NOT NULL, place bigint NOT NULL, size bigint NOT NULL,
    modified bigint NOT NULL, sha256 text NOT NULL, seal bytea NOT NULL, UNIQUE (tenant, name)
);
CREATE INDEX ON guardgraph.documents (tenant, collection);
CREATE INDEX ON guardgraph.documents (scope);
CREATE TABLE guardgraph.collections (
    tenant text COLLATE "C" NOT NULL, name text COLLATE "C" NOT NULL, rules bigint NOT NULL, PRIMARY KEY (tenant, name)
);
CREATE TABLE guardgraph.chunks (
    scope bigint NOT NULL, at bigint NOT NULL, document bigint NOT NULL, number bigint NOT NULL,
    tenant text COLLATE "C" NOT NULL, name text COLLATE "C" NOT NULL, section text NOT NULL, start bigint NOT NULL,
    stop bigint NOT NULL, language text NOT NULL, hash bytea NOT NULL, text text NOT NULL,
    PRIMARY KEY (scope, at), UNIQUE (name, tenant)
);
CREATE INDEX ON guardgraph.chunks (document, number);
CREATE TABLE guardgraph.lengths (
    part bigint NOT NULL, block bigint NOT NULL, data bytea NOT NULL, PRIMARY KEY (part, block)
);
CREATE TABLE guardgraph.postings (
    part bigint NOT NULL, block bigint NOT NULL, term text COLLATE "C" NOT NULL, size bigint NOT NULL,
    total bigint NOT NULL, data bytea NOT NULL, PRIMARY KEY (part, term, block)
);
"""

_HOLDING: Final = ("scopes", "parts", "documents", "collections", "chunks", "lengths", "postings")
"""Tables whose rows are somebody's."""

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
    "scopes": (f"everybody OR (tenant = {_ASKING} AND readers && {_ASKING_READERS})", _OWN),
    "parts": (f"scope = {_SEEN}", f"scope = {_WRITTEN}"),
    "documents": (f"scope = {_SEEN}", f"scope = {_WRITTEN} AND {_OWN}"),
    "collections": ("false", _OWN),
    "chunks": (f"scope = {_SEEN}", f"scope = {_WRITTEN} AND {_OWN}"),
    "lengths": (_SEEN_PARTS, _WRITTEN_PARTS),
    "postings": (_SEEN_PARTS, _WRITTEN_PARTS),
}
"""By table, which rows a caller sees, and which ones the tenant of a change has."""


def _list_protecting_statements() -> list[str]:
    statements = [
        f"GRANT USAGE ON SCHEMA guardgraph TO {READER}, {WRITER}",
        f"GRANT SELECT ON ALL TABLES IN SCHEMA guardgraph TO {READER}, {WRITER}",
        f"GRANT INSERT, UPDATE, DELETE ON {', '.join(f'guardgraph.{table}' for table in _HOLDING)} TO {WRITER}",
        f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA guardgraph TO {WRITER}",
    ]
    for table, (seen, written) in _RULES.items():
        on = f"ON guardgraph.{table}"
        statements += [
            f"ALTER TABLE guardgraph.{table} ENABLE ROW LEVEL SECURITY",
            f"ALTER TABLE guardgraph.{table} FORCE ROW LEVEL SECURITY",
            f"CREATE POLICY reads {on} FOR SELECT TO {READER}, {WRITER} USING ({seen})",
            f"CREATE POLICY writes {on} FOR ALL TO {WRITER} USING ({written}) WITH CHECK ({written})",
            f"CREATE POLICY checks {on} FOR SELECT TO {WRITER} USING ({_CHECKING})",
        ]
    return statements


def make_database(connection: Connection[Any], shown: str) -> bool:
    """Make the schema `guardgraph` and its two roles, in a transaction; say whether it was not there.

    Raises:
        ConfigurationError: another version made the schema.
    """
    connection.execute("SELECT pg_advisory_xact_lock(7305437213966884213)")
    if _is_database_made(connection):
        _check_format(connection, shown)
        return False
    for role in (READER, WRITER):
        if connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [role]).fetchone() is None:
            connection.execute(f"CREATE ROLE {role} NOLOGIN")
    connection.execute(_TABLES)
    for statement in _list_protecting_statements():
        connection.execute(statement)
    state = {"format": _FORMAT, "words": name_words_version()}
    for item in state.items():
        connection.execute("INSERT INTO guardgraph.state VALUES (%s, %s)", item)
    return True


def check_database(connection: Connection[Any], shown: str) -> None:
    """Refuse a role that row security does not hold, and what is no knowledge base of this version.

    Raises:
        ConfigurationError: it says what is wrong, and what to do.
    """
    role, is_super, bypasses = connection.execute(
        "SELECT rolname, rolsuper, rolbypassrls FROM pg_roles WHERE rolname = current_user"
    ).fetchone() or ("", True, True)
    use = f"connect as a role of its own that is a member of {READER} or {WRITER}"
    if is_super or bypasses:
        kind = "a superuser" if is_super else "a role with BYPASSRLS"
        raise ConfigurationError(f"{shown}: {role!r} is {kind}, which row security does not hold; {use}")
    if not _is_database_made(connection):
        raise ConfigurationError(
            f"{shown}: there is no knowledge base; `guardgraph kb init URL`, as a role that may make one, makes it"
        )
    member = "SELECT pg_has_role(current_user, oid, 'USAGE') FROM pg_roles WHERE rolname = ANY (%s) ORDER BY 1 DESC"
    if connection.execute(member, [[READER, WRITER]]).fetchone() != (True,):
        raise ConfigurationError(f"{shown}: {role!r} is a member of neither {READER} nor {WRITER}; {use}")
    tables = connection.execute(
        "SELECT relname, pg_has_role(current_user, relowner, 'USAGE'), relrowsecurity AND relforcerowsecurity "
        "FROM pg_class WHERE relnamespace = 'guardgraph'::regnamespace AND relname = ANY (%s)",
        [[*_HOLDING]],
    ).fetchall()
    if any(owns for _, owns, _ in tables):
        raise ConfigurationError(f"{shown}: {role!r} owns the tables, and may switch row security off; {use}")
    if open_ := sorted({*_HOLDING} - {table for table, _, is_forced in tables if is_forced}):
        raise ConfigurationError(f"{shown}: row security is not forced on {', '.join(open_)}; nothing is read")
    _check_format(connection, shown)


def require_writer(connection: Connection[Any], shown: str) -> None:
    """Refuse a role to which the rows that it asks for would not be shown.

    Raises:
        ConfigurationError: it is no member of the writers.
    """
    if connection.execute("SELECT pg_has_role(current_user, %s, 'USAGE')", [WRITER]).fetchone() != (True,):
        raise ConfigurationError(f"{shown}: a member of {WRITER} is required; this role only reads for callers")


def _is_database_made(connection: Connection[Any]) -> bool:
    made = "SELECT EXISTS (SELECT FROM pg_tables WHERE schemaname = 'guardgraph' AND tablename = 'state')"
    return connection.execute(made).fetchone() == (True,)  # also for a role that may not look into the schema


def _check_format(connection: Connection[Any], shown: str) -> None:
    state = dict(connection.execute("SELECT name, value FROM guardgraph.state").fetchall())
    if state.get("format") != _FORMAT:
        raise ConfigurationError(
            f"{shown}: a knowledge base of format {_FORMAT} is required; it has {state.get('format')}; "
            "`guardgraph kb init` in a new database makes one"
        )
    if state.get("words") != name_words_version():
        raise ConfigurationError(
            f"{shown}: its words were read otherwise than this guardgraph reads them "
            f"({state.get('words')!r}, not {name_words_version()!r}); add the documents to a new database"
        )

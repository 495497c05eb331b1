"""What a knowledge base needs of a database, SQLite's file or PostgreSQL's server: its tables, and transactions."""

from __future__ import annotations

import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cache
from importlib.metadata import version
from itertools import chain
from typing import Any, Final, Protocol

from guardgraph.plain.errors import ConfigurationError
from guardgraph.state.context import Caller

WORDS_VERSION: Final = 4  # of what is made of a text that is searched; a change of it needs another number

TABLES: Final = {
    "state": "name {text} PRIMARY KEY, value {text} NOT NULL",
    "scopes": (
        "id {id}, tenant {text} NOT NULL, source {text} NOT NULL, readers {json} NOT NULL, "
        "used {number} NOT NULL DEFAULT 0, everybody {everybody}, UNIQUE (tenant, source, readers)"
    ),
    "parts": (
        "id {id}, scope {number} NOT NULL, language {text} NOT NULL, told {number} NOT NULL, "
        "passages {number} NOT NULL DEFAULT 0, words {number} NOT NULL DEFAULT 0, "
        "stems_once {number} NOT NULL DEFAULT 0, words_once {number} NOT NULL DEFAULT 0, "
        "beginnings_once {number} NOT NULL DEFAULT 0, changed {number} NOT NULL DEFAULT 0, "
        "UNIQUE (scope, language, told)"
    ),
    "documents": (
        "id {id}, tenant {text} NOT NULL, name {text} NOT NULL, collection {text} NOT NULL, title {text} NOT NULL, "
        "updated_at {text} NOT NULL, scope {number} NOT NULL, place {number} NOT NULL, size {number} NOT NULL, "
        "modified {number} NOT NULL, sha256 {text} NOT NULL, seal {bytes} NOT NULL, UNIQUE (tenant, name)"
    ),
    "collections": "tenant {text} NOT NULL, name {text} NOT NULL, rules {number} NOT NULL, PRIMARY KEY (tenant, name)",
    "chunks": (
        "scope {number} NOT NULL, at {number} NOT NULL, document {number} NOT NULL, number {number} NOT NULL, "
        "tenant {text} NOT NULL, name {text} NOT NULL, section {text} NOT NULL, start {number} NOT NULL, "
        "stop {number} NOT NULL, language {text} NOT NULL, hash {bytes} NOT NULL, text {text} NOT NULL, "
        "key {text}, vector {bytes}, vector_hash {bytes}, PRIMARY KEY (scope, at), UNIQUE (name, tenant)"
    ),
    "lengths": "part {number} NOT NULL, block {number} NOT NULL, data {bytes} NOT NULL, PRIMARY KEY (part, block)",
    "postings": (
        "part {number} NOT NULL, block {number} NOT NULL, term {text} NOT NULL, total {number} NOT NULL, "
        "data {bytes} NOT NULL, PRIMARY KEY (part, term, block)"
    ),
}
"""A scope is a combination of tenant, source and readers, and `used` how many places its chunks ever had. A part has
the chunks of a scope that are read in one language; `told` says whether their texts tell it. A place is the `number`-th
of its block, 16,384 of which are together in a row of lengths and of each term's postings. `key` is of the text of
which a vector was made."""

INDEXES: Final = (
    "collected ON {documents} (tenant, collection)",
    "scoped ON {documents} (scope)",
    "numbered ON {chunks} (document, number)",
    "embedded ON {chunks} (tenant, key) WHERE key IS NOT NULL",
)

_VALUES: Final = 30_000  # Of a statement at most. One of SQLite's has 32,766, one of PostgreSQL's 65,535.


class Connection(Protocol):
    """A connection inside a transaction. Values stand for `?`, and a list for that of `= ANY (?)` or `<> ALL (?)`."""

    def execute(self, statement: str, values: Sequence[Any] = ()) -> Any:
        """Execute a statement, and return its cursor."""

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """Execute a statement with each row of values."""

    def take_numbers(self, count: int) -> list[int]:
        """Return rising numbers that nothing of this base had before: places of documents, and changes of parts."""


class KnowledgeDatabase(ABC):
    """Where a knowledge base is. What is read or written is done on a connection that nobody else uses meanwhile."""

    shown: str  #: how messages call it

    # What is not abstract is as a file has it, whose connections see all rows, and where one writes at a time.

    @abstractmethod
    def reading_all(self) -> AbstractContextManager[Connection]:
        """Yield a connection that sees all rows as a writer; what is for everybody as a reader."""

    @abstractmethod
    def rebuilding(self) -> AbstractContextManager[Connection]:
        """Yield a connection that sees all rows, in a transaction in which nobody else writes, as a writer."""

    def reading(self, caller: Caller | None) -> AbstractContextManager[Connection]:
        """Yield a connection that sees one state of what a caller may read; a file shows it of everybody."""
        return self.reading_all()

    def reading_tenant(self, tenant: str | None) -> AbstractContextManager[Connection]:
        """Yield a connection that sees all that a tenant has, for any reader; as a writer only."""
        return self.reading_all()

    def writing(self, tenant: str | None) -> AbstractContextManager[Connection]:
        """Yield a connection whose changes of a tenant are committed together where the block ends, or not at all."""
        return self.rebuilding()

    def write_for(self, connection: Connection, key: str) -> None:  # noqa: B027
        """Let a connection that rebuilds change the rows of a tenant, by its key."""

    def is_writer(self, connection: Connection) -> bool:
        """Say whether all rows of a tenant may be shown, and changed."""
        return True

    def require_writer(self, connection: Connection) -> None:
        """Refuse a role to which the rows that it asks for would not be shown."""
        if not self.is_writer(connection):
            required = "a member of guardgraph_writer is required; this role only reads for callers"
            raise ConfigurationError(f"{self.shown}: {required}")

    def find_damage(self, connection: Connection) -> list[str]:
        """Return what the database itself says is wrong with it."""
        return []

    def repair(self, connection: Connection) -> None:  # noqa: B027  a server has nothing to put right
        """Put right what no row says, before the index is made anew."""

    @abstractmethod
    def close(self) -> None:
        """Close the connections that nobody is using; others are opened when they are needed."""


def execute_for(
    connection: Connection, statement: str, values: Sequence[Any], tuples: Sequence[tuple[Any, ...]]
) -> Iterator[tuple[Any, ...]]:
    """Execute a statement for many tuples at a time, which stand for its first `VALUES ?`; yield what it returns."""
    size = _VALUES // len(tuples[0]) if tuples else 1
    for begin in range(0, len(tuples), size):
        some = tuples[begin : begin + size]
        marks = ", ".join([f"({', '.join('?' * len(some[0]))})"] * len(some))
        wanted = statement.replace("VALUES ?", f"VALUES {marks}")
        cursor = connection.execute(wanted, [*chain.from_iterable(some), *values])
        yield from cursor.fetchall() if cursor.description else ()


def list_table_statements(prefix: str, types: Mapping[str, str], *, behind: str = "") -> list[str]:
    """Return what makes the tables, with the types of a database and what stands behind the columns."""
    tables = [f"CREATE TABLE {prefix}{name} ({columns.format(**types)}){behind}" for name, columns in TABLES.items()]
    named = {name: f"{prefix}{name}" for name in TABLES}
    return tables + [f"CREATE INDEX {index.format(**named)}" for index in INDEXES]


def find_words_problem(noted: object) -> str | None:
    """Say how the words of a base were read otherwise than this version reads them; None where they were not."""
    if noted == name_words_version():
        return None
    given = repr(noted) if noted else "nothing says how"
    return f"its words were read otherwise than this guardgraph reads them ({given}, not {name_words_version()!r})"


@cache
def name_words_version() -> str:
    """Return by what words are read: our rules, the stemmer's and Unicode's."""
    return f"words {WORDS_VERSION}, PyStemmer {version('PyStemmer')}, Unicode {unicodedata.unidata_version}"

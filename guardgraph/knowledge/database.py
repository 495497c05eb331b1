"""What a knowledge base needs of a database, SQLite's file or PostgreSQL's server: its tables, and transactions."""

from __future__ import annotations

import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cache
from importlib import resources
from importlib.metadata import version
from itertools import chain
from typing import Any, Final, Protocol

from guardgraph.plain.errors import ConfigurationError
from guardgraph.state.context import Caller

WORDS_VERSION: Final = 5  # of what is made of a text that is searched; a change of it needs another number

TABLES: Final = ("state", "scopes", "parts", "documents", "collections", "chunks", "lengths", "postings")
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

    @abstractmethod
    def reading_all(self) -> AbstractContextManager[Connection]:
        """Yield a connection that sees all rows as a writer; what is for everybody as a reader."""

    @abstractmethod
    def rebuilding(self) -> AbstractContextManager[Connection]:
        """Yield a connection that sees all rows, in a transaction in which nobody else writes, as a writer."""

    @abstractmethod
    def reading(self, caller: Caller | None) -> AbstractContextManager[Connection]:
        """Yield a connection that sees one state of what a caller may read; a file shows it of everybody."""

    @abstractmethod
    def reading_tenant(self, tenant: str | None) -> AbstractContextManager[Connection]:
        """Yield a connection that sees all that a tenant has, for any reader; as a writer only."""

    @abstractmethod
    def writing(self, tenant: str | None) -> AbstractContextManager[Connection]:
        """Yield a connection whose changes of a tenant are committed together where the block ends, or not at all."""

    @abstractmethod
    def write_for(self, connection: Connection, key: str) -> None:
        """Let a connection that rebuilds change the rows of a tenant, by its key."""

    @abstractmethod
    def is_writer(self, connection: Connection) -> bool:
        """Say whether all rows of a tenant may be shown, and changed."""

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
    text = (resources.files("guardgraph.knowledge") / "tables.sql").read_text(encoding="utf-8")
    made = re.sub(r"(?m)^--.*$", "", text).format(prefix=prefix, behind=behind, **types)
    return [each.strip() for each in made.split(";") if each.strip()]


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

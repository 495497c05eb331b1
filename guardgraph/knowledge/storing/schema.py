"""What is in the file, and which files are refused."""

from __future__ import annotations

import secrets
import sqlite3
import sys
import unicodedata
from functools import cache
from importlib.metadata import version
from typing import Final

from guardgraph.knowledge.storing.collections import reset_collection_counts
from guardgraph.knowledge.storing.scopes import FOR_EVERYBODY
from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.version import BEFORE_FORMATS, FORMAT, find_format_problem, read_package_version

_APPLICATION: Final = 0x67676B62
"""SQLite's application id of our files: `ggkb`."""

_BEGINNING_BITS: Final = 48
"""Of the number that a file's changes are counted from."""

_LONGEST_STEP: Final = 1 << 24
"""From one change to the next one."""

WORDS_VERSION: Final = 3
"""Of what `guardgraph.grounding.words` makes of a text; a change of it needs another number."""

_TABLES: Final = f"""
CREATE TABLE state (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE scopes (
    id INTEGER PRIMARY KEY, tenant TEXT NOT NULL, source TEXT NOT NULL, readers TEXT NOT NULL,
    UNIQUE (tenant, source, readers)
);
CREATE TABLE parts (
    id INTEGER PRIMARY KEY, scope INTEGER NOT NULL, language TEXT NOT NULL, told INTEGER NOT NULL,
    passages INTEGER NOT NULL DEFAULT 0, words INTEGER NOT NULL DEFAULT 0,
    stems_once INTEGER NOT NULL DEFAULT 0, words_once INTEGER NOT NULL DEFAULT 0,
    beginnings_once INTEGER NOT NULL DEFAULT 0, changed INTEGER NOT NULL DEFAULT 0,
    UNIQUE (scope, language, told)
);
CREATE TABLE documents (
    id INTEGER PRIMARY KEY, tenant TEXT NOT NULL, name TEXT NOT NULL, collection TEXT NOT NULL, title TEXT NOT NULL,
    updated_at TEXT NOT NULL, scope INTEGER NOT NULL, place INTEGER NOT NULL UNIQUE, size INTEGER NOT NULL,
    modified INTEGER NOT NULL, sha256 TEXT NOT NULL, seal BLOB NOT NULL,
    UNIQUE (tenant, name)
);
CREATE INDEX collected ON documents (tenant, collection);
CREATE TABLE collections (
    tenant TEXT NOT NULL, name TEXT NOT NULL, documents INTEGER NOT NULL, hash BLOB NOT NULL, PRIMARY KEY (tenant, name)
) WITHOUT ROWID;
CREATE TABLE chunks (
    id INTEGER PRIMARY KEY, document INTEGER NOT NULL, number INTEGER NOT NULL, tenant TEXT NOT NULL,
    name TEXT NOT NULL, section TEXT NOT NULL, start INTEGER NOT NULL, stop INTEGER NOT NULL,
    language TEXT NOT NULL, hash BLOB NOT NULL, text TEXT NOT NULL,
    UNIQUE (name, tenant)
);
CREATE INDEX chunks_of ON chunks (document, number);
CREATE INDEX untold ON chunks (id) WHERE language = '';
CREATE TABLE words (
    id INTEGER PRIMARY KEY, part INTEGER NOT NULL, term TEXT NOT NULL, total INTEGER NOT NULL,
    holders INTEGER NOT NULL, most INTEGER NOT NULL, UNIQUE (part, term)
);
CREATE TABLE blocks (
    id INTEGER PRIMARY KEY, scope INTEGER NOT NULL, used INTEGER NOT NULL, held INTEGER NOT NULL
);
CREATE INDEX blocks_of ON blocks (scope);
CREATE TABLE lengths (
    id INTEGER PRIMARY KEY, part INTEGER NOT NULL, block INTEGER NOT NULL, data BLOB NOT NULL, UNIQUE (part, block)
);
CREATE TABLE postings (id INTEGER PRIMARY KEY, size INTEGER NOT NULL, data BLOB NOT NULL);
CREATE TABLE vectors (
    chunk INTEGER PRIMARY KEY, key BLOB NOT NULL, vector BLOB NOT NULL, hash BLOB NOT NULL
);
CREATE INDEX embedded ON vectors (key);
CREATE INDEX for_everybody ON scopes (id) WHERE {FOR_EVERYBODY};
CREATE INDEX read_in ON parts (language);
CREATE TABLE embeddings (id INTEGER PRIMARY KEY, name TEXT NOT NULL, size INTEGER NOT NULL, hash BLOB NOT NULL);
"""


def make_index_schema(connection: sqlite3.Connection) -> None:
    """Make the tables, inside the transaction that is open."""
    for statement in _TABLES.split(";"):
        if statement.strip():
            connection.execute(statement)
    connection.execute("INSERT INTO state VALUES ('guardgraph', ?)", [read_package_version()])
    note_words(connection)
    reset_collection_counts(connection)
    count_changes_anew(connection)
    connection.execute(f"PRAGMA application_id = {_APPLICATION}")
    connection.execute(f"PRAGMA user_version = {FORMAT}")


def count_changes_anew(connection: sqlite3.Connection) -> None:
    """Count the changes of a file from a number on that no other file, nor this one, has counted from."""
    began = secrets.randbits(_BEGINNING_BITS)
    connection.execute("INSERT OR REPLACE INTO state VALUES ('changes', ?)", [began])


def begin_change(connection: sqlite3.Connection) -> None:
    """Give the change of a file that begins a number, by which what is kept in memory of it is known to be old."""
    # It is more than the last one by chance: an earlier copy of the file that is put in its place and changed, too,
    # must not come to the same number.
    step = f"1 + abs(random() % {_LONGEST_STEP})"
    connection.execute(f"UPDATE state SET value = value + {step} WHERE name = 'changes'")
    if words_problem(connection) is None:
        note_words(connection)


def is_index_empty(connection: sqlite3.Connection) -> bool:
    """Say whether a database has nothing in it."""
    return (
        _read_schema_number(connection, "application_id") == 0
        and not connection.execute("SELECT 1 FROM sqlite_master").fetchone()
    )


def check_index_schema(connection: sqlite3.Connection, shown: str, *, any_words: bool = False) -> None:
    """Refuse what is no knowledge base of this version."""
    if _read_schema_number(connection, "application_id") != _APPLICATION:
        raise ConfigurationError(f"{shown}: a knowledge base is required; it is another application's database")
    number = _read_schema_number(connection, "user_version")
    try:
        row = connection.execute("SELECT value FROM state WHERE name = 'guardgraph'").fetchone()
    except sqlite3.OperationalError:  # its tables are others
        row = None
    # Before 0.14 nothing said it, and there were other formats 1 and 2.
    made_by = row[0] if row else BEFORE_FORMATS if number <= 2 else None
    if (problem := find_format_problem(number, made_by)) is not None:
        raise ConfigurationError(f"{shown}: {problem}; `guardgraph kb add` into a new file makes one")
    if not any_words and (problem := words_problem(connection)) is not None:
        raise ConfigurationError(f"{shown}: {problem}; `guardgraph kb rebuild {shown}` reads its texts again")


def words_problem(connection: sqlite3.Connection) -> str | None:
    """Say how the words of a file were read otherwise than this version reads them; None where they were not."""
    row = connection.execute("SELECT value FROM state WHERE name = 'words'").fetchone()
    if row == (name_words_version(),):
        return None
    given = repr(row[0]) if row else "nothing says how"
    return f"its words were read otherwise than this guardgraph reads them ({given}, not {name_words_version()!r})"


def note_words(connection: sqlite3.Connection) -> None:
    """Note that the words of a file were read as this version reads them."""
    connection.execute("INSERT OR REPLACE INTO state VALUES ('words', ?)", [name_words_version()])


def _read_schema_number(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])


@cache
def name_words_version() -> str:
    """Return by what the words of a file were read: our rules, the stemmer's, Unicode's; and the order of bytes."""
    stemmer = version("snowballstemmer")
    return f"words {WORDS_VERSION}, snowballstemmer {stemmer}, Unicode {unicodedata.unidata_version}, {sys.byteorder}"

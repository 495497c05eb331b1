"""Checking a knowledge base: whether its file, its rows and all that is counted are what was put in."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from guardgraph.knowledge.index.collected import Lost, check_collections
from guardgraph.knowledge.index.file import File
from guardgraph.knowledge.index.findings import BaseFinding, Findings
from guardgraph.knowledge.index.mending import Doubtful, Mending
from guardgraph.knowledge.index.rebuilding import rebuild
from guardgraph.knowledge.index.recounting import check_words
from guardgraph.knowledge.index.rows import check_rows
from guardgraph.knowledge.index.schema import words_problem
from guardgraph.knowledge.index.vectors import check_vectors, mend_vectors
from guardgraph.plain.errors import StoreError
from guardgraph.plain.json import JsonObject

__all__ = ["CheckedBase", "check_file"]

_ANEW = "`guardgraph kb add` of the same folders into a new file makes it again"


@dataclass(frozen=True, slots=True)
class CheckedBase:
    """What came of checking a knowledge base."""

    documents: int
    chunks: int
    findings: tuple[BaseFinding, ...]
    """What was found, before anything was repaired; the first hundred of each kind."""
    repaired: bool = False
    """Whether something was found, and was put right."""
    closed: tuple[Doubtful, ...] = ()
    """Documents that are not what was put in, which nobody may read now; to add them again opens them."""
    removed: tuple[Doubtful, ...] = ()
    """Chunks and documents that belonged to nothing, and were taken out; to add their documents again brings them
    back."""
    lost: tuple[Lost, ...] = ()
    """Documents and collections that are not there, and that nothing names any more; to add them again brings them
    back."""
    without_vectors: tuple[Doubtful, ...] = ()
    """Documents whose vectors were taken out, or were not there; to add them again with the embedding makes them, in a
    new file where nothing tells any more which embedding it was."""

    @property
    def ok(self) -> bool:
        """Whether the base is what was put in, maybe because it was repaired."""
        left = (self.closed, self.removed, self.lost, self.without_vectors)
        return not self.findings or (self.repaired and not any(left))

    def plain(self) -> JsonObject:
        """Return it as plain JSON."""
        plain: JsonObject = json.loads(json.dumps(asdict(self)))
        return {"ok": self.ok, **plain}


def check_file(path: Path, *, repair: bool = False) -> CheckedBase:
    """Check the file of a knowledge base.

    Args:
        path: the file, which is there.
        repair: whether what is found is put right, in one transaction: words, postings and statistics are counted anew
            from the stored texts, also where another version counted them, and documents that are not what was put in
            are nobody's.

    Raises:
        ConfigurationError: it is no knowledge base of this format.
        StoreError: SQLite cannot read it, or finds it damaged beyond repair; nothing was changed.
    """
    file = File(path, to_check=True)
    try:
        with file.reading() as connection:
            checked = CheckedBase(*_counts(connection), tuple(_found(connection)))
        if not repair or checked.ok:
            return checked
        with file.writing() as connection:
            return _repaired(connection, checked, file.shown)
    except StoreError as error:
        if type(error.__cause__) is sqlite3.DatabaseError:  # errors of its subclasses are no damage: locked, full
            raise StoreError(f"{error}; {_ANEW}") from error
        raise
    finally:
        file.close()


def _found(connection: sqlite3.Connection) -> Findings:
    """Look at the file, then at rows, then at what is counted of them; what stands on damage says nothing."""
    findings = Findings()
    for message in _damage(connection):
        findings.note("file", "SQLite", message)
    if findings:
        return findings
    check_rows(connection, findings)
    check_collections(connection, findings)
    check_vectors(connection, findings)
    if (problem := words_problem(connection)) is not None:
        findings.note("version", "state: words", problem)
    else:
        check_words(connection, findings)
    return findings


def _damage(connection: sqlite3.Connection) -> list[str]:
    rows = connection.execute("PRAGMA integrity_check").fetchall()
    return [" ".join(str(message).split()) for (message,) in rows if message != "ok"]


def _repaired(connection: sqlite3.Connection, checked: CheckedBase, shown: str) -> CheckedBase:
    if _damage(connection):
        connection.execute("REINDEX")
        if damage := _damage(connection):
            raise StoreError(f"{shown}: damaged beyond repair ({damage[0]}); {_ANEW}")
    mending = Mending(connection)
    mending.mend(check_rows(connection, Findings()))
    mending.reread(mend_vectors(connection))
    rebuild(connection)
    return CheckedBase(
        *_counts(connection),
        checked.findings,
        repaired=True,
        closed=_in_order(mending.closed),
        removed=_in_order(mending.removed),
        lost=tuple(mending.lost),
        without_vectors=_in_order(mending.without_vectors),
    )


def _in_order(documents: Iterable[Doubtful]) -> tuple[Doubtful, ...]:
    return tuple(sorted(documents, key=lambda document: (document.tenant or "", document.id)))


def _counts(connection: sqlite3.Connection) -> tuple[int, int]:
    """Return how many documents and chunks there are."""
    documents, chunks = (
        int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]) for table in ("documents", "chunks")
    )
    return documents, chunks

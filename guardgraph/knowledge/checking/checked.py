"""Whether a knowledge base is what was put in, and its index made anew of what is."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from guardgraph.knowledge.checking.rebuilding import list_missing_vectors, rebuild_index
from guardgraph.knowledge.checking.recounting import check_index_words
from guardgraph.knowledge.checking.rows import check_rows
from guardgraph.knowledge.storing.collections import Lost, check_collections
from guardgraph.knowledge.storing.file import File
from guardgraph.knowledge.storing.findings import BaseFinding, Doubtful, Findings
from guardgraph.knowledge.storing.schema import words_problem
from guardgraph.knowledge.vectors import Embedder, check_vectors
from guardgraph.plain.errors import StoreError
from guardgraph.plain.json import JsonObject
from guardgraph.tools.relevance import list_unmeasured_languages

_ANEW = "`guardgraph kb add` of the same folders into a new file makes it again"


@dataclass(frozen=True, slots=True)
class CheckedBase:
    """What came of checking a knowledge base, or of making its index anew."""

    documents: int
    chunks: int
    findings: tuple[BaseFinding, ...]
    """What was found, before the index was made anew; the first hundred of each kind."""
    rebuilt: bool = False
    """Whether the index was made anew."""
    refused: tuple[Doubtful, ...] = ()
    """Documents of which something is not what was put in, or is gone; that is not in the index, and shown to nobody.
    Chunks of which no document is there, and documents that nobody could name, were taken out. To add them again
    brings them back, and until then each check says so of those that are in the file."""
    lost: tuple[Lost, ...] = ()
    """Documents and collections that are not there, and that nothing names any more; to add them again brings them
    back."""
    without_vectors: tuple[Doubtful, ...] = ()
    """Documents whose vectors were taken out, or were not there; to add them again with the embedding, or to make the
    index anew with it, makes them; in a new file where nothing tells any more which embedding it was."""
    unmeasured: tuple[str, ...] = ()
    """Where more than half of the chunks that tell their language are in languages for which the default
    `min_chunk_score` was not measured: the codes of these, the most frequent first. It is no finding."""

    @property
    def ok(self) -> bool:
        """Whether the base is what was put in: nothing was found, or an index that was made anew has all of it."""
        return not any((self.refused, self.lost, self.without_vectors)) if self.rebuilt else not self.findings

    def plain(self) -> JsonObject:
        """Return it as plain JSON."""
        plain: JsonObject = json.loads(json.dumps(asdict(self)))
        return {"ok": self.ok, **plain}


def check_file(path: Path) -> CheckedBase:
    """Check the file of a knowledge base, which is there."""
    with _open_base_to_check(path) as file:
        return _check_opened_base(file)


def rebuild_file(path: Path, embedder: Embedder | None = None) -> CheckedBase:
    """Make the index of a knowledge base anew from the stored texts whose hash is right, in one transaction."""
    with _open_base_to_check(path) as file:
        checked, vectors = _check_opened_base(file), dict[bytes, bytes]()
        if embedder is not None:  # before others have to wait for the transaction
            with file.reading() as connection:
                vectors = list_missing_vectors(connection, embedder, file.shown)
        with file.writing() as connection:
            return _rebuild_opened_base(connection, checked, vectors, file.shown)


@contextmanager
def _open_base_to_check(path: Path) -> Iterator[File]:
    file = File(path, to_check=True)
    try:
        yield file
    except StoreError as error:
        if type(error.__cause__) is sqlite3.DatabaseError:  # errors of its subclasses are no damage: locked, full
            raise StoreError(f"{error}; {_ANEW}") from error
        raise
    finally:
        file.close()


def _check_opened_base(file: File) -> CheckedBase:
    with file.reading() as connection:
        findings = tuple(_find_base_damage(connection))
        languages = _list_unmeasured_languages(connection)
        return CheckedBase(*_count_stored_chunks(connection), findings, unmeasured=languages)


def _find_base_damage(connection: sqlite3.Connection) -> Findings:
    """Look at the file, then at rows, then at what is counted of them; what stands on damage says nothing."""
    findings = Findings()
    for message in _find_file_damage(connection):
        findings.note("file", "SQLite", message)
    if findings:
        return findings
    check_rows(connection, findings)
    check_collections(connection, findings)
    check_vectors(connection, findings)
    if (problem := words_problem(connection)) is not None:
        findings.note("version", "state: words", problem)
    else:
        check_index_words(connection, findings)
    return findings


def _find_file_damage(connection: sqlite3.Connection) -> list[str]:
    rows = connection.execute("PRAGMA integrity_check").fetchall()
    return [" ".join(str(message).split()) for (message,) in rows if message != "ok"]


def _rebuild_opened_base(
    connection: sqlite3.Connection, checked: CheckedBase, vectors: Mapping[bytes, bytes], shown: str
) -> CheckedBase:
    if _find_file_damage(connection):
        connection.execute("REINDEX")
        if damage := _find_file_damage(connection):
            raise StoreError(f"{shown}: damaged where no index is ({damage[0]}); {_ANEW}")
    rebuilt = rebuild_index(connection, vectors)
    return CheckedBase(
        *_count_stored_chunks(connection),
        checked.findings,
        rebuilt=True,
        refused=_sort_base_findings(rebuilt.refused),
        lost=tuple(rebuilt.lost),
        without_vectors=_sort_base_findings(rebuilt.without_vectors),
        unmeasured=_list_unmeasured_languages(connection),
    )


def _sort_base_findings(documents: Iterable[Doubtful]) -> tuple[Doubtful, ...]:
    return tuple(sorted(documents, key=lambda document: (document.tenant or "", document.id)))


def _count_stored_chunks(connection: sqlite3.Connection) -> tuple[int, int]:
    """Return how many documents and chunks there are."""
    documents, chunks = (
        int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]) for table in ("documents", "chunks")
    )
    return documents, chunks


def _list_unmeasured_languages(connection: sqlite3.Connection) -> tuple[str, ...]:
    return list_unmeasured_languages(
        dict(connection.execute("SELECT language, count(*) FROM chunks GROUP BY language").fetchall())
    )

"""What else finds chunks by their words: SQLite's own full-text index, and two libraries that keep all in memory."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

from guardgraph.languages.terms import read_terms

__all__ = ["TOP", "Search", "bm25s", "fts5", "rank_bm25"]

TOP = 4
"""Chunks that are asked for."""

AT_ONCE = 512
"""Chunks of a transaction."""

Search = Callable[[str], object]


def fts5(file: Path, texts: Sequence[str], *, same_words: bool) -> Search:
    """Return a search by FTS5, over the words that `terms` reads or over those of its own tokenizer."""
    connection = sqlite3.connect(file)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("CREATE TABLE chunks (id INTEGER PRIMARY KEY, text TEXT)")
    kept = ", tokenize=\"unicode61 remove_diacritics 0 tokenchars '.,'\"" if same_words else ""
    connection.execute(f"CREATE VIRTUAL TABLE words USING fts5(text, content=''{kept})")
    for begin in range(0, len(texts), AT_ONCE):
        with connection:
            for at, text in enumerate(texts[begin : begin + AT_ONCE], begin):
                connection.execute("INSERT INTO chunks VALUES (?, ?)", [at, text])
                read = " ".join(read_terms(text)) if same_words else text
                connection.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", [at, read])
    best = "SELECT rowid AS id, rank AS score FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?"

    def search(question: str) -> object:
        asked = read_terms(question) if same_words else re.findall(r"\w+", question)
        match = " OR ".join(f'"{word}"' for word in asked)
        return connection.execute(f"SELECT text, score FROM ({best}) JOIN chunks USING (id)", [match, TOP]).fetchall()

    return search


def rank_bm25(read: Sequence[list[str]], texts: Sequence[str]) -> Search:
    """Return a search by rank_bm25 over words that were read."""
    from rank_bm25 import BM25Okapi

    index = BM25Okapi(read)
    return lambda question: index.get_top_n(read_terms(question), texts, n=TOP)


def bm25s(read: Sequence[list[str]]) -> Search:
    """Return a search by bm25s over words that were read."""
    import bm25s as library

    index = library.BM25()
    index.index(list(read), show_progress=False)
    return lambda question: index.retrieve([read_terms(question)], k=TOP, show_progress=False, n_threads=0)

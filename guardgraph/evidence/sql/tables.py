"""The tables of a store. There is one version of them, which the database names."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Index, Integer, MetaData, String, Table, Text

VERSION = 1
"""The version of the tables."""

METADATA = MetaData()
_Number = BigInteger().with_variant(Integer, "sqlite")  # which keeps whole numbers of 64 bits, and by them the rows

SCHEMA = Table("guardgraph_store", METADATA, Column("version", Integer, nullable=False))
"""One row: the version of the tables."""

ENTRIES = Table(
    "guardgraph_entries",
    METADATA,
    Column("seq", _Number, primary_key=True, autoincrement=False),
    Column("hash", String(64), nullable=False),
    Column("at", String(32), nullable=False),
    Column("run_id", Text),
    Column("entry", Text, nullable=False),
    Index("guardgraph_entries_of_a_run", "run_id", "seq"),
)
"""The chain. What stands beside an entry's text is there to be looked up; the text is what counts."""

CONTENTS = Table(
    "guardgraph_contents",
    METADATA,
    Column("seq", _Number, primary_key=True, autoincrement=False),
    Column("pattern", Text, nullable=False),
    Column("salt", String(64), nullable=False),
    Column("content", Text, nullable=False),
)
"""What was recorded, by the number of its entry; an erasure deletes its row."""

CALLERS = Table(
    "guardgraph_callers",
    METADATA,
    Column("seq", _Number, nullable=False),
    Column("tenant", Text),
    Column("user", Text),
    Index("guardgraph_callers_of_an_entry", "seq"),
    Index("guardgraph_callers_by_tenant", "tenant"),
    Index("guardgraph_callers_by_user", "user"),
)
"""Who began or resumed a run, by the number of its entry; an erasure deletes these rows too."""

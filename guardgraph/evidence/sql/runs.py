"""Runs of a store, read batch by batch whenever somebody iterates over them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from guardgraph.evidence.store import StoredRun
from guardgraph.plain.errors import ConfigurationError

if TYPE_CHECKING:
    from guardgraph.evidence.sql.store import SqlStore


BATCH = 50
"""Runs that are read at a time, and so are in memory."""


@dataclass(frozen=True, slots=True)
class SqlRuns:
    """Runs of a store; what was recorded after an iteration began is not in it.

    Pickled, they are the store's URL, with its password, and these words: whoever unpickles them reads for himself.
    """

    store: SqlStore
    pattern: str | None = None
    tenant: str | None = None
    since: str | None = None
    after: int = 0
    """The number of the entry behind which they begin."""
    upto: int | None = None
    """The number of the last entry that may be one of them; None for the store's last."""

    def __iter__(self) -> Iterator[StoredRun]:
        """Yield each run once, by its latest record, in order of the chain; one that was changed says so."""
        after, upto = self.after, self._read_last_seq()
        while after < upto:
            found = self._read_batch(after, upto)
            yield from found
            if len(found) < BATCH:
                return
            after = found[-1].position.seq

    def parts(self, count: int) -> Sequence[SqlRuns]:
        """Return the same runs in at most `count` parts, each a stretch of the chain.

        Raises:
            ConfigurationError: the count is no whole number from 1 on.
        """
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise ConfigurationError(f"count: a whole number from 1 on is required; given: {count!r:.80}")
        upto = self._read_last_seq()
        length = max(upto - self.after, 0)
        ends = [self.after + length * number // count for number in range(count + 1)]
        pairs = pairwise(ends)
        return [replace(self, after=first, upto=last) for first, last in pairs if first < last]

    def _read_last_seq(self) -> int:
        from guardgraph.evidence.sql.reading import read_last_entry
        from guardgraph.evidence.sql.schema import Missing

        if self.upto is not None:
            return self.upto
        try:
            return self.store.database.run_transaction(read_last_entry)[0]
        except Missing:
            return 0

    def _read_batch(self, after: int, upto: int) -> Sequence[StoredRun]:
        from guardgraph.evidence.sql.reading import read_run_batch

        filters = {"pattern": self.pattern, "tenant": self.tenant, "since": self.since}
        return self.store.database.run_transaction(
            lambda connection: read_run_batch(connection, (after, upto), BATCH, **filters)
        )

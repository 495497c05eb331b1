"""Stores keep what the protocol promises: in SQLite, in PostgreSQL, and in one of somebody's own."""

from __future__ import annotations

import pytest
from memory_store import MemoryStore, OpenMemoryStore
from stored_runs import new_database, running_server

from guardgraph import InputError, sql_store
from guardgraph.testing import STORE_CHECKS, check_store

server = pytest.fixture(scope="module")(running_server)
database = pytest.fixture(new_database)


@pytest.fixture(params=["sqlite", "postgres", "memory", "open memory"])
def make_store(request, tmp_path):
    """How a store is made, another empty one each time."""
    if "memory" in request.param:
        return OpenMemoryStore if "open" in request.param else MemoryStore
    if request.param == "sqlite":
        return lambda: sql_store(f"sqlite:///{tmp_path}/{len(list(tmp_path.iterdir()))}.db", timeout=60)
    return lambda: sql_store(request.getfixturevalue("database"), timeout=60)


@pytest.mark.parametrize("check", STORE_CHECKS)
def test_a_store_does_what_the_protocol_says(check, make_store):
    """Every check of the conformance suite holds."""
    STORE_CHECKS[check](make_store())


def test_a_store_that_fails_a_check_is_told_which():
    """A store that forgets is named by the check that it fails."""

    class Forgetful(MemoryStore):
        def record(self, run):
            return super().record({**run, "graph": "another"})

    with pytest.raises(AssertionError, match=r"a_run_is_read_as_it_was_recorded: read\(\).recording"):
        check_store(Forgetful)


def test_a_store_of_ones_own_passes_all_at_once():
    """`check_store` holds every check against a store of its own."""
    made = []
    check_store(lambda: made.append(MemoryStore()) or made[-1])
    assert len(made) == len(STORE_CHECKS)
    check_store(OpenMemoryStore)
    with pytest.raises(InputError):
        made[0].read("nobody")

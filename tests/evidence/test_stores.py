"""Stores keep what the protocol promises: in SQLite, in PostgreSQL, and in one of somebody's own."""

from itertools import count

import pytest
from stored_runs import new_database

from guardgraph import sql_store
from guardgraph.testing import STORE_CHECKS, check_store


class OwnStore:
    """A store of somebody's own, which keeps no runs from their beginning on."""

    def __init__(self, store):
        self.store = store
        self.read, self.head, self.runs = store.read, store.head, store.runs

    def record(self, run):
        return self.store.record(run)


database = pytest.fixture(new_database)


@pytest.fixture
def make_file_store(tmp_path):
    """How a store in a file is made, another empty one each time."""
    numbers = count()
    return lambda: sql_store(f"sqlite:///{tmp_path}/{next(numbers)}.db", timeout=60)


@pytest.fixture(params=["sqlite", "postgres", "own"])
def make_store(request, make_file_store):
    if request.param == "own":
        return lambda: OwnStore(make_file_store())
    if request.param == "sqlite":
        return make_file_store
    return lambda: sql_store(request.getfixturevalue("database"), timeout=60)


@pytest.mark.parametrize("check", STORE_CHECKS)
def test_a_store_does_what_the_protocol_says(check, make_store):
    STORE_CHECKS[check](make_store())


def test_a_store_of_ones_own_passes_all_at_once_and_one_that_fails_a_check_is_told_which(make_file_store):
    class Forgetful(OwnStore):
        def record(self, run):
            return super().record({**run, "graph": "another"})

    check_store(lambda: OwnStore(make_file_store()))
    with pytest.raises(AssertionError, match=r"a_run_is_read_as_it_was_recorded: read\(\).recording"):
        check_store(lambda: Forgetful(make_file_store()))

"""Whatever is changed in a store in PostgreSQL is found and named: the same tests as of SQLite."""

import psycopg
import pytest
from stored_runs import new_database
from test_store_tampering import (  # noqa: F401 - tests, which have the fixtures of this module here
    TABLES,
    findings,
    six_runs,
    test_a_change_of_any_value_is_found_and_named,
    test_a_cut_is_found_by_a_head_that_was_kept,
    test_an_entry_that_was_changed_and_hashed_anew_is_named,
    test_an_entry_that_was_inserted_is_named,
    test_an_entry_that_was_removed_is_named,
    test_contents_that_are_missing_and_those_that_nobody_recorded_are_named,
    test_entries_that_changed_places_are_named,
)

from guardgraph import sql_store


@pytest.fixture(scope="module")
def kept(postgres):
    """The address of a store of six runs, of which the fourth was erased, and its head."""
    url = new_database(postgres)
    return url, six_runs(sql_store(url))


@pytest.fixture(scope="module")
def rows(postgres, kept):
    def ask(query, *values):
        with _connected(postgres, kept[0]) as connection:
            return connection.execute(query.replace("?", "%s"), values).fetchall()

    return ask


@pytest.fixture(scope="module")
def tampered(postgres, kept):
    """How a copy of the store is changed by statements, and what is found in it then."""
    url, copy = kept[0], new_database(postgres)
    sql_store(copy).open()

    def found(*statements, head=None):
        with _connected(postgres, copy) as connection:
            for table in TABLES:
                connection.execute(f"TRUNCATE {table}")
                connection.execute(f"INSERT INTO {table} SELECT * FROM {_place(url)}.{table}")
            for statement, *values in statements:
                connection.execute(statement.replace("?", "%s"), values)
        return findings(copy, head)

    return found


def test_a_salt_in_capitals_is_a_change(tampered):
    """They are no other bytes, but nobody wrote them; the column holds no more than the digits."""
    assert tampered(("UPDATE guardgraph_contents SET salt = upper(salt) WHERE seq = 1",)) == [("content", 1)]


def _place(url):
    return url.rpartition("%3D")[2]


def _connected(server, url):
    return psycopg.connect(server, options=f"-csearch_path={_place(url)}")

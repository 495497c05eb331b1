"""What takes minutes: kills, pairs of bases, readers and writers, and damaged files."""

from contextlib import contextmanager

import psycopg
from kb_faults import damaged, rebuilds_survived, server_survived, shared, survived
from postgres_server import postgres_server

from guardgraph.knowledge.base import make_server_base


@contextmanager
def server_base():
    """The address of a base on a server, as its superuser and as a role that may put documents in."""
    with postgres_server() as owner:
        make_server_base(owner)
        with psycopg.connect(owner, autocommit=True) as connection:
            connection.execute("CREATE ROLE ingest LOGIN IN ROLE guardgraph_writer")
        yield owner, owner.replace("postgres:@", "ingest@")


def test_kills_of_an_addition(tmp_path):
    """Whenever the process is killed that adds a folder, each document is whole, and the next addition completes."""
    assert survived(tmp_path, kills=12, seed=50, documents=1200) > 5


def test_kills_of_a_rebuild(tmp_path):
    """Whenever the process is killed that rebuilds a base, it is as it was or whole, and the next rebuild completes."""
    assert rebuilds_survived(tmp_path, kills=6, seed=20) > 1


def test_eight_readers_and_two_writers(tmp_path):
    assert min(shared(tmp_path, readers=8, writers=2, seconds=10)) > 0


def test_damaged_files(tmp_path):
    """A file that was cut or changed says so, or answers with what was put in for those who ask."""
    answered, rebuilt = damaged(tmp_path, trials=100, seed=400)
    assert (answered > 5, rebuilt > 1) == (True, True)


def test_kills_on_a_server(tmp_path):
    """When a client that adds a folder or its server is killed, each document is whole and all counts are right."""
    with server_base() as (owner, url):
        assert server_survived(tmp_path, owner, url, kills=10, seed=50) > 3

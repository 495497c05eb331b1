"""What tests of stores share: databases, and runs to put into them."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing, contextmanager
from functools import cache
from itertools import count

import psycopg
import pytest
from postgres_server import postgres_server

from guardgraph import create_rag_agent
from guardgraph.testing import InMemoryRecorder

_numbers = count()


@pytest.fixture(scope="module")
def server():
    """The address of a PostgreSQL server that runs as long as the tests of a module."""
    with postgres_server() as address:
        yield address


@pytest.fixture
def database(server):
    """The URL of an empty database on that server."""
    return new_database(server)


def new_database(server):
    """Make an empty database on a server, and return the URL of a store in it."""
    name = f"runs{next(_numbers)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return server.replace("/postgres?", f"/{name}?").replace("postgresql://", "postgresql+psycopg://")


def asked(recorder, question="What is the P1 first response target?", **caller):
    """Make a run of the RAG agent, and return its result."""
    context = {"caller": caller} if caller else None
    return create_rag_agent(recorder=recorder).invoke({"question": question}, context=context)


@cache
def _recording():
    recorder = InMemoryRecorder()
    asked(recorder)
    return json.dumps(recorder.runs[0])


def recording(number=0, **caller):
    """Return a recording with a run_id of its own; quick, since only one run is made for all of them."""
    made = json.loads(_recording())
    made["run_id"] = made["result"]["run_id"] = f"00000000-0000-4000-8000-{number:012d}"
    if caller:
        made["visits"][0]["opening"]["context"] = {"caller": caller}
    return made


@contextmanager
def opened(file):
    """Open the file of a store as whoever tampers with it would, and keep what was changed."""
    with closing(sqlite3.connect(file)) as connection, connection:
        yield connection


def everything_written(folder):
    """Return the bytes of all files of a folder."""
    return b"".join(file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file())

"""What tests of stores share: databases, and runs to put into them."""

import json
import sqlite3
from contextlib import closing, contextmanager
from functools import cache
from itertools import count

import psycopg

from guardgraph import create_rag_agent, create_research_agent, create_self_critique_agent
from guardgraph.testing import InMemoryRecorder
from guardgraph.tools.demo import CRITIQUE_GOAL, load_demo_incident, load_demo_request

_numbers = count()


def new_database(postgres):
    """The URL of a place of its own on a server, empty."""
    name = f"runs{next(_numbers)}"
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")  # much cheaper than a database
    return f"{postgres}&options=-csearch_path%3D{name}".replace("postgresql://", "postgresql+psycopg://")


def make_file_url(tmp_path):
    """The URL of a store in a file that is not there yet."""
    return f"sqlite:///{tmp_path}/runs.db"


def make_url(request, tmp_path):
    """The URL of a store that is not there yet, in both kinds of databases."""
    return new_database(request.getfixturevalue("postgres")) if request.param == "postgres" else make_file_url(tmp_path)


def asked(recorder, question="What is the P1 first response target?", **caller):
    context = {"caller": caller} if caller else None
    return create_rag_agent(recorder=recorder).invoke({"question": question}, context=context)


@cache
def _recording():
    recorder = InMemoryRecorder()
    asked(recorder)
    return json.dumps(recorder.runs[0])


def recording(number=0, **caller):
    """Return a recording with a run_id of its own; quick, since only one run is made for all of them."""
    made = numbered(json.loads(_recording()), number)
    if caller:
        made["visits"][0]["opening"]["context"] = {"caller": caller}
    return made


@cache
def _recordings():
    recorder = InMemoryRecorder()
    asked(recorder, "What is the P1 target of ann@acme.example?", tenant="acme", user="ann")
    asked(recorder, "")
    create_research_agent(recorder=recorder).invoke(load_demo_request())
    given = {"goal": CRITIQUE_GOAL, "incident_context": load_demo_incident()}
    create_self_critique_agent(recorder=recorder).invoke(given)
    return [json.dumps(run) for run in recorder.runs]


def recordings():
    return [json.loads(text) for text in _recordings()]


def numbered(made, number):
    run_id = f"00000000-0000-4000-8000-{number:012d}"
    return {**made, "run_id": run_id, "result": {**made["result"], "run_id": run_id}}


@contextmanager
def opened(file):
    with closing(sqlite3.connect(file)) as connection, connection:
        yield connection


def everything_written(folder):
    return b"".join(file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file())

"""The examples with checkpoints: a run goes on in another process as if nothing had been, under today's settings."""

from __future__ import annotations

import asyncio

import postgres_checkpoints
import psycopg
import pytest
import sqlite_checkpoints
from example_runs import ENDINGS, EXAMPLES, ran
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from runs import masked

from guardgraph import create_rag_agent


@pytest.fixture(scope="module")
def server(postgres):
    """The address of a PostgreSQL server."""
    return postgres


@pytest.fixture
def address(server):
    """The address of an empty database on that server."""
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS runs WITH (FORCE)")
        connection.execute("CREATE DATABASE runs")
    return server.replace("/postgres?", "/runs?")


def halves(saver, request, context=None):
    """Run both halves of an RAG run, each with a graph of its own: (what came next in between, the result)."""
    make, given = request
    between = sqlite_checkpoints.start(make(checkpointer=saver), given)
    return between, sqlite_checkpoints.resume(make(checkpointer=saver), context)


async def async_halves(saver, request, context=None):
    """Run both halves as `halves` does, asynchronously."""
    make, given = request
    between = await postgres_checkpoints.start(make(checkpointer=saver), given, "1")
    return between, await postgres_checkpoints.resume(make(checkpointer=saver), "1", context)


def with_sqlite(folder, address, *run):
    """Keep a run in a file."""
    with SqliteSaver.from_conn_string(str(folder / "runs.sqlite")) as saver:
        return halves(saver, *run)


def with_async_sqlite(folder, address, *run):
    """Keep a run in a file, asynchronously."""

    async def both():
        async with AsyncSqliteSaver.from_conn_string(str(folder / "runs.sqlite")) as saver:
            return await async_halves(saver, *run)

    return asyncio.run(both())


def with_postgres(folder, address, *run):
    """Keep a run in a database."""
    with PostgresSaver.from_conn_string(address) as saver:
        saver.setup()
        return halves(saver, *run)


def with_async_postgres(folder, address, *run):
    """Keep a run in a database, asynchronously."""

    async def both():
        async with AsyncPostgresSaver.from_conn_string(address) as saver:
            await saver.setup()
            return await async_halves(saver, *run)

    return asyncio.run(both())


SAVERS = pytest.mark.parametrize("kept", [with_sqlite, with_async_sqlite, with_postgres, with_async_postgres])


@SAVERS
def test_every_ending_comes_through_a_checkpoint(kept, tmp_path, address):
    """Interrupted in the middle, or over before it, a run returns what it returns without a checkpointer."""
    for name, ending in ENDINGS.items():
        expected = ending.direct()
        between, result = kept(tmp_path, address, (ending.agent, {"question": ending.question}))
        assert masked(result) == expected, name
        assert between == (("retrieve",) if "retrieve" in expected["path"] else ())


@SAVERS
def test_a_source_that_was_switched_off_meanwhile_is_not_read(kept, tmp_path, address):
    """The context of the second half counts: without the source the run stops, and without time too."""

    def make(**more):
        return create_rag_agent(planner=sqlite_checkpoints.plan, **more)

    for context, reason in (
        (sqlite_checkpoints.only(["billing_policy"]), "source_denied:support_policy"),
        (sqlite_checkpoints.only(["support_policy", "billing_policy"]), "success"),
        ({"budget": {"max_seconds": 0.0}}, "max_seconds"),
        (None, "success"),
    ):
        between, result = kept(tmp_path, address, (make, sqlite_checkpoints.QUESTION), context)
        assert (between, result["stop_reason"]) == (("retrieve",), reason)
        assert ("answer" in result) == (reason == "success")


DIES = """
import os, sys
from langgraph.checkpoint.{kind} import {saver}
from sqlite_checkpoints import QUESTION, THREAD, plan
from guardgraph import RagPolicy, create_rag_agent
names = ["support_policy"]
policy = RagPolicy(allowed_sources_policy=names, allowed_sources_execution=names)
with {saver}.from_conn_string(sys.argv[1]) as saver:
    saver.setup()
    agent = create_rag_agent(planner=plan, retriever=lambda request: os._exit(9), policy=policy, checkpointer=saver)
    agent.invoke(QUESTION, THREAD, durability="sync")
"""


@pytest.mark.unreplayable  # the process that died had another policy
@pytest.mark.parametrize(("kind", "saver"), [("sqlite", SqliteSaver), ("postgres", PostgresSaver)])
def test_a_run_survives_the_death_of_its_process(kind, saver, tmp_path, address):
    """A process that dies while it reads leaves a run that another process ends as if nothing had been."""
    where = str(tmp_path / "runs.sqlite") if kind == "sqlite" else address
    died = ran("-c", DIES.format(kind=kind, saver=saver.__name__), where, folder=EXAMPLES)
    assert died.returncode == 9, died.stderr
    uninterrupted = create_rag_agent(planner=sqlite_checkpoints.plan).invoke(sqlite_checkpoints.QUESTION)
    with saver.from_conn_string(where) as checkpointer:
        graph = create_rag_agent(planner=sqlite_checkpoints.plan, checkpointer=checkpointer)
        assert graph.get_state(sqlite_checkpoints.THREAD).next == ("retrieve",)
        assert masked(sqlite_checkpoints.resume(graph)) == masked(uninterrupted)

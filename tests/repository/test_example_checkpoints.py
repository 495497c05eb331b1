"""The examples with checkpoints: a run goes on in another process as if nothing had been, under today's settings."""

import asyncio

import postgres_checkpoints
import pytest
import sqlite_checkpoints
from example_runs import EXAMPLES, ran
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from runs import masked

from guardgraph import create_rag_agent


@pytest.fixture
def address(new_postgres):
    return new_postgres()


def with_sqlite(folder, address, context):
    """Return what comes next in the middle of a run, and its result."""
    with SqliteSaver.from_conn_string(str(folder / "runs.sqlite")) as saver:
        first, second = (create_rag_agent(planner=sqlite_checkpoints.plan, checkpointer=saver) for _ in range(2))
        between = sqlite_checkpoints.start(first, sqlite_checkpoints.QUESTION)
        return between, sqlite_checkpoints.resume(second, context)


def with_postgres(folder, address, context):
    """Return the same of a run that is awaited."""

    async def both():
        async with AsyncPostgresSaver.from_conn_string(address) as saver:
            await saver.setup()
            first, second = (create_rag_agent(planner=sqlite_checkpoints.plan, checkpointer=saver) for _ in range(2))
            between = await postgres_checkpoints.start(first, sqlite_checkpoints.QUESTION, "1")
            return between, await postgres_checkpoints.resume(second, "1", context)

    return asyncio.run(both())


@pytest.mark.parametrize("kept", [with_sqlite, with_postgres])
def test_a_source_that_was_switched_off_meanwhile_is_not_read(kept, tmp_path, address):
    """The context of the second half counts: without the source the run stops, and without time too."""
    for context, reason in (
        (sqlite_checkpoints.only(["billing_policy"]), "source_denied:support_policy"),
        (sqlite_checkpoints.only(["support_policy", "billing_policy"]), "success"),
        ({"budget": {"max_seconds": 0.0}}, "max_seconds"),
        (None, "success"),
    ):
        between, result = kept(tmp_path, address, context)
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

"""What a run writes into checkpoints in PostgreSQL: a large outcome once, and nothing of an earlier run."""

import psycopg
import pytest
from langgraph.checkpoint.postgres import PostgresSaver
from recorded_runs import Kept
from runs import THREAD
from ticket_pattern import TICKET, triage

from guardgraph.grammar import Call

MEGABYTE = 1_000_000


@pytest.fixture(scope="module")
def address(new_postgres):
    """The address of an empty PostgreSQL database."""
    return new_postgres()


def bytes_by_channel(address):
    with psycopg.connect(address) as connection:
        rows = connection.execute("SELECT channel, sum(length(blob)) FROM checkpoint_blobs GROUP BY channel").fetchall()
        connection.execute("TRUNCATE checkpoints, checkpoint_blobs, checkpoint_writes")
    return {channel: int(size or 0) for channel, size in rows}


def lookup(state, run):
    came = yield Call("tool", lambda request: f"Ada {'x' * MEGABYTE}", {"desk": "bug"})
    return {"found_duty": f'["value", "{came.content[:3]}", {{}}]'}


def test_a_large_outcome_is_written_once(address):
    """A megabyte that a tool returned is in the channel of its node's calls, in one version, and in no other."""
    kept = Kept()
    with PostgresSaver.from_conn_string(address) as saver:
        saver.setup()
        graph = triage(bodies={"lookup": lookup}, checkpointer=saver, recorder=kept)
        assert graph.invoke(TICKET, THREAD)["on_duty"] == "Ada"
    sizes = bytes_by_channel(address)
    assert MEGABYTE < sizes.pop("calls:lookup") < 1.01 * MEGABYTE
    assert sum(sizes.values()) < 0.05 * MEGABYTE
    assert len(kept.texts[0]) < 1.05 * MEGABYTE

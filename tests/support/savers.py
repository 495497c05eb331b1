"""Checkpointers that tests run on: in memory, and in a file."""

from __future__ import annotations

from contextlib import contextmanager

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver


@contextmanager
def memory(path):
    """Yield a saver that keeps checkpoints in memory."""
    yield InMemorySaver()


@contextmanager
def sqlite(path):
    """Yield a saver that keeps checkpoints in a file."""
    with SqliteSaver.from_conn_string(str(path / "runs.sqlite")) as saver:
        yield saver


SAVERS = pytest.mark.parametrize("saver", [memory, sqlite])
"""A test with a parameter `saver`, of which it makes one in a folder."""

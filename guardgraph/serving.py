"""The three agents as LangGraph's own server loads them; ``langgraph.json`` names them.

The server asks for its graph anew for every run, on its event loop: each is built once, in a thread, when it is first
asked for. They are offline, or on the model in ``GUARDGRAPH_MODEL``, and record their runs in the store whose URL is in
``GUARDGRAPH_AUDIT``; a policy, a budget or a knowledge base of your own stands in a graph of your own, beside these or
in their place.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from functools import cache
from threading import Lock

from guardgraph.evidence.sql.store import SqlStore, sql_store
from guardgraph.graphs.door import GuardedGraph
from guardgraph.graphs.rag import create_rag_agent
from guardgraph.graphs.research import create_research_agent
from guardgraph.graphs.self_critique import create_self_critique_agent
from guardgraph.state.errors import ConfigurationError, StoreError

__all__ = ["rag", "research", "self_critique"]


async def rag() -> GuardedGraph:
    """Return the RAG agent on the demo's documents.

    Raises:
        ConfigurationError: the model in ``GUARDGRAPH_MODEL``, or a variable that it needs, is wrong; or the store in
            ``GUARDGRAPH_AUDIT`` cannot be opened.
    """
    return await _served(create_rag_agent)


async def research() -> GuardedGraph:
    """Return the Research agent on the demo's recordings; see `rag`."""
    return await _served(create_research_agent)


async def self_critique() -> GuardedGraph:
    """Return the Self-critique agent; see `rag`."""
    return await _served(create_self_critique_agent)


_building = Lock()


async def _served(create: Callable[..., GuardedGraph]) -> GuardedGraph:
    return await asyncio.to_thread(_built_once, create, _said("GUARDGRAPH_MODEL"), _said("GUARDGRAPH_AUDIT"))


def _said(variable: str) -> str | None:
    return os.environ.get(variable, "").strip() or None


def _built_once(create: Callable[..., GuardedGraph], model: str | None, audit: str | None) -> GuardedGraph:
    with _building:  # a cache alone lets first runs that come at the same time build a graph each
        return _built(create, model, audit)


@cache
def _built(create: Callable[..., GuardedGraph], model: str | None, audit: str | None) -> GuardedGraph:
    agent = create(model, recorder=None if audit is None else _store(audit))
    agent.open()  # here, in a thread, and not on the event loop of the first run
    return agent


@cache
def _store(url: str) -> SqlStore:
    """Return the store that the agents share, once it has answered."""
    try:
        store = sql_store(url)
        store.head()
    except (ConfigurationError, StoreError) as error:
        raise ConfigurationError(f"GUARDGRAPH_AUDIT: {error}") from None
    return store

"""The agents as LangGraph's own server loads them; ``langgraph.json`` names them.

The server asks for its graph anew for every run, on its event loop: each is built once, in a thread, when it is first
asked for. They are offline, or on the model in ``GUARDGRAPH_MODEL``, record their runs in the store whose URL is in
``GUARDGRAPH_AUDIT``, and hold the policy files in the folder ``GUARDGRAPH_POLICY``, as the tenant ``GUARDGRAPH_TENANT``
where it is set. The live policy in the file ``GUARDGRAPH_LIVE`` switches them off, and the factory ``GUARDGRAPH_WORLD``
(``module:factory``) makes the world of their calls. A knowledge base of your own stands in a graph of your own, beside
these or in their place.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

from langgraph.graph.state import CompiledStateGraph

from guardgraph.evidence.sql.store import SqlStore, sql_store
from guardgraph.graphs.loading import load_named_world
from guardgraph.graphs.messages import MessagesAgent
from guardgraph.graphs.rag import create_rag_agent
from guardgraph.graphs.research import create_research_agent
from guardgraph.graphs.running.door import GuardedGraph
from guardgraph.graphs.running.live_policy import LivePolicy, live_policy
from guardgraph.graphs.self_critique import create_self_critique_agent
from guardgraph.graphs.tools import create_tool_agent
from guardgraph.plain.errors import ConfigurationError, StoreError
from guardgraph.policies.file import read_policy_in_folder
from guardgraph.world.call import World


async def rag() -> GuardedGraph:
    """Return the RAG agent on the demo's documents.

    Raises:
        ConfigurationError: the model in ``GUARDGRAPH_MODEL``, or a variable that it needs, is wrong; the store in
            ``GUARDGRAPH_AUDIT`` cannot be opened; the agent's file in ``GUARDGRAPH_POLICY`` is wrong, or has tenants
            of whom ``GUARDGRAPH_TENANT`` names none; ``GUARDGRAPH_LIVE`` is no file, or ``GUARDGRAPH_WORLD`` makes no
            world.
    """
    return await _serve_agent("rag", create_rag_agent)


async def research() -> GuardedGraph:
    """Return the Research agent on the demo's recordings; see `rag`."""
    return await _serve_agent("research", create_research_agent)


async def self_critique() -> GuardedGraph:
    """Return the Self-critique agent; see `rag`."""
    return await _serve_agent("self_critique", create_self_critique_agent)


async def tools() -> GuardedGraph:
    """Return the tool agent with the demo's office; see `rag`."""
    return await _serve_agent("tools", create_tool_agent)


async def chat() -> CompiledStateGraph[Any, Any, Any, Any]:
    """Return the RAG agent for chats: messages in, and its answer as a message behind them; see `rag`."""
    return _build_chat(await rag())


@cache
def _build_chat(agent: GuardedGraph) -> CompiledStateGraph[Any, Any, Any, Any]:
    return MessagesAgent(agent).compile()


_building = Lock()

LIVE, WORLD = "GUARDGRAPH_LIVE", "GUARDGRAPH_WORLD"
VARIABLES = ("GUARDGRAPH_MODEL", "GUARDGRAPH_AUDIT", "GUARDGRAPH_POLICY", "GUARDGRAPH_TENANT", LIVE, WORLD)
"""What of the environment an agent is built by."""


async def _serve_agent(pattern: str, create: Callable[..., GuardedGraph]) -> GuardedGraph:
    return await asyncio.to_thread(_build_agent_once, pattern, create, *map(_read_variable, VARIABLES))


def _read_variable(variable: str) -> str | None:
    return os.environ.get(variable, "").strip() or None


def _build_agent_once(*named: Any) -> GuardedGraph:
    with _building:  # a cache alone lets first runs that come at the same time build a graph each
        return _build_agent(*named)


@cache
def _build_agent(pattern: str, create: Callable[..., GuardedGraph], *variables: str | None) -> GuardedGraph:
    model, audit, folder, tenant, live, world = variables
    shared = {
        "recorder": None if audit is None else _open_run_store(audit),
        "live": None if live is None else _open_live_policy(live),
        "world": None if world is None else _load_served_world(world),
    }
    agent = create(model, **shared, **_read_agent_settings(pattern, folder, tenant))
    agent.open()  # here, in a thread, and not on the event loop of the first run
    return agent


def _read_agent_settings(pattern: str, folder: str | None, tenant: str | None) -> dict[str, Any]:
    """Return what the pattern's file in a folder says; nothing where it has none, and its defaults hold."""
    try:
        if folder is None:
            if tenant is not None:
                raise ConfigurationError(f"a folder is required beside GUARDGRAPH_TENANT; given: {tenant!r:.80}")
            return {}
        read = read_policy_in_folder(folder, pattern)
    except ConfigurationError as error:
        raise ConfigurationError(f"GUARDGRAPH_POLICY: {error}") from None
    if read is None:
        return {}
    if tenant is None and read.tenants:  # who asks chooses no overlay, so without a name none would hold for anybody
        raise ConfigurationError(
            f"GUARDGRAPH_TENANT: one of {pattern}'s tenants is required: {', '.join(read.tenants):.200}; given: nothing"
        )
    try:
        return read.settings(tenant)
    except ConfigurationError as error:
        raise ConfigurationError(f"GUARDGRAPH_TENANT: {error}") from None


@cache
def _open_live_policy(file: str) -> LivePolicy:
    """Return the live policy that the agents share; one that is not there is made by `guardgraph policy switch`."""
    try:
        if not Path(file).is_file():
            raise ConfigurationError(f"a file is required; given: {file!r:.200}")
        return live_policy(file)
    except ConfigurationError as error:
        raise ConfigurationError(f"{LIVE}: {error}") from None


@cache
def _load_served_world(target: str) -> World:
    """Return the world that the agents share, and with it its circuits and its budgets."""
    return load_named_world(target, WORLD)


@cache
def _open_run_store(url: str) -> SqlStore:
    """Return the store that the agents share, made where there is none: nobody is to find out run by run."""
    try:
        store = sql_store(url)
        store.open()
    except (ConfigurationError, StoreError) as error:
        raise ConfigurationError(f"GUARDGRAPH_AUDIT: {error}") from None
    return store

"""What the served graphs are asked, and the clients that can ask: functions that make runs."""

import ast
import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager

from langgraph.pregel.remote import RemoteGraph
from langgraph_sdk import get_client, get_sync_client
from rag_agents import QUESTION
from research_cases import GOAL, REQUEST
from self_critique_cases import GIVEN

from guardgraph.graphs.patterns import PATTERNS

_PARSING = threading.Lock()
"""Python 3.11 counts the levels of a tree that it parses for all threads together (CPython issue 106905)."""
CREATE = {name: pattern.create_agent for name, pattern in PATTERNS.items()}
INPUT = {
    "rag": QUESTION,
    "research": {"goal": GOAL, "request": REQUEST},
    "self_critique": GIVEN,
    "tools": PATTERNS["tools"].demo(),
}


def sdk(url, graph, given, **kwargs):
    with get_sync_client(url=url) as client:
        return client.runs.wait(None, graph, input=given, **kwargs)


def async_sdk(url, graph, given, **kwargs):
    async def ask():
        async with get_client(url=url) as client:
            return await client.runs.wait(None, graph, input=given, **kwargs)

    return asyncio.run(ask())


def on_a_thread(url, graph, given, **kwargs):
    with get_sync_client(url=url) as client:
        return client.runs.wait(client.threads.create()["thread_id"], graph, input=given, **kwargs)


def remote(url, graph, given, **kwargs):
    with get_sync_client(url=url) as client:
        return RemoteGraph(graph, sync_client=client).invoke(given, **kwargs)


def async_remote(url, graph, given, **kwargs):
    async def ask():
        async with get_client(url=url) as client:
            return await RemoteGraph(graph, client=client).ainvoke(given, **kwargs)

    return asyncio.run(ask())


@asynccontextmanager
async def _mcp_session(url):
    from mcp import ClientSession
    from mcp.client.streamable_http import streamable_http_client

    async with streamable_http_client(f"{url}/mcp") as (reads, writes, _), ClientSession(reads, writes) as session:
        await session.initialize()
        yield session
    await asyncio.sleep(0.1)  # its sockets are closed in the next steps of the loop


def mcp_tool(url, graph, given):
    async def ask():
        async with _mcp_session(url) as client:
            [text] = (await client.call_tool(graph, given)).content
            return text.text

    text = asyncio.run(ask())
    with _PARSING:
        return ast.literal_eval(text)


def mcp_tools(url):
    """Return the tools that a client of the Model Context Protocol finds: what each is for, by name."""

    async def ask():
        async with _mcp_session(url) as client:
            return {tool.name: tool.description for tool in (await client.list_tools()).tools}

    return asyncio.run(ask())


def begun(client, thread):
    """Begin a run whose planner waits, and return its id when it waits."""
    run_id = client.runs.create(thread, "waiting", input=QUESTION)["run_id"]
    for _ in range(2400):
        if client.runs.get(thread, run_id)["status"] == "running":
            return run_id
        time.sleep(0.05)
    raise AssertionError("the run did not begin")


def at_once(calls):
    with ThreadPoolExecutor(len(calls)) as pool:
        return [made.result() for made in [pool.submit(call) for call in calls]]


WITH_CONTEXT = [sdk, async_sdk, on_a_thread, remote, async_remote]
"""Clients that can give a context."""

CLIENTS = [*WITH_CONTEXT, mcp_tool]

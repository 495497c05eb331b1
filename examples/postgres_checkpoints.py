"""A run that is interrupted, and goes on in another process, with PostgreSQL and asyncio, as in a web server.

    python postgres_checkpoints.py                               the whole story, on a server of its own
    python postgres_checkpoints.py start ADDRESS THREAD          plan the retrieval, then end
    python postgres_checkpoints.py resume ADDRESS THREAD [SOURCE ...]   go on; only these sources may be read

ADDRESS is that of a server, such as ``postgresql://me@localhost/runs``, and THREAD the name of the run. Any process
that reaches the server can go on with it; ``sqlite_checkpoints.py`` says what holds then.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import Any

from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from postgres_server import postgres_server
from sqlite_checkpoints import QUESTION, only, plan

from guardgraph import GuardedGraph, RagResult, create_rag_agent


async def start(graph: GuardedGraph, request: dict[str, Any], thread: str) -> tuple[str, ...]:
    """Run a graph until it is about to read, and return the node that comes next; none if the run ended before."""
    config = {"configurable": {"thread_id": thread}}
    await graph.ainvoke(request, config, interrupt_before=["retrieve"])
    return (await graph.aget_state(config)).next


async def resume(graph: GuardedGraph, thread: str, context: dict[str, Any] | None = None) -> RagResult:
    """Go on where the run stands, under the context of this moment."""
    return await graph.ainvoke(None, {"configurable": {"thread_id": thread}}, context=context)


async def step(name: str, address: str, thread: str, sources: list[str]) -> None:
    """Do one half of the run."""
    async with AsyncPostgresSaver.from_conn_string(address) as saver:
        await saver.setup()  # makes the tables, where they are not there yet
        graph = create_rag_agent(planner=plan, checkpointer=saver)
        if name == "start":
            print("next:", *await start(graph, QUESTION, thread))
        else:
            result = await resume(graph, thread, only(sources))
            print(f"{result['stop_reason']}:", result.get("answer"))


def main(arguments: list[str]) -> None:
    """Do one step, or tell the whole story twice: the second time, the source is switched off in between."""
    match arguments:
        case []:
            with postgres_server() as address:
                for thread, sources in (("first", []), ("second", ["billing_policy"])):
                    for half in (["start", address, thread], ["resume", address, thread, *sources]):
                        subprocess.run([sys.executable, __file__, *half], check=True)
        case ["start", address, thread]:
            asyncio.run(step("start", address, thread, []))
        case ["resume", address, thread, *sources]:
            asyncio.run(step("resume", address, thread, sources))
        case _:
            print(__doc__, file=sys.stderr)
            sys.exit(2)


if __name__ == "__main__":
    main(sys.argv[1:])

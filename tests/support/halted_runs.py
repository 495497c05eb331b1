"""Runs that are left between two nodes, as by a process that ends there, and that go on later."""

import asyncio
from contextlib import aclosing, closing


def halt_before(agent, given, config, *nodes, mode="invoke", **kwargs):
    """Follow a run until one of these nodes is the next, and leave it there; else to its end, or until it waits.

    Args:
        agent: a guarded graph with a checkpointer.
        given: the input, an answer, or None to go on.
        config: with the thread.
        *nodes: which would be the next one; where the run stands already does not count.
        mode: ``ainvoke`` follows it asynchronously.
        **kwargs: such as a context.

    Returns:
        Whether it was left.
    """
    stood = _place(agent, config)
    if mode == "ainvoke":
        return asyncio.run(_afollow(agent, given, config, nodes, stood, kwargs))
    with closing(agent.stream(given, config, stream_mode="values", **kwargs)) as chunks:
        return any(_stands(agent, config, nodes, stood) for _ in chunks)


async def _afollow(agent, given, config, nodes, stood, kwargs):
    async with aclosing(agent.astream(given, config, stream_mode="values", **kwargs)) as chunks:
        async for _ in chunks:
            if _stands(agent, config, nodes, stood):
                return True
    return False


def _stands(agent, config, nodes, stood):
    state = agent.get_state(config)
    return state.config["configurable"]["checkpoint_id"] != stood and state.next in {(node,) for node in nodes}


def _place(agent, config):
    return agent.get_state(config).config["configurable"].get("checkpoint_id")

"""A call that nobody hears of who follows the run by LangChain's callbacks, events or traces."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from guardgraph.world.call import Call


@contextmanager
def silence_callbacks(call: Call) -> Iterator[None]:
    """Make a call that may be refused without callbacks: what it brings would be told before anybody has judged it.

    All else that LangGraph hands on stays, such as what an interrupt needs.
    """
    if call.refuse is None:
        yield
        return
    # they take a while to import, and a run has loaded them by now
    from langchain_core.runnables.config import var_child_runnable_config
    from langchain_core.tracers.context import run_collector_var, tracing_v2_callback_var
    from langsmith.run_helpers import tracing_context

    handed_on = {name: item for name, item in (var_child_runnable_config.get() or {}).items() if name != "callbacks"}
    silenced: list[tuple[ContextVar[Any], Any]] = [
        (var_child_runnable_config, handed_on),
        (tracing_v2_callback_var, None),
        (run_collector_var, None),
    ]
    tokens = [(variable, variable.set(value)) for variable, value in silenced]
    try:
        with tracing_context(enabled=False):
            yield
    finally:
        for variable, token in tokens:
            variable.reset(token)

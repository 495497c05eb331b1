"""The conditional edges: a guard's goes where its verdict says, an ok terminal's to the end unless it failed."""

from __future__ import annotations

from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.graph import END

from guardgraph.graphs.end import FAILED_ENDING
from guardgraph.state.json import JsonObject

__all__ = ["EndingRouter", "Router"]


class Router(Runnable[JsonObject, str]):
    """Reads the route that the guard in front of it has written."""

    name = "route"

    def invoke(self, input: JsonObject, config: RunnableConfig | None = None, **kwargs: Any) -> str:
        """Return the name of the next node."""
        return str(input["route"])

    async def ainvoke(self, input: JsonObject, config: RunnableConfig | None = None, **kwargs: Any) -> str:
        """Return the name of the next node."""
        return self.invoke(input, config)


class EndingRouter(Router):
    """Ends the run after an ok terminal, or leads to the stop that says that it failed."""

    def invoke(self, input: JsonObject, config: RunnableConfig | None = None, **kwargs: Any) -> str:
        """Return the name of the next node."""
        return FAILED_ENDING if input.get("route") == FAILED_ENDING else END

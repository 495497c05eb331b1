"""The conditional edge of every guard: it goes where the guard's verdict says, nowhere else."""

from __future__ import annotations

from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig

from guardgraph.state.json import JsonObject

__all__ = ["Router"]


class Router(Runnable[JsonObject, str]):
    """Reads the route that the guard in front of it has written."""

    name = "route"

    def invoke(self, input: JsonObject, config: RunnableConfig | None = None, **kwargs: Any) -> str:
        """Return the name of the next node."""
        return str(input["route"])

    async def ainvoke(self, input: JsonObject, config: RunnableConfig | None = None, **kwargs: Any) -> str:
        """Return the name of the next node."""
        return self.invoke(input, config)

"""The table of a pattern: its tools by name. Bodies name a tool, and only the table has the function.

So nothing is called past the one place at which a call is licensed. The table says too which channels hold what was
given to the run, since that, and nothing that a model or a tool wrote, licenses what calls do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from langchain_core.runnables import Runnable

from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.json import JsonObject, find_json_problem
from guardgraph.state.outcome import Outcome
from guardgraph.state.tools import ToolCard
from guardgraph.world.call import Outside


@dataclass(frozen=True)
class NamedTool:
    """A tool of a table: who is called under its name. What it may do, its rule in the policy says."""

    target: Outside
    """A Runnable, such as a tool of LangChain's, or a function of one dictionary; one with a parameter
    ``idempotency_key`` is given the key of a write."""
    description: str = ""
    """What it does, for whoever proposes a call."""
    schema: JsonObject = field(default_factory=dict)
    """JSON Schema of its arguments."""
    reconcile: Callable[[str], Outcome | None] | None = None
    """Asked by the key of a write what came of it; see `Call`."""


class ToolTable:
    """The tools of a pattern by name, and the channels that hold what was given to a run.

    Args:
        tools: by name.
        task: the channel with the text of whoever runs the agent; only the entry guard may write it.
        history: the channel with the turns before it, ``[{"role": str, "content": str}]``, likewise.

    Raises:
        ConfigurationError: a name is no text or blank, a tool is no `NamedTool`, nobody can call it, or its description
            or schema is no plain JSON.
    """

    def __init__(self, tools: Mapping[str, NamedTool], *, task: str = "task", history: str | None = None) -> None:
        for name, tool in tools.items():
            _check_named_tool(name, tool)
        self.tools = MappingProxyType(dict(tools))
        self.task, self.history = task, history
        self.cards: Mapping[str, ToolCard] = MappingProxyType(
            {
                name: ToolCard(name=name, description=tool.description, schema=tool.schema)
                for name, tool in tools.items()
            }
        )
        """What is known of each tool beside its function."""

    def __repr__(self) -> str:
        return f"<ToolTable {', '.join(self.tools) or 'empty'}>"

    @property
    def given(self) -> tuple[str, ...]:
        """The channels that hold what was given."""
        return (self.task,) if self.history is None else (self.task, self.history)


def _check_named_tool(name: object, tool: object) -> None:
    if not isinstance(name, str) or not name.strip() or find_json_problem(name) is not None:
        raise ConfigurationError(f"tools: names that are texts and not blank are required; given: {name!r:.80}")
    if not isinstance(tool, NamedTool):
        raise ConfigurationError(f"tools.{name:.80}: a NamedTool is required; given: {type(tool).__name__}")
    if not (isinstance(tool.target, Runnable) or callable(tool.target)):
        given = type(tool.target).__name__
        raise ConfigurationError(f"tools.{name:.80}: a Runnable or a function of one dictionary; given: {given}")
    if not isinstance(tool.description, str) or not isinstance(tool.schema, dict):
        raise ConfigurationError(f"tools.{name:.80}: a text as description and an object as schema are required")
    if (problem := find_json_problem([tool.description, tool.schema])) is not None:
        raise ConfigurationError(f"tools.{name:.80}: plain JSON as description and schema is required, not {problem}")

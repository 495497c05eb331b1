"""What a tool of LangChain's brings: a message, a command, or several of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import ToolMessage
from langgraph.types import Command

from guardgraph.graphs.guard_nodes import read_tool_message
from guardgraph.plain.json import JsonObject


def list_parts(brought: Any) -> list[Any]:
    """Return the messages and commands that a tool brought."""
    return brought if isinstance(brought, list) else [brought]


def find_message(parts: Sequence[Any], call_id: str | None) -> ToolMessage | None:
    """Return the message that answers a call."""
    messages = list[Any]()
    for part in parts:
        messages += read_update(part).get("messages", []) if isinstance(part, Command) else [part]
    return next((m for m in messages if isinstance(m, ToolMessage) and m.tool_call_id == call_id), None)


def read_update(brought: Command[Any]) -> dict[str, Any]:
    """Return what a command writes."""
    return brought.update if isinstance(brought.update, dict) else dict(brought.update or [])


def add_update(brought: Any, update: dict[str, Any]) -> Any:
    """Return what a tool brought, with something more for the state."""
    if isinstance(brought, list):
        return [*brought, Command(update=update)]
    if not isinstance(brought, Command):
        return Command(update={"messages": [brought], **update})
    return Command(
        graph=brought.graph, goto=brought.goto, resume=brought.resume, update={**read_update(brought), **update}
    )


def read_brought(parts: Sequence[Any], call_id: str | None) -> JsonObject:
    """Return what a call brought as plain JSON; see `read_tool_message`."""
    message = find_message(parts, call_id)
    return {"value": None} if message is None else read_tool_message(message)

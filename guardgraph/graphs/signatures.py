"""What type checkers know of the calls of a guarded graph: its types, and the arguments that LangGraph is handed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from langchain_core.runnables import RunnableConfig
from langgraph.types import All, Command, Durability, StreamMode
from typing_extensions import TypedDict, TypeVar

__all__ = ["Config", "ContextT", "Extras", "Forms", "Given", "InputT", "ResultT", "Within"]

InputT = TypeVar("InputT", default=Any)
"""What a run is given."""
ContextT = TypeVar("ContextT", default=Any)
"""What a run may tighten."""
ResultT = TypeVar("ResultT", default=Any)
"""What a run returns."""

Given: TypeAlias = InputT | Command[Any] | None
"""What begins a run, answers one that waits, or has one go on."""
Within: TypeAlias = ContextT | Mapping[str, Any] | None
"""A context, or the dictionary of one."""
Config: TypeAlias = RunnableConfig | None
"""LangGraph's configuration of a run."""


class Extras(TypedDict, total=False):
    """Arguments of `invoke` that leave the result as it is."""

    durability: Durability | None
    print_mode: StreamMode | Sequence[StreamMode]


class Forms(Extras, total=False):
    """Arguments of `invoke` with which it returns another form than the result, or before the run is over."""

    stream_mode: StreamMode
    version: Literal["v1", "v2"]
    output_keys: str | Sequence[str] | None
    interrupt_before: All | Sequence[str] | None
    interrupt_after: All | Sequence[str] | None
    control: Any

"""Telling progress: nodes say in LangGraph's ``custom`` stream where a run is, if anybody asked for it.

A replay has no stream, and a recording keeps none of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeVar, cast

from langgraph.runtime import get_runtime
from langgraph.types import Overwrite

from guardgraph.graphs.running.effects import Needs
from guardgraph.graphs.running.session import Visit
from guardgraph.plain.json import JsonObject
from guardgraph.state.progress import Progress

T = TypeVar("T")


class ProgressTeller:
    """Tells the stream of a run what one visit does.

    Args:
        visit: of the node.
    """

    __slots__ = ("_visit", "_write")

    def __init__(self, visit: Visit) -> None:
        self._visit = visit
        runtime: Any = get_runtime()
        self._write: Callable[[Any], None] = _drop_event if runtime is None else runtime.stream_writer

    def tell_beginning(self) -> None:
        """Say that the node begins."""
        self._write(self._describe("began"))

    def tell_calls(self, driven: Needs[T]) -> Needs[T]:
        """Hand on what a node at work needs, and say what it calls before that is done."""
        try:
            asked = next(driven)
            while True:
                if isinstance(asked, tuple) and (calls := list(asked[0])):
                    self._tell_group(calls)
                try:
                    came = yield asked
                except Exception as error:  # noqa: BLE001 - it is thrown in where the node waits, and judged there
                    asked = driven.throw(error)
                else:
                    asked = driven.send(came)
        except StopIteration as end:
            return cast(T, end.value)

    def tell_update(self, update: JsonObject) -> None:
        """Say what came of the node: a guard's verdict, or the end of the run."""
        kind = self._visit.part.declaration.kind
        if kind == "guard":
            log = update["log"]
            [line] = log.value if isinstance(log, Overwrite) else log
            told = self._describe("judged")
            told["verdict"], told["to"] = line["verdict"], line["to"]
            if "reason" in line and (known := self._visit.part.frame.catalogue.find(line["reason"])) is not None:
                told["reason"] = known.reason
            self._write(told)
        elif kind == "terminal" and "status" in update:
            told = self._describe("ended")
            told["status"] = update["status"]
            self._write(told)

    def _tell_group(self, asked: list[Any]) -> None:
        told = self._describe("calling")
        told["calls"], told["of"] = len(asked), asked[0].call.kind
        tools = {item.call.tool for item in asked}
        if self._visit.part.declaration.tools and len(tools) == 1 and (tool := tools.pop()) is not None:
            told["tool"] = tool
        self._write(told)

    def _describe(self, event: Literal["began", "calling", "judged", "ended"]) -> Progress:
        item, visit = self._visit.part.declaration, self._visit
        return Progress(
            event=event,
            run_id=visit.session.run_id or "",
            pattern=visit.part.frame.name,
            node=item.name,
            kind=item.kind,
            phase=item.phase,
            visit=len(visit.log) + 1,
        )


def _drop_event(event: object) -> None:
    """Write nothing: a node runs outside a graph."""

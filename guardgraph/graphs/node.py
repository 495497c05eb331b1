"""A node made with the grammar: it enforces at run time what its declaration says.

Whatever its body does, a node writes only the channels that it declared; a guard leaves only by a way or a stop
family that it declared; a body that fails, returns a `Command` or calls out where it may not closes the run.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.errors import GraphBubbleUp
from langgraph.runtime import get_runtime
from langgraph.types import Overwrite

from guardgraph.graphs.door import REFUSED
from guardgraph.graphs.endings import finished, stopped
from guardgraph.guards.plain import storable
from guardgraph.guards.proposals import Outcome
from guardgraph.guards.stop import Stop
from guardgraph.nodes.body import Body, Call, Pass, Run, Steps
from guardgraph.nodes.calls import aperform, perform
from guardgraph.state.catalogue import Catalogue
from guardgraph.state.json import JsonObject
from guardgraph.state.run import Kind, Verdict
from guardgraph.state.settings import Budget, Context, Settings

__all__ = ["Declaration", "Frame", "GrammarNode"]


class GrammarBreach(Exception):
    """A body did what its declaration does not allow."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """What a node says of itself; it is all in the node's metadata, so that `verify` and pictures can read it."""

    name: str
    kind: Kind
    phase: str
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    to: tuple[str, ...] = ()
    stops: tuple[str, ...] = ()
    family: str | None = None
    """Of a stop terminal: the family that it ends."""
    entry: bool = False

    def metadata(self) -> JsonObject:
        """Return the declaration as LangGraph node metadata."""
        shown: JsonObject = {"kind": self.kind, "phase": self.phase, "writes": list(self.writes)}
        if self.kind == "guard":
            shown["stops"] = list(self.stops)
        if self.family is not None:
            shown["family"] = self.family
        return shown


@dataclass(frozen=True)
class Frame:
    """What the nodes of one pattern share."""

    catalogue: Catalogue
    policy: Settings
    budget: Budget
    clock: Callable[[], float]
    outputs: frozenset[str]
    lasting: tuple[str, ...]
    """Channels that outlive a step, which the entry guard clears."""
    declarations: dict[str, Declaration]

    def run(self, state: JsonObject) -> Run[Any, Any]:
        """Return the run as this node sees it, under the context of this very moment."""
        context = get_runtime().context
        spent = sum(entry["elapsed_ms"] for entry in state.get("log") or ()) / 1000
        if not isinstance(context, Context):
            return Run(self.policy, self.budget, None, spent)
        policy = self.policy.tightened_by(context.policy)
        return Run(policy, self.budget.tightened_by(context.budget), context.budget, spent)


Work = Generator[tuple[Call, float], Outcome, JsonObject]


class GrammarNode(Runnable[JsonObject, JsonObject]):
    """The Runnable that LangGraph runs for a node of a pattern."""

    def __init__(self, declaration: Declaration, body: Body | None, frame: Frame) -> None:
        self.declaration = declaration
        self.body = body
        self.frame = frame
        self.name = declaration.name

    def invoke(self, input: JsonObject, config: RunnableConfig | None = None, **kwargs: Any) -> JsonObject:
        """Run the node; calls to the outside wait in this thread."""
        work = self._work(input)
        try:
            call, seconds = next(work)
            while True:
                call, seconds = work.send(perform(call, seconds))
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]

    async def ainvoke(self, input: JsonObject, config: RunnableConfig | None = None, **kwargs: Any) -> JsonObject:
        """Run the node; calls to the outside are awaited."""
        work = self._work(input)
        try:
            call, seconds = next(work)
            while True:
                call, seconds = work.send(await aperform(call, seconds))
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]

    def _work(self, state: JsonObject) -> Work:
        if self.declaration.kind == "terminal":
            return self._ending(state)
            yield  # pragma: no cover - makes this function a generator like its siblings
        started = self.frame.clock()
        run = self.frame.run({} if self.declaration.entry else state)
        if self.declaration.kind == "guard":
            update, entry = self._judged(state, run, started)
        else:
            update, entry = (yield from self._spending(state, run, started)), {}
        elapsed = round((self.frame.clock() - started) * 1000, 3)
        line = {"node": self.declaration.name, "kind": self.declaration.kind, "elapsed_ms": elapsed, **entry}
        if self.declaration.entry:
            cleared = dict.fromkeys(self.frame.lasting)
            return {**cleared, "run": str(uuid4()), "log": Overwrite([line]), **update}
        return {**update, "log": [line]}

    def _spending(self, state: JsonObject, run: Run[Any, Any], started: float) -> Work:
        try:
            writes = yield from self._called(self._started(state, run), run, started)
            return self._declared(writes)
        except Stop as stop:
            return _denial(stop)
        except GraphBubbleUp:
            raise
        except Exception as error:  # noqa: BLE001 - a failing node closes the run at the guard behind it
            return _denial(self._failure(error))

    def _started(self, state: JsonObject, run: Run[Any, Any]) -> Any:
        if self.body is None:
            raise GrammarBreach("a node without a body")
        return self.body(state, run)

    def _called(self, made: Any, run: Run[Any, Any], started: float) -> Work:
        if not inspect.isgenerator(made):
            return made  # type: ignore[no-any-return]
        steps: Steps = made  # type: ignore[assignment]
        try:
            call: Any = next(steps)
            while True:
                if not isinstance(call, Call):
                    raise GrammarBreach(f"yielded a {type(call).__name__}; a body may yield a Call")
                left = run.budget.max_seconds - run.spent_seconds - (self.frame.clock() - started)
                call = steps.send((yield call, left))
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]

    def _judged(self, state: JsonObject, run: Run[Any, Any], started: float) -> tuple[JsonObject, JsonObject]:
        try:
            self._refuse(state)
            passed = self._started(state, run)
            way = self._way(passed)
            update = {**self._declared(passed.writes), "route": way}
            self._check_time(way, run, started)
        except Stop as stop:
            return self._stopping(stop), {}
        except Exception as error:  # noqa: BLE001 - the boundary that turns a failing guard into a stop
            return self._stopping(self._failure(error)), {}
        steps = [[storable(step.trace), storable(step.history)] for step in passed.steps]
        return update, {"steps": steps} if steps else {}

    def _refuse(self, state: JsonObject) -> None:
        if denial := state.get("denial"):
            raise Stop(denial["reason"], **denial["evidence"])
        if self.declaration.entry:
            for field in self.declaration.reads:
                value = state.get(field)
                if isinstance(value, dict) and REFUSED in value:
                    details = {"field": field, "given": value[REFUSED], "allowed": "plain JSON"}
                    raise Stop(f"invalid_request:{field}", details=details)

    def _way(self, passed: Any) -> str:
        if not isinstance(passed, Pass):
            raise GrammarBreach(f"returned a {type(passed).__name__}; a guard returns a Pass or raises a Stop")
        ways = self.declaration.to
        way = passed.to if passed.to is not None or len(ways) != 1 else ways[0]
        if way not in ways:
            raise GrammarBreach(f"passed to {way!r}; declared: {', '.join(ways)}")
        return str(way)

    def _declared(self, writes: Any) -> JsonObject:
        if not isinstance(writes, Mapping):
            raise GrammarBreach(f"returned a {type(writes).__name__}; a body returns a dictionary of channels")
        if undeclared := sorted(map(str, writes.keys() - set(self.declaration.writes))):
            raise GrammarBreach(f"wrote {', '.join(undeclared)}; declared: {', '.join(self.declaration.writes)}")
        return dict(writes)

    def _check_time(self, way: str, run: Run[Any, Any], started: float) -> None:
        following = self.frame.declarations[way]
        spent = run.spent_seconds + self.frame.clock() - started
        if following.kind in ("propose", "act") and spent >= run.budget.max_seconds:
            details = {"max_seconds": run.budget.max_seconds, "spent_seconds": round(spent, 3)}
            raise Stop("max_seconds", phase=following.phase, details=details)

    def _failure(self, error: Exception) -> Stop:
        details = {"type": type(error).__name__, "message": str(error)[:200]}
        return Stop(f"guard_error:{self.declaration.name}", details=details)

    def _stopping(self, stop: Stop) -> JsonObject:
        reason = self.frame.catalogue.find(stop.reason)
        evidence = dict(stop.evidence)
        phase = evidence.pop("phase", self.declaration.phase)
        unknown = evidence.keys() - self.frame.outputs
        if reason is None or reason.family not in self.declaration.stops or phase not in reason.phases or unknown:
            why = f"raised {stop!r} in phase {phase}, which its declaration and the catalogue do not allow"
            return self._stopping(self._failure(GrammarBreach(why)))
        verdict = Verdict(reason=stop.reason, phase=phase, evidence=storable(evidence))
        return {"route": f"stop_{reason.family}", "verdict": verdict}

    def _ending(self, state: JsonObject) -> JsonObject:
        if self.declaration.family is not None:
            return stopped(state, self.declaration.name, state["verdict"])
        try:
            result = self._declared(self._started(state, self.frame.run(state)))
            return finished(state, self.declaration.name, result)
        except Exception as error:  # noqa: BLE001 - a failing ending must not look like a good one
            stop = self._failure(error)
            verdict = Verdict(reason=stop.reason, phase=self.declaration.phase, evidence=stop.evidence)
            return stopped(state, self.declaration.name, verdict)


def _denial(stop: Stop) -> JsonObject:
    return {"denial": {"reason": stop.reason, "evidence": stop.evidence}}

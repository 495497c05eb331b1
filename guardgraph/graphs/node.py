"""A node made with the grammar: it enforces at run time what its declaration says.

Whatever its body does, a node writes only plain JSON to the channels that it declared; a guard leaves only by a way or
a stop family that it declared; a body that fails, returns a `Command` or calls out where it may not closes the run.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.errors import GraphInterrupt
from langgraph.runtime import get_runtime
from langgraph.types import Overwrite

from guardgraph.graphs.declaration import Declaration
from guardgraph.graphs.door import REFUSED
from guardgraph.graphs.endings import finished, stopped
from guardgraph.guards.stop import Stop, refused
from guardgraph.nodes.body import Body, Pass, Run
from guardgraph.state.catalogue import Catalogue
from guardgraph.state.context import Context
from guardgraph.state.json import JsonObject
from guardgraph.state.outcome import Outcome
from guardgraph.state.plain import copied, json_problem, storable
from guardgraph.state.run import LogEntry, Verdict
from guardgraph.state.settings import Budget, Settings
from guardgraph.world.call import Call
from guardgraph.world.calls import aperform, perform

__all__ = ["Frame", "GrammarNode"]

_CALLS = {"propose": "proposer", "act": "tool"}
"""Whom a kind of node may call."""


class GrammarBreach(Exception):
    """A body did what its declaration does not allow."""


@dataclass(frozen=True)
class Frame:
    """What the nodes of one pattern share."""

    catalogue: Catalogue
    policy: Settings
    budget: Budget
    context: type[Context[Any, Any]]
    """What a run of this pattern may give as context."""
    clock: Callable[[], float]
    evidence: frozenset[str]
    """Keys of the output that a stop may show."""
    lasting: tuple[str, ...]
    """Channels that outlive a step, which the entry guard clears."""
    declarations: dict[str, Declaration]

    def run(self, log: list[Any]) -> Run[Any, Any]:
        """Return the run as a node sees it after what `log` tells, under the context of this very moment."""
        context = self.context.within(get_runtime().context)
        spent = sum([entry["elapsed_ms"] for entry in log]) / 1000
        if context is None:
            return Run(self.policy, self.budget, spent)
        policy = self.policy.tightened_by(context.policy)
        return Run(policy, self.budget.tightened_by(context.budget), spent, context.caller)


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
        if not self.declaration.spends:
            return self._decided(input)
        work = self._asking(input)
        try:
            call, seconds = next(work)
            while True:
                try:
                    outcome = perform(call, seconds)
                except Exception as error:  # noqa: BLE001 - it is thrown in where the body waits, and judged there
                    call, seconds = work.throw(error)
                else:
                    call, seconds = work.send(outcome)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]

    async def ainvoke(self, input: JsonObject, config: RunnableConfig | None = None, **kwargs: Any) -> JsonObject:
        """Run the node; calls to the outside are awaited."""
        if not self.declaration.spends:
            return self._decided(input)
        work = self._asking(input)
        try:
            call, seconds = next(work)
            while True:
                try:
                    outcome = await aperform(call, seconds)
                except Exception as error:  # noqa: BLE001 - see invoke
                    call, seconds = work.throw(error)
                else:
                    call, seconds = work.send(outcome)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]

    def _decided(self, state: JsonObject) -> JsonObject:
        """Run a guard or a terminal, which calls nobody."""
        started = self.frame.clock()
        if self.declaration.kind == "terminal":
            return self._ending(state, started)
        log = [] if self.declaration.entry else state.get("log") or []
        update, said = self._judged(state, log, started)
        line = self._line(started, said)
        return self._begun(line, update) if self.declaration.entry else {**update, "log": [line]}

    def _begun(self, line: LogEntry, update: JsonObject) -> JsonObject:
        """Return what the entry guard writes: a run of its own, and nothing where an earlier one may have written."""
        run = {"run": str(uuid4())}
        if not _on_a_thread():
            return {**run, **update, "log": [line]}
        cleared = dict.fromkeys(self.frame.lasting)
        return {**cleared, **run, **update, "log": Overwrite([line]), "proposals": Overwrite([])}

    def _asking(self, state: JsonObject) -> Work:
        """Run a propose or act node, which calls out."""
        started, log = self.frame.clock(), state.get("log") or []
        update = yield from self._spending(state, log, started)
        kept: JsonObject = {"log": [self._line(started, {})]}
        if self.declaration.kind == "propose" and "denial" not in update:
            kept["proposals"] = [{"at": len(log), "channels": update}]
        return {**update, **kept}

    def _line(self, started: float, said: JsonObject) -> LogEntry:
        """Return the node's line in the log."""
        node = self.declaration
        elapsed = round((self.frame.clock() - started) * 1000, 3)
        line: Any = {"node": node.name, "kind": node.kind, "phase": node.phase, "elapsed_ms": elapsed, **said}
        return line  # type: ignore[no-any-return]

    def _spending(self, state: JsonObject, log: list[Any], started: float) -> Work:
        try:
            run = self.frame.run(log)
            self._check_time(self.declaration, run, started)
            writes = yield from self._called(self._started(state, run), run, started)
            return self._declared(writes)
        except GraphInterrupt:
            if _on_a_thread():
                raise
            return self._denied(GrammarBreach("interrupted the run, which nobody can resume without a checkpointer"))
        except Exception as error:  # noqa: BLE001 - a failing node closes the run at the guard behind it
            return self._denied(error)

    def _denied(self, error: Exception) -> JsonObject:
        stop = self._stop(error)
        return {"denial": storable({"reason": stop.reason, "evidence": stop.evidence})}

    def _started(self, state: JsonObject, run: Run[Any, Any]) -> Any:
        if self.body is None:
            raise GrammarBreach("a node without a body")
        # A copy: what a body does to its view must not reach the state.
        view = {name: copied(state[name]) for name in self.declaration.reads if name in state}
        return self.body(view, run)

    def _called(self, steps: Any, run: Run[Any, Any], started: float) -> Work:
        if not isinstance(steps, Generator):
            return steps  # type: ignore[no-any-return]
        made = 0
        try:
            yielded = next(steps)
            while True:
                made += 1
                call = self._allowed(yielded, made)
                left = run.budget.max_seconds - run.spent_seconds - (self.frame.clock() - started)
                yielded = steps.send((yield call, left))
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]

    def _allowed(self, yielded: Any, made: int) -> Call:
        whom = _CALLS[self.declaration.kind]
        if not isinstance(yielded, Call) or yielded.kind != whom:
            given = f"a Call of a {yielded.kind}" if isinstance(yielded, Call) else f"a {type(yielded).__name__}"
            raise GrammarBreach(f"yielded {given}; this node may yield Calls of a {whom}")
        if whom == "proposer" and made > 1:
            raise GrammarBreach("asked twice; a propose node makes one call at most")
        return yielded

    def _judged(self, state: JsonObject, log: list[Any], started: float) -> tuple[JsonObject, JsonObject]:
        steps: list[Any] = []
        try:
            self._refuse(state)
            run = self.frame.run(log)
            passed = self._started(state, run)
            way = self._way(passed)
            update = {**self._declared(passed.writes), "route": way}
            steps = [[storable(step.trace), storable(step.history)] for step in passed.steps]
            self._check_time(self.frame.declarations[way], run, started)
        except Exception as error:  # noqa: BLE001 - the boundary that turns a failing guard into a stop
            update = self._stopping(self._stop(error))
        said: JsonObject = {"to": update["route"]}
        if verdict := update.get("verdict"):
            said = {"verdict": "stop", **said, "reason": verdict["reason"]}
        else:
            said = {"verdict": "pass", **said}
        return update, {**said, "steps": steps} if steps else said

    def _refuse(self, state: JsonObject) -> None:
        if denial := state.get("denial"):
            raise Stop(denial["reason"], **denial["evidence"])
        if self.declaration.entry:
            for field in self.declaration.reads:
                value = state.get(field)
                if isinstance(value, dict) and REFUSED in value:
                    raise refused(field, value[REFUSED], "plain JSON")

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
        for channel, value in writes.items():
            if self.declaration.kind == "propose" and not isinstance(value, str):
                raise GrammarBreach(f"wrote a {type(value).__name__} to {channel}; a proposal is kept as JSON text")
            if (problem := json_problem(value)) is not None:
                raise GrammarBreach(f"wrote {problem} to {channel}; a state is plain JSON")
        return dict(writes)

    def _check_time(self, following: Declaration, run: Run[Any, Any], started: float) -> None:
        spent = run.spent_seconds + self.frame.clock() - started
        if following.spends and spent >= run.budget.max_seconds:
            details = {"max_seconds": run.budget.max_seconds, "spent_seconds": round(spent, 3)}
            raise Stop("max_seconds", phase=following.phase, details=details)

    def _stop(self, error: Exception) -> Stop:
        """Return the stop that a body raised, or the one that its failure is."""
        return error if isinstance(error, Stop) else self._failure(error)

    def _failure(self, error: Exception) -> Stop:
        details = {"type": type(error).__name__, "message": _message(error)}
        return Stop(f"guard_error:{self.declaration.name}", details=details)

    def _stopping(self, stop: Stop) -> JsonObject:
        reason = self.frame.catalogue.find(stop.reason) if isinstance(stop.reason, str) else None
        shown = dict(stop.evidence)
        phase = shown.pop("phase", self.declaration.phase)
        unknown = shown.keys() - self.frame.evidence
        if reason is None or reason.family not in self.declaration.stops or phase not in reason.phases or unknown:
            why = f"raised {stop!r} in phase {phase}, which its declaration and the catalogue do not allow"
            return self._stopping(self._failure(GrammarBreach(why)))
        return {"route": f"stop_{reason.family}", "verdict": _verdict(stop.reason, phase, shown)}

    def _ending(self, state: JsonObject, started: float) -> JsonObject:
        if self.declaration.family is not None:
            return stopped(state, self._line(started, {"phase": state["verdict"]["phase"]}), state["verdict"])
        try:
            result = self._declared(self._started(state, self.frame.run(state["log"])))
            return finished(state, self._line(started, {}), storable(result))
        except Exception as error:  # noqa: BLE001 - a failing ending must not look like a good one
            stop = self._failure(error)
            verdict = _verdict(stop.reason, self.declaration.phase, stop.evidence)
            return stopped(state, self._line(started, {"reason": stop.reason}), verdict)


def _verdict(reason: str, phase: str, evidence: JsonObject) -> Verdict:
    verdict: Verdict = storable({"reason": reason, "phase": phase, "evidence": evidence})
    return verdict


def _on_a_thread() -> bool:
    """Say whether a checkpointer may keep what this run writes."""
    info = get_runtime().execution_info
    return info is None or info.thread_id is not None


def _message(error: Exception) -> str:
    try:
        return str(error)[:200]
    except Exception:  # noqa: BLE001 - an error that cannot even say what it is
        return ""

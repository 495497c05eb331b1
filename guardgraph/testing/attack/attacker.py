"""The attacker: what a factory is given to build the agent with, and the record of the run that is under way."""

from __future__ import annotations

import functools
import inspect
import random
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any, Final, NamedTuple, TypeVar, cast

from langchain_core.messages import AIMessage
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool, StructuredTool

from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.hashing import digest
from guardgraph.plain.json import JsonObject, make_storable_json
from guardgraph.state.tools import ToolPolicy, ToolRule
from guardgraph.testing.attack.proposals import FAILURES, MOODS, Known, draw_result, list_values, poison_result
from guardgraph.testing.doubles import ModelCall, Reply, ScriptedChatModel, ScriptedClock
from guardgraph.world.call import NamedTool

MOST_ASKED: Final = 60  # replies of a model in one run; one that asks for more is ended by nothing of its own
_INJECTED: Final = ("idempotency_key", "config", "runtime", "run_manager", "callbacks")
"""Parameters that no proposal fills."""
ToolT = TypeVar("ToolT")


class PerformedCall(NamedTuple):
    """A call that reached a tool."""

    tool: str
    args: JsonObject
    shown: int  # how many results had come before the model was last asked
    decisions: int  # how often a person had decided before

    def is_shown_by(self, shown: JsonObject) -> bool:
        """Say whether it is a call that a person was shown."""
        return shown["tool"] in (self.tool, None) and bool(shown["args"] == self.args)


class PersonDecision(NamedTuple):
    """What a person said, and to which calls; a call without a tool is whatever else was shown."""

    approved: bool
    calls: list[JsonObject]
    values: list[Any]  # what the person let a document license beside these calls


@dataclass
class AttackedRun:
    """One run under attack: what is planned for it, and what happens."""

    request: Any
    chance: random.Random
    planned: Mapping[str, Any] | None = None  # the moves of a run that is made again; None where they are drawn
    moves: list[JsonObject] = field(default_factory=list)  # what the model, the caller and the person did, in order
    results: dict[str, JsonObject] = field(default_factory=dict)
    """What tools brought that was not their own result, by call."""
    performed: list[PerformedCall] = field(default_factory=list)
    brought: list[tuple[str, Any]] = field(default_factory=list)
    decisions: list[PersonDecision] = field(default_factory=list)
    asked: int = 0
    shown: int = 0

    def __post_init__(self) -> None:
        self._seed = self.chance.getrandbits(64)
        self._calls = Counter[str]()
        self._lock = Lock()
        self.repeated: JsonObject | None = None  # a reply that the model makes again and again
        planned = () if self.planned is None else self.planned["moves"]
        self._left = {who: deque(move for move in planned if who in move) for who in ("model", "call", "person")}

    def take_move(self, who: str, draw: Callable[[], Any], default: Any) -> Any:
        """Return what somebody does next, as it is planned, or drawn."""
        if self.planned is None:
            move = {who: draw()}
        else:
            move = self._left[who].popleft() if self._left[who] else {who: default}
        self.moves.append(move)
        return move[who]

    def take_result(self, tool: str, args: JsonObject) -> JsonObject:
        """Return what a tool does in a call; calls are made side by side, so it depends on the call and not on when."""
        with self._lock:
            key = digest([tool, args])
            self._calls[key] += 1
            key = f"{key[:16]}:{self._calls[key]}"
        if self.planned is not None:
            does: JsonObject = self.planned["results"].get(key, {"brings": {}})["brings"]
        else:
            last: JsonObject = next((move["model"] for move in reversed(self.moves) if "model" in move), {})
            # of two that fail side by side, LangGraph raises the one that was first
            does = draw_result(random.Random(f"{self._seed} {key}"), may_fail=len(last.get("calls", ())) < 2)
        if does:
            self.results[key] = {"tool": tool, "args": args, "brings": does}
        return does

    def list_known(self, *beside: Any) -> Known:
        """Return the values that a reply may take."""
        results = sorted((value for _, value in self.brought[-12:]), key=digest)
        return Known(self.chance, list_values(self.request), list_values([*results, *beside]))


class Attacker:
    """What a factory is given: who proposes, what makes tools hostile, and the time.

    `model` is a chat model that proposes anything, by the schema or the tools that it is given. `clock` is moved by its
    replies; an agent is attacked with leaps of time if its world reads it: ``LiveWorld(clock=attacker.clock)``.
    """

    def __init__(self) -> None:
        self.clock = ScriptedClock()
        self.policy: ToolPolicy | None = None
        # What a cut run still does is its own, and not the next's.
        self._run: ContextVar[AttackedRun] = ContextVar("run")
        self.model = ScriptedChatModel(model_name="attacker")
        self.model._script = self  # type: ignore[assignment]  # which plays what it makes up

    def tools(self, tools: Iterable[ToolT] | Mapping[str, NamedTool], policy: ToolPolicy | None = None) -> Any:
        """Return tools as an agent takes them: each is called, and what it brings may be poisoned.

        Args:
            tools: typed functions and LangChain's tools, or `NamedTool` by name. A tool that acts has to be a stand-in.
            policy: of an agent that is no pattern of the grammar, the rules that hold: what reads, what is trusted.
        """
        if policy is not None and not isinstance(policy, ToolPolicy):
            raise ConfigurationError(f"policy: a ToolPolicy is required; given: {type(policy).__name__}")
        self.policy = policy or self.policy
        if isinstance(tools, Mapping):
            return {name: replace(tool, target=self._wrap_tool(tool.target, name)) for name, tool in tools.items()}
        return [self.tool(tool) for tool in tools]

    def tool(self, tool: ToolT) -> ToolT:
        """Return one tool, a retriever, a reader or a search, whose results may be poisoned; see `tools`."""
        if isinstance(tool, StructuredTool):
            called = {name: getattr(tool, name) for name in ("func", "coroutine")}
            wrapped = {name: each and self._wrap_tool(each, tool.name) for name, each in called.items()}
            return tool.model_copy(update=wrapped)
        made: Any
        if isinstance(tool, BaseTool):
            function, schema = self._wrap_tool(lambda **args: tool.invoke(args), tool.name), tool.get_input_schema()
            made = StructuredTool(name=tool.name, description=tool.description, args_schema=schema, func=function)
        elif callable(tool):
            made = self._wrap_tool(tool, getattr(tool, "__name__", type(tool).__name__))
        else:
            raise ConfigurationError(f"tool: a function or a tool of LangChain's is required; given: {tool!r:.80}")
        return cast(ToolT, made)

    def proposer(self, *examples: JsonObject) -> Callable[[JsonObject], Any]:
        """Return a proposer, a function of a view, whose proposals have the form of good ones, with other values."""
        if not examples or not all(isinstance(example, dict) for example in examples):
            raise ConfigurationError("examples: proposals are required, one object or more")

        def draw_proposal(view: JsonObject) -> JsonObject:
            chance, known = self.run.chance, self.run.list_known(view)
            drawn = known.draw_reply({}, ())
            if drawn.get("raises") in ("ConnectionError", "TimeoutError"):
                return drawn
            if "says" in drawn and chance.random() < 0.1:
                return {"says": drawn["says"]}
            known.mood = chance.choice([*MOODS])
            return {"says": known.vary_example(chance.choice(examples))}

        return lambda view: self._take_reply(functools.partial(draw_proposal, view)).get("says")

    @property
    def run(self) -> AttackedRun:
        """The run that is under way."""
        return self._run.get()

    def begin(self, run: AttackedRun) -> None:
        """Let a run be the one that is under way."""
        self._run.set(run)

    def rule_of(self, tool: str) -> ToolRule:
        """Return the rule of a tool, that of an unknown one where nothing names it."""
        return ToolRule() if self.policy is None else self.policy.rule_of(tool)

    def play_script_item(self, call: ModelCall) -> Any:
        """Return the next reply of the model."""
        run, form = self.run, call.kwargs.get("response_format") or {}
        schema = form.get("json_schema", {}).get("schema") if isinstance(form, dict) else None
        tools = [tool["function"] for tool in call.kwargs.get("tools") or ()]
        move = self._take_reply(lambda: run.list_known().draw_reply(schema, tools))
        said, reason = move.get("says", ""), "length" if move.get("cut") else "stop"
        if "calls" not in move:
            return Reply(said, finish_reason=reason, refusal=move.get("refuses"))
        calls = [{**each, "id": f"c{run.asked}-{number}"} for number, each in enumerate(move["calls"])]
        return AIMessage(str(said), tool_calls=calls, response_metadata={"finish_reason": reason})

    def _take_reply(self, draw: Callable[[], Any]) -> JsonObject:
        """Return what the model does next, or raise what it raises."""
        run = self.run
        run.asked, run.shown = run.asked + 1, len(run.brought)
        ends: JsonObject = {"says": "I cannot do that."}
        move = run.repeated or run.take_move("model", draw, ends)
        run.repeated = move if move.get("forever") else None
        if run.asked > MOST_ASKED:
            move = ends
        self.clock.advance(move.get("seconds", 0.0))
        return _raise_if_planned(move)

    def _wrap_tool(self, function: Any, name: str) -> Any:
        """Return a function that is called in the place of another one."""
        if isinstance(function, Runnable):
            return self._wrap_tool(function.invoke, name)
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def acall_attacked(*given: Any, **named: Any) -> Any:
                does = self._note_performed_call(name, function, given, named)
                return self._bring_result(name, does, None if "value" in does else await function(*given, **named))

            return acall_attacked

        @functools.wraps(function, updated=())
        def call_attacked(*given: Any, **named: Any) -> Any:
            does = self._note_performed_call(name, function, given, named)
            return self._bring_result(name, does, None if "value" in does else function(*given, **named))

        return call_attacked if inspect.isroutine(function) else _AttackedObject(call_attacked, function)

    def _note_performed_call(self, name: str, function: Any, given: Any, named: Any) -> JsonObject:
        """Note a call, and return what its tool does; nothing where that is its own affair."""
        run, args = self.run, named
        if given and isinstance(given[0], dict):  # a function of one dictionary; one of LangChain's is called by name
            args = given[0]
        elif given:
            args = inspect.signature(function).bind(*given, **named).arguments
        plain = make_storable_json({key: value for key, value in args.items() if key not in _INJECTED})
        run.performed.append(PerformedCall(name, plain, run.shown, len(run.decisions)))
        return _raise_if_planned(run.take_result(name, plain))

    def _bring_result(self, name: str, does: JsonObject, result: Any) -> Any:
        if "poison" in does:
            result = poison_result(result, does["poison"], does["at"], self.rule_of(name).trusted)
        result = does.get("value", result)
        self.run.brought.append((name, make_storable_json(result)))
        return result


class _AttackedObject:
    """An object that is called, such as a retriever, whose calls are attacked; what else it says, it says."""

    def __init__(self, call: Callable[..., Any], attacked: object) -> None:
        self._call, self._attacked = call, attacked

    def __call__(self, *given: Any, **named: Any) -> Any:
        return self._call(*given, **named)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._attacked, name)


def _raise_if_planned(move: JsonObject) -> JsonObject:
    if "raises" in move:
        raise FAILURES[move["raises"]]("under attack")
    return move

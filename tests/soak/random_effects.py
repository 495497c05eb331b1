"""Random patterns that act: chains and loops of reads, writes and reviews, whose process dies at random moments.

A plan says what a pattern is made of and how it is run. Whatever reaches a tool is a line in a file, which outlives the
process; so is what the recorder was told. The two are compared when the run is over.
"""

import json
import random
import sqlite3
from collections import Counter
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NotRequired

from effect_runs import Moments, dying_saver, run_in_process
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command
from payment_pattern import FileRecorder, Journal
from typing_extensions import TypedDict

import guardgraph.grammar as gg
from guardgraph.world.call import hash_call_value

Plan = dict[str, Any]
TURNS = 6
"""Turns after which no guard goes back."""
PHASES = ("work",)
EFFECTS = {"move": "work"}
REASONS = gg.Catalogue(
    "acting",
    PHASES,
    [
        *gg.common_reasons(phases=PHASES, reviewing=PHASES, tools={"look": "work", **EFFECTS}, effects=EFFECTS),
        gg.StopReason("tool_invalid_output:<tool>", "tool", PHASES, "The tool failed.", "Mend it."),
    ],
)
WRITES = ("plain", "plain", "idempotent", "reconcile", "lost", "refused")
"""What a tool that writes is like; of ``lost`` the answer does not arrive, ``refused`` does nothing."""


class In(TypedDict):
    asked: str


class Out(gg.Result):
    told: NotRequired[list[Any]]


class Policy(gg.Policy, gg.ReviewPolicy):
    """It may require an audit, and has a person asked."""


def draw_plan(chance: random.Random) -> Plan:
    stages = [
        {
            "kind": chance.choice(["read", "write", "write", "review"]),
            "calls": chance.randint(1, 3),
            "like": chance.choice(WRITES),
            "back": chance.randint(0, at) if chance.random() < 0.3 else None,
        }
        for at in range(chance.randint(1, 4))
    ]
    saves = any(stage["kind"] == "review" for stage in stages) or chance.random() < 0.75
    return {
        "stages": stages,
        "saves": saves,
        "recorder": chance.random() < 0.8 or not saves,
        "durability": chance.choice([None, "sync", "async", "exit"]) if saves else None,
        "deaths": [chance.randint(1, 60) for _ in range(chance.choice([0, 1, 1, 2]))],
        "people": [chance.choice(["approve", "approve", "approve", "reject", "stale"]) for _ in range(3)],
    }


class Tools(Journal):
    """The tools of a run: each call that reaches one is a line."""

    def look(self, request: Any) -> str:
        self.add({"kind": "read", "request": request, "key": None})
        return f"saw {request['number']}"

    def move(self, like: str, request: Any, idempotency_key: str) -> str:
        if like == "refused":
            raise ConnectionError("refused before anything was done")
        if like != "idempotent" or not self.made(idempotency_key):
            self.add({"kind": "write", "request": request, "key": idempotency_key})
        if like == "lost":
            raise ConnectionError("the answer was lost")
        return f"moved {request['number']}"

    def reconcile(self, key: str) -> gg.Outcome | None:
        made = self.made(key)
        return gg.Outcome("value", f"moved {made[0]['request']['number']}") if made else None

    def made(self, key: str) -> list[Any]:
        return [line for line in self.lines if line["key"] == key]


def build_acting_pattern(plan: Plan, tools: Tools) -> Any:
    stages = plan["stages"]
    raws = [f"raw_{at}" for at in range(len(stages))]
    state: Any = TypedDict("State", {"turn": int, "kept": list[Any], **dict.fromkeys(raws, Any)})
    p = gg.Pattern(REASONS, state=state, input=In, output=Out, policy=Policy(), budget=gg.Budget(max_seconds=1000))
    p.entry("enter", lambda state, run: gg.Pass({"turn": 0, "kept": []}), writes=["turn", "kept"], to="do_0")
    for at, stage in enumerate(stages):
        add: Any = {"read": p.act, "review": p.review, "write": partial(p.act, effects=["move"])}[stage["kind"]]
        body = partial(_ask_person if stage["kind"] == "review" else _call_tools, stage, at, tools)
        add(f"do_{at}", body, phase="work", reads=["turn"], writes=[raws[at]], to=f"guard_{at}")
        on = "done" if at + 1 == len(stages) else f"do_{at + 1}"
        back = None if stage["back"] is None else f"do_{stage['back']}"
        p.guard(
            f"guard_{at}",
            partial(_judge, stage, at, on, back),
            phase="work",
            reads=["turn", "kept", raws[at]],
            writes=["turn", "kept"],
            to=sorted({on, back} - {None}),
            stops=["review" if stage["kind"] == "review" else "tool"],
        )
    p.terminal("done", _end, phase="work", reads=["kept"], writes=["outcome", "told"])
    return p


def _end(state: Any, run: Any) -> Any:
    return {"outcome": "done", "told": state["kept"]}


def _call_tools(stage: Plan, at: int, tools: Tools, state: Any, run: Any) -> Any:
    requests = [{"stage": at, "turn": state["turn"], "number": number} for number in range(stage["calls"])]
    if stage["kind"] == "read":
        outcomes = yield [gg.Call("tool", tools.look, request) for request in requests]
    else:
        sure = {"idempotent": {"idempotent": True}, "reconcile": {"reconcile": tools.reconcile}}.get(stage["like"], {})
        move = partial(tools.move, stage["like"])
        make = partial(gg.Call, "tool", move, effect="write", tool="move", **sure)
        outcomes = yield [make(request) for request in requests]
    return {f"raw_{at}": [outcome.packed() for outcome in outcomes]}


def _ask_person(stage: Plan, at: int, tools: Tools, state: Any, run: Any) -> Any:
    outcome = yield gg.ask_person({"stage": at, "turn": state["turn"]})
    return {f"raw_{at}": outcome.packed()}


def _judge(stage: Plan, at: int, on: str, back: str | None, state: Any, run: Any) -> Any:
    raw = state[f"raw_{at}"]
    if stage["kind"] == "review":
        gg.reviewed(raw)
        told = ["approved"]
    else:
        told = [gg.found(item, "look" if stage["kind"] == "read" else "move") for item in raw]
    way = back if back is not None and state["turn"] < TURNS else on
    step = gg.Step({"phase": "work", "stage": at}, {"action": "work", "told": told})
    return gg.Pass({"turn": state["turn"] + 1, "kept": [*state["kept"], *told]}, way, (step,))


@dataclass(frozen=True)
class Acting:
    """A run of a plan, and where what outlives it stands."""

    folder: Path
    plan: Plan

    def tools(self, moment: Any = lambda: None) -> Tools:
        return Tools(self.folder / "tools.txt", moment)

    def recorder(self, moment: Any = lambda: None) -> FileRecorder | None:
        return FileRecorder(self.folder / "runs.txt", moment) if self.plan["recorder"] else None

    @contextmanager
    def graph(self, moment: Any = lambda: None) -> Any:
        pattern = build_acting_pattern(self.plan, self.tools(moment))
        if not self.plan["saves"]:
            yield pattern.compile(recorder=self.recorder(moment))
            return
        file = self.folder / "checkpoints.db"
        with closing(sqlite3.connect(file, check_same_thread=False, timeout=60)) as connection:
            connection.execute("PRAGMA synchronous=OFF")  # a killed process loses nothing by it; power does
            saver = dying_saver(SqliteSaver, moment)(connection)
            yield pattern.compile(checkpointer=saver, recorder=self.recorder(moment))

    def ask(self, moment: Any = lambda: None) -> Any:
        """Ask as a client does that may have asked before and answers what a person is asked; return the result."""
        config = {"configurable": {"thread_id": "1", "request_key": "r1"}}
        options = {} if self.plan["durability"] is None else {"durability": self.plan["durability"]}
        with self.graph(moment) as graph:
            result = graph.invoke({"asked": "it"}, config, **options)
            for turn in range(20):
                if result.get("status") != "waiting":
                    return result
                says = self.plan["people"][min(turn, len(self.plan["people"]) - 1)]
                answer = {"decision": says, "hash": result["waiting_for"]["hash"]}
                if says == "stale":
                    answer |= {"decision": "reject"} if turn >= 5 else {"decision": "approve", "hash": "0" * 64}
                result = graph.invoke(Command(resume=answer), config, **options)
        raise AssertionError("the run does not end")


def _work(pipe: Any, run: Acting, last: int) -> None:
    moments = Moments(last)
    result = run.ask(moments)
    moments.last = 0
    pipe.send(json.loads(json.dumps(result)))
    pipe.close()


def survive_deaths(run: Acting) -> tuple[Any, int]:
    """Ask until somebody lives to tell, and return the result and how many died."""
    died = 0
    for last in run.plan["deaths"]:
        result = run_in_process(_work, run, last)
        if result is not None:
            return result, died
        died += 1
    return run.ask(), died


def check_on_record(run: Acting, result: Any) -> None:
    """Assert that no write was made twice and that everything which reached a tool is on record."""
    lines = run.tools().lines
    keys = Counter(line["key"] for line in lines if line["kind"] == "write")
    assert set(keys.values()) <= {1}, keys
    told = [effect["key"] for item in result["timeline"] for effect in item.get("effects", ())]
    assert keys.keys() <= set(told), (keys, told, result["stop_reason"])
    recorder = run.recorder()
    if recorder is None:
        return
    ended = {item["run_id"]: item for item in recorder.told("record")}
    assert result["run_id"] in ended
    assert ended.keys() <= {item["run_id"] for item in recorder.told("begin")}
    asked = {call["request"] for item in ended.values() for call in item["calls"]}
    noted = {note["content"]["key"] for note in recorder.told("note") if note["kind"] == "intent"}
    for line in lines:
        assert hash_call_value({"request": line["request"]}) in asked, line
        assert line["key"] is None or line["key"] in noted, line

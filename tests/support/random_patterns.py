"""Random guarded patterns, made of plans: a body does what its plan says for each turn, in a run and its replay."""

from __future__ import annotations

from functools import partial
from typing import Any, NotRequired

from hypothesis import strategies as st
from langchain_core.messages import AIMessage
from langgraph.types import interrupt
from typing_extensions import TypedDict

import guardgraph.grammar as gg

TURNS = 6
"""Turns after which a guard gives a run up."""

VALUES = [0, "text", None, [1, {"a": "é\ud800"}], {"b": 2.5, "a": [True]}, float("nan"), 10**400, object(), "x\0"]
VALUES.append({1: 2})
ERRORS = [ConnectionError("away"), TimeoutError("late"), AssertionError("no"), ValueError("500"), KeyError("k")]
MESSAGES = [AIMessage("{}"), AIMessage('{"a": 1}'), AIMessage("no JSON"), AIMessage(""), AIMessage("[" * 500)]
CALLING = (*["ok"] * 6, "odd", "odd", "raises", "message", "message", "early", "refuses", "strange", "elsewhere")
ACTING = (*CALLING, *["several", "one by one", "nobody", "interrupts", "catches"] * 2)
DECIDING = (*["on"] * 3, "aside", "back", "stops", "strange stop", "fails", "no pass", "writes elsewhere", "judges")
ENDING = ("ends", "ends", "ends", "fails", "writes elsewhere")

Plan = dict[str, Any]


class In(TypedDict):
    asked: str


class Out(gg.Result):
    told: NotRequired[Any]


class Policy(gg.Settings):
    names: gg.Allowlist = ("a", "b")


PHASES = ("work",)
OWN = [
    gg.StopReason("refused:<name>", "refused", PHASES, "Somebody refused.", "Ask again."),
    gg.StopReason("given_up", "given_up", PHASES, "Too many turns.", "Ask for less."),
    gg.StopReason("tool_invalid_output:<tool>", "tool", PHASES, "The tool failed.", "Mend it."),
]
COMMON = gg.common_reasons(phases=PHASES, asking=PHASES, tools={"<tool>": "work"})
REASONS = gg.Catalogue("random", PHASES, [*COMMON, *OWN])


def _in_turn(behaviours: tuple[str, ...]) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(behaviours), min_size=1, max_size=4)


def _stage(kind: str) -> st.SearchStrategy[Plan]:
    works = _in_turn(ACTING if kind == "act" else CALLING)
    numbers = {"aside": st.integers(0, 9), "back": st.integers(0, 9), "what": st.integers(0, 99)}
    decides = {"decides": _in_turn(DECIDING), "also": st.none() | _in_turn(DECIDING)}
    return st.fixed_dictionaries({"kind": st.just(kind), "works": works, **decides, **numbers})


CONTEXTS = (None, {"policy": {"names": ["a"]}}, {"budget": {"max_seconds": 3.0}})
PLANS = st.fixed_dictionaries(
    {
        "stages": st.lists(st.sampled_from(["propose", "act", "review"]).flatmap(_stage), min_size=1, max_size=4),
        "enters": st.sampled_from([*["in"] * 20, "fails", "stops"]),
        "ends": _in_turn(ENDING),
        "seconds": st.sampled_from([1000.0, 1000.0, 20.0, 5.0, 0.0]),
        "people": st.lists(st.sampled_from(["approve", "reject", "stale", "no answer"]), min_size=1, max_size=4),
        "pauses": st.lists(st.integers(0, 9), max_size=2),
        "contexts": st.lists(st.sampled_from(CONTEXTS), min_size=1),
    }
)
"""What a pattern and a run of it are made of."""


def built(plan: Plan, *, is_dead: bool = False) -> gg.Pattern:
    """Return the pattern of a plan; in a dead one nobody may be called."""
    stages = plan["stages"]
    goods, raws = ([f"{name}_{at}" for at in range(len(stages))] for name in ("good", "raw"))
    state: Any = TypedDict("State", {"turn": int, **dict.fromkeys([*goods, *raws], Any)})
    budget = gg.Budget(max_seconds=plan["seconds"])
    p = gg.Pattern(REASONS, state=state, input=In, output=Out, policy=Policy(), budget=budget)
    p.entry("enter", partial(_enter, plan["enters"]), writes=["turn"], to="ask_0")
    for at, stage in enumerate(stages):
        _add_stage(p, plan, at, stage, _Outside(stage, is_dead))
    for name in ("done", "aside"):
        body = partial(_end, plan["ends"], name)
        p.terminal(name, body, phase="work", reads=["turn", *goods], writes=["outcome", "told"])
    return p


def _add_stage(p: gg.Pattern, plan: Plan, at: int, stage: Plan, outside: _Outside) -> None:
    last = at + 1 == len(plan["stages"])
    ways = {"on": "done" if last else f"ask_{at + 1}", "aside": "aside", "back": f"ask_{stage['back'] % (at + 1)}"}
    if stage["aside"] % 2 and not last:
        ways["aside"] = f"ask_{at + 1 + stage['aside'] % (len(plan['stages']) - at - 1)}"
    reads = ["turn", *(f"good_{before}" for before in range(at))]
    add = {"propose": p.propose, "act": partial(p.act, rounds="any"), "review": p.review}[stage["kind"]]
    body = partial(_work, stage, at, outside)
    add(f"ask_{at}", body, phase="work", reads=reads, writes=[f"raw_{at}"], to=f"guard_{at}")
    also, good = stage["also"], f"good_{at}"
    names = {"on": f"also_{at}"} if also else ways
    judges: Any = {"phase": "work", "writes": ["turn", good], "stops": ["refused", "given_up", "llm", "tool"]}
    body = partial(_decide, stage["decides"], at, names, stage["kind"])
    p.guard(f"guard_{at}", body, reads=["turn", f"raw_{at}"], to=sorted({*names.values()}), **judges)
    if also:
        body = partial(_decide, also, at, ways, None)
        p.guard(f"also_{at}", body, reads=["turn", good], to=sorted({*ways.values()}), **judges)


class _Outside:
    """Whom a stage calls."""

    def __init__(self, stage: Plan, is_dead: bool) -> None:
        self.what, self.is_dead = stage["what"], is_dead

    def target(self, does: str, number: int = 0) -> Any:
        """Return who does one of these things."""
        at = self.what + number

        def called(request: Any) -> Any:
            if self.is_dead:
                raise AssertionError("somebody was called")
            if does == "raises":
                raise ERRORS[at % len(ERRORS)]
            if does == "message":
                return MESSAGES[at % len(MESSAGES)]
            return VALUES[at % len(VALUES)] if does == "odd" else {"n": at, "of": request.get("turn")}

        return called


def _does(behaviours: list[str], turn: int) -> str:
    return behaviours[turn % len(behaviours)]


def _enter(does: str, state: Any, run: Any) -> gg.Pass:
    if does == "fails":
        raise RuntimeError("entry")
    if does == "stops":
        raise gg.Stop("invalid_request:asked", details={"asked": state.get("asked")})
    return gg.Pass({"turn": 0})


def _work(stage: Plan, at: int, outside: _Outside, state: Any, run: Any) -> Any:
    """Do what a node does that asks."""
    does, kind, turn = _does(stage["works"], state["turn"]), stage["kind"], state["turn"]
    if does == "early":
        raise OSError("before anybody was asked")
    if does == "refuses":
        raise gg.Stop("refused:early", details={"names": list(run.policy.names)})
    request = {"turn": turn, "names": list(run.policy.names), "good": state.get(f"good_{at - 1}")}
    if does == "interrupts":
        request["answer"] = interrupt({"turn": turn})
    call = partial(_call, kind, request)
    if does == "nobody":
        return {f"raw_{at}": []}
    if does == "several":
        came = yield [call(outside.target(how, n), n) for n, how in enumerate(("ok", "odd", "raises", "ok"))]
        return {f"raw_{at}": [item.packed() for item in came]}
    if does == "one by one":
        first = yield call(outside.target("ok"), 1)
        came = yield [call(outside.target("ok", n), n) for n in range(2)]
        return {f"raw_{at}": [first.packed(), *(item.packed() for item in came)]}
    if does == "catches":
        try:
            outcome = yield call(outside.target("raises"), 0)
        except (ConnectionError, TimeoutError, AssertionError, ValueError, KeyError) as error:
            return {f"raw_{at}": [f"{type(error).__name__}: {error}"]}
        return {f"raw_{at}": [outcome.packed()]}
    outcome = yield ("no call" if does == "strange" else call(outside.target(does), 0))
    if does == "elsewhere":
        return {"good_0": outcome.packed()}
    return {f"raw_{at}": outcome.packed()}


def _call(kind: str, request: Any, target: Any, number: int) -> gg.Call:
    request = {**request, "number": number}
    if kind == "review":
        return gg.ask_person(request)
    return gg.Call("proposer" if kind == "propose" else "tool", target, request, {"proposer": "random"})


def _decide(behaviours: list[str], at: int, ways: dict[str, str], kind: str | None, state: Any, run: Any) -> Any:
    """Do what a guard does."""
    turn = state["turn"]
    does = _does(behaviours, turn)
    if turn >= TURNS:
        raise gg.Stop("given_up", details={"turn": turn})
    if does == "stops":
        raise gg.Stop("refused:late", details={"raw": state.get(f"raw_{at}")})
    if does == "strange stop":
        raise gg.Stop("unheard_of", more=1)
    if does == "fails":
        raise ZeroDivisionError
    if does == "no pass":
        return {"turn": turn}
    if does == "writes elsewhere":
        return gg.Pass({"log": []})
    raw = state.get(f"raw_{at}", state.get(f"good_{at}"))
    if does == "judges" and kind is not None and isinstance(raw, str):
        raw = gg.proposal(raw).value if kind == "propose" else gg.found(raw, f"ask_{at}")
    way = ways.get(does, ways["on"])
    step = gg.Step({"phase": "work", "turn": turn}, {"action": does, "raw": raw})
    return gg.Pass({"turn": turn + 1, f"good_{at}": raw}, way, (step,))


def _end(behaviours: list[str], name: str, state: Any, run: Any) -> Any:
    does = _does(behaviours, state["turn"])
    if does == "fails":
        raise LookupError("ending")
    if does == "writes elsewhere":
        return {"outcome": name, "turn": 3}
    return {"outcome": name, "told": {key: value for key, value in state.items() if key != "turn"}}

"""What a recorded run of somebody's own agent is: a run of this pattern, whose model, tools and person are given back.

The agent proposes; the guards are those of `LicensedTools` and `GroundedAnswer`, with the settings that they had. So
the recording is decided again like any other, by the same settings or by others. What other middlewares decided comes
from outside, as what a model replies does: where something else would be asked, nobody knows what came of it. So does
what an imported export lacks: a guard that would judge by it asks for it, and nobody was asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Final, NotRequired, cast

from typing_extensions import TypedDict

from guardgraph.checking.answer import judge_answer_text, read_settings
from guardgraph.graphs.grammar import Pattern
from guardgraph.graphs.running.door import GuardedGraph
from guardgraph.graphs.tools import fill_tool_policy
from guardgraph.grounding.check import Source
from guardgraph.guards.proposals import found, proposed_object
from guardgraph.guards.stop import Stop, shown_name
from guardgraph.guards.tools.licence import list_shown_tools
from guardgraph.middleware.answers import GroundedAnswer, describe_answer, find_claim, refuse_answer
from guardgraph.middleware.calls import LicensedTools, judge_calls, list_waiting_calls, may_ask_again, read_decisions
from guardgraph.nodes.body import Pass, Step, declares
from guardgraph.plain.errors import ConfigurationError, InputError
from guardgraph.plain.hashing import digest
from guardgraph.plain.json import JsonObject, make_storable_json
from guardgraph.state.catalogue import Catalogue, StopReason
from guardgraph.state.review import hash_licence
from guardgraph.state.run import Result
from guardgraph.state.settings import Budget, Policy
from guardgraph.state.tightening import Tightens
from guardgraph.state.tools import DECIDING, TOOL_REASONS, Licence, ToolBudget, ToolCard, ToolPolicy
from guardgraph.world.call import Call
from guardgraph.world.proposers import Proposer

PHASES: Final = ("agent",)
CALLS, ANSWERS = "calls", "answers"  # who judges a reply: `LicensedTools` and `GroundedAnswer`
ENDING_UNKNOWN: Final = "ending_unknown"  # the stop of an imported run whose ending nobody exported

REASONS = Catalogue(
    "agent",
    PHASES,
    [
        *(replace(item, phases=PHASES) for item in TOOL_REASONS),
        StopReason("invalid_answer:<why>", "invalid_answer", PHASES, "The sources do not bear out the answer.", "Look at findings and unsupported."),
        StopReason(ENDING_UNKNOWN, ENDING_UNKNOWN, PHASES, "The export that was imported ends before the run does.", "Import it again when the run has ended."),
    ],
)  # fmt: skip
"""Why a recorded agent can stop."""


class AgentPolicy(Policy):
    """The settings of the middlewares of an agent; who is not there judges nothing."""

    licences: Annotated[dict[str, Any] | None, Tightens.fixed] = None
    """What `LicensedTools` judges by."""
    calls: Annotated[dict[str, Any] | None, Tightens.fixed] = None
    """Its budget."""
    answers: Annotated[dict[str, Any] | None, Tightens.fixed] = None
    """What `GroundedAnswer` judges by."""
    order: Annotated[list[str], Tightens.fixed] = []  # noqa: RUF012 - copied by Pydantic
    """Who judges a reply, the inner one first."""
    attempts: Annotated[dict[str, int], Tightens.fixed] = {}  # noqa: RUF012 - copied by Pydantic
    """How often a model is asked for one step, by who judges."""


class AgentInput(TypedDict):
    """What there was as a run began."""

    asked: JsonObject
    said: str
    tools: JsonObject
    sources: list[JsonObject]
    lacks: list[str]  # what an export did not say: ``messages`` of the user, or which ``tools`` there are


class AgentState(TypedDict):
    """What a run keeps between its nodes."""

    accepted_input: JsonObject
    accepted_tries: JsonObject
    accepted_calls: list[JsonObject]
    accepted_step: list[JsonObject]
    accepted_waiting: list[JsonObject]
    accepted_answer: JsonObject
    raw_reply: str
    raw_decisions: str
    found_results: list[str]


class AgentResult(Result):
    """What a recorded agent returned."""

    answer: NotRequired[str]
    tool_calls: NotRequired[list[JsonObject]]
    unverified: NotRequired[list[JsonObject]]
    findings: NotRequired[list[JsonObject]]
    unsupported: NotRequired[list[Any]]
    raw_action: NotRequired[Any]
    claimed: NotRequired[str]
    performed: NotRequired[list[str]]


def model(view: JsonObject) -> Any:
    """Stand for the agent's model and tools, for a person, and for what an export lacks: only recordings have them."""
    raise ConfigurationError("a recorded agent is decided again, and calls nobody")


MODEL, PERSON, EXPORT = (Proposer(model, {"proposer": name}) for name in ("model", "person", "export"))


def recorded_agent(*middleware: LicensedTools | GroundedAnswer) -> GuardedGraph[Any, Any, Any]:
    """Return what decides recorded runs of an agent of LangChain's again, for `what_if` and `replay`.

    It judges by the guards that are given, in the order in which the agent has them, each once.
    """
    kinds = [type(item) for item in middleware]
    if not {*kinds} <= {LicensedTools, GroundedAnswer} or len({*kinds}) < len(kinds):
        given = ", ".join(kind.__name__ for kind in kinds)
        raise ConfigurationError(f"middleware: LicensedTools and GroundedAnswer, each once; given: {given}")
    return build_agent_pattern(AgentPolicy(**read_guard_settings(middleware))).compile(name="agent")


def read_guard_settings(middleware: Sequence[Any]) -> JsonObject:
    """Return the settings of guards as fields of an `AgentPolicy`, plain JSON."""
    settings: JsonObject = {"order": [], "attempts": {}}
    for guard in middleware:
        name = CALLS if isinstance(guard, LicensedTools) else ANSWERS
        if isinstance(guard, LicensedTools):
            settings["licences"] = guard.policy.model_dump(mode="json", exclude_unset=True)
            settings["calls"] = guard.budget.model_dump(mode="json", exclude_unset=True)
        else:
            settings["answers"] = make_storable_json(guard.policy)
        settings["order"] = [name, *settings["order"]]
        settings["attempts"][name] = guard.max_attempts
    return settings


def build_agent_pattern(policy: AgentPolicy) -> Pattern[Any, Any, Any]:
    """Return the diagram of a recorded agent."""
    budget = Budget(max_seconds=1e9, max_visits=100_000, max_reply_bytes=2**30, max_input_bytes=2**30)
    p = Pattern(REASONS, state=AgentState, input=AgentInput, output=AgentResult, policy=policy, budget=budget)
    p.entry("request_guard", _take_input, to="model")
    p.propose("model", _ask_model, to="step_guard")
    p.guard("step_guard", _judge_reply, to=["model", "person", "lacking", "tools", "answered"])
    p.propose("person", _ask_person, to="person_guard")
    p.propose("lacking", _ask_for_lacking, to="person_guard")
    p.guard("person_guard", _read_person, to="tools")
    p.act("tools", _call_tools, to="result_guard")
    p.guard("result_guard", _take_results, to="model")
    p.terminal("answered", _end_recorded_run)
    return p


@declares(writes=["accepted_input"])
def _take_input(state: Any, run: Any) -> Pass:
    return Pass({"accepted_input": {name: state[name] for name in AgentInput.__annotations__}})


@declares(phase="agent", reads=["accepted_input", "accepted_calls"], writes=["raw_reply"], calls=[MODEL])
def _ask_model(state: Any, run: Any) -> Any:
    given, policy = state["accepted_input"], run.policy
    view = {
        "given": given["asked"],
        "results": [{key: each[key] for key in ("tool", "args", "text")} for each in state.get("accepted_calls") or ()],
    }
    view["tools"] = [*given["tools"]]
    if policy.licences is not None:  # a tool that is denied is not shown
        cards, rules = _fill_policy(policy, given)
        is_known = "tools" not in given["lacks"]
        if is_known or "tools_policy" in policy.licences or any(rule.pin for rule in rules.rules.values()):
            view["tools"] = [card["name"] for card in list_shown_tools(cards, rules)]
            view |= {} if is_known else {"lacks": ["tools"]}
    outcome = yield MODEL.call(view)
    return {"raw_reply": outcome.packed()}


def _fill_policy(policy: AgentPolicy, given: JsonObject) -> tuple[dict[str, ToolCard], ToolPolicy]:
    """Return the tools and the policy that holds them; of a tool that no export describes, what the policy names."""
    cards, rules = given["tools"], ToolPolicy(**policy.licences or {})
    if "tools" in given["lacks"]:
        names = dict.fromkeys([*cards, *rules.rules, *rules.tools_policy, *rules.tools_execution, *rules.denied_tools])
        described = dict[str, ToolCard]()
        for name in names:
            rule = rules.rule_of(name)
            seen = cards[name]["schema"]["properties"] if name in cards else {}
            named = [*seen, *rule.arguments, *rule.forced, *rule.authority]
            schema: JsonObject = {"properties": {each: {} for each in named if each != DECIDING}}
            described[name] = ToolCard(name=name, description="", schema=schema)
        cards = described
    return cards, fill_tool_policy(rules, cards)


FAMILIES = tuple(family for family in REASONS.families if family not in ("invalid_request", "guard_error", "budget"))


@declares(
    phase="agent",
    reads=["accepted_input", "accepted_calls", "accepted_tries", "raw_reply"],
    writes=["accepted_tries", "accepted_step", "accepted_waiting", "accepted_answer"],
    stops=[family for family in FAMILIES if family != "audit_unavailable"],
)
def _judge_reply(state: Any, run: Any) -> Pass:
    reply: Any = proposed_object(state["raw_reply"]).value
    policy, tries = run.policy, state.get("accepted_tries") or {}
    if "ended" in reply:
        ended = reply["ended"]
        if ended["stop_reason"] == ENDING_UNKNOWN and policy.order:
            return Lacking(["ending"]).ask()
        if ended["status"] == "stopped" and REASONS.find(ended["stop_reason"]) is not None:
            raise Stop(ended["stop_reason"], details={"ended_by": "outside"})
        return Pass({"accepted_answer": {"answer": ended["text"], "outcome": "ended"}}, "answered")
    if "failed" in reply:
        return Pass({}, "model", (Step({"phase": "agent"}, {"action": "fail", **reply["failed"]}),))
    judged = JsonObject()
    for at, name in enumerate(policy.order):
        try:
            judged |= (_license_reply if name == CALLS else _judge_answer)(reply, state, policy, tries.get(name) or {})
        except Lacking as lacking:
            return lacking.ask()
        except Refused as refused:
            counted = {**(tries.get(name) or {}), **refused.noted}
            counted["count"] = counted.get("count", 0) + 1
            if refused.is_final or counted["count"] >= policy.attempts[name]:
                raise refused.stop from None
            outer = {other: tries[other] for other in policy.order[at + 1 :] if other in tries}
            step = Step({"phase": "agent"}, {"action": "refuse", "reason": refused.stop.reason})
            return Pass({"accepted_tries": {**outer, name: counted}}, "model", (step,), refused=refused.stop)
    said = {"action": "propose", "model": reply["model"], "calls": [call["tool"] for call in reply["calls"]]}
    steps = (Step({"phase": "agent", "calls": len(reply["calls"])}, said),)
    if not reply["calls"]:
        if reply.get("went_on"):  # somebody else asked again
            return Pass({"accepted_tries": {}}, "model", steps)
        if "calls" in reply.get("lacks", ()):  # it may have called tools, and not been the last
            raise Stop(ENDING_UNKNOWN)
        answer = {"answer": reply["text"], "outcome": judged.get("outcome", "answered")}
        if "text" in reply.get("lacks", ()):
            del answer["answer"]
        answer |= {key: judged[key] for key in ("unverified", "findings") if key in judged}
        return Pass({"accepted_answer": answer, "accepted_tries": {}}, "answered", steps)
    waiting = judged.get("waiting", [])
    writes = {"accepted_step": judged.get("calls", reply["calls"]), "accepted_waiting": waiting, "accepted_tries": {}}
    return Pass(writes, "person" if waiting else "tools", steps)


class Refused(Exception):
    """A guard refused a reply."""

    def __init__(self, stop: Stop, noted: JsonObject, *, is_final: bool) -> None:
        super().__init__(stop.reason)
        self.stop, self.noted, self.is_final = stop, noted, is_final


class Lacking(Exception):
    """A guard would have to judge by what an export lacks."""

    def __init__(self, parts: Sequence[str]) -> None:
        super().__init__(", ".join(parts))
        self.parts = parts

    def ask(self) -> Pass:
        """Return the way to who is asked for it, whom no recording has."""
        return Pass({"accepted_waiting": [{"lacks": part} for part in self.parts]}, "lacking")


def _need(reply: JsonObject, state: Any, *parts: str) -> None:
    results = [part for each in state.get("accepted_calls") or () for part in each.get("lacks", ())]
    lacking = dict.fromkeys([*state["accepted_input"]["lacks"], *reply.get("lacks", ()), *results])
    if there := [part for part in lacking if part in parts]:
        raise Lacking(there)


def _license_reply(reply: JsonObject, state: Any, policy: AgentPolicy, tried: JsonObject) -> JsonObject:
    if policy.licences is None or not (reply["calls"] or reply.get("lacks")):
        return {}
    _need(reply, state, "calls", "arguments", "messages", "result", "made")
    if not reply["calls"]:
        return {}
    given = state["accepted_input"]
    (cards, rules), record = _fill_policy(policy, given), {"given": given["asked"], "calls": _list_made_calls(state)}
    try:
        licences = judge_calls(reply["calls"], cards, rules, ToolBudget(**(policy.calls or {})), record)
    except Stop as stop:
        if "tools" in given["lacks"] and stop.reason not in _list_denials(reply["calls"][0]["tool"]):
            raise Lacking(["tools"]) from None
        same = digest(make_storable_json([stop.reason, stop.evidence]))
        is_final = tried.get("same") == same or not may_ask_again(stop)
        raise Refused(Stop(stop.reason, **_show(stop.evidence)), {"same": same}, is_final=is_final) from None
    if "tools" in given["lacks"] and not all(_is_sure_without_schema(licence, rules) for licence in licences):
        raise Lacking(["tools"])
    by_id = {str(call["id"]): licence for call, licence in zip(reply["calls"], licences, strict=True)}
    calls = [
        {"id": call_id, "tool": licence.tool, "args": licence.args, "effect": licence.effect}
        for call_id, licence in by_id.items()
    ]
    return {"calls": calls, "waiting": list_waiting_calls(by_id)}


def _list_denials(tool: str) -> list[str]:
    """Return the refusals of a tool that hold whatever its arguments and their schema are."""
    named = shown_name(tool)
    return [f"{family}:{named}" for family in ("tool_not_allowed_policy", "tool_denied", "tool_denied_execution")]


def _is_sure_without_schema(licence: Licence, rules: ToolPolicy) -> bool:
    """Say whether a call that was made is licensed whatever its schema is: no default of it and no key counts."""
    limited = [licence.args.get(name) for name in rules.rule_of(licence.tool).arguments]
    return not licence.needs_approval and not any(value is None or isinstance(value, dict | list) for value in limited)


def _list_made_calls(state: Any) -> list[Any]:
    calls = (each for each in state.get("accepted_calls") or () if each["is_made"])
    return [{key: value for key, value in each.items() if key not in ("text", "lacks")} for each in calls]


def _judge_answer(reply: JsonObject, state: Any, policy: AgentPolicy, tried: JsonObject) -> JsonObject:
    if not reply["answers"]:
        return {}
    _need(reply, state, "calls", "text", "messages", "result")
    given = state["accepted_input"]
    results = [
        Source(each["call_id"], each["text"], (each["tool"],))
        for each in state.get("accepted_calls") or ()
        if not each.get("failed")
    ]
    sources = [Source(each["id"], each["text"], tuple(each["about"])) for each in given["sources"]]
    settings = read_settings(policy.answers)
    checked = judge_answer_text(reply["text"], [*sources, *results], settings, question=given["said"], results=results)
    cards, rules = _fill_policy(policy, given)
    claim = find_claim(reply["text"], _list_made_calls(state), cards, rules)
    is_asked_again = tried.get("count", 0) + 1 < policy.attempts[ANSWERS] and tried.get("text") != reply["text"]
    if checked.ok and claim is None and not (checked.marked and is_asked_again):
        return describe_answer(checked, "")
    stop = refuse_answer(checked, claim)
    raise Refused(Stop(stop.reason, **_show(stop.evidence)), {"text": reply["text"]}, is_final=not is_asked_again)


def _show(evidence: Mapping[str, Any]) -> JsonObject:
    known = {"details", *AgentResult.__annotations__} - {"answer", "tool_calls"}
    other = {key: value for key, value in evidence.items() if key not in known}
    shown = {key: value for key, value in evidence.items() if key in known}
    if other:
        details = shown.get("details")
        shown["details"] = {**(details if isinstance(details, dict) else {}), **other}
    return cast(JsonObject, make_storable_json(shown))


@declares(phase="agent", reads=["accepted_waiting"], writes=["raw_decisions"], calls=[PERSON])
def _ask_person(state: Any, run: Any) -> Any:
    # An answer is to these calls under these settings, and counts under no others.
    outcome = yield PERSON.call({"waiting": state["accepted_waiting"], "settings": run.policy.fingerprint})
    return {"raw_decisions": outcome.packed()}


@declares(phase="agent", reads=["accepted_waiting"], writes=["raw_decisions"], calls=[EXPORT])
def _ask_for_lacking(state: Any, run: Any) -> Any:
    outcome = yield EXPORT.call({"lacks": [each["lacks"] for each in state["accepted_waiting"]]})
    return {"raw_decisions": outcome.packed()}


@declares(
    phase="agent",
    reads=["accepted_input", "accepted_step", "accepted_waiting", "raw_decisions"],
    writes=["accepted_step"],
    stops=["review", "licence"],
)
def _read_person(state: Any, run: Any) -> Pass:
    answer: Any = proposed_object(state["raw_decisions"]).value
    try:
        cards, rules = _fill_policy(run.policy, state["accepted_input"])
        decided = read_decisions(answer.get("answer"), state["accepted_waiting"], cards, rules)
    except InputError as error:  # these calls are others than were shown
        raise Stop("review_rejected", details={"reason": str(error)}) from None
    calls = [{**call} for call in state["accepted_step"]]
    for call in calls:
        if call["id"] in decided:
            call["args"] = decided[call["id"]]["args"]
            call["approved_by"] = hash_licence(call["tool"], call["args"])
    told = {"action": "approve_calls", "calls": [{"tool": call["tool"], "args": call["args"]} for call in calls]}
    return Pass({"accepted_step": calls}, steps=(Step({"phase": "agent"}, told),))


@declares(phase="agent", reads=["accepted_step"], writes=["found_results"])
def _call_tools(state: Any, run: Any) -> Any:
    calls = [{key: call[key] for key in ("id", "tool", "args")} for call in state["accepted_step"]]
    outcomes = yield [Call("tool", model, call, tool=call["tool"]) for call in calls]
    return {"found_results": [outcome.packed() for outcome in outcomes]}


@declares(
    phase="agent", reads=["accepted_step", "accepted_calls", "found_results"], writes=["accepted_calls"], stops=["tool"]
)
def _take_results(state: Any, run: Any) -> Pass:
    calls = [*(state.get("accepted_calls") or [])]
    before = len(calls)
    for call, packed in zip(state["accepted_step"], state["found_results"], strict=True):
        brought: Any = found(packed, call["tool"])
        made = {"id": f"r{len(calls) + 1}", "call_id": call["id"], "tool": call["tool"], "args": call["args"]}
        made |= {"effect": call.get("effect", "write"), "value": brought.get("value"), "text": brought.get("text", "")}
        made |= {key: call[key] for key in ("approved_by",) if key in call}
        made |= {key: brought[key] for key in ("lacks",) if key in brought}
        made["is_made"] = "unmade" not in brought
        calls.append({**made, **({"failed": True} if brought.get("failed") or not made["is_made"] else {})})
    shown = [_shorten(call) for call in calls[before:]]
    step = Step({"phase": "agent", "calls": len(shown)}, {"action": "call_tools", "calls": shown})
    return Pass({"accepted_calls": calls}, steps=(step,))


def _shorten(call: JsonObject) -> JsonObject:
    return {key: call[key] for key in ("tool", "args", "failed", "approved_by") if key in call}


@declares(
    phase="agent",
    reads=["accepted_answer", "accepted_calls"],
    writes=["outcome", "answer", "tool_calls", "unverified", "findings"],
)
def _end_recorded_run(state: Any, run: Any) -> JsonObject:
    made = [_shorten(call) for call in state.get("accepted_calls") or [] if call["is_made"]]
    return {**state["accepted_answer"], "tool_calls": made}

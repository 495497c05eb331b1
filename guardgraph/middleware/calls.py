"""`LicensedTools`: every call of a tool is a proposal, and only a licensed one is performed."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, cast
from uuid import uuid4

from langchain.agents.middleware import AgentMiddleware
from langchain.agents.middleware.types import (
    ExtendedModelResponse,
    ModelRequest,
    ModelResponse,
    ToolCallRequest,
    hook_config,
)
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool
from langgraph.config import get_config
from langgraph.runtime import Runtime
from langgraph.types import Command, interrupt

from guardgraph.graphs.running.effects import locate_node_checkpoint
from guardgraph.graphs.running.langgraph import CHECKPOINTER
from guardgraph.graphs.tools import fill_tool_policy
from guardgraph.guards.stop import Denial, Stop
from guardgraph.guards.tools import actions
from guardgraph.guards.tools import licence as guards
from guardgraph.middleware.agent_state import (
    GuardedState,
    describe_stop,
    find_record,
    find_run,
    given_around,
    list_foreign,
    make_stop_message,
    read_given,
)
from guardgraph.middleware.asking import MOST_TOLD, Asking, aask_model, ask_model, check_max_attempts, tell_refusal
from guardgraph.middleware.effects import Write, find_place_of_write
from guardgraph.middleware.tool_results import add_update, list_parts, read_brought, read_update
from guardgraph.plain.errors import ConfigurationError, InputError
from guardgraph.plain.json import JsonObject, is_plain_json, make_storable_json
from guardgraph.state.review import hash_licence
from guardgraph.state.settings import choose_settings
from guardgraph.state.tools import Given, Licence, MadeCall, ToolBudget, ToolCard, ToolPolicy, ToolRule
from guardgraph.tools.langchain.calling import read_tool_schema

_ASKED_AGAIN: Final = ("invalid_action", "unsupported_argument", "tool_not_allowed_policy")
"""Families of refusals after which the model is asked again: of form, of support, and of a tool that there is not."""
DECISIONS: Final = ("approve", "edit", "reject")  # what a person may answer, in the words of LangChain's inboxes


MOST_SHOWN: Final = 100  # characters of a value that a message shows
ADVICE: Final = (
    "Nobody could be asked, since the agent has no checkpointer: give it one; or give a tool that only reads the rule "
    '{"effect": "read"}, and one of which nobody is to be asked {"approve": "never"}.'
)
"""What helps where a call needs a person."""


class LicensedTools(AgentMiddleware[GuardedState, Any, Any]):
    """Hold every call of a tool against lists, rules, budgets and support, where it is proposed and where it is made.

    What stops a run is in the state's ``guardgraph``: ``{status, stop_reason, …}``. A call that needs a person waits in
    an `interrupt` of LangChain's shape for inboxes; it needs a checkpointer.

    Args:
        policy: lists and rules, as of the tool agent; a list that it leaves out holds all tools of the agent.
        budget: calls that one run may make; its times are not kept here.
        max_attempts: how often a model is asked for one step, the first time included.
        caller: returns who asks, of LangGraph's runtime; a value of it licenses.

    Raises:
        ConfigurationError: an argument is wrong. A policy that names a tool that the agent does not have raises when
            the agent first runs.
    """

    state_schema = GuardedState

    def __init__(
        self,
        policy: ToolPolicy | None = None,
        *,
        budget: ToolBudget | None = None,
        max_attempts: int = 2,
        caller: Callable[[Any], JsonObject | None] | None = None,
    ) -> None:
        super().__init__()
        check_max_attempts(max_attempts)
        if caller is not None and not callable(caller):
            raise ConfigurationError(f"caller: a function of the runtime is required; given: {caller!r:.80}")
        self.policy = choose_settings(ToolPolicy(), policy, "policy")
        self.budget = choose_settings(ToolBudget(), budget, "budget")
        self.max_attempts = max_attempts
        self._caller = caller
        self._known_tools: tuple[list[Any], dict[str, ToolCard], ToolPolicy] = ([], {}, self.policy)

    # As a run begins and ends: what the user gave

    def before_agent(self, state: GuardedState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Keep what the user gave, before anything that is called can write into it."""
        messages, before = state["messages"], state.get("guardgraph_record") or {}
        foreign = before.get("foreign", [])
        given = read_given(messages, foreign)
        if self._caller is not None and (caller := self._caller(runtime)) is not None:
            if not isinstance(caller, dict) or not is_plain_json(caller):
                allowed = "a function that returns a dictionary of plain JSON, or None,"
                raise ConfigurationError(f"caller: {allowed} is required; given: {caller!r:.80}")
            given["caller"] = caller
        run, place = find_run(messages), locate_node_checkpoint(get_config())
        reads = [name for name, rule in self.policy.rules.items() if rule.effect == "read"]
        record = {"run": run, "given": dict(given), "foreign": foreign, "reads": reads}
        if place is not None:
            record["began_at"] = place.checkpoint
        return {"guardgraph": {"run": run}, "guardgraph_record": record, "guardgraph_here": True}

    def after_agent(self, state: GuardedState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Say how the run ended, where nobody did, and note messages that were written in a user's name meanwhile."""
        ending = {"status": "ok", "stop_reason": "success"}
        record = find_record(state)
        if record is None:  # a middleware in front ended it as it began
            return {"guardgraph": {"run": find_run(state["messages"]), "begins": True, **ending}}
        closed = {"run": record["run"], "foreign": list_foreign(state["messages"], record["run"]), "ended": True}
        update: dict[str, Any] = {"guardgraph_record": closed, "guardgraph_here": True}
        if "status" not in (state.get("guardgraph") or {}):
            update["guardgraph"] = {"run": record["run"], **ending}
        return update

    def _read_tools(self, tools: Sequence[Any]) -> tuple[dict[str, ToolCard], ToolPolicy]:
        known, cards, policy = self._known_tools
        if len(known) != len(tools) or any(one is not other for one, other in zip(known, tools, strict=True)):
            cards = list_cards(tools)
            try:
                policy = fill_tool_policy(self.policy, cards)
            except ConfigurationError as error:
                hint = "a middleware that selects tools stands behind LicensedTools"
                raise ConfigurationError(f"{error}; {hint}") from None
            self._known_tools = ([*tools], cards, policy)
        return cards, policy

    # What the model proposes

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> Any:
        """Judge what the model proposes; refused calls reach neither the state nor a stream."""
        return ask_model(self, _read_record(request.state)["run"], self._propose(request), handler)

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> Any:
        """Judge what the model proposes; see `wrap_model_call`."""
        return await aask_model(self, _read_record(request.state)["run"], self._propose(request), handler)

    def _propose(self, request: ModelRequest[Any]) -> Asking:
        state: Mapping[str, Any] = request.state
        ended, record = state.get("guardgraph") or {}, _read_record(state)
        run = record["run"]
        if ended.get("run") == run and ended.get("status") == "stopped":
            return ModelResponse([make_stop_message(Stop(ended["stop_reason"]))])
        cards, policy = self._read_tools(request.tools)
        shown = {card["name"] for card in guards.list_shown_tools(cards, policy)}
        tools = [tool for tool in request.tools if isinstance(tool, BaseTool) and tool.name in shown]
        asked = request = request.override(tools=[*tools])
        noted = {"run": run, "foreign": list_foreign(state["messages"], run)}
        refused: Stop | None = None
        for _ in range(self.max_attempts):
            response = yield asked, refused
            proposed = list_proposed_calls(response)
            if not proposed:
                return _write(response, noted)
            try:
                licences = judge_calls(proposed, cards, policy, self.budget, record)
            except Stop as stop:
                refused, before = stop, refused
                is_same = before is not None and (before.reason, before.evidence) == (stop.reason, stop.evidence)
                if is_same or not may_ask_again(stop):
                    break
                told = f"It was refused: {stop.reason}. {json.dumps(stop.evidence, ensure_ascii=False)[:MOST_TOLD]}"
                said = json.dumps(make_storable_json(proposed), ensure_ascii=False)
                asked = tell_refusal(request, said[:MOST_TOLD], told)
                continue
            by_id = {str(item["id"]): licence for item, licence in zip(proposed, licences, strict=True)}
            return _let_calls_through(response, by_id, cards, noted)
        assert refused is not None
        ending = {**describe_stop(run, refused), "raw_action": {"calls": make_storable_json(proposed)}}
        return _write(ModelResponse([make_stop_message(refused)]), noted, guardgraph=ending)

    # Whom a call waits for

    @hook_config(can_jump_to=["end"])
    def after_model(self, state: GuardedState, runtime: Runtime[Any]) -> dict[str, Any]:
        """Show a person the calls that need one, and wait."""
        record = _read_record(state)
        run, waiting, message = record["run"], record.get("waiting") or [], state["messages"][-1]
        if (
            not waiting
            or not isinstance(message, AIMessage)
            or {each["id"] for each in waiting} - {c["id"] for c in message.tool_calls}
        ):
            return {"guardgraph_record": {"run": run, "waiting": []}, "guardgraph_here": True}
        if get_config().get("configurable", {}).get(CHECKPOINTER) is None:
            return _end_run(run, message, Stop("review_unavailable", waiting=waiting), told=_tell_waiting(waiting))
        problem = ""
        while True:  # LangGraph hands over the answers of earlier resumes again, in their order
            answer = interrupt(_make_inbox_request(waiting, problem))
            try:
                decided = read_decisions(answer, waiting, record["cards"], self.policy)
                break
            except Stop as stop:
                return _end_run(run, message, stop, [make_storable_json(answer)])
            except InputError as error:
                problem = str(error)
        calls = [{**call, "args": decided.get(str(call["id"]), {**call})["args"]} for call in message.tool_calls]
        approved = {call_id: hash_licence(call["name"], call["args"]) for call_id, call in decided.items()}
        kept = message.model_copy(update={"tool_calls": calls})
        record = {"run": run, "waiting": [], "approved": approved, "answers": [make_storable_json(answer)]}
        return {"messages": [kept], "guardgraph_record": record, "guardgraph_here": True}

    # Where a call is made

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], ToolMessage | Command[Any]]
    ) -> ToolMessage | Command[Any]:
        """License a call where it is made, whatever let it through before; a write is made once."""
        try:
            licence, licensed, write = self._license_request(request)
            with _work_for(request):
                brought = handler(licensed) if write is None else write.make(handler)
        except Stop as stop:
            return _refuse_request(request, stop)
        return _note_brought(request, licence, brought)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]]
    ) -> ToolMessage | Command[Any]:
        """License a call where it is made; see `wrap_tool_call`."""
        try:
            licence, licensed, write = self._license_request(request)
            with _work_for(request):
                brought = await (handler(licensed) if write is None else write.amake(handler))
        except Stop as stop:
            return _refuse_request(request, stop)
        return _note_brought(request, licence, brought)

    def _license_request(self, request: ToolCallRequest) -> tuple[Licence, ToolCallRequest, Write | None]:
        """Return a call's licence, the call with the arguments of it, and how it is made if it writes."""
        record = _read_record(request.state)
        licence = self._license_call(request, record)
        licensed = request.override(tool_call={**request.tool_call, "args": dict(licence.args)})
        place = find_place_of_write(get_config()) if licence.effect == "write" else None
        if place is None:
            return licence, licensed, None
        approval = licence.hash if licence.needs_approval else None
        rule = self.policy.rule_of(licence.tool)
        write = Write(place, record.get("began_at"), licence, record["run"], licensed, rule.idempotent, approval)
        return licence, licensed, write

    def _license_call(self, request: ToolCallRequest, record: JsonObject) -> Licence:
        """Return the licence of a call; calls of the same step that stand before it count as made."""
        call, tool = request.tool_call, request.tool
        known, cards, _ = self._known_tools
        is_known = any(tool is each for each in known)
        cards = {**record.get("cards", {}), **(cards if is_known else list_cards([] if tool is None else [tool]))}
        if tool is None:
            cards.pop(call["name"], None)
        open_lists = [name for name in ToolPolicy.filled if self.policy.is_open(name)]
        policy = self.policy.model_copy(update=dict.fromkeys(open_lists, tuple(cards)))
        made = _read_made_calls(record)
        done = {each["call_id"] for each in record.get("calls", [])}
        for other in _list_calls_before(request.state["messages"], call["id"]):
            if other["id"] not in done:
                effect = policy.rule_of(other["name"]).effect
                made.append(guards.note_call(made, other["name"], other["args"], effect))
        proposed = {"tool": call["name"], "args": call["args"]}
        licence = guards.judge_call(
            proposed, cards=cards, policy=policy, budget=self.budget, given=_read_given(record), made=made
        )
        approved = record.get("approved", {}).get(call["id"])
        guards.check_approval(licence, [approved] if approved and call["id"] not in done else [])
        return licence


def judge_calls(
    proposed: Sequence[JsonObject],
    cards: Mapping[str, ToolCard],
    policy: ToolPolicy,
    budget: ToolBudget,
    record: JsonObject,
) -> list[Licence]:
    """Judge calls in order, each after those before it, of which nobody knows yet what they bring."""
    _check_ids([item["id"] for item in proposed])
    made, given = _read_made_calls(record), _read_given(record)
    return guards.judge_calls(proposed, cards=cards, policy=policy, budget=budget, given=given, made=made)


def list_waiting_calls(licences: Mapping[str, Licence]) -> list[JsonObject]:
    """Return the calls that need a person, by licences with the ids of calls."""
    return [
        {
            "id": call_id,
            "tool": licence.tool,
            "args": licence.args,
            "effect": licence.effect,
            "licence": licence.hash,
            "unsupported": [*licence.unsupported],
        }
        for call_id, licence in licences.items()
        if licence.needs_approval
    ]


def may_ask_again(stop: Stop) -> bool:
    """Say whether a model may propose something else after a refusal of its calls."""
    return stop.reason.partition(":")[0] in _ASKED_AGAIN and not isinstance(stop, Denial)


def read_decisions(
    answer: Any, waiting: Sequence[JsonObject], cards: Mapping[str, ToolCard], policy: ToolPolicy
) -> dict[str, dict[str, Any]]:
    """Return the calls that a person approved or made of those shown, by their ids.

    Raises:
        Stop: a call is rejected, or one that a person made of it breaks the rule of its tool.
        InputError: it is no answer to these calls; whoever asked has to ask again.
    """
    decisions = answer.get("decisions") if isinstance(answer, dict) else None
    if not isinstance(decisions, list) or len(decisions) != len(waiting):
        raise _explain_decisions(f"one of them for each of {len(waiting)} calls", answer)
    decided = dict[str, dict[str, Any]]()
    for shown, decision in zip(waiting, decisions, strict=True):
        kind, tool, args = decision.get("type") if isinstance(decision, dict) else None, shown["tool"], shown["args"]
        if kind not in DECISIONS or (kind != "edit" and "edited_action" in decision):
            raise _explain_decisions(f"one of them for {tool}", decision)
        if kind == "edit":
            args = _read_edit(decision, tool, cards, policy.rule_of(tool))
        decided[shown["id"]] = {"name": tool, "args": args}
    if rejected := [each["tool"] for each, said in zip(waiting, decisions, strict=True) if said["type"] == "reject"]:
        raise Stop("review_rejected", details={"tools": rejected, "answer": repr(answer)[:200]})
    return decided


def _read_edit(decision: JsonObject, tool: str, cards: Mapping[str, ToolCard], rule: ToolRule) -> JsonObject:
    edited = decision.get("edited_action")
    edited = edited if isinstance(edited, dict) else {}
    args = edited.get("args")
    if not isinstance(args, dict) or edited.get("name", tool) != tool:
        raise _explain_decisions(f'beside "edit" an "edited_action" with the "name" {tool} and "args"', decision)
    try:
        made = actions.parse_call({"tool": tool, "args": {**rule.forced, **args}}, cards, {})["args"]
    except Stop as stop:
        told = json.dumps(stop.evidence, ensure_ascii=False, default=str)[:MOST_SHOWN]
        raise _explain_decisions(f"arguments of {tool} ({stop.reason}: {told})", decision) from None
    # It ends the run: by another rule tomorrow an answer that only waited on would count before those behind it.
    guards.check_argument_rules(tool, made, rule, schema=cards[tool]["schema"])
    return made


def _explain_decisions(required: str, given: Any) -> InputError:
    decisions = ", ".join(f'{{"type": "{each}"}}' for each in DECISIONS)
    return InputError(f'{{"decisions": […]}} of {decisions} is required, {required}; given: {given!r:.200}')


@contextmanager
def _work_for(request: ToolCallRequest) -> Iterator[None]:
    """Let a sub-agent that works for a call know what was given to the agent around it."""
    around = given_around.set(_read_given(_read_record(request.state)))
    try:
        yield
    finally:
        given_around.reset(around)


def _refuse_request(request: ToolCallRequest, stop: Stop) -> Command[Any]:
    refusal = _refuse_call(request.tool_call, f"Not performed: {stop.reason}.")
    ending = describe_stop(_read_record(request.state)["run"], stop)
    return Command(update={"messages": [refusal], "guardgraph": ending, "guardgraph_here": True})


def _note_brought(request: ToolCallRequest, licence: Licence, brought: Any) -> ToolMessage | Command[Any]:
    parts = list_parts(brought)
    call_id = request.tool_call["id"]
    noted = guards.note_call([], licence.tool, licence.args, licence.effect)
    made: JsonObject = {**noted, **read_brought(parts, call_id), "call_id": call_id}
    if licence.needs_approval:
        made["approved_by"] = licence.hash
    run = _read_record(request.state)["run"]
    record = {"run": run, "calls": [made], "foreign": _name_foreign_messages(parts)}
    noticed: ToolMessage | Command[Any] = add_update(brought, {"guardgraph_record": record, "guardgraph_here": True})
    return noticed


def _check_ids(ids: Sequence[object]) -> None:
    """Refuse calls of one message without an id of their own: an approval is of one call."""
    for call_id in ids:
        if not isinstance(call_id, str) or not call_id or ids.count(call_id) > 1:
            details = {"at": "id", "given": repr(call_id)[:200], "allowed": "its own"}
            raise Stop("invalid_action:schema", details=details)


def _name_foreign_messages(parts: Sequence[Any]) -> list[str]:
    """Return the ids of messages that a tool writes in a user's name; one without an id is given one."""
    foreign = list[str]()
    for part in parts:
        written = read_update(part).get("messages", []) if isinstance(part, Command) else []
        for message in written if isinstance(written, list) else [written]:
            if isinstance(message, HumanMessage):
                message.id = message.id or str(uuid4())
                foreign.append(message.id)
    return foreign


def _read_record(state: Mapping[str, Any]) -> JsonObject:
    """Return the record of the run; a ConfigurationError says that it did not pass `before_agent`."""
    record = find_record(state)
    if record is None:
        raise ConfigurationError("LicensedTools: the agent was entered past its beginning, so nothing can be licensed")
    return record


def _read_given(record: JsonObject) -> Given:
    return cast(Given, record["given"])


def _read_made_calls(record: JsonObject) -> list[MadeCall]:
    return [
        cast(MadeCall, {**{key: value for key, value in each.items() if key != "call_id"}, "id": f"r{number}"})
        for number, each in enumerate(record.get("calls", []), 1)
    ]


def list_cards(tools: Sequence[BaseTool | dict[str, Any]]) -> dict[str, ToolCard]:
    """Return what is known of an agent's tools; a provider's own, which is called past every licence, is refused."""
    cards = dict[str, ToolCard]()
    for tool in tools:
        if not isinstance(tool, BaseTool):
            raise ConfigurationError(f"tools: a provider's own tool is called past every licence; given: {tool!r:.80}")
        cards[tool.name] = ToolCard(name=tool.name, description=tool.description, schema=read_tool_schema(tool))
    return cards


def list_proposed_calls(response: ModelResponse[Any]) -> list[JsonObject]:
    """Return the calls that a reply proposes; those that LangChain answered itself are the answer's own form."""
    answered = {each.tool_call_id for each in response.result if isinstance(each, ToolMessage)}
    calls = list[Any]()
    for message in response.result:
        if isinstance(message, AIMessage):
            calls += (each for each in message.tool_calls if each["id"] not in answered)
            calls += message.invalid_tool_calls
    return [{"id": each["id"], "tool": each["name"], "args": each["args"]} for each in calls]


def _list_calls_before(messages: Sequence[AnyMessage], call_id: str | None) -> list[Any]:
    """Return the calls of the same step that stand before a call; two with one id are refused."""
    for message in reversed(messages):
        ids = [each["id"] for each in message.tool_calls] if isinstance(message, AIMessage) else []
        if call_id in ids:
            _check_ids(ids)
            return message.tool_calls[: ids.index(call_id)]  # type: ignore[union-attr]
    return []


def _let_calls_through(
    response: ModelResponse[Any], licences: Mapping[str, Licence], cards: Mapping[str, ToolCard], noted: JsonObject
) -> ExtendedModelResponse[Any]:
    """Return licensed calls, each with the arguments of its licence, and which of them wait for a person."""
    waiting = list_waiting_calls(licences)
    kept = list[Any]()
    for message in response.result:
        calls = [
            {**call, "args": dict(licences[str(call["id"])].args)} if str(call["id"]) in licences else call
            for call in (message.tool_calls if isinstance(message, AIMessage) else ())
        ]
        kept.append(message.model_copy(update={"tool_calls": calls}) if calls else message)
    record = {**noted, "waiting": waiting, "cards": dict(cards)}
    return _write(ModelResponse(kept, response.structured_response), record)


def _write(response: ModelResponse[Any], record: JsonObject, **more: JsonObject) -> ExtendedModelResponse[Any]:
    update = {"guardgraph_record": record, "guardgraph_here": True, **more}
    return ExtendedModelResponse(response, Command(update=update))


def _make_inbox_request(waiting: Sequence[JsonObject], problem: str) -> JsonObject:
    """Return what LangChain's inboxes show of calls that wait: values that nothing supports, and the licence's hash."""
    return {
        **({"problem": problem} if problem else {}),
        "action_requests": [
            {
                "name": each["tool"],
                "args": each["args"],
                "description": f"{each['effect']}; licence {each['licence']}; unsupported: "
                + json.dumps(each["unsupported"], ensure_ascii=False),
            }
            for each in waiting
        ],
        "review_configs": [
            {"action_name": name, "allowed_decisions": [*DECISIONS]}
            for name in dict.fromkeys(w["tool"] for w in waiting)
        ],
    }


def _tell_waiting(waiting: Sequence[JsonObject]) -> str:
    """Say which calls nobody could be asked about, why each needs a person, and what a deployment can do."""
    needs = list[str]()
    for call in waiting:
        values = [
            f"{each['argument']} = {json.dumps(each['value'], ensure_ascii=False)[:MOST_SHOWN]} "
            + (f"(seen in what {', '.join(seen)} brought)" if seen else "(seen nowhere)")
            for each in call["unsupported"]
            for seen in [dict.fromkeys(sighting["tool"] for sighting in each["seen"])]
        ]
        why = f"the user did not give {', '.join(values)}" if values else "its rule wants a person"
        needs.append(f"A person has to allow the call of {call['tool']}: {why}.")
    return " ".join(needs) + " " + ADVICE


def _end_run(
    run: str, message: AIMessage, stop: Stop, answers: Sequence[Any] = (), *, told: str = ""
) -> dict[str, Any]:
    """End the run with no call of a step made; a conversation needs an answer to each."""
    refusals = [_refuse_call(call, f"Not performed: {stop.reason}.") for call in message.tool_calls]
    ending = describe_stop(run, stop)
    messages = [*refusals, make_stop_message(stop, told)]
    record = {"run": run, "waiting": [], "answers": [*answers]}
    written = {"guardgraph": ending, "guardgraph_record": record, "guardgraph_here": True}
    return {"messages": messages, "jump_to": "end", **written}


def _refuse_call(call: Mapping[str, Any], text: str) -> ToolMessage:
    return ToolMessage(text, name=call["name"], tool_call_id=call["id"], status="error")

"""Spans of OpenTelemetry, in OTLP's JSON, as exported runs: the conventions for GenAI of all years, and of others.

A run is what models replied in one trace after the same messages of a user. A tool's span is matched with the call that
it performed: by its id, else by its name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage

from guardgraph.graphs.guard_nodes import is_written_by_user
from guardgraph.middleware.importing import NO_TIME, TOLD, ExportedRun, tell
from guardgraph.middleware.importing_langgraph import read_json_file
from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.json import JsonObject, NotJson, parse_json
from guardgraph.state.tools import ToolCard

_NAMES: Final = {
    "kind": "gen_ai.operation.name openinference.span.kind traceloop.span.kind llm.request.type ai.operationId",
    "input": "gen_ai.input.messages gen_ai.prompt llm.input_messages ai.prompt.messages input.value",
    "output": "gen_ai.output.messages gen_ai.completion llm.output_messages output.value genai.output",
    "model": "gen_ai.response.model gen_ai.request.model llm.model_name ai.response.model ai.model.id",
    "ended": "gen_ai.response.finish_reasons gen_ai.response.finish_reason ai.response.finishReason",
    "tools": "gen_ai.tool.definitions llm.tools llm.request.functions ai.prompt.tools",
    "agent": "gen_ai.agent.name agent.name",
    "tool": "gen_ai.tool.name tool.name ai.toolCall.name traceloop.entity.name",
    "call": "gen_ai.tool.call.id tool_call.id tool.call.id ai.toolCall.id",
    "arguments": "gen_ai.tool.call.arguments gen_ai.tool.args tool.parameters ai.toolCall.args traceloop.entity.input "
    "input.value",
    "result": "gen_ai.tool.call.result gen_ai.tool.message ai.toolCall.result traceloop.entity.output output.value "
    "genai.output",
}
"""By what is told: the attributes that may tell it, the clearest first."""
_KINDS: Final = {
    "model": "chat text_completion generate_content completion call_llm llm ai.generatetext.dogenerate "
    "ai.streamtext.dostream",
    "tool": "execute_tool tool ai.toolcall",
    "agent": "invoke_agent",
}
"""By what a span is of: how conventions name that."""
_CALLS: Final = ("tool_call", "tool_use", "function_call")
_RESULTS: Final = ("tool_call_response", "tool_result", "function_response")
_CALLING: Final = {"tool_call", "tool_calls", "tool_use", "tool-calls", "function_call"}
"""How providers say that a reply ended to call tools."""
_CUT_JSON: Final = re.compile(r"\s*[\[{]\s*[\[{\"]")
"""How JSON begins; a text that does so and is none was cut, and nobody knows what it said."""
_USERS, _MODELS = ("user", "human"), ("assistant", "ai", "model")


@dataclass
class _Span:
    """What a span tells of a model's reply or a tool's work."""

    trace: str
    id: str
    parent: str
    name: str
    begin: int
    end: int
    told: JsonObject  # attributes, those of events among them
    has_failed: bool

    def find(self, what: str) -> Any:
        """Return what the first attribute says that tells something; JSON is read."""
        for name in _NAMES[what].split():
            value = self.told.get(name, _nest_attributes(self.told, f"{name}."))
            if value not in (None, "", [], {}):
                said = _read_json_text(value)
                is_cut = said is value and isinstance(said, str) and _CUT_JSON.match(said)  # exporters cut long texts
                return None if is_cut else said
        return None

    @property
    def kind(self) -> str:
        """What it is of: ``model``, ``tool``, ``agent``, or nothing that counts here."""
        said = {str(self.told[name]).lower() for name in _NAMES["kind"].split() if name in self.told}
        said = said or {*self.name.lower().split()[:1]}
        kind = next((kind for kind, names in _KINDS.items() if said & {*names.split()}), "")
        return kind or ("model" if any(name.startswith("gen_ai.completion") for name in self.told) else "")

    @property
    def seconds(self) -> float:
        return max(0, self.end - self.begin) / 1e9


@dataclass
class _Loop:
    """A run as it is gathered: the replies of models after the same messages of a user, and what tools brought."""

    agent: str
    before: list[AnyMessage] | None
    replies: list[tuple[_Span, AIMessage]] = field(default_factory=list)
    results: dict[str, AnyMessage] = field(default_factory=dict)


def read_traces(source: Any) -> Iterator[ExportedRun | str]:
    """Yield the runs of all traces in a file; of a trace that has none, why."""
    traces = dict[str, list[_Span]]()
    for place, value in read_json_file(Path(str(source))):
        try:
            for resource in value["resourceSpans"]:
                for span in (span for scope in resource["scopeSpans"] for span in map(_read_span, scope["spans"])):
                    traces.setdefault(span.trace, []).append(span)
        except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
            said = (
                "an ExportTraceServiceRequest with resourceSpans, scopeSpans and spans is required, as OTLP writes it"
            )
            raise ConfigurationError(f"{place}: {said}; {type(error).__name__}: {error!s:.80}") from None
    for trace, spans in traces.items():
        spans.sort(key=lambda span: (span.begin, span.end))
        loops = _gather_loops(spans)
        if not loops:
            yield f"trace {trace}: no reply of a model"
        for number, loop in enumerate(loops):
            yield _make_exported_run([trace, number], loop, spans)


# Spans


def _read_span(span: JsonObject) -> _Span:
    told = _read_attributes(span.get("attributes"))
    messages: JsonObject = {}
    for event in span.get("events") or ():
        name, more = str(event.get("name")), _read_attributes(event.get("attributes"))
        if name == "gen_ai.choice" or (name.startswith("gen_ai.") and name.endswith(".message")):
            what = "output" if name == "gen_ai.choice" else "input"
            role = "assistant" if what == "output" else name.split(".")[1]
            said = more.get("gen_ai.event.content", more.get("message", more.get("gen_ai.completion", more)))
            body = _read_json_text(said)
            body = body if isinstance(body, dict) else {**more, "content": body}
            messages.setdefault(_NAMES[what].split()[0], []).append({"role": role, **body})
        elif name.startswith("gen_ai."):
            told = {**more, **told}
    times = [int(span.get(key) or 0) for key in ("startTimeUnixNano", "endTimeUnixNano")]
    if not all(0 <= time < 2**63 for time in times):
        raise ValueError(f"startTimeUnixNano and endTimeUnixNano, {times}")
    names = [str(span.get(key) or "") for key in ("traceId", "spanId", "parentSpanId", "name")]
    has_failed = (span.get("status") or {}).get("code") in (2, "STATUS_CODE_ERROR")
    return _Span(names[0], names[1], names[2], names[3], times[0], times[1], {**messages, **told}, has_failed)


def _read_attributes(given: Any) -> JsonObject:
    return {str(each["key"]): _read_attribute_value(each.get("value") or {}) for each in given or ()}


def _read_attribute_value(value: JsonObject) -> Any:
    kind, given = next(iter(value.items()), ("stringValue", None))
    items: Any = given
    if kind == "arrayValue":
        return [_read_attribute_value(each) for each in items.get("values") or ()]
    if kind == "kvlistValue":
        return _read_attributes(items.get("values"))
    return int(items) if kind == "intValue" else items


def _nest_attributes(told: Mapping[str, Any], prefix: str) -> Any:
    """Return attributes such as ``prefix.0.message.role`` as the list that they are."""
    top: JsonObject = {}
    for name, value in told.items():
        if name.startswith(prefix):
            *path, last = name.removeprefix(prefix).split(".")
            at = top
            for key in path:
                at = at.setdefault(key, {}) if isinstance(at.get(key, {}), dict) else {}
            at[last] = value
    return _list_numbered(top)


def _list_numbered(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    items = {key: _list_numbered(each) for key, each in value.items()}
    is_list = bool(items) and all(key.isdigit() for key in items)
    return [items[key] for key in sorted(items, key=int)] if is_list else items


def _read_json_text(value: Any) -> Any:
    """Return the JSON that a text is, the text itself where it is none."""
    if isinstance(value, str) and value[:1] in ("[", "{", '"'):
        try:
            return parse_json(value)
        except NotJson:
            return value
    return value


# Messages


def _read_messages(given: Any, role: str) -> list[AnyMessage]:
    """Return the messages of a value in any convention; what is a text, or something else, is one of a role."""
    if isinstance(given, dict) and isinstance(given.get("messages"), list):
        given = given["messages"]
    if isinstance(given, list) and len(given) == 1 and isinstance(given[0], list):  # a batch of one
        given = given[0]
    items = given if isinstance(given, list) else [given]
    return [message for item in items for message in _read_message(item, role)]


def _read_message(given: Any, role: str) -> list[AnyMessage]:
    item = _unwrap_message_part(_read_json_text(given))
    parts = _read_json_text(_get_first_named(item, "parts", "contents", "content", "text"))
    role = str(_get_first_named(item, "role", "type") or role)
    texts, results = list[str](), list[AnyMessage]()
    beside = item.get("additional_kwargs")
    made = _read_json_text(item.get("tool_calls") or (beside.get("tool_calls") if isinstance(beside, dict) else None))
    calls = [_read_call(each) for each in (made if isinstance(made, list) else ()) if isinstance(each, dict)]
    for part in map(_unwrap_message_part, parts if isinstance(parts, list) else [parts]):
        kind = str(part.get("type") or "text").replace("-", "_")
        if kind in _CALLS:
            calls.append(_read_call(part))
        elif kind in _RESULTS:
            results.append(_read_result(part))
        elif kind == "text":
            texts.append(str(_get_first_named(part, "text", "content") or ""))
    text = "\n".join(texts)
    if "name" in item and "arguments" in item and not calls:  # a reply that is a call and nothing else
        calls, role = [_read_call(item)], "assistant"
    if role == "tool":
        return results or [_read_result({**item, "content": text})]
    if role in _MODELS:
        lacks = ["arguments"] if any(not isinstance(call["args"], dict) for call in calls) else []
        proposed: Any = [{**call, "args": call["args"] if isinstance(call["args"], dict) else {}} for call in calls]
        return [tell(AIMessage(text, tool_calls=proposed), lacks=lacks)]
    return [*results, *([HumanMessage(text) if role in _USERS else SystemMessage(text)] if text or not results else [])]


def _unwrap_message_part(given: Any) -> JsonObject:
    """Return a message, a part or a call without what conventions put around it."""
    item: JsonObject = given if isinstance(given, dict) else {"text": "" if given is None else str(given)}
    for key in ("message", "message_content", "tool_call", "function", "tool"):
        item = {**item, **item[key]} if isinstance(item.get(key), dict) else item
    return item


def _get_first_named(given: Mapping[str, Any], *names: str) -> Any:
    return next((given[name] for name in names if given.get(name) is not None), None)


def _read_call(given: Any) -> JsonObject:
    part = _unwrap_message_part(given)
    name = str(_get_first_named(part, "name", "toolName") or "")
    args = _read_json_text(_get_first_named(part, "arguments", "args", "input", "parameters"))
    return {"id": str(_get_first_named(part, "id", "toolCallId", "call_id") or ""), "name": name, "args": args}


def _read_result(part: JsonObject) -> ToolMessage:
    brought = _get_first_named(part, "response", "result", "output", "content")
    call = str(_get_first_named(part, "tool_call_id", "toolCallId", "tool_use_id", "call_id", "id") or "")
    text = brought if isinstance(brought, str) else json.dumps(brought, ensure_ascii=False)
    return ToolMessage("" if brought is None else text, tool_call_id=call, name=str(part.get("name") or ""))


# Runs


def _gather_loops(spans: Iterable[_Span]) -> list[_Loop]:
    by_id, loops = {span.id: span for span in spans}, dict[Any, _Loop]()
    for span in spans:
        if span.kind == "model":
            given, agent = span.find("input"), _find_agent(span, by_id)
            before = None if given is None else _read_messages(given, "user")
            said = None if before is None else tuple(each.text for each in before if is_written_by_user(each))
            key = (agent, said)
            loop = loops.setdefault(key, _Loop(agent, before))
            for message in before or ():  # what tools brought before this reply was asked for
                if isinstance(message, ToolMessage):
                    loop.results.setdefault(message.tool_call_id, message)
            loop.replies.append((span, _read_reply(span)))
        elif span.kind == "tool":
            agent = _find_agent(span, by_id)
            among = [loop for loop in loops.values() if loop.agent == agent]
            any(_add_result(loop, span) for loop in reversed(among))
    return [*loops.values()]


def _find_agent(span: _Span, by_id: Mapping[str, _Span]) -> str:
    at: _Span | None = span
    for _ in by_id:
        at = by_id.get(at.parent) if at is not None else None
        if at is not None and at.kind == "agent":
            return at.id
    return ""


def _read_reply(span: _Span) -> AIMessage:
    text, calls = span.told.get("ai.response.text"), span.told.get("ai.response.toolCalls")
    given = [{"content": text, "tool_calls": calls}] if text or calls else span.find("output")
    said = [] if given is None else _read_messages(given, "assistant")
    own = [each for each in said if isinstance(each, AIMessage)]
    reply = AIMessage("\n".join(each.text for each in own if each.text))
    reply.tool_calls = [call for each in own for call in each.tool_calls]
    lacks = [part for each in own for part in each.additional_kwargs[TOLD]["lacks"]]
    if not own:
        ended = span.find("ended") or []
        wanted = {*map(str, ended if isinstance(ended, list) else [ended])}
        lacks += ["text"] if wanted and not wanted & _CALLING else ["text", "calls"]
    for number, call in enumerate(reply.tool_calls):
        call["id"] = call["id"] or f"{span.id} {number}"
    reply.response_metadata["model"] = span.find("model") or "unknown"
    tell(reply, lacks=lacks, seconds=span.seconds)
    return reply


def _add_result(loop: _Loop, span: _Span) -> bool:
    """Add what a tool's span tells to a run: a result, and the call itself where nobody wrote the reply down."""
    call = str(span.find("call") or "")
    name = str(span.find("tool") or span.name.removeprefix("execute_tool "))
    made = {str(each["id"]): (reply, each) for _, reply in reversed(loop.replies) for each in reply.tool_calls}
    done = {key for key, message in loop.results.items() if "seconds" in message.additional_kwargs.get(TOLD, {})}
    args, is_sure = span.find("arguments"), True
    if call not in made:
        alike = [key for key, (_, each) in made.items() if each["name"] == name and key not in done]
        same = [key for key in alike if made[key][1]["args"] == args]
        call, is_sure = next(iter([*same, *alike]), call), len(alike) < 2 or len(same) == 1
    if call in made:
        reply, proposed = made[call]
        if isinstance(args, dict) and args != proposed["args"]:  # a middleware, or a person, changed them
            reply.additional_kwargs[TOLD]["lacks"].append("arguments")
    else:
        reply = loop.replies[-1][1]
        told = reply.additional_kwargs[TOLD]
        if "text" not in told["lacks"]:
            return False  # the reply is known, and this call is none of its
        call, is_known = call or span.id, isinstance(args, dict)
        told["lacks"] = [part for part in told["lacks"] if part != "calls"] + ([] if is_known else ["arguments"])
        reply.tool_calls.append({"id": call, "name": name, "args": args if is_known else {}, "type": "tool_call"})
    brought = span.find("result") if is_sure else None
    known = loop.results.get(call, _read_result({"content": brought, "id": call, "name": name}))
    lacks = ["result"] if brought is None and call not in loop.results else []
    known = loop.results[call] = tell(known, lacks=lacks, seconds=span.seconds, is_made=True)
    if span.has_failed and isinstance(known, ToolMessage):
        known.status = "error"
    return True


def _make_exported_run(key: list[Any], loop: _Loop, spans: Iterable[_Span]) -> ExportedRun:
    began, before = loop.replies[0][0].begin, loop.before or []
    last = max((place for place, each in enumerate(before) if is_written_by_user(each)), default=-1)
    after = before[last + 1 :] if last >= 0 else []
    then: list[AnyMessage] = [each for each in after if isinstance(each, AIMessage | ToolMessage)]
    for _, reply in loop.replies:
        then += [reply, *(loop.results[str(call["id"])] for call in reply.tool_calls if call["id"] in loop.results)]
    names = [name for span in (*(span for span, _ in loop.replies), *spans) if (name := span.find("agent"))]
    tools = next((tools for span, _ in loop.replies if (tools := _read_tools(span.find("tools")))), None)
    at = datetime.fromtimestamp(began / 1e9, UTC).isoformat() if began else NO_TIME
    return ExportedRun(
        key,
        at,
        before[: last + 1],
        then,
        name=str(next(iter(names), "agent")),
        tools=tools,
        lacks=[*(["messages"] if last < 0 else []), *(["time"] if not began else [])],
    )


def _read_tools(given: Any) -> dict[str, ToolCard] | None:
    """Return the tools that a span describes; None where it describes none, or one by its name only."""
    cards = dict[str, ToolCard]()
    for item in given if isinstance(given, list) else ():
        said = _unwrap_message_part(_read_json_text(item))
        said = said if "name" in said else _unwrap_message_part(_read_json_text(said.get("json_schema")))
        schema = _read_json_text(_get_first_named(said, "parameters", "input_schema", "inputSchema"))
        if not isinstance(said.get("name"), str) or not isinstance(schema, dict):
            return None
        description = str(said.get("description") or "")
        cards[said["name"]] = ToolCard(name=said["name"], description=description, schema=schema)
    return cards or None

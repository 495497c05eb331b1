"""Guard nodes for a graph that the grammar does not make: a LangGraph `StateGraph` of somebody's own.

A node judges what another one wrote, writes its verdict to a key, and goes to one of two nodes that it declares::

    builder.add_node("answer_guard", answer_guard(answer="answer", sources="documents", ok="send", refused="apologise"))
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, cast

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.runnables.config import var_child_runnable_config
from langchain_core.tools import BaseTool
from langgraph.types import Command

from guardgraph.checking.answer import check_answer, read_settings
from guardgraph.graphs.running.langgraph import READ
from guardgraph.graphs.tools import fill_tool_policy
from guardgraph.guards.stop import Stop
from guardgraph.guards.tools import licence as guards
from guardgraph.guards.tools.actions import parse_call
from guardgraph.plain.errors import ConfigurationError, InputError
from guardgraph.plain.json import JsonObject, NotJson, parse_json
from guardgraph.state.run import Turn
from guardgraph.state.settings import choose_settings
from guardgraph.state.tools import Given, MadeCall, ToolBudget, ToolCard, ToolPolicy
from guardgraph.tools.langchain.calling import name_tools

Read: TypeAlias = str | Callable[[Any], Any]  # the name of a key of the state, or a function of the state
GuardNode: TypeAlias = Callable[[Any], Command[str]]


def answer_guard(
    *,
    answer: Read = "answer",
    sources: Read = "documents",
    question: Read = "question",
    ok: str,
    refused: str,
    verdict: str = "verdict",
    policy: object = None,
) -> GuardNode:
    """Return a node that holds an answer of the state against its sources.

    Args:
        answer: where the answer stands: a text, or messages, of which the last one is the answer.
        sources: where what it rests on stands; see `check_answer`.
        question: where the question stands; a key that the state lacks is none.
        ok: the node to go to with an answer that is let through; LangGraph's ``END`` will do.
        refused: the node to go to with one that is not.
        verdict: the key to which the verdict is written, as plain JSON: `CheckedAnswer.model_dump`.
        policy: which checks are made, and what becomes of what is unsupported or in doubt: an agent's policy, or a
            dictionary; see `check_answer`.

    Raises:
        ConfigurationError: an argument is wrong.
    """
    _check_node_names(ok=ok, refused=refused, verdict=verdict)
    rules = read_settings(policy)
    read_answer, read_sources = _make_state_reader("answer", answer), _make_state_reader("sources", sources)
    read_question = _make_state_reader("question", question)

    def judge_answer_node(state: Any) -> Command[str]:
        """Judge the answer."""
        _check_verdict_is_kept(verdict)
        said, asked = read_answer(state), read_question(state)
        checked = check_answer(
            _read_last_message(said), read_sources(state) or (), question=_read_last_message(asked), policy=rules
        )
        return Command(goto=ok if checked.ok else refused, update={verdict: checked.model_dump()})

    return _declare_ways(judge_answer_node, ok, refused)


def tool_guard(
    tools: Sequence[BaseTool | Callable[..., Any]],
    *,
    messages: Read = "messages",
    ok: str,
    refused: str,
    verdict: str = "verdict",
    policy: ToolPolicy | None = None,
    budget: ToolBudget | None = None,
) -> GuardNode:
    """Return a node that judges the calls of a model's last message before another node makes them.

    A call that only a person may allow goes to `refused`, with ``needs_approval`` in the verdict. The node changes no
    call: one without an argument that its rule forces is refused.

    Args:
        tools: the tools of the graph.
        messages: where the conversation stands: the user's turns license, results of tools only as their rules say.
        ok: the node to go to where every call has a licence, and where there is no call.
        refused: the node to go to otherwise.
        verdict: the key to which the verdict is written: ``{ok, stop_reason, licences | evidence}``.
        policy: lists and rules; a list that it leaves out holds all tools.
        budget: how many calls a conversation may make.

    Raises:
        ConfigurationError: an argument is wrong, or the policy names a tool that there is not.
    """
    _check_node_names(ok=ok, refused=refused, verdict=verdict)
    named = name_tools(tools)
    cards = {name: ToolCard(name=name, description=t.description, schema=t.schema) for name, t in named.items()}
    rules = fill_tool_policy(choose_settings(ToolPolicy(), policy, "policy"), cards)
    limits = choose_settings(ToolBudget(), budget, "budget")
    read_messages = _make_state_reader("messages", messages)

    def judge_calls_node(state: Any) -> Command[str]:
        """Judge the calls."""
        _check_verdict_is_kept(verdict)
        said = read_messages(state)
        if not isinstance(said, list | tuple) or not all(isinstance(each, BaseMessage) for each in said):
            raise InputError(f"messages: a list of LangChain's messages is required; given: {said!r:.80}")
        try:
            told = _judge_last_calls(said, cards, rules, limits)
        except Stop as stop:
            told = {"ok": False, "stop_reason": stop.reason, **stop.evidence}
        return Command(goto=ok if told["ok"] else refused, update={verdict: told})

    return _declare_ways(judge_calls_node, ok, refused)


def _judge_last_calls(
    messages: Sequence[BaseMessage], cards: Mapping[str, ToolCard], policy: ToolPolicy, budget: ToolBudget
) -> JsonObject:
    at = max((at for at, each in enumerate(messages) if isinstance(each, AIMessage)), default=0)
    last = messages[at] if messages else None  # as LangGraph's `ToolNode`, which looks past what stands after it
    given, made = read_given_messages(messages), list_made_calls(messages[:at], policy)
    licences = list[JsonObject]()
    for proposed in last.tool_calls if isinstance(last, AIMessage) else ():
        # Another node makes the call, as it is proposed: what a rule forces has to stand in it.
        call = parse_call({"tool": proposed["name"], "args": proposed["args"]}, cards, {})
        licence = guards.check_licence(call, cards=cards, policy=policy, budget=budget, given=given, made=made)
        made.append(guards.note_call(made, licence.tool, licence.args, licence.effect))
        licences.append({"id": proposed["id"], "tool": licence.tool, "args": licence.args, "licence": licence.hash})
        if licence.needs_approval:
            shown = {"needs_approval": licences[-1], "unsupported": [*licence.unsupported]}
            return {"ok": False, "stop_reason": f"not_approved:{licence.tool}", **shown}
    return {"ok": True, "stop_reason": "success", "licences": licences}


def is_written_by_user(message: BaseMessage) -> bool:
    """Say whether a message is a user's own: LangChain marks those that its middlewares write, such as summaries."""
    return isinstance(message, HumanMessage) and "lc_source" not in message.additional_kwargs


def read_given_messages(messages: Iterable[BaseMessage], foreign: Container[str | None] = ()) -> Given:
    """Return what a user gave: the last message as the task, the turns before it; those with `foreign` ids are not."""
    turns = [
        Turn(role="user" if is_written_by_user(each) and each.id not in foreign else "assistant", content=each.text)
        for each in messages
        if each.text
    ]
    last = max((at for at, turn in enumerate(turns) if turn["role"] == "user"), default=None)
    task = "" if last is None else turns[last]["content"]
    return Given(task=task, history=[turn for at, turn in enumerate(turns) if at != last], is_foreign=True)


def list_made_calls(messages: Iterable[BaseMessage], policy: ToolPolicy) -> list[MadeCall]:
    """Return the calls that a conversation made, with what each brought."""
    asked, made = dict[str, Any](), list[MadeCall]()
    for message in messages:
        if isinstance(message, AIMessage):
            asked |= {str(call["id"]): call for call in message.tool_calls}
        elif isinstance(message, ToolMessage) and (call := asked.get(message.tool_call_id)) is not None:
            effect = policy.rule_of(call["name"]).effect
            noted = guards.note_call(made, call["name"], call["args"], effect)
            made.append(cast(MadeCall, {**noted, **read_tool_message(message)}))
    return made


def read_tool_message(message: ToolMessage) -> JsonObject:
    """Return what a call brought as plain JSON, fields or else its text, and whether the tool reported a failure."""
    if message.status == "error":
        return {"value": message.text, "failed": True}
    fields = message.artifact.get("structured_content") if isinstance(message.artifact, dict) else None
    if fields is not None:
        return {"value": fields}
    try:
        return {"value": parse_json(message.text, exact_numbers=True)}
    except NotJson:
        return {"value": message.text}


def _check_node_names(**names: object) -> None:
    for field, name in names.items():
        if not isinstance(name, str) or not name:
            raise ConfigurationError(f"{field}: a name is required; given: {name!r:.80}")


def _check_verdict_is_kept(verdict: str) -> None:
    """Check that the state of the graph has the key, since LangGraph drops what is written to another one."""
    config = var_child_runnable_config.get() or {}
    read = config.get("configurable", {}).get(READ)  # none where somebody calls the node by hand
    try:
        _ = read is None or read(verdict)
    except KeyError:
        raise InputError(f"verdict: a key of the graph's state is required; given: {verdict!r:.80}") from None


def _make_state_reader(field: str, read: Read) -> Callable[[Any], Any]:
    if callable(read):
        return read
    if not isinstance(read, str) or not read:
        raise ConfigurationError(f"{field}: a key of the state or a function of it is required; given: {read!r:.80}")
    return lambda state: state.get(read) if isinstance(state, Mapping) else getattr(state, read, None)


def _read_last_message(said: Any) -> str:
    last = said[-1] if isinstance(said, list | tuple) and said else said
    return last.text if isinstance(last, BaseMessage) else str(last or "")


def _declare_ways(node: GuardNode, ok: str, refused: str) -> GuardNode:
    """Say on a node where it goes, as LangGraph reads it: so it is drawn, and `verify` sees it."""
    node.__annotations__["return"] = Command[Literal[ok, refused]]  # type: ignore[valid-type]
    return node

"""`GroundedAnswer`: an agent's answer is held against what its tools brought, its documents, and what the user said."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from functools import lru_cache
from typing import Any, Final, cast

from langchain.agents.middleware import AgentMiddleware
from langchain.agents.middleware.types import ExtendedModelResponse, ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langchain_core.tools import BaseTool
from langgraph.runtime import Runtime
from langgraph.types import Command

from guardgraph.checking.answer import judge_answer_text, read_settings, read_source
from guardgraph.checking.checked import CheckedAnswer, explain_finding
from guardgraph.graphs.guard_nodes import is_written_by_user, list_made_calls
from guardgraph.grounding.check import Source
from guardgraph.guards.answers import is_partial
from guardgraph.guards.stop import Stop
from guardgraph.guards.tools.claims import check_claimed_actions
from guardgraph.middleware.agent_state import (
    GuardedState,
    describe_stop,
    find_record,
    find_run,
    is_stop_message,
    make_stop_message,
)
from guardgraph.middleware.asking import MOST_TOLD, Asking, aask_model, ask_model, check_max_attempts, tell_refusal
from guardgraph.plain.errors import ConfigurationError, InputError
from guardgraph.plain.json import JsonObject, format_json_text
from guardgraph.state.tools import MadeCall, ToolCard, ToolPolicy, ToolRule

_OF_SENTENCES: Final = ("opposite", "cover")  # rules whose findings are whole sentences
_SHOWN_OF_SENTENCES: Final = ("start", "end", "text", "verdict")


class GroundedAnswer(AgentMiddleware[GuardedState, Any, Any]):
    """Hold the last message of a model against its sources; it reaches neither the state nor a stream before.

    Sources are what tools brought (a result that is marked as an error is none), the documents in the state, and what
    the user said; and what it says was done, some call of the run did. A refused answer is sent back with the evidence,
    then stopped, or marked as the policy says. The ending is in the state's ``guardgraph``: ``{status, stop_reason,
    outcome, unverified?, findings?, usage}``.

    Args:
        policy: which checks are made, and what becomes of what is unsupported or in doubt: an agent's policy, or a
            dictionary; see `check_answer`.
        max_attempts: how often a model is asked for one answer, the first time included.
        documents: the key of the state with documents that answers may rest on; texts, dictionaries or LangChain's.

    Raises:
        ConfigurationError: an argument is wrong.
    """

    state_schema = GuardedState

    def __init__(self, policy: object = None, *, max_attempts: int = 2, documents: str = "documents") -> None:
        super().__init__()
        check_max_attempts(max_attempts)
        if not isinstance(documents, str) or not documents:
            raise ConfigurationError(f"documents: the name of a key is required; given: {documents!r:.80}")
        self.policy = read_settings(policy)
        self.max_attempts, self._documents = max_attempts, documents

    def after_agent(self, state: GuardedState, runtime: Runtime[Any]) -> dict[str, Any]:
        """Say how the run ended, where no answer did: a tool returned directly, or another middleware ended it."""
        ended = state.get("guardgraph") or {}
        run, ending = _find_run(state), {"status": "ok", "stop_reason": "success"}
        if ended.get("run") == run and "status" in ended:  # said once more: who reads updates of a stream meets no None
            ending = {key: ended[key] for key in ending}
        return {"guardgraph": {"run": run, **ending}}

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> Any:
        """Judge the model's answer; see the class."""
        return ask_model(self, _find_run(request.state), self._ask_for_answer(request), handler)

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> Any:
        """Judge the model's answer; see the class."""
        return await aask_model(self, _find_run(request.state), self._ask_for_answer(request), handler)

    def _ask_for_answer(self, request: ModelRequest[Any]) -> Asking:
        state = cast(Mapping[str, Any], request.state)
        begun, run = state.get("guardgraph") or {}, _find_run(state)
        known: JsonObject = {}
        if find_record(state) is None and begun.get("run") == run and "status" in begun:
            # The same message was sent again.
            known = {"run": run, "begins": True}
        asked, before, refused = request, "", None
        for attempt in range(1, self.max_attempts + 1):
            response = yield asked, refused
            message = next(each for each in reversed(response.result) if isinstance(each, AIMessage))
            if is_stop_message(message):  # of a middleware inside this one
                return response
            is_answer = not message.tool_calls or response.structured_response is not None
            text = read_answer_text(response, message)
            if not is_answer:  # words beside calls are no answer: where they are refused, the calls go on without them
                is_borne_out = not text or (self._check_text(text, state).ok and _find_claim(text, request) is None)
                kept = response if is_borne_out else _drop_words(response, message)
                return ExtendedModelResponse(kept, Command(update={"guardgraph": known})) if known else kept
            checked, claim = self._check_text(text, state), _find_claim(text, request)
            is_asked_again = attempt < self.max_attempts and text != before
            if checked.ok and claim is None and not (checked.marked and is_asked_again):
                ending = {**known, **describe_answer(checked, run)}
                return ExtendedModelResponse(response, Command(update={"guardgraph": ending}))
            if not is_asked_again:
                break
            before, refused = text, refuse_answer(checked, claim)
            asked = tell_refusal(request, text, _tell_evidence(checked, claim))
        stop = refuse_answer(checked, claim)
        ending = {**known, **describe_stop(run, stop)}
        return ExtendedModelResponse(ModelResponse([make_stop_message(stop)]), Command(update={"guardgraph": ending}))

    def _check_text(self, text: str, state: Mapping[str, Any]) -> CheckedAnswer:
        said = "\n".join(message.text for message in state["messages"] if is_written_by_user(message))
        results, documents = list_result_sources(state["messages"]), list_sources(state, self._documents)
        return judge_answer_text(text, [*results, *documents], self.policy, question=said, results=results)


def _find_run(state: Mapping[str, Any]) -> str:
    record = find_record(state)
    return find_run(state["messages"]) if record is None else str(record["run"])


def list_sources(state: Mapping[str, Any], key: str) -> list[Source]:
    """Return the documents in a state."""
    documents = state.get(key) or ()
    if isinstance(documents, str | Mapping):
        documents = [documents]
    if not isinstance(documents, Iterable):
        raise InputError(f"{key}: a list of documents is required; given: {documents!r:.80}")
    return [read_source(item, number) for number, item in enumerate(documents, 1)]


def list_result_sources(messages: Iterable[object]) -> list[Source]:
    """Return what tools brought, as an answer may rest on it."""
    return [
        Source(str(message.tool_call_id), message.text, (message.name or "",))
        for message in messages
        if isinstance(message, ToolMessage) and message.status != "error"
    ]


def read_answer_text(response: ModelResponse[Any], message: AIMessage) -> str:
    """Return what a reply says to the user: its text, or the fields of a structured one."""
    if response.structured_response is None:
        return message.text
    structured: Any = response.structured_response
    if is_dataclass(structured) and not isinstance(structured, type):
        structured = asdict(structured)
    fields = structured.model_dump(mode="json") if hasattr(structured, "model_dump") else structured
    return fields if isinstance(fields, str) else str(format_json_text(fields))


def _drop_words(response: ModelResponse[Any], message: AIMessage) -> ModelResponse[Any]:
    """Return a reply with its calls and without the words beside them, which its sources do not bear out."""
    kept = [block for block in message.content if isinstance(block, dict) and block.get("type") != "text"]
    silent = message.model_copy(update={"content": "" if isinstance(message.content, str) else kept})
    result = [silent if each is message else each for each in response.result]
    return ModelResponse(result, response.structured_response)


def describe_answer(checked: CheckedAnswer, run: str) -> JsonObject:
    """Return what the state says of an answer: how it ended, and each finding of the sentences that are marked."""
    shown = checked.marked if checked.ok else checked.sentences
    findings = [finding._asdict() for item in shown for finding in item.findings]
    for finding in findings if not checked.ok else ():
        if finding["rule"] in _OF_SENTENCES:  # a refused sentence reaches nobody, as evidence neither
            del finding["text"]
    ending: JsonObject = {"run": run, "status": "ok", "stop_reason": "success"}
    if not checked.ok:
        ending["unsupported"] = [*checked.unsupported]
    else:
        marked = [{key: getattr(item, key) for key in _SHOWN_OF_SENTENCES} for item in checked.marked]
        ending["outcome"] = "grounded_partial" if is_partial(marked) else "grounded_answer"
        ending |= {"unverified": marked} if marked else {}
    return {**ending, **({"findings": findings} if findings else {})}


def _find_claim(text: str, request: ModelRequest[Any]) -> Stop | None:
    """Return the refusal of an answer that says that something was done which no call of the run did."""
    record = find_record(cast(Mapping[str, Any], request.state)) or {}
    cards = {
        tool.name: ToolCard(name=tool.name, description=tool.description, schema={})
        for tool in request.tools
        if isinstance(tool, BaseTool)
    }
    policy = _make_policy(tuple(record.get("reads", ())))
    messages = _list_run_messages(request.state["messages"], _find_run(request.state))
    return find_claim(text, list_made_calls(messages, policy), cards, policy)


@lru_cache(maxsize=64)
def _make_policy(reads: tuple[str, ...]) -> ToolPolicy:
    return ToolPolicy(rules={name: ToolRule(effect="read") for name in reads})


def find_claim(text: str, made: Sequence[MadeCall], cards: Mapping[str, ToolCard], policy: ToolPolicy) -> Stop | None:
    """Return the refusal of an answer that says that something was done which no call did; None where none is due."""
    try:
        check_claimed_actions(text, made=made, cards=cards, policy=policy)
    except Stop as stop:
        return stop
    return None


def _list_run_messages(messages: Sequence[AnyMessage], run: str) -> Sequence[AnyMessage]:
    """Return the messages of a run: what follows the user's message that began it."""
    return messages[next((at for at, each in enumerate(messages) if str(each.id) == run), 0) :]


def refuse_answer(checked: CheckedAnswer, claim: Stop | None) -> Stop:
    """Return the refusal for which another answer is asked for; one in doubt would be given with marks at last."""
    if checked.ok and claim is not None:  # a refused sentence reaches nobody, as evidence neither
        return Stop(claim.reason, performed=claim.evidence["performed"])
    reason = f"invalid_answer:{checked.verdict}" if checked.ok else checked.stop_reason
    said = describe_answer(checked, "")
    return Stop(reason, **{key: said[key] for key in ("findings", "unsupported") if key in said})


def _tell_evidence(checked: CheckedAnswer, claim: Stop | None) -> str:
    if checked.ok and claim is not None:
        performed = ", ".join(claim.evidence["performed"]) or "none"
        return (
            f"It was refused: {claim.reason}. You say: {claim.evidence['claimed']}\nCalls that did something: "
            f"{performed}. Call the tool that does it, or say that it is not done."
        )
    refused = "It was refused" if not checked.ok else "It is in doubt"
    told = "\n".join(explain_finding(f) for item in checked.sentences for f in item.findings)[:MOST_TOLD]
    reason = "" if checked.ok else f": {checked.stop_reason} {', '.join(checked.unsupported)}"
    return (
        f"{refused}{reason}.\n{told}\nSay only what the results of tools, the documents and the user's own words say; "
        "leave out what they do not say, or say that you do not know it."
    )

"""Messages of LangChain in, a message out: an agent that answers questions, as chains and chat graphs call one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, convert_to_messages
from langchain_core.prompt_values import PromptValue
from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.state import CompiledStateGraph

from guardgraph.graphs.guard_nodes import is_written_by_user
from guardgraph.graphs.running.door import GuardedGraph
from guardgraph.plain.errors import ConfigurationError, InputError
from guardgraph.plain.json import JsonObject
from guardgraph.state.rag import RagContext, RagInput, RagResult
from guardgraph.state.run import RECORDED, Turn

STOPPED = "I cannot answer this. Please ask in other words, or ask a person."
"""What a message says of a run that was stopped."""

Messages: TypeAlias = "PromptValue | str | Sequence[Any] | Mapping[str, Any]"
"""What a chat model of LangChain's takes, or a state with `messages`."""

_TOLD = ("run_id", "pattern", "status", "stop_reason", "outcome", "phase", "asked_question")
"""What the metadata of a message says of the run."""


class MessagesAgent(Runnable[Messages, Any]):
    """An RAG agent that takes a conversation as messages and answers with a message.

    The last message is the question, those of people and assistants before it are its history; of other messages, and
    of those without a text, nothing is read. It can stand in a chain where a chat model would stand, and in a graph
    with `MessagesState` as a node.

    The message that comes out has the answer, or the request for clarification, as its content and the run's id as its
    own. Its `additional_kwargs` have what came of the run beside the answer, such as `citations` and
    `citation_details`; its `response_metadata` say how the run ended: `status`, `stop_reason`, `outcome` or `phase`,
    and `asked_question`. Of a stopped run the content is `stopped` and there is nothing else, and a conversation that
    goes on passes it over.

    Args:
        agent: what `create_rag_agent` returned.
        stopped: what the message of a stopped run says.

    Raises:
        ConfigurationError: the agent takes no question with a history, or `stopped` is no text or blank.
    """

    def __init__(self, agent: GuardedGraph[RagInput, RagContext, RagResult], *, stopped: str = STOPPED) -> None:
        if not isinstance(agent, GuardedGraph) or not {"question", "history"} <= {*agent.input_fields}:
            raise ConfigurationError(f"agent: one that create_rag_agent returned is required; given: {agent!r:.80}")
        if not isinstance(stopped, str) or not stopped.strip():
            raise ConfigurationError(f"stopped: a text that is not blank is required; given: {stopped!r:.80}")
        self.agent = agent
        self.stopped = stopped
        self.name = agent.get_name()

    def invoke(self, input: Messages, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Answer the last message of a list, or of a state with `messages`, as an `AIMessage`, or a state that has one.

        Args:
            input: the messages, or the state.
            config: LangGraph's.
            kwargs: what the agent's `invoke` takes, such as `context`.

        Raises:
            InputError: there are no messages, or the last one is no text of a person.
        """
        return self._wrap_result(input, self.agent.invoke(read_conversation(input), config, **kwargs))

    async def ainvoke(self, input: Messages, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Answer the last message asynchronously; see `invoke`."""
        return self._wrap_result(input, await self.agent.ainvoke(read_conversation(input), config, **kwargs))

    def compile(self, *, checkpointer: Any = None, name: str = "chat") -> CompiledStateGraph[Any, Any, Any, Any]:
        """Return a graph of LangGraph's with `messages` in and out, as the chat of LangGraph Studio needs one.

        Messages of a thread are kept by a checkpointer, so a client sends the new one alone. A context is that
        of the agent.
        The graph around the agent is an ordinary one: whoever may write its state may change what was said before,
        which licenses nothing in an answer but for the user's own words.

        Args:
            checkpointer: LangGraph's; a server has its own.
            name: the graph's.
        """
        around: Any = StateGraph(MessagesState, context_schema=self.agent.context_schema)
        around.add_node("answer", self)
        around.add_edge(START, "answer")
        around.add_edge("answer", END)
        return around.compile(checkpointer=checkpointer, name=name)  # type: ignore[no-any-return]

    def _wrap_result(self, given: Messages, result: RagResult) -> Any:
        whole: JsonObject = {**result}
        told = {key: whole[key] for key in _TOLD if key in whole}
        if result["status"] == "stopped":
            message = AIMessage(self.stopped, id=result["run_id"], response_metadata=told)
        else:
            beside = {key: item for key, item in whole.items() if key not in {*RECORDED, "answer", "outcome", "audit"}}
            message = AIMessage(result["answer"], id=result["run_id"], additional_kwargs=beside, response_metadata=told)
        return {"messages": [message]} if isinstance(given, Mapping) else message


def read_conversation(given: Messages) -> RagInput:
    """Return the question that messages end with, and the turns before it."""
    messages = _parse_messages(given)
    if not messages:
        raise InputError("messages: one at least is required; given: none")
    *before, last = messages
    if not isinstance(last, HumanMessage):
        raise InputError(f"messages: the last one must be a person's; given: one of type {last.type!r:.80}")
    parts = [item.get("type") for item in last.content if isinstance(item, dict)] if last.content else []
    if unread := [str(kind) for kind in parts if kind != "text"]:
        raise InputError(f"messages: a last one of text alone is required; given: {', '.join(unread):.80}")
    turns = [turn for message in before if (turn := _read_message_turn(message)) is not None]
    return RagInput(question=str(last.text), history=turns) if turns else RagInput(question=str(last.text))


def _parse_messages(given: Messages) -> list[BaseMessage]:
    if isinstance(given, PromptValue):
        return given.to_messages()
    if isinstance(given, str):
        return [HumanMessage(given)]
    found = given.get("messages") if isinstance(given, Mapping) else given
    if isinstance(found, str | BaseMessage) or not isinstance(found, Sequence):
        raise InputError(f"messages: a list of messages is required; given: {type(found).__name__}")
    try:
        return convert_to_messages(found)
    except (ValueError, TypeError, KeyError, NotImplementedError) as error:
        raise InputError(f"messages: messages of LangChain are required; given: {error!s:.200}") from None


def _read_message_turn(message: BaseMessage) -> Turn | None:
    """Return what a message says in the conversation; nothing of a stopped run's, which says nothing of its own."""
    text = str(message.text).strip()
    if not text or (message.type == "ai" and message.response_metadata.get("status") == "stopped"):
        return None
    if is_written_by_user(message):
        return Turn(role="user", content=text)
    return Turn(role="assistant", content=text) if message.type in ("ai", "human") else None

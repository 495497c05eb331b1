"""A guarded graph as a tool of a LangChain agent.

The agent's model reads the answer and the stop reason. The app reads the whole result, which comes with the tool's
message as its artifact: what the model says of it afterwards, no guard has judged.
"""

from __future__ import annotations

import json

from langchain.agents import create_agent
from langchain.tools import tool
from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langchain_core.tools import BaseTool

from guardgraph import GuardedGraph, RagResult, create_rag_agent
from guardgraph.testing import ScriptedChatModel

SHOWN = ("stop_reason", "outcome", "answer", "citations")
"""What the agent's model is shown of a result. The evidence of a stop is not for it."""


def policy_tool(graph: GuardedGraph, *, last_word: bool = False) -> BaseTool:
    """Return an RAG agent as a tool.

    Args:
        graph: the agent.
        last_word: end the agent's turn with the tool's message, so that nothing unguarded comes after it.
    """

    @tool(response_format="content_and_artifact", return_direct=last_word)
    def ask_policies(question: str) -> tuple[str, RagResult]:
        """Answer a question from the support, security and billing policies."""
        result = graph.invoke({"question": question})
        return json.dumps({key: result[key] for key in SHOWN if key in result}), result

    return ask_policies


def results(messages: list[AnyMessage]) -> list[RagResult]:
    """Return the results behind an agent's messages, in order; a call that LangChain refused has none."""
    answers = [message for message in messages if isinstance(message, ToolMessage) and message.name == "ask_policies"]
    return [message.artifact for message in answers if message.artifact is not None]


def question(text: str) -> AIMessage:
    """Return what a model writes to use the tool."""
    return AIMessage("", tool_calls=[{"name": "ask_policies", "args": {"question": text}, "id": text}])


def main() -> None:
    """Let an agent use the tool three times; its model says the same each time, whatever the tool has answered."""
    text = "What is the P1 first response target?"
    switched_off = {"policy": {"allowed_sources_execution": []}}
    for context, last_word in ((None, False), (switched_off, False), (switched_off, True)):
        model = ScriptedChatModel(question(text), "The target for P1 is 15 minutes.")
        agent = create_agent(model, [policy_tool(create_rag_agent(), last_word=last_word)])
        # Of a context that is a dictionary, the graph inside takes what is said of its policy and budget.
        said = agent.invoke({"messages": [("user", text)]}, context=context)["messages"]
        [result] = results(said)
        print("the agent says: ", said[-1].text)
        print("the guards say: ", result["stop_reason"], result["outcome"], result["citations"])


if __name__ == "__main__":
    main()

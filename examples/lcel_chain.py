"""A guarded graph in an LCEL chain: ``prompt | graph | parser``.

The graph asks its models with prompts of its own. The chain's prompt only puts the question together, and the parser
makes of the result what an app needs, the stop reason included.
"""

from __future__ import annotations

from langchain_core.prompt_values import PromptValue
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import Runnable, RunnableLambda
from typing_extensions import TypedDict

from guardgraph import RagResult, create_rag_agent

PROMPT = ChatPromptTemplate.from_messages([("human", "What {promise} applies to the {plan} plan?")])

STOPPED = "I cannot answer this now. A colleague will write to you."
SORRY = {
    "stop_llm": "I am not available at the moment. Please try again later.",
    "stop_budget": "This took too long. Please try again later.",
}
"""What a customer reads when a run was stopped, by the node in which it ended; `STOPPED` for all others."""


class Reply(TypedDict):
    """What the app needs."""

    text: str
    sources: list[str]
    stop_reason: str
    result: RagResult


def to_input(prompt: PromptValue) -> dict[str, str]:
    """Return the graph's input: a graph is given a dictionary, not messages."""
    return {"question": prompt.to_messages()[-1].text}


def to_reply(result: RagResult) -> Reply:
    """Return what came of a run, however it ended."""
    text = result["answer"] if result["status"] == "ok" else SORRY.get(result["path"][-1], STOPPED)
    return {
        "text": text,
        "sources": result.get("citations", []),
        "stop_reason": result["stop_reason"],
        "result": result,
    }


def create_chain(graph: Runnable | None = None) -> Runnable:
    """Return the chain from ``{"promise", "plan"}`` to a `Reply`, around an RAG agent or the one that is given."""
    return PROMPT | RunnableLambda(to_input) | (graph or create_rag_agent()) | RunnableLambda(to_reply)


def main() -> None:
    """Ask three times: a good answer, a question back, and a stop."""
    enterprise = {"promise": "uptime SLA", "plan": "enterprise"}
    elsewhere = {"promise": "dress code", "plan": "seating"}
    # A chain passes no context on, so it is bound beforehand. This one leaves the run no time.
    hurried = create_rag_agent().bind(context={"budget": {"max_seconds": 0.0}})
    for chain, variables in (
        (create_chain(), enterprise),
        (create_chain(), elsewhere),
        (create_chain(hurried), enterprise),
    ):
        reply = chain.invoke(variables)
        print(f"{reply['stop_reason']}: {reply['text']} {reply['sources']}")


if __name__ == "__main__":
    main()

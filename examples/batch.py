"""Many runs at once, some of them under a context of their own, and how they ended.

``graph.batch(inputs, {"max_concurrency": 4}, context=...)`` is enough when all share one context.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from langchain_core.runnables import Runnable, RunnableLambda
from typing_extensions import TypedDict

from guardgraph import GuardedGraph, RagResult, create_rag_agent

AT_ONCE = 4


class Item(TypedDict, total=False):
    """One run of a batch."""

    input: dict[str, Any]
    context: dict[str, Any]


def each(graph: GuardedGraph) -> Runnable:
    """Return a Runnable that runs a graph on an item's input under the item's context; give it to `batch`, `abatch`."""

    def run(item: Item) -> RagResult:
        return graph.invoke(item["input"], context=item.get("context"))

    async def arun(item: Item) -> RagResult:
        return await graph.ainvoke(item["input"], context=item.get("context"))

    return RunnableLambda(run, arun)


def endings(results: list[RagResult]) -> Counter[str]:
    """Count how runs ended: by outcome, or by stop reason."""
    return Counter(result.get("outcome") or result["stop_reason"] for result in results)


def main() -> None:
    """Answer the questions of three tenants: one has all sources, one none, one no time."""
    questions = ["What is the P1 first response target?", "What uptime SLA applies to the enterprise plan?", "Why?"]
    contexts = {
        "all sources": {},
        "no source": {"policy": {"allowed_sources_execution": []}},
        "no time": {"budget": {"max_seconds": 0.0}},
    }
    items = [
        {"input": {"question": question}, "context": context} for context in contexts.values() for question in questions
    ]
    results = each(create_rag_agent()).batch(items, {"max_concurrency": AT_ONCE})
    for number, tenant in enumerate(contexts):
        first = number * len(questions)
        print(f"{tenant}: {dict(endings(results[first : first + len(questions)]))}")


if __name__ == "__main__":
    main()

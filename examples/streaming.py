"""Streaming a run to a terminal: what happens node by node, and the answer when it is accepted.

The model of this example streams its proposals word by word. None of these words is shown: a token stream
(``stream_mode="messages"``) of a guarded graph is empty, since no guard has judged what is still being written. What
can be shown are the updates of the nodes, and the answer at the end.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from guardgraph import GuardedGraph, create_rag_agent
from guardgraph.testing import ScriptedChatModel

QUESTION = {"question": "What is the P1 first response target?"}

INTENT = {"kind": "retrieve", "query": "P1 first response target"}
ANSWER = {"answer": "P1 incidents are answered within 15 minutes.", "citations": ["doc_sla_enterprise_v3"]}
MADE_UP = {"answer": "P1 incidents are answered within 5 minutes.", "citations": ["doc_sla_enterprise_v3"]}

DOES = {"propose": "proposes", "act": "works", "guard": "decides", "terminal": "ends the run"}


def follow(graph: GuardedGraph, request: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Run a graph and yield what happens.

    Yields:
        ``("node", name)`` for each node that ran, ``("token", text)`` for each token of a model, and at the end
        ``("result", result)``.
    """
    result = {}
    for mode, part in graph.stream(request, stream_mode=["updates", "messages"]):
        if mode == "messages":
            yield "token", part[0].text
        else:
            [(node, result)] = part.items()
            yield "node", node
    yield "result", result  # the last node is a terminal, and a terminal writes the whole result


def show(graph: GuardedGraph, request: dict[str, Any]) -> None:
    """Print a run while it goes on."""
    tokens = 0
    for kind, what in follow(graph, request):
        match kind:
            case "node":
                print(f"  {what} {DOES[graph.builder.nodes[what].metadata['kind']]}", flush=True)
            case "token":
                tokens += 1
            case "result":
                print(what["answer"] if what["status"] == "ok" else f"stopped: {what['stop_reason']}")
    print(f"tokens that were shown before a guard had accepted them: {tokens}")


def main() -> None:
    """Follow a run that ends well, and one in which the model makes up a number."""
    for answer in (ANSWER, MADE_UP):
        show(create_rag_agent(ScriptedChatModel(INTENT, answer)), QUESTION)


if __name__ == "__main__":
    main()

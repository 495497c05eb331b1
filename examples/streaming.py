"""Streaming a run to a terminal: what happens node by node, and the answer word by word once it is accepted.

The model of this example streams its proposals, but a guarded graph shows none of these words: no guard has judged what
is still being written, so its own token stream (``stream_mode="messages"``) is empty. What can be shown at once are
the updates of the nodes; the tokens of an answer follow when the last guard has let it pass.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from guardgraph import GuardedGraph, create_rag_agent
from guardgraph.testing import ScriptedChatModel

QUESTION = {"question": "What is the P1 first response target?"}

INTENT = {"kind": "retrieve", "query": "P1 first response target"}
ANSWER = {"answer": "The P1 first response target is 15 minutes.", "citations": ["doc_sla_enterprise_v3"]}
MADE_UP = {"answer": "The P1 first response target is 5 minutes.", "citations": ["doc_sla_enterprise_v3"]}

DOES = {"propose": "proposes", "act": "works", "guard": "decides", "terminal": "ends the run"}


def follow(graph: GuardedGraph, request: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Run a graph and yield what happens.

    Yields:
        ``("node", name)`` for each node that ran, ``("token", text)`` for each word of an answer that was accepted,
        with the blank before it, and at the end ``("result", result)``.
    """
    result: dict[str, Any] = {}
    for update in graph.stream(request, stream_mode="updates"):
        [(node, result)] = update.items()
        yield "node", node
    for token in re.findall(r"\s*\S+", result.get("answer", "")):
        yield "token", token
    yield "result", result  # the last node is a terminal, and a terminal writes the whole result


def show(graph: GuardedGraph, request: dict[str, Any]) -> None:
    """Print a run while it goes on."""
    for kind, what in follow(graph, request):
        match kind:
            case "node":
                print(f"  {what} {DOES[graph.builder.nodes[what].metadata['kind']]}", flush=True)
            case "token":
                print(what, end="", flush=True)
            case "result":
                print(f"stopped: {what['stop_reason']}" if what["status"] == "stopped" else "")


def main() -> None:
    """Follow a run that ends well, one whose model makes up a number and mends it, and one whose model insists."""
    for answers in ([ANSWER], [MADE_UP, ANSWER], [MADE_UP, MADE_UP]):
        show(create_rag_agent(ScriptedChatModel(INTENT, *answers)), QUESTION)


if __name__ == "__main__":
    main()

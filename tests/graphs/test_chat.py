"""An agent as a graph of messages, as the chat of LangGraph Studio asks it: in process, and on the real server."""

from __future__ import annotations

import json

import pytest
from docs_parts import ROOT
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph_sdk import get_sync_client
from langgraph_server import needs_server, serving

from guardgraph import InputError, MessagesAgent, create_rag_agent

THREAD = {"configurable": {"thread_id": "1"}}
FIRST, NEXT = "What SLA applies to the enterprise plan?", "And for P1 incidents?"
HURRIED = {"budget": {"max_seconds": 0.0}}


def chat(**kwargs):
    """Return a chat of the demo's agent."""
    return MessagesAgent(create_rag_agent()).compile(checkpointer=InMemorySaver(), **kwargs)


def test_a_thread_keeps_what_was_said():
    """Each call sends one message; the answer is appended, and a follow-up is understood by what stands before it."""
    graph = chat()
    graph.invoke({"messages": [HumanMessage(FIRST)]}, THREAD)
    said = graph.invoke({"messages": [HumanMessage(NEXT)]}, THREAD)["messages"]
    assert [message.type for message in said] == ["human", "ai", "human", "ai"]
    assert "15 minutes" in said[-1].text
    assert said[-1].response_metadata["asked_question"]["own"] == NEXT


def test_what_is_no_question_is_refused():
    """A thread without a person's message at its end is an InputError, and nothing is appended."""
    graph = chat()
    with pytest.raises(InputError, match="messages"):
        graph.invoke({"messages": []}, THREAD)


def test_a_conversation_on_langgraph_s_server(tmp_path):
    """On the real server, runs of one thread go on a conversation, stream the answer, and never a raw proposal."""
    needs_server()
    graphs = json.loads((ROOT / "langgraph.json").read_text(encoding="utf-8"))["graphs"]
    with serving(tmp_path, {"chat": graphs["chat"]}) as server, get_sync_client(url=server.url) as client:
        thread = client.threads.create()["thread_id"]
        asked = [{"messages": [{"role": "user", "content": text}]} for text in (FIRST, NEXT)]
        client.runs.wait(thread, "chat", input=asked[0])
        parts = [*client.runs.stream(thread, "chat", input=asked[1], stream_mode=["values", "messages"])]
        said = client.threads.get_state(thread)["values"]["messages"]
        assert [message["type"] for message in said] == ["human", "ai", "human", "ai"]
        assert "15 minutes" in said[-1]["content"]
        assert said[-1]["additional_kwargs"]["citations"] == ["doc_sla_enterprise_v3"]
        whole = "".join(json.dumps(part.data) for part in parts)
        assert "15 minutes" in whole
        assert "proposed_" not in whole
        stopped = client.runs.wait(thread, "chat", input=asked[1], context=HURRIED)
        assert stopped["messages"][-1]["response_metadata"]["stop_reason"] == "max_seconds"
        told = client.runs.wait(None, "chat", input={"messages": []}, raise_error=False)
        assert told["__error__"]["error"] == "InputError"
        shown = client.assistants.get_schemas(client.assistants.search(graph_id="chat")[0]["assistant_id"])
        assert "messages" in shown["input_schema"]["properties"]

"""Models that are named by a string: other providers as LangChain names them, and servers without JSON schema."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from openai_server import OpenAIServer, answer
from rag_agents import ANSWER, INTENT, QUESTION
from runs import ASKED_ONCE, check_result, run

from guardgraph import ConfigurationError, create_rag_agent
from guardgraph.state.rag import RAG_REASONS
from guardgraph.world.named_models import chat_model

MODES = pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
AZURE = "azure_openai:my-deployment"


@pytest.fixture
def azure(monkeypatch):
    """Return a function that leads LangChain's client of Azure, the other provider that is installed, to a server."""
    pytest.importorskip("langchain")

    def lead(server):
        monkeypatch.setenv("AZURE_OPENAI_API_KEY", "key-of-azure-0123456789")
        monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", server.url.removesuffix("/v1"))
        monkeypatch.setenv("OPENAI_API_VERSION", "2024-10-21")

    return lead


@MODES
def test_a_provider_that_langchain_knows(azure, mode):
    """`PROVIDER:NAME` is opened by init_chat_model and asked once, held to the schema, with temperature 0."""
    with OpenAIServer(answer({**INTENT, "sources": None}), answer(ANSWER)) as server:
        azure(server)
        result = check_result(RAG_REASONS, run(create_rag_agent(AZURE), QUESTION, mode))
    assert result["outcome"] == "grounded_answer"
    assert {entry["proposer"] for entry in result["history"]} == {"my-deployment"}
    body = server.requests[0]["body"]
    assert server.requests[0]["path"].startswith("/openai/deployments/my-deployment/")
    assert (body["temperature"], body["response_format"]["json_schema"]["strict"]) == (0, True)
    assert not body["stream"]


def test_nothing_is_opened_before_the_first_live_run(monkeypatch):
    """A graph can be built and drawn without the provider's package; the first run says what to install."""
    pytest.importorskip("langchain")
    monkeypatch.setitem(sys.modules, "langchain_anthropic", None)
    agent = create_rag_agent("anthropic:claude-x")
    assert agent.get_graph().draw_mermaid()
    with pytest.raises(ConfigurationError, match=r"^model: 'anthropic:claude-x' .*pip install langchain-anthropic"):
        agent.invoke(QUESTION)


def test_langchain_itself_is_not_there(monkeypatch):
    monkeypatch.setitem(sys.modules, "langchain.chat_models", None)
    with pytest.raises(ConfigurationError, match=r"^model: 'anthropic:claude-x' .*install langchain and .*provider's"):
        chat_model("anthropic:claude-x")


@pytest.mark.parametrize("name", ["no_such_provider:x", "http://localhost", "azure_openai:x"])
def test_what_langchain_cannot_open(name, monkeypatch):
    """A provider that LangChain does not know, or one without its key: one line that names the model, and no key."""
    pytest.importorskip("langchain")
    for variable in ("AZURE_OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT", "OPENAI_API_VERSION"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "secret-0123456789")
    with pytest.raises(ConfigurationError, match=f"^model: '{name}' cannot be used: ") as raised:
        chat_model(name)
    assert "secret" not in str(raised.value)
    assert "\n" not in str(raised.value)


def test_langchain_is_imported_late():
    """Naming a provider loads neither langchain nor the provider's package."""
    script = (
        "import sys; from guardgraph import create_rag_agent; create_rag_agent('anthropic:claude-x');"
        "assert not {'langchain', 'langchain_anthropic', 'openai'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", script], check=True, cwd=Path(__file__).parents[2])


@MODES
def test_a_server_without_json_schema_is_asked_for_json(monkeypatch, mode):
    """Where the deployment says json, the server is asked for any JSON object, and the guards judge it."""
    with OpenAIServer(answer({**INTENT, "sources": None}), answer({"answer": 5, "citations": []})) as server:
        for name, value in server.environ(OPENAI_STRUCTURED_OUTPUT=" json ").items():
            monkeypatch.setenv(name, value)
        graph = create_rag_agent("openai:test-model")
        result = check_result(RAG_REASONS, run(graph, QUESTION, mode, context=ASKED_ONCE))
    assert (result["stop_reason"], result["phase"]) == ("llm_invalid_schema", "generate")
    assert result["history"][0]["proposer"] == "test-model"
    assert [request["body"]["response_format"] for request in server.requests] == [{"type": "json_object"}] * 2
    assert all("JSON" in request["body"]["messages"][0]["content"] for request in server.requests)

"""What a server is given: the factories of langgraph.json, graphs that cannot be served, the recipe of an image."""

import asyncio

import pytest
from langgraph_server import needs_server, serving
from openai_server import OpenAIServer, status
from served_clients import CREATE, INPUT

from guardgraph import ConfigurationError, sql_store
from guardgraph import serving as factories

WRONG = {"checkpointer=InMemorySaver()": "includes a custom checkpointer"}
WRONG["knowledge_base='nowhere'"] = "knowledge base folder 'nowhere' cannot be read"


@pytest.mark.process
@pytest.mark.parametrize(("argument", "why"), WRONG.items())
def test_a_graph_that_cannot_be_served_keeps_the_server_from_starting(argument, why, tmp_path):
    """A checkpointer of one's own, or a setting that is wrong, is told when the server starts, not to its clients."""
    needs_server()
    imports = "from langgraph.checkpoint.memory import InMemorySaver\nfrom guardgraph import create_rag_agent\n"
    (tmp_path / "wrong.py").write_text(f"{imports}agent = create_rag_agent({argument})\n", encoding="utf-8")
    with pytest.raises(RuntimeError, match=why), serving(tmp_path, {"wrong": "./wrong.py:agent"}):
        pytest.fail("the server started")


@pytest.mark.parametrize("name", CREATE)
def test_a_graph_is_built_once_and_on_the_model_of_the_environment(name, monkeypatch):
    """The variable is read when the graph is asked for; offline without it, and the same object for every run."""

    def loaded():
        return asyncio.run(getattr(factories, name)())

    monkeypatch.delenv("GUARDGRAPH_MODEL", raising=False)
    offline = loaded()
    assert loaded() is offline
    proposed = [entry["proposer"] for entry in offline.invoke(INPUT[name])["timeline"] if entry["kind"] == "propose"]
    assert set(proposed) == {"offline"}
    with OpenAIServer(status(401)) as model:
        for variable, value in model.environ(GUARDGRAPH_MODEL=" openai:served-model ").items():
            monkeypatch.setenv(variable, value)
        assert asyncio.run(loaded().ainvoke(INPUT[name]))["stop_reason"] == "llm_auth"
        assert model.requests[0]["body"]["model"] == "served-model"
    monkeypatch.setenv("GUARDGRAPH_MODEL", "llama")
    with pytest.raises(ConfigurationError, match=r"^model: .+ is required; given: 'llama'"):
        loaded()


def test_the_agents_record_in_the_store_of_the_environment(tmp_path, monkeypatch):
    """Every agent of the server, in one store, under receipts that follow each other; without it nobody records."""
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    monkeypatch.delenv("GUARDGRAPH_AUDIT", raising=False)
    assert "audit" not in asyncio.run(factories.rag()).invoke(INPUT["rag"])
    monkeypatch.setenv("GUARDGRAPH_AUDIT", f" {url} ")
    results = [asyncio.run(getattr(factories, name)()).invoke(INPUT[name]) for name in CREATE]
    assert [result["audit"]["seq"] for result in results] == [2, 4, 6, 8]  # behind the beginning of each
    assert [run.run_id for run in sql_store(url).runs()] == [result["run_id"] for result in results]
    assert (tmp_path / "runs.db").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "url",
    ["s3cret", "postgresql+psycopg://me:s3cret@127.0.0.1:1/runs", "sqlite:///{file}", "sqlite:///{file}.of/s3cret.db"],
)
def test_a_store_that_cannot_be_opened_is_told_without_its_password(url, tmp_path, monkeypatch):
    """When the agent is asked for, before any run; the error names the variable."""
    (tmp_path / "runs.db").write_text("this is no database", encoding="utf-8")
    monkeypatch.setenv("GUARDGRAPH_AUDIT", url.format(file=tmp_path / "runs.db"))
    with pytest.raises(ConfigurationError, match=r"^GUARDGRAPH_AUDIT: ") as raised:
        asyncio.run(factories.rag())
    assert "s3cret" not in str(raised.value).replace(str(tmp_path / "runs.db.of" / "s3cret.db"), "")
    assert raised.value.__suppress_context__

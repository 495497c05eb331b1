"""Prompts, the configuration of models by name, and proposers."""

import asyncio
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda
from langchain_openai import ChatOpenAI
from openai_server import OpenAIServer, answer
from rag_agents import ANSWER as SLA_ANSWER
from rag_agents import INTENT, QUESTION
from runs import LIMITS, check_result, run
from tables import each_row

import guardgraph as g
from guardgraph.state.rag import RAG_REASONS
from guardgraph.testing import ScriptedChatModel
from guardgraph.world import prompts
from guardgraph.world.chat_models import get_model_name, is_strict_schema
from guardgraph.world.failures import read_model_text
from guardgraph.world.named_models import chat_model
from guardgraph.world.proposers import ModelProposer

KEY = {"OPENAI_API_KEY": "sk-loopback-0123456789"}
VIEW = {"available_sources": ["a", "b"], "context_chunks": [{"text": "x"}] * 3, "notes": [{"claim": "x"}] * 3}
VIEW |= {"pages": [{"text": "x"}] * 2, "sections": ["One", "Two"], "allowed_risk_types": ["legal_risk"], "max_notes": 4}
PLAN = prompts.load_prompt("rag_plan", LIMITS)
MODES = pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
FORMS = [name for name in prompts.list_prompt_names() if not name.endswith(("_as_text", "_as_calls"))]


def test_a_schema_fits_the_call() -> None:
    """Numbers of what was shown, names on a list, limits of the run, and of tools their own typed arguments."""
    answer = prompts.load_prompt("rag_answer", LIMITS).fit(VIEW)["properties"]["citations"]
    assert (answer["items"], answer["maxItems"]) == ({"type": "integer", "enum": [1, 2, 3]}, 3)
    plan = prompts.load_prompt("rag_plan", {**LIMITS, "max_top_k": 2}).fit(VIEW)["properties"]
    assert (plan["top_k"]["maximum"], plan["sources"]["items"]["enum"]) == (2, ["a", "b"])
    critique = prompts.load_prompt("critique_review", LIMITS).fit(VIEW)["properties"]
    assert critique["risks"]["items"]["properties"]["type"]["enum"] == ["legal_risk"]
    notes = prompts.load_prompt("research_notes", LIMITS).fit(VIEW)["properties"]["notes"]
    assert (notes["maxItems"], notes["items"]["properties"]["page"]["enum"]) == (4, [1, 2])
    kept = {"$defs": {"D": {"type": "string", "format": "date"}}, "properties": {"day": {"$ref": "#/$defs/D"}}}
    tools = [{"name": "book", "description": "", "schema": {"type": "object", **kept, "required": ["day"]}}]
    fitted = prompts.load_prompt("tools_plan", {"max_answer_chars": 9}).fit({"tools": tools})
    [call] = fitted["properties"]["calls"]["items"]["anyOf"]
    assert call["properties"]["tool"]["enum"] == ["book"]
    assert call["properties"]["args"]["properties"] == {"day": {"type": "string", "format": "date"}}
    assert not is_strict_schema(fitted)


@each_row("name", *FORMS)
def test_prompts_state_their_form_and_show_no_placeholder(name: str) -> None:
    """They name every key, give an example and no ``<text>`` to send back; strict mode accepts each schema."""
    prompt = prompts.load_prompt(name, LIMITS)
    schema = prompt.fit(VIEW)
    assert re.fullmatch(r"[a-z_]+", schema["title"])
    assert is_strict_schema(schema)
    assert "$" not in json.dumps(schema)
    stated, example = prompt.text.split("\nExample\n")
    for key in prompt.schema["required"]:
        assert f"`{key}`" in stated
        assert f'"{key}":' in example
    assert ("<" in prompt.text, "..." in prompt.text) == (False, False)


def test_a_view_is_written_with_numbers_and_the_question_last() -> None:
    """Passages have a number, title and date where they have one; ids and empty fields are not shown."""
    chunk = {"doc_id": "doc_7", "title": "Refunds", "section": "", "updated_at": "", "text": "Within 30 days."}
    dated = {**chunk, "title": "", "updated_at": "2026-01-15", "text": "Nothing else."}
    view = {"question": "How long?", "context_chunks": [chunk, dated]}
    _, human = prompts.load_prompt("rag_answer", LIMITS).write_messages(view)
    assert human.content == "[1] Refunds\nWithin 30 days.\n\n[2] (2026-01-15)\nNothing else.\n\nQuestion: How long?"
    view = {"task": "Pay.", "tools": [], "results": []}
    _, later = prompts.load_prompt("tools_plan", {"max_answer_chars": 9}).write_messages(view)
    assert later.content == "Task: Pay."


def test_a_model_that_is_asked_again_is_told_what_the_sources_say() -> None:
    """What stands in the place of its words, where they stand, and the sentence nearest to the question."""
    shown = {"question": "How many seats?", "context_chunks": [{"text": "The Starter plan has 3 seats."}]}
    evidence = {"unsupported": ["5 seats", "3", "red"], "findings": [{"text": "5 seats", "told": "3 seats"}]}
    said = prompts.write_refusal("$why", {"reason": "invalid_answer:unsupported_number", "evidence": evidence}, shown)
    assert 'It is not "5 seats": the source says "3 seats".' in said
    assert '"3" stands in [1]: cite it there.' in said
    assert 'Nearest to the question, a source says: "The Starter plan has 3 seats."' in said
    assert "Nearest" not in prompts.write_refusal("$why", {"reason": "llm_invalid_json"}, shown)


def test_prompt_hash_tells_versions_apart() -> None:
    """The hash depends on the text and on the schema, and is the same in every process."""
    base = prompts.Prompt("p", "text", {"type": "object"})
    assert re.fullmatch(r"[0-9a-f]{12}", base.hash)
    assert base.hash == prompts.Prompt("q", "text", {"type": "object"}).hash
    assert len({base.hash, prompts.Prompt("p", "Text", base.schema).hash, prompts.Prompt("p", "text", {}).hash}) == 3


def test_openai_settings() -> None:
    """Temperature 0, the timeout, no retries, no streaming, and the given address and model, or the default ones."""
    fine = "openai:ft:gpt-y:org"
    for said, given, name in (("openai", "  ", "gpt-4.1-mini"), ("openai", "x", "x"), (fine, "x", "ft:gpt-y:org")):
        assert get_model_name(chat_model(said, environ={**KEY, "OPENAI_MODEL": given})) == name
    environ = {**KEY, "OPENAI_TIMEOUT_SECONDS": " 7.5 ", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
    model = chat_model("openai:gpt-x", environ=environ)
    assert isinstance(model, ChatOpenAI)
    assert (model.temperature, model.max_retries, model.request_timeout) == (0, 0, 7.5)
    assert (model.disable_streaming, model.stream_usage) == (True, True)
    assert model.openai_api_base == "http://127.0.0.1:9/v1"
    default = chat_model("openai", environ=KEY)
    assert isinstance(default, ChatOpenAI)
    assert (default.request_timeout, default.openai_api_base) == (60.0, "https://api.openai.com/v1")


@each_row(
    ("name", "values"),
    ("OPENAI_API_KEY", ["", "  ", "sk-secret\x00secret", "sk-secret secret", "sk-sécret"]),
    ("OPENAI_TIMEOUT_SECONDS", ["0", "nan", "inf", "soon", "86401"]),
    (
        "OPENAI_BASE_URL",
        ["localhost", "ftp://a/v1", "http://", "http://[", "http://a:99999", "http://a b", "http://999.1.1.1",
         f"http://a/{2_000 * 'x'}"],
    ),
)  # fmt: skip
def test_wrong_variables(name: str, values: list[str]) -> None:
    """A variable that cannot work is a configuration error: its name, what was given, never a key."""
    for value in values:
        with pytest.raises(g.ConfigurationError, match=f"^{name}: .* is required; given: ") as caught:
            chat_model("openai", environ={**KEY, name: value})
        assert ("secret" in str(caught.value), "\n" in str(caught.value)) == (False, False)


@pytest.mark.process
def test_a_client_is_imported_only_when_it_is_needed() -> None:
    """Neither an import, nor the judgement of an error, nor the name of a provider loads a client or LangChain."""
    script = (
        "import sys; from guardgraph.world.failures import classify_model_error; import guardgraph.world.proposers;"
        "reason, details = classify_model_error(TimeoutError('late'));"
        "assert (reason, details['cause']) == ('llm_timeout', 'timeout');"
        "from guardgraph import create_rag_agent; create_rag_agent('anthropic:claude-x');"
        "assert not {'openai', 'langchain', 'langchain_openai', 'langchain_anthropic'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", script], check=True, cwd=Path(__file__).parents[2])


@MODES
def test_models_without_structured_output(mode: str) -> None:
    """LangChain's own fakes, which have no structured output, are called as they are."""
    proposer = ModelProposer(FakeListChatModel(responses=['{"kind": "x"}']), PLAN)
    message = proposer.invoke({}) if mode == "invoke" else asyncio.run(proposer.ainvoke({}))
    assert read_model_text(message) == '{"kind": "x"}'
    assert repr(proposer) == f"<ModelProposer rag_plan {PLAN.hash} on FakeListChatModel>"


def test_models_that_propose_by_tool_call() -> None:
    """A model whose structured output is a tool call proposes with the call's arguments."""

    class Caller(FakeListChatModel):
        def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
            assert "maxLength" in json.dumps(PLAN.fit({"max_query_chars": 9}))
            assert "maxLength" not in json.dumps(tools)  # providers refuse it
            assert tools[0]["title"] == "retrieval_intent"
            call = {"name": "retrieval_intent", "args": {"kind": "retrieve"}, "id": "1"}
            return RunnableLambda(lambda _: AIMessage("", tool_calls=[call]))

    assert read_model_text(ModelProposer(Caller(responses=[]), PLAN).invoke({})) == '{"kind": "retrieve"}'


ANSWER = {"answer": "The target is 15 minutes.", "citations": [1]}
OWN = "Answer like a pirate, in JSON.\n\n---\n\n$context_chunks\n\nAhoy: $question"


def test_a_prompt_of_ones_own_takes_the_place_of_ours():
    """The model is told it, and history names it with another hash; the guards and the rule beside it are the same."""
    theirs, ours = ScriptedChatModel(ANSWER), ScriptedChatModel(ANSWER)
    result = g.create_rag_agent(theirs, planner="rules", prompts={"rag_answer": OWN}).invoke(QUESTION)
    plain = g.create_rag_agent(ours, planner="rules").invoke(QUESTION)
    system, human = (message.content for message in theirs.calls[0].messages)
    assert system == "Answer like a pirate, in JSON."
    assert human.startswith("[1] ")
    assert human.endswith(f"Ahoy: {QUESTION['question']}")
    assert result["answer"] == plain["answer"]
    assert result["history"][-1]["prompt"] != plain["history"][-1]["prompt"]
    assert [entry["proposer"] for entry in result["history"]] == ["offline", "scripted"]
    with pytest.raises(g.ConfigurationError, match=r"planner: a Runnable or a function of .*; given: 'rule'"):
        g.create_rag_agent(theirs, planner="rule")


@each_row(
    ("given", "said"),
    ({"rag_answer": OWN.replace("$question", "?")}, r"prompts\.rag_answer: the field \$question is missing"),
    ({"rag_answer": OWN + " $colour"}, r"prompts\.rag_answer: there is no field \$colour"),
    ({"rag_answer": " "}, r"prompts\.rag_answer: a text that is not blank"),
    ({"tools_plan": OWN}, "prompts: one of rag_answer, .* is required; given: 'tools_plan'"),
    ("nowhere", "prompts: a folder with files"),
)
def test_a_prompt_that_does_not_fit_is_refused_when_the_agent_is_built(given, said):
    with pytest.raises(g.ConfigurationError, match=said):
        g.create_rag_agent(prompts=given)


def test_our_prompts_can_be_written_out_and_given_back(tmp_path):
    """Of each agent; a file that is there already is not overwritten."""
    agents = [g.create_rag_agent, g.create_research_agent, g.create_self_critique_agent, g.create_tool_agent]
    for name, create in zip(("rag", "research", "critique", "tools"), agents, strict=True):
        written = prompts.write_prompts(tmp_path / name, name)
        assert [path.stem for path in written] == [*prompts.list_prompt_names(name)]
        assert prompts.read_own_prompts(tmp_path / name, name).keys() == {*prompts.list_prompt_names(name)}
        create(prompts=tmp_path / name)
        with pytest.raises(g.ConfigurationError, match="prompts: a folder without"):
            prompts.write_prompts(tmp_path / name, name)


@MODES
def test_a_provider_that_langchain_knows(monkeypatch, mode):
    """`PROVIDER:NAME` is opened by init_chat_model and asked once, held to the schema, with temperature 0."""
    pytest.importorskip("langchain")
    with OpenAIServer(answer({**INTENT, "sources": None}), answer(SLA_ANSWER)) as server:
        monkeypatch.setenv("AZURE_OPENAI_API_KEY", "key-of-azure-0123456789")
        monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", server.url.removesuffix("/v1"))
        monkeypatch.setenv("OPENAI_API_VERSION", "2024-10-21")
        agent = g.create_rag_agent("azure_openai:my-deployment")
        result = check_result(RAG_REASONS, run(agent, QUESTION, mode))
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
    agent = g.create_rag_agent("anthropic:claude-x")
    assert agent.get_graph().draw_mermaid()
    with pytest.raises(g.ConfigurationError, match=r"^model: 'anthropic:claude-x' .*pip install langchain-anthropic"):
        agent.invoke(QUESTION)
    monkeypatch.setitem(sys.modules, "langchain.chat_models", None)
    with pytest.raises(g.ConfigurationError, match=r"^model: 'anthropic:claude-x' .*install langchain and .*provider"):
        chat_model("anthropic:claude-x")


def test_what_langchain_cannot_open(monkeypatch):
    """A provider that LangChain does not know, or one without its key: one line that names the model, and no key."""
    pytest.importorskip("langchain")
    for variable in ("AZURE_OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT", "OPENAI_API_VERSION"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "secret-0123456789")
    for name in ("no_such_provider:x", "http://localhost", "azure_openai:x"):
        with pytest.raises(g.ConfigurationError, match=f"^model: '{name}' cannot be used: ") as raised:
            chat_model(name)
        assert not any(sign in str(raised.value) for sign in ("secret", "\n"))

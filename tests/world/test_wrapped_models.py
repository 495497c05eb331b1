"""Chat models as LangChain wraps them: a retry, fallbacks, bound arguments, what the run's configuration chooses."""

import threading
import time

import pytest
from langchain_core.messages import AIMessage
from langchain_core.runnables import ConfigurableField, RunnableLambda
from langchain_openai import ChatOpenAI
from openai_server import OpenAIServer, answer
from rag_agents import ANSWER, INTENT, QUESTION
from runs import LIMITS, check_result, run

from guardgraph import LiveWorld, RagBudget, create_rag_agent
from guardgraph.state.rag import RAG_REASONS
from guardgraph.testing import ScriptedChatModel, ScriptedClock
from guardgraph.world.chat_models import list_call_limits
from guardgraph.world.prompts import load_prompt

MODES = pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
QUICKLY = {"wait_exponential_jitter": False}


def asked(model, mode="invoke", config=None, **kwargs):
    agent = create_rag_agent(model, answerer=lambda view: ANSWER, **kwargs)
    return check_result(RAG_REASONS, run(agent, QUESTION, mode, config=config))


def form_of(call):
    return call.kwargs["response_format"]["json_schema"]


def client(server, **kwargs):
    return ChatOpenAI(model="test-model", api_key="sk-loopback", base_url=server.url, max_retries=0, **kwargs)


@MODES
def test_every_attempt_and_fallback_is_held_to_the_schema(mode):
    """`with_retry` asks again what failed, `with_fallbacks` the next model; history has the name of who replied."""
    model = ScriptedChatModel(ConnectionError("gone"), INTENT, model_name="m-1")
    result = asked(model.with_retry(stop_after_attempt=2, **QUICKLY), mode)
    assert (result["outcome"], result["history"][0]["proposer"]) == ("grounded_answer", "m-1")
    schema = load_prompt("rag_plan", LIMITS).schema
    assert [(form_of(call)["strict"], form_of(call)["name"]) for call in model.calls] == [(True, schema["title"])] * 2
    first = ScriptedChatModel(ConnectionError("gone"), model_name="m-1")
    second = ScriptedChatModel(ConnectionError("gone"), model_name="m-2")
    third = ScriptedChatModel(INTENT, model_name="m-3")
    result = asked(first.with_fallbacks([second.with_retry(stop_after_attempt=1), third]), mode)
    assert (result["outcome"], result["history"][0]["proposer"]) == ("grounded_answer", "m-3")
    assert all(form_of(call)["strict"] for model in (first, second, third) for call in model.calls)


def test_a_client_gives_up_soon_after_the_run():
    """By its own time, or by that of the run, of which a server hears nothing."""
    given = {"model": "m", "api_key": "sk-0"}
    for own, seconds, limits in ((None, 5.0, {"timeout": 5.25}), (2.0, 5.0, {"timeout": 2.0}), (None, None, {})):
        assert list_call_limits(ChatOpenAI(timeout=own, **given).with_retry(), seconds) == limits
    both = ChatOpenAI(**given).with_fallbacks([ChatOpenAI(**given)])
    assert list_call_limits(both, 5.0) == list_call_limits(ScriptedChatModel(), 5.0) == {}


def test_a_form_of_the_users_own_is_left_alone():
    """A model that is bound to JSON mode is asked by JSON mode, for servers that know no schema."""
    with OpenAIServer(answer(INTENT)) as server:
        model = client(server).bind(response_format={"type": "json_object"})
        assert asked(model.with_retry(stop_after_attempt=1))["history"][0]["proposer"] == "test-model"
    assert server.requests[0]["body"]["response_format"] == {"type": "json_object"}


@MODES
def test_the_runs_configuration_chooses_fields(mode):
    """`configurable_fields` are read from the run's configuration, and the model that results is held to the schema."""
    with OpenAIServer(answer(INTENT)) as server:
        field = ConfigurableField(id="warmth")
        model = client(server, temperature=0.1).configurable_fields(temperature=field)
        for config, temperature in ((None, 0.1), ({"configurable": {"warmth": 0.9}}, 0.9)):
            result = asked(model.with_retry(stop_after_attempt=1), mode, config)
            assert result["history"][0]["proposer"] == "test-model"
            body = server.requests[-1]["body"]
            assert (body["temperature"], body["response_format"]["type"]) == (temperature, "json_schema")


@MODES
def test_the_runs_configuration_chooses_the_model(mode):
    """`configurable_alternatives` are chosen by the run's configuration; each is held to the schema."""
    models = {name: ScriptedChatModel(INTENT, model_name=name, loop=True) for name in ("one", "two", "three")}
    model = models["one"].configurable_alternatives(
        ConfigurableField(id="who"), two=models["two"].with_retry(), three=lambda: models["three"]
    )
    for name, config in (("one", None), ("two", {"who": "two"}), ("three", {"who": "three"})):
        result = asked(model, mode, config and {"configurable": config})
        assert result["history"][0]["proposer"] == name
        assert form_of(models[name].calls[-1])["strict"]
    assert [len(model.calls) for model in models.values()] == [1, 1, 1]


def test_a_class_that_refuses_the_schema_is_asked_in_its_own_way():
    """Anthropic's package cannot translate every JSON schema, and says so by an AssertionError: a tool call then."""

    class Particular(ScriptedChatModel):
        def with_structured_output(self, schema, *, include_raw=False, method="function_calling", **kwargs):
            assert method == "function_calling", "Expected code to be unreachable"
            return super().with_structured_output(schema, include_raw=include_raw, method=method, **kwargs)

    call = {"name": "retrieval_intent", "args": INTENT, "id": "1"}
    model = Particular(ConnectionError("gone"), AIMessage("", tool_calls=[call]))
    assert asked(model.with_retry(stop_after_attempt=2, **QUICKLY))["outcome"] == "grounded_answer"
    assert [item.kwargs["response_format"]["type"] for item in model.calls] == ["function_calling"] * 2


def test_an_alternative_that_turns_out_to_be_no_model_is_refused_in_the_run():
    """A function may make anything of an alternative; it is looked at when it is chosen."""
    model = ScriptedChatModel(INTENT).configurable_alternatives(
        ConfigurableField(id="who"), other=lambda: RunnableLambda(lambda view: AIMessage("{}"))
    )
    result = asked(model, config={"configurable": {"who": "other"}})
    assert (result["stop_reason"], result["details"]["type"]) == ("guard_error:plan", "ConfigurationError")


@pytest.mark.parametrize("wrap", ["with_retry", "with_fallbacks"])
def test_nobody_is_asked_again_when_the_time_is_up(wrap):
    """A run that gave up pays for no further attempts of its model."""
    left, failed, clock = threading.Event(), threading.Event(), ScriptedClock()

    class Slow(ScriptedChatModel):
        def _generate(self, *args, **kwargs):
            super()._generate(*args, **kwargs)
            clock.advance(1)
            left.wait(30)
            failed.set()
            raise ConnectionError("gone")

    model = Slow({}, INTENT, INTENT)
    given = {"stop_after_attempt": 3, **QUICKLY} if wrap == "with_retry" else {"fallbacks": [model]}
    wrapped = getattr(model, wrap)(**given)
    result = asked(wrapped, budget=RagBudget(max_seconds=0.2), world=LiveWorld(clock=clock))
    assert result["stop_reason"] == "llm_timeout"
    left.set()
    assert failed.wait(30)
    time.sleep(0.2)  # the next attempt would begin
    assert len(model.calls) == 1

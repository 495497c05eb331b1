"""Whatever the examples put around a guarded graph, its result comes through unchanged."""

from __future__ import annotations

import asyncio
import json
from functools import cache

import batch
import langchain_tool
import lcel_chain
import pytest
import streaming
import subgraph
from example_runs import ENDINGS, QUESTION
from langchain.agents import create_agent
from langgraph.checkpoint.memory import InMemorySaver
from runs import masked
from self_critique_cases import DRAFT, GIVEN, REVISE, THANKS, agent

from guardgraph import CATALOGUES, create_rag_agent
from guardgraph.testing import ScriptedChatModel

VARIABLES = {"promise": "SLA", "plan": "enterprise"}
THREAD = {"configurable": {"thread_id": "1"}}
NO_SOURCE = {"policy": {"allowed_sources_execution": []}}


def through_a_chain(agent, question, mode):
    """Return the result behind a chain's reply."""
    chain = lcel_chain.create_chain(agent)
    return replied(chain.invoke(VARIABLES) if mode == "sync" else asyncio.run(chain.ainvoke(VARIABLES)), question)


def through_a_streamed_chain(agent, question, mode):
    """Return the result behind the only reply of a chain that is streamed."""
    chain = lcel_chain.create_chain(agent)
    [reply] = chain.stream(VARIABLES) if mode == "sync" else asyncio.run(collected(chain.astream(VARIABLES)))
    return replied(reply, question)


def replied(reply, question):
    """Return the result behind a reply, which says the same, to this question."""
    assert question == lcel_chain.to_input(lcel_chain.PROMPT.invoke(VARIABLES))["question"]
    result = reply["result"]
    assert (reply["stop_reason"], reply["sources"]) == (result["stop_reason"], result.get("citations", []))
    assert reply["text"] == result.get("answer", lcel_chain.SORRY.get(result["path"][-1], lcel_chain.STOPPED))
    return result


def through_a_tool(agent, question, mode):
    """Return the result behind the tool's message, whose text has the stop reason."""
    model = ScriptedChatModel(langchain_tool.question(question), "That is all.")
    user = create_agent(model, [langchain_tool.policy_tool(agent)], checkpointer=InMemorySaver())
    given = {"messages": [("user", question)]}
    said = user.invoke(given, THREAD) if mode == "sync" else asyncio.run(user.ainvoke(given, THREAD))
    kept = user.get_state(THREAD).values["messages"]
    assert kept == said["messages"]
    [result] = langchain_tool.results(kept)
    shown = json.loads(kept[-2].text)
    assert shown == {key: result[key] for key in langchain_tool.SHOWN if key in result}
    return result


def through_a_graph(agent, question, mode):
    """Return the result that the parent keeps; the parent has gone the way of its ending."""
    desk = subgraph.create_desk(agent, InMemorySaver())
    given = {"question": question}
    chunks = list(desk.stream(given, THREAD)) if mode == "sync" else asyncio.run(collected(desk.astream(given, THREAD)))
    kept = desk.get_state(THREAD).values
    assert [*chunks[-1]] == [subgraph.ROUTES[kept["result"]["path"][-1]]]
    assert kept["reply"]
    return kept["result"]


def through_a_stream(agent, question, mode):
    """Return the last update of a stream; the updates are those of the path, and tokens are of an accepted answer."""
    if mode == "sync":
        *parts, (_, result) = streaming.follow(agent, {"question": question})
        nodes = [part for part in parts if part[0] == "node"]
        assert "".join(token for kind, token in parts if kind == "token") == result.get("answer", "")
    else:
        stream = agent.astream({"question": question}, stream_mode=["updates", "messages"])
        parts = asyncio.run(collected(stream))
        nodes = [("node" if kind == "updates" else "token", *part) for kind, part in parts]
        [result] = parts[-1][1].values()
    assert nodes == [("node", node) for node in result["path"]]
    return result


def through_a_batch(agent, question, mode):
    """Return the result of a batch of one."""
    items = [{"input": {"question": question}}]
    each = batch.each(agent)
    [result] = each.batch(items) if mode == "sync" else asyncio.run(each.abatch(items))
    return result


async def collected(stream):
    """Return all that a stream yields."""
    return [chunk async for chunk in stream]


CHAINS = [through_a_chain, through_a_streamed_chain]
EMBEDDINGS = [*CHAINS, through_a_tool, through_a_graph, through_a_stream, through_a_batch]


@cache
def direct(ending):
    """Return what the agent itself returns, which nobody changes."""
    return ENDINGS[ending].direct()


@cache
def agent_of(ending):
    """Return the agent whose runs end so, which nobody changes either."""
    return ENDINGS[ending].agent()


@pytest.mark.paired
@pytest.mark.parametrize("mode", ["sync", "async"])
@pytest.mark.parametrize("embedding", EMBEDDINGS)
def test_every_ending_comes_through(embedding, mode):
    """Whatever ends a run, the dictionary that comes out is the one that the agent itself returns."""
    for ending in ENDINGS:
        if embedding in CHAINS and ending == "stop_invalid_request":
            continue  # their prompt always makes a question
        expected = direct(ending)
        assert expected["path"][-1] == ending
        assert masked(embedding(agent_of(ending), ENDINGS[ending].question, mode)) == expected, ending


def test_the_endings_are_all_there_are():
    """The tests above try both good endings of the RAG agent, and every stop family but that of resumed runs."""
    families = {f"stop_{family}" for family in CATALOGUES["rag"].families}
    assert (
        ENDINGS.keys() | {"stop_access_revoked", "stop_invalid_question"}
        == families | {"answered", "clarified"}
        == subgraph.ROUTES.keys()
    )


def test_a_chain_obeys_the_context_that_is_bound():
    """A context that is bound to the graph holds in the chain; one given to the chain is lost in the prompt."""
    assert lcel_chain.create_chain(create_rag_agent().bind(context=NO_SOURCE)).invoke(VARIABLES)["sources"] == []
    assert lcel_chain.create_chain().invoke(VARIABLES)["sources"] == ["doc_sla_enterprise_v3"]
    assert lcel_chain.create_chain().invoke(VARIABLES, context=NO_SOURCE)["sources"] != []


def test_the_longest_run_fits_into_a_chain():
    """LangChain allows 25 steps where nothing else is said, and our longest run takes 17; told otherwise, it obeys."""
    longest = agent(f"{DRAFT} " * 9, REVISE, THANKS, shorter=DRAFT)
    [result] = longest.batch([GIVEN])
    assert (len(result["path"]), result["stop_reason"]) == (17, "success")
    assert (lcel_chain.RunnableLambda(dict) | longest).invoke(GIVEN)["stop_reason"] == "success"
    limited = (lcel_chain.RunnableLambda(dict) | longest).invoke(GIVEN, {"recursion_limit": 16})
    assert limited["stop_reason"] == "success"


@pytest.mark.parametrize("ending", ["answered", "clarified", "stop_llm"])
def test_a_tool_can_have_the_last_word(ending):
    """With `last_word` the agent's turn ends with what the guards let through, and its model is not asked again."""
    model = ScriptedChatModel(langchain_tool.question(QUESTION))
    tool = langchain_tool.policy_tool(ENDINGS[ending].agent(), last_word=True)
    said = create_agent(model, [tool]).invoke({"messages": [("user", QUESTION)]})["messages"]
    assert said[-1].type == "tool"
    assert json.loads(said[-1].text)["stop_reason"] == ENDINGS[ending].direct()["stop_reason"]


@pytest.mark.parametrize(
    "call", [{"args": {"q": QUESTION}}, {"args": {"question": 7}}, {"name": "another_tool"}], ids=str
)
def test_a_call_that_ran_nothing_has_no_result(call):
    """A tool call that LangChain refuses is answered to the agent's model, and is no run of the graph."""
    calls = [langchain_tool.question(QUESTION).tool_calls[0] | extra for extra in ({**call, "id": "wrong"}, {})]
    model = ScriptedChatModel(*(langchain_tool.AIMessage("", tool_calls=[each]) for each in calls), "Here it is.")
    said = create_agent(model, [langchain_tool.policy_tool(create_rag_agent())]).invoke({"messages": [("user", "x")]})
    assert [message.type for message in said["messages"]] == ["human", "ai", "tool", "ai", "tool", "ai"]
    assert [result["stop_reason"] for result in langchain_tool.results(said["messages"])] == ["success"]


def test_a_tool_obeys_the_context_of_the_agent_that_uses_it():
    """Policy and budget in an agent's dictionary tighten the tool's runs; what else it holds is the agent's affair."""
    for context, outcome in ((None, "grounded_answer"), ({**NO_SOURCE, "tenant": "a"}, "clarify")):
        model = ScriptedChatModel(langchain_tool.question(QUESTION), "That is all.")
        user = create_agent(model, [langchain_tool.policy_tool(create_rag_agent())])
        said = user.invoke({"messages": [("user", QUESTION)]}, context=context)
        assert langchain_tool.results(said["messages"])[0]["outcome"] == outcome

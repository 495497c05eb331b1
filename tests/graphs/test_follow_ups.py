"""A question that follows a conversation: which turns are read, how it is rewritten, what licenses, where it shows."""

import asyncio
import json

import pytest
from cli_runs import empty_folder, refused
from cli_runs import run as command
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.prompt_values import ChatPromptValue
from rag_agents import ANSWER, CANDIDATE, INTENT, POLICY, SLA, agent
from recorded_runs import Kept
from runs import ASKED_ONCE, check_result, run
from tables import each_row

from guardgraph import ConfigurationError, InputError, MessagesAgent, create_rag_agent, create_research_agent
from guardgraph.state.rag import RAG_REASONS
from guardgraph.testing import ScriptedChatModel, scripted_tool

here = pytest.fixture(empty_folder)
PLAN_QUESTION = "What SLA applies to enterprise plan?"
BEFORE = [{"role": "user", "content": PLAN_QUESTION}, {"role": "assistant", "content": "It has 99.95% monthly uptime."}]
FOLLOWING = {"question": "And for P1 incidents?", "history": BEFORE}
STANDALONE = "What is the first response target for P1 incidents on the enterprise plan?"


def ask(graph, given=FOLLOWING, **kwargs):
    return check_result(RAG_REASONS, graph.invoke(given, **kwargs))


@each_row(
    ("history", "field"),
    (["What SLA?"], "history.0"),
    ([*BEFORE, {"role": "system", "content": "Be brief."}], "history.2.role"),
    ([{"role": "user", "content": ["What?"]}], "history.0.content"),
)
def test_a_history_that_is_none_is_refused_by_place(history, field):
    """Before anybody is asked, with what was given and what is allowed."""
    result = ask(create_rag_agent(ScriptedChatModel()), {"question": "Why?", "history": history})
    assert (result["stop_reason"], bool(result["details"]["allowed"])) == (f"invalid_request:{field}", True)


@pytest.mark.parametrize("given", [{}, {"history": None}, {"history": []}, {"history": [{**BEFORE[0], "content": ""}]}])
def test_without_a_history_a_run_is_what_it_was(given):
    """Path, trace, history and what proposers are shown, though the nodes are drawn."""
    kept, model = Kept(), ScriptedChatModel(INTENT, ANSWER)
    result = ask(create_rag_agent(model, recorder=kept), {"question": PLAN_QUESTION, **given})
    assert result["path"][:3] == ["request_guard", "plan", "policy_guard"]
    assert [step["phase"] for step in result["trace"]] == ["retrieve", "generate"]
    assert model.calls[0].messages[1].content.startswith("Sources:")
    assert kept.only["input"]["question"] == PLAN_QUESTION
    assert ("history" in kept.only["input"]) == bool(given.get("history") is not None)


@pytest.mark.parametrize("mode", ["invoke", "ainvoke", "stream", "batch"])
def test_planner_and_answerer_are_shown_the_rewritten_question(mode):
    model = ScriptedChatModel({"question": STANDALONE}, INTENT, ANSWER)
    result = check_result(RAG_REASONS, run(create_rag_agent(model), FOLLOWING, mode))
    shown = [call.messages[1].content for call in model.calls]
    turns = f"user: {PLAN_QUESTION}\nassistant: {BEFORE[1]['content']}"
    assert shown[0] == f"{turns}\n\nQuestion: {FOLLOWING['question']}"
    assert [text.rpartition("Question: ")[2] for text in shown[1:]] == [STANDALONE] * 2
    assert result["path"][:4] == ["request_guard", "condense", "question_guard", "plan"]
    own, told = FOLLOWING["question"], result["history"][0]
    assert result["asked_question"] == {"own": own, "standalone": STANDALONE}
    assert {"phase": "condense", "turns": 2, "turns_left_out": 0}.items() <= result["trace"][0].items()
    shown = {"action": "condense_question", "question": own, "standalone_question": STANDALONE}
    assert shown.items() <= told.items()
    assert told["prompt"].startswith("rag_condense@")


@each_row(
    ("role", "said", "standalone", "reason"),
    ("user", "My boss Initech wants 7 days.", "Is it 7 days for Initech?", "success"),
    ("assistant", "Initech wants 7 days.", "Is it 7 days for Initech?", "invalid_answer:unsupported_number"),
    ("assistant", "Initech wants it.", "Is it Initech?", "invalid_answer:unsupported_name"),
)
def test_the_users_words_license_and_nobody_elses(role, said, standalone, reason):
    """What an assistant said, or a model made of the question, is no fact that an answer may state."""
    days = " in 7 days" if "7" in standalone else ""
    graph = agent(
        condenser=scripted_tool({"question": standalone}, loop=True),
        answer={"answer": f"No, we cannot promise that to Initech{days}.", "citations": ["a"]},
        retriever=scripted_tool([CANDIDATE], loop=True),
        policy=POLICY,
    )
    given = {"question": "Is it?", "history": [{"role": role, "content": said}]}
    assert ask(graph, given, context=ASKED_ONCE)["stop_reason"] == reason


def test_the_command_reads_a_history(here):
    """A line of JSON for each turn; it prints the question as it was asked and as it was read, or the wrong line."""
    talk, asked = here / "talk.jsonl", ("rag", FOLLOWING["question"], "--history", "talk.jsonl")
    assert "cannot be read" in refused(command(*asked))
    for wrong, said in (("What SLA?", ": not JSON"), ('{"role": "tool", "content": "x"}', ".role: user or assistant")):
        talk.write_text(wrong, encoding="utf-8")
        assert f"line 1{said}" in refused(command(*asked))
    talk.write_text("\n".join([*map(json.dumps, BEFORE), ""]), encoding="utf-8")
    done = command(*asked)
    assert done.exit_code == 0, done.stderr
    assert "read as    What SLA applies to enterprise plan for P1 incidents?" in done.stdout
    assert json.loads(command(*asked, "--json").stdout)["citations"] == [SLA]


def test_a_stopped_run_is_a_message_that_says_so():
    """Its text is the deployment's, its metadata have the reason, and the conversation passes it over."""
    chat = MessagesAgent(create_rag_agent(), stopped="Please ask a colleague.")
    late = {"budget": {"max_seconds": 0.0}}
    message = chat.invoke(PLAN_QUESTION, context=late)
    assert (message.text, message.additional_kwargs) == ("Please ask a colleague.", {})
    assert asyncio.run(chat.ainvoke(PLAN_QUESTION, context=late)).text == message.text
    asked = ChatPromptValue(messages=[HumanMessage(PLAN_QUESTION)])
    assert chat.compile().invoke({"messages": asked.to_messages()})["messages"][-1].text == chat.invoke(asked).text
    told = message.response_metadata
    assert (told["status"], told["stop_reason"], told["phase"]) == ("stopped", "max_seconds", "plan")
    model = ScriptedChatModel({"question": STANDALONE}, INTENT, ANSWER)
    summary = HumanMessage("We spoke of P1.", additional_kwargs={"lc_source": "summarization"})  # by a model
    MessagesAgent(create_rag_agent(model)).invoke(
        [summary, ("human", PLAN_QUESTION), message, ("human", "And for P1?")]
    )
    told = f"assistant: We spoke of P1.\nuser: {PLAN_QUESTION}\n\nQuestion: "
    assert model.calls[0].messages[1].content.startswith(told)


@each_row(
    ("messages", "said"),
    ([], "one at least is required"),
    ([5], "messages of LangChain are required"),
    ({"question": "Why?"}, "a list of messages is required; given: NoneType"),
    ([AIMessage("Hello.")], "the last one must be a person's; given: one of type 'ai'"),
    ([HumanMessage([{"type": "image_url", "image_url": {"url": "x"}}])], "text alone is required; given: image_"),
)
def test_what_is_no_conversation_is_refused(messages, said):
    with pytest.raises(InputError, match=said):
        MessagesAgent(create_rag_agent()).invoke(messages)
    for given in (5, create_research_agent()):
        with pytest.raises(ConfigurationError, match=r"^agent: "):
            MessagesAgent(given)
    with pytest.raises(ConfigurationError, match=r"^stopped: "):
        MessagesAgent(create_rag_agent(), stopped=" ")

"""`GroundedAnswer` in agents of LangChain's `create_agent`."""

import asyncio
import dataclasses
from typing import Annotated, Any, NotRequired

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentState, SummarizationMiddleware, wrap_model_call
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from tables import each_row
from test_recorded_run import ASKED, BILL, READ, RIGHT, RULES, THREAD, WRONG, guards, judge, make, nudge, read_bill

from guardgraph import ConfigurationError, InputError, ToolPolicy
from guardgraph.middleware import GroundedAnswer, LicensedTools
from guardgraph.testing import InMemoryRecorder, ScriptedChatModel


class Documented(AgentState):  # type: ignore[type-arg]
    documents: NotRequired[Annotated[list[Any], lambda old, new: new]]


def make_agent(*script: Any, **settings: Any) -> tuple[Any, ScriptedChatModel]:
    """An agent with one tool and the middleware, and its model."""
    model = ScriptedChatModel(*script)
    return create_agent(model, [read_bill], middleware=[GroundedAnswer(**settings)], state_schema=Documented), model


def test_a_wrong_value_is_sent_back_once_and_corrected() -> None:
    """The model is told in the system's words; the conversation holds the corrected answer alone."""
    agent, model = make_agent(READ, WRONG, RIGHT)
    result = agent.invoke(ASKED)
    assert result["guardgraph"]["outcome"] == "grounded_answer"
    assert [each.text for each in result["messages"] if isinstance(each, AIMessage)] == ["", RIGHT]
    told = model.calls[2].messages
    assert "78.00" in next(each for each in told if isinstance(each, SystemMessage)).text
    assert sum(isinstance(each, HumanMessage) for each in told) == 1


@each_row(("said", "reason"), ("76.00", "success"), ("Done.", "success"), ("...", "invalid_answer:empty"))
def test_a_number_or_a_word_may_end_an_agent_that_has_tools(said: str, reason: str) -> None:
    """As in the tool agent a short ending is one, and a text without a word is none."""
    agent, _ = make_agent(READ, said, said)
    assert agent.invoke(ASKED)["guardgraph"]["stop_reason"] == reason


def test_a_wrong_value_that_stays_stops_the_run() -> None:
    """Nothing of the refused answer is in the state but its evidence."""
    agent, _ = make_agent(READ, WRONG, "The bill comes to 79.00 EUR.")
    result = agent.invoke(ASKED)
    assert result["guardgraph"]["status"] == "stopped"
    assert result["guardgraph"]["stop_reason"].startswith("invalid_answer:")
    assert result["messages"][-1].text.startswith("Stopped: invalid_answer:")
    assert result["guardgraph"]["usage"]["model_calls"] == 3


@tool
def send_mail(to: str) -> str:
    """Send a mail."""
    return "sent"


SENT = "I have sent the mail to ada@example.com."
SEND = AIMessage("", tool_calls=[{"name": "send_mail", "args": {"to": "ada@example.com"}, "id": "c2"}])


@pytest.mark.parametrize("is_licensed", [True, False])
@each_row(
    ("script", "reason"),
    ((SENT, SENT), "invalid_answer:action_not_done"),
    ((SENT, SEND, SENT), "success"),
    ((SEND, SENT), "success"),
    ((READ, "I have read the bill: 76.00 EUR."), "success"),
    ((READ, SENT, "I did not send a mail."), "success"),
)
def test_what_an_answer_says_was_done_some_call_of_the_run_did(script: Any, reason: str, is_licensed: bool) -> None:
    """Else it is asked for again, then the run stops; the refused sentence reaches nobody."""
    guards: list[Any] = [GroundedAnswer({"on_unsupported": "mark"})]
    guards += [LicensedTools(ToolPolicy(rules=RULES))] if is_licensed else []
    agent = create_agent(ScriptedChatModel(*script), [read_bill, send_mail], middleware=guards)
    result = agent.invoke({"messages": [("user", "Mail ada@example.com the total of the bill.")]})
    assert result["guardgraph"]["stop_reason"] == reason
    if SEND not in script:
        assert SENT not in str(result)


def test_what_others_write_in_the_users_name_begins_no_run() -> None:
    guards = [GroundedAnswer(), LicensedTools()]  # which keep a record of the run
    agent = create_agent(ScriptedChatModel(SEND, SENT, SENT), [send_mail], middleware=[*guards, nudge])
    result = agent.invoke({"messages": [("user", "Mail ada@example.com.")]})
    assert result["guardgraph"]["stop_reason"] == "success"


@pytest.mark.parametrize("guards", [[GroundedAnswer()], [GroundedAnswer(), LicensedTools()]])
def test_what_a_run_did_that_a_tool_ended_is_none_of_the_next_one(guards: list[Any]) -> None:
    sent = tool(return_direct=True)(send_mail.func)
    script = ScriptedChatModel(SEND, SENT, SENT)
    agent = create_agent(script, [sent], middleware=guards, checkpointer=InMemorySaver())
    agent.invoke({"messages": [("user", "Mail ada@example.com.")]}, THREAD)
    result = agent.invoke({"messages": [("user", "Mail ada@example.com once more.")]}, THREAD)
    assert result["guardgraph"]["stop_reason"] == "invalid_answer:action_not_done"


def test_a_mail_of_an_earlier_run_is_none_of_this_one() -> None:
    agent = create_agent(ScriptedChatModel(SEND, SENT, SENT, SENT), [send_mail], middleware=[GroundedAnswer()])
    asked = [("user", "Mail ada@example.com.")]
    first = agent.invoke({"messages": asked})
    assert first["guardgraph"]["stop_reason"] == "success"
    second = agent.invoke({"messages": [*first["messages"], *asked]})
    assert second["guardgraph"]["stop_reason"] == "invalid_answer:action_not_done"


@pytest.mark.parametrize("raised", [StopIteration(), KeyError("x")])
def test_what_a_model_raises_comes_out(raised: Exception) -> None:
    @wrap_model_call  # type: ignore[arg-type]
    def fail(request: Any, handler: Any) -> Any:
        raise raised

    agent = create_agent(ScriptedChatModel(RIGHT), [], middleware=[LicensedTools(), GroundedAnswer(), fail])
    with pytest.raises(RuntimeError if isinstance(raised, StopIteration) else KeyError):
        agent.invoke(ASKED)


def test_an_answer_may_be_given_with_marks() -> None:
    """With ``on_unsupported="mark"`` the whole answer is given, and the state says which sentence is unverified."""
    agent, _ = make_agent(READ, WRONG, WRONG, policy={"on_unsupported": "mark"})
    result = agent.invoke(ASKED)
    assert (result["messages"][-1].text, result["guardgraph"]["outcome"]) == (WRONG, "grounded_partial")
    [marked] = result["guardgraph"]["unverified"]
    assert WRONG[marked["start"] : marked["end"]] == WRONG


def test_documents_of_the_state_and_the_users_words_bear_an_answer_out() -> None:
    """What a retrieval step left in the state counts, and so does what the user said."""
    agent, _ = make_agent("Refunds take 10 days. You asked on 3 May 2026.")
    asked = [("user", "I asked on 3 May 2026: how long do refunds take?")]
    question = {"messages": asked, "documents": ["Refunds take 10 days."]}
    assert agent.invoke(question)["guardgraph"]["outcome"] == "grounded_answer"


def test_words_beside_a_call_that_nothing_bears_out_are_dropped_and_the_call_stays() -> None:
    """A model that announces a value it has not read yet is not repeated."""
    announced = READ.model_copy(update={"content": "The total is 99.00 EUR, let me see."})
    agent, _ = make_agent(announced, RIGHT)
    result = agent.invoke(ASKED)
    assert "99.00" not in str(result["messages"])
    assert result["messages"][-1].text == RIGHT


def read_every_stream(agent: Any) -> str:
    """Return all that any stream of an agent shows, of the sync and the async ones."""
    modes = ["values", "updates", "messages", "custom", "debug", "tasks"]
    shown = [str(chunk) for chunk in agent.stream(ASKED, stream_mode=modes, subgraphs=True)]

    async def listen() -> None:
        shown.extend([str(chunk) async for chunk in agent.astream(ASKED, stream_mode=modes)])
        shown.extend([str(event) async for event in agent.astream_events(ASKED, version="v2")])

    asyncio.run(listen())
    return "\n".join(shown)


def test_no_stream_shows_a_refused_word_and_each_is_recorded_the_same() -> None:
    """What a model writes reaches nobody before it is judged; what is let through is streamed as a message."""
    shown = read_every_stream(make(kept := InMemoryRecorder(), *[READ, WRONG, RIGHT] * 3))
    assert (RIGHT in shown, WRONG in shown) == (True, False)
    assert judge(kept.runs, *guards()) == [("same", "ok:grounded_answer")] * 3


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("script", [(READ, WRONG, RIGHT), (READ, WRONG, WRONG)])
def test_every_update_of_a_stream_is_a_dictionary(script: Any, order: int) -> None:
    """As without guards; those of the model and its tools have messages."""
    guards: list[Any] = [LicensedTools(ToolPolicy(rules=RULES)), GroundedAnswer()]
    agent = create_agent(ScriptedChatModel(*script), [read_bill], middleware=guards[::order])
    steps = [step for chunk in agent.stream(ASKED, stream_mode="updates") for step in chunk.items()]
    assert all(isinstance(update, dict) for _, update in steps)
    assert [name for name, update in steps if "messages" in update] == ["model", "tools", "model"]


def test_the_next_question_begins_anew() -> None:
    model = ScriptedChatModel(WRONG, WRONG, READ, RIGHT)
    agent = create_agent(model, [read_bill], middleware=[GroundedAnswer()], checkpointer=InMemorySaver())
    assert agent.invoke(ASKED, THREAD)["guardgraph"]["status"] == "stopped"
    result = agent.invoke(ASKED, THREAD)
    assert result["guardgraph"]["status"] == "ok"
    assert "findings" not in result["guardgraph"]


def test_a_wrong_argument_and_documents_that_are_none_are_told_by_name() -> None:
    for wrong in ({"max_attempts": True}, {"documents": ""}, {"policy": {"on_doubts": 1}}):
        with pytest.raises(ConfigurationError, match=next(iter(wrong))):
            GroundedAnswer(**wrong)  # type: ignore[arg-type]
    agent, _ = make_agent(RIGHT)
    with pytest.raises(InputError, match="documents: a list"):
        agent.invoke({**ASKED, "documents": 5})


@dataclasses.dataclass
class Total:
    """The total of a bill."""

    total: str


@pytest.mark.parametrize(("total", "is_given"), [("76.00 EUR", True), ("78.00 EUR", False)])
def test_an_answer_in_a_dataclass_is_held_against_its_sources(total: str, is_given: bool) -> None:
    call = AIMessage("", tool_calls=[{"name": "Total", "args": {"total": total}, "id": "s"}])
    script, guard = ScriptedChatModel(READ, call, call), GroundedAnswer()
    agent = create_agent(script, [read_bill], middleware=[guard], response_format=Total)
    assert (agent.invoke(ASKED).get("structured_response") is not None) == is_given


def test_a_summary_in_the_users_place_leaves_the_ending() -> None:
    """The message that began the run may be summed up while it goes on."""
    teller = ScriptedChatModel("The user asks for the total.", loop=True)
    summary = SummarizationMiddleware(teller, trigger=("messages", 3), keep=("messages", 1))
    guards: list[Any] = [summary, GroundedAnswer(), LicensedTools(ToolPolicy(rules=RULES))]
    again = READ.model_copy(update={"tool_calls": [{**READ.tool_calls[0], "id": "c2"}]})
    agent = create_agent(ScriptedChatModel(READ, again, RIGHT), [read_bill], middleware=guards)
    ending = agent.invoke(ASKED)["guardgraph"]
    assert (ending["status"], ending["usage"]["model_calls"]) == ("ok", 3)


def test_what_a_tool_returns_directly_ends_the_run_with_a_status() -> None:
    @tool(return_direct=True)
    def show_bill(name: str) -> str:
        """Show a bill."""
        return BILL

    show = AIMessage("", tool_calls=[{"name": "show_bill", "args": {"name": "may"}, "id": "c1"}])
    agent = create_agent(ScriptedChatModel(show), [show_bill], middleware=[GroundedAnswer()])
    ending = agent.invoke(ASKED)["guardgraph"]
    assert (ending["status"], ending["stop_reason"], "outcome" in ending) == ("ok", "success", False)

"""The public test doubles do what their scripts say, and nothing when a script has run out."""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hanging import PROMPTLY
from langchain_core.messages import AIMessage, HumanMessage
from pydantic import BaseModel
from typing_extensions import TypedDict

from guardgraph.plain.errors import ConfigurationError
from guardgraph.testing import Reply, ScriptedChatModel, ScriptedClock, ScriptExhausted, scripted_tool

SCHEMA = {"title": "thing", "type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
CALL = {"name": "look_up", "args": {"ids": [1]}, "id": "1", "type": "tool_call"}
MODES = pytest.mark.parametrize("mode", ["invoke", "ainvoke", "stream", "astream"])


class Thing(BaseModel):
    a: int


class ThingDict(TypedDict):
    a: int


def ask(runnable: Any, mode: str = "invoke") -> Any:
    """Ask once, in one of LangChain's four ways; a stream is put together again."""

    async def collected() -> list[Any]:
        return [chunk async for chunk in runnable.astream("hi")]

    match mode:
        case "invoke":
            return runnable.invoke("hi")
        case "ainvoke":
            return asyncio.run(runnable.ainvoke("hi"))
    chunks = list(runnable.stream("hi")) if mode == "stream" else asyncio.run(collected())
    whole = chunks[0]
    for chunk in chunks[1:]:
        whole = whole + chunk
    return whole


@MODES
def test_replies_come_one_a_call(mode: str) -> None:
    """Texts, objects, lists, replies and messages are answered in order, in every way of calling; errors are raised."""
    model = ScriptedChatModel("one", {"b": "ü"}, [1], Reply("four"), AIMessage("five"), TimeoutError("late"), "then")
    assert [ask(model, mode).text for _ in range(5)] == ["one", '{"b": "ü"}', "[1]", "four", "five"]
    with pytest.raises(TimeoutError, match="late"):
        ask(model, mode)
    assert ask(model, mode).text == "then"


def test_a_reply_says_what_a_real_one_can() -> None:
    """Usage, finish reason and refusal stand where real chat models put them."""
    model = ScriptedChatModel(
        Reply("x", usage={"input_tokens": 3, "output_tokens": 2}, finish_reason="length"),
        Reply(refusal="no", usage={"total_tokens": 9}),
        model_name="my-model",
    )
    first, second = ask(model), ask(model)
    assert first.usage_metadata == {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5}
    assert first.response_metadata["finish_reason"] == "length"
    assert first.response_metadata["model_name"] == "my-model"
    assert "refusal" not in first.additional_kwargs
    assert second.additional_kwargs["refusal"] == "no"
    assert second.usage_metadata["total_tokens"] == 9
    assert ask(ScriptedChatModel("x")).usage_metadata is None


def test_calls_are_recorded() -> None:
    model = ScriptedChatModel("one", ValueError())
    model.bind(seed=7).invoke([HumanMessage("hello")])
    with pytest.raises(ValueError):  # noqa: PT011 - it has no message
        ask(model)
    assert [call.messages[0].content for call in model.calls] == ["hello", "hi"]
    assert [call.kwargs for call in model.calls] == [{"seed": 7}, {}]


@MODES
def test_an_exhausted_script(mode: str) -> None:
    """A call too many is a failed assertion that says whose script, which call and how many items."""
    model = ScriptedChatModel("one", model_name="planner")
    ask(model, mode)
    with pytest.raises(ScriptExhausted, match=r"^planner: call 2, but the script has 1 item\(s\)$"):
        ask(model, mode)
    with pytest.raises(AssertionError, match="call 1, but the script has 0"):
        ask(ScriptedChatModel(loop=True), mode)


def test_a_loop_repeats_the_last_item() -> None:
    model = ScriptedChatModel("one", "two", loop=True)
    assert [ask(model).text for _ in range(4)] == ["one", "two", "two", "two"]
    failing = ScriptedChatModel(ValueError("again"), loop=True)
    for _ in range(2):
        with pytest.raises(ValueError, match="again"):
            ask(failing)


@pytest.mark.parametrize("mode", ["stream", "astream"])
def test_a_stream_comes_word_by_word(mode: str) -> None:
    """A stream has a chunk for each word, and put together it is the message: text, usage, refusal, tool calls."""
    usage = {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5}
    block = [{"type": "text", "text": "a block"}]
    said = Reply("  two words\n", usage=usage, finish_reason="length")
    for item in (said, Reply(refusal="no"), AIMessage("", tool_calls=[CALL]), AIMessage(block)):
        streamed, invoked = ask(ScriptedChatModel(item), mode), ask(ScriptedChatModel(item))
        for name in ("content", "additional_kwargs", "response_metadata", "usage_metadata", "tool_calls"):
            assert getattr(streamed, name) == getattr(invoked, name)
    assert [chunk.text for chunk in ScriptedChatModel("  two words\n").stream("hi")] == ["  two ", "words\n", ""]


@MODES
def test_tools_can_be_bound(mode: str) -> None:
    """An agent can bind its tools: the call knows them in OpenAI's form, and the script says which are called."""

    def look_up(ids: list[int]) -> str:
        """Look something up."""

    model = ScriptedChatModel(AIMessage("", tool_calls=[CALL]), "done")
    assert ask(model.bind_tools([look_up], tool_choice="any"), mode).tool_calls == [CALL]
    assert ask(model.bind_tools([look_up]), mode).text == "done"
    assert model.calls[0].kwargs["tools"][0]["function"]["name"] == "look_up"
    assert [call.kwargs.get("tool_choice") for call in model.calls] == ["any", None]


@pytest.mark.parametrize("schema", [SCHEMA, Thing, ThingDict])
@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
def test_structured_output(schema: Any, mode: str) -> None:
    model = ScriptedChatModel({"a": 1}, {"a": 2})
    parsed = ask(model.with_structured_output(schema), mode)
    assert (parsed.a if schema is Thing else parsed["a"]) == 1
    raw = ask(model.with_structured_output(schema, method="json_schema", strict=True, include_raw=True), mode)
    assert raw["raw"].text == '{"a": 2}'
    assert raw["parsed"] == (Thing(a=2) if schema is Thing else {"a": 2})
    assert raw["parsing_error"] is None
    form = model.calls[1].kwargs["response_format"]
    assert (form["type"], form["json_schema"]["strict"]) == ("json_schema", True)
    assert list(form["json_schema"]["schema"]["properties"]) == ["a"]


@pytest.mark.paired
@pytest.mark.parametrize("text", ["no JSON", "", "[" * 10_000, '{"a": "x"'])
@pytest.mark.parametrize("schema", [SCHEMA, Thing])
def test_include_raw_never_raises_on_a_bad_text(schema: Any, text: str) -> None:
    """With include_raw a text that cannot be parsed is a value, not an exception."""
    returned = ask(ScriptedChatModel(text).with_structured_output(schema, include_raw=True))
    assert returned["raw"].text == text
    assert returned["parsed"] is None or returned["parsed"] == {"a": "x"}  # LangChain closes what is left open
    assert (returned["parsing_error"] is None) == (returned["parsed"] is not None)


@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
def test_delays_are_slept_or_told_to_the_clock(mode: str) -> None:
    begun = time.monotonic()
    ask(ScriptedChatModel(Reply("x", delay=0.1)), mode)
    assert time.monotonic() - begun >= 0.1
    clock = ScriptedClock()
    model = ScriptedChatModel(Reply("x", delay=100), "y", AIMessage("z"), clock=clock)
    assert [ask(model, mode).text for _ in range(3)] == ["x", "y", "z"]
    assert clock() == 100

    async def impatient() -> None:
        async with asyncio.timeout(0.05):
            await ScriptedChatModel(Reply("x", delay=300)).ainvoke("hi")

    with pytest.raises(TimeoutError):
        asyncio.run(impatient())
    assert time.monotonic() - begun < PROMPTLY


def test_the_clock_moves_by_its_script_only() -> None:
    clock = ScriptedClock(start=10, step=0.5)
    assert [clock(), clock()] == [10.0, 10.5]
    clock.advance(4)
    assert clock() == 15.0
    wrong = (lambda: clock.advance(-1), lambda: clock.advance(float("nan")), lambda: ScriptedClock(step=-1))
    for use in (*wrong, lambda: Reply("x", delay=-1), lambda: Reply("x", delay=float("nan"))):
        with pytest.raises(ConfigurationError, match="at least 0 is required"):
            use()


def test_a_scripted_tool() -> None:
    """Values are returned, exceptions raised, callables called with the request; requests are recorded."""
    tool = scripted_tool({"a": 1}, ValueError("broken"), lambda request: request["n"] + 1, KeyError, name="search")
    assert tool({"n": 0}) == {"a": 1}
    with pytest.raises(ValueError, match="broken"):
        tool({"n": 1})
    assert tool({"n": 2}) == 3
    with pytest.raises(KeyError):
        tool({"n": 3})
    with pytest.raises(ScriptExhausted, match=r"^search: call 5, but the script has 4 item\(s\)$"):
        tool({"n": 4})
    assert tool.calls == [{"n": number} for number in range(5)]


def test_a_tools_requests_and_results_are_copies() -> None:
    """What happens to a request or a result afterwards changes neither the record nor the script."""
    tool = scripted_tool({"items": []}, loop=True)
    request: dict[str, Any] = {"urls": []}
    tool(request)["items"].append(1)
    request["urls"].append("later")
    assert tool({}) == {"items": []}
    assert tool.calls == [{"urls": []}, {}]


def test_threads_share_a_script() -> None:
    """Under concurrent calls every item is played exactly once, and every reading of a clock is another."""
    size = 200
    model = ScriptedChatModel(*map(str, range(size)))
    tool = scripted_tool(*range(size))
    clock = ScriptedClock(step=1)

    def one(number: int) -> tuple[str, Any, float]:
        return ask(model).text, tool({"n": number}), clock()

    with ThreadPoolExecutor(8) as pool:
        texts, values, readings = zip(*pool.map(one, range(size)), strict=True)
    assert sorted(map(int, texts)) == sorted(values) == sorted(map(int, readings)) == list(range(size))
    assert len(model.calls) == len(tool.calls) == size

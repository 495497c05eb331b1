"""What LangChain's tools report, inject and bring: failures, parameters that nobody proposes, pictures and files."""

import base64
import json
from typing import Annotated, Any

import numpy
import pytest
from langchain_core.tools import InjectedToolArg, InjectedToolCallId, StructuredTool, ToolException, tool
from langgraph.prebuilt import InjectedState, InjectedStore, ToolRuntime
from office_agents import THREAD, calls, office_agent, script
from recorded_runs import Kept
from tables import each_row

from guardgraph import ConfigurationError, ToolPolicy, ToolRule, replay

DONE = {"answer": "Room 42."}
FINDS, LOOKS = (ToolPolicy(rules={name: {"effect": "read"}}) for name in ("find", "look"))
PICTURE = base64.b64encode(b"98765432101234567890" * 3000).decode()


def ask(name: str = "find", **args: Any) -> Any:
    return calls({"tool": name, "args": args})


def failing(how: str) -> Any:
    """Return a tool that reports a failure for the record a, in one of the ways in which tools do."""

    def find(q: str) -> str:
        """Find."""
        if q == "a":
            raise ToolException("no record a; try b")
        return "Room 42."

    async def afind(q: str) -> str:
        """Find."""
        return find(q)

    if how == "function":
        return find
    made: Any = {"name": "find", "description": "Find."}
    if how == "async":
        return StructuredTool.from_function(coroutine=afind, **made)
    return StructuredTool.from_function(find, handle_tool_error=how == "handled", **made)


@each_row("how", "handled", "raised", "async", "function")
def test_a_failure_that_a_tool_reports_goes_back_to_the_model(how):
    """It sees the message, marked as an error; the run goes on, and its record is replayed."""
    planner = script(ask(q="a"), ask(q="b"), DONE)
    agent = office_agent(planner=planner, tools=[failing(how)], policy=FINDS, recorder=(kept := Kept()))
    result = agent.invoke({"task": "Find a."}, THREAD)
    assert (result["outcome"], [call.get("failed") for call in result["tool_calls"]]) == ("answered", [True, None])
    first, second = planner.seen[-1]["results"]
    assert (first["error"], first["result"], first["trusted_fields"]) == (True, "no record a; try b", [])
    assert "error" not in second
    assert replay(agent, kept.recordings[0]) == result


def test_a_reported_failure_licenses_nothing_and_counts_as_a_text_of_others():
    """Not even where all fields of the tool are trusted: what is written after it needs support."""

    def pay(to: str) -> str:
        """Pay somebody."""
        return "paid"

    policy = ToolPolicy(rules={"find": ToolRule(effect="read", trusted=["*"])})
    steps = [ask(q="a"), ask("pay", to="b"), DONE]
    waiting = office_agent(*steps, tools=[failing("handled"), pay], policy=policy).invoke({"task": "Find a."}, THREAD)
    assert [each["value"] for each in waiting["waiting_for"]["shown"]["unsupported"]] == ["b"]


def test_a_repeated_failure_is_a_loop_and_a_write_keeps_its_receipt():
    """The same call is made as often as it may be; a write that failed so is known as failed, and not made again."""
    looped = office_agent(*[ask(q="a")] * 4, tools=[failing("raised")], policy=FINDS)
    assert looped.invoke({"task": "Find a."}, THREAD)["stop_reason"] == "loop_detected:find"
    written = office_agent(*[ask(q="a")] * 2, tools=[failing("raised")], policy=ToolPolicy())
    result = written.invoke({"task": "Find a."}, THREAD)
    assert (result["stop_reason"], result["tool_calls"][0]["failed"]) == ("loop_detected:find", True)


@each_row("given", "", " ", None, "absent", "{}", {})
def test_no_arguments_are_none_however_they_are_written(given):

    def look() -> str:
        """Look."""
        return "Room 42."

    call = {"tool": "look"} if given == "absent" else {"tool": "look", "args": given}
    result = office_agent(calls(call), DONE, tools=[look], policy=LOOKS).invoke({"task": "Look."}, THREAD)
    assert (result["outcome"], result["tool_calls"][0]["args"]) == ("answered", {})


@tool
def look(q: str, call: Annotated[str, InjectedToolCallId], limit: Annotated[int, InjectedToolArg] = 3) -> str:
    """Look."""
    return json.dumps([q, call[:5], limit])


def look_with(q: str, runtime: ToolRuntime) -> str:
    """Look."""
    return json.dumps([q, (runtime.tool_call_id or "")[:5], len(runtime.state) + 3])


look_with.__name__ = "look"


@pytest.mark.parametrize("given", [look, look_with], ids=["tool", "function"])
def test_parameters_that_langchain_injects_are_filled(given):
    """The call's id, the runtime and defaults are no arguments: the model is not shown them, and may not set them."""
    planner = script(ask("look", q="x"), DONE)
    agent = office_agent(planner=planner, tools=[given], policy=LOOKS)
    agent.invoke({"task": "Look at x."}, THREAD)
    assert json.loads(planner.seen[-1]["results"][0]["result"]) == ["x", "look-", 3]
    assert [*planner.seen[0]["tools"][0]["schema"]["properties"]] == ["q"]
    told = office_agent(ask("look", q="x", limit=9), tools=[look], policy=LOOKS).invoke({"task": "Look."}, THREAD)
    assert told["stop_reason"] == "invalid_action:schema"


@each_row("kind", InjectedState, InjectedToolArg, InjectedStore())
def test_a_parameter_that_nobody_can_fill_is_refused_by_name(kind):

    def find(q: str, state: Any) -> str:
        """Find."""
        return q

    find.__annotations__["state"] = Annotated[dict, kind]
    with pytest.raises(ConfigurationError, match=r"tools\.find: .* given: state"):
        office_agent(tools=[find], policy=FINDS)


def test_what_is_no_text_is_a_line_with_kind_size_and_hash():
    """A picture crowds out no text beside it, and licenses no number; the record keeps it whole."""
    blocks = [
        {"type": "image", "base64": PICTURE, "mime_type": "image/png"},
        {"type": "text", "text": "The plan says room 42."},
        {"type": "file", "base64": PICTURE, "mime_type": "application/pdf"},
    ]
    made = StructuredTool.from_function(lambda q: blocks, name="find", description="Find.")
    planner = script(ask(q="a"), {"answer": "Room 98765432101234567890."}, DONE)
    agent = office_agent(planner=planner, tools=[made], policy=FINDS, recorder=(kept := Kept()))
    result = agent.invoke({"task": "Find a."}, THREAD)
    shown = planner.seen[-1]["results"][0]
    assert shown["result"].startswith(f"[image image/png, {len(PICTURE) + 14} characters of data, sha256 ")
    assert "]\nThe plan says room 42.\n[file application/pdf, " in shown["result"]
    assert "left_out_chars" not in shown
    assert result["stop_reason"] == "invalid_answer:unsupported_number"
    assert PICTURE in json.dumps(kept.recordings[0]["calls"])


@each_row(
    ("value", "shown"),
    (numpy.float64(3.5), 3.5),
    (numpy.arange(3), [0, 1, 2]),
    ([{"a": 1.0, "b": float("nan")}, {"a": numpy.float32("nan")}], [{"a": 1.0, "b": None}, {"a": None}]),
    ({numpy.int64(7): numpy.str_("x")}, {"7": "x"}),
    ({"day": numpy.datetime64("NaT")}, {"day": None}),
    (lambda pandas: pandas.DataFrame({"a": [1, 2], "b": ["x", None]}), [{"a": 1, "b": "x"}, {"a": 2, "b": None}]),
    (lambda pandas: [pandas.Timestamp("2024-05-13"), pandas.NA], ["2024-05-13T00:00:00", None]),
)
def test_what_numpy_and_pandas_put_into_results_is_read(value, shown):
    """Their numbers, arrays, tables, texts and days are JSON; what is missing is null, and ends no run."""
    if callable(value):
        value = value(pytest.importorskip("pandas"))
    planner = script(ask(q="a"), DONE)
    made = StructuredTool.from_function(lambda q: value, name="find", description="Find.")
    result = office_agent(planner=planner, tools=[made], policy=FINDS).invoke({"task": "Find Room 42."}, THREAD)
    seen = planner.seen[-1]["results"][0]["result"]
    assert (result["stop_reason"], seen) == ("success", shown)

"""Runs of agents that nobody recorded: what an export says of them is kept, and of what it lacks nothing is guessed."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from cli_runs import refused
from cli_runs import run as guardgraph
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, RemoveMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, MessagesState, StateGraph
from pydantic import BaseModel
from test_recorded_run import ASKED, PAY, READ, RIGHT, RULES, THIEF, WRONG, judge, read_bill, send_money

from guardgraph import ConfigurationError, Redaction, ToolBudget, ToolPolicy, replay, report, sql_store
from guardgraph.middleware import GroundedAnswer, LicensedTools, RecordedRun, import_runs, recorded_agent
from guardgraph.testing import InMemoryRecorder, ScriptedChatModel

EXPORTS = Path(__file__).parents[1] / "data" / "exports"
TOOLS = [read_bill, send_money]
UNKNOWN = ["unknown", "unknown"]
ROWS: list[tuple[str, str, str, str, str, str]] = [
    # the ending, the tools that were called, what is lacking, and what a licence and a grounded answer make of it
    ("langgraph_constructors_archived.json", "success", "code_exec", "time tools", "unknown", "changed"),
    ("langgraph_constructors_disordered.json", *["ending_unknown", "", "time tools ending", "unknown", "unknown"]),
    ("langgraph_message_dicts.json", "success", "get_user_database_stats", "time tools", "same", "changed"),
    ("langgraph_openai_roles.json", *["ending_unknown", "", "time tools arguments made ending", "unknown", "unknown"]),
    ("langgraph_server_history.json", "success", "search_archives", "tools", "unknown", "changed"),
    ("langgraph_stream_values.jsonl", "success", "get_weather", "time tools", "same", "changed"),
    ("langgraph_streamed_messages.json", "success", "sum_numbers", "time tools", "same", "changed"),
    ("otlp_ai_sdk.json", "success", "getWeather", "messages tools text", "unknown", "unknown"),
    ("otlp_genai_content_events.json", "success", "", "tools", "same", "unknown"),
    ("otlp_genai_message_events.json", "success", "calculate", "tools", "unknown", "changed"),
    ("otlp_genai_no_content.json", *["ending_unknown", "", "messages tools text arguments result ending"], *UNKNOWN),
    ("otlp_genai_parts.json", "success", "get_weather", "tools", "same", "changed"),
    ("otlp_genai_router.json", *["ending_unknown", "", "messages tools text arguments result calls ending"], *UNKNOWN),
    ("otlp_genai_structured.json", "success", "query_alarms", "", "same", "changed"),
    ("otlp_langchain_callback.json", "success", "get_current_time", "messages tools", "unknown", "unknown"),
    ("otlp_openinference_agents.jsonl", "success", "search_web write_file", "tools", "same", "changed"),
    ("otlp_openinference_history.json", "success", "search_flights", "tools", "unknown", "changed"),
    ("otlp_openinference_values.json", "ending_unknown", "", "tools arguments ending", "unknown", "unknown"),
    ("otlp_openllmetry.json", "success", "", "tools", "same", "unknown"),
    ("otlp_small_agent.json", *["ending_unknown", "", "messages tools result made ending", "unknown", "unknown"]),
]


def import_export(file: Path, **more: Any) -> Any:
    return import_runs(file, InMemoryRecorder(), form=file.name.partition("_")[0], **more)


@pytest.mark.parametrize(("name", "ending", "tools", "lacks", "licensed", "grounded"), ROWS)
def test_a_published_export_is_kept_as_far_as_it_goes(
    name: str, ending: str, tools: str, lacks: str, licensed: str, grounded: str
) -> None:
    """Its run is decided again like any other; a guard that needs what it does not say knows nothing."""
    imported = import_export(EXPORTS / name)
    first = imported.recordings[-1]
    result: Any = first["result"]
    assert (result["stop_reason"], " ".join(each["tool"] for each in result.get("tool_calls", []))) == (ending, tools)
    assert (" ".join(imported.lacking), replay(recorded_agent(), first)) == (lacks, result)
    kinds = [{kind for kind, _ in judge(imported.recordings, guard)} for guard in (LicensedTools(), GroundedAnswer())]
    assert kinds == [{licensed}, {grounded}]
    assert report(result, recorded_agent()).html


CANDIDATES: list[list[Any]] = [
    [],
    [LicensedTools(ToolPolicy(rules=RULES))],
    [LicensedTools(ToolPolicy(rules={**RULES, "send_money": {"approve": "never"}}))],
    [LicensedTools(ToolPolicy(rules={**RULES, "send_money": {"effect": "read"}}))],
    [LicensedTools(ToolPolicy(rules={"send_money": {"arguments": {"amount": {"max": 100}}, "effect": "read"}}))],
    [LicensedTools(ToolPolicy(denied_tools=["send_money"]))],
    [LicensedTools(ToolPolicy(tools_policy=["read_bill"]))],
    [LicensedTools(ToolPolicy(rules=RULES), budget=ToolBudget(max_tool_calls=1))],
    [GroundedAnswer()],
    [GroundedAnswer(max_attempts=1)],
]
SCRIPTS = [[READ, RIGHT], [READ, WRONG], [READ, PAY, RIGHT], ["Hello."], [PAY, "I sent 1450 EUR."]]


def test_an_import_says_what_a_recording_would_have_or_that_nobody_knows() -> None:
    """Of the same run, the checkpoints say no more than the recording, and nothing else."""
    kept, untold, told = InMemoryRecorder(), InMemoryRecorder(), InMemoryRecorder()
    for script in SCRIPTS:
        saver, model = InMemorySaver(), ScriptedChatModel(*script)
        agent = create_agent(model, TOOLS, middleware=[RecordedRun(kept)], checkpointer=saver)
        agent.invoke(ASKED, {"configurable": {"thread_id": "1"}})
        import_runs(saver, untold, form="langgraph")
        import_runs(saver, told, form="langgraph", tools=TOOLS)
    known = [0, 0]
    for guards in CANDIDATES:
        true = judge(kept.runs, *guards)
        for at, imported in enumerate((untold, told)):
            pairs = [*zip(judge(imported.runs, *guards), true, strict=True)]
            assert len(pairs) == len(SCRIPTS)
            assert all(said in (was, ("unknown", "")) for said, was in pairs), (guards, pairs)
            known[at] += sum(said == was for said, was in pairs)
    every = len(SCRIPTS) * len(CANDIDATES)
    assert (known[0] > 0.5 * every, known[1] > 0.99 * every) == (True, True), known


def converse(saver: Any, thread: str, *turns: list[Any], **more: Any) -> Any:
    """An agent that somebody asked several times."""
    script = [reply for turn in turns for reply in turn]
    agent = create_agent(ScriptedChatModel(*script), TOOLS, checkpointer=saver, **more)
    for number, _ in enumerate(turns):
        agent.invoke({"messages": [("user", f"Question {number}")]}, {"configurable": {"thread_id": thread}})
    return agent


def test_threads_of_a_file_are_imported_once(tmp_path: Path) -> None:
    """Each message of a user begins a run; one that waits has no ending; the file is only read."""
    file, url = tmp_path / "threads.db", f"sqlite:///{tmp_path}/kept.db"
    with SqliteSaver.from_conn_string(str(file)) as saver:
        converse(saver, "1", [READ, RIGHT], ["You are welcome."])
        converse(saver, "2", [READ], interrupt_before=["tools"])
    before = file.read_bytes()
    args = ("audit", "import", str(file), "--from", "langgraph", "--store", url)
    assert guardgraph(*args).stdout.startswith("3 runs, 3 of them added")
    told = json.loads(guardgraph(*args, "--json").stdout)
    assert (told["added"], told["lacking"]) == (0, {"tools": 3, "result": 1, "made": 1, "ending": 1})
    assert file.read_bytes() == before
    listed = guardgraph("audit", "list", "--store", url).stdout
    assert (listed.count("agent: answered"), listed.count("agent: ending_unknown")) == (2, 1)
    assert "no findings" in guardgraph("audit", "verify", "--store", url).stdout
    assert "read_bill" in guardgraph("audit", "show", told["runs"][0], "--store", url).stdout
    with SqliteSaver.from_conn_string(str(file)) as saver:
        converse(saver, "1", ["Once more."])
    assert "4 runs, 1 of them added" in guardgraph(*args).stdout


def test_threads_of_a_database_are_imported(new_postgres: Any) -> None:
    """PostgreSQL's checkpoints are read like a file's, and whose password stands in the URL is not told."""
    where = new_postgres()
    with PostgresSaver.from_conn_string(where) as saver:
        saver.setup()
        converse(saver, "1", [READ, RIGHT])
    [run] = import_runs(where, InMemoryRecorder(), form="langgraph").recordings
    assert (run["result"]["answer"], len(run["result"]["tool_calls"])) == (RIGHT, 1)
    with pytest.raises(ConfigurationError, match="cannot be reached") as told:
        import_runs("postgresql://u:secret@127.0.0.1:1/x", InMemoryRecorder(), form="langgraph")
    assert "secret" not in str(told.value)


class Note(BaseModel):
    text: str


class Noted(MessagesState):
    note: Note


def test_a_file_of_somebody_elses_builds_no_objects_but_messages(tmp_path: Path) -> None:
    """A graph of any form is imported, and classes that its state names are not made."""
    made = list[str]()
    builder = StateGraph(Noted)
    builder.add_node("answer", lambda state: {"messages": [AIMessage("Refunds take 5 days.")], "note": Note(text="a")})
    builder.add_edge(START, "answer")
    with SqliteSaver.from_conn_string(str(tmp_path / "own.db")) as saver:
        graph = builder.compile(checkpointer=saver)
        graph.invoke({"messages": [("user", "How long?")]}, {"configurable": {"thread_id": "1"}})
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Note, "__init__", lambda self, **given: made.append("made"))
        [run] = import_runs(tmp_path / "own.db", InMemoryRecorder(), form="langgraph").recordings
    assert (run["result"]["answer"], made) == ("Refunds take 5 days.", [])


def test_what_a_store_redacts_it_redacts_of_an_imported_run(tmp_path: Path) -> None:
    saver, store = InMemorySaver(), sql_store(f"sqlite:///{tmp_path}/kept.db", redact=Redaction(patterns=[THIEF]))
    converse(saver, "1", [PAY, RIGHT])
    import_runs(saver, store, form="langgraph")
    [kept] = store.runs()
    assert (kept.recording["redacted"] != [], THIEF in json.dumps(kept.recording)) == (True, False)


def test_messages_that_were_removed_since_are_imported() -> None:
    saver = InMemorySaver()
    agent = converse(saver, "1", [READ, RIGHT], ["You are welcome."])
    thread = {"configurable": {"thread_id": "1"}}
    gone = [RemoveMessage(id=each.id) for each in agent.get_state(thread).values["messages"][:4]]
    agent.update_state(thread, {"messages": gone})
    first, second = import_runs(saver, InMemoryRecorder(), form="langgraph").recordings
    assert [run["result"]["answer"] for run in (first, second)] == [RIGHT, "You are welcome."]
    assert second["input"]["asked"]["history"][-1]["content"] == RIGHT


def test_a_policy_is_reviewed_over_imported_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pull request of a policy says which runs of an agent that nobody recorded would end otherwise."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    source = "from guardgraph.middleware import LicensedTools, recorded_agent\n\n"
    source += "def make(policy=None, budget=None):\n    return recorded_agent(LicensedTools(policy, budget=budget))\n"
    Path("imported_office.py").write_text(source)
    rules = "rules: {read_bill: {effect: read}, send_money: {effect: read}}"
    Path("old.yaml").write_text(f"pattern: tools\npolicy:\n  {rules}\n")
    Path("new.yaml").write_text(f"pattern: tools\npolicy:\n  denied_tools: [send_money]\n  {rules}\n")
    saver = InMemorySaver()
    converse(saver, "1", [READ, PAY, RIGHT], [READ, RIGHT])
    import_runs(saver, sql_store("sqlite:///kept.db"), form="langgraph")
    line = "old.yaml new.yaml --graph imported_office:make --store sqlite:///kept.db --fail-on newly-refused --json"
    found = guardgraph("policy", "review", *line.split())
    assert found.exit_code == 3
    told = json.loads(found.stdout)
    assert (told["runs"], told["same"], told["subsumption"]["verdict"]) == (2, 1, "at_most")
    assert [(each["change"], each["runs"]) for each in told["parted"]] == [("newly_refused", 1)]


BAD = {
    "broken.json": '{"resourceSpans": [',
    "other.json": '{"a": 1}',
    "odd.json": '{"messages": [{"type": "human"}]}',
    "spans.json": '{"resourceSpans": [{"scopeSpans": [{"spans": [7]}]}]}',
    "cut.db": "SQLite format 3\0",
    "folder": None,
}


@pytest.mark.parametrize("form", ["langgraph", "otlp"])
@pytest.mark.parametrize("name", BAD)
def test_what_is_no_export_is_said_in_one_line(tmp_path: Path, name: str, form: str) -> None:
    if (text := BAD[name]) is not None:
        (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=name) as told:
        import_runs(tmp_path / name, InMemoryRecorder(), form=form)
    assert "\n" not in str(told.value)


def test_wrong_arguments_are_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"^form: langgraph or otlp is required; given: 'csv'$"):
        import_runs("a", InMemoryRecorder(), form="csv")
    with pytest.raises(ConfigurationError, match=r"^tools: a list"):
        import_runs("a", InMemoryRecorder(), form="otlp", tools=7)  # type: ignore[arg-type]
    store = ("--store", f"sqlite:///{tmp_path}/kept.db")
    for more in (("--from", "csv"), ("--from", "otlp", "--tools", "nosuch:tools"), ("--from", "otlp")):
        refused(guardgraph("audit", "import", "nosuch.json", *more, *store))


ODD = [None, 7, "", "x", [], {}, [[]], {"a": 1}, True, -1, "[{", "[7]", '{"content": 5}', [None], 1e99]


def change_somewhere(value: Any, chance: random.Random) -> Any:
    """The same JSON with something else somewhere."""
    if not isinstance(value, dict | list) or not value or chance.random() < 0.1:
        return chance.choice(ODD)
    changed: Any = dict(value) if isinstance(value, dict) else list(value)
    key = chance.choice([*value]) if isinstance(value, dict) else chance.randrange(len(value))
    changed[key] = change_somewhere(value[key], chance)
    return changed


@pytest.mark.parametrize("name", sorted(file.name for file in EXPORTS.glob("*.json*")))
def test_a_damaged_export_is_imported_or_refused_in_one_line(tmp_path: Path, name: str) -> None:
    assert name in [known for known, *_ in ROWS]
    lines = (EXPORTS / name).read_text(encoding="utf-8").splitlines()
    chance = random.Random(name)
    for _ in range(8):
        changed = [json.dumps(change_somewhere(json.loads(line), chance)) for line in lines]
        (tmp_path / name).write_text("\n".join(changed), encoding="utf-8")
        said = ""
        try:
            import_export(tmp_path / name)
        except ConfigurationError as error:
            said = str(error)
        assert "\n" not in said


def write_spans(file: Path, *spans: dict[str, Any]) -> Path:
    """An OTLP file of one trace with a user's question, and spans by their attributes."""
    asked = json.dumps([{"role": "user", "parts": [{"type": "text", "content": "Send 40 euros to Ada."}]}])
    made = []
    for number, told in enumerate(spans):
        known = {"gen_ai.input.messages": asked} | told
        texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in known.items()}
        attributes = [{"key": key, "value": {"stringValue": text}} for key, text in texts.items()]
        times = {"startTimeUnixNano": str(10**18 + number), "endTimeUnixNano": str(10**18 + number + 1)}
        about = {"traceId": "t", "spanId": f"s{number}", "name": told["gen_ai.operation.name"]}
        made.append({**about, **times, "attributes": attributes})
    file.write_text(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": made}]}]}), encoding="utf-8")
    return file


def reply(*calls: dict[str, Any]) -> dict[str, Any]:
    said = [{"role": "assistant", "parts": [{"type": "tool_call", "name": "send_money", **call} for call in calls]}]
    return {"gen_ai.operation.name": "chat", "gen_ai.output.messages": said}


def work(**told: Any) -> dict[str, Any]:
    """A tool's span."""
    own = {f"gen_ai.tool.call.{key}": value for key, value in told.items()}
    known = {"operation.name": "execute_tool", "tool.name": "send_money", "input.messages": ""}
    return {f"gen_ai.{key}": value for key, value in known.items()} | own


ADA, BOB = {"to": "Ada", "amount": 40}, {"to": "Bob", "amount": 40}
CUT = json.dumps(reply({"id": "c1", "arguments": ADA})["gen_ai.output.messages"])[:90]
GUESSES: dict[str, tuple[list[dict[str, Any]], str]] = {
    "a reply that was cut": ([reply() | {"gen_ai.output.messages": CUT}, work(id="c1", arguments=ADA)], "text"),
    "a question that was cut": ([reply({"id": "c1"}) | {"gen_ai.input.messages": '[{"role": "us'}], "messages"),
    "other arguments": ([reply({"id": "c1", "arguments": ADA}), work(id="c1", arguments=BOB)], "arguments"),
    "whose result": ([reply({"arguments": ADA}, {"arguments": BOB}), work(result="sent"), work(result="no")], "result"),
}


@pytest.mark.parametrize("name", GUESSES)
def test_what_an_export_leaves_open_is_lacking(tmp_path: Path, name: str) -> None:
    """Neither a text that an exporter cut, nor arguments that differ, nor results without their call are guessed."""
    spans, lacks = GUESSES[name]
    assert lacks in import_export(write_spans(tmp_path / "otlp_made.json", *spans)).lacking
    certain = reply({"id": "c1", "arguments": ADA}), work(id="c1", arguments=ADA, result="sent")
    assert lacks not in import_export(write_spans(tmp_path / "otlp_known.json", *certain)).lacking

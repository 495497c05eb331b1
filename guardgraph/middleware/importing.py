"""Imports: runs of agents that nobody recorded, as far as a checkpointer or a trace tells of them.

An export is read into messages of LangChain's, and those into a trail, of which a recording is made as of any other
agent. What the export does not say is named in the recording (``lacks``), and a guard that would judge by it says that
nobody knows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final
from uuid import UUID, uuid5

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langchain_core.tools import BaseTool

from guardgraph.graphs.grammar import validate_recorder
from guardgraph.graphs.guard_nodes import is_written_by_user
from guardgraph.grounding.check import Source
from guardgraph.middleware.agent_state import read_given
from guardgraph.middleware.answers import list_result_sources
from guardgraph.middleware.calls import list_cards
from guardgraph.middleware.pattern import ENDING_UNKNOWN
from guardgraph.middleware.tool_results import read_brought
from guardgraph.middleware.trail import TrailPlayer
from guardgraph.plain.errors import ConfigurationError
from guardgraph.plain.hashing import digest
from guardgraph.plain.json import JsonObject, make_storable_json
from guardgraph.state.outcome import Outcome
from guardgraph.state.recording import Recorder, Recording
from guardgraph.state.tools import ToolCard

FORMS: Final = ("langgraph", "otlp")
TOLD: Final = "guardgraph_export"
"""Key of a message's `additional_kwargs`: what an export ``lacks`` of it, and the ``seconds`` that it took."""
NO_TIME: Final = "1970-01-01T00:00:00+00:00"  # when a run began of which nobody knows when
_NAMES: Final = UUID("6f1b0c1e-5d0f-4f3c-9a76-3c0c6a1d9f41")


@dataclass
class ExportedRun:
    """What an export tells of one run: what follows a message of a user."""

    key: Sequence[Any]  # what tells it from others of the same export, plain JSON
    at: str  # when it began, ISO 8601
    before: list[AnyMessage]  # what stood there as it began, the user's message included
    then: list[AnyMessage]  # replies and results, in order
    name: str = "agent"
    tools: dict[str, ToolCard] | None = None  # the agent's tools; None: nobody says which there are
    documents: list[Source] = field(default_factory=list)
    lacks: list[str] = field(default_factory=list)


@dataclass
class ImportedRuns:
    """What came of an import."""

    recordings: list[Recording] = field(default_factory=list)
    receipts: list[Any] = field(default_factory=list)  # what the recorder said of each
    skipped: list[str] = field(default_factory=list)  # what is no run, and why

    @property
    def lacking(self) -> dict[str, int]:
        """Return how many runs lack something, by what it is."""
        there = [part for each in self.recordings for part in list_lacking(each)]
        return {part: there.count(part) for part in dict.fromkeys(there)}


def import_runs(source: Any, recorder: Recorder, *, form: str, tools: Sequence[BaseTool] | None = None) -> ImportedRuns:
    """Make recordings of what a checkpointer or a trace tells of an agent's runs, and give them to a recorder.

    Importing the same again makes the same recordings, with the same ids.

    Args:
        source: for ``langgraph`` a checkpointer, the URL or the file of one (SQLite, PostgreSQL), or a file of states
            of threads as JSON; for ``otlp`` a file of OTLP's JSON.
        recorder: who keeps them, such as a store.
        form: ``langgraph`` or ``otlp``.
        tools: the agent's, where the export does not say which there are: licences are judged by their schemas.

    Raises:
        ConfigurationError: an argument is wrong, or the source is not of that form; it names the line.
    """
    if form not in FORMS:
        raise ConfigurationError(f"form: {' or '.join(FORMS)} is required; given: {form!r:.80}")
    from guardgraph.middleware.importing_langgraph import read_threads
    from guardgraph.middleware.importing_otlp import read_traces

    if tools is not None and not isinstance(tools, Sequence):
        raise ConfigurationError(f"tools: a list of tools of LangChain's is required; given: {tools!r:.80}")
    validate_recorder(recorder)
    cards, imported = None if tools is None else list_cards([*tools]), ImportedRuns()
    for item in (read_threads if form == "langgraph" else read_traces)(source):
        if isinstance(item, str):
            imported.skipped.append(item)
            continue
        item.tools = cards or item.tools
        recording = TrailPlayer(item.name).play(_write_trail(item, form), is_guarded=False)
        assert recording is not None  # nothing else decides an unguarded run
        imported.receipts.append(recorder.record(recording))
        imported.recordings.append(recording)
    return imported


def list_lacking(recording: Recording) -> list[str]:
    """Return what the export of an imported run did not say, such as ``tools``, ``text``, ``result`` or ``ending``."""
    said: list[Any] = [Outcome.unpacked(call["outcome"]).content for call in recording["calls"]]
    parts = [part for each in said for part in each.get("lacks", ())]
    ended = [] if recording["result"]["stop_reason"] != ENDING_UNKNOWN else ["ending"]
    return [*dict.fromkeys([*recording["input"].get("lacks", ()), *parts, *ended])]


def split_runs(messages: Sequence[AnyMessage]) -> Iterator[tuple[list[AnyMessage], list[AnyMessage]]]:
    """Yield the runs of a conversation: what stood there as each began, and what followed."""
    asked = [
        at + 1
        for at, each in enumerate(messages)
        if is_written_by_user(each) and not (at + 1 < len(messages) and is_written_by_user(messages[at + 1]))
    ]
    for begin, end in pairwise([*asked, len(messages)]):
        then = [*messages[begin:end]]
        while then and is_written_by_user(then[-1]):  # the first of several that ask for the next run
            then.pop()
        yield [*messages[:begin]], then


def tell(message: AnyMessage, **told: Any) -> AnyMessage:
    """Note on a message what an export says, or does not say, of it."""
    known = message.additional_kwargs.setdefault(TOLD, {})
    known["lacks"] = [*known.get("lacks", []), *told.pop("lacks", [])]
    known.update(told)
    return message


def _write_trail(run: ExportedRun, form: str) -> list[JsonObject]:
    said = "\n".join(each.text for each in run.before if is_written_by_user(each))
    sources = [*list_result_sources(run.before), *run.documents]
    cards = run.tools if run.tools is not None else _list_seen_cards(run.then)
    items, lacks = [*_list_replies(run.then, is_typed=run.tools is not None)], [*run.lacks]
    if run.tools is None:
        lacks.append("tools")
    answered = {call["id"] for item in items if "model" in item for call in item["model"]["calls"]}
    if any("tool" in item and item["tool"]["id"] not in answered for item in items):
        lacks.append("messages")  # what proposed the call is missing
    begin = {
        "id": str(uuid5(_NAMES, digest([form, make_storable_json([*run.key])]))),
        "at": run.at,
        "given": dict(read_given(run.before)),
        "said": said,
        "sources": [{"id": each.id, "text": each.text, "about": [*each.about]} for each in sources],
        "lacks": [*dict.fromkeys(lacks)],
    }
    ended = {"status": "stopped", "stop_reason": ENDING_UNKNOWN, "text": ""}
    trail: Any = [{"begin": begin}, {"settings": {}, "tools": cards}, *items, {"ended": ended}]
    return [make_storable_json(item) for item in trail]


def _list_replies(messages: Sequence[AnyMessage], *, is_typed: bool) -> Iterator[JsonObject]:
    results = {each.tool_call_id: each for each in messages if isinstance(each, ToolMessage)}
    for at, message in enumerate(messages):
        told = message.additional_kwargs.get(TOLD, {})
        if isinstance(message, ToolMessage):
            yield _write_tool_result(message)
        if not isinstance(message, AIMessage):
            continue
        made = [*message.tool_calls, *message.invalid_tool_calls]
        calls: list[JsonObject] = [
            {"id": each["id"] or f"call {at} {n}", "tool": each["name"], "args": each["args"]}
            for n, each in enumerate(made)
        ]
        lacks = [*told.get("lacks", ())]
        if not is_typed and any(_has_tool_failed(results.get(call["id"])) for call in calls):
            lacks.append("arguments")  # they may not have fit the tool's schema, which nobody knows
        model = message.response_metadata.get("model_name") or message.response_metadata.get("model") or "unknown"
        reply: JsonObject = {"model": str(model), "text": message.text, "calls": calls, "answers": not calls}
        yield {"model": {**reply, **({"lacks": lacks} if lacks else {})}, "seconds": told.get("seconds", 0.0)}
        for call in calls:
            if call["id"] not in results:
                yield {"tool": {"id": call["id"], "value": None, "text": "", "lacks": ["result", "made"]}}


def _write_tool_result(message: ToolMessage) -> JsonObject:
    told = message.additional_kwargs.get(TOLD, {})
    brought = {"id": message.tool_call_id, **read_brought([message], message.tool_call_id), "text": message.text}
    lacks = [*told.get("lacks", ())]
    if _has_tool_failed(message) and not told.get("is_made"):
        lacks.append("made")  # it may have failed, or been refused
    return {"tool": {**brought, **({"lacks": lacks} if lacks else {})}, "seconds": told.get("seconds", 0.0)}


def _has_tool_failed(message: ToolMessage | None) -> bool:
    return message is not None and message.status == "error"


def _list_seen_cards(messages: Sequence[AnyMessage]) -> dict[str, ToolCard]:
    """Return what calls say of tools that nobody describes: their names and those of arguments."""
    cards = dict[str, ToolCard]()
    for message in messages:
        for call in message.tool_calls if isinstance(message, AIMessage) else ():
            card = ToolCard(name=call["name"], description="", schema={"properties": {}})
            properties = cards.setdefault(call["name"], card)["schema"]["properties"]
            properties.update({name: {} for name in call["args"]})
    return cards

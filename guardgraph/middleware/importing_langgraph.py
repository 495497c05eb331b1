"""Threads of a checkpointer of LangGraph's, or their states as JSON, as exported runs."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage, convert_to_messages
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from guardgraph.grounding.check import Source
from guardgraph.middleware.answers import list_sources
from guardgraph.middleware.importing import NO_TIME, ExportedRun, split_runs, tell
from guardgraph.plain.errors import ConfigurationError, InputError, explain_unread_file
from guardgraph.plain.hashing import digest
from guardgraph.plain.json import RESULT_DEPTH, JsonObject, NotJson, make_storable_json, parse_json
from guardgraph.plain.urls import is_server_url

_SQLITE: Final = b"SQLite format 3\0"


@dataclass
class _Thread:
    """A conversation, gathered from its states, the newest first."""

    name: str
    messages: list[tuple[Any, str]] = field(default_factory=list)
    """Each with the time of the earliest state that has it."""
    documents: Any = ()

    def add_state(self, values: dict[str, Any], at: str) -> None:
        """Add an earlier state: what it has of later ones is as old as it, and what was removed since stands before."""
        if not self.messages:
            self.documents = values.get("documents") or ()
        places = {_identify(message): place for place, (message, _) in enumerate(self.messages)}
        gathered, left = list[tuple[Any, str]](), 0
        for message in read_messages(values["messages"]):
            place = places.get(_identify(message))
            if place is None:
                gathered.append((message, at))
            elif place >= left:
                gathered += [*self.messages[left:place], (self.messages[place][0], at)]
                left = place + 1
        self.messages = [*gathered, *self.messages[left:]]


def _identify(message: AnyMessage) -> str:
    return message.id or digest(make_storable_json(message.model_dump(mode="json")))


def read_threads(source: Any) -> Iterator[ExportedRun | str]:
    """Yield the runs of all threads of a source; of what has none, why."""
    threads = dict[str, _Thread]()
    empty = dict[str, None]()
    for name, values, at in _read_states(source):
        if not isinstance(values.get("messages"), list):
            empty[name] = None
            continue
        try:
            threads.setdefault(name, _Thread(name)).add_state(values, at)
        except ConfigurationError as error:
            raise ConfigurationError(f"{source!s:.200}: thread {name:.80}: {error}") from None
    for thread in reversed(threads.values()):
        yield from _list_thread_runs(thread)
    yield from (f"thread {name}: no messages" for name in empty if name not in threads)


def _list_thread_runs(thread: _Thread) -> Iterator[ExportedRun | str]:
    times = {id(message): at for message, at in thread.messages}
    ordered = [message for message, _ in thread.messages]
    for earlier, later in pairwise(ordered):
        if isinstance(later, AIMessage | ToolMessage):
            begin, end = (datetime.fromisoformat(times[id(each)]) for each in (earlier, later))
            tell(later, seconds=max(0.0, (end - begin).total_seconds()))
    runs = [*split_runs(ordered)]
    if not runs:
        yield f"thread {thread.name}: no message of a user"
    for number, (before, then) in enumerate(runs):
        run = ExportedRun([thread.name, number, before[-1].text], times[id(before[-1])], before, then)
        run.documents = _list_documents(thread.documents)
        if run.at == NO_TIME:
            run.lacks.append("time")
        yield run


def _list_documents(given: Any) -> list[Source]:
    try:
        return list_sources({"documents": given}, "documents")
    except InputError:  # a channel of that name that has something else
        return []


def read_messages(given: Iterable[Any]) -> list[AnyMessage]:
    """Return messages of LangChain's in any of its forms of JSON, or OpenAI's."""
    messages = list[Any]()
    for number, item in enumerate(given, 1):
        try:
            messages += convert_to_messages([_unpack_message(item) if isinstance(item, dict) else item])
        except Exception as error:  # noqa: BLE001 - a boundary to what LangChain makes of an unknown object
            said = str(error).partition("\n")[0]
            raise ConfigurationError(f"message {number}: no message of LangChain's: {said:.200}") from None
    return messages


def _unpack_message(item: JsonObject) -> JsonObject:
    """Return the fields of a message that was written by its class, with its type, or beside its metadata."""
    if isinstance(item.get("message"), dict):
        return _unpack_message(item["message"])
    if isinstance(item.get("kwargs"), dict) and isinstance(item.get("id"), list) and item["id"]:
        item = {"type": item["id"][-1], **item["kwargs"]}
    elif isinstance(item.get("data"), dict):
        item = {"type": item.get("type"), **item["data"]}
    kind = str(item.get("type")).removesuffix("Chunk").removesuffix("Message").lower()
    return item if "type" not in item else {**item, "type": kind}


def _read_states(source: Any) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Yield thread, values and time of each state, the newest of a thread first."""
    with ExitStack() as stack:
        saver = source if isinstance(source, BaseCheckpointSaver) else _open_checkpointer(str(source), stack)
        if saver is None:
            yield from _read_state_file(Path(source))
            return
        try:
            for each in saver.list(None):
                at = each.config["configurable"]
                if not at.get("checkpoint_ns"):
                    yield str(at["thread_id"]), each.checkpoint["channel_values"], each.checkpoint["ts"]
        except Exception as error:
            if isinstance(error, ConfigurationError):
                raise
            said = str(error).partition("\n")[0]
            raise ConfigurationError(f"{source!s:.200}: no checkpoints of LangGraph's: {said:.200}") from None


def _open_checkpointer(source: str, stack: ExitStack) -> Any:
    """Return the checkpointer of a URL or a file of SQLite's, to be read and not written; None: the file is another."""
    # A file of somebody else's builds no objects but messages.
    serializer = JsonPlusSerializer(allowed_msgpack_modules=None)
    try:
        if is_server_url(source):
            from langgraph.checkpoint.postgres import PostgresSaver

            url = source.replace("postgresql+psycopg://", "postgresql://", 1)
            try:
                saver: Any = stack.enter_context(PostgresSaver.from_conn_string(url))
            except Exception as error:  # noqa: BLE001 - a boundary to a driver
                raise ConfigurationError(f"the database cannot be reached: {type(error).__name__}") from None
            saver.serde = serializer
            return saver
        file = Path(source.removeprefix("sqlite:///"))
        try:
            with file.open("rb") as opened:
                is_sqlite = opened.read(len(_SQLITE)) == _SQLITE
        except OSError as error:
            raise ConfigurationError(f"{source!r:.200}: {explain_unread_file(error)}") from None
        if not is_sqlite:
            return None
        from langgraph.checkpoint.sqlite import SqliteSaver
    except ModuleNotFoundError as error:
        package = str(error.name).replace("langgraph.checkpoint.", "langgraph-checkpoint-")
        raise ConfigurationError(f"{source!r:.200}: the package {package} is required") from None
    connection = sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True, check_same_thread=False)
    stack.callback(connection.close)
    saver = SqliteSaver(connection, serde=serializer)
    saver.is_setup = True  # its tables are there, and nothing is written
    return saver


def _read_state_file(file: Path) -> Iterator[tuple[str, dict[str, Any], str]]:
    for place, value in read_json_file(file):
        found = [*_list_states(value)]
        if not found:
            raise ConfigurationError(f"{place}: a state with messages, a list of states or of messages is required")
        yield from found


def read_json_file(file: Path) -> Iterator[tuple[str, Any]]:
    """Yield the JSON in a file, one document or one a line, each with its place."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{str(file)!r:.200}: {explain_unread_file(error)}") from None
    lines = [(f"{str(file)!r:.200}, line {at}", line) for at, line in enumerate(text.splitlines(), 1) if line.strip()]
    try:
        yield f"{str(file)!r:.200}", parse_json(text, RESULT_DEPTH)
        return
    except NotJson as error:
        whole = f"{str(file)!r:.200}: not JSON: {error}"
    for number, (place, line) in enumerate(lines):
        try:
            value = parse_json(line, RESULT_DEPTH)
        except NotJson as error:
            is_one = number == 0  # a document of many lines, and no document a line
            raise ConfigurationError(whole if is_one else f"{place}: not JSON: {error}") from None
        yield place, value


def _list_states(value: Any) -> Iterator[tuple[str, dict[str, Any], str]]:
    if isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
        if any(each.keys() & {"messages", "values", "channel_values"} for each in value):
            for each in value:
                yield from _list_states(each)
            return
        value = {"messages": value}
    if not isinstance(value, dict):
        return
    values = value.get("values", value.get("channel_values", value))
    if isinstance(values, dict) and "messages" in values:
        yield _find_thread(value) or _name_thread(values["messages"]), values, _read_time(value.get("created_at"))


def _find_thread(value: dict[str, Any]) -> str:
    """Return the id of the thread that a state is of, empty where it says none."""
    config = value.get("config")
    for each in (value, value.get("checkpoint"), config.get("configurable") if isinstance(config, dict) else None):
        if isinstance(each, dict) and each.get("thread_id"):
            return str(each["thread_id"])
    return ""


def _name_thread(messages: Any) -> str:
    """Return what tells a thread without an id from others: the id of its first message, else all of them."""
    first = messages[0] if isinstance(messages, list) and messages else None
    known = first.get("id") if isinstance(first, dict) else None
    return known if isinstance(known, str) else digest(make_storable_json(messages))


def _read_time(given: Any) -> str:
    try:
        return datetime.fromisoformat(given).isoformat()
    except (TypeError, ValueError):
        return NO_TIME

"""Agents whose runs wait in a queue, for tests of it: a critic that escalates, an office that asks about a payment."""

import sqlite3
from typing import Any

from langgraph.checkpoint.sqlite import SqliteSaver
from office_agents import DONE, READ, STOLEN, TASK, Office, calls, office_agent
from self_critique_cases import DRAFT, ESCALATE, GIVEN, WAIT, agent

from guardgraph import sql_store
from guardgraph.desk.queue import ReviewQueue
from guardgraph.grammar import Identity

HOSTILE = 'x</textarea><script>document.title="owned"</script><img src=//evil.test/x><a href="javascript:1">click</a>'


def open_saver(folder: Any) -> SqliteSaver:
    return SqliteSaver(sqlite3.connect(folder / "threads.db", check_same_thread=False))


def staff(answer: Any, caller: Any) -> Identity | None:
    return None if caller is None or caller.user == "guest" else Identity(caller.user, ("comms",))


def critique_agent(folder: Any, url: str, **more: Any) -> Any:
    made = {"policy": WAIT, "checkpointer": open_saver(folder), "recorder": sql_store(url), **more}
    return agent(made.pop("draft", DRAFT), made.pop("critique", ESCALATE), **made)


def tool_agent(folder: Any, url: str, *, office: Office | None = None, **more: Any) -> Any:
    steps = more.pop("steps", (calls(READ), calls(STOLEN), DONE))
    made = {"checkpointer": open_saver(folder), "recorder": sql_store(url), **more}
    return office_agent(office=office, planner=lambda view: steps[len(view["results"])], **made)


def begin_critique(graph: Any, thread: str = "1", context: Any = None) -> str:
    result = graph.invoke(GIVEN, {"configurable": {"thread_id": thread}}, context=context)
    assert result["status"] == "waiting"
    return str(result["run_id"])


def begin_payment(graph: Any, thread: str = "1", task: Any = TASK) -> str:
    result = graph.invoke(task, {"configurable": {"thread_id": thread}})
    assert result["status"] == "waiting"
    return str(result["run_id"])


def queue_of(url: str, graph: Any = None) -> ReviewQueue:
    return ReviewQueue(sql_store(url), graph)

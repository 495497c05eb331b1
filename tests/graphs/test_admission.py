"""The configuration of a run: a new input begins a run on a thread of its own name, whatever else a client writes."""

from __future__ import annotations

from functools import cache

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt
from runs import BOTH, check_result, halt_before, masked, run
from ticket_pattern import REASONS, TICKET, In, triage

from guardgraph import ConfigurationError, InputError, sql_store
from guardgraph.evidence.chain import read_chain_entry

NEW = {"ticket": "new"}
WAYS_BACK = {
    "the run_id of the run before": {"configurable": {"run_id": "r1"}},
    "its run_id as metadata": {"metadata": {"run_id": "r1"}},
    "both": {"configurable": {"run_id": "r1"}, "metadata": {"run_id": "r1"}},
    "a resume": {"configurable": {"__pregel_resuming": True}},
    "a resume inside a graph": {"configurable": {"__pregel_resuming": True, "__pregel_task_id": "t"}},
    "answers": {"configurable": {"__pregel_resuming": True, "__pregel_resume_map": {"a": "b"}}},
    "a replay": {"configurable": {"__pregel_replay_state": {"checkpoint_id": "x"}}},
    "what a graph around would hand on": {"configurable": {"__pregel_read": "x", "__pregel_resuming": True}},
}


def labelled(**kwargs):
    """Return a graph whose label tells the new ticket from the old one."""
    return triage(lambda view: {"label": "spam" if view == NEW else "bug"}, checkpointer=InMemorySaver(), **kwargs)


def on_thread(**config):
    """Return a configuration for the thread."""
    return {**config, "configurable": {"thread_id": "1", **config.get("configurable", {})}}


@cache
def alone():
    """Return the result of a run before which there was none, without what is its own."""
    return masked(labelled().invoke(NEW, on_thread()))


def is_new(result, before=None):
    """Assert that a result is that of a run of its own."""
    assert masked(check_result(REASONS, result)) == alone()
    assert before is None or result["run_id"] != before["run_id"]


@pytest.mark.paired
@pytest.mark.parametrize("name", WAYS_BACK)
@pytest.mark.parametrize("mode", BOTH)
@pytest.mark.parametrize("moment", [{}, {"interrupt_before": ["lookup"]}], ids=["ended", "interrupted"])
def test_a_new_input_begins_a_run(name, mode, moment):
    """Neither an ended run nor one that waits is returned or resumed when there is a new input."""
    graph = labelled()
    before = graph.invoke(TICKET, on_thread(configurable={"run_id": "r1"}), **moment)
    asked = {**WAYS_BACK[name], "configurable": {"replace": bool(moment), **WAYS_BACK[name].get("configurable", {})}}
    is_new(run(graph, NEW, mode, config=on_thread(**asked)), before if not moment else None)


def around(action, **kwargs):
    """Return a graph with a checkpointer around an action."""
    parent = StateGraph(In)
    parent.add_node("inside", action)
    parent.add_edge(START, "inside")
    return parent.compile(checkpointer=InMemorySaver())


NO_THREADS = [
    (None, "None"),
    ({}, "None"),
    ({"configurable": {"tenant": "a"}}, "None"),
    ({"configurable": {"thread_id": None}}, "None"),
    ({"configurable": {"thread_id": ["1"]}}, r"\['1'\]"),
    ({"configurable": {"thread_id": 1.5}}, r"1\.5"),
    ({"configurable": {"thread_id": True}}, "True"),
    ({"configurable": {"thread_id": ""}}, "''"),
    ({"configurable": {"thread_id": "a\x00b"}}, r"'a\\x00b'"),
    ({"configurable": {"thread_id": "a\ud800b"}}, r"'a\\ud800b'"),
]


@pytest.mark.paired
@pytest.mark.parametrize(("config", "shown"), NO_THREADS)
@pytest.mark.parametrize("mode", BOTH)
def test_a_checkpointer_needs_a_thread(config, shown, mode):
    """Without a thread, runs of strangers would share one: it is one clear error, with nothing run."""
    called = []
    graph = triage(called.append, checkpointer=InMemorySaver())
    message = rf"^config\.configurable\.thread_id: a text, a whole number or a UUID is required .+; given: {shown}$"
    for given in (TICKET, None, Command(resume="x")):
        with pytest.raises(ConfigurationError, match=message):
            run(graph, given, mode, config=config)
    assert called == []
    assert run(triage(), TICKET, mode, config=config)["stop_reason"] == "success"


def test_the_entry_guard_clears_without_the_door():
    """Compiled without the door and run without a thread, a graph still tells nothing of the run before."""
    graph = StateGraph.compile(triage(lambda view: {"label": "?"}).builder, checkpointer=InMemorySaver())
    for _ in range(2):
        result = graph.invoke(TICKET, {"configurable": {"thread_id": None}})
        assert check_result(REASONS, result)["path"] == ["request_guard", "label", "label_guard", "stop_invalid_label"]


@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
def test_another_input_does_not_push_aside_a_run_that_waits(mode):
    """Somebody is about to answer: it is an error in every graph, unless the input says that it takes its place."""
    other = {"ticket": "another"}
    graph = labelled(tool=lambda request: interrupt("Who?"))
    first = run(graph, TICKET, mode, config=on_thread())
    with pytest.raises(
        InputError, match=f"input: run {first['run_id']} of this thread has not ended; None or a Command"
    ):
        run(graph, other, mode, config=on_thread())
    second = run(graph, other, mode, config=on_thread(configurable={"replace": True}))
    assert (second["status"], second["run_id"] != first["run_id"]) == ("waiting", True)
    assert run(graph, Command(resume="Grace"), mode, config=on_thread())["run_id"] == second["run_id"]
    assert run(graph, other, mode, config=on_thread())["status"] == "waiting"  # on the thread of a run that has ended


def test_another_input_does_not_push_aside_a_run_that_was_left(tmp_path):
    """Not either where it waits for nobody and changes nothing; one that is replaced is closed by name."""
    store = sql_store(f"sqlite:///{tmp_path}/runs.db", timeout=60)
    graph = labelled(recorder=store)
    assert halt_before(graph, TICKET, on_thread(), "lookup")
    [left] = store.open_runs()
    with pytest.raises(InputError, match=rf"run {left.run_id} of this thread has not ended; .*\.replace: True"):
        graph.invoke(NEW, on_thread())
    assert [run.run_id for run in store.open_runs()] == [left.run_id]
    result = graph.invoke(NEW, on_thread(configurable={"replace": True}))
    assert (result["status"], store.open_runs()) == ("ok", [])
    close = read_chain_entry(store.entries(left.run_id)[-1])
    assert (close["kind"], close["how"], close["by"]) == ("close", "superseded", result["run_id"])

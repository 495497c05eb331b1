"""A new input begins a run on a thread of its own name, and no client breaks a run off between its nodes."""

import re

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.runtime import RunControl
from langgraph.types import Command, interrupt
from recorded_runs import Kept
from refund_pattern import PAID, answering, refund, waiting
from runs import BOTH, MODES, THREAD, check_result, halt_before, masked, on_thread, run
from ticket_pattern import REASONS, TICKET, triage

from guardgraph import ConfigurationError, InputError, sql_store
from guardgraph.evidence.chain import read_chain_entry

NEW = {"ticket": "new"}
WAYS_BACK = {
    "the run_id of the run before": {"run_id": "r1"},
    "answers": {"__pregel_resuming": True, "__pregel_resume_map": {"a": "b"}},
    "a replay": {"__pregel_replay_state": {"checkpoint_id": "x"}},
    "what a graph around would hand on": {"__pregel_read": "x", "__pregel_resuming": True},
}


def labelled(**kwargs):
    return triage(lambda view: {"label": "spam" if view == NEW else "bug"}, checkpointer=InMemorySaver(), **kwargs)


@pytest.mark.paired
@pytest.mark.parametrize("name", WAYS_BACK)
@pytest.mark.parametrize("mode", BOTH)
@pytest.mark.parametrize("moment", [{}, {"interrupt_before": ["lookup"]}], ids=["ended", "interrupted"])
def test_a_new_input_begins_a_run(name, mode, moment):
    """Neither an ended run nor one that waits is returned or resumed when there is a new input."""
    graph = labelled()
    before = graph.invoke(TICKET, on_thread(run_id="r1"), **moment)
    asked = {**on_thread(replace=bool(moment), **WAYS_BACK[name]), "metadata": {"run_id": "r1"}}
    result = check_result(REASONS, run(graph, NEW, mode, config=asked))
    assert masked(result) == masked(labelled().invoke(NEW, THREAD))
    assert moment or result["run_id"] != before["run_id"]


@pytest.mark.paired
@pytest.mark.parametrize("thread", [None, ["1"], 1.5, "", "a\x00b", True])
@pytest.mark.parametrize("mode", BOTH)
def test_a_checkpointer_needs_a_thread(thread, mode):
    """Without a thread, runs of strangers would share one: it is one clear error, with nothing run."""
    called, config = [], None if thread is None else {"configurable": {"thread_id": thread}}
    graph = triage(called.append, checkpointer=InMemorySaver())
    shown = re.escape(repr(thread))
    message = rf"^config\.configurable\.thread_id: a text, a whole number or a UUID is required .+; given: {shown}$"
    for given in (TICKET, None, Command(resume="x")):
        with pytest.raises(ConfigurationError, match=message):
            run(graph, given, mode, config=config)
    assert called == []
    assert run(triage(), TICKET, mode, config=config)["stop_reason"] == "success"


@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
def test_another_input_does_not_push_aside_a_run_that_waits(mode):
    """Somebody is about to answer: it is an error in every graph, unless the input says that it takes its place."""
    other = {"ticket": "another"}
    graph = labelled(tool=lambda request: interrupt("Who?"))
    first = run(graph, TICKET, mode, config=THREAD)
    with pytest.raises(InputError, match=f"run {first['run_id']} of this thread has not ended; None or a Command"):
        run(graph, other, mode, config=THREAD)
    second = run(graph, other, mode, config=on_thread(replace=True))
    assert (second["status"], second["run_id"] != first["run_id"]) == ("waiting", True)
    assert run(graph, Command(resume="Grace"), mode, config=THREAD)["run_id"] == second["run_id"]
    assert run(graph, other, mode, config=THREAD)["status"] == "waiting"  # on the thread of a run that has ended


def test_another_input_does_not_push_aside_a_run_that_was_left(tmp_path):
    """Not either where it waits for nobody and changes nothing; one that is replaced is closed by name."""
    store = sql_store(f"sqlite:///{tmp_path}/runs.db", timeout=60)
    graph = labelled(recorder=store)
    assert halt_before(graph, TICKET, THREAD, "lookup")
    [left] = store.open_runs()
    with pytest.raises(InputError, match=rf"run {left.run_id} of this thread has not ended; .*\.replace: True"):
        graph.invoke(NEW, THREAD)
    assert [run.run_id for run in store.open_runs()] == [left.run_id]
    result = graph.invoke(NEW, on_thread(replace=True))
    assert (result["status"], store.open_runs()) == ("ok", [])
    close = read_chain_entry(store.entries(left.run_id)[-1])
    assert (close["kind"], close["how"], close["by"]) == ("close", "superseded", result["run_id"])


@pytest.mark.parametrize("mode", MODES)
def test_a_recursion_limit_breaks_no_run_off(mode):
    """However small a client's limit is and however it calls, the run comes to its ending, which is on record."""
    kept = Kept()
    came = run(triage(recorder=kept), TICKET, mode, config={"recursion_limit": 2})
    assert (came["status"], came["on_duty"]) == ("ok", kept.only["result"]["on_duty"])


HALTS = {
    "interrupt_before": ({"interrupt_before": ["lookup"]}, {}),
    "interrupt_after": ({"interrupt_after": "*"}, {}),
    "interrupt_before of the graph": ({}, {"interrupt_before_nodes": ["lookup"]}),
    "step_timeout": ({}, {"step_timeout": 0.5}),
    "control": ({"control": RunControl()}, {}),
}


@pytest.mark.paired
@pytest.mark.parametrize("how", HALTS)
@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
def test_what_is_recorded_is_not_halted_between_nodes(how, mode):
    """Where a recorder is set, breakpoints and limits of a step are refused before anything runs, in one clear line."""
    given, attributes = HALTS[how]
    kept, asked = Kept(), []
    agent = triage(recorder=kept, checkpointer=InMemorySaver(), tool=asked.append)
    for name, value in attributes.items():
        setattr(agent, name, value)
    with pytest.raises(ConfigurationError, match=f"^{how.split()[0]}: a run that is recorded goes on to its ending"):
        run(agent, TICKET, mode, config=THREAD, **given)
    assert (asked, kept.texts, agent.get_state(THREAD).values) == ([], [], {})


@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
@pytest.mark.parametrize("named", ["checkpoint_id", "checkpoint_map", "both"])
def test_one_approval_pays_once(mode, named):
    """A run that was approved and paid does not pay again from an earlier checkpoint; its latest one may be named."""
    paid = []
    agent = refund(tool=lambda request: paid.append(request) or "paid 30 for A7", checkpointer=InMemorySaver())
    agent.invoke(answering(waiting(agent)), THREAD)
    assert len(paid) == 1
    latest, *earlier = [state.config["configurable"]["checkpoint_id"] for state in agent.get_state_history(THREAD)]
    for checkpoint in earlier:
        place = {"checkpoint_id": checkpoint}
        if named != "checkpoint_id":
            place = {"checkpoint_ns": "", "checkpoint_map": {"": checkpoint}}
        if named == "both":
            place["checkpoint_id"] = latest
        with pytest.raises(InputError, match="checkpoint_id: a run goes on from the latest checkpoint of its thread"):
            run(agent, None, mode, config=on_thread(**place))
    for _ in range(2):
        assert PAID.items() <= agent.invoke(None, on_thread(checkpoint_id=latest)).items()
    assert len(paid) == 1
    assert len([*agent.get_state_history(THREAD)]) == 1 + len(earlier)

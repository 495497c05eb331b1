"""The record of a run: whoever keeps it gets it whole, once, at the end, as JSON of a form that is written down."""

import asyncio
import gc
import json
import threading
from collections import Counter

import pytest
from docs_parts import ROOT
from jsonschema import Draft202012Validator
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt
from rag_agents import QUESTION, agent
from recorded_runs import Kept, recorded_stop, stops
from runs import MODES, THREAD, halt_before, masked, run
from tables import each_row
from ticket_pattern import TICKET, check_label, routed, triage

from guardgraph import LiveWorld, create_rag_agent
from guardgraph.grammar import Call, declares
from guardgraph.state.recording import schema
from guardgraph.testing import ScriptedChatModel, ScriptedClock

VALID = Draft202012Validator(schema())
MEGABYTE = 1_000_000


@declares(rounds=2)
def several(state, run):
    """Ask two tools at once, then a third."""
    first = yield [Call("tool", lambda request: "Ada", {"desk": 1}), Call("tool", lambda request: "Bob", {"desk": 2})]
    yield Call("tool", lambda request: "Eve", {"desk": 3})
    return {"found_duty": first[0].packed()}


def asking(state, run):
    answer = interrupt({"who": "is on duty?"})
    found = yield Call("tool", lambda request: answer, {})
    return {"found_duty": found.packed()}


# Who is given what, and when


@each_row("timeout", None, 20)
def test_a_recorder_of_an_async_run_never_blocks_the_event_loop(timeout):
    """It works in a thread of its own, with a timeout or without, and all else in that of the run."""
    threads = {}

    class Noting:
        def record(self, run):
            threads["recorder"] = threading.get_ident()

    def noting(name, body):
        def noted(state, run):
            threads[name] = threading.get_ident()
            return body(state, run)

        return {name: noted}

    recorder = Noting()
    recorder.timeout = timeout
    shadow = triage(bodies=noting("label_guard", check_label))
    asyncio.run(triage(bodies=noting("routed", routed), recorder=recorder, shadow={"x": shadow}).ainvoke(TICKET))
    assert threads.pop("recorder") != threading.get_ident()
    assert threads == dict.fromkeys(["label_guard", "routed"], threading.get_ident())


def test_a_run_that_is_cancelled_while_it_is_recorded_is_given_again():
    """Nobody waits for a recorder then; what it raises later is nobody's, and the run ends when it is resumed."""
    recorder, asked, released = Kept(), threading.Event(), threading.Event()

    def record(run):
        Kept.record(recorder, run)
        asked.set()
        released.wait(20)
        raise OSError("too late")

    recorder.record = record

    async def cancelled(graph):
        unheard = []
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: unheard.append(context))
        task = asyncio.create_task(graph.ainvoke(TICKET, THREAD))
        await asyncio.to_thread(asked.wait, 20)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        released.set()
        result = await graph.ainvoke(None, THREAD)
        gc.collect()
        return result, unheard

    result, unheard = asyncio.run(cancelled(triage(recorder=recorder, checkpointer=InMemorySaver())))
    assert (result["status"], result["audit"]["error"]["message"]) == ("ok", "too late")
    assert [recording["run_id"] for recording in recorder.recordings] == [result["run_id"]] * 2
    assert unheard == []


@each_row("resume", "left before a node", "interrupted by a body")
def test_a_run_that_waits_is_recorded_at_its_end(resume):
    """While a run waits nothing is recorded; at its end one recording has both halves."""
    kept = Kept()
    if resume == "left before a node":
        graph, answer = triage(checkpointer=InMemorySaver(), recorder=kept), None
        assert halt_before(graph, TICKET, THREAD, "lookup")
    else:
        graph = triage(bodies={"lookup": asking}, checkpointer=InMemorySaver(), recorder=kept)
        answer = Command(resume="Ada")
        graph.invoke(TICKET, THREAD)
    assert kept.texts == []
    result = graph.invoke(answer, THREAD)
    assert kept.only["result"] == result
    assert [call["node"] for call in kept.only["calls"]] == ["label", "lookup"]
    assert [visit["node"] for visit in kept.only["visits"] if "opening" in visit] == ["request_guard", "lookup"]


class Scribbling:
    def record(self, run):
        run["result"]["timeline"][0].clear()
        run["visits"][0]["clock"].clear()
        run["input"].clear()
        run["policy"].clear()
        run.clear()


@each_row("mode", *MODES)
def test_no_recorder_can_change_a_run(mode):
    """What it does to what it was given changes neither the result nor the next run."""
    graph = triage(recorder=Scribbling())
    for _ in range(2):
        result = run(graph, TICKET, mode)
        result.pop("audit", None)
        assert masked(result) == masked(triage().invoke(TICKET))


# What is in it


def test_every_stopped_run_is_recorded_in_the_form_that_is_written_down():
    """For every entry of the three catalogues the recording is JSON that the schema allows."""
    assert [entry for entry in stops() if not VALID.is_valid(json.loads(recorded_stop(entry)))] == []


def test_every_kind_of_run_is_recorded_in_the_form_that_is_written_down_and_has_no_other_fields():
    """Calls at once, an interrupt, a resume under another context, a caller, models and rules: the schema allows it."""
    kept = Kept()
    triage(recorder=kept).invoke(TICKET)
    triage(bodies={"lookup": several}, recorder=kept).invoke(TICKET)
    graph = triage(bodies={"lookup": asking}, checkpointer=InMemorySaver(), recorder=kept)
    graph.invoke(TICKET, THREAD, context={"caller": {"tenant": "acme", "user": "Ada", "groups": ["b", "a"]}})
    graph.invoke(Command(resume="Ada"), THREAD, context={"policy": {"desks": ["bug"]}})
    agent(recorder=kept).invoke(QUESTION)
    create_rag_agent(recorder=kept).invoke(QUESTION)
    create_rag_agent(recorder=kept).invoke({"question": "Who won the match?"})
    model = ScriptedChatModel({"kind": "retrieve", "query": "P1"}, {"answer": "", "citations": []})
    create_rag_agent(model, recorder=kept).invoke(QUESTION)
    assert len(kept.recordings) == 7
    for recording in kept.recordings:
        visit = recording["visits"][0]
        for holder in (recording, recording["fingerprints"], visit, visit["opening"], recording["calls"][0]):
            VALID.validate(recording)
            holder["extra"] = 1
            assert not VALID.is_valid(recording)
            del holder["extra"]


def test_the_schema_in_the_docs_is_that_of_the_code():
    """docs/recording.schema.json is what `tests/support/docs_parts.py` would write, and is a schema."""
    Draft202012Validator.check_schema(schema())
    assert json.loads((ROOT / "docs" / "recording.schema.json").read_text(encoding="utf-8")) == schema()


def test_a_recording_says_who_was_asked_what_when_and_what_came_back():
    """Each call has its place, kind, request and outcome; a proposer its name; the clock its readings."""
    clock, kept = ScriptedClock(), Kept()
    proposer = lambda view: clock.advance(2) or {"label": "bug"}  # noqa: E731
    triage(proposer, world=LiveWorld(clock=clock), recorder=kept).invoke(TICKET)
    label, lookup = kept.only["calls"]
    told = {"node": "label", "visit": 1, "number": 1, "kind": "proposer", "proposer": "test", "seconds": 2.0}
    assert label == {**label, **told}
    assert json.loads(label["outcome"]) == ["value", {"label": "bug"}, {"proposer": "test"}]
    assert (lookup["kind"], json.loads(lookup["outcome"])[:2]) == ("tool", ["value", "Ada (bug)"])
    readings = {visit["node"]: visit["clock"] for visit in kept.only["visits"]}
    assert (readings["label"][0], readings["label"][-1], readings["label_guard"][0]) == (0.0, 2.0, 2.0)


def test_a_large_outcome_is_written_into_one_checkpoint():
    """A megabyte that a tool returned is in the channel of its node's calls, in one version, and in no other."""
    saver, kept, sizes = InMemorySaver(), Kept(), Counter()

    def large(state, run):
        came = yield Call("tool", lambda request: f"Ada {'x' * MEGABYTE}", {"desk": "bug"})
        return {"found_duty": f'["value", "{came.content[:3]}", {{}}]'}

    triage(bodies={"lookup": large}, checkpointer=saver, recorder=kept).invoke(TICKET, THREAD)
    for (_, _, channel, _), (_, content) in saver.blobs.items():
        sizes[channel] += len(content)
    assert MEGABYTE < sizes.pop("calls:lookup") < 1.01 * MEGABYTE
    assert sizes.total() < 0.05 * MEGABYTE
    assert len(kept.texts[0]) < 1.05 * MEGABYTE

"""Replay: a recorded run is decided again from its recording alone, by its own agent or another one."""

from __future__ import annotations

import asyncio
import json
import math
import os
import subprocess
import sys
import time
from collections import OrderedDict
from copy import deepcopy
from enum import IntEnum
from pathlib import Path

import pytest
import recorded_runs
from halted_runs import halt_before
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt
from openai_server import OpenAIServer, answer, status
from pydantic import ValidationError
from rag_agents import QUESTION, agent
from recorded_runs import AGENTS, Kept, dead, recorded, recorded_stop, replaying_agent, stops
from runs import EDITED, MODES
from ticket_pattern import TICKET, Policy, triage

from guardgraph import LiveWorld, NotRecorded, RagPolicy, create_rag_agent, replay
from guardgraph.grammar import Budget, Call, Pass, Stop, declares
from guardgraph.testing import ScriptedChatModel, ScriptedClock

THREAD = {"configurable": {"thread_id": "1"}}
DEAD = (dead("the proposer"), dead("the tool"))


def check_replay(recording, *args, **kwargs):
    """Assert that the pattern of the tests, with nobody to call, makes the recorded result of a recording."""
    before = deepcopy(recording)
    assert replay(triage(*(args or DEAD), **kwargs), recording) == recording["result"]
    assert recording == before


# The same result


def _can_be_rebuilt(text):
    """Say whether a recording has settings that a factory takes, and a state that nobody edited."""
    recording = json.loads(text)
    _, policy, budget = AGENTS[recording["pattern"]]
    try:
        policy(**recording["policy"])
        budget(**recording["budget"])
    except ValidationError:
        return False
    return recording["run_id"] not in EDITED


def test_every_stop_of_the_catalogues_replays_in_another_process_from_a_file(tmp_path):
    """Without a key, a model, a tool or a socket, every run of the three tables ends as it did, times included."""
    texts = {entry: text for entry in stops() if _can_be_rebuilt(text := recorded_stop(entry))}
    assert len(texts) > len(stops()) - 8
    file = tmp_path / "recordings.jsonl"
    file.write_text("\n".join(texts.values()), encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OPENAI_")}
    command = [sys.executable, "-W", "error", str(Path(recorded_runs.__file__)), str(file)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr
    assert dict(zip(texts, done.stdout.split(), strict=True)) == dict.fromkeys(texts, "True")


@pytest.mark.parametrize("mode", MODES)
def test_a_run_replays_however_it_was_run(mode):
    """Every way of running leaves the same record; a replay of it asks nobody."""
    check_replay(recorded(triage, mode=mode))


def test_a_run_of_a_named_model_replays_without_its_key(monkeypatch):
    """An agent whose model is named by a string can be made, and replays, where there is no key and no server."""
    intent = json.dumps({"kind": "retrieve", "query": "P1 response"})
    with OpenAIServer(answer(intent), status(429)) as server:
        for name, value in server.environ().items():
            monkeypatch.setenv(name, value)
        recording = recorded(lambda recorder: create_rag_agent("openai:some-model", recorder=recorder), QUESTION)
        assert (recording["result"]["stop_reason"], len(server.requests)) == ("llm_rate_limited", 2)
        for name in server.environ():
            monkeypatch.delenv(name)
        assert replay(create_rag_agent("openai:some-model"), recording) == recording["result"]
        assert len(server.requests) == 2


@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
@pytest.mark.parametrize("slot", ["proposer", "tool"])
def test_a_timeout_replays_at_once(slot, mode):
    """What was too late then is too late again, and nobody waits for it."""

    def slow(request):
        time.sleep(1)

    def graph_of(recorder):
        return triage(**{slot: slow}, budget=Budget(max_seconds=0.05), recorder=recorder)

    recording = recorded(graph_of, mode=mode)
    assert recording["result"]["stop_reason"] in ("llm_timeout", "max_seconds")
    check_replay(recording, budget=Budget(max_seconds=0.05))


def test_a_slow_node_or_checkpointer_ends_the_replay_too():
    """The clock of the record drives the replay's: time that no call took is spent again."""
    clock = ScriptedClock()

    class Slow(InMemorySaver):
        def put(self, *args, **kwargs):
            clock.advance(11)
            return super().put(*args, **kwargs)

    def graph_of(recorder):
        world, budget = LiveWorld(clock=clock), Budget(max_seconds=30.0)
        return triage(checkpointer=Slow(), world=world, budget=budget, recorder=recorder)

    recording = recorded(graph_of, config=THREAD)
    assert recording["result"]["stop_reason"] == "max_seconds"
    check_replay(recording, budget=Budget(max_seconds=30.0))


class Level(IntEnum):
    """A number with a name."""

    HIGH = 3


@pytest.mark.parametrize("given", [Level.HIGH, {"level": Level.HIGH, "at": [math.nan]}, OrderedDict(a=1)])
def test_an_input_is_judged_by_its_value_as_it_is_recorded(given):
    """A guard that looks at types sees those of JSON, so that a replay says what the run said."""
    seen = []

    def check(state, run):
        inner = [*state["ticket"].values()] if isinstance(state["ticket"], dict) else []
        seen.append({type(item) for item in (state["ticket"], *inner)})
        raise Stop("invalid_request:ticket")

    bodies = {"request_guard": check}
    check_replay(recorded(lambda recorder: triage(bodies=bodies, recorder=recorder), {"ticket": given}), bodies=bodies)
    assert seen[0] == seen[1]
    assert seen[0] <= {int, dict, list}


def test_every_session_of_a_resumed_run_replays_under_its_own_context():
    """What was allowed in the first half and closed in the second is closed in the replay at the same node."""
    for context, reason in (({"policy": {"desks": ["billing"]}}, "desk_denied:bug"), (None, "success")):
        kept = Kept()
        graph = triage(checkpointer=InMemorySaver(), recorder=kept)
        assert halt_before(graph, TICKET, THREAD, "lookup", context={"budget": {"max_seconds": 50.0}})
        result = graph.invoke(None, THREAD, context=context)
        assert result["stop_reason"] == reason
        check_replay(kept.only)


def test_a_run_that_a_body_interrupted_replays_with_its_answers():
    """Each interrupt gets the answer that it got then, also one that JSON has no form for."""

    def asking(state, run):
        who, when = interrupt("who?"), interrupt("when?")
        came = yield Call("tool", dead("the tool"), {"who": who, "when": repr(when)})
        return {"found_duty": came.packed()}

    def live(state, run):
        who, when = interrupt("who?"), interrupt("when?")
        came = yield Call("tool", lambda request: request["who"], {"who": who, "when": repr(when)})
        return {"found_duty": came.packed()}

    kept = Kept()
    graph = triage(bodies={"lookup": live}, checkpointer=InMemorySaver(), recorder=kept)
    graph.invoke(TICKET, THREAD)
    graph.invoke(Command(resume="Ada"), THREAD)
    result = graph.invoke(Command(resume=float("inf")), THREAD)
    assert result["on_duty"] == "Ada"
    check_replay(kept.only, bodies={"lookup": asking})


def test_calls_at_once_replay_in_their_order():
    """Outcomes come back to the call that they were recorded for, whoever was faster."""

    def several(target):
        @declares(rounds=2)
        def body(state, run):
            came = yield [Call("tool", target, {"number": number}) for number in range(20)]
            last = yield Call("tool", target, {"number": 20})
            return {"found_duty": came[7].packed() if last.content == 20 else ""}

        return body

    def tool(request):
        time.sleep(0.002 * (20 - request["number"]))
        return str(request["number"]) if request["number"] < 20 else 20

    for mode in ("invoke", "ainvoke"):
        recording = recorded(lambda recorder: triage(bodies={"lookup": several(tool)}, recorder=recorder), mode=mode)
        assert recording["result"]["on_duty"] == "7"
        check_replay(recording, bodies={"lookup": several(dead("the tool"))})


def test_who_asked_is_who_asks_in_the_replay():
    """A body that decides by the caller sees the recorded one."""

    def lookup(state, run):
        return {"found_duty": f'["value", "{run.caller.user} of {run.caller.groups}", {{}}]'}

    caller = {"tenant": "acme", "user": "Ada", "groups": ["staff"]}
    recording = recorded(
        lambda recorder: triage(bodies={"lookup": lookup}, recorder=recorder), context={"caller": caller}
    )
    assert recording["result"]["on_duty"] == "Ada of ('staff',)"
    check_replay(recording, bodies={"lookup": lookup})


def test_a_replay_is_recorded_by_nobody():
    """An agent that records its runs does not record what it decides again."""
    kept = Kept()
    graph = triage(recorder=kept)
    graph.invoke(TICKET)
    replay(graph, kept.only)
    assert len(kept.texts) == 1


def test_replays_side_by_side_do_not_mix():
    """Many replays at once, in threads and beside live runs, each give their own result."""

    def labelled(label):
        return recorded(lambda recorder: triage(lambda view: {"label": label}, recorder=recorder))

    recordings = [labelled("bug" if number % 2 else "spam") for number in range(8)]
    graph = triage(*DEAD)

    async def all_of_them():
        return await asyncio.gather(*(asyncio.to_thread(replay, graph, item) for item in recordings * 4))

    assert asyncio.run(all_of_them()) == [item["result"] for item in recordings * 4]


def test_a_replay_under_another_policy_gives_another_verdict():
    """A policy that changes no request decides on what came back then: the label is refused where it is judged."""
    recording = recorded(triage)
    result = replay(triage(*DEAD, policy=Policy(labels=("billing",))), recording)
    assert (result["stop_reason"], result["raw_label"]) == ("invalid_label", {"label": "bug"})
    assert result["run_id"] == recording["run_id"]
    result = replay(triage(*DEAD, policy=Policy(desks=())), recording)
    assert (result["stop_reason"], result["path"][-3:]) == (
        "desk_denied:bug",
        ["lookup", "duty_guard", "stop_desk_denied"],
    )


def test_a_replay_under_a_tighter_policy_of_a_shipped_pattern_says_what_it_would_have_stopped():
    """An answer that a check let through when it was off is stopped when it is on."""
    wrong = {"answer": "Within 20 minutes.", "citations": ["doc_sla_enterprise_v3"]}

    def loose(recorder):
        return agent(answer=wrong, policy=RagPolicy(check_values=False), recorder=recorder)

    recording = recorded(loose, QUESTION)
    assert recording["result"]["outcome"] == "grounded_answer"
    recording["policy"]["check_values"] = True
    assert replay(replaying_agent(recording), recording)["stop_reason"] == "invalid_answer:contradicts_source"


def reworded(state, run):
    """Ask the tool for something else."""
    came = yield Call("tool", dead("the tool"), {"desk": "elsewhere"})
    return {"found_duty": came.packed()}


@declares(rounds=2)
def twice(state, run):
    """Ask the tool once more."""
    came = yield Call("tool", dead("the tool"), {"desk": "bug"})
    yield Call("tool", dead("the tool"), {"desk": "bug"})
    return {"found_duty": came.packed()}


def test_a_request_that_was_not_recorded_is_named():
    """The error says which node asked, and what of its call was otherwise."""
    recording = recorded(triage)
    for body, difference in ((reworded, "visit 1, call 1: its request was "), (twice, "visit 1, call 2 was not made")):
        with pytest.raises(NotRecorded) as raised:
            replay(triage(bodies={"lookup": body}), recording)
        assert raised.value.node == "lookup"
        assert raised.value.difference.startswith(difference)
        assert str(raised.value) == f"not recorded: lookup: {raised.value.difference}"


def test_another_proposer_or_prompt_is_named():
    """A model in the place of rules, another model, another prompt: the error says which was and which is."""
    recording = recorded(create_rag_agent, QUESTION)
    with pytest.raises(NotRecorded, match=r"plan: .*: its proposer was 'offline', and is 'dead'; its prompt was None"):
        replay(create_rag_agent(ScriptedChatModel(model_name="dead")), recording)
    script = ({"kind": "retrieve", "query": "P1"}, {"answer": "", "citations": [], "insufficient": True})
    recording = recorded(lambda recorder: create_rag_agent(ScriptedChatModel(*script), recorder=recorder), QUESTION)
    with pytest.raises(NotRecorded, match=r"its proposer was 'scripted', and is 'other'$"):
        replay(create_rag_agent(ScriptedChatModel(model_name="other")), recording)
    recording["calls"][0]["request"] = "0" * 64
    recording["calls"][0]["prompt"] = "rag_plan@000000000000"
    with pytest.raises(NotRecorded, match=r"its prompt was 'rag_plan@000000000000', and is 'rag_plan@"):
        replay(create_rag_agent(ScriptedChatModel()), recording)


def test_another_way_through_the_graph_is_named():
    """Where a guard sends the run elsewhere, to a node that was not visited then, the error names that node."""
    recording = recorded(lambda recorder: triage(lambda view: {"label": "spam"}, recorder=recorder))
    assert recording["result"]["outcome"] == "spam"

    def keeps_spam(state, run):
        return Pass({"accepted_label": "bug"}, "lookup")

    with pytest.raises(NotRecorded, match=r"^not recorded: lookup: the recorded run went to 'spam' instead$"):
        replay(triage(bodies={"label_guard": keeps_spam}), recording)


def test_a_body_that_waits_for_an_answer_that_nobody_gave_is_named():
    """An interrupt that the recorded run did not have cannot be answered."""
    kept = Kept()
    graph = triage(checkpointer=InMemorySaver(), recorder=kept)
    graph.invoke(TICKET, THREAD)

    def asking(state, run):
        return {"found_duty": f'["value", "{interrupt("who?")}", {{}}]'}

    with pytest.raises(NotRecorded, match="lookup: its body waits for an answer that was not recorded"):
        replay(triage(bodies={"lookup": asking}), kept.only)

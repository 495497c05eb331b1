"""Replay: a recorded run is decided again from its recording alone, by its own agent or another one."""

import json
import math
import os
import subprocess
import sys
from collections import OrderedDict
from copy import deepcopy
from enum import IntEnum
from pathlib import Path

import pytest
import recorded_runs
from openai_server import OpenAIServer, answer, status
from pydantic import ValidationError
from rag_agents import QUESTION
from recorded_runs import AGENTS, Kept, dead, recorded, recorded_stop, stops
from runs import EDITED
from ticket_pattern import TICKET, triage

from guardgraph import NotRecorded, create_rag_agent, replay
from guardgraph.grammar import Stop
from guardgraph.testing import ScriptedChatModel


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


class Level(IntEnum):
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
    recording = recorded(lambda recorder: triage(bodies=bodies, recorder=recorder), {"ticket": given})
    before = deepcopy(recording)
    replayed = replay(triage(dead("the proposer"), dead("the tool"), bodies=bodies), recording)
    assert (replayed, recording) == (recording["result"], before)
    assert seen[0] == seen[1]
    assert seen[0] <= {int, dict, list}


def test_a_replay_is_recorded_by_nobody():
    """An agent that records its runs does not record what it decides again."""
    kept = Kept()
    graph = triage(recorder=kept)
    graph.invoke(TICKET)
    replay(graph, kept.only)
    assert len(kept.texts) == 1


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

"""Recorders, and agents that decide recorded runs again and call nobody; as a script, it replays a file of runs."""

import json
import socket
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from runpy import run_path

from runs import run
from ticket_pattern import TICKET

from guardgraph import create_rag_agent, create_research_agent, create_self_critique_agent, replay
from guardgraph.state.rag import RagBudget, RagPolicy
from guardgraph.state.research import ResearchBudget, ResearchPolicy
from guardgraph.state.self_critique import SelfCritiqueBudget, SelfCritiquePolicy
from guardgraph.testing import InMemoryRecorder, ScriptedChatModel
from guardgraph.world.proposers import OFFLINE

AGENTS = {
    "rag": (create_rag_agent, RagPolicy, RagBudget),
    "research": (create_research_agent, ResearchPolicy, ResearchBudget),
    "self_critique": (create_self_critique_agent, SelfCritiquePolicy, SelfCritiqueBudget),
}
SLOTS = {
    "rag": {"condense": "condenser", "plan": "planner", "generate": "answerer"},
    "research": {"plan": "planner", "extract": "extractor", "synthesize": "writer"},
    "self_critique": {"draft": "drafter", "shorten": "shortener", "critique": "critic"}
    | dict.fromkeys(["revise", "strict_revise"], "reviser"),
}
"""Who proposes at a node, by the argument of the factory."""
TOOLS = {"rag": ("retriever",), "research": ("search", "reader", "extractor"), "self_critique": ()}


class Kept:
    """A recorder that keeps what it is given as JSON text."""

    def __init__(self):
        self.texts = []

    def record(self, run):
        self.texts.append(json.dumps(run, allow_nan=False))

    @property
    def recordings(self):
        return [json.loads(text) for text in self.texts]

    @property
    def only(self):
        [text] = self.texts
        return json.loads(text)


class Failing(InMemoryRecorder):
    """A recorder that fails when a run ends, and counts how often it was asked."""

    def __init__(self, error=None):
        super().__init__()
        self.error = OSError("the disk is full") if error is None else error
        self.asked = 0

    def record(self, run):
        self.asked += 1
        raise self.error


def dead(name):
    """Return a proposer or a tool of this name that nobody may call."""

    def called(request):
        raise AssertionError(f"{name} was called")

    called.__name__ = name
    return called


class Nothing:
    """A ledger that nobody may ask."""

    def reserve(self, charges, *, seconds):
        raise AssertionError("the ledger was asked")

    def settle(self, reserved, amounts):
        raise AssertionError("the ledger was asked")


def replaying_agent(recording):
    """Return an agent with the recorded settings and names: only offline rules, which are told limits, are alive."""
    pattern = recording["pattern"]
    create, policy, budget = AGENTS[pattern]
    slots = {slot: dead("nobody") for slot in SLOTS[pattern].values()} | {slot: dead(slot) for slot in TOOLS[pattern]}
    if "candidates_guard" in recording["result"]["path"]:
        slots["reranker"] = dead("reranker")
    judged = [call for call in recording["calls"] if call["node"] in ("verify_answer", "verify_notes")]
    if judged:
        slots["verifier"] = dead(judged[0]["proposer"])
    for slot in ("gaps", "outline"):
        asked = [call["proposer"] for call in recording["calls"] if call["node"] == slot]
        if asked and asked[0] != OFFLINE:
            slots[slot] = dead(asked[0])
    model = None
    for call in recording["calls"]:
        slot = SLOTS[pattern].get(call["node"]) if call["kind"] == "proposer" else None
        if slot is not None and "prompt" in call:
            model = ScriptedChatModel(model_name=call["proposer"])
            slots[slot] = None
        elif slot is not None:
            slots[slot] = None if call["proposer"] == OFFLINE else dead(call["proposer"])
    if recording["result"].get("stop_reason") in ("max_llm_calls", "max_tokens", "max_cost"):
        model = model or ScriptedChatModel(model_name=next(iter(recording["budget"].get("prices", {})), "scripted"))
        answered = {SLOTS[pattern].get(call["node"]) for call in recording["calls"]}
        slots |= {slot: None for slot in SLOTS[pattern].values() if slot not in answered}  # a model was not asked
    if recording["budget"].get("severity_budget") is not None:
        slots["ledger"] = Nothing()
    held = {"policy": policy, "budget": budget}
    settings = {name: kind.model_validate_json(json.dumps(recording[name])) for name, kind in held.items()}
    return create(model, **settings, **slots)


def recorded(graph_of, given=TICKET, mode="invoke", **kwargs):
    kept = Kept()
    run(graph_of(recorder=kept), given, mode, **kwargs)
    return kept.only


def stops():
    return [f"{pattern}: {entry}" for pattern in AGENTS for entry in import_module(f"test_{pattern}_stops").STOPS]


@cache
def _table(pattern):
    return run_path(str(Path(__file__).parents[1] / "graphs" / f"test_{pattern}_stops.py"))["STOPS"]


@cache
def recorded_stop(name):
    """Make the run of an entry, and return the JSON text of its recording."""
    from guardgraph.graphs.running.end import watch_recordings

    pattern, _, entry = name.partition(": ")
    kept = []
    with watch_recordings(lambda frame, recording: kept.append(json.dumps(recording, allow_nan=False))):
        _table(pattern)[entry].run()
    return kept[-1]


def main(file):
    """Replay the recordings of a file."""

    def refused(*args, **kwargs):
        raise AssertionError("a socket was opened")

    socket.socket = socket.create_connection = refused
    with open(file, encoding="utf-8") as lines:
        for line in lines:
            recording = json.loads(line)
            print(replay(replaying_agent(recording), recording) == recording["result"])


if __name__ == "__main__":
    main(sys.argv[1])

"""The interpreter against LangGraph: random patterns run there, and are decided again here from the recording."""

import json

import pytest
from hypothesis import event, given, settings
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from random_patterns import PLANS, built
from recorded_runs import Kept
from runs import THREAD, halt_before

from guardgraph import LiveWorld, replay, verify
from guardgraph.testing import ScriptedClock


def answer(plan, turn, waiting):
    """Return what a person of the plan says to what waits."""
    says = plan["people"][turn % len(plan["people"])]
    odd = {"no answer": {"decision": "perhaps"}, "stale": {"decision": "approve", "hash": "0" * 64}}
    if says in odd and turn < 8:
        return odd[says]
    return {"decision": "reject" if says in odd else says, "hash": waiting["hash"]}


def run_through(plan, mode):
    """Run a plan to its end, resuming it under one context after another; return what was recorded."""
    kept = Kept()
    world = LiveWorld(clock=ScriptedClock(step=0.03))
    graph = built(plan).compile(name="random", checkpointer=InMemorySaver(), world=world, recorder=kept)
    assert verify(graph) == []
    pauses = sorted({f"ask_{at % len(plan['stages'])}" for at in plan["pauses"]})
    given = {"asked": "it"}
    for turn in range(60):
        # an answer under another context asks again, so that in the end there has to be one
        context = plan["contexts"][turn % len(plan["contexts"]) if turn < 20 else -1]
        halt_before(graph, given, THREAD, *pauses, mode=mode, context=context)
        state = graph.get_state(THREAD)
        if not state.next:
            return kept
        waiting = [item.value for task in state.tasks for item in task.interrupts]
        given = Command(resume=answer(plan, turn, waiting[0]) if "hash" in waiting[0] else turn) if waiting else None
    raise AssertionError("the run does not end")


@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
@settings(max_examples=60)
@given(plan=PLANS)
def test_a_replay_of_a_random_pattern_is_its_run(mode, plan):
    """Whatever a pattern does, the interpreter makes the same result of the recording, and asks nobody."""
    kept = run_through(plan, mode)
    result = kept.only["result"]
    event(result["stop_reason"])
    assert result["path"] == [visit["node"] for visit in kept.only["visits"]]
    dead = built(plan, is_dead=True).compile(name="random")
    assert replay(dead, kept.only) == json.loads(json.dumps(result)) == result

"""One question of the tool agent for several calls of a step: what it shows, what it licenses, what becomes of it."""

from __future__ import annotations

from typing import Any

from langgraph.checkpoint.memory import InMemorySaver
from office_agents import DELETE, DONE, READ, STOLEN, TASK, THREAD, Office, answer_question, calls, office_agent, script
from recorded_runs import Kept

from guardgraph import ToolPolicy, ToolRule, create_tool_agent, replay, verify
from guardgraph.grammar import NamedTool, hash_licence

TRUDY = {"tool": "send_money", "args": {"to": "Trudy", "amount": 901}}


def wait(*steps: Any, office: Office, **given: Any) -> tuple[Any, Any]:
    """Return an agent, and its run that waits."""
    agent = office_agent(*steps, office=office, **given)
    waiting = agent.invoke(TASK, THREAD)
    assert waiting["status"] == "waiting"
    return agent, waiting


def test_calls_of_a_step_that_wait_are_one_question():
    """It shows each call with its unsupported values; approved, all are made in their order, and each is on record."""
    office, kept = Office(), Kept()
    agent, waiting = wait(calls(READ), calls(STOLEN, DELETE, TRUDY), DONE, office=office, recorder=kept)
    assert verify(agent) == []
    asked = waiting["waiting_for"]
    assert "call" not in asked["shown"]
    assert [(call["tool"], call["args"]) for call in asked["shown"]["calls"]] == [
        (call["tool"], call["args"]) for call in (STOLEN, DELETE, TRUDY)
    ]
    assert [len(call["unsupported"]) for call in asked["shown"]["calls"]] == [2, 0, 2]
    assert asked["licences"] == [hash_licence(call["tool"], call["args"]) for call in (STOLEN, DELETE, TRUDY)]
    assert office.writes == []
    result = answer_question(agent, waiting)
    assert office.writes == [(call["tool"], call["args"]) for call in (STOLEN, DELETE, TRUDY)]
    assert (result["outcome"], result["path"].count("approve")) == ("answered", 1)
    assert [call.get("approved_by") for call in result["tool_calls"]] == [None, *["unverified"] * 3]
    [recording] = kept.recordings
    assert len({call["approval"] for call in recording["calls"] if "approval" in call}) == 1
    assert replay(agent, recording) == result


def test_a_call_behind_one_that_failed_is_not_made():
    """Nobody judged it in the light of that: the run stops, and says what was done and what failed."""
    done: list[str] = []

    def use(name: str) -> Any:
        def work(args: Any) -> str:
            done.append(name)
            if name == "move":
                raise RuntimeError("no funds")
            return "done"

        return work

    names = ("first", "move", "close")
    step = {"calls": [{"tool": name, "args": {}} for name in names]}
    agent = create_tool_agent(
        tools={name: NamedTool(use(name), name, {"type": "object"}) for name in names},
        planner=script(step, DONE),
        policy=ToolPolicy(rules={name: ToolRule(approve="always") for name in names}),
        checkpointer=InMemorySaver(),
        recorder=(kept := Kept()),
    )
    result = answer_question(agent, agent.invoke({"task": "Move it, and close the account."}, THREAD))
    assert (result["stop_reason"], done) == ("tool_invalid_output:move", ["first", "move"])
    assert [(call["tool"], call.get("failed")) for call in result["tool_calls"]] == [("first", None), ("move", True)]
    assert replay(agent, kept.recordings[0]) == result
